//! Whole games over every kind of link, with players and watchers.

mod blackjack;
mod mastermind;
mod nuggets;
mod robots;

use std::{fmt::Debug, net::SocketAddr, time::Duration};

use netcore::{Client, GameEvent, Role, Time};
use testkit::net::{Hostable, Net, StreamConditions};

/// The kind of a client's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Datagrams,
    Stream,
    Messages,
}

impl By {
    fn link(self) -> netcore::Link {
        match self {
            Self::Datagrams => netcore::Link::Datagram,
            Self::Stream => netcore::Link::Stream,
            Self::Messages => netcore::Link::Message,
        }
    }
}

/// The address of the client with this number.
fn address(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number], 5_000))
}

/// Connects a client.
fn add<E: Hostable, C: Client<Error: Debug>>(net: &mut Net<E, C>, number: u8, by: By, role: Role, client: C) {
    match by {
        By::Datagrams => {
            assert_eq!(role, Role::Player, "nobody is a watcher over datagrams");
            net.add(address(number), client);
        }
        By::Stream => net.add_stream(address(number), role, client),
        By::Messages => net.add_message(address(number), role, client),
    }
}

/// Runs the network step by step, for at most an hour, and calls `look` after each step. Ends when the room has an
/// outcome or `look` returns `true`.
fn run<E: Hostable, C: Client<Error: Debug>>(net: &mut Net<E, C>, mut look: impl FnMut(&mut Net<E, C>) -> bool) {
    let until = net.now().plus(Duration::from_secs(3_600));
    while net.outcome().is_none() && !look(net) {
        assert!(net.step(until), "the game never ends");
    }
}

/// Lets all clients join before conditions become rough.
fn sit_down<E: Hostable, C: Client<Error: Debug>>(net: &mut Net<E, C>, seed: u64) {
    net.run_until(net.now().plus(Duration::from_millis(20)));
    net.set_stream_conditions(rough(seed));
}

/// Checks that every joining and leaving is reported with the address of the peer.
fn check_events<E: Hostable, C: Client<Error: Debug>>(net: &Net<E, C>) {
    let mut joined = 0;
    for (event, address) in net.recorder().events() {
        if let GameEvent::Joined { .. } | GameEvent::Left { .. } = event {
            joined += 1;
            assert!(address.is_some_and(|address| address.parse::<SocketAddr>().is_ok()), "{event:?}");
        }
    }
    assert!(joined > 0);
}

/// Stream conditions that vary with the seed, without resets.
fn rough(seed: u64) -> StreamConditions {
    match seed % 4 {
        0 => {
            let micros = |micros| Duration::ZERO..=Duration::from_micros(micros);
            StreamConditions { piece: 1..=7, delay: micros(100), stall: micros(20_000), ..StreamConditions::ROUGH }
        }
        1 => StreamConditions {
            stall_percent: 0,
            delay: Duration::ZERO..=Duration::ZERO,
            window: 40,
            ..StreamConditions::ROUGH
        },
        _ => StreamConditions::ROUGH,
    }
}

const START: Time = Time::ZERO;
