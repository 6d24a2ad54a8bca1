//! The driver against servers that behave, leave, and misbehave.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{
    future::{pending, ready},
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use blackjack::{Client, Name};
use clientkit::{Ended, Pilot as _, Wire, blackjack_bot, mastermind_bot, nuggets_bot, run};
use netcore::{Client as _, Level, Time};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, UdpSocket},
    time::timeout,
};

const PATIENCE: Duration = Duration::from_secs(30);

fn local() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

async fn table() -> (Wire, Client, impl clientkit::Pilot<Client>, TcpStream) {
    let listener = TcpListener::bind(local()).await.unwrap();
    let mut told = None;
    let address = listener.local_addr().unwrap();
    let (wire, accepted) = tokio::join!(Wire::stream(local(), address, |own| told = Some(own)), listener.accept());
    let (wire, (stream, peer)) = (wire.unwrap(), accepted.unwrap());
    assert_eq!((told, wire.address().unwrap()), (Some(peer), peer), "the address is known before the connection");
    let (client, pilot) = blackjack_bot(Name::new(b"Bot").unwrap(), Level::Easy, false);
    (wire, client, pilot, stream)
}

async fn expect_bytes(stream: &mut TcpStream, expected: &[u8]) {
    let mut bytes = vec![0; expected.len()];
    stream.read_exact(&mut bytes).await.unwrap();
    assert_eq!(bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[tokio::test]
async fn a_bot_joins_answers_and_ends_with_the_game() {
    let (mut wire, mut client, mut pilot, mut stream) = table().await;
    let dealer = async {
        expect_bytes(&mut stream, b"JOIN Bot\0").await;
        let cards = b"BEGIN\0CARD Ten of Clubs\0CARD Seven of Hearts\0DEALER Three of Diamonds\0DECI";
        stream.write_all(cards).await.unwrap();
        stream.write_all(b"SION\0").await.unwrap();
        expect_bytes(&mut stream, b"STAND\0").await;
        stream.write_all(b"RESULT WIN\0QUIT\0").await.unwrap();
    };
    let (ended, ()) =
        timeout(PATIENCE, async { tokio::join!(run(&mut wire, &mut client, &mut pilot, pending()), dealer) })
            .await
            .unwrap();
    assert!(matches!(ended, Ended::Over), "{ended:?}");
}

#[tokio::test]
async fn closed_or_malformed_server_connection_is_lost() {
    for (said, why) in [(&b""[..], "closed"), (b"WHAT\0", "malformed message")] {
        let (mut wire, mut client, mut pilot, mut stream) = table().await;
        let server = async {
            expect_bytes(&mut stream, b"JOIN Bot\0").await;
            stream.write_all(said).await.unwrap();
            stream.shutdown().await.unwrap();
        };
        let ended = async { tokio::join!(run(&mut wire, &mut client, &mut pilot, pending()), server).0 };
        let ended = timeout(PATIENCE, ended).await.unwrap();
        assert!(matches!(&ended, Ended::Lost(text) if text.contains(why)), "{ended:?}");
    }
}

#[tokio::test]
async fn stopped_bot_sends_its_goodbye() {
    let (mut wire, mut client, mut pilot, _stream) = table().await;
    let ended = timeout(PATIENCE, run(&mut wire, &mut client, &mut pilot, ready(()))).await.unwrap();
    assert!(matches!(ended, Ended::Stopped), "{ended:?}");

    let server = UdpSocket::bind(local()).await.unwrap();
    let mut wire = Wire::datagrams(local(), server.local_addr().unwrap()).unwrap();
    let (mut client, mut pilot) = nuggets_bot(nuggets::Name::new(b"Bot").unwrap(), Level::Hard, 1, false);
    let ended = timeout(PATIENCE, run(&mut wire, &mut client, &mut pilot, ready(()))).await.unwrap();
    assert!(matches!(ended, Ended::Stopped), "{ended:?}");
    let mut bytes = [0; 64];
    let mut next = async || {
        let length = timeout(PATIENCE, server.recv(&mut bytes)).await.unwrap().unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    assert_eq!([next().await, next().await], ["PLAY Bot", "KEY Q"]);
}

#[test]
fn bot_waits_for_the_next_puzzle_of_the_day() {
    let (mut client, mut pilot) = mastermind_bot(mastermind::Name::new(b"Bot").unwrap(), Level::Easy, 1, false);
    let mut now = Time::ZERO;
    let mut said = |lines: &str, seconds: u64| {
        client.receive(now, lines.as_bytes()).unwrap();
        let until = now.plus(Duration::from_secs(seconds));
        let mut said = vec![];
        loop {
            pilot.act(&mut client, now);
            while let Some(message) = client.take_outgoing() {
                said.push(String::from_utf8(message.to_vec()).unwrap());
            }
            match pilot.due(&client).filter(|due| *due <= until) {
                Some(due) => now = due.max(now),
                None => break,
            }
        }
        now = until;
        said
    };
    let begun = "ROOM daily 4 8 yes 2026-11-22\nOK 1\nSEAT 1 Bot\nGAME 1 1 4 yes\nTURN 1 available available 0\n";
    let guess = said(begun, 10);
    assert!(guess[0] == "PLAY Bot\n" && guess[1].starts_with("GUESS ") && guess.len() == 2, "{guess:?}");
    assert_eq!(said("OVER 1 won 1 0 1234\n", 10), ["NEW\n"]);
    let refused = "NO there is one puzzle a day\n";
    assert_eq!(said(refused, 55), ["NEW\n"]);
    assert_eq!(said(refused, 3_600), vec!["NEW\n"; 60]);
    let guess = said("GAME 1 2 4 yes\nTURN 1 available available 0\n", 3_600);
    assert!(guess.len() == 1 && guess[0].starts_with("GUESS "), "{guess:?}");
    assert_eq!(said("OVER 1 won 1 0 1234\nWAIT 1\n", 3_600), Vec::<String>::new());
}
