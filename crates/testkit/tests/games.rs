//! Whole games over every link, with players that play and others that look on.

mod blackjack;
mod nuggets;
mod robots;

use std::{fmt::Debug, net::SocketAddr, time::Duration};

use netcore::{Engine, GameEvent, Hosted, Role, Time};
use testkit::net::{Net, Rough};

/// How somebody is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Datagrams,
    Stream,
    Messages,
}

/// Where the client with this number is.
fn address(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number], 5_000))
}

/// Connects a client.
fn add<E, C>(net: &mut Net<E, C>, number: u8, by: By, role: Role, client: C)
where
    E: Engine,
    Hosted<E>: Send + Sync + 'static,
    C: netcore::Client<Error: Debug>,
{
    match by {
        By::Datagrams => {
            assert_eq!(role, Role::Player, "nobody is a watcher over datagrams");
            net.add(address(number), client);
        }
        By::Stream => net.add_stream(address(number), role, client),
        By::Messages => net.add_message(address(number), role, client),
    }
}

/// A network of an hour at most, step by step; `look` is called after each of them. Until the room has an outcome or `look`
/// has seen enough.
fn run<E, C>(net: &mut Net<E, C>, mut look: impl FnMut(&mut Net<E, C>) -> bool)
where
    E: Engine,
    Hosted<E>: Send + Sync + 'static,
    C: netcore::Client<Error: Debug>,
{
    let until = net.now().plus(Duration::from_secs(3_600));
    while net.outcome().is_none() && !look(net) {
        assert!(net.step(until), "the game never ends");
    }
}

/// Lets everybody come in before it gets rough.
fn sit_down<E, C>(net: &mut Net<E, C>, seed: u64)
where
    E: Engine,
    Hosted<E>: Send + Sync + 'static,
    C: netcore::Client<Error: Debug>,
{
    net.run_until(net.now().plus(Duration::from_millis(20)));
    net.set_rough(rough(seed));
}

/// Every peer that joined or left is told of with its address.
fn check_events<E, C>(net: &Net<E, C>)
where
    E: Engine,
    Hosted<E>: Send + Sync + 'static,
    C: netcore::Client<Error: Debug>,
{
    let mut joined = 0;
    for (event, address) in net.witness().events() {
        if let GameEvent::Joined { .. } | GameEvent::Left { .. } = event {
            joined += 1;
            assert!(address.is_some_and(|address| address.parse::<SocketAddr>().is_ok()), "{event:?}");
        }
    }
    assert!(joined > 0);
}

/// Everything that can happen to a stream but a reset, in one seed or another.
fn rough(seed: u64) -> Rough {
    match seed % 4 {
        0 => {
            let micros = |micros| Duration::ZERO..=Duration::from_micros(micros);
            Rough { piece: 1..=7, delay: micros(100), stall: micros(20_000), ..Rough::ROUGH }
        }
        1 => Rough { stall_percent: 0, delay: Duration::ZERO..=Duration::ZERO, window: 40, ..Rough::ROUGH },
        _ => Rough::ROUGH,
    }
}

const START: Time = Time::ZERO;
