use std::{
    net::Ipv4Addr,
    time::{Duration, Instant},
};

use netcore::Rate;
use netshell::{HOST_RATE, PEER_RATE, STRANGERS_RATE};
use nuggets::server::{CATCH_UP, SHOWN};
use testkit::{TempDir, peer::Peer};

use super::{HALL, Server, other_host};

/// What a player sends at most before its answers are counted.
const MOST_SENT: u64 = 400_000;

/// The answers that a limit allows within a time.
fn allowed(rate: Rate, time: Duration) -> u64 {
    u64::from(rate.burst) + u64::from(rate.per_second) * (time.as_secs() + 1)
}

/// Lets each of `senders` send `message` so many times, and counts what comes back to all of them.
fn flood(senders: &[Peer], message: &[u8], times: usize) -> u64 {
    let mut answers = 0;
    for sent in 0..times {
        for sender in senders {
            sender.send(message);
        }
        // Now and then, so that the answers find room.
        if sent % 64 == 63 {
            answers += count(senders);
        }
    }
    answers + count(senders)
}

fn count(senders: &[Peer]) -> u64 {
    senders.iter().map(|sender| sender.pending().len() as u64).sum()
}

#[test]
fn a_flood_of_strangers_is_answered_at_the_rate_of_one_host() {
    let server = Server::start(&[]);
    let senders: Vec<Peer> = (0..4).map(|_| server.peer()).collect();
    let start = Instant::now();
    let mut answers = flood(&senders, b"PLAY ", 12_500);
    // The last one is answered when the limit lets it through, and all before it have been.
    senders[0].ask("PLAY ", "QUIT Sorry");
    answers += 1 + count(&senders);
    let most = allowed(HOST_RATE, start.elapsed());
    assert!((1..=most).contains(&answers), "{answers} answers, {most} are allowed");
    // The answers to `ask` that it skipped are few; the order of magnitude is what counts.
    assert!(server.process.is_running());
    server.process.wait_stderr("what is dropped is logged", |log| log.contains("too many datagrams").then_some(()));
}

#[test]
fn a_flood_from_one_host_does_not_keep_others_from_playing_nor_from_joining() {
    let Some(elsewhere) = other_host(2) else { return };
    let server = Server::start(&[]);
    let ann = server.peer();
    ann.play("Ann");
    let flooder = [Peer::at(elsewhere, server.v4())];
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
    assert!(server.process.is_running());
}

#[test]
fn a_flood_from_one_player_is_answered_at_its_rate_and_does_not_keep_others_from_playing() {
    let server = Server::start(&[]);
    let (ann, bob) = (server.peer(), server.peer());
    ann.play("Ann");
    bob.play("Bob");
    let start = Instant::now();
    let flooder = [bob];
    let (mut sent, mut answers, mut most) = (0, 0, allowed(PEER_RATE, Duration::ZERO));
    // Until far more was sent than a player may send, if this machine can send that fast just now.
    while sent < 3 * most && sent < MOST_SENT {
        // What is cheap and what is not.
        for message in [&b"KEY ?"[..], b"KEY H", b"KEY ?", b"KEY L"] {
            answers += flood(&flooder, message, 500);
        }
        sent += 2_000;
        most = allowed(PEER_RATE, start.elapsed());
        if sent % 20_000 == 0 {
            ann.ask("KEY ?", "ERROR unknown keystroke");
        }
    }
    assert!(answers <= most + 100, "{answers} answers to {sent} keys in {:?}", start.elapsed());
    assert!(server.process.is_running());
}

