//! Steps, runs and swaps.

use nuggets::grid::{Cell, Direction, ROOM};

use super::{careful, game::finish, leave_all, watch};
use crate::{
    judge::Played,
    launch::Run,
    nuggets_server::{
        map::{MapFile, TELLING},
        party::{Party, STEPS},
        rules,
        world::World,
    },
};

/// The maximum number of steps of a walk, which bounds the exploration of maps that are not ours.
const WALK: usize = 70;
/// The number of successive steps by which a player may fail to approach its target.
const PATIENT: usize = 4;
/// The keys of runs.
const RUNS: &[u8] = b"HJKLYUBN";
/// Keys that are typed one after another to check the effect of each.
const KEYS: &[u8] = b"lLhHjJkKnNyYuUbBjlnhLJlknHhKukbYyjUuJLhNKbB";

/// Steps, runs, swaps, and the view on the way.
pub(in crate::nuggets_server) fn play(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    for (&key, who) in KEYS.iter().zip([ann, bob, ann].into_iter().cycle()) {
        careful(party, who, key)?;
    }
    for _ in 0..2 {
        meet(party, ann, bob)?;
        meet(party, bob, ann)?;
    }
    explore(party, ann)?;
    leave_all(party)
}

/// A player that is pushed along a passage must remember the spots that it saw from there, even after it has returned.
pub(in crate::nuggets_server) fn push(party: &mut Party<'_>, map: &MapFile) -> Played {
    watch(party, Some(map))?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    let (pusher, victim) = (party.letter(ann)?, party.letter(bob)?);
    walk(party, ann, |world, cell| {
        let unknown = |direction| world.grid.step(cell, direction).is_some_and(|next| !world.knows(victim, next));
        world.is_deep(cell) && Direction::ALL.into_iter().filter(|direction| unknown(*direction)).count() > 1
    })?;
    let beside = |world: &World, cell: Cell| {
        Direction::ALL.into_iter().find(|&direction| world.grid.step(cell, direction) == world.cell(pusher))
    };
    walk(party, bob, |world, cell| beside(world, cell).is_some())?;
    let world = party.world()?;
    // The direction from the pusher to the other player. After the push, it also leads the other player back.
    let back = world.cell(victim).and_then(|cell| beside(world, cell)).and_then(opposite);
    if let Some(back) = back {
        let place = party.world()?.cell(pusher);
        careful(party, ann, back.key())?;
        if party.world()?.cell(victim) != place {
            party.judge.leave_out_for([&rules::PUSHED], &rules::SWAP);
            return Ok(());
        }
        careful(party, bob, back.key())?;
    }
    leave_all(party)
}

/// Two players move to spots where floating-point numbers make one wrongly see the other, or not.
pub(in crate::nuggets_server) fn look(party: &mut Party<'_>, map: &MapFile) -> Played {
    watch(party, Some(map))?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    let letter = party.letter(ann)?;
    let world = party.world()?;
    let far = |spot| world.path(letter, STEPS, |cell| at(world, cell) == spot).map_or(usize::MAX, |path| path.len());
    let Some((spot, targets)) = TELLING.into_iter().min_by_key(|(spot, _)| far(*spot)) else { return Ok(()) };
    walk(party, ann, |world, cell| at(world, cell) == spot)?;
    for &target in targets {
        walk(party, bob, |world, cell| at(world, cell) == target)?;
    }
    leave_all(party)
}

/// Steps and runs in all directions from the middle of a room, over gold and through another player.
pub(in crate::nuggets_server) fn runs(party: &mut Party<'_>, map: &MapFile, run: &mut dyn Run) -> Played {
    watch(party, Some(map))?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    for direction in Direction::ALL {
        // With two free spots on both sides, so that a mirrored step is visible, and a run differs from a step.
        let wide = |world: &World, cell: Cell| {
            [Some(direction), opposite(direction)].into_iter().all(|way| {
                let next = |from| world.grid.step(from, way?);
                next(cell).and_then(next).is_some()
            })
        };
        for key in [direction.key(), direction.key().to_ascii_uppercase()] {
            walk(party, ann, wide)?;
            careful(party, ann, key)?;
        }
    }
    let letter = party.letter(ann)?;
    let over = |world: &World, cell: Cell| RUNS.iter().copied().find(|&key| world.runs_over_gold(cell, key));
    walk(party, ann, |world, cell| over(world, cell).is_some())?;
    let world = party.world()?;
    if let Some(key) = world.cell(letter).and_then(|cell| over(world, cell)) {
        careful(party, ann, key)?;
    }
    let other = party.letter(bob)?;
    // A player with a free spot behind it.
    let through = |world: &World, cell: Cell| {
        let place = world.cell(other)?;
        let free = |direction: &Direction| {
            world.grid.step(cell, *direction) == Some(place) && world.grid.step(place, *direction).is_some()
        };
        Direction::ALL.into_iter().find(free)
    };
    walk(party, ann, |world, cell| through(world, cell).is_some())?;
    let world = party.world()?;
    if let Some(direction) = world.cell(letter).and_then(|cell| through(world, cell)) {
        careful(party, ann, direction.key().to_ascii_uppercase())?;
    }
    // Through the other player and over gold. One without the other may not show an error.
    let rich = |world: &World, cell: Cell| RUNS.iter().copied().find(|&key| world.runs_through(cell, key, other));
    if ![&rules::RUN_GOLD, &rules::RUN_SWAP].into_iter().any(|rule| party.judge.has_failed(rule)) {
        walk(party, ann, |world, cell| rich(world, cell).is_some())?;
        let world = party.world()?;
        if let Some(key) = world.cell(letter).and_then(|cell| rich(world, cell)) {
            careful(party, ann, key)?;
        }
    }
    // The remaining gold shows whether some was lost.
    finish(party, &[ann, bob], run, &rules::EXIT)
}

