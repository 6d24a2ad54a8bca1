use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use testkit::programs::PLAIN;
pub(crate) use testkit::programs::{cargo, workspace};

/// Started by tests. Each is in the package of the same name.
pub(crate) const PACKAGES: &[&str] = &[
    "conformance",
    "dealer",
    "journal",
    "league",
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

pub(crate) fn path(name: &str) -> String {
    program(name).get_program().to_str().unwrap().to_owned()
}

/// Panics without python3 (see CONTRIBUTING.md).
pub(crate) fn python(script: &Path) -> [String; 3] {
    let python = testkit::programs::python().expect("python3 is not installed");
    [&python, Path::new(PLAIN), script].map(|word| word.to_str().unwrap().to_owned())
}

pub(crate) fn reference(file: &str) -> [String; 3] {
    python(&workspace().join("crates/conformance/reference").join(file))
}

/// The first call builds all programs.
pub(crate) fn program(name: &str) -> Command {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    assert!(PACKAGES.contains(&name), "{name} is not one of the programs {PACKAGES:?}");
    let folder = FOLDER.get_or_init(|| testkit::programs::build(PACKAGES));
    Command::new(folder.join(format!("{name}{}", env::consts::EXE_SUFFIX)))
}
