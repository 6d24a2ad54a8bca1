//! What is played with a server, and what several scenarios have in common.

pub(super) mod game;
pub(super) mod hostile;
pub(super) mod joining;
pub(super) mod moves;

use nuggets::Letter;

use super::{
    map::MapFile,
    party::{Client, Party, Role, STEPS},
};
use crate::judge::Played;

/// A spectator, who is shown what is true.
pub(super) fn watch(party: &mut Party<'_>, map: Option<&MapFile>) -> Played<usize> {
    let watcher = party.stranger()?;
    party.spectate(watcher, map.map(|map| &map.grid))?;
    Ok(watcher)
}

// Types a key, unless it would end the game. After one that does nothing somebody moves, which shows whether it did.
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
        if party.clients[number].quit.is_none() && STEPS.iter().any(free) {
            return still(party, number);
        }
    }
    Ok(())
}

fn leave_all(party: &mut Party<'_>) -> Played {
    let plays = |client: &Client| matches!(client.role, Role::Player(_)) && client.quit.is_none();
    let players: Vec<usize> =
        (0..).zip(&party.clients).filter(|(_, client)| plays(client)).map(|(number, _)| number).collect();
    for player in players {
        party.leave(player)?;
    }
    Ok(())
}
