mod typed;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use testkit::{TempDir, process::Process};

use self::typed::{Folder, Typed, check_line};
use crate::{
    nuggets::{HALL, Server},
    programs::{PACKAGES, program, workspace},
    robots,
};

/// Outside docs/.
const DOCUMENTS: &[&str] = &["README.md", "CONTRIBUTING.md", "fuzz/README.md", "maps/README.md"];
/// In another workspace, which `.ci/run` tests.
const ELSEWHERE: &str = "cargo run --manifest-path ";
/// Not run here: `.ci/run` runs them, they need the network or root, or they are shell built-ins.
const OTHERS: &[&str] = &[
    "cargo +nightly fuzz ",
    "cargo fuzz ",
    "cargo install ",
    "cargo test --workspace",
    "cd ",
    "git ",
    "packaging/",
    "sudo ",
    "tar ",
];

#[derive(Default)]
struct Code {
    /// Lines of shell blocks without comments.
    shell: Vec<String>,
    /// Inline code, and the lines of other blocks.
    other: Vec<String>,
}

impl Code {
    fn read(document: &str) -> Self {
        let mut code = Self::default();
        let mut block = None;
        for line in document.lines() {
            if let Some(language) = line.strip_prefix("```") {
                block = if block.is_some() { None } else { Some(language) };
            } else if let Some(language) = block {
                let lines = if language == "sh" { &mut code.shell } else { &mut code.other };
                lines.push(line.split(" #").next().unwrap_or_default().trim().to_owned());
            } else {
                code.other.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
            }
        }
        code
    }

    /// Shell lines except those in `OTHERS`, and each `cargo run` elsewhere.
    fn commands(&self) -> impl Iterator<Item = &str> {
        let shell =
            self.shell.iter().filter(|line| !line.is_empty() && !OTHERS.iter().any(|other| line.starts_with(other)));
        // Each crate's tests run its examples.
        let other = self.other.iter().filter(|code| code.starts_with("cargo run ") && !code.contains(" --example "));
        // Incomplete commands end in `--`.
        let whole = |line: &&String| !line.starts_with(ELSEWHERE) && !line.ends_with("--");
        shell.chain(other).filter(whole).map(String::as_str)
    }
}

fn read(name: impl AsRef<Path>) -> String {
    fs::read_to_string(workspace().join(name)).unwrap()
}

/// Includes docs/ and its subfolders.
fn documents() -> Vec<PathBuf> {
    let mut documents: Vec<PathBuf> = DOCUMENTS.iter().map(PathBuf::from).collect();
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(workspace().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(path);
            }
        }
    }
    assert!(documents.len() > 15, "{documents:?}");
    documents
}

fn follow(document: &Path) -> Vec<String> {
    // Commands read files that earlier ones wrote, except tests of programs, which run in parallel.
    let folder = Folder::new();
    let mut programs = vec![];
    thread::scope(|scope| {
        for command in Code::read(&read(document)).commands() {
            if command.starts_with("for ") {
                check_line(command, &folder);
                continue;
            }
            let typed = Typed::read(command).unwrap_or_else(|| panic!("{}: {command:?}", document.display()));
            programs.push(typed.program.clone());
            if typed.program == "conformance" {
                let folder = &folder;
                scope.spawn(move || typed.check(folder));
            } else {
                typed.check(&folder);
            }
        }
    });
    programs
}

#[test]
fn the_commands_of_the_documents_work() {
    // In parallel, since commands mostly wait.
    let programs: Vec<String> = thread::scope(|scope| {
        let documents = documents().into_iter().map(|document| scope.spawn(move || follow(&document)));
        let followed: Vec<_> = documents.collect();
        followed.into_iter().flat_map(|programs| programs.join().unwrap()).collect()
    });
    for (program, times) in [
        ("dealer", 2),
        ("journal", 1),
        ("mastermind-play", 1),
        ("nuggets-client", 2),
        ("nuggets-server", 6),
        ("player", 1),
        ("qtable", 4),
        ("robots-client", 2),
        ("robots-server", 2),
    ] {
        assert!(programs.iter().filter(|typed| *typed == program).count() >= times, "{programs:?}");
    }
}

#[test]
fn links_of_the_documents_resolve() {
    for document in documents() {
        let text = read(&document);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            let target = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            assert!(workspace().join(&target).exists(), "{}: {link}", document.display());
            if let Some(anchor) = anchor {
                assert!(anchors(&read(&target)).any(|known| known == anchor), "{}: {link}", document.display());
            }
        }
    }
}

/// As GitHub generates them for headings.
fn anchors(document: &str) -> impl Iterator<Item = String> {
    document.lines().filter(|line| line.starts_with('#')).map(|line| {
        let heading = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        heading.chars().filter(|char| char.is_alphanumeric() || *char == '-').collect()
    })
}

#[test]
fn the_examples_of_the_help_work() {
    thread::scope(|scope| PACKAGES.iter().for_each(|name| drop(scope.spawn(|| try_examples(name)))));
}

