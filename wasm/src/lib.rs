//! The rules crates as one WebAssembly module.
//!
//! Each exported function links the engine, the client and the bot of one game. The module shows that the rules link
//! without an operating system and that they require nothing from their host: `wasm/check` builds it and fails if it
//! imports anything.

use std::{sync::Arc, time::Duration};

use blackjack::{
    Dialect, QTable, Seed, StateSpace,
    learn::{Explore, Trainer},
};
use bytes::BytesMut;
use mastermind::ClientMessage;
use netcore::{
    Client, Engine, EngineRoom, Framing, Input, Link, Outbox, Output, PeerId, Role, Room, Time, wire::ShortText,
};
use nuggets::{Command, Explorer, Grid, Participant};
use robots::{Bot, Parameters};

const PEER: PeerId = PeerId(1);
const MAP: &[u8] = b"+----+\n|....|\n+----+\n";
/// Steps of a function, and their duration in milliseconds.
const STEPS: u64 = 100;
const STEP: u64 = 50;

/// Passes messages between a server and one client, whose actions are those of `act`. Returns the bytes that the server
/// sent; `None` if the server or the client could not be set up.
fn run<E: Engine, C: Client>(engine: Option<E>, client: Option<C>, mut act: impl FnMut(&mut C, Time)) -> Option<u64> {
    let (mut room, mut client) = (EngineRoom::new(engine?), client?);
    let (mut out, mut unread, mut sent) = (Outbox::new(), BytesMut::new(), 0);
    let address = "192.0.2.1:4000";
    let connected = Input::Connected { peer: PEER, role: Role::Player, link: Link::Stream, address: address.into() };
    room.input(Time::ZERO, connected, &mut out);
    for now in (0..STEPS).map(|step| Time::from_millis(step * STEP)) {
        if room.deadline().is_some_and(|due| due <= now) {
            room.input(now, Input::Elapsed, &mut out);
        }
        act(&mut client, now);
        while let Some(message) = client.take_outgoing() {
            unread.extend_from_slice(&message);
        }
        room.receive(now, PEER, &mut unread, &mut out);
        for output in out.drain() {
            if let Output::Send { frame, .. } = output {
                sent += frame.len() as u64;
                client.receive(now, &frame).ok()?;
            }
        }
    }
    Some(sent)
}

fn nuggets(seed: u64) -> Option<u64> {
    let config = nuggets::Config { seed: seed.into(), ..Default::default() };
    let server = nuggets::Server::new(Arc::new(Grid::parse(MAP).ok()?.0), config).ok();
    let part = Participant::Player(nuggets::Name::new(b"Ann").ok()?);
    let mut explorer = Explorer::new();
    run(server, Some(nuggets::Client::with_link(Link::Stream, part, Time::ZERO)), |client, now| {
        if let Some(key) = explorer.next_key(client) {
            client.act(now, Command::Key(key));
        }
    })
}

fn blackjack(seed: u64) -> Option<u64> {
    let server = blackjack::Server::new(blackjack::Config::new(10, Seed::from_number(seed))).ok();
    let name = blackjack::Name::new(b"Ann").ok()?;
    let client = blackjack::Client::new(name, Dialect::Text, Framing::Stream, StateSpace::Coarse);
    let mut trainer = Trainer::seeded(QTable::new(StateSpace::Coarse), Explore::Random, seed, 0);
    trainer.play(100).ok()?;
    let policy = trainer.table().policy();
    run(server, Some(client), |client, now| {
        if let Some(state) = client.state() {
            client.act(now, blackjack::learn::Choice::sure(policy.action(state)));
        }
    })
}

fn robots(seed: u64) -> Option<u64> {
    let parameters = Parameters {
        server_name: ShortText::try_from("rules").ok()?,
        players_count: 1,
        size_x: 9,
        size_y: 7,
        game_length: 40,
        explosion_radius: 3,
        bomb_timer: 4,
    };
    let config = robots::Config {
        parameters,
        turn_duration: Duration::from_millis(100),
        initial_blocks: 8,
        seed: u32::try_from(seed).ok()?,
        max_history: robots::MAX_HISTORY,
    };
    let client = robots::Client::new(ShortText::try_from("Ann").ok()?, None);
    let mut bot = Bot::new(1);
    run(robots::Server::new(config).ok(), Some(client), |client, now| {
        if let Some(input) = bot.next_input(client) {
            client.act(now, input);
        }
    })
}

fn mastermind(seed: u64) -> Option<u64> {
    let server = mastermind::Server::new(mastermind::Config::new(4, true, seed)).ok();
    let client = mastermind::Client::new(Link::Stream, mastermind::Name::new(b"Ann").ok());
    run(server, Some(client), |client, now| {
        if client.turn().is_some() {
            let guess = client.advice().map(|(advice, _)| ClientMessage::Guess(advice.guess));
            client.act(now, guess.unwrap_or(ClientMessage::Hint));
        }
    })
}

// Without `no_mangle` the module exports nothing, and the linker drops the rules as unused. Two functions with one name
// are undefined behaviour, hence `unsafe`; these names are used nowhere else.
macro_rules! export {
    ($($name:ident = $game:path;)*) => {$(
        /// Returns the bytes that the server of the game sent; 0 if it could not be set up.
        #[expect(unsafe_code, reason = "an exported name must be unique, and the compiler cannot check that")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(seed: u64) -> u64 {
            $game(seed).unwrap_or_default()
        }
    )*};
}

export! {
    run_nuggets = nuggets;
    run_blackjack = blackjack;
    run_robots = robots;
    run_mastermind = mastermind;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_answers_its_client() {
        for run in [run_nuggets, run_blackjack, run_robots, run_mastermind] {
            assert_ne!(run(1), 0);
        }
    }
}
