//! Dealers that are started with wrong arguments.

use super::{
    Subject,
    rules::{
        EMPTY, EXPLAINS, EXTRA, MISSING, PLAYERS_MANY, PLAYERS_WORD, PLAYERS_ZERO, PORT_RANGE, PORT_WORD, ROUNDS_MANY,
        ROUNDS_NEGATIVE, ROUNDS_WORD, ROUNDS_ZERO, TRAILING, UNKNOWN_OPTION,
    },
};
use crate::{
    judge::Scene,
    ports::free_tcp_port,
    refusal::{Desk, Refusal, refusal},
};

static REFUSALS: [Refusal; 16] = [
    refusal(&MISSING, "without arguments", &[("port", None), ("rounds", None), ("players", None)]),
    refusal(&MISSING, "without the number of rounds", &[("rounds", None)]),
    refusal(&PORT_WORD, "with the port 'port'", &[("port", Some("port"))]),
    refusal(&PORT_RANGE, "with port 65536", &[("port", Some("65536"))]),
    refusal(&ROUNDS_WORD, "with 'many' rounds", &[("rounds", Some("many"))]),
    refusal(&ROUNDS_ZERO, "with 0 rounds", &[("rounds", Some("0"))]),
    refusal(&ROUNDS_NEGATIVE, "with -3 rounds", &[("rounds", Some("-3"))]),
    refusal(&PLAYERS_ZERO, "with 0 seats", &[("players", Some("0"))]),
    refusal(&PLAYERS_WORD, "with 'two' seats", &[("players", Some("two"))]),
    refusal(&PLAYERS_MANY, "with 7 seats", &[("players", Some("7"))]),
    refusal(&ROUNDS_MANY, "with 99999999999999999999 rounds", &[("rounds", Some("99999999999999999999"))]),
    refusal(&TRAILING, "with '12x' rounds", &[("rounds", Some("12x"))]),
    refusal(&TRAILING, "with '1.5' rounds", &[("rounds", Some("1.5"))]),
    refusal(&EMPTY, "with an empty word for the rounds", &[("rounds", Some(""))]),
    Refusal { rule: &EXTRA, how: "with one argument more", values: &[], more: &["5"] },
    Refusal {
        rule: &UNKNOWN_OPTION,
        how: "with the option --no-such-option",
        values: &[],
        more: &["--no-such-option"],
    },
];

pub(super) fn scenes<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = Scene<'s>> {
    let values = || {
        Ok((
            vec![("port", free_tcp_port()?.to_string()), ("rounds", "2".to_owned()), ("players", "1".to_owned())],
            None,
        ))
    };
    Desk { launcher: subject.launcher, options: subject.options, explains: &EXPLAINS, values }.scenes(&REFUSALS)
}
