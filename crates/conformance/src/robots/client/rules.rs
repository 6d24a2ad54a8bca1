//! What the protocol requires of a client.

use crate::report::Rule;

pub(super) static CONNECTS: Rule =
    Rule::required("connects", "The client connects to the server when it starts, before any input");
pub(super) static SILENT: Rule =
    Rule::required("silent-before-input", "Nothing is sent to the server before the GUI sends an input");
pub(super) static JOIN: Rule =
    Rule::required("join", "An input in the lobby is answered by a Join with the exact name and by nothing else");
pub(super) static FORWARDED: Rule = Rule::required(
    "forwarded",
    "An input in the game is passed on to the server with the tag of the server's protocol, once and in order",
);
pub(super) static BAD_INPUT: Rule = Rule::required(
    "bad-input",
    "A datagram that is empty, has an unknown tag or direction, is cut off or has bytes left over is ignored",
);
pub(super) static ANY_ADDRESS: Rule = Rule::required("any-address", "Inputs are taken from any address and port");
pub(super) static GUI_IPV6: Rule = Rule::required("gui-ipv6", "Inputs are taken over IPv6 too");
pub(super) static PICTURE_FORMAT: Rule =
    Rule::required("picture-format", "Each datagram to the GUI is one well-formed message");
pub(super) static LOBBY: Rule = Rule::required(
    "lobby-picture",
    "After Hello and after each AcceptedPlayer the GUI is sent a Lobby with the parameters and all players so far",
);
pub(super) static GAME: Rule = Rule::required(
    "game-picture",
    "After each Turn, 0 included, the GUI is sent a Game with its number, players and board",
);
pub(super) static NO_PICTURE: Rule =
    Rule::required("no-picture", "GameStarted leads to no picture, and no picture comes twice");
pub(super) static ENDED: Rule =
    Rule::required("game-ended", "After GameEnded the GUI is sent a Lobby without players, and inputs join again");
pub(super) static POSITIONS: Rule = Rule::required("positions", "A Game has the position of each robot");
pub(super) static BLOCKS: Rule =
    Rule::required("blocks", "A Game has each block once, those that an explosion lists are gone");
pub(super) static BOMBS: Rule = Rule::required(
    "bombs",
    "A Game has each bomb with its timer, which begins with bomb timer and is one less each turn",
);
pub(super) static EXPLOSIONS: Rule = Rule::required(
    "explosions",
    "A Game has each field once that this turn's explosions cover, computed from the blocks at the start of the turn",
);
pub(super) static SCORES: Rule = Rule::required(
    "scores",
    "A Game has a score of each player from turn 0 on, in how many turns the robot was destroyed",
);
pub(super) static SCORE_ONCE: Rule =
    Rule::required("score-once", "A robot that several explosions of one turn list scores once");
pub(super) static PIECES: Rule = Rule::required("pieces", "Messages from the server may arrive byte by byte");
pub(super) static LATE: Rule = Rule::required(
    "late-joiner",
    "Many messages that arrive at once lead to one picture for each, as for who connects during a game",
);
pub(super) static MAP_ORDER: Rule =
    Rule::required("map-order", "The entries of a map from the server may have any order");
pub(super) static SECOND_GAME: Rule =
    Rule::required("second-game", "The next game begins without anything of the last one");
pub(super) static MALFORMED: Rule = Rule::required(
    "malformed",
    "Bytes from the server that are no message end the client, with an exit status that is not 0",
);
pub(super) static CLOSED: Rule =
    Rule::required("connection-lost", "A closed connection ends the client, with an exit status that is not 0");
pub(super) static UNREACHABLE: Rule =
    Rule::required("unreachable", "A server that is not there ends the client, with an exit status that is not 0");
pub(super) static TAKEN_PORT: Rule =
    Rule::required("taken-port", "A port that is taken ends the client, with an exit status that is not 0");
pub(super) static WRONG_ARGUMENTS: Rule =
    Rule::required("wrong-arguments", "With a port that is no number the client ends and its exit status is not 0");
pub(super) static EXIT_ONE: Rule =
    Rule::advice("exit-status-1", "A client that cannot start or go on ends with status 1");

/// All of them.
pub(super) static RULES: &[&Rule] = &[
    &CONNECTS,
    &SILENT,
    &JOIN,
    &FORWARDED,
    &BAD_INPUT,
    &ANY_ADDRESS,
    &GUI_IPV6,
    &PICTURE_FORMAT,
    &LOBBY,
    &GAME,
    &NO_PICTURE,
    &ENDED,
    &POSITIONS,
    &BLOCKS,
    &BOMBS,
    &EXPLOSIONS,
    &SCORES,
    &SCORE_ONCE,
    &PIECES,
    &LATE,
    &MAP_ORDER,
    &SECOND_GAME,
    &MALFORMED,
    &CLOSED,
    &UNREACHABLE,
    &TAKEN_PORT,
    &WRONG_ARGUMENTS,
    &EXIT_ONE,
];
