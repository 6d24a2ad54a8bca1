use std::thread;

use robots::{Action, Direction, ServerMessage};

use super::{
    BLOCK, BLOCK_TWICE, BOMB, BUSY, EDGE, ENDED, GAME_STARTED, IMPOSSIBLE, INTO_BLOCK, JOIN_IN_GAME, LAST_COUNTS, LATE,
    LEAVE_BLOCK, LEAVER, LOBBY_LEAVER, MOVE, NEVER_READS, NEXT_GAME, NOTHING_LOST, OBSERVER, PLAYED_ONCE, WELL_FORMED,
    lobby::small,
    openings::start_game,
    session::Session,
    setup::{Received, Setup},
};
use crate::{
    judge::{Judge, ScenarioResult},
    robots::{context::Context, draws::Draws, show},
};

/// The number of events that fill a buffer within a few games.
const LARGE_TURN: usize = 20_000;
const TO_AND_FRO: [Direction; 4] = [Direction::Up, Direction::Down, Direction::Up, Direction::Down];

fn single_robot<'a>(
    context: &'a Context<'a>,
    judge: &'a mut Judge,
    size: (u16, u16),
    at: (u16, u16),
) -> ScenarioResult<Session<'a>> {
    let setup = Setup { players: 1, bomb_timer: 100, blocks: 0, length: 60, size, ..small(context) };
    start_game(context, judge, setup.with_robots(&[at])?)
}

pub(super) fn moves(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let mut session = single_robot(context, judge, (3, 4), (1, 1))?;
    for way in [Direction::Up, Direction::Down, Direction::Left, Direction::Down] {
        session.play(0, &[Action::Move(way)], &MOVE)?;
    }
    for way in [Direction::Left, Direction::Down] {
        session.play(0, &[Action::Move(way)], &EDGE)?;
        session.pass(1, &EDGE)?;
    }
    for _ in 0..3 {
        session.play(0, &[Action::PlaceBomb, Action::Move(Direction::Down)], &IMPOSSIBLE)?;
        session.pass(1, &IMPOSSIBLE)?;
    }
    for way in [Direction::Up, Direction::Right] {
        session.play(0, &[Action::Move(way)], &MOVE)?;
        // Without an action, no event may occur.
        session.turn(&PLAYED_ONCE)?;
    }
    Ok(())
}

pub(super) fn blocks(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let mut session = single_robot(context, judge, (3, 1), (1, 0))?;
    session.play(0, &[Action::PlaceBlock], &BLOCK)?;
    // Separates the blocks: the second event could otherwise be left over from the first turn.
    session.turn(&PLAYED_ONCE)?;
    session.play(0, &[Action::PlaceBlock], &BLOCK_TWICE)?;
    session.pass(1, &BLOCK_TWICE)?;
    session.play(0, &[Action::PlaceBomb], &BOMB)?;
    session.play(0, &[Action::PlaceBomb], &BOMB)?;
    session.turn(&PLAYED_ONCE)?;
    session.play(0, &[Action::Move(Direction::Right)], &LEAVE_BLOCK)?;
    session.play(0, &[Action::Move(Direction::Left)], &INTO_BLOCK)?;
    session.pass(1, &INTO_BLOCK)
}

pub(super) fn several_messages(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let mut session = single_robot(context, judge, (1, 2), (0, 0))?;
    for way in TO_AND_FRO {
        session.play(0, &[Action::PlaceBomb, Action::PlaceBlock, Action::Move(way)], &LAST_COUNTS)?;
        session.pass(1, &LAST_COUNTS)?;
    }
    for way in TO_AND_FRO {
        session.act(0, &[Action::Move(way)]);
        session.send_join(0, "Ann again")?;
        session.play(0, &[], &JOIN_IN_GAME)?;
    }
    Ok(())
}

pub(super) fn busy(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
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
    let mut session = Session::open(context, judge, setup)?;
    for name in ["Ann", "Bob", "Cid"] {
        let index = session.connect(name)?;
        session.join(index, name)?;
    }
    session.start()?;
    let mut dice = Draws(context.options.drawn(5));
    // All bombs of these turns explode together.
    for turn in 0..3 {
        for player in 0..3 {
            session.act(player, &[if turn == 1 { Action::PlaceBlock } else { Action::PlaceBomb }]);
        }
        session.turn(&BUSY)?;
    }
    let mut observer = None;
    while session.is_running() {
        let turn = session.model.as_ref().map_or(0, |model| model.turn);
        // If received turns are unread, the game may already be over.
        if turn >= 12 && observer.is_none() && session.is_current() {
            let late = session.connect("a late joiner")?;
            session.send_join(late, "late")?;
            observer = Some(late);
        }
        // In some turns, only the observer acts, so it is the cause of any event.
        let quiet = observer.filter(|_| turn % 5 == 0);
        if let Some(observer) = quiet {
            session.act(observer, &[Action::PlaceBomb]);
        } else {
            for player in 0..3 {
                if let Some(action) = dice.action() {
                    session.act(player, &[action]);
                }
            }
        }
        session.turn(if quiet.is_some() { &OBSERVER } else { &BUSY })?;
    }
    if observer.is_none() {
        let why = "the machine is too busy: turns arrived faster than a client could join late";
        session.judge.leave_out([&LATE, &OBSERVER], why);
    }
    session.ended()
}

