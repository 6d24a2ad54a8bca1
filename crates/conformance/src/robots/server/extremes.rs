use std::{
    thread,
    time::{Duration, Instant},
};

use robots::{Action, Event, ServerMessage};

use super::{
    ENDED, GAME_STARTED, LATE, NEXT_GAME, TURN_NUMBERS,
    board::play_turns,
    lobby::small,
    openings::{one_field, row, start_game},
    session::Session,
    setup::{Client, Received, Setup},
};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    robots::{context::Context, show},
    rule::Rule,
};

const LONG: u16 = 1_200;
const PLAYERS: u8 = 255;

/// The blast reaches exactly from one end of the longest row to the other.
pub(super) fn wide_blast(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { radius: u16::MAX, ..row(context, u16::MAX) };
    let setup = setup.with_opening(|opening| opening.robots[0].x > 60_000 && opening.robots[1].x < 20_000)?;
    play_turns(context, judge, rule, setup, "0* - -")
}

/// With these seeds, each draw is 0.
pub(super) fn seed_zero(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    for seed in [0, 2_147_483_647] {
        play_turns(context, judge, rule, Setup { seed, blocks: 3, size: (9, 9), ..row(context, 9) }, "-")?;
    }
    Ok(())
}

/// Seeds that do not fit in 31 bits.
pub(super) fn any_seed(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    for seed in [u32::MAX, 1 << 31] {
        play_turns(context, judge, rule, Setup { seed, size: (99, 98), ..row(context, 99) }, "-")?;
    }
    Ok(())
}

/// All positions exceed 15 bits, and the board is too large for an array.
pub(super) fn large_board(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { players: 1, blocks: 300, size: (u16::MAX, u16::MAX), ..row(context, 1) };
    let setup = setup.with_opening(|opening| opening.robots[0].x > 60_000 && opening.robots[0].y > 60_000)?;
    play_turns(context, judge, rule, setup, "0> 0^ -")
}

pub(super) fn no_turns(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { length: 0, ..one_field(context, 1) };
    let mut session = start_game(context, judge, setup)?;
    session.ended_for(rule)
}

// Additional players of a previous lobby break another rule, and so does a GameStarted that is missing after them.
fn started(judge: &mut Judge, client: &mut Client, by: Instant, rule: &'static Rule) -> ScenarioResult {
    let mut blamed = rule;
    loop {
        let message = client.expect(judge, blamed, by, "GameStarted")?;
        let is_player = match message {
            ServerMessage::GameStarted { .. } => return Ok(()),
            ServerMessage::AcceptedPlayer { .. } => true,
            _ => false,
        };
        blamed = if is_player { &LATE } else { blamed };
        judge.check(blamed, false, || {
            format!("a late joiner: expected GameStarted, received {}", show::message(&message))
        });
        if !is_player {
            return Err(Halt::Broken);
        }
    }
}

pub(super) fn long_history(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { length: u16::MAX, duration: Duration::from_millis(1), ..one_field(context, 1) };
    let mut session = start_game(context, judge, setup)?;
    session.pass(LONG, &TURN_NUMBERS)?;
    let mut client = context.connect(session.judge, &mut session.host, "a late joiner")?;
    let by = context.options.deadline();
    started(session.judge, &mut client, by, rule)?;
    for number in 0..=LONG {
        let message = client.expect(session.judge, rule, by, &format!("turn {number}"))?;
        let right = matches!(&message, ServerMessage::Turn { turn, .. } if *turn == number);
        session.judge.require(rule, right, || {
            format!("a late joiner: expected turn {number}, received {}", show::message(&message))
        })?;
    }
    Ok(())
}

/// A client connects after a turn without connections.
pub(super) fn nobody_there(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { length: 4, ..one_field(context, 1) };
    let duration = setup.duration;
    let mut session = start_game(context, judge, setup)?;
    session.leave(0);
    thread::sleep(duration);
    let mut client = context.connect(session.judge, &mut session.host, "a client after all players have left")?;
    let by = context.options.deadline() + duration * 4;
    started(session.judge, &mut client, by, rule)?;
    let mut expect = |judge: &mut Judge, rule: &'static Rule, what: &str, is_right: fn(&ServerMessage) -> bool| {
        let message = client.expect(judge, rule, by, what)?;
        judge.require(rule, is_right(&message), || format!("expected {what}, received {}", show::message(&message)))
    };
    for _ in 0..=4 {
        expect(session.judge, rule, "a Turn", |message| matches!(message, ServerMessage::Turn { .. }))?;
    }
    // A server that omits it elsewhere breaks one rule.
    let end = if session.judge.has_failed(&ENDED) { &ENDED } else { rule };
    expect(session.judge, end, "GameEnded", |message| matches!(message, ServerMessage::GameEnded { .. }))
}

