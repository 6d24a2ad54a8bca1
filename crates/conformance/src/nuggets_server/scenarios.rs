//! The scenarios with a server.

use nuggets::{
    Letter,
    grid::{Cell, Direction, ROOM},
};

use super::{
    party::{Client, End, Idle, Kind, Party, Role, STEPS, kinds},
    rules,
    wire::{fitted, key_message, shown},
    world::{CLOSET, HALL, MAP, MapFile, TELLING, World, YARD, large_map},
};
use crate::{
    judge::{Halt, Played},
    launch::{Exit, Run},
    rule::Rule,
};

/// A scenario in a game that a spectator watches, if the server accepts one. Players need not leave at its end.
pub(super) type Shared = fn(&mut Party<'_>) -> Played;

/// The scenarios that also work with a running server, with the rules that they are designed to observe, if not all.
pub(super) const SHARED: &[(&str, &[&Rule], Shared)] = &[
    ("joining", &[], |party| {
        let (ann, bob) = pair(party)?;
        still(party, bob)?;
        party.leave(ann)?;
        still(party, bob)?;
        party.join("Cid").map(drop)
    }),
    ("moves", &[], movement),
    ("PLAY without a name", &[&rules::NAMELESS], |party| {
        let ann = party.join("Ann")?;
        for (play, what) in
            [("PLAY ", "PLAY with an empty name"), ("PLAY  \t ", "PLAY with a name of only white space")]
        {
            refused(party, play, &rules::NAMELESS, what, "Sorry - you must provide player's name.")?;
            still(party, ann)?;
        }
        Ok(())
    }),
    ("names without letters", &[&rules::ANY_NAME], |party| {
        for name in ["42", "!", " . "] {
            party.join_as(name.as_bytes(), &rules::ANY_NAME)?;
            party.judge.check(&rules::ANY_NAME, true, String::new);
        }
        Ok(())
    }),
    ("two players with the same name", &[&rules::EQUAL_NAMES], |party| {
        let ann = party.join("Ann")?;
        party.join_as(b"Ann", &rules::EQUAL_NAMES)?;
        party.judge.check(&rules::EQUAL_NAMES, true, String::new);
        still(party, ann)
    }),
    ("PLAY of a player", &[&rules::ONCE], |party| {
        let (ann, bob) = pair(party)?;
        party.idle(ann, b"PLAY Ann", &rules::ONCE, "PLAY from the address of player A");
        still(party, bob)
    }),
    ("PLAY of a player who has quit", &[&rules::RETURN], |party| {
        let (ann, bob) = pair(party)?;
        party.leave(ann)?;
        if party.clients[ann].quit.is_none() {
            party.judge.leave_out_for([&rules::RETURN], &rules::LEAVE);
            return Ok(());
        }
        party.idle(ann, b"PLAY Ann", &rules::RETURN, "PLAY from the address of player A, who has quit");
        still(party, bob)
    }),
    ("a game without remaining players", &[&rules::RUNS], |party| {
        let ann = party.join("Ann")?;
        still(party, ann)?;
        party.leave(ann)?;
        party.join_as(b"Bob", &rules::RUNS).map(drop)
    }),
    ("spectators", &[&rules::REPLACED, &rules::WATCH, &rules::BOARD], |party| {
        let ann = party.join("Ann")?;
        still(party, ann)?;
        let second = party.stranger()?;
        party.spectate(second, None)?;
        still(party, ann)?;
        still(party, ann)
    }),
    ("a spectator who quits", &[&rules::SPECTATOR_QUITS], |party| {
        let ann = party.join("Ann")?;
        let Some(watcher) = watcher(party, &rules::SPECTATOR_QUITS) else { return Ok(()) };
        party.quit(watcher, &rules::SPECTATOR_QUITS)?;
        party.text(watcher, "Thanks for watching!");
        let third = party.stranger()?;
        party.spectate(third, None)?;
        still(party, ann)
    }),
    ("SPECTATE of the spectator", &[&rules::WATCH_AGAIN], watch_again),
    ("SPECTATE of a player", &[&rules::PLAYER_WATCHES], |party| {
        let (ann, bob) = pair(party)?;
        party.idle(ann, b"SPECTATE", &rules::PLAYER_WATCHES, "SPECTATE of player A");
        still(party, bob)
    }),
    // Datagrams that must have no effect. Each rule has a separate game, since a server may end because of them.
    ("malformed messages", &[&rules::MALFORMED, &rules::RUNS], |party| {
        let (ann, bob) = pair(party)?;
        send_both(party, (ann, bob), &MALFORMED, &rules::MALFORMED)?;
        for key in *b"?1 \x1b\xff" {
            let text = format!("KEY '{}' of player A", key.escape_ascii());
            idle(party, ann, &key_message(key), &rules::MALFORMED, &text, bob)?;
        }
        Ok(())
    }),
    ("answers to malformed messages", &[&rules::MALFORMED_TOLD, &rules::UNKNOWN], |party| {
        let ann = party.join("Ann")?;
        still_any(party, None)?;
        for (datagram, rule) in [(&b"KEY hh"[..], &rules::MALFORMED_TOLD), (b"KEY ?", &rules::UNKNOWN)] {
            party.send(ann, datagram);
            let is_told = party.wait(|party| party.clients[ann].has(Kind::Error));
            let wrong = || format!("expected ERROR after {} of player A, received none", shown(datagram));
            party.judge.check(rule, is_told, wrong);
        }
        Ok(())
    }),
    ("messages of another server", &[&rules::SILENT_WORDS, &rules::MALFORMED, &rules::RUNS], |party| {
        let (_, bob) = pair(party)?;
        let server = party.stranger()?;
        for word in SERVER_WORDS {
            party.idle(server, word, &rules::MALFORMED, &format!("{} of another server", shown(word)));
            still(party, bob)?;
            let is_told = party.clients[server].has(Kind::Error);
            party.judge.check(&rules::SILENT_WORDS, !is_told, || {
                format!("expected no answer to {}, which only servers send, received ERROR", shown(word))
            });
        }
        Ok(())
    }),
    ("an empty datagram", &[&rules::EMPTY, &rules::RUNS], |party| {
        let players = pair(party)?;
        send_both(party, players, &[b""], &rules::EMPTY)
    }),
    ("zero bytes", &[&rules::ZERO_BYTES, &rules::RUNS], |party| {
        let players = pair(party)?;
        // Uses a key that can move the player.
        let key = plain_step(party, party.letter(players.0)?)?.unwrap_or(b'l');
        send_both(party, players, &[b"\0", &[b'K', b'E', b'Y', b' ', key, 0]], &rules::ZERO_BYTES)
    }),
    ("the longest datagram", &[&rules::LONGEST, &rules::RUNS], |party| {
        let players = pair(party)?;
        send_both(party, players, &[&vec![b'x'; 65_507]], &rules::LONGEST)
    }),
    ("KEY q", &[&rules::SMALL_Q, &rules::RUNS], |party| {
        let (ann, bob) = pair(party)?;
        ignored(party, (ann, "player A"), b"q", &rules::SMALL_Q, bob)
    }),
    ("keys of clients without a player", &[&rules::STRANGER, &rules::RUNS], |party| {
        let (ann, bob) = pair(party)?;
        let stranger = party.stranger()?;
        ignored(party, (stranger, "an unknown address"), b"hljkLHJKQ", &rules::STRANGER, bob)?;
        let cid = party.join("Cid")?;
        let spot = party.world()?.cell(party.letter(ann)?);
        party.leave(ann)?;
        if party.clients[ann].quit.is_none() {
            return Ok(());
        }
        ignored(party, (ann, "player A, who has quit"), b"hljkLHJK", &rules::STRANGER, bob)?;
        // Another player is now at the position of the one that has quit.
        walk(party, bob, |_, cell| Some(cell) == spot)?;
        ignored(party, (ann, "player A, who has quit"), b"Q", &rules::STRANGER, cid)
    }),
    ("keys of the spectator", &[&rules::WATCHER, &rules::RUNS], |party| {
        let (_, bob) = pair(party)?;
        let Some(watcher) = watcher(party, &rules::WATCHER) else { return Ok(()) };
        ignored(party, (watcher, "the spectator"), b"hljkyubnHLJK?", &rules::WATCHER, bob)
    }),
];

/// A scenario that starts its own server on a map: the name, the text of the map, the rules that it is designed to observe,
/// if not all, and the actions.
type Separate = (&'static str, fn() -> String, &'static [&'static Rule], Actions);
type Actions = fn(&mut Party<'_>, &MapFile, &mut dyn Run) -> Played;

/// The scenarios that need a separate server or another map.
pub(super) const SEPARATE: &[Separate] = &[
    ("a full game", usual, &[&rules::FULL, &rules::LETTERS, &rules::LETTER_KEPT], |party, map, _| {
        watch(party, Some(map))?;
        for number in 1..=26 {
            let player = party.join_as(format!("Player {number}").as_bytes(), &rules::FULL)?;
            // A player that has quit keeps its letter.
            if number == 5 {
                party.leave(player)?;
            }
        }
        let text = "Game is full: no more players can join.";
        refused(party, "PLAY One too many", &rules::FULL, "the 27th PLAY", text)?;
        still_any(party, None)
    }),
    // The program of a player ends without notifying the server.
    ("a disconnected client", usual, &[&rules::LOST], |party, map, _| {
        watch(party, Some(map))?;
        let (ann, bob) = pair(party)?;
        party.lose(ann);
        for _ in 0..4 {
            let text = "the port of player A was closed".to_owned();
            party.idle = Some(Idle { rule: &rules::LOST, text, by: None, is_broken: false });
            still(party, bob)?;
        }
        Ok(())
    }),
    (
        "runs in a room",
        || YARD.to_owned(),
        &[&rules::DIAGONAL, &rules::RUN, &rules::RUN_DIAGONAL, &rules::RUN_GOLD, &rules::RUN_SWAP],
        runs,
    ),
    ("sight across a hall", || HALL.to_owned(), &[&rules::SIGHT, &rules::OWN, &rules::STALE], look),
    ("a push in a passage", usual, &[&rules::PUSHED], push),
    ("the largest map", large_map, &[&rules::LARGE_MAP], watch_large),
    ("a whole game", usual, &[], |party, map, run| {
        watch(party, Some(map))?;
        let (ann, bob) = pair(party)?;
        let cid = party.join("Cid")?;
        // The table contains the gold of a player that has quit.
        hunt(party, cid)?;
        party.leave(cid)?;
        finish(party, &[ann, bob], run, &rules::EXIT)
    }),
    ("a game of one player", closet, &[], |party, map, run| one_player(party, map, run, (b"Ann", &rules::WELCOME))),
    ("a name with unprintable bytes", closet, &[&rules::NAMES], |party, map, run| {
        one_player(party, map, run, (b"Zo\xc3\xab\x07\t !", &rules::NAMES))
    }),
    // The name is longer than any that servers keep. Some servers have small buffers for names.
    ("a long name", closet, &[&rules::NAME_LENGTH], |party, map, run| {
        one_player(party, map, run, (&[b'b'; 200], &rules::NAME_LENGTH))
    }),
];

fn usual() -> String {
    MAP.to_owned()
}

fn closet() -> String {
    CLOSET.to_owned()
}

/// Plays a scenario with a spectator. On a running server, the remaining players leave.
pub(super) fn play_shared(party: &mut Party<'_>, map: Option<&MapFile>, scenario: Shared) -> Played {
    watch(party, map)?;
    scenario(party)?;
    leave_all(party)
}

/// A spectator, which receives the true state, if the server accepts it.
pub(super) fn watch(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let watcher = party.stranger()?;
    party.spectate(watcher, map.map(|map| &map.grid))
}

// Two players. The DISPLAY of the second shows the effects of the first.
fn pair(party: &mut Party<'_>) -> Played<(usize, usize)> {
    Ok((party.join("Ann")?, party.join("Bob")?))
}

// The spectator. If there is none, the rule is left out.
fn watcher(party: &mut Party<'_>, rule: &'static Rule) -> Option<usize> {
    let watcher = party.spectator();
    if watcher.is_none() {
        party.judge.leave_out_for([rule], &rules::WATCH);
    }
    watcher
}

/// A spectator of a map whose DISPLAY nearly fills a datagram.
fn watch_large(party: &mut Party<'_>, map: &MapFile, _: &mut dyn Run) -> Played {
    // Its messages break no other rule.
    party.is_strict = false;
    party.unwatched(&map.grid);
    let watcher = party.stranger()?;
    party.send(watcher, b"SPECTATE");
    let is_whole = |party: &Party<'_>| {
        let display = fitted(&party.clients[watcher].display, map.grid.rows(), map.grid.cols());
        let is_ground = |(&right, &got): (&u8, &u8)| right == got || right == ROOM && got == b'*';
        map.grid.text().iter().zip(&display).all(is_ground)
    };
    let kept = party.wait(is_whole);
    let bytes = party.clients[watcher].display.len();
    if kept {
        return party.judge.require(&rules::LARGE_MAP, true, String::new);
    }
    party.lacking(&rules::LARGE_MAP, || match bytes {
        0 => "expected a DISPLAY of the map after SPECTATE, received none".to_owned(),
        _ => format!("expected the whole map in the DISPLAY of the spectator, received {bytes} bytes"),
    })
}

// Types a key, unless it would end the game. If the key must have no effect, another player then moves, which shows
// whether it had one.
fn careful(party: &mut Party<'_>, who: usize, key: u8) -> Played {
    let (after, effect) = party.world()?.forecast(party.letter(who)?, key);
    if (effect.piles == 0 || !after.piles.is_empty()) && party.key(who, key)?.steps == 0 {
        still_any(party, Some(who))?;
    }
    Ok(())
}

// The key of a step that changes only the player's position, preferably without gold.
fn plain_step(party: &Party<'_>, letter: Letter) -> Played<Option<u8>> {
    let world = party.world()?;
    let plain = |key: &&u8| {
        let (after, effect) = world.forecast(letter, **key);
        effect.steps == 1 && effect.swaps == 0 && (effect.piles == 0 || after.piles.len() > 1)
    };
    let key = STEPS.iter().find(|key| plain(key) && world.forecast(letter, **key).1.piles == 0);
    Ok(key.or_else(|| STEPS.iter().find(plain)).copied())
}

// Lets a player move, which shows whether any other event happened before.
fn still(party: &mut Party<'_>, who: usize) -> Played {
    match plain_step(party, party.letter(who)?)? {
        Some(key) => party.key(who, key).map(drop),
        None => still_any(party, Some(who)),
    }
}

// Lets any player move, preferably not `who`, so that the move shows the effects of `who`.
fn still_any(party: &mut Party<'_>, who: Option<usize>) -> Played {
    let mut players: Vec<(Letter, usize)> = party.joined.iter().map(|(letter, _, number)| (*letter, *number)).collect();
    players.sort_by_key(|(_, number)| Some(*number) == who);
    for (letter, number) in players {
        let client = &party.clients[number];
        if matches!(client.role, Role::Player(_))
            && client.quit.is_none()
            && let Some(key) = plain_step(party, letter)?
        {
            return party.key(number, key).map(drop);
        }
    }
    Ok(())
}

/// Makes all players leave a game of a running server.
pub(super) fn leave_all(party: &mut Party<'_>) -> Played {
    if party.fresh {
        return Ok(());
    }
    let plays = |client: &Client| matches!(client.role, Role::Player(_)) && client.quit.is_none();
    let players: Vec<usize> =
        (0..).zip(&party.clients).filter(|(_, client)| plays(client)).map(|(number, _)| number).collect();
    for player in players {
        party.leave(player)?;
    }
    Ok(())
}

// The spectator sends SPECTATE again.
fn watch_again(party: &mut Party<'_>) -> Played {
    let ann = party.join("Ann")?;
    still(party, ann)?;
    let Some(watcher) = watcher(party, &rules::WATCH_AGAIN) else { return Ok(()) };
    party.idle(watcher, b"SPECTATE", &rules::WATCH_AGAIN, "a second SPECTATE of the spectator");
    let all = [Kind::Grid, Kind::Gold, Kind::Display];
    let is_told = |party: &Party<'_>| all.iter().all(|&kind| party.clients[watcher].has(kind));
    let is_broken = |party: &Party<'_>| party.idle.as_ref().is_some_and(|idle| idle.is_broken);
    party.wait(|party| is_broken(party) || is_told(party) || party.clients[watcher].has(Kind::Error));
    party.drain();
    if !is_broken(party) && !is_told(party) {
        let log = kinds(&party.clients[watcher].log);
        party.missing(&rules::WATCH_AGAIN, || {
            format!("expected GRID, GOLD and DISPLAY after a second SPECTATE of the spectator, received {log}")
        })?;
    }
    still(party, ann)
}

// Sends a PLAY that the server must answer with QUIT.
fn refused(party: &mut Party<'_>, play: &str, rule: &'static Rule, what: &str, wanted: &str) -> Played {
    let number = party.stranger()?;
    party.clients[number].leaving = true;
    party.send(number, play.as_bytes());
    party.wait(|party| party.clients[number].quit.is_some() || party.clients[number].log.contains(&Kind::Ok));
    let log = party.clients[number].log.clone();
    if party.clients[number].quit.is_none() {
        party.missing(rule, || format!("expected QUIT after {what}, received {}", kinds(&log)))?;
    } else {
        party.judge.check(rule, true, String::new);
        party.text(number, wanted);
    }
    party.idle = Some(Idle { rule, text: what.to_owned(), by: None, is_broken: false });
    Ok(())
}

/// The maximum number of steps of a walk, which bounds the exploration of maps that are not ours.
const WALK: usize = 70;
/// The number of successive keys by which a player may fail to approach its target, such as gold.
const PATIENT: u32 = 4;
/// The keys of runs.
const RUNS: &[u8] = b"HJKLYUBN";
/// Keys that are typed one after another to check the effect of each.
const KEYS: &[u8] = b"lLhHjJkKnNyYuUbBjlnhLJlknHhKukbYyjUuJLhNKbB";

// Steps, runs, swaps, and the view on the way.
fn movement(party: &mut Party<'_>) -> Played {
    let (ann, bob) = pair(party)?;
    for (&key, who) in KEYS.iter().zip([ann, bob, ann].into_iter().cycle()) {
        careful(party, who, key)?;
    }
    for _ in 0..2 {
        meet(party, ann, bob)?;
        meet(party, bob, ann)?;
    }
    explore(party, ann)
}

// A player that is pushed along a passage must remember the spots that it saw from there, even after it has returned.
fn push(party: &mut Party<'_>, map: &MapFile, _: &mut dyn Run) -> Played {
    watch(party, Some(map))?;
    let (ann, bob) = pair(party)?;
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
    Ok(())
}

// Two players move to spots where floating-point numbers make one wrongly see the other, or not.
fn look(party: &mut Party<'_>, map: &MapFile, _: &mut dyn Run) -> Played {
    watch(party, Some(map))?;
    let (ann, bob) = pair(party)?;
    let letter = party.letter(ann)?;
    let world = party.world()?;
    let far = |spot| world.path(letter, STEPS, |cell| at(world, cell) == spot).map_or(usize::MAX, |path| path.len());
    let Some((spot, targets)) = TELLING.into_iter().min_by_key(|(spot, _)| far(*spot)) else { return Ok(()) };
    walk(party, ann, |world, cell| at(world, cell) == spot)?;
    for &target in targets {
        walk(party, bob, |world, cell| at(world, cell) == target)?;
    }
    Ok(())
}

// Steps and runs in all directions from the middle of a room, over gold and through another player.
fn runs(party: &mut Party<'_>, map: &MapFile, run: &mut dyn Run) -> Played {
    watch(party, Some(map))?;
    let (ann, bob) = pair(party)?;
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
fn walk(party: &mut Party<'_>, who: usize, wanted: impl Fn(&World, Cell) -> bool) -> Played {
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
pub(super) fn sample(party: &mut Party<'_>, map: &MapFile) -> Played<(Vec<u8>, Vec<u32>)> {
    let board =
        |party: &Party<'_>| party.spectator().map_or_else(Vec::new, |watcher| party.clients[watcher].display.clone());
    watch(party, Some(map))?;
    let mut shown = board(party);
    let (ann, bob) = pair(party)?;
    for (&key, who) in b"LHJKLYUBN".iter().zip([ann, bob].into_iter().cycle()) {
        careful(party, who, key)?;
    }
    shown.extend(board(party));
    Ok((shown, party.clients.iter().map(|client| client.purse).collect()))
}

/// The maximum number of keys in a game. A server that moves players correctly needs a tenth.
const MOST_KEYS: u32 = 1000;
/// The number of moves without an answer after which a game is aborted.
const UNANSWERED: u32 = 8;

// Plays with one player and without a spectator. Such a game needs the fewest features of the server.
fn one_player(party: &mut Party<'_>, map: &MapFile, run: &mut dyn Run, (name, rule): (&[u8], &'static Rule)) -> Played {
    party.unwatched(&map.grid);
    let ann = party.join_as(name, rule)?;
    finish(party, &[ann], run, if rule == &rules::WELCOME { &rules::EXIT } else { rule })
}

// Plays until no gold is left. If the server does not report that and exit, it breaks this rule.
fn finish(party: &mut Party<'_>, players: &[usize], run: &mut dyn Run, rule: &'static Rule) -> Played {
    let mut turn = players.iter().copied().cycle();
    let mut keys = 0;
    while let Some(who) = turn.next()
        && keys < MOST_KEYS
    {
        keys += hunt(party, who)?;
        if party.end == End::Judged {
            party.judge_summary(run);
            let exit = run.exit(party.options.deadline());
            // Errors at the end of any game are not caused by a name.
            let is_right = exit == Some(Exit::with(0))
                || rule != &rules::EXIT && exit.as_ref().is_none_or(|exit| exit.code.is_some());
            party.judge.check(rule, is_right, || {
                format!("expected exit status 0 after the game, but {}", Exit::told(exit.as_ref(), "the server"))
            });
            return Ok(());
        }
    }
    Err(Halt::Broken)
}

// Lets a player take a pile, which may end the game. Returns the number of keys.
fn hunt(party: &mut Party<'_>, who: usize) -> Played<u32> {
    let letter = party.letter(who)?;
    let (mut nearest, mut vain) = (usize::MAX, 0);
    for count in 0.. {
        // Runs come first, since they may take several piles.
        let runs =
            [&rules::RUN, &rules::RUN_DIAGONAL, &rules::RUN_GOLD].iter().any(|rule| party.judge.has_failed(rule));
        let keys: &[u8] = if runs { STEPS } else { b"HJKLYUBNhjklyubn" };
        let world = party.world()?;
        if world.piles.is_empty() {
            // The remaining gold may be under the player.
            still(party, who)?;
            if party.end == End::Judged || !party.world()?.piles.is_empty() {
                return Ok(count + 1);
            }
            let left = party.clients[who].left.unwrap_or_default();
            return party.lacking(&rules::TOTAL, || {
                format!("expected a pile for the {left} nuggets left in GOLD, received none")
            });
        }
        if world.cell(letter).is_none() {
            vain += 1;
            if vain > PATIENT {
                return Err(Halt::Broken);
            }
            party.key(who, STEPS[0])?;
            continue;
        }
        let Some(keys) = world.hunt(letter, keys) else {
            return party.lacking(&rules::PILES_IN_ROOMS, || {
                format!("expected reachable gold, but player {letter} cannot reach any pile")
            });
        };
        let Some(&key) = keys.first() else { break };
        let effect = party.key(who, key)?;
        if party.end == End::Judged {
            return Ok(count + 1);
        }
        if party.unanswered > UNANSWERED {
            return Err(Halt::Broken);
        }
        // The server may have moved the player differently.
        vain = if keys.len() < nearest { 0 } else { vain + 1 };
        nearest = nearest.min(keys.len());
        if vain > PATIENT {
            return Err(Halt::Broken);
        }
        if effect.piles > 0 {
            return Ok(count + 1);
        }
    }
    Ok(0)
}

/// Messages that only servers send.
const SERVER_WORDS: [&[u8]; 6] = [b"OK A", b"GRID 1 1", b"GOLD 9 9 9", b"DISPLAY\n", b"QUIT now", b"ERROR no"];
/// Invalid messages that resemble valid ones.
const MALFORMED: [&[u8]; 12] = [
    b"KEY hh",
    b"KEY h\n",
    b"KEY lL",
    b"KEY",
    b"KEY ",
    b"KEYh",
    b"key h",
    b"PLAY",
    b"PLAYAnn",
    b"SPECTATEX",
    b"SPECTATE x",
    b"%s%n%s%n KEY l",
];

// Sends datagrams as a player and from an unknown address.
fn send_both(
    party: &mut Party<'_>,
    (player, other): (usize, usize),
    datagrams: &[&[u8]],
    rule: &'static Rule,
) -> Played {
    let stranger = party.stranger()?;
    for datagram in datagrams {
        for (who, whose) in [(player, "player A"), (stranger, "an unknown address")] {
            idle(party, who, datagram, rule, &format!("{} of {whose}", shown(datagram)), other)?;
        }
    }
    Ok(())
}

// Sends a datagram that must have no effect. Then another player moves, which shows whether it had one. After a breach,
// further datagrams are not sent.
fn idle(party: &mut Party<'_>, who: usize, datagram: &[u8], rule: &'static Rule, text: &str, other: usize) -> Played {
    if party.judge.has_failed(rule) {
        return Ok(());
    }
    party.idle(who, datagram, rule, text);
    still(party, other)
}

// Sends keys that must have no effect.
fn ignored(
    party: &mut Party<'_>,
    (who, whose): (usize, &str),
    keys: &[u8],
    rule: &'static Rule,
    other: usize,
) -> Played {
    for &key in keys {
        idle(party, who, &key_message(key), rule, &format!("KEY {} of {whose}", char::from(key)), other)?;
    }
    Ok(())
}
