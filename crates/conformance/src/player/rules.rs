//! What a player must do.

use crate::report::Rule;

pub(super) static JOINS: Rule =
    Rule::required("joins", "The player connects and sends JOIN with its name, ended by one NUL, before anything else");
pub(super) static ANSWERS: Rule =
    Rule::required("answers", "Each DECISION is answered by exactly HIT or STAND, ended by one NUL");
pub(super) static QUIET: Rule =
    Rule::required("quiet", "The player sends nothing that it is not asked for: one answer for each DECISION");
pub(super) static NAMES: Rule = Rule::required("names", "The player understands the names of all 52 cards");
pub(super) static PIECES: Rule = Rule::required("pieces", "Messages count the same when they arrive byte by byte");
pub(super) static MERGED: Rule = Rule::required(
    "merged",
    "Messages count the same when several arrive together, RESULT and the next round among them",
);
pub(super) static LOSE: Rule = Rule::required("lose", "LOSE is understood as another spelling of LOOSE");
pub(super) static BEGIN_AGAIN: Rule =
    Rule::required("begin-again", "BEGIN in the middle of a round drops the hand and begins another");
pub(super) static QUITS: Rule =
    Rule::required("quits", "After QUIT, which may come at any time, the player closes the connection and ends");
pub(super) static EXIT_STATUS: Rule = Rule::required("exit-status", "After QUIT the player ends with status 0");
pub(super) static SURVIVES: Rule =
    Rule::advice("survives", "The player goes on after a card that comes twice and after RESULT without a DECISION");
pub(super) static BAD_MESSAGE: Rule =
    Rule::advice("bad-message", "The player ends the connection after a message that is none of the protocol");
pub(super) static DEALER_GONE: Rule =
    Rule::advice("dealer-gone", "When the connection ends without QUIT, the player ends with another status than 0");

pub(super) static RULES: &[&Rule] = &[
    &JOINS,
    &ANSWERS,
    &QUIET,
    &NAMES,
    &PIECES,
    &MERGED,
    &LOSE,
    &BEGIN_AGAIN,
    &QUITS,
    &EXIT_STATUS,
    &SURVIVES,
    &BAD_MESSAGE,
    &DEALER_GONE,
];
