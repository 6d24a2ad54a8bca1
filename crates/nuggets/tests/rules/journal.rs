//! Random games over all links, and the fingerprint that tells states apart.

use std::time::Duration;

use netcore::{Gone, Leave, Link, Output, Role, Room, Time};
use nuggets::{Config, Rules, visibility::Vision};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::room::{Came, Hall, on};

pub(crate) const MAP: &str = "+----+ +---+\n|....###...|\n|..+-+ |...|\n|..|   +-#-+\n+--+     #  \n    ######  \n";

pub(crate) fn config(seed: u64) -> Config {
    let rules = Rules {
        gold: 12,
        min_piles: 2,
        max_piles: 6,
        steal_percent: 20,
        drop_on_quit: true,
        vision: Vision { radius: Some(5) },
        ..Rules::default()
    };
    Config { rules, rematch: true, idle_timeout: Some(Duration::from_secs(8)), seed: seed.into(), ..Config::default() }
}

pub(crate) fn link_of(peer: u64) -> Link {
    [Link::Datagram, Link::Stream, Link::Message][usize::try_from(peer % 3).unwrap()]
}

// What went out, and the fingerprint then.
pub(crate) type Went = (Vec<Output>, u64);

/// A game of all roles over all links, with when each thing came and what followed.
pub(crate) fn record_in(mut hall: Hall, seed: u64, length: usize) -> (Vec<(Time, Came)>, Vec<Went>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let (mut log, mut went) = (vec![], vec![]);
    let mut next = 0;
    let mut peers: Vec<u64> = vec![];
    while log.len() < length {
        let later = hall.now.plus(Duration::from_millis(rng.random_range(0..60)));
        let peer = peers.get(rng.random_range(0..=peers.len())).copied();
        let came = match (hall.room.deadline(), peer) {
            (Some(due), _) if due <= later => {
                hall.now = hall.now.max(due);
                Came::Elapsed
            }
            (_, None) => {
                next += 1;
                peers.push(next);
                let role = if rng.random_range(0..6) == 0 { Role::Watcher } else { Role::Player };
                Came::Connected(next, role, link_of(next))
            }
            (_, Some(peer)) => {
                hall.now = later;
                match rng.random_range(0..60) {
                    0 => Came::Refresh(peer),
                    1 => {
                        peers.retain(|&other| other != peer);
                        Came::Gone(peer, [Gone::Left, Gone::Broken, Gone::Lagging][rng.random_range(0..3)])
                    }
                    2 => Came::Bytes(peer, on(link_of(peer), b"SPECTATE")),
                    3 => Came::Bytes(peer, on(link_of(peer), b"nonsense")),
                    4..14 => Came::Bytes(peer, on(link_of(peer), format!("PLAY P{peer}").as_bytes())),
                    // Some of the pieces of a stream are no whole messages.
                    14..18 if link_of(peer) == Link::Stream => {
                        Came::Bytes(peer, on(Link::Stream, b"KEY h")[..6].to_vec())
                    }
                    _ => {
                        let key = b"hjklyubnHJKLYUBNQ?"[rng.random_range(0..18)];
                        Came::Bytes(peer, on(link_of(peer), &[b'K', b'E', b'Y', b' ', key]))
                    }
                }
            }
        };
        let leave = if seed.is_multiple_of(2) { Leave::Over } else { Leave::Resumable };
        let came = if log.len() + 1 == length { Came::Stop(leave) } else { came };
        went.push((hall.input(&came), hall.room.digest()));
        log.push((hall.now, came));
    }
    (log, went)
}

// Things that nobody may see at once and that matter later.
fn hidden() -> Vec<(&'static str, Vec<Came>)> {
    let said = |peer: u64, message: &[u8]| Came::Bytes(peer, on(link_of(peer), message));
    let visit = |peer: u64, message: &[u8]| {
        vec![Came::Connected(peer, Role::Player, link_of(peer)), said(peer, message), said(peer, b"KEY Q")]
    };
    vec![
        ("somebody is there and has said nothing", vec![Came::Connected(900, Role::Player, Link::Stream)]),
        ("and over another link", vec![Came::Connected(900, Role::Player, Link::Message)]),
        ("somebody only looks on", vec![Came::Connected(900, Role::Watcher, Link::Message)]),
        ("a player has shown that it is there", vec![said(901, b"KEY ?")]),
        ("the same at another time", vec![said(901, b"KEY ?"), said(901, b"KEY ?")]),
        ("a budget is smaller", vec![said(903, b"PLAY again")]),
        ("there was one more spectator", visit(904, b"SPECTATE")),
        ("somebody has quit and may not come back", vec![said(902, b"KEY Q")]),
        ("one more has played", visit(905, b"PLAY Eve")),
        ("and had another name", visit(905, b"PLAY Eva")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn states_that_differ_in_what_nobody_sees_have_different_digests(seed in 1..1_000u64, length in 0..60usize) {
        let (log, _) = record_in(Hall::new(MAP, config(seed)), seed, length + 2);
        let mut hall = Hall::new(&".".repeat(60), Config { idle_timeout: config(0).idle_timeout, ..Config::default() });
        for peer in [901, 902, 903] {
            hall.join(peer, link_of(peer), b"PLAY somebody");
        }
        for (time, came) in &log[..length] {
            // A game of their own, in which the three stay where they are.
            if !matches!(came, Came::Elapsed | Came::Stop(_)) {
                hall.now = *time;
                hall.input(came);
            }
        }
        // After the end nothing changes any more.
        prop_assume!(hall.room.outcome().is_none());
        hall.now = hall.now.plus(Duration::from_millis(1));
        let mut met = vec![("as it was", hall.room.digest())];
        for (what, inputs) in hidden() {
            let mut fork = hall.clone();
            for came in &inputs {
                fork.now = fork.now.plus(Duration::from_millis(1));
                fork.input(came);
            }
            let digest = fork.room.digest();
            for (other, before) in &met {
                prop_assert_ne!(digest, *before, "{} and {}", what, other);
            }
            met.push((what, digest));
        }
    }
}

#[test]
fn configurations_have_different_digests() {
    let digests = [
        Hall::new(MAP, config(1)),
        Hall::new(MAP, config(2)),
        Hall::new(MAP, Config { rematch: false, ..config(1) }),
        Hall::new(MAP, Config { idle_timeout: None, ..config(1) }),
        Hall::new(MAP, Config { rules: Rules { run_stop: true, ..config(1).rules }, ..config(1) }),
        Hall::new(&MAP.replace(" |...|", "#|...|"), config(1)),
    ]
    .map(|hall| hall.room.digest());
    for (number, digest) in digests.iter().enumerate() {
        assert!(!digests[..number].contains(digest), "{number}");
    }
}
