//! Messages that a client must survive.

use super::{
    host::{Host, display, shown},
    rules,
};
use crate::{judge::Played, rule::Rule};

/// Each kind of such messages, with the rule that the client continues after them. A client that exits at one kind is
/// still tested with the other kinds.
pub(super) static DAMAGED: [(&str, &Rule); 9] = [
    ("ERROR", &rules::ERRORS),
    ("repeated DISPLAYs", &rules::DISPLAYS),
    ("repeated first messages", &rules::STATE_AGAIN),
    ("messages with extra white space", &rules::WHITE_SPACE),
    ("binary datagrams", &rules::NO_WORDS),
    ("messages of unknown kinds", &rules::MALFORMED),
    ("damaged numbers", &rules::BAD_NUMBERS),
    ("damaged DISPLAYs", &rules::BAD_DISPLAYS),
    ("DISPLAY with percent signs", &rules::NO_CRASH),
];

fn messages(rule: &Rule) -> Vec<Vec<u8>> {
    let all = |messages: &[&[u8]]| messages.iter().map(|message| message.to_vec()).collect();
    let (first, second) = (display(1), display(2));
    let long = vec![b'x'; 65_507];
    match rule {
        _ if *rule == rules::ERRORS => all(&[
            b"ERROR unknown keystroke",
            b"ERROR %s%n%s%n",
            b"ERROR \x1b[2J\x07",
            &[b"ERROR ", &long[..1000]].concat(),
        ]),
        _ if *rule == rules::DISPLAYS => all(&[&first, &second, &first, &first]),
        _ if *rule == rules::STATE_AGAIN => all(&[b"OK A", b"GRID 3 14", b"GOLD 0 0 250", &display(0)]),
        _ if *rule == rules::WHITE_SPACE => all(&[
            b"OK A\0",
            b"GRID  3   14\n",
            b"GOLD 0  0   250\0",
            &[&display(4)[..], b"\0"].concat(),
            b"ERROR that is no key\n\0",
        ]),
        _ if *rule == rules::NO_WORDS => all(&[b"", b"\0", b"\xff\xfe\xfd", &long]),
        _ if *rule == rules::MALFORMED => all(&[b"HELLO you", b"%s%n%s%n", b"ok A", b"KEY Q", b"QUITTING"]),
        _ if *rule == rules::BAD_NUMBERS => all(&[
            b"OK",
            b"OK ab",
            b"GRID",
            b"GRID x y",
            b"GRID -3 -4",
            b"GOLD",
            b"GOLD 1",
            b"GOLD a b c",
            b"GOLD 99999999999999999999 0 0",
        ]),
        _ if *rule == rules::NO_CRASH => all(&[
            b"DISPLAY\n+------------+\n|%s%s%s%s%s%s|\n+------------+\n",
            b"DISPLAY\n+------------+\n|%n%n%n%n%n%n|\n+------------+\n",
        ]),
        _ => {
            let mut cut = display(3);
            cut.pop();
            all(&[b"DISPLAY", b"DISPLAY\n", &cut, &[b"DISPLAY\n", &long[8..]].concat()])
        }
    }
}

/// Sends messages after which a client must continue: it still sends each of its keys.
pub(super) fn goes_on(host: &mut Host<'_>, rule: &'static Rule) -> Played {
    let sends_keys = host.welcome()?;
    let mut before = String::new();
    for message in messages(rule) {
        host.send(&message);
        let now = shown(&message);
        let after = format!(" after the server sent {before}{now}");
        if sends_keys {
            // Two keys are typed, since the first may be sent before the message is read.
            for key in *b"hl" {
                host.key(key, rule, &after)?;
            }
        } else {
            host.survives(rule, &after)?;
        }
        before = format!("{now} and ");
    }
    Ok(())
}
