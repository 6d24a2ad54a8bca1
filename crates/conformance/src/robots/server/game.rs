//! Scenarios of games.

use std::time::Instant;

use robots::{Action, Direction};

use super::{
    lobby::small,
    rules::{
        BLOCK, BLOCK_TWICE, BOMB, BUSY, EDGE, ENDED, GAME_STARTED, IMPOSSIBLE, INTO_BLOCK, JOIN_IN_GAME, LAST_COUNTS,
        LATE, LEAVER, LOBBY_LEAVER, MOVE, NEVER_READS, NEXT_GAME, NOT_RESET, OBSERVER, PLAYED_ONCE, TURN_DURATION,
    },
    setup::Setup,
    table::Table,
};
use crate::{
    judge::{Judge, Played},
    robots::{context::Context, draws::Draws},
};

/// One robot on an empty board tries everything.
pub(super) fn alone(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { players: 1, bomb_timer: 100, blocks: 0, length: 60, size: (3, 4), ..small(context) };
    let mut table = Table::open(context, judge, setup)?;
    let ann = table.connect("Ann")?;
    table.join(ann, "Ann")?;
    table.start()?;
    let only = |way| [Action::Move(way)];
    // Up and down first, away from the edges.
    let up_first = [Direction::Up, Direction::Down];
    let down_first = [Direction::Down, Direction::Up];
    for way in if table.robot(0).y + 1 < table.setup.size.1 { up_first } else { down_first } {
        table.play(ann, &only(way), &MOVE)?;
    }
    while table.robot(0).x > 0 {
        table.play(ann, &only(Direction::Left), &MOVE)?;
    }
    table.play(ann, &only(Direction::Left), &EDGE)?;
    while table.robot(0).y > 0 {
        table.play(ann, &only(Direction::Down), &MOVE)?;
    }
    table.play(ann, &only(Direction::Down), &EDGE)?;
    table.play(ann, &only(Direction::Up), &MOVE)?;
    // Nothing is sent, so that nothing happens.
    table.turn(&PLAYED_ONCE)?;
    table.play(ann, &only(Direction::Right), &MOVE)?;
    table.turn(&PLAYED_ONCE)?;
    table.play(ann, &[Action::PlaceBlock], &BLOCK)?;
    table.play(ann, &[Action::PlaceBlock], &BLOCK_TWICE)?;
    table.turn(&BLOCK_TWICE)?;
    table.play(ann, &[Action::PlaceBomb], &BOMB)?;
    table.play(ann, &[Action::PlaceBomb], &BOMB)?;
    table.turn(&PLAYED_ONCE)?;
    table.play(ann, &only(Direction::Right), &INTO_BLOCK)?;
    table.play(ann, &only(Direction::Left), &INTO_BLOCK)?;
    table.turn(&INTO_BLOCK)?;
    let to_and_fro = [Direction::Up, Direction::Down, Direction::Up, Direction::Down];
    for way in to_and_fro {
        table.play(ann, &[Action::PlaceBomb, Action::PlaceBlock, Action::Move(way)], &LAST_COUNTS)?;
        table.turn(&LAST_COUNTS)?;
    }
    // The robot stands at the right edge.
    for _ in 0..3 {
        table.play(ann, &[Action::PlaceBomb, Action::Move(Direction::Right)], &IMPOSSIBLE)?;
        table.turn(&IMPOSSIBLE)?;
    }
    for way in to_and_fro {
        table.act(ann, &[Action::Move(way)]);
        table.ask(ann, "Ann again")?;
        table.play(ann, &[], &JOIN_IN_GAME)?;
    }
    Ok(())
}

/// Everybody does something in each turn; somebody comes late and looks on.
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
        if turn == 12 {
            observer = Some(table.connect("a late joiner")?);
            table.judge.check(&LATE, true, String::new);
        }
        if turn == 14
            && let Some(observer) = observer
        {
            table.ask(observer, "late")?;
        }
        // In some turns nobody else does anything, so that whatever happens is the observer's.
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
    table.ended()
}

/// Players who leave in the lobby and in the game.
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
    // All robots stand in both blasts.
    table.act(bob, &[Action::PlaceBomb]);
    table.play(cid, &[Action::PlaceBomb], &BOMB)?;
    table.leave(cid);
    while table.is_running() {
        table.turn(&LEAVER)?;
    }
    table.ended()
}

pub(super) fn twice(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup =
        Setup { players: 2, bomb_timer: 1, length: 6, seed: context.options.drawn(4321), blocks: 9, ..small(context) };
    let mut table = Table::open(context, judge, setup)?;
    let ann = table.connect("Ann")?;
    let bob = table.connect("Bob")?;
    table.join(ann, "Ann")?;
    table.join(bob, "Bob")?;
    table.start()?;
    table.turn(&PLAYED_ONCE)?;
    // Joins that come too early for the next game: each is followed by an action, which shows that it was read in this one.
    for index in [ann, bob] {
        table.ask(index, "too early")?;
        let way = table.any_way(index);
        table.play(index, &[Action::Move(way)], &JOIN_IN_GAME)?;
    }
    // A bomb that is left over.
    table.act(bob, &[Action::PlaceBomb]);
    table.finish(&BOMB)?;
    // Those who played are known no more.
    table.connect("an observer of the second lobby")?;
    table.join_for(bob, "Bob's second", &NEXT_GAME)?;
    table.judge.check(&JOIN_IN_GAME, true, String::new);
    table.join(ann, "Ann's second")?;
    table.judge.check(&NEXT_GAME, true, String::new);
    table.start()?;
    if table.mirror.as_ref().is_some_and(|mirror| mirror.draws.is_some()) {
        table.judge.check(&NOT_RESET, true, String::new);
    }
    table.finish(&NEXT_GAME)
}

/// Turns so long that one sees what must come at once.
pub(super) fn long_turns(context: &Context<'_>, judge: &mut Judge) -> Played {
    let duration = context.options.patience * 5 / 4;
    let setup = Setup { players: 1, length: 1, duration, ..small(context) };
    let mut table = Table::open(context, judge, setup)?;
    let ann = table.connect("Ann")?;
    // Waits are as long as patience only.
    table.setup.duration = std::time::Duration::ZERO;
    table.join(ann, "Ann")?;
    table.start()?;
    table.judge.check(&GAME_STARTED, true, String::new);
    let begin = Instant::now();
    table.setup.duration = duration;
    table.turn(&PLAYED_ONCE)?;
    let took = begin.elapsed();
    table.judge.check(&TURN_DURATION, took >= duration / 2, || {
        format!("turn 1 came {} ms after turn 0; {} ms would be right", took.as_millis(), duration.as_millis())
    });
    table.setup.duration = std::time::Duration::ZERO;
    table.ended()?;
    table.judge.require(&ENDED, true, String::new)
}

/// A client that never reads, while everybody is sent more than any buffer holds.
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
    let ann = table.connect("Ann")?;
    let _idle = context.stranger(table.judge, &mut table.host, "a client that does not read")?;
    for _ in 0..18 {
        table.join_for(ann, "Ann", &NEVER_READS)?;
        table.blind_game(&NEVER_READS)?;
    }
    table.judge.require(&NEVER_READS, true, String::new)
}