#[test]
fn runs_through_a_large_hall_leave_the_others_their_turns() {
    let maps = TempDir::new();
    let hall = format!("{}\n", ".".repeat(253)).repeat(253);
    let server = Server::start(&[&maps.file("hall.txt", &hall), "2"]);
    let (ann, eve) = (server.peer(), server.peer());
    ann.play("Ann");
    eve.play("Eve");
    for _ in 0..20 {
        for _ in 0..250 {
            eve.send("KEY H");
            eve.send("KEY L");
        }
        // In the middle of what is still to be worked off.
        ann.ask("KEY ?", "ERROR unknown keystroke");
        eve.pending();
    }
    server.process.terminate();
    assert_eq!(server.process.wait().code, Some(0));
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

#[test]
fn a_player_who_runs_to_and_fro_does_not_flood_the_others() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL), "2"]);
    let (ann, bob) = (server.peer(), server.peer());
    ann.play("Ann");
    bob.play("Bob");
    ann.ask("KEY ?", "ERROR unknown keystroke");
    let start = Instant::now();
    let (mut moves, mut seen) = (0, 0);
    let displays = |messages: &[String]| messages.iter().filter(|text| text.starts_with("DISPLAY")).count() as u64;
    // A pair of opposite steps makes one move at least, wherever Bob stands. Few at a time, so that none is lost.
    while moves < 2 * u64::from(SHOWN.burst) {
        for _ in 0..40 {
            bob.send("KEY h");
            bob.send("KEY l");
        }
        for (peer, count) in [(&bob, &mut moves), (&ann, &mut seen)] {
            peer.send("KEY ?");
            *count += displays(&peer.receive_through("ERROR unknown keystroke").0);
        }
    }
    let ticks = u64::try_from(start.elapsed().as_millis() / CATCH_UP.as_millis()).unwrap();
    let most = allowed(SHOWN, start.elapsed()) + ticks;
    assert!(seen <= most, "{seen} displays of {moves} moves, {most} are allowed");
}

#[test]
fn strangers_of_many_hosts_share_a_limit() {
    if other_host(41).is_none() {
        return;
    }
    let server = Server::start(&[]);
    let ann = server.peer();
    ann.play("Ann");
    let senders: Vec<Peer> = (2..42).map(|last| Peer::at(Ipv4Addr::new(127, 0, 0, last).into(), server.v4())).collect();
    let start = Instant::now();
    let mut answers = 0;
    for _ in 0..4 {
        answers += flood(&senders, b"PLAY ", 50);
        ann.ask("KEY ?", "ERROR unknown keystroke");
    }
    answers += count(&senders);
    let most = allowed(STRANGERS_RATE, start.elapsed());
    assert!(answers <= most, "{answers} answers, {most} are allowed");
    assert!(answers > u64::from(HOST_RATE.burst), "hosts are told apart: {answers} answers");
}

/// Twenty thousand keys, as fast as they are answered: nobody who plays is ever refused one.
#[test]
fn every_key_of_those_who_play_is_answered() {
    const PLAYERS: usize = 4;
    const ROUNDS: usize = 500;
    let maps = TempDir::new();
    // So much gold in one place that nobody ends the game by walking.
    let server = Server::start(&[&maps.file("hall.txt", HALL), "2", "--log", "warn"]);
    let players: Vec<Peer> = (0..PLAYERS).map(|_| server.peer()).collect();
    for (number, player) in players.iter().enumerate() {
        player.play(&format!("player {number}"));
    }
    let mut answered = 0;
    for _ in 0..ROUNDS {
        // Ten keys each, of which nine move nobody; as many as are under way fit any buffer.
        for player in &players {
            for _ in 0..9 {
                player.send("KEY ?");
            }
            // Against the wall or not, it collects nothing new after the first rounds.
            player.send("KEY k");
        }
        for player in &players {
            for _ in 0..9 {
                player.expect("ERROR unknown keystroke");
                answered += 1;
            }
        }
    }
    assert_eq!(answered, PLAYERS * ROUNDS * 9);
    for player in &players {
        player.pending();
        player.send("KEY !");
        let (before, _) = player.receive_through("ERROR ");
        assert!(before.iter().all(|message| !message.starts_with("ERROR ")), "no key is answered twice");
    }
    server.process.terminate();
    let finished = server.process.wait();
    assert!(!finished.stderr.contains("too many datagrams"), "{}", finished.stderr);
    assert_eq!(finished.code, Some(0));
}
