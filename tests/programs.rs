//! Builds the programs and finds their executables.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use serde_json::Value;

/// The programs that tests start; each is in a package of its name.
pub(crate) const PACKAGES: &[&str] = &[
    "conformance",
    "dealer",
    "journal",
    "mastermind-play",
    "nuggets-client",
    "nuggets-server",
    "player",
    "qtable",
    "robots-client",
    "robots-gui",
    "robots-server",
    "robots-verify",
];

/// A command that runs the program of this name, which is built first if necessary.
pub(crate) fn program(name: &str) -> Command {
    static BUILT: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(build);
    Command::new(built.get(name).unwrap_or_else(|| panic!("{name} is not one of the programs {built:?}")))
}

/// A cargo command in the workspace that does not change the lock file.
pub(crate) fn cargo(subcommand: &str) -> Command {
    // Cargo sets the variable when it runs a test; a test started by hand uses the cargo that built it.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from(env!("CARGO")));
    let mut command = Command::new(cargo);
    command.args([subcommand, "--locked"]).current_dir(workspace());
    command
}

/// The root of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package lies in the workspace")
}

// Builds all programs with the profile and target directory of this test. Cargo does nothing if they are up to date,
// and its lock serializes tests that build at the same time.
fn build() -> BTreeMap<String, PathBuf> {
    let mut command = cargo("build");
    command.args(["--message-format", "json-render-diagnostics"]).args(profile_and_folder());
    for package in PACKAGES {
        command.args(["-p", package, "--bin", package]);
    }
    let output = command.stderr(Stdio::inherit()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", output.status);
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let path = message.get("executable")?.as_str()?;
        Some((message.get("target")?.get("name")?.as_str()?.to_owned(), PathBuf::from(path)))
    };
    String::from_utf8_lossy(&output.stdout).lines().filter_map(executable).collect()
}

// This test is at FOLDER/[TARGET/]PROFILE/deps/NAME, and FOLDER contains cargo's file about the compiler.
fn profile_and_folder() -> Vec<OsString> {
    let own = env::current_exe().expect("a running program has a path");
    let mut above = own.ancestors().skip_while(|path| !path.ends_with("deps")).skip(1);
    let Some(profile) = above.next() else { return vec![] };
    let mut arguments = match profile.file_name().and_then(|name| name.to_str()) {
        None | Some("debug") => vec![],
        Some(name) => vec!["--profile".into(), name.into()],
    };
    if let Some(folder) = above.find(|path| path.join(".rustc_info.json").exists()) {
        arguments.extend(["--target-dir".into(), folder.into()]);
    }
    arguments
}
