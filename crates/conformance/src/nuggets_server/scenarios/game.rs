//! Whole games, up to the last nugget.

use super::{still, watch};
use crate::{
    judge::{Halt, Played},
    launch::{Exit, Run},
    nuggets_server::{
        map::MapFile,
        party::{End, Party, STEPS},
        rules,
    },
    rule::Rule,
};

/// The maximum number of keys in a game. A server that moves players correctly needs a tenth.
const MOST_KEYS: u32 = 1000;
/// The number of moves without an answer after which a game is aborted.
const UNANSWERED: u32 = 8;
/// The number of successive keys by which a player may fail to approach gold.
const PATIENT: u32 = 4;

/// Plays with several players. One of them leaves before the end.
pub(in crate::nuggets_server) fn play(party: &mut Party<'_>, map: &MapFile, run: &mut dyn Run) -> Played {
    watch(party, Some(map))?;
    let ann = party.join("Ann Lee")?;
    let bob = party.join("Bob")?;
    let cid = party.join("Cid")?;
    // The table contains the gold of a player that has quit.
    hunt(party, cid)?;
    party.leave(cid)?;
    finish(party, &[ann, bob], run, &rules::EXIT)
}

/// Plays with one player and without a spectator. Such a game needs the fewest features of the server.
pub(in crate::nuggets_server) fn alone(
    party: &mut Party<'_>,
    map: &MapFile,
    run: &mut dyn Run,
    (name, rule): (&[u8], &'static Rule),
) -> Played {
    party.unwatched(&map.grid);
    let ann = party.join_as(name, rule)?;
    finish(party, &[ann], run, if rule == &rules::WELCOME { &rules::EXIT } else { rule })
}

/// Plays until no gold is left. If the server does not report that and exit, it breaks this rule.
pub(super) fn finish(party: &mut Party<'_>, players: &[usize], run: &mut dyn Run, rule: &'static Rule) -> Played {
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
