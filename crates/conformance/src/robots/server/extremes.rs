//! Scenarios with options at their limits, and with many turns, players and games.

use std::{
    thread,
    time::{Duration, Instant},
};

use robots::{Action, Direction, Event, ServerMessage};

use super::{
    lobby::small,
    rules::{
        ANY_SEED, GAME_STARTED, LARGE_BOARD, LATE, LONG_HISTORY, MANY_PLAYERS, NEXT_BOARD, NEXT_GAME, NEXT_SCORES,
        NO_TURNS, NOBODY_THERE, OLD_HISTORY, SEED_ZERO, TIMER_ONE, TURN_NUMBERS, WIDE_BLAST, ZERO_RADIUS,
    },
    setup::{Got, Guest, Setup},
    staged::{begun, one_field, row},
    table::Table,
};
use crate::{
    judge::{Halt, Judge, Played},
    robots::{context::Context, show},
    rule::Rule,
};

/// The number of turns in a long game before a client connects.
const LONG: u16 = 1_200;
const PLAYERS: u8 = 255;

fn bomb_explodes(context: &Context<'_>, judge: &mut Judge, setup: Setup, rule: &'static Rule) -> Played {
    let timer = setup.bomb_timer;
    let mut table = begun(context, judge, setup)?;
    table.together(&[(0, Action::PlaceBomb)], rule)?;
    table.pass(timer, rule)
}

pub(super) fn zero_radius(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { radius: 0, ..row(context, 2) }.with_robots(&[(0, 0), (1, 0)])?;
    bomb_explodes(context, judge, setup, &ZERO_RADIUS)
}

/// The blast reaches from one end of the longest row exactly to the other.
pub(super) fn wide_blast(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { radius: u16::MAX, ..row(context, u16::MAX) };
    let setup = setup.staged(|opening| opening.robots[0].x > 60_000 && opening.robots[1].x < 20_000)?;
    bomb_explodes(context, judge, setup, &WIDE_BLAST)
}

pub(super) fn timer_one(context: &Context<'_>, judge: &mut Judge) -> Played {
    bomb_explodes(context, judge, Setup { bomb_timer: 1, ..one_field(context, 1) }, &TIMER_ONE)
}

/// With these seeds each draw is 0.
pub(super) fn seed_zero(context: &Context<'_>, judge: &mut Judge) -> Played {
    for seed in [0, 2_147_483_647] {
        begun(context, judge, Setup { seed, blocks: 3, size: (9, 9), ..row(context, 9) })?.turn(&SEED_ZERO)?;
    }
    Ok(())
}

/// Seeds that do not fit in 31 bits.
pub(super) fn any_seed(context: &Context<'_>, judge: &mut Judge) -> Played {
    for seed in [u32::MAX, 1 << 31] {
        begun(context, judge, Setup { seed, size: (99, 98), ..row(context, 99) })?.turn(&ANY_SEED)?;
    }
    Ok(())
}

/// All positions are far from (0, 0), beyond 15-bit numbers and on a board too large for an array.
pub(super) fn large_board(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { players: 1, blocks: 300, size: (u16::MAX, u16::MAX), ..row(context, 1) };
    let setup = setup.staged(|opening| opening.robots[0].x > 60_000 && opening.robots[0].y > 60_000)?;
    let mut table = begun(context, judge, setup)?;
    for way in [Direction::Right, Direction::Up] {
        table.play(0, &[Action::Move(way)], &LARGE_BOARD)?;
    }
    Ok(())
}

/// A game that only has turn 0.
pub(super) fn no_turns(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { length: 0, ..one_field(context, 1) };
    let mut table = begun(context, judge, setup)?;
    table.ended_for(&NO_TURNS)
}

// A late joiner receives GameStarted. Additional players of a previous lobby do not break this rule.
fn started(judge: &mut Judge, guest: &mut Guest, by: Instant, rule: &'static Rule) -> Played {
    loop {
        let message = guest.expect(judge, rule, by, "GameStarted")?;
        let general = match message {
            ServerMessage::GameStarted { .. } => return Ok(()),
            ServerMessage::AcceptedPlayer { .. } => &LATE,
            _ => rule,
        };
        judge.check(general, false, || {
            format!("a late joiner: expected GameStarted, received {}", show::message(&message))
        });
        if general == rule {
            return Err(Halt::Broken);
        }
    }
}

/// A client connects after more than a thousand turns.
pub(super) fn long_history(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { length: u16::MAX, duration: Duration::from_millis(1), ..one_field(context, 1) };
    let mut table = begun(context, judge, setup)?;
    table.pass(LONG, &TURN_NUMBERS)?;
    let mut guest = context.guest(table.judge, &mut table.host, "a late joiner")?;
    let by = context.options.deadline();
    started(table.judge, &mut guest, by, &LONG_HISTORY)?;
    for number in 0..=LONG {
        let message = guest.expect(table.judge, &LONG_HISTORY, by, &format!("turn {number}"))?;
        let right = matches!(&message, ServerMessage::Turn { turn, .. } if *turn == number);
        table.judge.require(&LONG_HISTORY, right, || {
            format!("a late joiner: expected turn {number}, received {}", show::message(&message))
        })?;
    }
    Ok(())
}