fn try_examples(name: &str) {
    let help = Process::run(program(name).arg("--help").env("COLUMNS", "80")).stdout;
    let (_, examples) = help.split_once("\nExamples:\n").unwrap();
    let (examples, _) = examples.split_once("\n\n").unwrap();
    // The description of a command is below it, indented further.
    let commands = examples.lines().filter(|line| !line.starts_with("   "));
    let typed: Vec<Typed> = commands.filter_map(Typed::read).collect();
    assert!(typed.len() >= 2 && typed.iter().all(|typed| typed.program == name), "{typed:?}");
    // In parallel, since examples are independent and mostly wait.
    thread::scope(|scope| typed.iter().for_each(|typed| drop(scope.spawn(|| typed.check(&Folder::new())))));
}

#[test]
fn each_program_has_a_manual_page_with_the_parts_of_its_help() {
    for name in PACKAGES.iter().copied() {
        let page = Process::run(program(name).arg("--man"));
        assert_eq!((page.code, &*page.stderr), (Some(0), ""), "{name}");
        let wanted = [format!(".TH {name} 1 "), ".SH SYNOPSIS".to_owned(), "Exit status".to_owned()];
        assert!(wanted.iter().all(|wanted| page.stdout.contains(wanted)), "{}", page.stdout);
    }
}

#[test]
fn an_archive_of_a_release_has_every_program() {
    let (script, page) = (read("packaging/dist"), read("docs/releasing.md"));
    let (_, list) = script.split_once("folders=(").unwrap();
    let packed = list.split_once(')').unwrap().0.split_whitespace().map(|folder| folder.trim_start_matches("crates/"));
    // The hub has its own tests, so it is not in `PACKAGES`.
    let all: Vec<&str> = ["arcade"].iter().chain(PACKAGES).copied().collect();
    assert_eq!(packed.collect::<Vec<_>>(), all);
    for name in all {
        assert!(page.contains(&format!("`{name}`")), "docs/releasing.md does not name {name}");
    }
}

#[test]
fn the_commands_that_a_server_prints_join_it() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL)]);
    let lines = server.process.wait_stderr("how to join", |stderr| {
        let lines = stderr.lines().filter_map(|line| line.split_once(": ")).filter_map(|(_, line)| Typed::read(line));
        Some(lines.collect::<Vec<_>>()).filter(|lines| lines.len() == 3)
    });
    for typed in &lines {
        assert_eq!(typed.program, "nuggets-client");
        typed.check_client(&server);
    }
    assert_eq!(server.process.wait().code, Some(0));

    let server = robots::Server::start("-c 2 -x 5 -y 5 -l 1 -d 0");
    let typed = |line: &str| Typed::read(line.split_once(": ")?.1.trim());
    let lines: Vec<Typed> = server.process.wait_stderr("how to join", |stderr| {
        Some(stderr.lines().filter_map(typed).collect::<Vec<_>>()).filter(|lines| lines.len() == 3)
    });
    for typed in &lines {
        assert_eq!(typed.program, "robots-client");
        typed.check_robots_client(&server);
    }
}

#[test]
fn each_recipe_is_one_documented_line() {
    let (recipes, code) = (read("justfile"), Code::read(&read("CONTRIBUTING.md")).other);
    let mut lines = 0;
    for recipe in recipes.split("\n\n").skip(1) {
        let [comment, head, line] = recipe.trim_end().lines().collect::<Vec<_>>()[..] else { panic!("{recipe}") };
        assert!(comment.starts_with("# ") && head.ends_with(':') && line.starts_with("    "), "{recipe}");
        // A recipe's argument matches any text.
        let (start, end) = line.trim().split_once("{{").map_or((line.trim(), ""), |(start, rest)| {
            (start, rest.split_once("}}").unwrap_or_else(|| panic!("{recipe}")).1)
        });
        let matches = |code: &&String| match code.strip_prefix(start) {
            Some(rest) if line.contains("{{") => rest.ends_with(end),
            Some(rest) => rest.is_empty(),
            None => false,
        };
        assert!(code.iter().find(matches).is_some(), "not in CONTRIBUTING.md: {line}");
        lines += 1;
    }
    assert!(lines >= 6, "{recipes}");
}

/// Returns the README's program, for a server at `port`.
fn client(port: u16) -> String {
    let readme = read("README.md");
    let (_, program) = readme.split_once("```python\n").unwrap();
    program.split_once("```").unwrap().0.replace("PORT)", &format!("{port})"))
}

#[test]
fn the_client_in_python_plays_a_game() {
    let Some(python) = testkit::programs::python() else {
        return eprintln!("this machine has no python3, so the client in Python is not tested");
    };
    let folder = TempDir::new();
    let server = Server::start(&[&folder.file("hall.txt", HALL), "5"]);
    let program = folder.file("client.py", client(server.port));
    // The hall has six rows, so one of these steps meets a wall. An empty line is not a key, and `?` is not a game key.
    let keys = ["k", "k", "k", "k", "k", "k", "", "?", "Q"];
    let typed = folder.file("keys", format!("{}\n", keys.join("\n")));
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$2\" \"$0\" < \"$1\"", &program, &typed]).arg(python);
    let finished = Process::run(&mut command).ended(0);
    assert_eq!(finished.stdout.matches("key: ").count(), keys.len(), "{}", finished.stdout);
    assert!(finished.stdout.contains("ERROR "), "the server says what it does not understand: {}", finished.stdout);
    assert!(finished.stdout.contains('|') && finished.stdout.contains('@'), "{}", finished.stdout);
    assert!(finished.stdout.ends_with("Thanks for playing!\n"), "{}", finished.stdout);
}
