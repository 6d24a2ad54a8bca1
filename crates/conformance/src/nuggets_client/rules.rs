//! What is required of a client.

use crate::report::Rule;

pub(super) static FIRST: Rule = Rule::required(
    "first-message",
    "The first message is PLAY, one space and the name that was given; without a name it is SPECTATE",
);
pub(super) static FORM: Rule =
    Rule::required("message-form", "Every message is exactly PLAY and a name, SPECTATE, or KEY and one character");
pub(super) static ADDRESS: Rule = Rule::required("one-address", "All messages come from one UDP port");
pub(super) static ONCE: Rule =
    Rule::required("joins-once", "Once the server has let the client in, it does not send PLAY or SPECTATE again");
pub(super) static KEYS: Rule =
    Rule::required("keys-as-typed", "Each key that is typed is sent as one KEY, in order, and nothing else is");
pub(super) static DISPLAYS: Rule =
    Rule::required("any-display", "DISPLAYs that come twice, late or long after each other do no harm");
pub(super) static ERRORS: Rule = Rule::required("goes-on-after-error", "The client goes on after ERROR");
pub(super) static MALFORMED: Rule =
    Rule::required("malformed-ignored", "The client goes on after what is no message of a server, or is damaged");
pub(super) static QUIT: Rule = Rule::required("quit-ends", "QUIT ends the client with exit status 0");
pub(super) static TEXT: Rule = Rule::required("quit-text", "The text of QUIT is printed on standard output");
pub(super) static INPUT: Rule = Rule::required("end-of-input", "At the end of standard input the client sends KEY Q");
pub(super) static ARGUMENTS: Rule =
    Rule::required("bad-port", "A port that is no number from 1 to 65535 ends the client with a status other than 0");
pub(super) static STRANGERS: Rule =
    Rule::advice("strangers-ignored", "Messages from any other address than the server's are ignored");
pub(super) static AGAIN: Rule =
    Rule::advice("asks-again", "While the server does not answer, the first message is sent again");

pub(super) static RULES: &[&Rule] = &[
    &FIRST, &FORM, &ADDRESS, &ONCE, &KEYS, &DISPLAYS, &ERRORS, &MALFORMED, &QUIT, &TEXT, &INPUT, &ARGUMENTS,
    &STRANGERS, &AGAIN,
];
