//! Scenarios of games.

use std::thread;

use robots::{Action, Direction, ServerMessage};

use super::{
    lobby::small,
    rules::{
        BLOCK, BLOCK_TWICE, BOMB, BUSY, EDGE, ENDED, GAME_STARTED, IMPOSSIBLE, INTO_BLOCK, JOIN_IN_GAME, LAST_COUNTS,
        LATE, LEAVE_BLOCK, LEAVER, LOBBY_LEAVER, MOVE, NEVER_READS, NEXT_GAME, NOTHING_LOST, OBSERVER, PLAYED_ONCE,
        WELL_FORMED,
    },
    setup::{Got, Setup},
    staged::begun,
    table::Table,
};
use crate::{
    judge::{Judge, Played},
    robots::{context::Context, draws::Draws, show},
};

/// The number of events in a turn 0 that fill a buffer within a few games.
const LARGE_TURN: usize = 20_000;
const TO_AND_FRO: [Direction; 4] = [Direction::Up, Direction::Down, Direction::Up, Direction::Down];

// A robot that is alone on a board without blocks, at this field.
fn lonely<'a>(context: &'a Context<'a>, judge: &'a mut Judge, size: (u16, u16), at: (u16, u16)) -> Played<Table<'a>> {
    let setup = Setup { players: 1, bomb_timer: 100, blocks: 0, length: 60, size, ..small(context) };
    begun(context, judge, setup.with_robots(&[at])?)
}

/// One robot moves everywhere on an empty board.
pub(super) fn moves(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut table = lonely(context, judge, (3, 4), (1, 1))?;
    for way in [Direction::Up, Direction::Down, Direction::Left, Direction::Down] {
        table.play(0, &[Action::Move(way)], &MOVE)?;
    }
    for way in [Direction::Left, Direction::Down] {
        table.play(0, &[Action::Move(way)], &EDGE)?;
        table.pass(1, &EDGE)?;
    }
    for _ in 0..3 {
        table.play(0, &[Action::PlaceBomb, Action::Move(Direction::Down)], &IMPOSSIBLE)?;
        table.pass(1, &IMPOSSIBLE)?;
    }
    for way in [Direction::Up, Direction::Right] {
        table.play(0, &[Action::Move(way)], &MOVE)?;
        // No action is sent, so no event may occur.
        table.turn(&PLAYED_ONCE)?;
    }
    Ok(())
}

/// Blocks and bombs on one field.
pub(super) fn blocks(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut table = lonely(context, judge, (3, 1), (1, 0))?;
    table.play(0, &[Action::PlaceBlock], &BLOCK)?;
    // Separates the two blocks. Otherwise, the second event could be an event of the first turn that was not cleared.
    table.turn(&PLAYED_ONCE)?;
    table.play(0, &[Action::PlaceBlock], &BLOCK_TWICE)?;
    table.pass(1, &BLOCK_TWICE)?;
    table.play(0, &[Action::PlaceBomb], &BOMB)?;
    table.play(0, &[Action::PlaceBomb], &BOMB)?;
    table.turn(&PLAYED_ONCE)?;
    table.play(0, &[Action::Move(Direction::Right)], &LEAVE_BLOCK)?;
    table.play(0, &[Action::Move(Direction::Left)], &INTO_BLOCK)?;
    table.pass(1, &INTO_BLOCK)
}

/// Several messages in a turn.
pub(super) fn several(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut table = lonely(context, judge, (1, 2), (0, 0))?;
    for way in TO_AND_FRO {
        table.play(0, &[Action::PlaceBomb, Action::PlaceBlock, Action::Move(way)], &LAST_COUNTS)?;
        table.pass(1, &LAST_COUNTS)?;
    }
    for way in TO_AND_FRO {
        table.act(0, &[Action::Move(way)]);
        table.ask(0, "Ann again")?;
        table.play(0, &[], &JOIN_IN_GAME)?;
    }
    Ok(())
}

/// All players act in each turn, and a late client observes.
pub(super) fn busy(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup {
        players: 3,
        bomb_timer: 2,
        blocks: 7,
        length: 34,
        size: (5, 4),
        radius: 2,
        seed: context.options.drawn(77),
        ..small(context)
    };
    let mut table = Table::open(context, judge, setup)?;
    for name in ["Ann", "Bob", "Cid"] {
        let index = table.connect(name)?;
        table.join(index, name)?;
    }
    table.start()?;
    let mut dice = Draws(context.options.drawn(5));
    // All bombs of these turns explode together.
    for turn in 0..3 {
        for player in 0..3 {
            table.act(player, &[if turn == 1 { Action::PlaceBlock } else { Action::PlaceBomb }]);
        }
        table.turn(&BUSY)?;
    }
    let mut observer = None;
    while table.is_running() {
        let turn = table.mirror.as_ref().map_or(0, |mirror| mirror.turn);
        // If turns were received but not read, the game may be over already.
        if turn >= 12 && observer.is_none() && table.is_current() {
            let late = table.connect("a late joiner")?;
            table.ask(late, "late")?;
            observer = Some(late);
        }
        // In some turns no other client acts, so that any event is caused by the observer.
        let quiet = observer.filter(|_| turn % 5 == 0);
        if let Some(observer) = quiet {
            table.act(observer, &[Action::PlaceBomb]);
        } else {
            for player in 0..3 {
                if let Some(action) = dice.action() {
                    table.act(player, &[action]);
                }
            }
        }
        table.turn(if quiet.is_some() { &OBSERVER } else { &BUSY })?;
    }
    if observer.is_none() {
        let why = "the machine is too busy: turns arrived faster than a client could join late";
        table.judge.leave_out([&LATE, &OBSERVER], why);
    }
    table.ended()
}

