//! What is required of a server.

use crate::report::Rule;

pub(super) static PORT: Rule =
    Rule::required("announces-port", "The first line on standard output that holds a number names the UDP port");
pub(super) static RUNS: Rule =
    Rule::required("keeps-running", "The server runs and answers until the game is over, whatever it is sent");
pub(super) static FORM: Rule = Rule::required(
    "message-form",
    "Every datagram is one message: OK, GRID, GOLD, DISPLAY, QUIT or ERROR, as the protocol writes it",
);
pub(super) static SHAPE: Rule =
    Rule::required("display-shape", "A DISPLAY holds each row of the grid with all its columns and a newline");
pub(super) static WELCOME: Rule =
    Rule::required("welcome-player", "A new player is sent OK, GRID, GOLD and DISPLAY in this order");
pub(super) static WATCH: Rule =
    Rule::required("welcome-spectator", "A new spectator is sent GRID, GOLD and DISPLAY in this order, and no OK");
pub(super) static GRID: Rule = Rule::required("grid-size", "GRID tells the rows and columns of the map");
pub(super) static BOARD: Rule = Rule::required(
    "spectator-sees-all",
    "The DISPLAY of a spectator shows the whole map with all piles, which lie on room spots, and all players",
);
pub(super) static PILES: Rule = Rule::required("pile-count", "A game begins with 10 to 30 piles");
pub(super) static LETTERS: Rule =
    Rule::required("letters-in-order", "Players get the letters A to Z in order of joining");
pub(super) static PLACE: Rule =
    Rule::required("joining-place", "A new player is put on a room spot on which neither gold nor a player is");
pub(super) static NAMELESS: Rule = Rule::required(
    "name-required",
    "PLAY with no name, or with one of white space only, is answered by QUIT and uses up no letter",
);
pub(super) static FULL: Rule =
    Rule::required("full-game", "26 players can join over the life of a game; everybody after them gets QUIT");
pub(super) static ONCE: Rule =
    Rule::required("no-second-seat", "PLAY from the address of a player makes no second player");
pub(super) static ALL: Rule =
    Rule::required("display-to-all", "When somebody joins, moves or leaves, every client is sent a new DISPLAY");
pub(super) static STEP: Rule =
    Rule::required("step", "h j k l y u b n move the player one spot, onto any room or passage spot");
pub(super) static RUN: Rule = Rule::required(
    "run",
    "H J K L Y U B N repeat the step until it is not possible any more; gold and players do not stop it",
);
pub(super) static BLOCKED: Rule = Rule::required("blocked-step", "A step into a wall, rock or the edge moves nobody");
pub(super) static SWAP: Rule = Rule::required("swap", "Whoever steps onto a player changes places with it");
pub(super) static TAKEN: Rule =
    Rule::required("gold-taken", "A pile is gone when a player was on it, and no other pile changes");
pub(super) static OWN: Rule =
    Rule::required("own-place", "The DISPLAY of a player has '@' at its own place and only there");
pub(super) static SIGHT: Rule = Rule::required(
    "sight",
    "A player is shown what it sees from its place, with the gold and players there, and nothing it never saw",
);
pub(super) static MEMORY: Rule = Rule::required(
    "memory",
    "A player is still shown the map where it saw it before, also from spots it ran or was pushed over",
);
pub(super) static STALE: Rule =
    Rule::required("memory-is-bare", "Where a player does not see now it is shown neither gold nor players");
pub(super) static COLLECT: Rule =
    Rule::required("gold-collected", "Whoever collects gold is sent GOLD with what it collected and its new purse");
pub(super) static OTHERS: Rule = Rule::required(
    "gold-others",
    "When gold is collected, all others are sent GOLD with 0 collected, their own purse and what is left",
);
pub(super) static TOTAL: Rule =
    Rule::required("gold-total", "All purses and the gold that is left always make 250, with at least 1 in each pile");
pub(super) static LEAVE: Rule = Rule::required("quit-reply", "KEY Q is answered by QUIT");
pub(super) static LEFT: Rule = Rule::required("quitter-leaves", "Who quits leaves the map");
pub(super) static SILENT: Rule = Rule::required("nothing-after-quit", "Nothing of the game is sent to who got QUIT");
pub(super) static EARLY: Rule = Rule::required(
    "no-early-quit",
    "Nobody is sent QUIT who did not quit, was not replaced and plays in a game that is not over",
);
pub(super) static STRANGER: Rule =
    Rule::required("strangers-ignored", "Keys from an address that does not play, or not any more, do nothing");
pub(super) static MALFORMED: Rule = Rule::required(
    "malformed-ignored",
    "What is no message of a client, and a key that means nothing, changes nothing",
);
pub(super) static WATCHER: Rule = Rule::required("spectator-keys", "The keys of a spectator, other than Q, do nothing");
pub(super) static REPLACED: Rule =
    Rule::required("spectator-replaced", "A new spectator takes the place of the one before, which gets QUIT");
pub(super) static LOST: Rule = Rule::required("lost-client", "A client whose port is closed does not hurt the others");
pub(super) static OVER: Rule = Rule::required("game-over", "With the last nugget everybody is sent QUIT GAME OVER:");
pub(super) static TABLE: Rule = Rule::required(
    "final-table",
    "The game over message has a row for each who joined: letter, space, purse in 10 columns, space, name",
);
pub(super) static NAMES: Rule = Rule::required(
    "names",
    "A name is cut to 50 bytes, and each byte that is neither graphic ASCII nor a blank becomes '_'",
);
pub(super) static SUMMARY: Rule = Rule::required("summary", "The table of the game is printed on standard output");
pub(super) static EXIT: Rule = Rule::required("exit-status", "After the game the server ends with exit status 0");
pub(super) static SEED: Rule = Rule::required("same-seed", "Same map, same seed and same messages give the same game");
pub(super) static ARGUMENTS: Rule = Rule::required(
    "bad-arguments",
    "A map that cannot be read, or a seed that is no positive number, ends the server with a status other than 0",
);
pub(super) static TEXTS: Rule = Rule::advice("quit-texts", "QUIT says why in the words of the protocol");
pub(super) static ORDER: Rule = Rule::advice("gold-before-display", "After a key, GOLD is sent before DISPLAY");
pub(super) static UNKNOWN: Rule = Rule::advice("unknown-key", "A key that means nothing is answered by ERROR");
pub(super) static LAST: Rule =
    Rule::advice("last-gold", "When the game is over, GOLD with nothing left and DISPLAY are sent before QUIT");

pub(super) static RULES: &[&Rule] = &[
    &PORT, &RUNS, &FORM, &SHAPE, &WELCOME, &WATCH, &GRID, &BOARD, &PILES, &LETTERS, &PLACE, &NAMELESS, &FULL, &ONCE,
    &ALL, &STEP, &RUN, &BLOCKED, &SWAP, &TAKEN, &OWN, &SIGHT, &MEMORY, &STALE, &COLLECT, &OTHERS, &TOTAL, &LEAVE,
    &LEFT, &SILENT, &EARLY, &STRANGER, &MALFORMED, &WATCHER, &REPLACED, &LOST, &OVER, &TABLE, &NAMES, &SUMMARY, &EXIT,
    &SEED, &ARGUMENTS, &TEXTS, &ORDER, &UNKNOWN, &LAST,
];
