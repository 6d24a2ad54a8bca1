use std::{fs, thread, time::Instant};

use testkit::{PATIENCE, TempDir, process::Process};

use crate::{
    blackjack,
    nuggets::{HALL, Server},
    programs::{PACKAGES, program, program_of, workspace},
    robots,
};

/// The documents that say what to type to start a program.
const DOCUMENTS: &[&str] = &["README.md", "maps/README.md"];
/// How a command begins that runs a program of another workspace: those are run by `.ci/run`.
const ELSEWHERE: &str = "cargo run --manifest-path ";
/// What stands for a file of the reader's own, and a file that is there.
const EXAMPLES: &[(&str, &str)] = &[("maps/x.txt", "maps/main.txt")];
/// What stands for the port of a server that runs.
const PORTS: &[&str] = &["PORT", "12345", "2021"];

/// A program of ours and its arguments.
#[derive(Debug)]
struct Typed {
    program: String,
    arguments: Vec<String>,
}

impl Typed {
    /// Reads `cargo run -p PROGRAM -- ARGUMENT...` or `PROGRAM ARGUMENT...`; none if it is another command.
    fn read(command: &str) -> Option<Self> {
        // What types keys into a program is no concern of its arguments.
        let command = command.rsplit(" | ").next()?;
        let mut words = command.split_whitespace().map(|word| {
            let example = EXAMPLES.iter().find(|(example, _)| word == *example);
            example.map_or(word, |(_, real)| real).to_owned()
        });
        let first = words.next()?;
        if PACKAGES.iter().any(|package| program_of(package) == first) {
            return Some(Self { program: first, arguments: words.collect() });
        }
        if first != "cargo" || words.next()? != "run" {
            return None;
        }
        let mut program = None;
        while let Some(word) = words.next().filter(|word| word != "--") {
            match word.as_str() {
                "-p" => program = words.next().map(|package| program_of(&package).to_owned()),
                "--release" => {}
                other => panic!("{command:?}: what does {other:?} do there?"),
            }
        }
        Some(Self {
            program: program.unwrap_or_else(|| panic!("{command:?} runs nothing")),
            arguments: words.collect(),
        })
    }

