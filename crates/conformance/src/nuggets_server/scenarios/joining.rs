//! Clients that join and leave: one player for each letter, and spectators.

use super::{leave_all, still, still_any, watch};
use crate::{
    judge::Played,
    nuggets_server::{
        map::MapFile,
        party::{Idle, Kind, Party, kinds},
        rules,
    },
    rule::Rule,
};

/// Names without letters. Each has a character that is not whitespace.
const NAMES: [&str; 3] = ["42", "!", " . "];

/// Players join, and one of them leaves.
pub(in crate::nuggets_server) fn players(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    still(party, bob)?;
    party.leave(ann)?;
    still(party, bob)?;
    party.join("Cid")?;
    leave_all(party)
}

/// PLAY without a name.
pub(in crate::nuggets_server) fn nameless(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    for (name, what) in [("", "PLAY with an empty name"), (" \t ", "PLAY with a name of only white space")] {
        let play = format!("PLAY {name}");
        refused(party, play.as_bytes(), &rules::NAMELESS, what, "Sorry - you must provide player's name.")?;
        still(party, ann)?;
    }
    leave_all(party)
}

/// Names that are unusual.
pub(in crate::nuggets_server) fn names(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    for name in NAMES {
        party.join_as(name.as_bytes(), &rules::ANY_NAME)?;
        party.judge.check(&rules::ANY_NAME, true, String::new);
    }
    leave_all(party)
}

/// PLAY from the address of a player.
pub(in crate::nuggets_server) fn second_seat(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    party.idle(ann, b"PLAY Ann", &rules::ONCE, "PLAY from the address of player A");
    still(party, bob)?;
    leave_all(party)
}

/// PLAY from the address of a player that has quit.
pub(in crate::nuggets_server) fn comes_back(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    party.leave(ann)?;
    if party.clients[ann].quit.is_none() {
        party.judge.leave_out_for([&rules::RETURN], &rules::LEAVE);
        return leave_all(party);
    }
    party.idle(ann, b"PLAY Ann", &rules::RETURN, "PLAY from the address of player A, who has quit");
    still(party, bob)?;
    leave_all(party)
}

/// All players leave, and a new one joins.
pub(in crate::nuggets_server) fn all_leave(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    still(party, ann)?;
    party.leave(ann)?;
    party.join_as(b"Bob", &rules::RUNS)?;
    leave_all(party)
}

/// A spectator replaces another one.
pub(in crate::nuggets_server) fn spectators(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    still(party, ann)?;
    let second = party.stranger()?;
    party.spectate(second, None)?;
    for _ in 0..2 {
        still(party, ann)?;
    }
    leave_all(party)
}

/// A spectator leaves, and another one connects.
pub(in crate::nuggets_server) fn spectator_quits(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    let Some(watcher) = party.spectator() else {
        party.judge.leave_out_for([&rules::SPECTATOR_QUITS], &rules::WATCH);
        return Ok(());
    };
    party.quit(watcher, &rules::SPECTATOR_QUITS)?;
    party.text(watcher, "Thanks for watching!");
    let third = party.stranger()?;
    party.spectate(third, None)?;
    still(party, ann)?;
    leave_all(party)
}

/// The spectator sends SPECTATE again.
pub(in crate::nuggets_server) fn watches_again(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    still(party, ann)?;
    let Some(watcher) = party.spectator() else {
        party.judge.leave_out_for([&rules::WATCH_AGAIN], &rules::WATCH);
        return Ok(());
    };
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
    still(party, ann)?;
    leave_all(party)
}

/// A player sends SPECTATE.
pub(in crate::nuggets_server) fn player_watches(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    party.idle(ann, b"SPECTATE", &rules::PLAYER_WATCHES, "SPECTATE of player A");
    still(party, bob)?;
    leave_all(party)
}

/// One player for each letter.
pub(in crate::nuggets_server) fn full(party: &mut Party<'_>, map: &MapFile) -> Played {
    watch(party, Some(map))?;
    for number in 1..=26 {
        let player = party.join_as(format!("Player {number}").as_bytes(), &rules::FULL)?;
        // A player that has quit keeps its letter.
        if number == 5 {
            party.leave(player)?;
        }
    }
    refused(party, b"PLAY One too many", &rules::FULL, "the 27th PLAY", "Game is full: no more players can join.")?;
    still_any(party, None)
}

/// Two players with the same name.
pub(in crate::nuggets_server) fn namesakes(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    party.join_as(b"Ann", &rules::EQUAL_NAMES)?;
    party.judge.check(&rules::EQUAL_NAMES, true, String::new);
    still(party, ann)?;
    leave_all(party)
}

// Sends a PLAY that the server must answer with QUIT.
fn refused(party: &mut Party<'_>, play: &[u8], rule: &'static Rule, what: &str, wanted: &str) -> Played {
    let number = party.stranger()?;
    party.clients[number].leaving = true;
    party.send(number, play);
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
