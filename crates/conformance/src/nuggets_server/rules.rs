//! The requirements for a server.

use crate::rule::rules;

rules! {
    PORT: Protocol(2, "Requirements: Server, announce the port") "announces-port" in "nuggets.md#the-server",
        "The first line on standard output that holds a number names the UDP port",
        "Print the port that the system has chosen (getsockname after bind). Through a pipe, flush standard output after it.";
    RUNS: Protocol(4, "Requirements: Server, wait for messages until the gold is collected") "keeps-running" in "protocols/nuggets.md#what-a-server-answers",
        "The server runs and answers until the game is over, whatever it is sent",
        "Whatever comes from the network is checked before it is used: length, first word, and who sent it.";
    FORM: Protocol(2, "Requirements: Network protocol") "message-form" in "protocols/nuggets.md#messages",
        "Every datagram is one message: OK, GRID, GOLD, DISPLAY, QUIT or ERROR, as the protocol writes it",
        "Send strlen bytes: the length of the datagram ends a message, and neither a zero byte nor a newline belongs to it.";
    SHAPE: Protocol(2, "Requirements: Network protocol, DISPLAY") "display-shape" in "protocols/nuggets.md#messages",
        "A DISPLAY holds each row of the grid with all its columns and a newline",
        "Each row ends with a newline, the last one too; rows are as long as the grid is wide, with all blanks at their end.";
    WELCOME: Protocol(4, "Requirements: Network protocol, PLAY") "welcome-player" in "protocols/nuggets.md#what-a-server-answers",
        "A new player is sent OK, GRID, GOLD and DISPLAY in this order",
        "Send OK, GRID and GOLD to the new player before the DISPLAYs that go to everybody.";
    WATCH: Protocol(2, "Requirements: Network protocol, SPECTATE") "welcome-spectator" in "protocols/nuggets.md#what-a-server-answers",
        "A new spectator is sent GRID, GOLD and DISPLAY in this order, and no OK",
        "OK is for players alone. A spectator has no letter.";
    GRID: Protocol(2, "Requirements: Network protocol, GRID") "grid-size" in "protocols/nuggets.md#what-a-server-answers",
        "GRID tells the rows and columns of the map",
        "First rows, then columns, of the map and not of the window.";
    BOARD: Protocol(3, "Requirements: Network protocol, DISPLAY") "spectator-sees-all" in "protocols/nuggets.md#what-a-server-answers",
        "The DISPLAY of a spectator shows the whole map with all piles and all players",
        "A spectator is drawn from the map and not from what some player has seen.";
    PILES: Protocol(1, "Requirements: Constants") "pile-count" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "A game begins with 10 to 30 piles",
        "Draw the number of piles from 10 to 30, both included, and give each pile at least one nugget.";
    LETTERS: Advice "letters-in-order" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "The letters A to Z are given in order of joining",
        "Count up from A with each player that joins.";
    PLACE: Protocol(2, "Requirements: introduction, a new player") "joining-place" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "A new player is put on a room spot on which neither gold nor a player is",
        "Draw again until the spot is '.' and neither gold nor a player is there.";
    NAMELESS: Protocol(1, "Requirements: Network protocol, PLAY") "name-required" in "protocols/nuggets.md#what-a-server-answers",
        "PLAY with no name, or with one of white space only, is answered by QUIT and uses up no letter",
        "Look at the name before you make a player of it.";
    ANY_NAME: Protocol(2, "Requirements: Network protocol, PLAY") "any-name" in "protocols/nuggets.md#what-a-server-answers",
        "PLAY with any other name is accepted, also one without letters",
        "A name is free text: refuse only those without a character that is no white space.";
    FULL: Protocol(2, "Requirements: Network protocol, PLAY") "full-game" in "protocols/nuggets.md#what-a-server-answers",
        "26 players can join over the life of a game; everybody after them gets QUIT",
        "Count who has joined since the start of the game, and not who is still there.";
    ONCE: Advice "no-second-seat" in "protocols/nuggets.md#what-a-server-answers",
        "PLAY from the address of a player makes no second player",
        "Compare address and port with those of the players before you add one.";
    ALL: Protocol(3, "Requirements: Server, update all clients") "display-to-all" in "protocols/nuggets.md#what-a-server-answers",
        "When somebody joins, moves or leaves, every client is sent a new DISPLAY",
        "Send a DISPLAY to everybody after each message that changes anything, to those who do not see the change too.";
    STEP: Protocol(4, "Requirements: Client interface, player keystrokes") "step" in "nuggets.md#keys",
        "h j k l move the player one spot, onto any room or passage spot",
        "h is left, j down, k up and l right.";
    RUN: Protocol(3, "Requirements: Client interface, player keystrokes") "run" in "nuggets.md#keys",
        "H J K L repeat the step until it is not possible any more",
        "A run is the same step again and again, until a step is not possible.";
    BLOCKED: Protocol(2, "Requirements: Client interface, player keystrokes") "blocked-step" in "nuggets.md#keys",
        "A step into a wall, rock or the edge moves nobody",
        "Only '.' and '#' can be stepped onto. Check the edge of the map before you read the spot behind it.";
    SWAP: Protocol(2, "Requirements: introduction, players switch places") "swap" in "nuggets.md#keys",
        "Whoever steps onto a player changes places with it",
        "Both players change their places, and both see and remember from their new ones.";
    TAKEN: Protocol(3, "Requirements: introduction, collects") "gold-taken" in "nuggets.md#keys",
        "A pile is gone when a player was on it, and no other pile changes",
        "Take the pile off the map when its gold is added to the purse, also in the middle of a run.";
    OWN: Protocol(3, "Requirements: Network protocol, DISPLAY") "own-place" in "protocols/nuggets.md#sight",
        "The DISPLAY of a player has '@' at its own place and only there",
        "Draw '@' last, and the player's own letter nowhere.";
    SIGHT: Protocol(3, "Requirements: Visibility") "sight" in "protocols/nuggets.md#sight",
        "A player is shown what it sees from its place, with the gold and players there, and nothing it never saw",
        "Use integers: with floating point a line that passes exactly through a gridpoint is missed. Check rows and columns, both ends excluded.";
    MEMORY: Protocol(3, "Requirements: Visibility") "memory" in "protocols/nuggets.md#sight",
        "A player is still shown the map where it saw it before, also from spots that it ran over",
        "Update what a player has seen after every single step.";
    STALE: Protocol(2, "Requirements: Visibility") "memory-is-bare" in "protocols/nuggets.md#sight",
        "Where a player does not see now it is shown neither gold nor players",
        "Remember the bare map, and draw gold and players over it only where the player sees now.";
    COLLECT: Protocol(4, "Requirements: Network protocol, GOLD") "gold-collected" in "protocols/nuggets.md#what-a-server-answers",
        "Whoever collects gold is sent GOLD with what it collected and its new purse",
        "GOLD has three numbers: just collected, all in the purse, left in the game.";
    OTHERS: Protocol(2, "Requirements: Network protocol, GOLD") "gold-others" in "protocols/nuggets.md#what-a-server-answers",
        "When gold is collected, all others are sent GOLD with 0 collected, their own purse and what is left",
        "Send GOLD to all, each with its own purse, and with 0 to those who collected nothing.";
    TOTAL: Protocol(2, "Requirements: Constants") "gold-total" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "All purses and the gold that is left always make 250, with at least 1 in each pile",
        "The last pile gets what is left, so that the sum is exactly 250.";
    LEAVE: Protocol(3, "Requirements: Network protocol, QUIT") "quit-reply" in "protocols/nuggets.md#what-a-server-answers",
        "KEY Q is answered by QUIT",
        "Q is a key like any other: KEY Q.";
    LEFT: Protocol(2, "Requirements: Server, a player quits") "quitter-leaves" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "Who quits leaves the map",
        "Take the letter off the map and send everybody a DISPLAY; purse and name stay for the table.";
    SILENT: Advice "nothing-after-quit" in "protocols/nuggets.md#what-a-server-answers",
        "Nothing of the game is sent to who got QUIT",
        "Skip those who have quit wherever you send to all.";
    RETURN: Protocol(1, "Requirements: Server, accept players") "no-return" in "protocols/nuggets.md#what-a-server-answers",
        "Who has quit is not let in again from the same address",
        "Keep those who have quit: their letters, purses and addresses.";
    EARLY: Protocol(2, "Requirements: Network protocol, QUIT") "no-early-quit" in "protocols/nuggets.md#what-a-server-answers",
        "Nobody is sent QUIT who did not quit, was not replaced and plays in a game that is not over",
        "QUIT ends a client. Send it only to who asked for it, was replaced or refused, or at the end of the game.";
    STRANGER: Protocol(1, "Requirements: Malformed messages") "strangers-ignored" in "protocols/nuggets.md#what-a-server-answers",
        "Keys from an address that does not play, or not any more, do nothing",
        "Look the sender up first; without a player at that address there is nothing to move.";
    MALFORMED: Protocol(2, "Requirements: Malformed messages") "malformed-ignored" in "protocols/nuggets.md#what-a-server-answers",
        "What is no message of a client, and a key that means nothing, changes nothing",
        "Compare whole words: KEY has one space and one character behind it, and nothing else.";
    WATCHER: Protocol(1, "Requirements: Network protocol, SPECTATE") "spectator-keys" in "protocols/nuggets.md#what-a-server-answers",
        "The keys of a spectator, other than Q, do nothing",
        "A spectator has no place in the grid. Look at its address before you look for its player.";
    REPLACED: Protocol(2, "Requirements: Server, accept one spectator") "spectator-replaced" in "protocols/nuggets.md#what-a-server-answers",
        "A new spectator takes the place of the one before, which gets QUIT",
        "Send QUIT to the old spectator before you forget its address.";
    LOST: Protocol(1, "Requirements: Server, handle errors") "lost-client" in "protocols/nuggets.md#what-a-server-answers",
        "A client whose port is closed does not hurt the others",
        "A send that fails, or a refused connection that the next receive reports, concerns one client and not the server.";
    OVER: Protocol(5, "Requirements: Server, no gold is left") "game-over" in "protocols/nuggets.md#what-a-server-answers",
        "With the last nugget everybody is sent QUIT GAME OVER:",
        "Look whether gold is left after each pile that was taken, in the middle of a run too.";
    TABLE: Protocol(3, "Requirements: Server, game-over summary") "final-table" in "protocols/nuggets.md#what-a-server-answers",
        "The game over message has a row for each player who joined: letter, purse and name",
        "Keep all who have joined, those who left too, and write their letters, purses and names.";
    TABLE_FORM: Advice "table-form" in "protocols/nuggets.md#what-a-server-answers",
        "A row of the table has the columns of the example: letter, space, purse in 10 columns, space, name",
        "The format is \"%c %10d %s\".";
    NAMES: Protocol(1, "Requirements: Network protocol, PLAY") "names" in "protocols/nuggets.md#what-a-server-answers",
        "A name is cut to 50 bytes, and each byte that is neither graphic ASCII nor a blank becomes '_'",
        "Replace by isgraph and isblank in the C locale, byte by byte, with an unsigned char; then cut at 50 bytes.";
    SUMMARY: Protocol(2, "Requirements: Server, print the summary") "summary" in "nuggets.md#the-server",
        "The table of the game is printed on standard output",
        "Print the same table. Through a pipe, flush standard output after it.";
    EXIT: Protocol(2, "Requirements: Server, no gold is left") "exit-status" in "nuggets.md#the-server",
        "After the game the server ends, with exit status 0",
        "Leave the loop and return 0 from main.";
    SEED: Protocol(2, "Requirements: Server, seed") "same-seed" in "nuggets.md#the-server",
        "Same map, same seed and same messages give the same game",
        "Seed the generator once, at the start, and let nothing else than the messages change the order of its numbers.";
    ARGUMENTS: Protocol(2, "Requirements: Server, verify its arguments") "bad-arguments" in "nuggets.md#the-server",
        "A map that cannot be read ends the server with a status other than 0",
        "Look at what fopen returns.";
    TEXTS: Advice "quit-texts" in "protocols/nuggets.md#what-a-server-answers",
        "QUIT says why in the words of the protocol",
        "Copy the sentences from the page of the protocol.";
    ORDER: Advice "gold-before-display" in "protocols/nuggets.md#what-a-server-answers",
        "After a key, GOLD is sent before DISPLAY",
        "Tell the purse before the picture.";
    UNKNOWN: Advice "unknown-key" in "protocols/nuggets.md#what-a-server-answers",
        "A key that means nothing is answered by ERROR",
        "Answer what you do not understand: it helps those who write clients.";
    LAST: Protocol(1, "Requirements: Network protocol, KEY") "last-gold" in "protocols/nuggets.md#what-a-server-answers",
        "When the game is over, everybody is sent GOLD with nothing left before QUIT",
        "Send GOLD as after any other pile, and look only then whether the game is over.";
    SHOW: Advice "last-display" in "protocols/nuggets.md#what-a-server-answers",
        "When the game is over, DISPLAY is sent before QUIT, too",
        "Send DISPLAY as after any other key, and QUIT then.";
    EXTRA_ARGUMENT: Protocol(1, "Requirements: Server, verify its arguments") "extra-argument" in "nuggets.md#the-server",
        "With more arguments than a map and a seed the server ends with a status other than 0",
        "Compare argc with 2 and 3.";
    BAD_SEED: Protocol(1, "Requirements: Server, verify its arguments") "bad-seed" in "nuggets.md#the-server",
        "A seed that is no positive number ends the server with a status other than 0",
        "Check that the whole word is a number: look at the end pointer of strtol.";
    BAD_MAP: Advice "bad-map" in "nuggets.md#the-server",
        "A map without a place for a player ends the server with a status other than 0",
        "Count the room spots of the map when it is read.";
    SAYS_WHY: Protocol(1, "Requirements: Server, verify its arguments") "says-why" in "nuggets.md#the-server",
        "A server that refuses its arguments prints why",
        "Write on standard error what is wrong, and what would be right.";
    INPUT: Protocol(2, "Requirements: Server, wait for messages until the gold is collected") "end-of-input" in "nuggets.md#the-server",
        "The server goes on when its standard input ends",
        "A server in the background has no input: its loop waits for messages alone.";
    NO_SEED: Protocol(2, "Requirements: Server, seed") "no-seed" in "nuggets.md#the-server",
        "Without a seed the server starts, and the piles lie elsewhere each time",
        "Take the number of the process, or the time, for a seed.";
    OTHER_SEED: Protocol(1, "Requirements: Server, seed") "other-seed" in "nuggets.md#the-server",
        "With another seed the piles lie elsewhere",
        "Seed the generator with the number that was given, before the first draw.";
    PILES_IN_ROOMS: Protocol(1, "Requirements: Server, gold piles on room spots") "piles-in-rooms" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "Piles lie on room spots",
        "Draw again until the spot is a dot.";
    LARGE_MAP: Protocol(1, "Requirements: Valid maps") "large-map" in "protocols/nuggets.md#messages",
        "A map of 160 rows of 400 columns is shown whole",
        "A datagram holds 65,507 bytes: make buffers as large as the map needs.";
    DIAGONAL: Protocol(3, "Requirements: Client interface, player keystrokes") "diagonal-step" in "nuggets.md#keys",
        "y u b n move the player one spot diagonally",
        "y is up and left, u up and right, b down and left, n down and right.";
    RUN_DIAGONAL: Protocol(2, "Requirements: Client interface, player keystrokes") "diagonal-run" in "nuggets.md#keys",
        "Y U B N repeat the diagonal step",
        "A run has the direction of its small letter.";
    RUN_GOLD: Protocol(2, "Requirements: Client interface, player keystrokes") "run-over-gold" in "nuggets.md#keys",
        "Gold does not stop a run",
        "Take what lies there and go on.";
    RUN_SWAP: Protocol(1, "Requirements: Client interface, player keystrokes") "run-through-players" in "nuggets.md#keys",
        "Players do not stop a run",
        "Change places and go on.";
    SMALL_Q: Protocol(1, "Requirements: Client interface, player keystrokes") "small-q" in "nuggets.md#keys",
        "KEY q does not quit",
        "Only the capital letter quits: do not use tolower before you compare.";
    PASSAGE_SIGHT: Protocol(2, "Requirements: Visibility") "passage-sight" in "protocols/nuggets.md#sight",
        "A player in a passage is shown its eight neighbours and no spot that it never saw",
        "Passage spots block sight as rock does, those beside the player too.";
    PUSHED: Protocol(1, "Requirements: Visibility") "pushed-player" in "protocols/nuggets.md#sight",
        "A player who is pushed sees and remembers from its new place",
        "Look around for both players of a swap.";
    SPECTATOR_QUITS: Protocol(1, "Requirements: Client interface, spectator keystrokes") "spectator-quits" in "protocols/nuggets.md#what-a-server-answers",
        "KEY Q of the spectator is answered by QUIT",
        "Look at the address of the spectator too.";
    WATCH_AGAIN: Advice "watch-again" in "protocols/nuggets.md#what-a-server-answers",
        "A spectator that sends SPECTATE again is told all once more, and is not replaced by itself",
        "Compare the address with that of the spectator before you send QUIT to it.";
    PLAYER_WATCHES: Advice "player-watches" in "protocols/nuggets.md#what-a-server-answers",
        "SPECTATE from a player does not make it the spectator",
        "Look for a player at that address first.";
    LETTER_KEPT: Protocol(1, "Requirements: Server, accept players") "letter-kept" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "No letter is given twice, not even that of a player who has quit",
        "Count who has joined, and not who is still there.";
    QUITTER_ROW: Protocol(1, "Requirements: Server, game-over summary") "quitter-row" in "protocols/nuggets.md#what-a-server-answers",
        "Who has quit has a row in the final table",
        "Keep those who have quit, with their purses.";
    NAME_LENGTH: Protocol(1, "Requirements: Network protocol, PLAY") "name-length" in "protocols/nuggets.md#what-a-server-answers",
        "A long name is cut to 50 bytes exactly",
        "50 bytes need a buffer of 51 in C.";
    EQUAL_NAMES: Protocol(1, "Requirements: Network protocol, PLAY") "equal-names" in "protocols/nuggets.md#what-a-server-answers",
        "Two players may have the same name",
        "Players are known by their addresses.";
    EMPTY: Protocol(1, "Requirements: Malformed messages") "empty-datagram" in "protocols/nuggets.md#messages",
        "A datagram without bytes changes nothing",
        "recvfrom returns 0 for it, which is no end and no error.";
    ZERO_BYTES: Advice "zero-bytes" in "protocols/nuggets.md#messages",
        "A datagram with a zero byte in it changes nothing",
        "The length that recvfrom returns counts, not the one of strlen.";
    LONGEST: Protocol(1, "Requirements: Malformed messages") "longest-datagram" in "protocols/nuggets.md#messages",
        "The longest datagram changes nothing",
        "Leave room for the zero that you write behind it.";
    SILENT_WORDS: Advice "silent-to-servers" in "protocols/nuggets.md#what-a-server-answers",
        "A message that only servers send is not answered",
        "Two servers that answer each other never stop.";
    MALFORMED_TOLD: Advice "malformed-told" in "protocols/nuggets.md#what-a-server-answers",
        "A malformed message of a player is answered by ERROR",
        "Say what was expected: it helps those who write clients.";
}