fn at(world: &World, cell: Cell) -> (u16, u16) {
    let place = world.grid.position(cell);
    (place.row, place.col)
}

// Lets a player enter a passage and leave it at another end.
fn explore(party: &mut Party<'_>, who: usize) -> Played {
    let letter = party.letter(who)?;
    walk(party, who, World::is_deep)?;
    walk(party, who, |world, cell| world.grid.at(cell) == ROOM && !world.knows(letter, cell))
}

/// Lets a player move towards the nearest wanted spot, as long as it approaches it.
pub(super) fn walk(party: &mut Party<'_>, who: usize, wanted: impl Fn(&World, Cell) -> bool) -> Played {
    let (mut nearest, mut vain) = (usize::MAX, 0);
    for _ in 0..WALK {
        let world = party.world()?;
        let path = world.path(party.letter(who)?, STEPS, |cell| wanted(world, cell)).unwrap_or_default();
        let Some(&key) = path.first() else { break };
        vain = if path.len() < nearest { 0 } else { vain + 1 };
        nearest = nearest.min(path.len());
        if vain > PATIENT {
            break;
        }
        careful(party, who, key)?;
    }
    Ok(())
}

// Lets a player step onto another, and then run through it.
fn meet(party: &mut Party<'_>, who: usize, other: usize) -> Played {
    let (letter, target) = (party.letter(who)?, party.letter(other)?);
    let world = party.world()?.clone();
    let place = world.cell(target);
    let beside =
        |cell: Cell, direction: Direction| world.grid.step(cell, direction).filter(|&next| Some(next) == place);
    // Preferably with a free spot behind the other player, so that a run can continue.
    let behind = |direction| place.is_some_and(|place| world.grid.step(place, direction).is_some());
    let best = Direction::ALL.into_iter().any(behind);
    let good = |cell: Cell| {
        let onto = |direction: &Direction| beside(cell, *direction).is_some() && (behind(*direction) || !best);
        Direction::ALL.into_iter().find(onto)
    };
    let any = |cell: Cell| Direction::ALL.into_iter().find(|&direction| beside(cell, direction).is_some());
    let path = world.path(letter, STEPS, |cell| good(cell).is_some());
    let Some(path) = path.or_else(|| world.path(letter, STEPS, |cell| any(cell).is_some())) else { return Ok(()) };
    for &key in path.iter().take(2 * WALK) {
        let effect = party.world()?.forecast(letter, key).1;
        careful(party, who, key)?;
        // If a step on the path is not possible, the server has moved the player differently.
        if effect.swaps > 0 || effect.steps == 0 {
            return Ok(());
        }
    }
    let Some(direction) = party.world()?.cell(letter).and_then(|cell| good(cell).or_else(|| any(cell))) else {
        return Ok(());
    };
    careful(party, who, direction.key())?;
    // Now the other player is behind: step back onto it, and run through it again.
    if let Some(back) = opposite(direction) {
        careful(party, who, back.key().to_ascii_uppercase())?;
    }
    Ok(())
}

fn opposite(direction: Direction) -> Option<Direction> {
    let (row, col) = direction.delta();
    Direction::ALL.into_iter().find(|other| other.delta() == (-row, -col))
}

/// A few keys, for a comparison with the same keys in another game. Returns the spectator's last DISPLAY and the
/// purses.
pub(in crate::nuggets_server) fn sample(party: &mut Party<'_>, map: &MapFile) -> Played<(Vec<u8>, Vec<u32>)> {
    let board =
        |party: &Party<'_>| party.spectator().map_or_else(Vec::new, |watcher| party.clients[watcher].display.clone());
    watch(party, Some(map))?;
    let mut shown = board(party);
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    for (&key, who) in b"LHJKLYUBN".iter().zip([ann, bob].into_iter().cycle()) {
        careful(party, who, key)?;
    }
    shown.extend(board(party));
    Ok((shown, party.clients.iter().map(|client| client.purse).collect()))
}
