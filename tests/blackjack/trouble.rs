use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpStream},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use blackjack::Dialect;

use super::{Client, Dealer};
use crate::programs::program;

/// Two players at one table; the second has been asked nothing yet.
fn table(arguments: &str) -> (Dealer, Client, Client) {
    let dealer = Dealer::start(&format!("2 --players 2 --delay-ms 0 --seed 17 {arguments}"));
    let mut bad = dealer.text("Bad");
    dealer.process.wait_stderr("that one waits", |log| log.contains("waits for a seat").then_some(()));
    let good = dealer.text("Good");
    assert!(bad.until_asked().ends_with("DECISION"));
    (dealer, bad, good)
}

/// The other plays to the end, and the offender has lost a hand.
fn check_forfeit(dealer: Dealer, mut good: Client) {
    let told = good.stand_to_the_end();
    assert_eq!(told.iter().filter(|text| text.starts_with("RESULT")).count(), 2, "{told:?}");
    let finished = dealer.process.wait();
    assert_eq!(finished.code, Some(0));
    let row = finished.stdout.lines().find(|line| line.contains("Bad")).unwrap();
    let numbers: Vec<&str> = row.split_whitespace().skip(3).take(6).collect();
    assert_eq!(numbers, ["1", "0", "0", "1", "0", "1"], "rounds, wins, pushes, losses, busts, forfeits: {row}");
}

#[test]
fn whatever_is_no_answer_loses_the_hand_and_the_seat() {
    let long = [b'H'; 4096];
    for bytes in [
        &b"\0"[..],
        b"hit\0",
        b"HIT \0",
        b" HIT\0",
        b"HIT\n\0",
        b"JOIN Bad\0",
        b"DECISION\0",
        b"HIT\0STAND\0",
        b"\0\0\0\x01\x07",
        b"\xff\xff\0",
        &long,
    ] {
        let (dealer, mut bad, good) = table("");
        bad.write(bytes);
        let rest = bad.rest();
        // After two answers at once the first may have been heard.
        assert!(rest.ends_with(b"QUIT\0"), "{bytes:?}: {:?}", rest.escape_ascii().to_string());
        assert!(!rest.windows(6).any(|part| part == b"RESULT"), "{bytes:?}");
        check_forfeit(dealer, good);
    }
}

#[test]
fn silence_and_leaving_lose_the_hand_and_delay_nobody_else() {
    let (dealer, bad, good) = table("--timeout-ms 1500");
    assert_eq!(bad.rest(), b"QUIT\0");
    let log = dealer.process.wait_stderr("why", |log| log.contains("no answer in time").then(|| log.to_owned()));
    assert!(log.contains("WARN Bad is sent away: no answer in time"), "{log}");
    check_forfeit(dealer, good);

    let (dealer, bad, good) = table("");
    drop(bad);
    check_forfeit(dealer, good);

    let (dealer, bad, good) = table("");
    bad.half_close();
    assert_eq!(bad.rest(), b"QUIT\0");
    check_forfeit(dealer, good);
}

#[test]
fn a_half_close_after_the_last_answer_is_harmless() {
    let dealer = Dealer::start("1 --delay-ms 0 --seed 17");
    let mut ann = dealer.text("Ann");
    ann.until_asked();
    ann.stand();
    ann.half_close();
    let rest = ann.rest();
    assert!(rest.starts_with(b"RESULT ") && rest.ends_with(b"\0QUIT\0"), "{}", rest.escape_ascii());
    assert_eq!(dealer.process.wait().code, Some(0));
}

#[test]
fn whoever_does_not_join_keeps_no_seat_from_others() {
    let dealer = Dealer::start("1 --delay-ms 0 --timeout-ms 1500");
    let silent = Client::connect(dealer.address(), Dialect::Text);
    let mut strangers = vec![];
    for bytes in [
        &b"GET / HTTP/1.0\r\n\r\n"[..],
        b"join Ann\0",
        b"JOIN\0",
        b"JOIN \0",
        b"JOIN a b\0",
        b"JOIN Z\xc3\xbc\0",
        b"HIT\0",
        b"\0\0\0\0",
        b"\0\0\x01\x01",
        b"\0\0\0\x03\x01\x02A",
        b"\0\0\0\x01\x06",
        b"\xff",
    ] {
        let mut client = Client::connect(dealer.address(), Dialect::Text);
        client.write(bytes);
        strangers.push((client, bytes));
    }
    let name = [&b"JOIN "[..], &[b'x'; 65], b"\0"].concat();
    let mut client = Client::connect(dealer.address(), Dialect::Text);
    client.write(&name);
    strangers.push((client, &name));
    for (client, bytes) in strangers {
        // A player's words before JOIN are out of turn, everything else is nothing.
        let rest = client.rest();
        assert!(rest.is_empty() || rest == b"QUIT\0", "{:?}: {:?}", bytes.escape_ascii().to_string(), rest);
    }
    assert_eq!(silent.rest(), b"");
    let told = dealer.text("Ann").stand_to_the_end();
    assert_eq!(told.last().map(String::as_str), Some("QUIT"));
    assert_eq!(dealer.process.wait().code, Some(0));
}

#[test]
fn messages_count_however_they_are_cut() {
    let dealer = Dealer::start("3 --delay-ms 0 --seed 17");
    for mut client in [dealer.text("Ann")] {
        for _ in 0..3 {
            assert!(client.until_asked().ends_with("DECISION"));
            for byte in b"STAND\0" {
                client.write(&[*byte]);
            }
        }
        assert!(client.until_asked().ends_with("QUIT"));
    }
    assert_eq!(dealer.process.wait().code, Some(0));
    let dealer = Dealer::start("1 --delay-ms 0");
    let mut client = Client::connect(dealer.address(), Dialect::Binary);
    for byte in b"\0\0\0\x05\x01\x01Ann" {
        client.write(&[*byte]);
    }
    assert!(client.until_asked().starts_with("BEGIN"));
}