pub(super) fn leaving_players(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
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
    let mut session = Session::open(context, judge, setup)?;
    let bob = session.connect("Bob")?;
    let ann = session.connect("Ann")?;
    session.join(ann, "Ann")?;
    session.leave(ann);
    let cid = session.connect("Cid")?;
    session.join_for(cid, "Cid", &LOBBY_LEAVER)?;
    session.join(bob, "Bob")?;
    session.judge.check(&LOBBY_LEAVER, true, String::new);
    session.start()?;
    session.act(bob, &[Action::PlaceBomb]);
    session.play(cid, &[Action::PlaceBomb], &BOMB)?;
    session.leave(cid);
    session.finish(&LEAVER)
}

pub(super) fn two_games(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let setup = Setup { players: 2, bomb_timer: 1, length: 6, seed: context.options.drawn(4321), ..small(context) };
    let mut session = Session::open(context, judge, setup)?;
    let ann = session.connect("Ann")?;
    let bob = session.connect("Bob")?;
    session.join(ann, "Ann")?;
    session.join(bob, "Bob")?;
    session.start()?;
    session.turn(&PLAYED_ONCE)?;
    // An action follows each early Join, to show that the server read the Join in this game.
    for index in [ann, bob] {
        session.send_join(index, "too early")?;
        let way = session.any_way(index);
        session.play(index, &[Action::Move(way)], &JOIN_IN_GAME)?;
    }
    // A bomb remains after the game.
    session.act(bob, &[Action::PlaceBomb]);
    session.finish(&BOMB)?;
    session.join_for(bob, "Bob's second", &NEXT_GAME)?;
    session.judge.check(&JOIN_IN_GAME, true, String::new);
    // A clock that runs since the last turn would end turn 1 early.
    thread::sleep(context.turn() / 2);
    session.join(ann, "Ann's second")?;
    session.judge.check(&NEXT_GAME, true, String::new);
    session.start()?;
    session.finish(&NEXT_GAME)
}

/// Long turns distinguish messages that must be sent immediately.
pub(super) fn long_turns(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let duration = context.options.patience * 5 / 4;
    let setup = Setup { players: 1, length: 1, duration, ..small(context) };
    let mut session = Session::open(context, judge, setup)?;
    let ann = session.connect("Ann")?;
    // Waits are limited to the patience.
    session.setup.duration = std::time::Duration::ZERO;
    session.join(ann, "Ann")?;
    session.start()?;
    session.judge.check(&GAME_STARTED, true, String::new);
    session.setup.duration = duration;
    session.turn(&PLAYED_ONCE)?;
    session.setup.duration = std::time::Duration::ZERO;
    session.ended()?;
    session.judge.require(&ENDED, true, String::new)
}

/// The server sends all clients more data than any buffer holds.
pub(super) fn never_reading(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    // Turn 0 has some 250 KiB in each game, on a board that fits an array.
    let setup = Setup {
        players: 1,
        length: 1,
        blocks: 60_000,
        size: (400, 400),
        duration: context.turn() / 4,
        ..small(context)
    };
    let mut session = Session::open(context, judge, setup)?;
    session.connect("Ann")?;
    // Only games with a turn 0 fill the buffers between server and client.
    for rule in [&GAME_STARTED, &NEXT_GAME] {
        let messages = session.blind_game(rule)?;
        let is_large = |message: &ServerMessage| match message {
            ServerMessage::Turn { turn: 0, events } => events.len() > LARGE_TURN,
            _ => false,
        };
        session.judge.require(rule, messages.iter().any(is_large), || {
            "expected a turn 0 with blocks, received none".to_owned()
        })?;
    }
    let mut idle = context.connect_unchecked(session.judge, &mut session.host, "a client that does not read")?;
    let mut messages = Vec::new();
    for _ in 0..18 {
        messages.extend(session.blind_game(&NEVER_READS)?);
    }
    session.judge.check(&NEVER_READS, true, String::new);
    if session.judge.has_failed(&WELL_FORMED) {
        // A late reader cannot distinguish missing data from invalid messages.
        session.judge.leave_out_for([&NOTHING_LOST], &WELL_FORMED);
        return Ok(());
    }
    // A server may have dropped the client but must not omit data. Another rule covers additional Hellos.
    let is_hello = |message: &ServerMessage| matches!(message, ServerMessage::Hello(_));
    for (number, right) in messages.iter().filter(|message| !is_hello(message)).enumerate() {
        let received = loop {
            match idle.next(context.options.deadline()) {
                Received::Message(message) if is_hello(&message) => {}
                received => break received,
            }
        };
        match &received {
            Received::Closed => break,
            Received::Message(message) if message == right => {}
            _ => {
                return session.judge.broken(&NOTHING_LOST, || {
                    let received = match &received {
                        Received::Message(message) => show::message(message),
                        Received::Invalid(wrong) => format!("invalid bytes ({wrong})"),
                        Received::Closed | Received::Timeout => "nothing".to_owned(),
                    };
                    format!(
                        "a client that reads late: expected {} as message {} after Hello, received {received}",
                        show::message(right),
                        number + 1
                    )
                });
            }
        }
    }
    session.judge.require(&NOTHING_LOST, true, String::new)
}