/// Players leave in the lobby and in the game.
pub(super) fn leaving(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup {
        players: 3,
        bomb_timer: 2,
        blocks: 0,
        length: 7,
        size: (3, 1),
        radius: 4,
        seed: context.options.drawn(99),
        ..small(context)
    };
    let mut table = Table::open(context, judge, setup)?;
    let bob = table.connect("Bob")?;
    let ann = table.connect("Ann")?;
    table.join(ann, "Ann")?;
    table.leave(ann);
    let cid = table.connect("Cid")?;
    table.join_for(cid, "Cid", &LOBBY_LEAVER)?;
    table.join(bob, "Bob")?;
    table.judge.check(&LOBBY_LEAVER, true, String::new);
    table.start()?;
    // All robots are in both blasts.
    table.act(bob, &[Action::PlaceBomb]);
    table.play(cid, &[Action::PlaceBomb], &BOMB)?;
    table.leave(cid);
    while table.is_running() {
        table.turn(&LEAVER)?;
    }
    table.ended()
}

pub(super) fn twice(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { players: 2, bomb_timer: 1, length: 6, seed: context.options.drawn(4321), ..small(context) };
    let mut table = Table::open(context, judge, setup)?;
    let ann = table.connect("Ann")?;
    let bob = table.connect("Bob")?;
    table.join(ann, "Ann")?;
    table.join(bob, "Bob")?;
    table.start()?;
    table.turn(&PLAYED_ONCE)?;
    // Each Join that is too early for the next game is followed by an action, which shows that the Join was read in
    // this game.
    for index in [ann, bob] {
        table.ask(index, "too early")?;
        let way = table.any_way(index);
        table.play(index, &[Action::Move(way)], &JOIN_IN_GAME)?;
    }
    // A bomb that remains after the game.
    table.act(bob, &[Action::PlaceBomb]);
    table.finish(&BOMB)?;
    // The players of the previous game are removed.
    table.join_for(bob, "Bob's second", &NEXT_GAME)?;
    table.judge.check(&JOIN_IN_GAME, true, String::new);
    // A clock that runs since the last turn would end turn 1 early.
    thread::sleep(context.turn() / 2);
    table.join(ann, "Ann's second")?;
    table.judge.check(&NEXT_GAME, true, String::new);
    table.start()?;
    table.finish(&NEXT_GAME)
}

/// Turns long enough to distinguish messages that must be sent immediately.
pub(super) fn long_turns(context: &Context<'_>, judge: &mut Judge) -> Played {
    let duration = context.options.patience * 5 / 4;
    let setup = Setup { players: 1, length: 1, duration, ..small(context) };
    let mut table = Table::open(context, judge, setup)?;
    let ann = table.connect("Ann")?;
    // Waits are limited to the patience.
    table.setup.duration = std::time::Duration::ZERO;
    table.join(ann, "Ann")?;
    table.start()?;
    table.judge.check(&GAME_STARTED, true, String::new);
    table.setup.duration = duration;
    table.turn(&PLAYED_ONCE)?;
    table.setup.duration = std::time::Duration::ZERO;
    table.ended()?;
    table.judge.require(&ENDED, true, String::new)
}

/// A client never reads while the server sends all clients more data than any buffer holds.
pub(super) fn never_reading(context: &Context<'_>, judge: &mut Judge) -> Played {
    // A turn 0 of some 250 KiB in each game, on a board that fits an array.
    let setup = Setup {
        players: 1,
        length: 1,
        blocks: 60_000,
        size: (400, 400),
        duration: context.turn() / 4,
        ..small(context)
    };
    let mut table = Table::open(context, judge, setup)?;
    table.connect("Ann")?;
    // Only games with a turn 0 fill the buffers between server and client.
    for rule in [&GAME_STARTED, &NEXT_GAME] {
        let told = table.blind_game(rule)?;
        let is_large = |message: &ServerMessage| match message {
            ServerMessage::Turn { turn: 0, events } => events.len() > LARGE_TURN,
            _ => false,
        };
        table
            .judge
            .require(rule, told.iter().any(is_large), || "expected a turn 0 with blocks, received none".to_owned())?;
    }
    let mut idle = context.stranger(table.judge, &mut table.host, "a client that does not read")?;
    let mut told = Vec::new();
    for _ in 0..18 {
        told.extend(table.blind_game(&NEVER_READS)?);
    }
    table.judge.check(&NEVER_READS, true, String::new);
    if table.judge.has_failed(&WELL_FORMED) {
        // For a client that reads late, missing data cannot be distinguished from invalid messages.
        table.judge.leave_out_for([&NOTHING_LOST], &WELL_FORMED);
        return Ok(());
    }
    // A server may have dropped the client but must not have omitted data. Whether a Hello is sent too often is judged
    // elsewhere.
    let is_hello = |message: &ServerMessage| matches!(message, ServerMessage::Hello(_));
    for (number, right) in told.iter().filter(|message| !is_hello(message)).enumerate() {
        let got = loop {
            match idle.next(context.options.deadline()) {
                Got::Message(message) if is_hello(&message) => {}
                got => break got,
            }
        };
        match &got {
            Got::Closed => break,
            Got::Message(message) if message == right => {}
            _ => {
                return table.judge.broken(&NOTHING_LOST, || {
                    let came = match &got {
                        Got::Message(message) => show::message(message),
                        Got::Wrong(wrong) => format!("invalid bytes ({wrong})"),
                        Got::Closed | Got::Nothing => "nothing".to_owned(),
                    };
                    format!(
                        "a client that reads late: expected {} as message {} after Hello, received {came}",
                        show::message(right),
                        number + 1
                    )
                });
            }
        }
    }
    table.judge.require(&NOTHING_LOST, true, String::new)
}