    /// Runs it and checks that it does what it should.
    fn check(&self) {
        match self.program.as_str() {
            "nuggets-server" if self.arguments.iter().any(|argument| argument == "--check-map") => {
                let finished = Process::run(program(&self.program).args(&self.arguments).current_dir(workspace()));
                assert_eq!(finished.code, Some(0), "{self:?}: {}", finished.stderr);
            }
            "nuggets-server" => {
                let server = Process::start(
                    program(&self.program).args(&self.arguments).args(["--bind", "127.0.0.1"]).current_dir(workspace()),
                );
                // Somebody may have the port, but then the arguments were understood.
                let hosts = server.wait_stderr("either end", |stderr| {
                    if stderr.contains("Hosting") { Some(true) } else { stderr.contains("in use").then_some(false) }
                });
                server.terminate();
                assert_eq!(server.wait().code, Some(i32::from(!hosts)), "{self:?}");
            }
            "nuggets-client" => {
                let maps = TempDir::new();
                let server = Server::start(&[&maps.file("hall.txt", HALL)]);
                self.check_client(&server);
            }
            "robots-server" => {
                let server = Process::start(program(&self.program).args(&self.arguments).args(["--bind", "127.0.0.1"]));
                self.await_start(server, "Hosting", 0);
            }
            "robots-client" => self.check_robots_client(&robots::Server::start("-c 2 -x 5 -y 5 -l 1 -d 0")),
            // Nothing is drawn where there is no terminal, which is said once the arguments are understood.
            "robots-gui" => {
                self.await_start(Process::start(program(&self.program).args(&self.arguments)), "not a terminal", 1);
            }
            "robots-verify" => {
                let mut verifier = Process::start_with_stdin(program(&self.program).args(&self.arguments));
                verifier.close_stdin();
                let ends = self.arguments.iter().any(|argument| argument == "--file");
                self.await_start(verifier, if ends { "the end" } else { "waiting at" }, 0);
            }
            "dealer" => {
                let dealer = Process::start(program(&self.program).args(&self.arguments).args(["--bind", "127.0.0.1"]));
                self.await_start(dealer, "Dealing", 0);
            }
            "player" => {
                let folder = TempDir::new();
                let dealer = blackjack::Dealer::start("3 --delay-ms 0");
                let port = dealer.port.to_string();
                let arguments =
                    self.arguments.iter().map(|word| if PORTS.contains(&word.as_str()) { &port } else { word });
                let finished = Process::run(program(&self.program).args(arguments).current_dir(folder.path()));
                // A table of the reader's own is not there yet.
                let missing =
                    self.arguments.contains(&"ann.qtable".to_owned()) && finished.stderr.contains("ann.qtable");
                assert!(finished.code == Some(0) || missing, "{self:?}: {}", finished.stderr);
            }
            "qtable" => {
                let folder = TempDir::new();
                if self.arguments.first().is_some_and(|first| first == "eval" || first == "chart") {
                    let train = ["train", "--rounds", "1000"];
                    let trained = Process::run(program(&self.program).args(train).current_dir(folder.path()));
                    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
                }
                let finished = Process::run(program(&self.program).args(&self.arguments).current_dir(folder.path()));
                assert_eq!(finished.code, Some(0), "{self:?}: {}", finished.stderr);
            }
            "mastermind-play" => {
                let folder = TempDir::new();
                let play =
                    Process::run(program(&self.program).args(&self.arguments).env("XDG_DATA_HOME", folder.path()));
                // Nothing is drawn where there is no terminal; a game at the end of its input ends quietly.
                let panel = self.arguments.iter().any(|argument| argument == "--panel");
                assert_eq!(play.code, Some(i32::from(panel)), "{self:?}: {}", play.stderr);
                assert!(!panel || play.stderr.contains("needs a terminal"), "{self:?}: {}", play.stderr);
            }
            // There is no journal, which is said once the arguments are understood. Its own tests have some.
            "journal" => {
                let folder = TempDir::new();
                let finished = Process::run(program(&self.program).args(&self.arguments).current_dir(folder.path()));
                assert_eq!(finished.code, Some(1), "{self:?}: {}", finished.stderr);
            }
            other => panic!("{self:?}: no test knows what {other} should do"),
        }
    }

    // Waits until a program says that its arguments are good and ends it. Somebody may have its port, which is said by
    // programs that have understood their arguments.
    fn await_start(&self, process: Process, said: &str, code: i32) {
        let text = |process: &Process| format!("{}{}", process.stdout(), process.stderr());
        let until = Instant::now() + PATIENCE;
        while process.is_running() && !text(&process).contains(said) && Instant::now() < until {
            thread::yield_now();
        }
        let in_use = text(&process).contains("in use");
        // Where there is no terminal a program ends by itself.
        if code == 0 && process.is_running() {
            process.terminate();
        }
        let finished = process.wait();
        let all = format!("{}{}", finished.stdout, finished.stderr);
        assert!(in_use || all.contains(said), "{self:?} did not say {said:?} but {all}");
        assert_eq!(finished.code, Some(if in_use { 1 } else { code }), "{self:?}: {all}");
    }

    // Joins or looks on, until it has said hello or that there is no terminal to draw on.
    fn check_robots_client(&self, server: &robots::Server) {
        let address = format!("127.0.0.1:{}", server.port);
        let mut arguments: Vec<String> = self.arguments.clone();
        for argument in &mut arguments {
            if argument.starts_with("localhost:202") && !argument.ends_with("2024") {
                argument.clone_from(&address);
            }
        }
        let (said, code) = if self.arguments.iter().any(|argument| argument == "--gui" || argument == "--demo") {
            ("not a terminal", 1)
        } else {
            ("connected", 0)
        };
        self.await_start(Process::start(program(&self.program).args(arguments)), said, code);
    }

