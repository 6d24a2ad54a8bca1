//! A whole game, to its last nugget.

use super::watch;
use crate::{
    judge::Played,
    launch::{Exit, Run},
    nuggets_server::{map::MapFile, party::Party, rules},
};

/// The columns of a row before the name.
const FRONT: usize = 13;

/// Plays until the gold is gone, and sees that the server says so and ends.
pub(in crate::nuggets_server) fn play(party: &mut Party<'_>, map: &MapFile, run: &mut dyn Run) -> Played {
    watch(party, Some(map))?;
    let names: [&[u8]; 3] = [b"  Zo\xc3\xab\x07\t !", &[b'b'; 5000], b"Cid"];
    let ann = party.join_as(names[0])?;
    let bob = party.join_as(names[1])?;
    let cid = party.join_as(names[2])?;
    // Gold of who has quit is in the table.
    hunt(party, cid)?;
    party.leave(cid)?;
    let mut turn = [ann, bob].into_iter().cycle();
    let last = loop {
        let who = turn.next().unwrap_or(ann);
        if let Some(key) = hunt(party, who)? {
            party.end(who, key)?;
            break who;
        }
    };
    let table = party.table(last);
    let by = party.options.deadline();
    let missing = run.missing(table.iter().map(String::as_str), by, |line, row| {
        // Names are judged elsewhere.
        line.get(..FRONT).is_some_and(|front| Some(front) == row.get(..FRONT))
    });
    party.judge.check(&rules::SUMMARY, missing.is_none(), || {
        format!("the line '{}' was not printed", missing.unwrap_or_default())
    });
    let exit = run.exit(party.options.deadline());
    let is_right = exit == Some(Exit::with(0));
    party.judge.check(&rules::EXIT, is_right, || Exit::told(exit.as_ref(), "the server"));
    Ok(())
}

// Lets a player take a pile. Returns the key that would end the game, which is not typed yet.
fn hunt(party: &mut Party<'_>, who: usize) -> Played<Option<u8>> {
    let letter = party.letter(who)?;
    let Some(keys) = party.world()?.hunt(letter) else {
        return Err(anyhow::anyhow!("player {letter} cannot reach the gold that is left").into());
    };
    for key in keys {
        let (after, _) = party.world()?.forecast(letter, key);
        if after.piles.is_empty() {
            return Ok(Some(key));
        }
        party.key(who, key)?;
    }
    Ok(None)
}
