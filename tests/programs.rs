//! Building the programs and finding them.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use serde_json::Value;

/// The programs that tests start, by package.
pub(crate) const PACKAGES: &[&str] = &[
    "dealer",
    "journal-tool",
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

/// The program of a package. Nearly all are called the same.
pub(crate) fn program_of(package: &str) -> &str {
    if package == "journal-tool" { "journal" } else { package }
}

/// A command that runs the program of that name, which is built first if it has to be.
pub(crate) fn program(name: &str) -> Command {
    static BUILT: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(build);
    Command::new(built.get(name).unwrap_or_else(|| panic!("{name} is none of the programs {built:?}")))
}

/// A cargo command that changes no lock file, run in the workspace.
pub(crate) fn cargo(subcommand: &str) -> Command {
    // At run time, cargo says which one it is; a test started by hand uses the one that built it.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from(env!("CARGO")));
    let mut command = Command::new(cargo);
    command.args([subcommand, "--locked"]).current_dir(workspace());
    command
}

/// The root of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package lies in the workspace")
}

// Builds all programs as this test was built: same profile, same folder. Cargo does nothing if they are there, and its
// own lock makes several tests that come here at once wait for each other.
fn build() -> BTreeMap<String, PathBuf> {
    let mut command = cargo("build");
    command.args(["--message-format", "json-render-diagnostics"]).args(profile_and_folder());
    for package in PACKAGES {
        command.args(["-p", package, "--bin", program_of(package)]);
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

// This test lies at FOLDER/[TARGET/]PROFILE/deps/NAME, and FOLDER is where cargo keeps what it knows of the compiler.
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