/// The only player leaves, and a client connects after a turn without any connection.
pub(super) fn nobody_there(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { length: 4, ..one_field(context, 1) };
    let duration = setup.duration;
    let mut table = begun(context, judge, setup)?;
    table.leave(0);
    thread::sleep(duration);
    let mut guest = context.guest(table.judge, &mut table.host, "a client after all players have left")?;
    let by = context.options.deadline() + duration * 4;
    started(table.judge, &mut guest, by, &NOBODY_THERE)?;
    let mut expect = |judge: &mut Judge, what: &str, is_right: fn(&ServerMessage) -> bool| {
        let message = guest.expect(judge, &NOBODY_THERE, by, what)?;
        judge.require(&NOBODY_THERE, is_right(&message), || {
            format!("expected {what}, received {}", show::message(&message))
        })
    };
    for _ in 0..=4 {
        expect(table.judge, "a Turn", |message| matches!(message, ServerMessage::Turn { .. }))?;
    }
    expect(table.judge, "GameEnded", |message| matches!(message, ServerMessage::GameEnded { .. }))
}

/// A block and a bomb remain on the only field.
pub(super) fn next_board(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { length: 3, bomb_timer: 2, ..one_field(context, 1) };
    let mut table = begun(context, judge, setup)?;
    table.together(&[(0, Action::PlaceBlock)], &NEXT_BOARD)?;
    table.turn(&NEXT_BOARD)?;
    table.together(&[(0, Action::PlaceBomb)], &NEXT_BOARD)?;
    table.ended()?;
    table.join(0, "Ann")?;
    table.start()?;
    table.together(&[(0, Action::PlaceBlock)], &NEXT_BOARD)?;
    table.finish(&NEXT_BOARD)
}

pub(super) fn next_scores(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { length: 3, bomb_timer: 2, ..one_field(context, 1) };
    let mut table = begun(context, judge, setup)?;
    table.together(&[(0, Action::PlaceBomb)], &NEXT_SCORES)?;
    table.finish(&NEXT_SCORES)?;
    table.join(0, "Ann")?;
    table.start()?;
    table.finish(&NEXT_SCORES)
}

/// A client that connects after a game receives no messages about it.
pub(super) fn old_history(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { length: 1, ..one_field(context, 2) };
    let mut table = begun(context, judge, setup)?;
    table.finish(&OLD_HISTORY)?;
    // A server that ends with its game plays no next one.
    table.host.suspect = Some(&NEXT_GAME);
    let mut newcomer = context.guest(table.judge, &mut table.host, "a newcomer")?;
    let came = newcomer.next(Instant::now() + context.turn());
    table.judge.require(&OLD_HISTORY, matches!(came, Got::Nothing), || {
        let came = match &came {
            Got::Message(message) => show::message(message),
            Got::Wrong(_) | Got::Closed | Got::Nothing => "the end of the connection".to_owned(),
        };
        format!("a newcomer after a game: expected nothing after Hello, received {came}")
    })
}

/// The maximum number of players that the option allows.
pub(super) fn many_players(context: &Context<'_>, judge: &mut Judge) -> Played {
    let duration = context.turn() * 2;
    let setup =
        Setup { players: PLAYERS, length: 2, blocks: 0, bomb_timer: 9, size: (9, 9), duration, ..small(context) };
    let mut table = Table::open(context, judge, setup)?;
    let guests: Vec<_> = (0..PLAYERS)
        .map(|id| context.stranger(table.judge, &mut table.host, &format!("player {id}")))
        .collect::<Played<_>>()?;
    for (id, mut guest) in (0..PLAYERS).zip(guests) {
        guest.join(&format!("player {id}"))?;
        // The messages about earlier clients are not checked here.
        let mut next = || guest.expect(table.judge, &MANY_PLAYERS, context.options.deadline(), "an AcceptedPlayer");
        let name = loop {
            match next()? {
                ServerMessage::AcceptedPlayer { id: told, player } if told.0 == id => break player.name,
                message @ ServerMessage::GameStarted { .. } => {
                    return table.judge.broken(&GAME_STARTED, || {
                        format!("expected no game after {id} of {PLAYERS} Joins, received {}", show::message(&message))
                    });
                }
                _ => {}
            }
        };
        table.judge.require(&MANY_PLAYERS, *name == *format!("player {id}"), || {
            format!("expected \"player {id}\" with id {id}, received \"{}\"", &*name)
        })?;
        table.guests.push(guest);
    }
    let count = usize::from(PLAYERS);
    let mut moved = 0;
    let Some(guest) = table.guests.first_mut() else { return Ok(()) };
    loop {
        let by = context.options.deadline() + duration;
        match guest.expect(table.judge, &MANY_PLAYERS, by, "a game of 255 players")? {
            ServerMessage::GameStarted { players } => {
                table.judge.require(&MANY_PLAYERS, players.len() == count, || {
                    format!("expected {count} players in GameStarted, received {}", players.len())
                })?;
            }
            ServerMessage::Turn { turn: 0, events } => {
                moved = events.iter().filter(|event| matches!(event, Event::PlayerMoved { .. })).count();
            }
            ServerMessage::GameEnded { .. } => {
                return table.judge.require(&MANY_PLAYERS, moved == count, || {
                    format!("expected {count} robots in turn 0, received {moved}")
                });
            }
            ServerMessage::Hello(_) | ServerMessage::AcceptedPlayer { .. } | ServerMessage::Turn { .. } => {}
        }
    }
}
