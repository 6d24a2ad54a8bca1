//! Scenarios of a few turns, each for one rule about robots and bombs.

use robots::{Action, Blast, Direction, Position};

use super::{
    rules::{
        self, BLAST, BLOCK_ON_BOTH, BLOCK_STOPS, BLOCKS_UNDER_ROBOTS, BOMB_OF_LEAVER, BOMBS_ON_ONE, BOTH_BLOCK,
        DEAD_ACT, FAR_EDGE, FREED, LAST_WORDS, NO_CHAIN, ON_BOMBED_BLOCK, OVER_BOMBS, REBIRTH_ON_BLOCK, SHARED_FIELD,
        SHELTER, STOOD,
    },
    setup::Setup,
    staged::{begun, one_field, row},
};
use crate::{
    judge::{Judge, Played},
    robots::context::Context,
};

const UP: Action = Action::Move(Direction::Up);
const RIGHT: Action = Action::Move(Direction::Right);
const DOWN: Action = Action::Move(Direction::Down);
const LEFT: Action = Action::Move(Direction::Left);
const BOMB: Action = Action::PlaceBomb;
const BLOCK: Action = Action::PlaceBlock;

/// A bomb whose arms end at its radius and at blocks, with more blocks behind.
pub(super) fn single_bomb(context: &Context<'_>, judge: &mut Judge) -> Played {
    // Rebirths on a board whose sizes are not powers of 2 show whether all bits of a draw are used.
    let setup = Setup { radius: 2, blocks: 20, size: (9, 7), ..row(context, 9) };
    let setup = setup.staged(|opening| {
        let mut board = opening.board.clone();
        for block in &opening.blocks {
            board.put_block(*block);
        }
        let [center, other] = opening.robots[..] else { return false };
        let blocks = |radius| Blast::new(&board, center, radius).blocks().count();
        let hits = Blast::new(&board, center, 2).contains(other);
        !board.is_block(center) && center != other && hits && blocks(2) > blocks(1) && blocks(3) > blocks(2)
    })?;
    let mut table = begun(context, judge, setup)?;
    table.together(&[(0, BOMB)], &BLAST)?;
    table.pass(2, &BLAST)
}

/// A bomb under two robots.
pub(super) fn bomb_for_two(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut table = begun(context, judge, one_field(context, 2))?;
    table.together(&[(0, BOMB)], &rules::BOMB)?;
    table.pass(2, &rules::BOMB)
}

pub(super) fn far_edge(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { players: 1, size: (2, 3), ..row(context, 2) }.with_robots(&[(1, 2)])?;
    let mut table = begun(context, judge, setup)?;
    for way in [RIGHT, UP] {
        table.play(0, &[way], &FAR_EDGE)?;
        table.pass(1, &FAR_EDGE)?;
    }
    // If it had left the board, it would be elsewhere now.
    table.play(0, &[DOWN], &FAR_EDGE)
}

pub(super) fn bombs_on_one(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut table = begun(context, judge, one_field(context, 1))?;
    table.together(&[(0, BOMB)], &BOMBS_ON_ONE)?;
    table.together(&[(0, BOMB)], &BOMBS_ON_ONE)?;
    table.pass(2, &BOMBS_ON_ONE)
}

pub(super) fn over_bombs(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { players: 1, bomb_timer: 50, ..row(context, 2) }.with_robots(&[(0, 0)])?;
    let mut table = begun(context, judge, setup)?;
    for action in [BOMB, RIGHT, LEFT] {
        table.together(&[(0, action)], &OVER_BOMBS)?;
    }
    table.pass(1, &OVER_BOMBS)
}

pub(super) fn shared_field(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = row(context, 2).with_robots(&[(0, 0), (1, 0)])?;
    let mut table = begun(context, judge, setup)?;
    for action in [(0, RIGHT), (1, LEFT), (0, LEFT)] {
        table.together(&[action], &SHARED_FIELD)?;
    }
    table.pass(1, &SHARED_FIELD)
}

pub(super) fn block_on_both(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut table = begun(context, judge, one_field(context, 2))?;
    table.together(&[(0, BLOCK)], &BLOCK_ON_BOTH)?;
    table.pass(1, &BLOCK_ON_BOTH)
}

pub(super) fn block_stops(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = row(context, 2).with_robots(&[(1, 0), (0, 0)])?;
    let mut table = begun(context, judge, setup)?;
    table.together(&[(0, BLOCK), (1, RIGHT)], &BLOCK_STOPS)?;
    table.pass(1, &BLOCK_STOPS)
}

