//! What is required of a server.

use crate::report::rules;

rules! {
    PORT: required "announces-port" "The first line on standard output that holds a number names the UDP port";
    RUNS: required "keeps-running" "The server runs and answers until the game is over, whatever it is sent";
    FORM: required "message-form"
        "Every datagram is one message: OK, GRID, GOLD, DISPLAY, QUIT or ERROR, as the protocol writes it";
    SHAPE: required "display-shape" "A DISPLAY holds each row of the grid with all its columns and a newline";
    WELCOME: required "welcome-player" "A new player is sent OK, GRID, GOLD and DISPLAY in this order";
    WATCH: required "welcome-spectator" "A new spectator is sent GRID, GOLD and DISPLAY in this order, and no OK";
    GRID: required "grid-size" "GRID tells the rows and columns of the map";
    BOARD: required "spectator-sees-all"
        "The DISPLAY of a spectator shows the whole map with all piles, which lie on room spots, and all players";
    PILES: required "pile-count" "A game begins with 10 to 30 piles";
    LETTERS: required "letters-in-order" "Players get the letters A to Z in order of joining";
    PLACE: required "joining-place" "A new player is put on a room spot on which neither gold nor a player is";
    NAMELESS: required "name-required"
        "PLAY with no name, or with one of white space only, is answered by QUIT and uses up no letter";
    FULL: required "full-game" "26 players can join over the life of a game; everybody after them gets QUIT";
    ONCE: required "no-second-seat" "PLAY from the address of a player makes no second player";
    ALL: required "display-to-all" "When somebody joins, moves or leaves, every client is sent a new DISPLAY";
    STEP: required "step" "h j k l y u b n move the player one spot, onto any room or passage spot";
    RUN: required "run"
        "H J K L Y U B N repeat the step until it is not possible any more; gold and players do not stop it";
    BLOCKED: required "blocked-step" "A step into a wall, rock or the edge moves nobody";
    SWAP: required "swap" "Whoever steps onto a player changes places with it";
    TAKEN: required "gold-taken" "A pile is gone when a player was on it, and no other pile changes";
    OWN: required "own-place" "The DISPLAY of a player has '@' at its own place and only there";
    SIGHT: required "sight"
        "A player is shown what it sees from its place, with the gold and players there, and nothing it never saw";
    MEMORY: required "memory"
        "A player is still shown the map where it saw it before, also from spots it ran or was pushed over";
    STALE: required "memory-is-bare" "Where a player does not see now it is shown neither gold nor players";
    COLLECT: required "gold-collected" "Whoever collects gold is sent GOLD with what it collected and its new purse";
    OTHERS: required "gold-others"
        "When gold is collected, all others are sent GOLD with 0 collected, their own purse and what is left";
    TOTAL: required "gold-total" "All purses and the gold that is left always make 250, with at least 1 in each pile";
    LEAVE: required "quit-reply" "KEY Q is answered by QUIT";
    LEFT: required "quitter-leaves" "Who quits leaves the map";
    SILENT: required "nothing-after-quit" "Nothing of the game is sent to who got QUIT";
    EARLY: required "no-early-quit"
        "Nobody is sent QUIT who did not quit, was not replaced and plays in a game that is not over";
    STRANGER: required "strangers-ignored" "Keys from an address that does not play, or not any more, do nothing";
    MALFORMED: required "malformed-ignored"
        "What is no message of a client, and a key that means nothing, changes nothing";
    WATCHER: required "spectator-keys" "The keys of a spectator, other than Q, do nothing";
    REPLACED: required "spectator-replaced" "A new spectator takes the place of the one before, which gets QUIT";
    LOST: required "lost-client" "A client whose port is closed does not hurt the others";
    OVER: required "game-over" "With the last nugget everybody is sent QUIT GAME OVER:";
    TABLE: required "final-table"
        "The game over message has a row for each who joined: letter, space, purse in 10 columns, space, name";
    NAMES: required "names"
        "A name is cut to 50 bytes, and each byte that is neither graphic ASCII nor a blank becomes '_'";
    SUMMARY: required "summary" "The table of the game is printed on standard output";
    EXIT: required "exit-status" "After the game the server ends with exit status 0";
    SEED: required "same-seed" "Same map, same seed and same messages give the same game";
    ARGUMENTS: required "bad-arguments"
        "A map that cannot be read, or a seed that is no positive number, ends the server with a status other than 0";
    TEXTS: advice "quit-texts" "QUIT says why in the words of the protocol";
    ORDER: advice "gold-before-display" "After a key, GOLD is sent before DISPLAY";
    UNKNOWN: advice "unknown-key" "A key that means nothing is answered by ERROR";
    LAST: advice "last-gold" "When the game is over, GOLD with nothing left and DISPLAY are sent before QUIT";
}