pub(super) fn next_board(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { length: 3, bomb_timer: 2, ..one_field(context, 1) };
    let mut session = start_game(context, judge, setup)?;
    session.together(&[(0, Action::PlaceBlock)], rule)?;
    session.turn(rule)?;
    session.together(&[(0, Action::PlaceBomb)], rule)?;
    session.ended()?;
    session.join(0, "Ann")?;
    session.start()?;
    session.together(&[(0, Action::PlaceBlock)], rule)?;
    session.finish(rule)
}

pub(super) fn next_scores(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { length: 3, bomb_timer: 2, ..one_field(context, 1) };
    let mut session = start_game(context, judge, setup)?;
    session.together(&[(0, Action::PlaceBomb)], rule)?;
    session.finish(rule)?;
    session.join(0, "Ann")?;
    session.start()?;
    session.finish(rule)
}

/// A client that connects afterwards receives no messages of the game.
pub(super) fn old_history(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let setup = Setup { length: 1, ..one_field(context, 2) };
    let mut session = start_game(context, judge, setup)?;
    session.finish(rule)?;
    // A server that ends with its game breaks the rule about the next one.
    session.host.suspect = Some(&NEXT_GAME);
    let mut newcomer = context.connect(session.judge, &mut session.host, "a newcomer")?;
    let received = newcomer.next(Instant::now() + context.turn());
    session.judge.require(rule, matches!(received, Received::Timeout), || {
        let received = match &received {
            Received::Message(message) => show::message(message),
            Received::Invalid(_) | Received::Closed | Received::Timeout => "the end of the connection".to_owned(),
        };
        format!("a newcomer after a game: expected nothing after Hello, received {received}")
    })
}

pub(super) fn many_players(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let duration = context.turn() * 2;
    let setup =
        Setup { players: PLAYERS, length: 2, blocks: 0, bomb_timer: 9, size: (9, 9), duration, ..small(context) };
    let mut session = Session::open(context, judge, setup)?;
    let clients: Vec<_> = (0..PLAYERS)
        .map(|id| context.connect_unchecked(session.judge, &mut session.host, &format!("player {id}")))
        .collect::<ScenarioResult<_>>()?;
    for (id, mut client) in (0..PLAYERS).zip(clients) {
        client.join(&format!("player {id}"))?;
        let mut next = || client.expect(session.judge, rule, context.options.deadline(), "an AcceptedPlayer");
        let name = loop {
            match next()? {
                ServerMessage::AcceptedPlayer { id: arrived, player } if arrived.0 == id => break player.name,
                message @ ServerMessage::GameStarted { .. } => {
                    return session.judge.broken(&GAME_STARTED, || {
                        format!("expected no game after {id} of {PLAYERS} Joins, received {}", show::message(&message))
                    });
                }
                _ => {}
            }
        };
        session.judge.require(rule, *name == *format!("player {id}"), || {
            format!("expected \"player {id}\" with id {id}, received \"{}\"", &*name)
        })?;
        session.clients.push(client);
    }
    let count = usize::from(PLAYERS);
    let mut moved = 0;
    let Some(client) = session.clients.first_mut() else { return Ok(()) };
    loop {
        let by = context.options.deadline() + duration;
        match client.expect(session.judge, rule, by, "a game of 255 players")? {
            ServerMessage::GameStarted { players } => {
                session.judge.require(rule, players.len() == count, || {
                    format!("expected {count} players in GameStarted, received {}", players.len())
                })?;
            }
            ServerMessage::Turn { turn: 0, events } => {
                moved = events.iter().filter(|event| matches!(event, Event::PlayerMoved { .. })).count();
            }
            ServerMessage::GameEnded { .. } => {
                return session
                    .judge
                    .require(rule, moved == count, || format!("expected {count} robots in turn 0, received {moved}"));
            }
            ServerMessage::Hello(_) | ServerMessage::AcceptedPlayer { .. } | ServerMessage::Turn { .. } => {}
        }
    }
}
