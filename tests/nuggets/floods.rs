use std::time::{Duration, Instant};

use netshell::PEER_RATE;
use testkit::peer::Peer;

use super::{Server, other_host};

/// What a player sends at most before its answers are counted.
const MOST_SENT: u64 = 400_000;

/// The answers to one player that are allowed within a time.
fn allowed(time: Duration) -> u64 {
    u64::from(PEER_RATE.burst) + u64::from(PEER_RATE.per_second) * (time.as_secs() + 1)
}

/// Sends a message so many times, and counts what comes back.
fn flood(sender: &Peer, message: &[u8], times: usize) -> u64 {
    let mut answers = 0;
    for sent in 1..=times {
        sender.send(message);
        // Now and then, so that the answers find room.
        if sent % 64 == 0 || sent == times {
            answers += sender.pending().len() as u64;
        }
    }
    answers
}

#[test]
fn a_flood_from_one_host_does_not_keep_others_from_playing_nor_from_joining() {
    let Some(elsewhere) = other_host(2) else { return };
    let server = Server::start(&[]);
    let ann = server.peer();
    ann.play("Ann");
    let flooder = Peer::at(elsewhere, server.v4());
    let mut sent = 0;
    let mut newcomers = 0;
    while sent < 50_000 {
        for message in [&b"PLAY "[..], b"SPECTATEX", b"KEY Q", b"\xff\xfe"] {
            flood(&flooder, message, 250);
            sent += 250;
        }
        // Whoever plays is answered in the middle of it.
        ann.ask("KEY ?", "ERROR unknown keystroke");
        if newcomers < 5 {
            server.peer().ask("PLAY Newcomer", "OK ");
            newcomers += 1;
        }
    }
    server.process.wait_stderr("what is dropped is logged", |log| log.contains("dropped a datagram").then_some(()));
    assert!(server.process.is_running());
}

#[test]
fn a_flood_from_one_player_is_answered_at_its_rate_and_does_not_keep_others_from_playing() {
    let server = Server::start(&[]);
    let (ann, bob) = (server.peer(), server.peer());
    ann.play("Ann");
    bob.play("Bob");
    let start = Instant::now();
    let (mut sent, mut answers, mut most) = (0, 0, allowed(Duration::ZERO));
    // Until far more was sent than a player may send, if this machine can send that fast just now.
    while sent < 3 * most && sent < MOST_SENT {
        // What is cheap and what is not.
        for message in [&b"KEY ?"[..], b"KEY H", b"KEY ?", b"KEY L"] {
            answers += flood(&bob, message, 500);
        }
        sent += 2_000;
        most = allowed(start.elapsed());
        if sent % 20_000 == 0 {
            ann.ask("KEY ?", "ERROR unknown keystroke");
        }
    }
    assert!(answers <= most + 100, "{answers} answers to {sent} keys in {:?}", start.elapsed());
    assert!(server.process.is_running());
}

#[test]
fn keys_of_a_machine_without_a_seat_do_not_keep_its_newcomers_out() {
    let server = Server::start(&[]);
    let stray = server.peer();
    // A client whose server was started anew, ten seconds' worth of what a held key sends.
    for newcomer in 0..10 {
        for _ in 0..200 {
            stray.send("KEY h");
        }
        let peer = server.peer();
        peer.send(format!("PLAY Newcomer{newcomer}"));
        peer.expect("OK ");
    }
}
