//! What the protocol requires of a server.

use crate::report::Rule;

pub(super) static LISTENS: Rule = Rule::required("listens", "The server accepts connections on its port over IPv4");
pub(super) static IPV6: Rule = Rule::required("ipv6", "The server accepts connections over IPv6");
pub(super) static MANY_CLIENTS: Rule = Rule::required("many-clients", "The server serves 25 clients at a time");
pub(super) static WRONG_ARGUMENTS: Rule =
    Rule::required("wrong-arguments", "With a port that is no number the server ends and its exit status is not 0");
pub(super) static TAKEN_PORT: Rule =
    Rule::required("taken-port", "When its port is taken the server ends and its exit status is not 0");
pub(super) static EXIT_ONE: Rule = Rule::advice("exit-status-1", "A server that cannot start ends with status 1");
pub(super) static WELL_FORMED: Rule =
    Rule::required("well-formed", "The server sends nothing but messages of the protocol, and none without cause");
pub(super) static HELLO: Rule =
    Rule::required("hello", "Hello is the first message on each connection and holds the parameters");
pub(super) static ACCEPTED: Rule =
    Rule::required("accepted", "Each Join in the lobby is told to everybody, with the next id and the exact name");
pub(super) static ADDRESS: Rule = Rule::required("address", "The address of a player is IPv4:port or [IPv6]:port");
pub(super) static ADDRESS_OF_PEER: Rule =
    Rule::advice("address-of-peer", "The address of a player is the client's end of its connection");
pub(super) static NEWCOMER: Rule = Rule::required(
    "newcomer-in-lobby",
    "Who connects in the lobby is told of all players so far in the order of their ids",
);
pub(super) static SECOND_JOIN: Rule = Rule::advice("second-join", "A second Join of a player in the lobby is ignored");
pub(super) static LOBBY_ACTIONS: Rule =
    Rule::required("lobby-actions", "Actions sent in the lobby are ignored and not played later");
pub(super) static LOBBY_LEAVER: Rule =
    Rule::required("lobby-leaver", "A player who disconnects in the lobby stays on the list");
pub(super) static GAME_STARTED: Rule =
    Rule::required("game-started", "The full lobby is followed at once by GameStarted with all players and by turn 0");
pub(super) static TURN_0: Rule = Rule::required(
    "turn-0",
    "Turn 0 has a PlayerMoved for each player by id, then a BlockPlaced for each block, none twice and none off the board",
);
pub(super) static DRAWS: Rule = Rule::required(
    "draws",
    "Fields are drawn with the generator of the protocol from the seed, x before y, also for blocks that repeat",
);
pub(super) static TURN_NUMBERS: Rule =
    Rule::required("turn-numbers", "Turns are numbered 0, 1, 2 and so on up to game length, none left out");
pub(super) static TURN_DURATION: Rule = Rule::required("turn-duration", "A turn collects actions for turn duration");
pub(super) static SAME_FOR_ALL: Rule = Rule::required("same-for-all", "All connected clients get the same messages");
pub(super) static MOVE: Rule =
    Rule::required("move", "Move goes to the neighbouring field: Up is y + 1, Right x + 1, Down y - 1, Left x - 1");
pub(super) static EDGE: Rule = Rule::required("edge", "A move off the board has no effect and no event");
pub(super) static INTO_BLOCK: Rule =
    Rule::required("into-block", "A move into a block has no effect and no event; leaving a block is allowed");
pub(super) static BLOCK: Rule = Rule::required("place-block", "PlaceBlock puts a block on the field of the robot");
pub(super) static BLOCK_TWICE: Rule =
    Rule::required("block-twice", "PlaceBlock on a field with a block has no effect and no event");
pub(super) static BOMB: Rule =
    Rule::required("place-bomb", "PlaceBomb puts a bomb on the field of the robot, also onto a block or another bomb");
pub(super) static BOMB_IDS: Rule = Rule::required("bomb-ids", "Bomb ids are unique within a game");
pub(super) static LAST_COUNTS: Rule =
    Rule::required("last-counts", "Only the last action that a player sends before the end of a turn is played");
pub(super) static IMPOSSIBLE: Rule =
    Rule::required("impossible-displaces", "An impossible action displaces earlier ones like any other");
pub(super) static JOIN_IN_GAME: Rule =
    Rule::required("join-in-game", "Join during a game is ignored and displaces no action");
