use std::{
    io::{BufRead, BufReader},
    net::{Ipv4Addr, TcpListener},
    process::{Command, Stdio},
};

use blackjack::Dialect;
use serde_json::Value;
use testkit::{TempDir, process::Process};

use super::{Client, Dealer};
use crate::programs::program;

#[test]
fn port_is_announced_on_stdout_and_join_command_on_stderr() {
    let dealer = Dealer::start("1000 --players 2 --tables 3");
    let port = dealer.port;
    assert_eq!(dealer.process.stdout(), format!("Ready to deal, waiting at port {port}\n"));
    let log = dealer.process.wait_stderr("the hints", |log| log.contains("--train").then(|| log.to_owned()));
    for line in [
        "Dealing on 127.0.0.1; Ctrl-C stops it.".to_owned(),
        "Tables: 3 in all, with 2 seats and 1000 rounds each.".to_owned(),
        format!("cargo run -p player -- Ann 127.0.0.1 {port} --human\n"),
        format!("cargo run -p player -- Ann 127.0.0.1 {port} --best\n"),
        format!("cargo run -p player -- Ann 127.0.0.1 {port} --train --explore epsilon --table ann.qtable\n"),
    ] {
        assert!(log.contains(&line), "{line:?} is not in\n{log}");
    }
}

#[test]
fn wrong_usage_ends_with_2_and_names_what_is_wrong_before_anything_is_bound() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (arguments, named) in [
        ("", "For example: cargo run -p dealer -- 2021 1000"),
        ("80x 10", "'80x'"),
        ("65536 10", "from 0 to 65535, as in 2021"),
        ("PORT 0", "from 1 to 1000000000, as in 1000"),
        ("PORT 10 --players 7", "from 1 to 6"),
        (
            "PORT 10 --tables 4096 --players 2",
            "invalid number of tables 4096: expected at least 1, with seats for at most 4096 players",
        ),
        ("PORT 10 --quiet --trace", "--trace"),
    ] {
        let arguments = arguments.replace("PORT", &port);
        let finished = Process::run(program("dealer").args(arguments.split_whitespace()));
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""), "{arguments}: {}", finished.stderr);
        assert!(finished.stderr.contains(named), "{arguments}: {named} is not in\n{}", finished.stderr);
    }
}

#[test]
fn standings_as_json_and_quiet_output() {
    let dealer = Dealer::start("20 --delay-ms 0 --json --quiet --seed 5");
    let told = dealer.text("Ann").stand_to_the_end();
    let wins = told.iter().filter(|text| *text == "RESULT WIN").count();
    let finished = dealer.process.wait();
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    let standings: Value = serde_json::from_str(finished.stdout.lines().nth(1).unwrap()).unwrap();
    let seat = &standings["seats"][0];
    assert_eq!((seat["name"].as_str(), seat["rounds"].as_u64()), (Some("Ann"), Some(20)));
    assert_eq!(seat["wins"].as_u64(), Some(wins as u64));
    assert!(seat["ci95"].as_f64().unwrap() > 0.2, "{seat}");
}

#[test]
fn a_closed_standard_output_does_not_end_games() {
    let mut command = Command::new("sh");
    let binary = program("dealer");
    // The reader closes the pipe after the first line.
    command.args(["-c", "\"$0\" --bind 127.0.0.1 0 2 --delay-ms 0 | head -n 1"]).arg(binary.get_program());
    let dealer = Dealer::of(&mut command);
    let told = dealer.text("Ann").stand_to_the_end();
    assert_eq!(told.last().map(String::as_str), Some("QUIT"));
}

#[test]
fn dealer_without_players_exits_with_status_1() {
    let dealer = Dealer::start("1000 --delay-ms 0");
    let mut ann = dealer.text("Ann");
    ann.read_to_decision();
    drop(ann);
    let finished = dealer.process.wait().ended(1);
    assert!(finished.stderr.ends_with("dealer: all players left before their last round\n"), "{}", finished.stderr);
    assert!(finished.stdout.contains("Table 1\n"), "{}", finished.stdout);
}

#[test]
fn unread_standard_output_delays_no_game() {
    let mut command = program("dealer");
    command.args("--bind 127.0.0.1 0 1 --delay-ms 0 --forever --log off".split(' '));
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = BufReader::new(process.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let port: u16 = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
    // From here on unread. The standings of these tables exceed a pipe's capacity several times.
    for _ in 0..1_500 {
        let mut ann = Client::join((Ipv4Addr::LOCALHOST, port).into(), Dialect::Binary, "Ann");
        assert!(ann.stand_to_the_end().ends_with(&["QUIT".to_owned()]));
    }
    let id = rustix::process::Pid::from_child(&process);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(0), "and a signal is received");
}

#[test]
fn a_signal_suspends_the_tables_of_a_dealer_with_a_journal() {
    let place = TempDir::new();
    let mut command = program("dealer");
    command.args("--bind 127.0.0.1 0 5 --delay-ms 0 --seed 17 --json --journal".split(' ')).arg(place.path());
    let dealer = Dealer::of(&mut command);
    let mut ann = dealer.text("Ann");
    ann.read_to_decision();
    ann.stand();
    // The first round counts, and the second is called off.
    assert!(ann.read_to_decision().starts_with("RESULT "));
    dealer.process.terminate();
    let port = dealer.port;
    let finished = dealer.process.wait().ended(0);
    assert!(!finished.stdout.contains("seats"), "{}", finished.stdout);
    assert!(finished.stderr.contains("continues the match"), "{}", finished.stderr);
    assert_eq!(ann.rest(), b"", "she is not told that it is over");

    let again = Dealer::of(program("dealer").arg("--resume").arg(place.path()));
    assert_eq!(again.port, port);
    let told = again.text("Ann").stand_to_the_end();
    assert_eq!(told.iter().filter(|text| text.starts_with("RESULT ")).count(), 4, "{told:?}");
    let finished = again.process.wait().ended(0);
    assert!(finished.stdout.contains("\"name\":\"Ann\",\"rounds\":5,"), "{}", finished.stdout);
}
