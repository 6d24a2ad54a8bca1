use nuggets::{
    Letter,
    grid::{Cell, Direction, ROOM},
};

use super::{
    game::{Client, End, Game, IgnoredDatagram, Kind, Role, STEPS, kinds},
    model::{CLOSET, HALL, MAP, MapFile, Model, TELLING, YARD, large_map},
    rules,
    wire::{fitted, key_message, quoted_bytes},
};
use crate::{
    judge::{Halt, ScenarioResult},
    launch::{Exit, Run},
    rule::Rule,
};

/// A spectator watches if the server accepts one. Players need not leave at the end.
pub(super) type Shared = fn(&mut Game<'_>) -> ScenarioResult;

/// These also work with a running server. Without rules, a scenario may observe any.
pub(super) const SHARED: &[(&str, &[&Rule], Shared)] = &[
    ("joining", &[], |game| {
        let (ann, bob) = pair(game)?;
        probe(game, bob)?;
        game.leave(ann)?;
        probe(game, bob)?;
        game.join("Cid").map(drop)
    }),
    ("moves", &[], movement),
    ("PLAY without a name", &[&rules::NAMELESS], |game| {
        let ann = game.join("Ann")?;
        for (play, what) in
            [("PLAY ", "PLAY with an empty name"), ("PLAY  \t ", "PLAY with a name of only white space")]
        {
            refused(game, play, &rules::NAMELESS, what, "Sorry - you must provide player's name.")?;
            probe(game, ann)?;
        }
        Ok(())
    }),
    ("names without letters", &[&rules::ANY_NAME], |game| {
        for name in ["42", "!", " . "] {
            game.join_as(name.as_bytes(), &rules::ANY_NAME)?;
            game.judge.check(&rules::ANY_NAME, true, String::new);
        }
        Ok(())
    }),
    ("two players with the same name", &[&rules::EQUAL_NAMES], |game| {
        let ann = game.join("Ann")?;
        game.join_as(b"Ann", &rules::EQUAL_NAMES)?;
        game.judge.check(&rules::EQUAL_NAMES, true, String::new);
        probe(game, ann)
    }),
    ("PLAY of a player", &[&rules::ONCE], |game| {
        let (ann, bob) = pair(game)?;
        game.idle(ann, b"PLAY Ann", &rules::ONCE, "PLAY from the address of player A");
        probe(game, bob)
    }),
    ("PLAY of a player who has quit", &[&rules::RETURN], |game| {
        let (ann, bob) = pair(game)?;
        game.leave(ann)?;
        if game.clients[ann].quit.is_none() {
            game.judge.leave_out_for([&rules::RETURN], &rules::LEAVE);
            return Ok(());
        }
        game.idle(ann, b"PLAY Ann", &rules::RETURN, "PLAY from the address of player A, who has quit");
        probe(game, bob)
    }),
    ("a game without remaining players", &[&rules::RUNS], |game| {
        let ann = game.join("Ann")?;
        probe(game, ann)?;
        game.leave(ann)?;
        game.join_as(b"Bob", &rules::RUNS).map(drop)
    }),
    ("spectators", &[&rules::REPLACED, &rules::WATCH, &rules::BOARD], |game| {
        let ann = game.join("Ann")?;
        probe(game, ann)?;
        let second = game.open_client()?;
        game.spectate(second, None)?;
        probe(game, ann)?;
        probe(game, ann)
    }),
    ("a spectator who quits", &[&rules::SPECTATOR_QUITS], |game| {
        let ann = game.join("Ann")?;
        let Some(watcher) = watcher(game, &rules::SPECTATOR_QUITS) else { return Ok(()) };
        game.quit(watcher, &rules::SPECTATOR_QUITS)?;
        game.text(watcher, "Thanks for watching!");
        let third = game.open_client()?;
        game.spectate(third, None)?;
        probe(game, ann)
    }),
    ("SPECTATE of the spectator", &[&rules::WATCH_AGAIN], watch_again),
    ("SPECTATE of a player", &[&rules::PLAYER_WATCHES], |game| {
        let (ann, bob) = pair(game)?;
        game.idle(ann, b"SPECTATE", &rules::PLAYER_WATCHES, "SPECTATE of player A");
        probe(game, bob)
    }),
    // A game for each rule, since the datagrams may end the server.
    ("malformed messages", &[&rules::MALFORMED, &rules::RUNS], |game| {
        let (ann, bob) = pair(game)?;
        send_both(game, (ann, bob), &MALFORMED, &rules::MALFORMED)?;
        for key in *b"?1 \x1b\xff" {
            let text = format!("KEY '{}' of player A", key.escape_ascii());
            idle(game, ann, &key_message(key), &rules::MALFORMED, &text, bob)?;
        }
        Ok(())
    }),
    ("answers to malformed messages", &[&rules::MALFORMED_TOLD, &rules::UNKNOWN], |game| {
        let ann = game.join("Ann")?;
        probe_any(game, None)?;
        for (datagram, rule) in [(&b"KEY hh"[..], &rules::MALFORMED_TOLD), (b"KEY ?", &rules::UNKNOWN)] {
            game.send(ann, datagram);
            let is_told = game.wait(|game| game.clients[ann].has(Kind::Error));
            let wrong = || format!("expected ERROR after {} of player A, received none", quoted_bytes(datagram));
            game.judge.check(rule, is_told, wrong);
        }
        Ok(())
    }),
    ("messages of another server", &[&rules::SILENT_WORDS, &rules::MALFORMED, &rules::RUNS], |game| {
        let (_, bob) = pair(game)?;
        let server = game.open_client()?;
        for word in SERVER_WORDS {
            game.idle(server, word, &rules::MALFORMED, &format!("{} of another server", quoted_bytes(word)));
            probe(game, bob)?;
            let is_told = game.clients[server].has(Kind::Error);
            game.judge.check(&rules::SILENT_WORDS, !is_told, || {
                format!("expected no answer to {}, which only servers send, received ERROR", quoted_bytes(word))
            });
        }
        Ok(())
    }),
    ("an empty datagram", &[&rules::EMPTY, &rules::RUNS], |game| {
        let players = pair(game)?;
        send_both(game, players, &[b""], &rules::EMPTY)
    }),
    ("zero bytes", &[&rules::ZERO_BYTES, &rules::RUNS], |game| {
        let players = pair(game)?;
        // The key can move the player.
        let key = plain_step(game, game.letter(players.0)?)?.unwrap_or(b'l');
        send_both(game, players, &[b"\0", &[b'K', b'E', b'Y', b' ', key, 0]], &rules::ZERO_BYTES)
    }),
    ("the longest datagram", &[&rules::LONGEST, &rules::RUNS], |game| {
        let players = pair(game)?;
        send_both(game, players, &[&vec![b'x'; 65_507]], &rules::LONGEST)
    }),
    ("KEY q", &[&rules::SMALL_Q, &rules::RUNS], |game| {
        let (ann, bob) = pair(game)?;
        ignored(game, (ann, "player A"), b"q", &rules::SMALL_Q, bob)
    }),
    ("keys of clients without a player", &[&rules::STRANGER, &rules::RUNS], |game| {
        let (ann, bob) = pair(game)?;
        let open_client = game.open_client()?;
        ignored(game, (open_client, "an unknown address"), b"hljkLHJKQ", &rules::STRANGER, bob)?;
        let cid = game.join("Cid")?;
        let spot = game.model()?.cell(game.letter(ann)?);
        game.leave(ann)?;
        if game.clients[ann].quit.is_none() {
            return Ok(());
        }
        ignored(game, (ann, "player A, who has quit"), b"hljkLHJK", &rules::STRANGER, bob)?;
        // Bob goes to the position of the player that has quit.
        walk(game, bob, |_, cell| Some(cell) == spot)?;
        ignored(game, (ann, "player A, who has quit"), b"Q", &rules::STRANGER, cid)
    }),
    ("keys of the spectator", &[&rules::WATCHER, &rules::RUNS], |game| {
        let (_, bob) = pair(game)?;
        let Some(watcher) = watcher(game, &rules::WATCHER) else { return Ok(()) };
        ignored(game, (watcher, "the spectator"), b"hljkyubnHLJK?", &rules::WATCHER, bob)
    }),
];

/// The name, the map, the rules that it observes by design (any if empty), and the actions.
type Separate = (&'static str, fn() -> String, &'static [&'static Rule], Actions);
type Actions = fn(&mut Game<'_>, &MapFile, &mut dyn Run) -> ScenarioResult;

pub(super) const SEPARATE: &[Separate] = &[
    ("a full game", usual, &[&rules::FULL, &rules::LETTERS, &rules::LETTER_KEPT], |game, map, _| {
        watch(game, Some(map))?;
        for number in 1..=26 {
            let player = game.join_as(format!("Player {number}").as_bytes(), &rules::FULL)?;
            // A player that quits keeps its letter.
            if number == 5 {
                game.leave(player)?;
            }
        }
        let text = "Game is full: no more players can join.";
        refused(game, "PLAY One too many", &rules::FULL, "the 27th PLAY", text)?;
        probe_any(game, None)
    }),
    ("a disconnected client", usual, &[&rules::LOST], |game, map, _| {
        watch(game, Some(map))?;
        let (ann, bob) = pair(game)?;
        game.close_port(ann);
        for _ in 0..4 {
            let text = "the port of player A was closed".to_owned();
            game.idle = Some(IgnoredDatagram { rule: &rules::LOST, text, by: None, is_broken: false });
            probe(game, bob)?;
        }
        Ok(())
    }),
    (
        "runs in a room",
        || YARD.to_owned(),
        &[&rules::DIAGONAL, &rules::RUN, &rules::RUN_DIAGONAL, &rules::RUN_GOLD, &rules::RUN_SWAP],
        runs,
    ),
    ("sight across a hall", || HALL.to_owned(), &[&rules::SIGHT, &rules::OWN, &rules::STALE], sight_boundaries),
    ("a push in a passage", usual, &[&rules::PUSHED], push),
    ("the largest map", large_map, &[&rules::LARGE_MAP], watch_large),
    ("a whole game", usual, &[], |game, map, run| {
        watch(game, Some(map))?;
        let (ann, bob) = pair(game)?;
        let cid = game.join("Cid")?;
        // The table includes the gold of a player that has quit.
        hunt(game, cid)?;
        game.leave(cid)?;
        finish(game, &[ann, bob], run, &rules::EXIT)
    }),
    ("a game of one player", closet, &[], |game, map, run| one_player(game, map, run, (b"Ann", &rules::WELCOME))),
    ("a name with unprintable bytes", closet, &[&rules::NAMES], |game, map, run| {
        one_player(game, map, run, (b"Zo\xc3\xab\x07\t !", &rules::NAMES))
    }),
    // Longer than any name that servers keep: some have small buffers.
    ("a long name", closet, &[&rules::NAME_LENGTH], |game, map, run| {
        one_player(game, map, run, (&[b'b'; 200], &rules::NAME_LENGTH))
    }),
];

fn usual() -> String {
    MAP.to_owned()
}

fn closet() -> String {
    CLOSET.to_owned()
}

/// On a running server, the remaining players leave.
pub(super) fn play_shared(game: &mut Game<'_>, map: Option<&MapFile>, scenario: Shared) -> ScenarioResult {
    watch(game, map)?;
    scenario(game)?;
    leave_all(game)
}

pub(super) fn watch(game: &mut Game<'_>, map: Option<&MapFile>) -> ScenarioResult {
    let watcher = game.open_client()?;
    game.spectate(watcher, map.map(|map| &map.grid))
}

fn pair(game: &mut Game<'_>) -> ScenarioResult<(usize, usize)> {
    Ok((game.join("Ann")?, game.join("Bob")?))
}

// Leaves out the rule without a spectator.
fn watcher(game: &mut Game<'_>, rule: &'static Rule) -> Option<usize> {
    let watcher = game.spectator();
    if watcher.is_none() {
        game.judge.leave_out_for([rule], &rules::WATCH);
    }
    watcher
}

fn watch_large(game: &mut Game<'_>, map: &MapFile, _: &mut dyn Run) -> ScenarioResult {
    // Other rules do not apply here.
    game.is_strict = false;
    game.unwatched(&map.grid);
    let watcher = game.open_client()?;
    game.send(watcher, b"SPECTATE");
    let is_whole = |game: &Game<'_>| {
        let display = fitted(&game.clients[watcher].display, map.grid.rows(), map.grid.cols());
        let is_ground = |(&right, &got): (&u8, &u8)| right == got || right == ROOM && got == b'*';
        map.grid.text().iter().zip(&display).all(is_ground)
    };
    let kept = game.wait(is_whole);
    let bytes = game.clients[watcher].display.len();
    if kept {
        return game.judge.require(&rules::LARGE_MAP, true, String::new);
    }
    game.break_missing(&rules::LARGE_MAP, || match bytes {
        0 => "expected a DISPLAY of the map after SPECTATE, received none".to_owned(),
        _ => format!("expected the whole map in the DISPLAY of the spectator, received {bytes} bytes"),
    })
}

// Types a key unless it would end the game. If it must have no effect, a move of another player shows whether it had
// one.
fn careful(game: &mut Game<'_>, who: usize, key: u8) -> ScenarioResult {
    let (after, effect) = game.model()?.forecast(game.letter(who)?, key);
    if (effect.piles == 0 || !after.piles.is_empty()) && game.key(who, key)?.steps == 0 {
        probe_any(game, Some(who))?;
    }
    Ok(())
}

// Changes only the player's position, preferably without gold.
fn plain_step(game: &Game<'_>, letter: Letter) -> ScenarioResult<Option<u8>> {
    let model = game.model()?;
    let plain = |key: &&u8| {
        let (after, effect) = model.forecast(letter, **key);
        effect.steps == 1 && effect.swaps == 0 && (effect.piles == 0 || after.piles.len() > 1)
    };
    let key = STEPS.iter().find(|key| plain(key) && model.forecast(letter, **key).1.piles == 0);
    Ok(key.or_else(|| STEPS.iter().find(plain)).copied())
}

fn probe(game: &mut Game<'_>, who: usize) -> ScenarioResult {
    match plain_step(game, game.letter(who)?)? {
        Some(key) => game.key(who, key).map(drop),
        None => probe_any(game, Some(who)),
    }
}

fn probe_any(game: &mut Game<'_>, who: Option<usize>) -> ScenarioResult {
    let mut players: Vec<(Letter, usize)> = game.joined.iter().map(|(letter, _, number)| (*letter, *number)).collect();
    players.sort_by_key(|(_, number)| Some(*number) == who);
    for (letter, number) in players {
        let client = &game.clients[number];
        if matches!(client.role, Role::Player(_))
            && client.quit.is_none()
            && let Some(key) = plain_step(game, letter)?
        {
            return game.key(number, key).map(drop);
        }
    }
    Ok(())
}

pub(super) fn leave_all(game: &mut Game<'_>) -> ScenarioResult {
    if game.fresh {
        return Ok(());
    }
    let plays = |client: &Client| matches!(client.role, Role::Player(_)) && client.quit.is_none();
    let players: Vec<usize> =
        (0..).zip(&game.clients).filter(|(_, client)| plays(client)).map(|(number, _)| number).collect();
    for player in players {
        game.leave(player)?;
    }
    Ok(())
}

fn watch_again(game: &mut Game<'_>) -> ScenarioResult {
    let ann = game.join("Ann")?;
    probe(game, ann)?;
    let Some(watcher) = watcher(game, &rules::WATCH_AGAIN) else { return Ok(()) };
    game.idle(watcher, b"SPECTATE", &rules::WATCH_AGAIN, "a second SPECTATE of the spectator");
    let all = [Kind::Grid, Kind::Gold, Kind::Display];
    let is_told = |game: &Game<'_>| all.iter().all(|&kind| game.clients[watcher].has(kind));
    let is_broken = |game: &Game<'_>| game.idle.as_ref().is_some_and(|idle| idle.is_broken);
    game.wait(|game| is_broken(game) || is_told(game) || game.clients[watcher].has(Kind::Error));
    game.drain();
    if !is_broken(game) && !is_told(game) {
        let log = kinds(&game.clients[watcher].log);
        game.missing(&rules::WATCH_AGAIN, || {
            format!("expected GRID, GOLD and DISPLAY after a second SPECTATE of the spectator, received {log}")
        })?;
    }
    probe(game, ann)
}

fn refused(game: &mut Game<'_>, play: &str, rule: &'static Rule, what: &str, wanted: &str) -> ScenarioResult {
    let number = game.open_client()?;
    game.clients[number].leaving = true;
    game.send(number, play.as_bytes());
    game.wait(|game| game.clients[number].quit.is_some() || game.clients[number].log.contains(&Kind::Ok));
    let log = game.clients[number].log.clone();
    if game.clients[number].quit.is_none() {
        game.missing(rule, || format!("expected QUIT after {what}, received {}", kinds(&log)))?;
    } else {
        game.judge.check(rule, true, String::new);
        game.text(number, wanted);
    }
    game.idle = Some(IgnoredDatagram { rule, text: what.to_owned(), by: None, is_broken: false });
    Ok(())
}

/// The maximum number of steps of a walk, since maps of other servers may be large.
const WALK: usize = 70;
/// Successive keys that may fail to bring a player nearer to its target.
const PATIENT: u32 = 4;
const RUNS: &[u8] = b"HJKLYUBN";
const KEYS: &[u8] = b"lLhHjJkKnNyYuUbBjlnhLJlknHhKukbYyjUuJLhNKbB";

fn movement(game: &mut Game<'_>) -> ScenarioResult {
    let (ann, bob) = pair(game)?;
    for (&key, who) in KEYS.iter().zip([ann, bob, ann].into_iter().cycle()) {
        careful(game, who, key)?;
    }
    for _ in 0..2 {
        meet(game, ann, bob)?;
        meet(game, bob, ann)?;
    }
    explore(game, ann)
}

// A player that is pushed along a passage must remember the spots that it saw there after it returns.
fn push(game: &mut Game<'_>, map: &MapFile, _: &mut dyn Run) -> ScenarioResult {
    watch(game, Some(map))?;
    let (ann, bob) = pair(game)?;
    let (pusher, victim) = (game.letter(ann)?, game.letter(bob)?);
    walk(game, ann, |model, cell| {
        let unknown = |direction| model.grid.step(cell, direction).is_some_and(|next| !model.knows(victim, next));
        model.is_deep(cell) && Direction::ALL.into_iter().filter(|direction| unknown(*direction)).count() > 1
    })?;
    let beside = |model: &Model, cell: Cell| {
        Direction::ALL.into_iter().find(|&direction| model.grid.step(cell, direction) == model.cell(pusher))
    };
    walk(game, bob, |model, cell| beside(model, cell).is_some())?;
    let model = game.model()?;
    // The direction of the push, which later leads the other player back.
    let back = model.cell(victim).and_then(|cell| beside(model, cell)).and_then(opposite);
    if let Some(back) = back {
        let place = game.model()?.cell(pusher);
        careful(game, ann, back.key())?;
        if game.model()?.cell(victim) != place {
            game.judge.leave_out_for([&rules::PUSHED], &rules::SWAP);
            return Ok(());
        }
        careful(game, bob, back.key())?;
    }
    Ok(())
}

// At these spots, floating-point numbers make one player wrongly see or miss the other.
fn sight_boundaries(game: &mut Game<'_>, map: &MapFile, _: &mut dyn Run) -> ScenarioResult {
    watch(game, Some(map))?;
    let (ann, bob) = pair(game)?;
    let letter = game.letter(ann)?;
    let model = game.model()?;
    let far = |spot| model.path(letter, STEPS, |cell| at(model, cell) == spot).map_or(usize::MAX, |path| path.len());
    let Some((spot, targets)) = TELLING.into_iter().min_by_key(|(spot, _)| far(*spot)) else { return Ok(()) };
    walk(game, ann, |model, cell| at(model, cell) == spot)?;
    for &target in targets {
        walk(game, bob, |model, cell| at(model, cell) == target)?;
    }
    Ok(())
}

// Runs from the middle of a room, over gold and through another player.
fn runs(game: &mut Game<'_>, map: &MapFile, run: &mut dyn Run) -> ScenarioResult {
    watch(game, Some(map))?;
    let (ann, bob) = pair(game)?;
    for direction in Direction::ALL {
        // Two free spots on both sides reveal a mirrored step, and tell a run from a step.
        let wide = |model: &Model, cell: Cell| {
            [Some(direction), opposite(direction)].into_iter().all(|way| {
                let next = |from| model.grid.step(from, way?);
                next(cell).and_then(next).is_some()
            })
        };
        for key in [direction.key(), direction.key().to_ascii_uppercase()] {
            walk(game, ann, wide)?;
            careful(game, ann, key)?;
        }
    }
    let letter = game.letter(ann)?;
    let over = |model: &Model, cell: Cell| RUNS.iter().copied().find(|&key| model.runs_over_gold(cell, key));
    walk(game, ann, |model, cell| over(model, cell).is_some())?;
    let model = game.model()?;
    if let Some(key) = model.cell(letter).and_then(|cell| over(model, cell)) {
        careful(game, ann, key)?;
    }
    let other = game.letter(bob)?;
    let through = |model: &Model, cell: Cell| {
        let place = model.cell(other)?;
        let free = |direction: &Direction| {
            model.grid.step(cell, *direction) == Some(place) && model.grid.step(place, *direction).is_some()
        };
        Direction::ALL.into_iter().find(free)
    };
    walk(game, ann, |model, cell| through(model, cell).is_some())?;
    let model = game.model()?;
    if let Some(direction) = model.cell(letter).and_then(|cell| through(model, cell)) {
        careful(game, ann, direction.key().to_ascii_uppercase())?;
    }
    // Both together, since either alone may not reveal an error.
    let rich = |model: &Model, cell: Cell| RUNS.iter().copied().find(|&key| model.runs_through(cell, key, other));
    if ![&rules::RUN_GOLD, &rules::RUN_SWAP].into_iter().any(|rule| game.judge.has_failed(rule)) {
        walk(game, ann, |model, cell| rich(model, cell).is_some())?;
        let model = game.model()?;
        if let Some(key) = model.cell(letter).and_then(|cell| rich(model, cell)) {
            careful(game, ann, key)?;
        }
    }
    // The remaining gold shows whether some was lost.
    finish(game, &[ann, bob], run, &rules::EXIT)
}

fn at(model: &Model, cell: Cell) -> (u16, u16) {
    let place = model.grid.position(cell);
    (place.row, place.col)
}

fn explore(game: &mut Game<'_>, who: usize) -> ScenarioResult {
    let letter = game.letter(who)?;
    walk(game, who, Model::is_deep)?;
    walk(game, who, |model, cell| model.grid.at(cell) == ROOM && !model.knows(letter, cell))
}

fn walk(game: &mut Game<'_>, who: usize, wanted: impl Fn(&Model, Cell) -> bool) -> ScenarioResult {
    let (mut nearest, mut vain) = (usize::MAX, 0);
    for _ in 0..WALK {
        let model = game.model()?;
        let path = model.path(game.letter(who)?, STEPS, |cell| wanted(model, cell)).unwrap_or_default();
        let Some(&key) = path.first() else { break };
        vain = if path.len() < nearest { 0 } else { vain + 1 };
        nearest = nearest.min(path.len());
        if vain > PATIENT {
            break;
        }
        careful(game, who, key)?;
    }
    Ok(())
}

fn meet(game: &mut Game<'_>, who: usize, other: usize) -> ScenarioResult {
    let (letter, target) = (game.letter(who)?, game.letter(other)?);
    let model = game.model()?.clone();
    let place = model.cell(target);
    let beside =
        |cell: Cell, direction: Direction| model.grid.step(cell, direction).filter(|&next| Some(next) == place);
    // Preferably with a free spot behind the other player for a run.
    let behind = |direction| place.is_some_and(|place| model.grid.step(place, direction).is_some());
    let best = Direction::ALL.into_iter().any(behind);
    let good = |cell: Cell| {
        let onto = |direction: &Direction| beside(cell, *direction).is_some() && (behind(*direction) || !best);
        Direction::ALL.into_iter().find(onto)
    };
    let any = |cell: Cell| Direction::ALL.into_iter().find(|&direction| beside(cell, direction).is_some());
    let path = model.path(letter, STEPS, |cell| good(cell).is_some());
    let Some(path) = path.or_else(|| model.path(letter, STEPS, |cell| any(cell).is_some())) else { return Ok(()) };
    for &key in path.iter().take(2 * WALK) {
        let effect = game.model()?.forecast(letter, key).1;
        careful(game, who, key)?;
        // An impossible step shows that the server moved the player differently.
        if effect.swaps > 0 || effect.steps == 0 {
            return Ok(());
        }
    }
    let Some(direction) = game.model()?.cell(letter).and_then(|cell| good(cell).or_else(|| any(cell))) else {
        return Ok(());
    };
    careful(game, who, direction.key())?;
    // The other player is now behind: step back onto it, then run through it again.
    if let Some(back) = opposite(direction) {
        careful(game, who, back.key().to_ascii_uppercase())?;
    }
    Ok(())
}

fn opposite(direction: Direction) -> Option<Direction> {
    let (row, col) = direction.delta();
    Direction::ALL.into_iter().find(|other| other.delta() == (-row, -col))
}

/// Plays keys for a comparison of games. Returns the spectator's last DISPLAY and the purses.
pub(super) fn sample(game: &mut Game<'_>, map: &MapFile) -> ScenarioResult<(Vec<u8>, Vec<u32>)> {
    let board =
        |game: &Game<'_>| game.spectator().map_or_else(Vec::new, |watcher| game.clients[watcher].display.clone());
    watch(game, Some(map))?;
    let mut shown = board(game);
    let (ann, bob) = pair(game)?;
    for (&key, who) in b"LHJKLYUBN".iter().zip([ann, bob].into_iter().cycle()) {
        careful(game, who, key)?;
    }
    shown.extend(board(game));
    Ok((shown, game.clients.iter().map(|client| client.purse).collect()))
}

/// The maximum number of keys in a game, ten times what a correct server needs.
const MOST_KEYS: u32 = 1000;
/// Unanswered moves after which a game is aborted.
const UNANSWERED: u32 = 8;

// Plays without a spectator, so that the game needs few features of the server.
fn one_player(
    game: &mut Game<'_>,
    map: &MapFile,
    run: &mut dyn Run,
    (name, rule): (&[u8], &'static Rule),
) -> ScenarioResult {
    game.unwatched(&map.grid);
    let ann = game.join_as(name, rule)?;
    finish(game, &[ann], run, if rule == &rules::WELCOME { &rules::EXIT } else { rule })
}

fn finish(game: &mut Game<'_>, players: &[usize], run: &mut dyn Run, rule: &'static Rule) -> ScenarioResult {
    let mut turn = players.iter().copied().cycle();
    let mut keys = 0;
    while let Some(who) = turn.next()
        && keys < MOST_KEYS
    {
        keys += hunt(game, who)?;
        if game.end == End::Judged {
            game.judge_summary(run);
            let exit = run.exit(game.options.deadline());
            // An error at the end of any game is not the fault of a name.
            let is_right = exit == Some(Exit::with(0))
                || rule != &rules::EXIT && exit.as_ref().is_none_or(|exit| exit.code.is_some());
            game.judge.check(rule, is_right, || {
                format!("expected exit status 0 after the game, but {}", Exit::describe(exit.as_ref(), "the server"))
            });
            return Ok(());
        }
    }
    Err(Halt::Broken)
}

// Takes piles, possibly until the game ends. Returns the number of keys.
fn hunt(game: &mut Game<'_>, who: usize) -> ScenarioResult<u32> {
    let letter = game.letter(who)?;
    let (mut nearest, mut vain) = (usize::MAX, 0);
    for count in 0.. {
        // Runs first, since they may take several piles.
        let runs = [&rules::RUN, &rules::RUN_DIAGONAL, &rules::RUN_GOLD].iter().any(|rule| game.judge.has_failed(rule));
        let keys: &[u8] = if runs { STEPS } else { b"HJKLYUBNhjklyubn" };
        let model = game.model()?;
        if model.piles.is_empty() {
            // The remaining gold may be under the player.
            probe(game, who)?;
            if game.end == End::Judged || !game.model()?.piles.is_empty() {
                return Ok(count + 1);
            }
            let left = game.clients[who].left.unwrap_or_default();
            return game.break_missing(&rules::TOTAL, || {
                format!("expected a pile for the {left} nuggets left in GOLD, received none")
            });
        }
        if model.cell(letter).is_none() {
            vain += 1;
            if vain > PATIENT {
                return Err(Halt::Broken);
            }
            game.key(who, STEPS[0])?;
            continue;
        }
        let Some(keys) = model.hunt(letter, keys) else {
            return game.break_missing(&rules::PILES_IN_ROOMS, || {
                format!("expected reachable gold, but player {letter} cannot reach any pile")
            });
        };
        let Some(&key) = keys.first() else { break };
        let effect = game.key(who, key)?;
        if game.end == End::Judged {
            return Ok(count + 1);
        }
        if game.unanswered > UNANSWERED {
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

const SERVER_WORDS: [&[u8]; 6] = [b"OK A", b"GRID 1 1", b"GOLD 9 9 9", b"DISPLAY\n", b"QUIT now", b"ERROR no"];
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

fn send_both(
    game: &mut Game<'_>,
    (player, other): (usize, usize),
    datagrams: &[&[u8]],
    rule: &'static Rule,
) -> ScenarioResult {
    let open_client = game.open_client()?;
    for datagram in datagrams {
        for (who, whose) in [(player, "player A"), (open_client, "an unknown address")] {
            idle(game, who, datagram, rule, &format!("{} of {whose}", quoted_bytes(datagram)), other)?;
        }
    }
    Ok(())
}

// A move of another player shows whether the datagram had an effect. No datagram follows a breach.
fn idle(
    game: &mut Game<'_>,
    who: usize,
    datagram: &[u8],
    rule: &'static Rule,
    text: &str,
    other: usize,
) -> ScenarioResult {
    if game.judge.has_failed(rule) {
        return Ok(());
    }
    game.idle(who, datagram, rule, text);
    probe(game, other)
}

fn ignored(
    game: &mut Game<'_>,
    (who, whose): (usize, &str),
    keys: &[u8],
    rule: &'static Rule,
    other: usize,
) -> ScenarioResult {
    for &key in keys {
        idle(game, who, &key_message(key), rule, &format!("KEY {} of {whose}", char::from(key)), other)?;
    }
    Ok(())
}
