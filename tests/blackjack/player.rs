use std::{
    fs,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::Command,
    thread::{self, JoinHandle},
};

use blackjack::{QTable, StateSpace};
use testkit::{
    PATIENCE, TempDir,
    process::{Finished, Process},
};

use super::Dealer;
use crate::programs::program;

pub(super) fn player(port: u16, arguments: &[&str]) -> Command {
    let mut command = program("player");
    command.args(["Ann", "127.0.0.1", &port.to_string()]).args(arguments);
    command
}

/// Reads until the player disconnects after the script.
pub(super) struct ScriptedDealer {
    pub(super) port: u16,
    received: JoinHandle<Vec<u8>>,
}

impl ScriptedDealer {
    /// Runs `script` after JOIN.
    pub(super) fn start(script: impl FnOnce(&mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.set_nodelay(true).unwrap();
            let mut join = [0; 9];
            stream.read_exact(&mut join).unwrap();
            script(&mut stream);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut rest = vec![];
            let _ = stream.read_to_end(&mut rest);
            [&join[..], &rest].concat()
        });
        Self { port, received }
    }

    pub(super) fn sending(bytes: &'static [u8]) -> Self {
        Self::start(move |stream| {
            let _ = stream.write_all(bytes);
        })
    }

    /// The player must exit with `code`. Returns its output and the bytes that it sent.
    pub(super) fn run(self, arguments: &[&str], code: i32) -> (Finished, String) {
        let finished = Process::run(&mut player(self.port, arguments)).ended(code);
        (finished, self.received.join().unwrap().escape_ascii().to_string())
    }
}

const BEST: &[&str] = &["--best"];

pub(super) const DEAL: &str = "BEGIN\0CARD Ten of Clubs\0CARD Six of Hearts\0DEALER Three of Diamonds\0DECISION\0";

#[test]
fn an_invalid_message_ends_the_player_with_its_position() {
    let directory = TempDir::new();
    let table = directory.path().join("table").display().to_string();
    for (script, said) in [
        (&b""[..], "the dealer disconnected without QUIT after 0 rounds"),
        (b"BEGIN\0CARD Ten of Cl", "the dealer disconnected in the middle of the message at byte 6"),
        (b"BEGIN\0CARD Eleven of Clubs\0", "message 2, from byte 6 of the stream: byte 5: no card"),
        (b"BEGIN\0DEALER Ten of Clubs\0", "the dealer sent DEALER Ten of Clubs, expected CARD"),
        (&[b'A'; 5000], "a message of "),
    ] {
        for arguments in [BEST, &["--human"], &["--train", "--table", &table]] {
            let (finished, _) = ScriptedDealer::sending(script).run(arguments, 1);
            assert!(finished.stderr.contains(said), "{said} is not in\n{}", finished.stderr);
            let told = finished.stderr.matches("byte 5: no card").count();
            assert_eq!(told, usize::from(said.ends_with("byte 5: no card")));
            assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
        }
    }
}

#[test]
fn strange_dealers_are_reported_and_survived() {
    let (finished, _) =
        ScriptedDealer::sending(b"BEGIN\0CARD Ten of Clubs\0CARD Ten of Clubs\0RESULT WIN\0QUIT\0").run(BEST, 0);
    assert!(finished.stderr.contains("received the Ten of Clubs twice in one round"), "{}", finished.stderr);
    assert!(finished.stderr.contains("received a result before the hand was played"), "{}", finished.stderr);
    let (finished, received) = ScriptedDealer::sending(b"RESULT WIN\0RESULT WIN\0BEGIN\0QUIT\0").run(BEST, 0);
    assert_eq!(received, "JOIN Ann\\x00", "{}", finished.stderr);
    assert!(finished.stderr.contains("received a result outside a round"), "{}", finished.stderr);
    assert!(finished.stdout.starts_with("Ann: 0 rounds, 0 won"), "{}", finished.stdout);
}

#[test]
fn a_dealer_that_cannot_be_reached_is_named() {
    let port = {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.local_addr().unwrap().port()
    };
    let finished = Process::run(&mut player(port, &["--best", "--log", "error"])).ended(1);
    assert_eq!(
        finished.stderr,
        format!(
            "player: cannot connect to 127.0.0.1:{port} (127.0.0.1:{port}: Connection refused (os error 111)); is a dealer \
             running there? It ends when its table is over, unless it runs with --forever\n"
        )
    );
    let finished = Process::run(program("player").args(["Ann", "no..host", "80", "--best", "--log", "error"])).ended(1);
    assert!(finished.stderr.starts_with("player: cannot find the host 'no..host'"), "{}", finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 1);
}

#[test]
fn wrong_usage_ends_with_2_and_names_what_is_wrong() {
    for (arguments, named) in [
        (&[][..], "For example: cargo run -p player -- Ann localhost 2021 --human"),
        (&["A nn", "localhost", "80"], "1 to 64 printable ASCII characters"),
        (&["Ann", "localhost", "80", "--train", "--explore", "wild"], "epsilon"),
        (&["Ann", "localhost", "80", "--state", "fine"], "coarse or soft"),
    ] {
        let finished = Process::run(program("player").args(arguments));
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(finished.stderr.contains(named), "{arguments:?}: {named} is not in\n{}", finished.stderr);
    }
}

