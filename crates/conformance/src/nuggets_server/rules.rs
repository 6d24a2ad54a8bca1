//! What is required of a server.

use crate::rule::rules;

rules! {
    PORT: Protocol 1 "announces-port" in "nuggets.md#the-server",
        "The first line on standard output that holds a number names the UDP port",
        "";
    RUNS: Protocol 1 "keeps-running" in "protocols/nuggets.md#what-a-server-answers",
        "The server runs and answers until the game is over, whatever it is sent",
        "";
    FORM: Protocol 1 "message-form" in "protocols/nuggets.md#messages",
        "Every datagram is one message: OK, GRID, GOLD, DISPLAY, QUIT or ERROR, as the protocol writes it",
        "";
    SHAPE: Protocol 1 "display-shape" in "protocols/nuggets.md#messages",
        "A DISPLAY holds each row of the grid with all its columns and a newline",
        "";
    WELCOME: Protocol 1 "welcome-player" in "protocols/nuggets.md#what-a-server-answers",
        "A new player is sent OK, GRID, GOLD and DISPLAY in this order",
        "";
    WATCH: Protocol 1 "welcome-spectator" in "protocols/nuggets.md#what-a-server-answers",
        "A new spectator is sent GRID, GOLD and DISPLAY in this order, and no OK",
        "";
    GRID: Protocol 1 "grid-size" in "protocols/nuggets.md#what-a-server-answers",
        "GRID tells the rows and columns of the map",
        "";
    BOARD: Protocol 1 "spectator-sees-all" in "protocols/nuggets.md#what-a-server-answers",
        "The DISPLAY of a spectator shows the whole map with all piles, which lie on room spots, and all players",
        "";
    PILES: Protocol 1 "pile-count" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "A game begins with 10 to 30 piles",
        "";
    LETTERS: Protocol 1 "letters-in-order" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "Players get the letters A to Z in order of joining",
        "";
    PLACE: Protocol 1 "joining-place" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "A new player is put on a room spot on which neither gold nor a player is",
        "";
    NAMELESS: Protocol 1 "name-required" in "protocols/nuggets.md#what-a-server-answers",
        "PLAY with no name, or with one of white space only, is answered by QUIT and uses up no letter",
        "";
    FULL: Protocol 1 "full-game" in "protocols/nuggets.md#what-a-server-answers",
        "26 players can join over the life of a game; everybody after them gets QUIT",
        "";
    ONCE: Protocol 1 "no-second-seat" in "protocols/nuggets.md#what-a-server-answers",
        "PLAY from the address of a player makes no second player",
        "";
    ALL: Protocol 1 "display-to-all" in "protocols/nuggets.md#what-a-server-answers",
        "When somebody joins, moves or leaves, every client is sent a new DISPLAY",
        "";
    STEP: Protocol 1 "step" in "nuggets.md#keys",
        "h j k l y u b n move the player one spot, onto any room or passage spot",
        "";
    RUN: Protocol 1 "run" in "nuggets.md#keys",
        "H J K L Y U B N repeat the step until it is not possible any more; gold and players do not stop it",
        "";
    BLOCKED: Protocol 1 "blocked-step" in "nuggets.md#keys",
        "A step into a wall, rock or the edge moves nobody",
        "";
    SWAP: Protocol 1 "swap" in "nuggets.md#keys",
        "Whoever steps onto a player changes places with it",
        "";
    TAKEN: Protocol 1 "gold-taken" in "nuggets.md#keys",
        "A pile is gone when a player was on it, and no other pile changes",
        "";
    OWN: Protocol 1 "own-place" in "protocols/nuggets.md#sight",
        "The DISPLAY of a player has '@' at its own place and only there",
        "";
    SIGHT: Protocol 1 "sight" in "protocols/nuggets.md#sight",
        "A player is shown what it sees from its place, with the gold and players there, and nothing it never saw",
        "";
    MEMORY: Protocol 1 "memory" in "protocols/nuggets.md#sight",
        "A player is still shown the map where it saw it before, also from spots it ran or was pushed over",
        "";
    STALE: Protocol 1 "memory-is-bare" in "protocols/nuggets.md#sight",
        "Where a player does not see now it is shown neither gold nor players",
        "";
    COLLECT: Protocol 1 "gold-collected" in "protocols/nuggets.md#what-a-server-answers",
        "Whoever collects gold is sent GOLD with what it collected and its new purse",
        "";
    OTHERS: Protocol 1 "gold-others" in "protocols/nuggets.md#what-a-server-answers",
        "When gold is collected, all others are sent GOLD with 0 collected, their own purse and what is left",
        "";
    TOTAL: Protocol 1 "gold-total" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "All purses and the gold that is left always make 250, with at least 1 in each pile",
        "";
    LEAVE: Protocol 1 "quit-reply" in "protocols/nuggets.md#what-a-server-answers",
        "KEY Q is answered by QUIT",
        "";
    LEFT: Protocol 1 "quitter-leaves" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "Who quits leaves the map",
        "";
    SILENT: Protocol 1 "nothing-after-quit" in "protocols/nuggets.md#what-a-server-answers",
        "Nothing of the game is sent to who got QUIT",
        "";
    RETURN: Course 1 "no-return" in "protocols/nuggets.md#what-a-server-answers",
        "Who has quit is not let in again from the same address",
        "Keep those who have quit: their letters, purses and addresses.";
    EARLY: Protocol 1 "no-early-quit" in "protocols/nuggets.md#what-a-server-answers",
        "Nobody is sent QUIT who did not quit, was not replaced and plays in a game that is not over",
        "";
    STRANGER: Protocol 1 "strangers-ignored" in "protocols/nuggets.md#what-a-server-answers",
        "Keys from an address that does not play, or not any more, do nothing",
        "";
    MALFORMED: Protocol 1 "malformed-ignored" in "protocols/nuggets.md#what-a-server-answers",
        "What is no message of a client, and a key that means nothing, changes nothing",
        "";
    WATCHER: Protocol 1 "spectator-keys" in "protocols/nuggets.md#what-a-server-answers",
        "The keys of a spectator, other than Q, do nothing",
        "";
    REPLACED: Protocol 1 "spectator-replaced" in "protocols/nuggets.md#what-a-server-answers",
        "A new spectator takes the place of the one before, which gets QUIT",
        "";
    LOST: Protocol 1 "lost-client" in "protocols/nuggets.md#what-a-server-answers",
        "A client whose port is closed does not hurt the others",
        "";
    OVER: Protocol 1 "game-over" in "protocols/nuggets.md#what-a-server-answers",
        "With the last nugget everybody is sent QUIT GAME OVER:",
        "";
    TABLE: Protocol 1 "final-table" in "protocols/nuggets.md#what-a-server-answers",
        "The game over message has a row for each who joined: letter, space, purse in 10 columns, space, name",
        "";
    NAMES: Protocol 1 "names" in "protocols/nuggets.md#what-a-server-answers",
        "A name is cut to 50 bytes, and each byte that is neither graphic ASCII nor a blank becomes '_'",
        "";
    SUMMARY: Protocol 1 "summary" in "nuggets.md#the-server",
        "The table of the game is printed on standard output",
        "";
    EXIT: Protocol 1 "exit-status" in "nuggets.md#the-server",
        "After the game the server ends with exit status 0",
        "";
    SEED: Protocol 1 "same-seed" in "nuggets.md#the-server",
        "Same map, same seed and same messages give the same game",
        "";
    ARGUMENTS: Protocol 1 "bad-arguments" in "nuggets.md#the-server",
        "A map that cannot be read, or a seed that is no positive number, ends the server with a status other than 0",
        "";
    TEXTS: Arcade 0 "quit-texts" in "protocols/nuggets.md#what-a-server-answers",
        "QUIT says why in the words of the protocol",
        "";
    ORDER: Arcade 0 "gold-before-display" in "protocols/nuggets.md#what-a-server-answers",
        "After a key, GOLD is sent before DISPLAY",
        "";
    UNKNOWN: Arcade 0 "unknown-key" in "protocols/nuggets.md#what-a-server-answers",
        "A key that means nothing is answered by ERROR",
        "";
    LAST: Protocol 1 "last-gold" in "protocols/nuggets.md#what-a-server-answers",
        "When the game is over, everybody is sent GOLD with nothing left before QUIT",
        "Send GOLD as after any other pile, and look only then whether the game is over.";
    SHOW: Arcade 0 "last-display" in "protocols/nuggets.md#what-a-server-answers",
        "When the game is over, DISPLAY is sent before QUIT, too",
        "";
}
