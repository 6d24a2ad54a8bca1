//! One game of each kind. The setups are constants, so `None` means that the rules have changed and the setup must
//! follow.

use std::{mem, sync::Arc, time::Duration};

use blackjack::{
    Dialect, Policy, QTable, Seed, Server, StateSpace,
    learn::{Chance, Choice, Explore, Trainer},
};
use mastermind::ClientMessage;
use netcore::{Client as _, Engine, Framing, Link, Phase, Time, wire::ShortText};
use nuggets::{Command, Explorer, Grid, Participant};
use robots::{Bot, Game, Parameters};

use crate::hall::Hall;

const NAMES: [&str; 3] = ["Ann", "Bob", "Eve"];
/// Far more steps than any of the games takes.
const STEPS: u64 = 10_000;

const MAP: &str = "\
+--------+    +-----+
|........#####......|
|........|    |.....|
|........|    |.....|
+---#----+    +--#--+
    #            #
    ##############
";

pub(crate) fn nuggets(seed: u64) -> Option<u64> {
    let (grid, _) = Grid::parse(MAP.as_bytes()).ok()?;
    let config = nuggets::Config { seed: seed.into(), ..Default::default() };
    let server = nuggets::Server::new(Arc::new(grid), config).ok()?;
    let client = |name: &str| {
        let part = Participant::Player(nuggets::Name::new(name.as_bytes()).ok()?);
        Some(nuggets::Client::with_link(Link::Stream, part, Time::ZERO))
    };
    let clients = NAMES.into_iter().map(client).collect::<Option<Vec<_>>>()?;
    let mut explorers = NAMES.map(|_| Explorer::new());
    Hall::new(server, clients).play(
        STEPS,
        |server| server.outcome().is_some(),
        |at, client, now| {
            if let Some(key) = explorers[at].next_key(client) {
                client.act(now, Command::Key(key));
            }
        },
    )
}

pub(crate) fn blackjack(seed: u64) -> Option<u64> {
    const ROUNDS: u32 = 20;
    const TRAINING: u64 = 10_000;
    let config = blackjack::Config {
        players: NAMES.len(),
        delay: Duration::ZERO,
        ..blackjack::Config::new(ROUNDS, Seed::from_number(seed))
    };
    let explore = Explore::Epsilon(Chance::new(0.1)?);
    let mut trainer = Trainer::seeded(QTable::new(StateSpace::Coarse), explore, seed, 0);
    trainer.play(TRAINING).ok()?;
    let policies = [trainer.table().policy(), Policy::mimic(), Policy::stand()];
    let client = |(name, dialect): (&str, Dialect)| {
        let name = blackjack::Name::new(name.as_bytes()).ok()?;
        Some(blackjack::Client::new(name, dialect, Framing::Stream, StateSpace::Coarse))
    };
    let dialects = [Dialect::Text, Dialect::Binary, Dialect::Text];
    let clients = NAMES.into_iter().zip(dialects).map(client).collect::<Option<Vec<_>>>()?;
    Hall::new(Server::new(config).ok()?, clients).play(
        STEPS,
        |server| server.outcome().is_some(),
        |at, client, now| {
            while client.poll_event().is_some() {}
            if let Some(state) = client.state() {
                client.act(now, Choice::sure(policies[at].action(state)));
            }
        },
    )
}

pub(crate) fn robots(seed: u64) -> Option<u64> {
    let seed = u32::try_from(seed & u64::from(u32::MAX)).ok()?;
    let parameters = Parameters {
        server_name: ShortText::try_from("rules").ok()?,
        players_count: u8::try_from(NAMES.len()).ok()?,
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
        seed,
        max_history: robots::MAX_HISTORY,
    };
    let server = robots::Server::new(config).ok()?;
    let client = |name: &str| Some(robots::Client::new(ShortText::try_from(name).ok()?, None));
    let clients = NAMES.into_iter().map(client).collect::<Option<Vec<_>>>()?;
    let mut turn = None;
    let mut bots = [1, 2, 3].map(|number| Bot::new(seed.wrapping_add(number)));
    Hall::new(server, clients).play(
        STEPS,
        // The server starts another game at once, so the end of a game is where the turn number decreases.
        |server| {
            let before = mem::replace(&mut turn, server.game().map(Game::turn));
            turn < before
        },
        |at, client, now| {
            if let Some(input) = bots[at].next_input(client) {
                client.act(now, input);
            }
        },
    )
}

pub(crate) fn mastermind(seed: u64) -> Option<u64> {
    let server = mastermind::Server::new(mastermind::Config::new(4, true, seed)).ok()?;
    let client = |name: &str| {
        let name = mastermind::Name::new(name.as_bytes()).ok()?;
        Some(mastermind::Client::new(Link::Stream, Some(name)))
    };
    let clients = NAMES.into_iter().map(client).collect::<Option<Vec<_>>>()?;
    Hall::new(server, clients).play(
        STEPS,
        |server| server.status().phase == Phase::Lobby,
        |_, client, now| {
            if client.turn().is_some() {
                let guess = client.advice().map(|(advice, _)| ClientMessage::Guess(advice.guess));
                client.act(now, guess.unwrap_or(ClientMessage::Hint));
            }
        },
    )
}