#[test]
fn damaged_or_missing_table_is_reported_before_joining() {
    let directory = TempDir::new();
    let damaged = directory.file("damaged", "21-qtable 1 coarse\n12 0 10 3 -9 2 0\nend 1 00000000\n");
    let soft = directory.file("soft", QTable::new(StateSpace::Soft).to_file());
    let gone = directory.path().join("gone").display().to_string();
    let nowhere = directory.path().join("no/table").display().to_string();
    let empty = directory.path().join("empty");
    fs::create_dir(&empty).unwrap();
    for (arguments, code, said) in [
        (&["--table", &damaged][..], 1, "is damaged: line 2: hit_sum -9 is impossible"),
        (&["--table", &damaged, "--train"], 1, "is damaged: line 2"),
        (&["--table", &gone], 1, "train --rounds 1000000 --explore epsilon -o "),
        (&["--table", &gone, "--human"], 1, "no table"),
        (&[], 1, "no table 'qtable'; create one with `"),
        (&["--table", &nowhere, "--train"], 1, "cannot save the table '"),
        (&["--train", "--epsilon", "0.2"], 2, "--epsilon requires --explore epsilon"),
        (&["--table", &soft, "--state", "coarse"], 2, "has soft states; omit --state coarse"),
    ] {
        // No server listens at port 1, so a player that connects reports another error.
        let finished = Process::run(player(1, arguments).current_dir(&empty));
        assert_eq!(finished.code, Some(code), "{arguments:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(said), "{said} is not in\n{}", finished.stderr);
    }
    assert!(fs::read_to_string(&damaged).unwrap().contains("-9"), "it is left as it was");
}

fn rounds(table: &QTable) -> u64 {
    // Each round ends with exactly one STAND or HIT, so it has at least one decision.
    table.visited().map(|(_, entry)| entry.visits()).sum()
}

#[test]
fn training_writes_a_table_and_continues_with_it() {
    let directory = TempDir::new();
    let path = directory.path().join("qtable");
    let mut before = 0;
    for (arguments, seed) in [(&["--train", "--explore", "epsilon"][..], 1), (&["--train", "--binary"], 2)] {
        let dealer = Dealer::start(&format!("2000 --delay-ms 0 --seed {seed} --quiet"));
        let mut command = dealer.player(arguments);
        command.args(["--seed", "3", "--save-every", "500"]).current_dir(directory.path());
        let finished = Process::run(&mut command).ended(0);
        assert_eq!(finished.stderr.matches("saved to 'qtable'").count(), 4, "{}", finished.stderr);
        let table = QTable::from_file(&fs::read(&path).unwrap()).unwrap();
        assert!(rounds(&table) >= before + 2_000);
        before = rounds(&table);
    }
    let names: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["qtable"], "nothing is left beside it");
    let table = fs::read(&path).unwrap();
    let dealer = Dealer::start("50 --delay-ms 0 --quiet");
    let finished = Process::run(dealer.player(&[]).current_dir(directory.path()));
    assert!(finished.stderr.contains("playing with the table 'qtable'"), "{}", finished.stderr);
    assert_eq!((finished.code, fs::read(&path).unwrap()), (Some(0), table));
}

#[test]
fn a_table_is_saved_after_a_signal_and_after_a_lost_connection() {
    let directory = TempDir::new();
    for (name, by_signal) in [("signal", true), ("vanished", false)] {
        let path = directory.path().join(name).display().to_string();
        let dealer = Dealer::start("1000000 --delay-ms 0 --quiet");
        let learner = Process::start(&mut dealer.player(&["--train", "--table", &path, "--save-every", "1000"]));
        learner.wait_stderr("a first save", |log| log.contains("saved to").then_some(()));
        if by_signal {
            learner.terminate();
        } else {
            dealer.process.kill();
        }
        let finished = learner.wait();
        let expected = if by_signal { (Some(0), "stopped") } else { (Some(1), "the dealer disconnected without QUIT") };
        assert_eq!(finished.code, expected.0, "{}", finished.stderr);
        assert!(finished.stderr.contains(expected.1), "{}", finished.stderr);
        assert!(finished.stdout.starts_with("Ann: "), "{}", finished.stdout);
        let played: u64 = finished.stdout.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(rounds(&QTable::from_file(&fs::read(path).unwrap()).unwrap()) >= played);
    }
}

#[test]
fn unsaved_table_is_an_error() {
    for vanishes in [false, true] {
        let directory = TempDir::new();
        let path = directory.path().join("table");
        let name = path.display().to_string();
        let fake = ScriptedDealer::start(move |stream| {
            stream.write_all(DEAL.as_bytes()).unwrap();
            stream.read_exact(&mut [0; 4]).unwrap();
            fs::create_dir(path).unwrap();
            if !vanishes {
                stream.write_all(b"QUIT\0").unwrap();
            }
        });
        let (finished, _) = fake.run(&["--train", "--table", &name], 1);
        assert!(finished.stdout.starts_with("Ann: 0 rounds"), "{}", finished.stdout);
        let gone = if vanishes { "the dealer disconnected without QUIT after 0 rounds; " } else { "" };
        let said = format!(
            "player: {gone}cannot save the table '{name}': is a directory; all work since the last save is lost"
        );
        assert_eq!(finished.stderr.lines().last(), Some(said.as_str()));
    }
}