    // Plays, or looks on, until its input or the game ends.
    fn check_client(&self, server: &Server) {
        let port = server.port.to_string();
        let arguments = self.arguments.iter().map(|word| if PORTS.contains(&word.as_str()) { &port } else { word });
        let finished = Process::run(program(&self.program).args(arguments));
        assert_eq!(finished.code, Some(0), "{self:?}: {}", finished.stderr);
        assert!(!finished.stdout.is_empty(), "{self:?} was told nothing");
    }
}

/// What stands as code in a document: the lines of its blocks without their remarks, and what is between backticks.
fn code(document: &str) -> Vec<String> {
    let (mut code, mut in_block) = (vec![], false);
    for line in document.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            code.push(line.split(" #").next().unwrap_or_default().trim().to_owned());
        } else {
            code.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    code
}

fn read(name: &str) -> String {
    fs::read_to_string(workspace().join(name)).unwrap()
}

#[test]
fn what_the_documents_say_to_type_works() {
    let mut programs = vec![];
    for document in DOCUMENTS {
        let runs = |code: &&String| code.starts_with("cargo run ") && !code.starts_with(ELSEWHERE);
        for command in code(&read(document)).iter().filter(runs) {
            let typed = Typed::read(command).unwrap_or_else(|| panic!("{document}: {command:?}"));
            typed.check();
            programs.push(typed.program);
        }
    }
    for (program, times) in [
        ("dealer", 1),
        ("mastermind-play", 2),
        ("nuggets-client", 3),
        ("nuggets-server", 3),
        ("player", 1),
        ("qtable", 1),
        ("robots-client", 3),
        ("robots-server", 1),
    ] {
        assert!(programs.iter().filter(|typed| *typed == program).count() >= times, "{programs:?}");
    }
}

#[test]
fn the_examples_of_the_help_work() {
    for name in PACKAGES.iter().map(|package| program_of(package)) {
        let help = Process::run(program(name).arg("--help").env("COLUMNS", "80")).stdout;
        let (_, examples) = help.split_once("\nExamples:\n").unwrap();
        let (examples, _) = examples.split_once("\n\n").unwrap();
        // What a command does stands below it, further to the right.
        let commands = examples.lines().filter(|line| !line.starts_with("   "));
        let typed: Vec<Typed> = commands.filter_map(Typed::read).collect();
        assert!(typed.len() >= 2 && typed.iter().all(|typed| typed.program == name), "{typed:?}");
        typed.iter().for_each(Typed::check);
    }
}

#[test]
fn what_a_server_says_to_type_lets_one_join_it() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL)]);
    let lines = server.process.wait_stderr("how to join", |stderr| {
        let lines = stderr.lines().filter_map(|line| line.split_once(": ")).filter_map(|(_, line)| Typed::read(line));
        Some(lines.collect::<Vec<_>>()).filter(|lines| lines.len() == 3)
    });
    // The bot comes last and ends the game.
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
fn each_recipe_is_one_line_that_stands_in_the_readme() {
    let (recipes, readme) = (read("justfile"), code(&read("README.md")));
    let mut lines = 0;
    for recipe in recipes.split("\n\n").skip(1) {
        let [comment, head, line] = recipe.trim_end().lines().collect::<Vec<_>>()[..] else { panic!("{recipe}") };
        assert!(comment.starts_with("# ") && head.ends_with(':') && line.starts_with("    "), "{recipe}");
        // An argument may be anything.
        let (start, end) = line.trim().split_once("{{").map_or((line.trim(), ""), |(start, rest)| {
            (start, rest.split_once("}}").unwrap_or_else(|| panic!("{recipe}")).1)
        });
        let matches = |code: &&String| match code.strip_prefix(start) {
            Some(rest) if line.contains("{{") => rest.ends_with(end),
            Some(rest) => rest.is_empty(),
            None => false,
        };
        assert!(readme.iter().find(matches).is_some(), "not in README.md: {line}");
        lines += 1;
    }
    assert!(lines >= 6, "{recipes}");
}