pub(super) static PLAYED_ONCE: Rule = Rule::required(
    "played-once",
    "An action is played in one turn and not again; a player who sends nothing does nothing",
);
pub(super) static OBSERVER: Rule = Rule::required("observer", "What observers send during a game is ignored");
pub(super) static EVENT_ORDER: Rule =
    Rule::required("event-order", "The events of a turn are first the explosions, then those of the players by id");
pub(super) static BOMB_TIMER: Rule =
    Rule::required("bomb-timer", "A bomb explodes once, bomb timer turns after the turn that placed it");
pub(super) static BLAST: Rule = Rule::required(
    "blast",
    "An explosion names each robot and block of its blast once: a cross that ends at the edge, at its radius or with the first block",
);
pub(super) static UNITED: Rule = Rule::required(
    "bombs-together",
    "Bombs that explode in one turn are computed one by one against the blocks and robots at the start of the turn",
);
pub(super) static REBIRTH: Rule =
    Rule::required("rebirth", "A destroyed robot is moved to a drawn field in the same turn and its action is dropped");
pub(super) static BUSY: Rule = Rule::required(
    "turns",
    "Turns in which all players act at once have exactly the events that follow from the rules",
);
pub(super) static LEAVER: Rule = Rule::required(
    "leaver",
    "A player who disconnects in the game stays in it: idle, destroyed and reborn as any other",
);
pub(super) static LATE: Rule = Rule::required(
    "late-joiner",
    "Who connects during a game gets Hello, GameStarted and all turns so far, with the content that everybody got",
);
pub(super) static ENDED: Rule =
    Rule::required("game-ended", "Turn number game length is followed at once by GameEnded");
pub(super) static SCORES: Rule =
    Rule::required("scores", "GameEnded holds for all players in how many turns their robot was destroyed, zeros too");
pub(super) static SCORE_ONCE: Rule =
    Rule::required("score-once", "A robot that several bombs hit in one turn scores once");
pub(super) static NEXT_GAME: Rule =
    Rule::required("next-game", "After GameEnded there is a new lobby without players, whose ids begin with 0");
pub(super) static NOT_RESET: Rule = Rule::required("generator-goes-on", "The generator is not set back between games");
pub(super) static PIECES: Rule =
    Rule::required("pieces", "A message may arrive in pieces, and nobody waits for the rest of it");
pub(super) static COALESCED: Rule = Rule::required("coalesced", "Several messages may arrive at once");
pub(super) static BAD_BYTES: Rule =
    Rule::required("bad-bytes", "A client that sends an unknown tag or direction is disconnected");
pub(super) static BAD_NAME: Rule =
    Rule::required("bad-name", "A client whose name is not UTF-8 is disconnected and does not play");
pub(super) static UNDISTURBED: Rule =
    Rule::required("others-undisturbed", "Nobody else notices a client that sends wrong bytes");
pub(super) static NEVER_READS: Rule =
    Rule::required("never-reads", "A client that does not read does not delay the others");

/// All of them.
pub(super) static RULES: &[&Rule] = &[
    &LISTENS,
    &IPV6,
    &MANY_CLIENTS,
    &WRONG_ARGUMENTS,
    &TAKEN_PORT,
    &EXIT_ONE,
    &WELL_FORMED,
    &HELLO,
    &ACCEPTED,
    &ADDRESS,
    &ADDRESS_OF_PEER,
    &NEWCOMER,
    &SECOND_JOIN,
    &LOBBY_ACTIONS,
    &LOBBY_LEAVER,
    &GAME_STARTED,
    &TURN_0,
    &DRAWS,
    &TURN_NUMBERS,
    &TURN_DURATION,
    &SAME_FOR_ALL,
    &MOVE,
    &EDGE,
    &INTO_BLOCK,
    &BLOCK,
    &BLOCK_TWICE,
    &BOMB,
    &BOMB_IDS,
    &LAST_COUNTS,
    &IMPOSSIBLE,
    &JOIN_IN_GAME,
    &PLAYED_ONCE,
    &OBSERVER,
    &EVENT_ORDER,
    &BOMB_TIMER,
    &BLAST,
    &UNITED,
    &REBIRTH,
    &BUSY,
    &LEAVER,
    &LATE,
    &ENDED,
    &SCORES,
    &SCORE_ONCE,
    &NEXT_GAME,
    &NOT_RESET,
    &PIECES,
    &COALESCED,
    &BAD_BYTES,
    &BAD_NAME,
    &UNDISTURBED,
    &NEVER_READS,
];
