//! Who comes and goes: players, as many as there are letters, and spectators.

use super::{leave_all, still, still_any, watch};
use crate::{
    judge::Played,
    nuggets_server::{
        map::MapFile,
        party::{Kind, Party, kinds},
        rules,
    },
    rule::Rule,
};

/// Who may join, who may not, and what they are told.
pub(in crate::nuggets_server) fn players(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
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
    party.leave(ann)?;
    party.idle(ann, b"PLAY Ann", &rules::RETURN, "PLAY from the address of player A, who has quit");
    still(party, bob)?;
    party.judge.require(&rules::RETURN, !party.judge.has_failed(&rules::RETURN), || "it plays again".to_owned())?;
    leave_all(party)
}

/// Spectators come and go.
pub(in crate::nuggets_server) fn spectators(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    still(party, ann)?;
    let second = party.stranger()?;
    party.spectate(second, None)?;
    for _ in 0..2 {
        still(party, ann)?;
    }
    party.idle(ann, b"SPECTATE", &rules::PLAYER_WATCHES, "SPECTATE of player A");
    still(party, ann)?;
    party.idle = Some((&rules::WATCH_AGAIN, "a second SPECTATE of the spectator".to_owned()));
    party.spectate(second, None)?;
    still(party, ann)?;
    party.quit(second, &rules::SPECTATOR_QUITS)?;
    party.judge.check(&rules::SPECTATOR_QUITS, true, String::new);
    party.text(second, "Thanks for watching!");
    let third = party.stranger()?;
    party.spectate(third, None)?;
    still(party, ann)?;
    leave_all(party)
}

/// As many players as there are letters.
pub(in crate::nuggets_server) fn full(party: &mut Party<'_>, map: &MapFile) -> Played {
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

/// Two players of one name.
pub(in crate::nuggets_server) fn namesakes(party: &mut Party<'_>, map: &MapFile) -> Played {
    watch(party, Some(map))?;
    let ann = party.join("Ann")?;
    party.join("Ann")?;
    still(party, ann)?;
    leave_all(party)
}

// Sends a PLAY that must be answered by QUIT.
fn refused(party: &mut Party<'_>, play: &[u8], rule: &'static Rule, what: &str, wanted: &str) -> Played {
    let number = party.stranger()?;
    party.clients[number].leaving = true;
    party.send(number, play);
    party.wait(|party| party.clients[number].quit.is_some() || party.clients[number].log.contains(&Kind::Ok));
    let log = party.clients[number].log.clone();
    if party.clients[number].quit.is_none() {
        return party.lacking(rule, || format!("{what} was answered by {} instead of QUIT", kinds(&log)));
    }
    party.judge.check(rule, true, String::new);
    party.text(number, wanted);
    party.idle = Some((rule, what.to_owned()));
    Ok(())
}
