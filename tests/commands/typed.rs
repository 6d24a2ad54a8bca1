use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use testkit::{TempDir, eventually, process::Process};

use crate::{
    blackjack,
    nuggets::{HALL, Server},
    programs::{self, PACKAGES, program, workspace},
    robots,
};

/// Files in examples, with existing ones that replace them.
const EXAMPLES: &[(&str, &str)] = &[("maps/x.txt", "maps/main.txt")];
/// Replaced in examples by the port of a running server.
const PORTS: &[&str] = &["PORT", "12345", "2021"];

/// A temporary working directory with a link to the workspace's `maps`.
pub(super) struct Folder(TempDir);

impl Folder {
    pub(super) fn new() -> Self {
        let folder = TempDir::new();
        std::os::unix::fs::symlink(workspace().join("maps"), folder.path().join("maps")).unwrap();
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Written by an earlier command.
    fn journal(&self, name: &str) -> Option<PathBuf> {
        let folder = name.strip_suffix(".journal").and_then(|name| name.split_once('/'))?.0;
        let found = fs::read_dir(self.path().join(folder)).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
        found.filter(|path| path.extension() == Some(OsStr::new("journal"))).min()
    }
}

/// Runs with our programs in `PATH`.
pub(super) fn check_line(line: &str, folder: &Folder) {
    let itself = program(PACKAGES[0]);
    let programs = Path::new(itself.get_program()).parent().unwrap().to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs].into_iter().chain(env::split_paths(&path))).unwrap();
    let line = &line.replace("--rounds 1e7", "--rounds 1e5");
    let finished = Process::run(Command::new("sh").args(["-c", line]).env("PATH", path).current_dir(folder.path()));
    assert_eq!(finished.code, Some(0), "{line}: {}", finished.stderr);
}

#[derive(Debug)]
pub(super) struct Typed {
    pub(super) program: String,
    arguments: Vec<String>,
}

impl Typed {
    /// `cargo run -p PROGRAM -- ARGUMENT...` or `PROGRAM ARGUMENT...`; `None` for other commands.
    pub(super) fn read(command: &str) -> Option<Self> {
        // Skips a command that pipes keys into the program.
        let command = command.rsplit(" | ").next()?;
        let mut words = command.split_whitespace().map(|word| {
            let example = EXAMPLES.iter().find(|(example, _)| word == *example);
            example.map_or(word, |(_, real)| real).to_owned()
        });
        let first = words.next()?;
        if PACKAGES.contains(&&*first) {
            return Some(Self { program: first, arguments: words.collect() });
        }
        if first != "cargo" || words.next()? != "run" {
            return None;
        }
        let mut program = None;
        while let Some(word) = words.next().filter(|word| word != "--") {
            match word.as_str() {
                "-p" => program = words.next(),
                "--release" => {}
                other => panic!("{command:?}: what does {other:?} do there?"),
            }
        }
        Some(Self {
            program: program.unwrap_or_else(|| panic!("{command:?} runs nothing")),
            arguments: words.collect(),
        })
    }

    fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|word| word == argument)
    }

    fn command(&self, folder: &Folder) -> Command {
        let mut command = program(&self.program);
        command.args(&self.arguments).current_dir(folder.path());
        command
    }

    pub(super) fn check(&self, folder: &Folder) {
        match self.program.as_str() {
            "nuggets-client" | "player" if self.has("--directory") => self.check_follows(),
            "nuggets-server" if self.has("--check-map") => self.check_ends(&mut self.command(folder)),
            "nuggets-server" | "robots-server" => self.check_hosts(folder, "Hosting"),
            "dealer" => self.check_hosts(folder, "Dealing"),
            "nuggets-client" => {
                let maps = TempDir::new();
                let server = Server::start(&[&maps.file("hall.txt", HALL)]);
                self.check_client(&server);
            }
            "robots-client" => self.check_robots_client(&robots::Server::start("-c 2 -x 5 -y 5 -l 1 -d 0")),
            // The GUI parses its arguments before it requires a terminal.
            "robots-gui" => self.await_start(Process::start(&mut self.command(folder)), "not a terminal", 1),
            "robots-verify" => {
                let mut verifier = Process::start_with_stdin(&mut self.command(folder));
                verifier.close_stdin();
                self.await_start(verifier, if self.has("--file") { "the end" } else { "waiting at" }, 0);
            }
            "conformance" => self.check_conformance(folder),
            "league" => self.check_league(folder),
            "player" => self.check_player(folder),
            "qtable" => self.check_qtable(folder),
            "mastermind-play" => {
                let data = TempDir::new();
                let play = Process::run(self.command(folder).env("XDG_DATA_HOME", data.path()));
                // The panel requires a terminal. A text game exits with status 0 at the end of its input.
                let panel = self.has("--panel");
                assert_eq!(play.code, Some(i32::from(panel)), "{self:?}: {}", play.stderr);
                assert!(!panel || play.stderr.contains("needs a terminal"), "{self:?}: {}", play.stderr);
            }
            "journal" => self.check_journal(folder),
            // Its own tests start it (crates/arcade/tests). Here it would be built again.
            "arcade" => {
                let words: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
                let is_tested = matches!(*words, [] | ["--examples"] | ["--bind", "0.0.0.0"] | ["class", ..]);
                assert!(is_tested, "{self:?}: no test knows these arguments");
            }
            // It needs the hub and measures for minutes.
            "arcade-load" => {
                let measures = ["rooms", "watchers", "class", "attack", "restart"];
                assert!(measures.iter().any(|word| self.has(word)), "{self:?}");
            }
            other => panic!("{self:?}: no test knows what {other} should do"),
        }
    }

    // The directory's new address has no server, which the client must report.
    fn check_follows(&self) {
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let here = |word: &String| match word.strip_prefix("http://").and_then(|rest| rest.split_once('/')) {
            Some((_, path)) => format!("http://{nobody}/{path}"),
            None => word.clone(),
        };
        let client = Process::start(program(&self.program).args(self.arguments.iter().map(here)));
        client.wait_stderr("the directory's silence", |text| text.contains("cannot be queried").then_some(()));
    }

    fn check_ends(&self, command: &mut Command) {
        let finished = Process::run(command);
        assert_eq!(finished.code, Some(0), "{self:?}: {}", finished.stderr);
    }

    fn check_hosts(&self, folder: &Folder, said: &str) {
        let mut command = self.command(folder);
        // A resumed server takes its address from the journal.
        let resumes = self.has("--resume");
        if !resumes {
            command.args(["--bind", "127.0.0.1"]);
        }
        // The example's journal does not exist here.
        if resumes && fs::read_dir(folder.path().join("games")).is_err() {
            return self.await_start(Process::start(&mut command), "cannot resume", 1);
        }
        self.await_start(Process::start(&mut command), said, 0);
    }

    // Our program must pass the first rule. `conformance.rs` tests all rules.
    fn check_conformance(&self, folder: &Folder) {
        if self.has("--list") || self.has("--explain") {
            return self.check_ends(&mut self.command(folder));
        }
        let dealer = self.has("--at").then(|| blackjack::Dealer::start("2 --delay-ms 0"));
        let at = dealer.as_ref().map(|dealer| format!("localhost:{}", dealer.port));
        let reference = |file: &str| programs::reference(file).map(OsString::from).to_vec();
        let ours = match &*self.arguments[0] {
            "mastermind-text" => vec![program("mastermind-play").get_program().to_owned()],
            // No package has these names.
            "mastermind-server" => reference("mastermind_server.py"),
            "mastermind-client" => reference("mastermind_client.py"),
            kind => vec![program(kind).get_program().to_owned()],
        };
        let arguments = self.arguments.iter().flat_map(|word| match &at {
            Some(at) if word.starts_with("localhost:") => vec![at.into()],
            _ if word.starts_with("./") => ours.clone(),
            _ => vec![OsString::from(word)],
        });
        let data = TempDir::new();
        let more: &[&str] = match &*self.arguments[0] {
            // The player has no table yet.
            "player" => &["--best"],
            // The dealer need not pause for a user.
            "dealer" if dealer.is_none() => &["--delay-ms", "0"],
            _ => &[],
        };
        let arguments: Vec<OsString> = arguments.chain(more.iter().map(OsString::from)).collect();
        // Generous for parallel tests. A turn of robots takes a twentieth of it.
        let patience = ["--patience", "15"];
        let list = Process::run(program(&self.program).args([&self.arguments[0], "--list"])).ended(0).stdout;
        let first = ["--only", list.split_whitespace().next().unwrap()];
        let finished = program(&self.program)
            .current_dir(folder.path())
            .args(
                [&arguments[..1], &first.map(OsString::from), &patience.map(OsString::from), &arguments[1..]].concat(),
            )
            .env("XDG_DATA_HOME", data.path())
            .output()
            .unwrap();
        assert!(finished.status.success(), "{self:?}: {}", finished.stdout.escape_ascii());
    }

    // A shell parses the players' quoted commands. The league is as short as possible.
    fn check_league(&self, folder: &Folder) {
        let player = |name: &str| format!("[[player]]\nname = \"{name}\"\ncommand = \"bot:easy\"\n");
        let file = format!("game = \"robots\"\n{}{}", player("A"), player("B"));
        fs::write(folder.path().join("league.toml"), file).unwrap();
        let robots = !["nuggets", "blackjack", "mastermind"].iter().any(|game| self.has(game));
        let short = [("--rounds", "1", true), ("--patience", "20", true), ("--turns", "5", robots)];
        let added = short.iter().filter(|(option, _, fits)| *fits && !self.has(option));
        let words = self.arguments.iter().map(String::as_str);
        let words: Vec<&str> = words.chain(added.flat_map(|(option, value, _)| [*option, *value])).collect();
        let line = format!("exec \"$0\" {}", words.join(" "));
        let league = program("league");
        self.check_ends(Command::new("sh").arg("-c").arg(line).arg(league.get_program()).current_dir(folder.path()));
    }

    fn check_player(&self, folder: &Folder) {
        let dealer = blackjack::Dealer::start("3 --delay-ms 0");
        let finished = Process::run(program("player").args(self.with_port(dealer.port)).current_dir(folder.path()));
        // The example's table does not exist.
        let missing = self.has("ann.qtable") && finished.stderr.contains("ann.qtable");
        assert!(finished.code == Some(0) || missing, "{self:?}: {}", finished.stderr);
    }

    fn check_qtable(&self, folder: &Folder) {
        let reads = self.arguments.first().is_some_and(|first| first == "eval" || first == "chart");
        if reads && !self.arguments.last().is_some_and(|table| folder.path().join(table).exists()) {
            let train = ["train", "--rounds", "1000"];
            self.check_ends(program("qtable").args(train).current_dir(folder.path()));
        }
        // A shell expands `part-*`.
        let line = format!("exec \"$0\" {}", self.arguments.join(" "));
        let qtable = program("qtable");
        self.check_ends(Command::new("sh").arg("-c").arg(line).arg(qtable.get_program()).current_dir(folder.path()));
    }

    fn check_journal(&self, folder: &Folder) {
        let is_there = |name: &String| folder.journal(name).is_some() || folder.path().join(name).is_dir();
        let found = self.arguments.iter().any(is_there);
        let arguments = self.arguments.iter().map(|name| match folder.journal(name) {
            Some(path) => path.into_os_string(),
            None => name.into(),
        });
        let finished = Process::run(program("journal").args(arguments).current_dir(folder.path()));
        // A missing journal is reported after the arguments are parsed.
        assert_eq!(finished.code, Some(i32::from(!found)), "{self:?}: {}", finished.stderr);
    }

    fn with_port(&self, port: u16) -> impl Iterator<Item = String> {
        let port = port.to_string();
        self.arguments.iter().map(move |word| if PORTS.contains(&word.as_str()) { port.clone() } else { word.clone() })
    }

    // Waits for `said`, and stops the program. An error about a port in use also shows that its arguments are accepted.
    fn await_start(&self, process: Process, said: &str, code: i32) {
        let text = |process: &Process| format!("{}{}", process.stdout(), process.stderr());
        let is_said = || text(&process).contains(said);
        eventually(&format!("{self:?} does not say {said:?}"), || !process.is_running() || is_said());
        // Without a terminal, a program exits by itself.
        if code == 0 && process.is_running() {
            process.terminate();
        }
        let finished = process.wait();
        let all = format!("{}{}", finished.stdout, finished.stderr);
        // With `--resume`, a server waits for its port.
        let waits = all.contains("waiting until it is free");
        let in_use = all.contains("in use") && !waits;
        assert!(in_use || waits || all.contains(said), "{self:?} did not say {said:?} but {all}");
        assert_eq!(finished.code, Some(if in_use { 1 } else { code }), "{self:?}: {all}");
    }

    /// Until it has connected or reports that it has no terminal.
    pub(super) fn check_robots_client(&self, server: &robots::Server) {
        let address = format!("127.0.0.1:{}", server.port);
        let mut arguments: Vec<String> = self.arguments.clone();
        for argument in &mut arguments {
            if argument.starts_with("localhost:202") && !argument.ends_with("2024") {
                argument.clone_from(&address);
            }
        }
        let draws = self.has("--gui") || self.has("--demo");
        let (said, code) = if draws { ("not a terminal", 1) } else { ("connected", 0) };
        self.await_start(Process::start(program(&self.program).args(arguments)), said, code);
    }

    /// Until its input or the game ends.
    pub(super) fn check_client(&self, server: &Server) {
        let mut command = program(&self.program);
        command.args(self.with_port(server.port));
        if self.arguments.iter().any(|argument| argument.starts_with("--bot")) {
            // Bots need not pause for a user.
            command.args(["--delay-ms", "0"]);
        }
        let finished = Process::run(&mut command);
        assert_eq!(finished.code, Some(0), "{self:?}: {}", finished.stderr);
        assert!(!finished.stdout.is_empty(), "{self:?} was told nothing");
    }
}
