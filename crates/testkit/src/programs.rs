//! Builds programs of the workspace for tests that start them.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// A command of cargo that does not change the lock file.
#[must_use]
pub fn cargo(subcommand: &str) -> Command {
    // Unset if a test is started by hand: it then uses the cargo that built it.
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from(env!("CARGO")));
    let mut command = Command::new(cargo);
    command.args([subcommand, "--locked"]).current_dir(workspace());
    // Build scripts of dependencies depend on the variables about the package of this test, and would run again.
    let is_of_package = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_of_package)) {
        command.env_remove(name);
    }
    command
}

/// The interpreter itself: on some machines `python3` is a script that searches for it at each start.
#[must_use]
pub fn python() -> Option<PathBuf> {
    static PYTHON: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let told = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
        let path = String::from_utf8(told.stdout).ok()?;
        Some(PathBuf::from(path.trim_end())).filter(|path| path.is_absolute())
    });
    PYTHON.clone()
}

/// For test programs that use only the standard library: without the search for packages they start in half the time,
/// and write no cache files.
pub const PLAIN: &str = "-BS";

#[must_use]
pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Uses the profile and the target directory of the running test, and returns the directory of the executables. Cargo's
/// lock serializes tests that build.
#[must_use]
pub fn build(names: &[&str]) -> PathBuf {
    // FOLDER/[TARGET/]PROFILE/deps/NAME, where FOLDER contains cargo's file about the compiler.
    let own = env::current_exe().expect("a running program has a path");
    let programs =
        own.ancestors().find(|path| path.ends_with("deps")).and_then(Path::parent).expect("a test of cargo's");
    let folder =
        programs.ancestors().find(|path| path.join(".rustc_info.json").exists()).expect("a directory of cargo's");
    let profile = match programs.file_name().and_then(|name| name.to_str()) {
        None | Some("debug") => "dev",
        Some(name) => name,
    };
    // With the features of the whole workspace, and of dev-dependencies, which a test target adds, everything compiled
    // for tests is reused. The target here is empty without `--cfg shuttle`.
    let mut command = cargo("build");
    command.args(["--workspace", "--test", "threads", "--profile", profile, "--target-dir"]).arg(folder);
    for name in names {
        command.args(["--bin", name]);
    }
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
    folder.join(programs.file_name().expect("a directory of a profile"))
}
