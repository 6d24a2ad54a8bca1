//! The tester of nuggets clients passes a correct client and finds what a crooked one does.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

use std::{
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::mpsc::TryRecvError,
    time::{Duration, Instant},
};

use conformance::{NUGGETS_CLIENT as TESTER, Values, Verdict};
use nuggets::ServerMessage;

use crate::support::{Console, assert_all_pass, crimes, find_out, tried, tried_for, tried_with, value};

crimes! {
    None,
    Spectates => "first-message",
    NameInCapitals => "first-message",
    KeyWithNewline => "message-form",
    SecondPort => "one-address",
    PlaysAgain => "joins-once",
    NoCapitals => "keys-as-typed",
    EveryKeyTwice => "keys-as-typed",
    EndsOnSameDisplay => "any-display",
    EndsOnError => "goes-on-after-error",
    EndsOnUnknown => "no-words-ignored",
    EndsOnEmpty => "no-words-ignored",
    OtherStatus => "quit-ends",
    NeverEnds => "quit-ends",
    SaysNothing => "quit-text",
    SmallBuffer => "long-quit",
    EndsWithInput => "end-of-input",
    AnyPort => "bad-port",
    ListensToAll => "strangers-ignored",
    AsksOnce => "asks-again",
    Silent => "first-message",
    NeedsTerminal => "first-message",
}

/// How long it waits for QUIT when its input has ended.
const LONELY: Duration = Duration::from_secs(3);

fn play(crime: Crime, values: Values<'_>, console: &Console) -> i32 {
    let port = value::<u16>(values, "port").filter(|&port| port > 0);
    let (Some(port), None) = (port, value::<String>(values, "more")) else {
        return if crime == C::AnyPort { 0 } else { console.refuse("usage: host, port and perhaps a name") };
    };
    if crime == C::NeedsTerminal {
        return 1;
    }
    let server: SocketAddr = (Ipv4Addr::LOCALHOST, port).into();
    let open = || {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
        socket
    };
    let (socket, second) = (open(), open());
    let send = |socket: &UdpSocket, message: &[u8]| drop(socket.send_to(message, server));
    let first = match (value::<String>(values, "name"), crime) {
        (None, _) | (_, C::Spectates) => "SPECTATE".to_owned(),
        (Some(name), C::NameInCapitals) => format!("PLAY {}", name.to_uppercase()),
        (Some(name), _) => format!("PLAY {name}"),
    };
    let ask = || {
        if crime != C::Silent {
            send(&socket, first.as_bytes());
        }
    };
    ask();
    let (mut joined, mut leaving, mut asked, mut display) = (false, None::<Instant>, Instant::now(), Vec::new());
    let mut buffer = vec![0; 70_000];
    while !console.is_stopped() {
        if !joined && crime != C::AsksOnce && asked.elapsed() > Duration::from_millis(200) {
            asked = Instant::now();
            ask();
        }
        // Keys before the server has let us in are lost.
        match console.keys.try_recv() {
            Ok(key) if joined => {
                let key = if crime == C::NoCapitals { key.to_ascii_lowercase() } else { key };
                let end: &[u8] = if crime == C::KeyWithNewline { b"\n" } else { b"" };
                let message = [b"KEY ", &[key][..], end].concat();
                send(if crime == C::SecondPort { &second } else { &socket }, &message);
                match crime {
                    C::EveryKeyTwice => send(&socket, &message),
                    C::PlaysAgain => ask(),
                    _ => {}
                }
            }
            Err(TryRecvError::Disconnected) if crime == C::EndsWithInput => return 0,
            Err(TryRecvError::Disconnected) if leaving.is_none() => {
                leaving = Some(Instant::now());
                send(&socket, b"KEY Q");
            }
            Ok(_) | Err(_) => {}
        }
        if leaving.is_some_and(|since| since.elapsed() > LONELY) {
            return 0;
        }
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        if from != server && crime != C::ListensToAll {
            continue;
        }
        match ServerMessage::parse(&buffer[..length]) {
            Ok(ServerMessage::Grid { .. }) => joined = true,
            Ok(ServerMessage::Display(text)) => {
                if crime == C::EndsOnSameDisplay && display == text {
                    return 1;
                }
                display = text.to_vec();
            }
            Ok(ServerMessage::Error(_)) if crime == C::EndsOnError => return 1,
            Ok(ServerMessage::Quit(_)) if crime == C::SmallBuffer && length > 1024 => {}
            Ok(ServerMessage::Quit(text)) if crime != C::NeverEnds => {
                if crime != C::SaysNothing {
                    String::from_utf8_lossy(text).lines().for_each(|line| console.print(line));
                }
                return i32::from(crime == C::OtherStatus);
            }
            Err(_) if crime == C::EndsOnUnknown && length > 0 => return 1,
            Err(_) if crime == C::EndsOnEmpty && length == 0 => return 1,
            _ => {}
        }
    }
    1
}

#[test]
fn a_correct_client_passes_every_rule_as_a_player_and_as_a_spectator() {
    assert_all_pass(&tried(&TESTER, play, C::None, 20_000));
    let spectator = tried_with(&TESTER, &["host", "port"], play, C::None, 20_000);
    let untested = spectator.rules.iter().filter(|rule| rule.verdict == Verdict::NotTested);
    assert_eq!(untested.map(|rule| &*rule.id).collect::<Vec<_>>(), ["short-name", "odd-name"], "{spectator}");
    assert_eq!(spectator.failed(), [""; 0], "{spectator}");
}

#[test]
fn every_rule_finds_a_client_that_breaks_it() {
    find_out(&TESTER, CRIMES, 10, |crime, rule| tried_for(&TESTER, play, crime, rule, 700));
}

#[test]
fn a_client_that_needs_a_terminal_is_told_so() {
    let report = tried(&TESTER, play, C::NeedsTerminal, 700);
    assert!(report.to_string().contains("if it needs a terminal"), "{report}");
}
