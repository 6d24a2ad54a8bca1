use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock},
};

use testkit::process::Process;

use crate::programs::{cargo, workspace};

/// Includes the server and the crates of this workspace.
const MOST_FOR_A_SERVER: usize = 80;
/// `conformance` stores the results of a class (serde, sha2, walkdir) and wraps reports (textwrap).
const MOST_FOR_THE_KIT: usize = 92;
/// Higher than for a server because of the terminal libraries.
const MOST_FOR_A_CLIENT: usize = 125;
/// `qtable` draws images (resvg, 50 crates) and terminal screens (ratatui, 62).
const MOST_TO_DRAW: usize = 160;
/// Databases, web frameworks, brokers and TLS, which thin programs must not link.
const THICK: &[&str] = &[
    "actix-web",
    "async-nats",
    "axum",
    "diesel",
    "governor",
    "hyper",
    "lapin",
    "openssl",
    "rdkafka",
    "redis",
    "redb",
    "reqwest",
    "rocket",
    "rusqlite",
    "rustls",
    "sea-orm",
    "sled",
    "sqlx",
    "tonic",
    "tungstenite",
    "warp",
];
/// Crates without I/O, as their manifests declare: `rules = true` in `[package.metadata.arcade]`.
fn rules() -> Vec<PathBuf> {
    let folders = ["crates", "examples"].map(|folder| fs::read_dir(workspace().join(folder)).unwrap());
    let packages = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let is_rules = |package: &PathBuf| {
        let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap_or_default();
        manifest.contains("[package.metadata.arcade]\nrules = true\n")
    };
    packages.filter(is_rules).collect()
}

/// Each line has a crate's name, version, and path if it is in the workspace. Cached, since cargo takes half a second.
fn tree(package: &str) -> Arc<str> {
    static TREES: Mutex<BTreeMap<String, Arc<OnceLock<Arc<str>>>>> = Mutex::new(BTreeMap::new());
    let tree = Arc::clone(TREES.lock().unwrap().entry(package.to_owned()).or_default());
    let asked = || {
        let arguments = ["-p", package, "-e", "normal", "--prefix", "none", "--format", "{p}"];
        Process::run(cargo("tree").args(arguments)).ended(0).stdout.into()
    };
    Arc::clone(tree.get_or_init(asked))
}

fn linked(package: &str) -> BTreeSet<String> {
    let name = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    tree(package).lines().map(name).collect()
}

fn check_thin(package: &str, most: usize) {
    let crates = linked(package);
    assert!(crates.iter().any(|name| name.starts_with(package)), "{crates:#?}");
    for name in crates.iter().filter_map(|name| name.split(' ').next()) {
        assert!(!THICK.contains(&name), "{package} links {name}");
        assert_ne!(name, "testkit", "{package} links the test helpers");
    }
    assert!(crates.len() <= most, "{package} links {} crates: {crates:#?}", crates.len());
}

#[test]
fn programs_are_thin() {
    let servers = ["dealer", "nuggets-server", "robots-server"].map(|server| (server, MOST_FOR_A_SERVER));
    for (server, most) in servers.into_iter().chain([("conformance", MOST_FOR_THE_KIT)]) {
        check_thin(server, most);
        let draws = |name: &String| ["resvg ", "ratatui "].iter().any(|drawing| name.starts_with(drawing));
        assert!(!linked(server).iter().any(draws), "{server} links what draws");
    }
    for client in ["mastermind-play", "nuggets-client", "player", "robots-client", "robots-gui"] {
        check_thin(client, MOST_FOR_A_CLIENT);
    }
    check_thin("qtable", MOST_TO_DRAW);
}

#[test]
fn rules_do_no_io() {
    assert!(rules().len() > 5);
    for package in rules() {
        let root = package.join("src/lib.rs");
        let package = package.file_name().unwrap().to_str().unwrap();
        let source = fs::read_to_string(&root).unwrap();
        assert!(source.lines().any(|line| line == "#![no_std]"), "{} is not no_std", root.display());
        for name in linked(package) {
            let crates_with_io = ["tokio ", "mio ", "socket2 ", "rustix ", "libc "];
            assert!(!crates_with_io.iter().any(|with_io| name.starts_with(with_io)), "{package} links {name}");
        }
    }
}