#[test]
fn a_dealer_whom_all_have_left_says_so_with_status_1() {
    let dealer = Dealer::start("1000 --delay-ms 0");
    let mut ann = dealer.text("Ann");
    ann.until_asked();
    drop(ann);
    let finished = dealer.process.wait();
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.ends_with("dealer: all players left before their last round\n"), "{}", finished.stderr);
    assert!(finished.stdout.contains("Table 1\n"), "{}", finished.stdout);
}

#[test]
fn whoever_answers_unasked_and_never_reads_is_dropped_and_the_others_play_on() {
    let dealer = Dealer::start("30 --tables 2 --delay-ms 0 --timeout-ms 3000");
    let mut deaf = dealer.text("Deaf");
    let writer = thread::spawn(move || while deaf.stream.write_all(b"STAND\0").is_ok() {});
    let told = dealer.text("Ann").stand_to_the_end();
    assert_eq!(told.iter().filter(|text| text.starts_with("RESULT")).count(), 30);
    writer.join().unwrap();
    assert_eq!(dealer.process.wait().code, Some(0));
}

#[test]
fn floods_of_strangers_and_resets_hold_up_nobody() {
    let dealer = Dealer::start("300 --delay-ms 0 --timeout-ms 30000");
    let address = dealer.address();
    let floods: Vec<_> = (0..2)
        .map(|_| {
            thread::spawn(move || {
                for round in 0..150 {
                    // The dealer ends when Ann's table is over, and nobody listens then.
                    let Ok(mut stream) = TcpStream::connect(address) else { return };
                    let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
                    let _ = stream.write_all(if round % 2 == 0 { b"JO" } else { &[b'x'; 2000] });
                }
            })
        })
        .collect();
    let told = dealer.text("Ann").stand_to_the_end();
    for flood in floods {
        flood.join().unwrap();
    }
    assert_eq!(told.iter().filter(|text| text.starts_with("RESULT")).count(), 300);
    assert_eq!(dealer.process.wait().code, Some(0));
}

#[test]
fn names_cannot_write_on_the_terminal() {
    // They cannot have control characters at all; what was sent is told without being copied.
    let dealer = Dealer::start("1 --delay-ms 0");
    let mut client = Client::connect(dealer.address(), Dialect::Text);
    client.write(b"JOIN \x1b[2J\0");
    client.rest();
    let log = dealer.process.wait_stderr("why", |log| log.contains("is sent away").then(|| log.to_owned()));
    assert!(!log.contains('\x1b'), "{log:?}");
}

#[test]
fn four_hundred_tables_are_played_at_once() {
    netshell::raise_open_files();
    let dealer =
        Dealer::of(program("dealer").args("--bind 127.0.0.1 0 1 --delay-ms 0 --tables 400 --quiet".split(' ')));
    let mut crowd: Vec<Client> = (0..400).map(|_| dealer.binary("Ann")).collect();
    for client in &mut crowd {
        assert!(client.until_asked().ends_with("DECISION"));
    }
    for client in &mut crowd {
        client.stand();
        assert!(client.until_asked().ends_with("QUIT"));
    }
    assert_eq!(dealer.process.wait().code, Some(0));
}

#[test]
fn a_standard_output_that_nobody_reads_stops_nobody() {
    let mut command = program("dealer");
    command.args("--bind 127.0.0.1 0 1 --delay-ms 0 --forever --log off".split(' '));
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = BufReader::new(process.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let port: u16 = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
    // From here on nobody reads. The standings of these tables are several times what a pipe takes.
    for _ in 0..1_500 {
        let mut ann = Client::join((Ipv4Addr::LOCALHOST, port).into(), Dialect::Binary, "Ann");
        assert!(ann.stand_to_the_end().ends_with(&["QUIT".to_owned()]));
    }
    let id = rustix::process::Pid::from_child(&process);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(0), "and a signal is heard");
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_answered_while_the_dealer_was_stopped_is_not_sent_away() {
    let dealer = Dealer::start("1 --delay-ms 0 --timeout-ms 1000");
    let mut ann = dealer.text("Ann");
    assert!(ann.until_asked().ends_with("DECISION"));
    let asked = Instant::now();
    dealer.process.suspend();
    // In time.
    ann.stand();
    while asked.elapsed() < Duration::from_millis(1_200) {
        thread::yield_now();
    }
    dealer.process.resume();
    let told = ann.stand_to_the_end();
    assert!(told[0].starts_with("RESULT"), "{told:?}");
}

#[test]
fn clients_who_come_and_go_leave_a_log_that_can_be_read() {
    // Also one that tells more.
    let dealer = Dealer::start("1000 --delay-ms 0 --forever --log debug");
    for _ in 0..1_000 {
        let ann = dealer.text("Ann");
        drop(ann);
    }
    let mut bob = dealer.text("Bob");
    assert!(bob.until_asked().ends_with("DECISION"));
    dealer.process.terminate();
    let finished = dealer.process.wait();
    assert!(finished.stderr.lines().count() < 2_000, "{} lines", finished.stderr.lines().count());
    assert!(finished.stdout.lines().count() < 200, "{} lines", finished.stdout.lines().count());
}
