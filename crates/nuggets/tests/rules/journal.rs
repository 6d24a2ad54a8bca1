//! Random games over all links.

use std::time::Duration;

use netcore::{Gone, Leave, Link, Output, Role, Room, Time};
use nuggets::{Config, Rules, visibility::Vision};
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

// The outputs, and the state after them.
pub(crate) type Went = (Vec<Output>, String);

/// A game with all roles over all links: each input with its time, and its results.
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
                    // Some pieces of a stream are incomplete messages.
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
        went.push((hall.input(&came), hall.state()));
        log.push((hall.now, came));
    }
    (log, went)
}
