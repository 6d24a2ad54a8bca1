//! What is played with a server.

use std::time::Instant;

use nuggets::{
    Letter,
    grid::{Cell, Direction, ROOM},
};

use super::{
    displays::shown,
    map::MapFile,
    party::{Kind, Party, Role, STEPS},
    rules,
};
use crate::{
    judge::Played,
    launch::{Exit, Run},
    report::Rule,
};

/// How far a player walks at most to see more, on maps that we did not draw.
const WALK: usize = 40;
/// Keys that are typed one after the other to see that each does what it must.
const KEYS: &[u8] = b"lLhHjJkKnNyYuUbBjlnhLJlknHhKukbYyjUuJLhNKbB";

/// Who may join, who may not, and what they are told.
pub(super) fn joining(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    for (name, what) in [("", "PLAY with an empty name"), (" \t ", "PLAY with a name of white space")] {
        refused(
            party,
            format!("PLAY {name}").as_bytes(),
            &rules::NAMELESS,
            what,
            "Sorry - you must provide player's name.",
        )?;
        still(party, bob)?;
    }
    party.idle(ann, b"PLAY Ann", &rules::ONCE, "PLAY from the address of player A");
    still(party, bob)?;
    party.join("Cid")?;
    leave_all(party)
}

/// Steps, runs, swaps, and what is seen on the way.
pub(super) fn moves(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
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

// Lets a player go into a passage and out of it at another end.
fn explore(party: &mut Party<'_>, who: usize) -> Played {
    let letter = party.letter(who)?;
    let world = party.world()?.clone();
    if let Some(path) = world.path(letter, STEPS, |cell| world.is_deep(cell)) {
        for &key in path.iter().take(WALK) {
            careful(party, who, key)?;
        }
    }
    let world = party.world()?.clone();
    if let Some(path) = world.path(letter, STEPS, |cell| world.grid.at(cell) == ROOM && !world.knows(letter, cell)) {
        for &key in path.iter().take(WALK) {
            careful(party, who, key)?;
        }
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
    // If possible with a free spot behind the other, so that a run can go on.
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
        if party.world()?.forecast(letter, key).1.swaps > 0 {
            careful(party, who, key)?;
            return Ok(());
        }
        careful(party, who, key)?;
    }
    let Some(direction) = party.world()?.cell(letter).and_then(|cell| good(cell).or_else(|| any(cell))) else {
        return Ok(());
    };
    careful(party, who, direction.key())?;
    // Now the other is behind: back onto it, and through it again at a run.
    let back = Direction::ALL.into_iter().find(|back| {
        let ((row, col), (rows, cols)) = (direction.delta(), back.delta());
        row + rows == 0 && col + cols == 0
    });
    if let Some(back) = back {
        careful(party, who, back.key().to_ascii_uppercase())?;
    }
    Ok(())
}

/// Types a key, unless it would end the game. After one that does nothing somebody moves, which shows whether it did.
fn careful(party: &mut Party<'_>, who: usize, key: u8) -> Played {
    let (after, _) = party.world()?.forecast(party.letter(who)?, key);
    if !after.piles.is_empty() && party.key(who, key)?.steps == 0 {
        still_any(party, Some(who))?;
    }
    Ok(())
}

// Lets a player move, which shows whether anything else happened before.
fn still(party: &mut Party<'_>, who: usize) -> Played {
    let letter = party.letter(who)?;
    let world = party.world()?;
    // Without gold and other players on the way, which are tested elsewhere.
    let plain = |key: &&u8| {
        let (after, effect) = world.forecast(letter, **key);
        effect.steps == 1 && effect.swaps == 0 && (effect.piles == 0 || after.piles.len() > 1)
    };
    let key = STEPS.iter().find(|key| plain(key) && world.forecast(letter, **key).1.piles == 0);
    let Some(&key) = key.or_else(|| STEPS.iter().find(plain)) else {
        return Err(anyhow::anyhow!("player {letter} cannot move, so nothing can be tested").into());
    };
    party.key(who, key)?;
    Ok(())
}

/// What must do nothing at all.
pub(super) fn hostile(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let watcher = watch(party, map)?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    let stranger = party.stranger()?;
    let long = vec![b'x'; 65_507];
    let malformed: [&[u8]; 21] = [
        b"KEY hh",
        b"KEY h\n",
        b"KEY lL",
        b"KEY",
        b"KEY ",
        b"KEYh",
        b"key h",
        b"",
        b"\0",
        b"KEY l\0",
        b"PLAY",
        b"PLAYAnn",
        b"SPECTATEX",
        b"SPECTATE x",
        b"OK A",
        b"GRID 1 1",
        b"GOLD 9 9 9",
        b"QUIT now",
        b"ERROR no",
        b"%s%n%s%n KEY l",
        &long,
    ];
    for datagram in malformed {
        for (who, whose) in [(ann, "player A"), (stranger, "a stranger")] {
            party.idle(who, datagram, &rules::MALFORMED, &format!("{} of {whose}", shown(datagram)));
            still(party, bob)?;
        }
    }
    for key in *b"?1 \x1b\xff" {
        let text = format!("KEY '{}' of player A", key.escape_ascii());
        party.idle(ann, &[b'K', b'E', b'Y', b' ', key], &rules::MALFORMED, &text);
        let answered = |party: &Party<'_>| party.client(ann).is_ok_and(|client| client.log.contains(&Kind::Error));
        if key == b'?' {
            // The answer to what Bob does comes behind it.
            let letter = party.letter(bob)?;
            let free = STEPS
                .iter()
                .copied()
                .find(|&key| party.world().is_ok_and(|world| world.forecast(letter, key).1.steps > 0));
            let before = answered(party);
            if let Some(key) = free {
                party.silent_key(bob, key)?;
            }
            let told = before || answered(party);
            party.judge.check(&rules::UNKNOWN, told, || format!("{text} was not answered by ERROR"));
        } else {
            still(party, bob)?;
        }
    }
    for key in *b"hljkLHJKQ" {
        let text = format!("KEY {} of a stranger", char::from(key));
        party.idle(stranger, &[b'K', b'E', b'Y', b' ', key], &rules::STRANGER, &text);
        still(party, bob)?;
    }
    for key in *b"hljkyubnHLJK?" {
        let text = format!("KEY {} of the spectator", char::from(key));
        party.idle(watcher, &[b'K', b'E', b'Y', b' ', key], &rules::WATCHER, &text);
        still(party, bob)?;
    }
    party.leave(ann)?;
    for key in *b"hljkLHJKQ" {
        let text = format!("KEY {} of player A, who has quit", char::from(key));
        party.idle(ann, &[b'K', b'E', b'Y', b' ', key], &rules::STRANGER, &text);
        still(party, bob)?;
    }
    // A player whose program is gone stays on the map, so only in a game of our own.
    if map.is_some() {
        let cid = party.join("Cid")?;
        party.lose(cid);
        for _ in 0..4 {
            lost(party, bob)?;
        }
    }
    leave_all(party)
}

// As `still`, after a client's port was closed.
fn lost(party: &mut Party<'_>, who: usize) -> Played {
    party.idle = Some((&rules::LOST, "the port of a client was closed".to_owned()));
    still(party, who)
}

/// Spectators come and go.
pub(super) fn spectators(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    still(party, ann)?;
    let second = party.stranger()?;
    party.spectate(second, None)?;
    for _ in 0..2 {
        still(party, ann)?;
    }
    if let Some(client) = party.clients.get_mut(second) {
        client.leaving = true;
    }
    party.send(second, b"KEY Q");
    if !party.wait(|party| party.client(second).is_ok_and(|client| client.quit.is_some())) {
        return party.lacking(&rules::LEAVE, || "the spectator sent KEY Q and got no QUIT".to_owned());
    }
    party.text(second, "Thanks for watching!");
    let third = party.stranger()?;
    party.spectate(third, None)?;
    still(party, ann)?;
    leave_all(party)
}

/// As many players as there are letters.
pub(super) fn full(party: &mut Party<'_>, map: &MapFile) -> Played {
    watch(party, Some(map))?;
    for number in 1..=26 {
        let player = party.join(&format!("Player {number}"))?;
        // Who has quit keeps the letter.
        if number == 5 {
            party.leave(player)?;
        }
    }
    refused(party, b"PLAY One too many", &rules::FULL, "the 27th PLAY", "Game is full: no more players can join.")?;
    still_any(party, None)
}

// Whoever can move moves, if possible somebody other than `who`, so that it shows what `who` did.
fn still_any(party: &mut Party<'_>, who: Option<usize>) -> Played {
    let mut players: Vec<(Letter, usize)> = party.joined.iter().map(|(letter, _, number)| (*letter, *number)).collect();
    players.sort_by_key(|(_, number)| Some(*number) == who);
    for (letter, number) in players {
        let world = party.world()?;
        let free = |key: &u8| {
            let effect = world.forecast(letter, *key).1;
            effect.steps == 1 && effect.swaps == 0 && effect.piles == 0
        };
        if party.client(number)?.quit.is_none() && STEPS.iter().any(free) {
            return still(party, number);
        }
    }
    Ok(())
}

/// Sends a PLAY that must be answered by QUIT.
fn refused(party: &mut Party<'_>, play: &[u8], rule: &'static Rule, what: &str, wanted: &str) -> Played {
    let number = party.stranger()?;
    if let Some(client) = party.clients.get_mut(number) {
        client.leaving = true;
    }
    party.send(number, play);
    party
        .wait(|party| party.client(number).is_ok_and(|client| client.quit.is_some() || client.log.contains(&Kind::Ok)));
    let log = party.client(number)?.log.clone();
    if party.client(number)?.quit.is_none() {
        return party.lacking(rule, || format!("{what} was answered by {log:?} instead of QUIT"));
    }
    party.judge.check(rule, true, String::new);
    party.text(number, wanted);
    party.idle = Some((rule, what.to_owned()));
    Ok(())
}

/// A whole game.
pub(super) fn game(party: &mut Party<'_>, map: &MapFile, run: &mut dyn Run, by: impl Fn() -> Instant) -> Played {
    watch(party, Some(map))?;
    let names: [&[u8]; 3] = [b"  Zo\xc3\xab\x07 !", &[b'b'; 60], b"Cid"];
    let ann = party.join_as(names[0])?;
    let bob = party.join_as(names[1])?;
    let cid = party.join_as(names[2])?;
    // Gold of who has quit is in the table.
    hunt(party, cid)?;
    party.leave(cid)?;
    let mut turn = [ann, bob].into_iter().cycle();
    let last = loop {
        let who = turn.next().unwrap_or(ann);
        if let Hunt::Last(key) = hunt(party, who)? {
            party.end(who, key)?;
            break who;
        }
    };
    let table = party.table(last);
    printed(party, &table, run, &by);
    let exit = run.exit(by());
    party.judge.check(&rules::EXIT, exit == Some(Exit { code: Some(0) }), || match exit {
        Some(Exit { code: Some(code) }) => format!("the server ended with exit status {code}"),
        Some(Exit { code: None }) => "a signal ended the server".to_owned(),
        None => "the server still ran".to_owned(),
    });
    Ok(())
}

enum Hunt {
    Taken,
    /// The key that would end the game, which is not typed yet.
    Last(u8),
}

// Lets a player take a pile.
fn hunt(party: &mut Party<'_>, who: usize) -> Played<Hunt> {
    let letter = party.letter(who)?;
    let Some(keys) = party.world()?.hunt(letter) else {
        return Err(anyhow::anyhow!("player {letter} cannot reach the gold that is left").into());
    };
    for key in keys {
        let (after, _) = party.world()?.forecast(letter, key);
        if after.piles.is_empty() {
            return Ok(Hunt::Last(key));
        }
        party.key(who, key)?;
    }
    Ok(Hunt::Taken)
}

// The summary on standard output.
fn printed(party: &mut Party<'_>, table: &[String], run: &mut dyn Run, by: &impl Fn() -> Instant) {
    let mut missing = table.iter();
    let mut wanted = missing.next();
    let until = by();
    while let Some(row) = wanted {
        match run.line(until) {
            Some(line) if line.trim_end() == row.trim_end() => wanted = missing.next(),
            Some(_) => {}
            None => break,
        }
    }
    let lacks = wanted.cloned();
    party.judge.check(&rules::SUMMARY, lacks.is_none(), || {
        format!("the line '{}' was not printed", lacks.unwrap_or_default())
    });
}

/// A few keys, for a comparison with the same keys in another game. Returns what a spectator was shown at last, and the purses.
pub(super) fn sample(party: &mut Party<'_>, map: &MapFile) -> Played<(Vec<u8>, Vec<u32>)> {
    let watcher = watch(party, Some(map))?;
    let start = party.client(watcher)?.display.clone();
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    for (&key, who) in b"LHJKLYUBN".iter().zip([ann, bob].into_iter().cycle()) {
        careful(party, who, key)?;
    }
    let mut shown = start;
    shown.extend_from_slice(&party.client(watcher)?.display);
    Ok((shown, party.clients.iter().map(|client| client.purse).collect()))
}

// A spectator, who is shown what is true.
fn watch(party: &mut Party<'_>, map: Option<&MapFile>) -> Played<usize> {
    let watcher = party.stranger()?;
    party.spectate(watcher, map.map(|map| &map.grid))?;
    Ok(watcher)
}

fn leave_all(party: &mut Party<'_>) -> Played {
    let players: Vec<usize> = (0..party.clients.len())
        .filter(|&number| {
            party
                .clients
                .get(number)
                .is_some_and(|client| matches!(client.role, Role::Player(_)) && client.quit.is_none())
        })
        .collect();
    for player in players {
        party.leave(player)?;
    }
    Ok(())
}
