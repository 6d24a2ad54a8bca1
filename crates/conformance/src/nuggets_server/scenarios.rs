//! The scenarios with a server and their common parts.

pub(super) mod game;
pub(super) mod hostile;
pub(super) mod joining;
pub(super) mod moves;

use nuggets::{Letter, grid::ROOM};

use super::{
    map::MapFile,
    party::{Client, Party, Role, STEPS},
    reading::fitted,
    rules,
};
use crate::judge::Played;

/// A spectator, which receives the true state, if the server accepts it.
pub(super) fn watch(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let watcher = party.stranger()?;
    party.spectate(watcher, map.map(|map| &map.grid))
}

/// A spectator of a map whose DISPLAY nearly fills a datagram.
pub(super) fn large(party: &mut Party<'_>, map: &MapFile) -> Played {
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
