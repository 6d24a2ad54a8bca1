//! What must do nothing at all.

use super::{leave_all, still, watch};
use crate::{
    judge::Played,
    nuggets_server::{
        displays::shown,
        map::MapFile,
        party::{Kind, Party, STEPS},
        rules,
        wire::key_message,
    },
    rule::Rule,
};

/// What only servers send.
const SERVER_WORDS: [&[u8]; 6] = [b"OK A", b"GRID 1 1", b"GOLD 9 9 9", b"DISPLAY\n", b"QUIT now", b"ERROR no"];

/// Malformed messages, unknown keys, and keys of those who do not play.
pub(in crate::nuggets_server) fn play(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let watcher = watch(party, map)?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    let stranger = party.stranger()?;
    let long = vec![b'x'; 65_507];
    let malformed: [&[u8]; 16] = [
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
        b"%s%n%s%n KEY l",
        &long,
    ];
    for datagram in malformed {
        for (who, whose) in [(ann, "player A"), (stranger, "a stranger")] {
            let rule = match datagram {
                b"" => &rules::EMPTY,
                _ if datagram.contains(&0) => &rules::ZERO_BYTES,
                _ if datagram.len() == long.len() => &rules::LONGEST,
                _ => &rules::MALFORMED,
            };
            party.idle(who, datagram, rule, &format!("{} of {whose}", shown(datagram)));
            if datagram == malformed[0] && who == ann {
                let told = party.wait(|party| party.clients[ann].log.contains(&Kind::Error));
                party.judge.check(&rules::MALFORMED_TOLD, told, || format!("{} was not answered", shown(datagram)));
            }
            still(party, bob)?;
        }
    }
    // It has sent nothing else that could be answered.
    let server = party.stranger()?;
    for word in SERVER_WORDS {
        party.idle(server, word, &rules::MALFORMED, &format!("{} of another server", shown(word)));
        still(party, bob)?;
        let told = party.clients[server].log.contains(&Kind::Error);
        party.judge.check(&rules::SILENT_WORDS, !told, || {
            format!("{}, which only a server says, was answered by ERROR", shown(word))
        });
    }
    for key in *b"?1 \x1b\xffq" {
        let text = format!("KEY '{}' of player A", key.escape_ascii());
        let rule = if key == b'q' { &rules::SMALL_Q } else { &rules::MALFORMED };
        party.idle(ann, &key_message(key), rule, &text);
        let answered = |party: &Party<'_>| party.clients[ann].log.contains(&Kind::Error);
        if key == b'?' {
            // The answer to what Bob does comes behind it.
            let letter = party.letter(bob)?;
            let free = STEPS
                .iter()
                .copied()
                .find(|&key| party.world().is_ok_and(|world| world.forecast(letter, key).1.steps > 0));
            let before = answered(party);
            if let Some(key) = free {
                party.key(bob, key)?;
            }
            let told = before || answered(party);
            party.judge.check(&rules::UNKNOWN, told, || format!("{text} was not answered by ERROR"));
        } else {
            still(party, bob)?;
        }
    }
    ignored(party, (stranger, "a stranger"), b"hljkLHJKQ", &rules::STRANGER, bob)?;
    ignored(party, (watcher, "the spectator"), b"hljkyubnHLJK?", &rules::WATCHER, bob)?;
    party.leave(ann)?;
    ignored(party, (ann, "player A, who has quit"), b"hljkLHJKQ", &rules::STRANGER, bob)?;
    // A player whose program is gone stays on the map, so only in a game of our own.
    if map.is_some() {
        let cid = party.join("Cid")?;
        party.lose(cid);
        for _ in 0..4 {
            party.idle = Some((&rules::LOST, "the port of a client was closed".to_owned()));
            still(party, bob)?;
        }
    }
    leave_all(party)
}

// Sends keys that must do nothing. After each of them another player moves, which shows whether it did.
fn ignored(
    party: &mut Party<'_>,
    (who, whose): (usize, &str),
    keys: &[u8],
    rule: &'static Rule,
    other: usize,
) -> Played {
    for &key in keys {
        party.idle(who, &key_message(key), rule, &format!("KEY {} of {whose}", char::from(key)));
        still(party, other)?;
    }
    Ok(())
}
