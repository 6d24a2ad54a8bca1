//! Datagrams that must have no effect. Each rule has a separate game, since a server may end because of them.

use super::{leave_all, moves::walk, plain_step, still, still_any, watch};
use crate::{
    judge::Played,
    nuggets_server::{
        displays::shown,
        map::MapFile,
        party::{Idle, Kind, Party},
        rules,
        wire::key_message,
    },
    rule::Rule,
};

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

/// The players of a game. The display of the second shows the effects of the first.
struct Cast {
    ann: usize,
    bob: usize,
}

fn cast(party: &mut Party<'_>, map: Option<&MapFile>) -> Played<Cast> {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    let bob = party.join("Bob")?;
    Ok(Cast { ann, bob })
}

/// Malformed messages of a player and of an unknown address.
pub(in crate::nuggets_server) fn malformed(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let Cast { ann, bob } = cast(party, map)?;
    let stranger = party.stranger()?;
    for datagram in MALFORMED {
        send_both(party, (ann, stranger), datagram, &rules::MALFORMED, bob)?;
    }
    for key in *b"?1 \x1b\xff" {
        let text = format!("KEY '{}' of player A", key.escape_ascii());
        idle(party, ann, &key_message(key), &rules::MALFORMED, &text, bob)?;
    }
    leave_all(party)
}

/// Whether a client is notified that its message was wrong.
pub(in crate::nuggets_server) fn explained(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    watch(party, map)?;
    let ann = party.join("Ann")?;
    still_any(party, None)?;
    for (datagram, rule) in [(&b"KEY hh"[..], &rules::MALFORMED_TOLD), (b"KEY ?", &rules::UNKNOWN)] {
        party.send(ann, datagram);
        let is_told = party.wait(|party| party.clients[ann].has(Kind::Error));
        party
            .judge
            .check(rule, is_told, || format!("expected ERROR after {} of player A, received none", shown(datagram)));
    }
    leave_all(party)
}

pub(in crate::nuggets_server) fn empty(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let Cast { ann, bob } = cast(party, map)?;
    let stranger = party.stranger()?;
    send_both(party, (ann, stranger), b"", &rules::EMPTY, bob)?;
    leave_all(party)
}

pub(in crate::nuggets_server) fn zero_bytes(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let Cast { ann, bob } = cast(party, map)?;
    let stranger = party.stranger()?;
    // Uses a key that can move the player.
    let key = plain_step(party, party.letter(ann)?)?.unwrap_or(b'l');
    for datagram in [&b"\0"[..], &[b'K', b'E', b'Y', b' ', key, 0]] {
        send_both(party, (ann, stranger), datagram, &rules::ZERO_BYTES, bob)?;
    }
    leave_all(party)
}

pub(in crate::nuggets_server) fn longest(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let Cast { ann, bob } = cast(party, map)?;
    let stranger = party.stranger()?;
    send_both(party, (ann, stranger), &vec![b'x'; 65_507], &rules::LONGEST, bob)?;
    leave_all(party)
}

/// Messages of another server.
pub(in crate::nuggets_server) fn server_words(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let Cast { bob, .. } = cast(party, map)?;
    let server = party.stranger()?;
    for word in SERVER_WORDS {
        party.idle(server, word, &rules::MALFORMED, &format!("{} of another server", shown(word)));
        still(party, bob)?;
        let is_told = party.clients[server].log.contains(&Kind::Error);
        party.judge.check(&rules::SILENT_WORDS, !is_told, || {
            format!("expected no answer to {}, which only servers send, received ERROR", shown(word))
        });
    }
    leave_all(party)
}

pub(in crate::nuggets_server) fn small_q(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let Cast { ann, bob } = cast(party, map)?;
    ignored(party, (ann, "player A"), b"q", &rules::SMALL_Q, bob)?;
    leave_all(party)
}

/// Keys from an address that never played, and from a player that has quit.
pub(in crate::nuggets_server) fn strangers(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let Cast { ann, bob } = cast(party, map)?;
    let stranger = party.stranger()?;
    ignored(party, (stranger, "an unknown address"), b"hljkLHJKQ", &rules::STRANGER, bob)?;
    let cid = party.join("Cid")?;
    let spot = party.world()?.cell(party.letter(ann)?);
    party.leave(ann)?;
    if party.clients[ann].quit.is_none() {
        return leave_all(party);
    }
    ignored(party, (ann, "player A, who has quit"), b"hljkLHJK", &rules::STRANGER, bob)?;
    // Another player is now at the position of the one that has quit.
    walk(party, bob, |_, cell| Some(cell) == spot)?;
    ignored(party, (ann, "player A, who has quit"), b"Q", &rules::STRANGER, cid)?;
    leave_all(party)
}

pub(in crate::nuggets_server) fn watcher_keys(party: &mut Party<'_>, map: Option<&MapFile>) -> Played {
    let Cast { bob, .. } = cast(party, map)?;
    match party.spectator() {
        Some(watcher) => {
            ignored(party, (watcher, "the spectator"), b"hljkyubnHLJK?", &rules::WATCHER, bob)?;
        }
        None => party.judge.leave_out_for([&rules::WATCHER], &rules::WATCH),
    }
    leave_all(party)
}

/// The program of a player ends without notifying the server.
pub(in crate::nuggets_server) fn lost(party: &mut Party<'_>, map: &MapFile) -> Played {
    let Cast { ann, bob } = cast(party, Some(map))?;
    party.lose(ann);
    for _ in 0..4 {
        let text = "the port of player A was closed".to_owned();
        party.idle = Some(Idle { rule: &rules::LOST, text, by: None, is_broken: false });
        still(party, bob)?;
    }
    Ok(())
}

// Sends a datagram as a player and from an unknown address.
fn send_both(
    party: &mut Party<'_>,
    (player, stranger): (usize, usize),
    datagram: &[u8],
    rule: &'static Rule,
    other: usize,
) -> Played {
    for (who, whose) in [(player, "player A"), (stranger, "an unknown address")] {
        idle(party, who, datagram, rule, &format!("{} of {whose}", shown(datagram)), other)?;
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