pub(super) fn both_block(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut table = begun(context, judge, one_field(context, 2))?;
    table.together(&[(0, BLOCK), (1, BLOCK)], &BOTH_BLOCK)?;
    table.pass(1, &BOTH_BLOCK)
}

/// A bomb destroys a block, and a robot enters its field in the same turn.
pub(super) fn freed(context: &Context<'_>, judge: &mut Judge) -> Played {
    let block = Position::new(1, 0);
    let setup = Setup { blocks: 1, ..row(context, 3) };
    let setup = setup.staged(|opening| {
        opening.robots == [Position::new(0, 0), Position::new(2, 0)] && opening.blocks.contains(&block)
    })?;
    let mut table = begun(context, judge, setup)?;
    table.together(&[(0, BOMB)], &FREED)?;
    table.pass(1, &FREED)?;
    table.together(&[(1, LEFT)], &FREED)?;
    table.pass(1, &FREED)
}

pub(super) fn no_chain(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = row(context, 2).with_robots(&[(0, 0), (1, 0)])?;
    let mut table = begun(context, judge, setup)?;
    table.together(&[(0, BOMB)], &NO_CHAIN)?;
    table.together(&[(1, BOMB)], &NO_CHAIN)?;
    table.pass(2, &NO_CHAIN)
}

/// One robot enters the blast in the turn of the explosion, another one tries to leave it.
pub(super) fn stood(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { players: 3, ..row(context, 3) }.with_robots(&[(0, 0), (2, 0), (1, 0)])?;
    let mut table = begun(context, judge, setup)?;
    table.together(&[(0, BOMB)], &STOOD)?;
    table.pass(1, &STOOD)?;
    table.together(&[(1, LEFT), (2, RIGHT)], &STOOD)?;
    table.pass(1, &STOOD)
}

pub(super) fn dead_act(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut table = begun(context, judge, one_field(context, 1))?;
    table.together(&[(0, BOMB)], &DEAD_ACT)?;
    table.pass(1, &DEAD_ACT)?;
    table.together(&[(0, BLOCK)], &DEAD_ACT)?;
    table.pass(1, &DEAD_ACT)
}

/// Each field has a block, and the robot is reborn on the other one.
pub(super) fn rebirth_on_block(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { players: 1, blocks: 20, ..row(context, 2) };
    let setup = setup
        .staged(|opening| opening.blocks.len() == 2 && opening.draws.field(&opening.board) != opening.robots[0])?;
    let mut table = begun(context, judge, setup)?;
    table.together(&[(0, BOMB)], &REBIRTH_ON_BLOCK)?;
    table.pass(2, &REBIRTH_ON_BLOCK)
}

pub(super) fn blocks_under_robots(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { blocks: 6, ..row(context, 3) };
    let setup = setup.staged(|opening| opening.robots.iter().any(|robot| opening.blocks.contains(robot)))?;
    begun(context, judge, setup)?.turn(&BLOCKS_UNDER_ROBOTS)
}

pub(super) fn bomb_of_leaver(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut table = begun(context, judge, one_field(context, 2))?;
    table.together(&[(1, BOMB)], &BOMB_OF_LEAVER)?;
    table.leave(1);
    table.pass(2, &BOMB_OF_LEAVER)
}

pub(super) fn last_words(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut table = begun(context, judge, one_field(context, 2))?;
    table.act(1, &[BLOCK]);
    let leaver = table.guests.remove(1);
    leaver.connection.end_sending();
    table.play(0, &[], &LAST_WORDS)?;
    drop(leaver);
    table.pass(1, &LAST_WORDS)
}

/// The bomb is on a block, and another robot is beside it.
pub(super) fn on_bombed_block(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = Setup { radius: 2, ..row(context, 3) }.with_robots(&[(0, 0), (1, 0)])?;
    let mut table = begun(context, judge, setup)?;
    table.together(&[(0, BLOCK)], &ON_BOMBED_BLOCK)?;
    table.together(&[(0, BOMB)], &ON_BOMBED_BLOCK)?;
    table.pass(2, &ON_BOMBED_BLOCK)
}

/// A robot stands on a block that the blast destroys.
pub(super) fn shelter(context: &Context<'_>, judge: &mut Judge) -> Played {
    let setup = row(context, 3).with_robots(&[(0, 0), (1, 0)])?;
    let mut table = begun(context, judge, setup)?;
    table.together(&[(0, BOMB), (1, BLOCK)], &SHELTER)?;
    table.pass(2, &SHELTER)
}
