use crate::rule::rules;

rules! {
    PORT: Protocol(2, "Requirements: Server, announce the port") "announces-port" in "nuggets.md#the-server",
        "The server prints its UDP port in a line on standard output",
        "Call getsockname after bind, and print the port. Through a pipe, flush standard output after it.";
    RUNS: Protocol(4, "Requirements: Server, wait for messages until the gold is collected") "keeps-running" in "protocols/nuggets.md#what-a-server-answers",
        "The server runs and answers until the game is over, whatever it receives",
        "Check each datagram before you use it: its length, its first word and its sender.";
    FORM: Protocol(2, "Requirements: Network protocol") "message-form" in "protocols/nuggets.md#messages",
        "Each datagram of the server is one message of the protocol: OK, GRID, GOLD, DISPLAY, QUIT or ERROR",
        "The length of the datagram ends a message: send strlen bytes, without a zero byte or a newline.";
    SHAPE: Protocol(2, "Requirements: Network protocol, DISPLAY") "display-shape" in "protocols/nuggets.md#messages",
        "A DISPLAY contains each row of the grid with all its columns and a newline",
        "End each row, including the last, with a newline. Keep trailing blanks, so that all rows have the width of the grid.";
    WELCOME: Protocol(4, "Requirements: Network protocol, PLAY") "welcome-player" in "protocols/nuggets.md#what-a-server-answers",
        "The server sends a new player OK, GRID, GOLD and DISPLAY, in this order",
        "Send OK, GRID and GOLD to the new player before you send DISPLAY to all clients.";
    WATCH: Protocol(2, "Requirements: Network protocol, SPECTATE") "welcome-spectator" in "protocols/nuggets.md#what-a-server-answers",
        "The server sends a new spectator GRID, GOLD and DISPLAY, in this order, and no OK",
        "Send OK only to players. A spectator has no letter.";
    GRID: Protocol(2, "Requirements: Network protocol, GRID") "grid-size" in "protocols/nuggets.md#what-a-server-answers",
        "GRID contains the rows and columns of the map",
        "Send rows first, then columns. Use the size of the map, not of a window.";
    BOARD: Protocol(3, "Requirements: Network protocol, DISPLAY") "spectator-sees-all" in "protocols/nuggets.md#what-a-server-answers",
        "The DISPLAY of a spectator shows the whole map with all piles and all players",
        "Draw the spectator's view from the map, not from what a player has seen.";
    PILES: Protocol(1, "Requirements: Constants") "pile-count" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "The server starts a game with 10 to 30 piles",
        "Draw the number of piles from 10 to 30, both included, and put at least one nugget into each.";
    LETTERS: Advice "letters-in-order" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "The server assigns the letters A to Z in order of joining",
        "Use the next letter, starting with A, for each new player.";
    PLACE: Protocol(2, "Requirements: introduction, a new player") "joining-place" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "The server places a new player on a room spot without gold and without another player",
        "Draw again until the spot is '.' without gold or a player.";
    NAMELESS: Protocol(1, "Requirements: Network protocol, PLAY") "name-required" in "protocols/nuggets.md#what-a-server-answers",
        "The server answers PLAY without a name, or with only white space, with QUIT and assigns no letter",
        "Check the name before you create a player.";
    ANY_NAME: Protocol(2, "Requirements: Network protocol, PLAY") "any-name" in "protocols/nuggets.md#what-a-server-answers",
        "The server accepts PLAY with any other name, even one without letters",
        "A name is free text: reject it only if all characters are white space.";
    FULL: Protocol(2, "Requirements: Network protocol, PLAY") "full-game" in "protocols/nuggets.md#what-a-server-answers",
        "The server accepts 26 players during a game, and answers each further PLAY with QUIT",
        "Count all players since the start of the game, including those who have left.";
    ONCE: Advice "no-second-seat" in "protocols/nuggets.md#what-a-server-answers",
        "The server creates no second player for PLAY from a player's address",
        "Compare address and port with those of the players before you add one.";
    ALL: Protocol(3, "Requirements: Server, update all clients") "display-to-all" in "protocols/nuggets.md#what-a-server-answers",
        "The server sends a new DISPLAY to every client when a player joins, moves or leaves",
        "After each message that changes the game, send DISPLAY to all clients, even to those who cannot see the change.";
    STEP: Protocol(4, "Requirements: Client interface, player keystrokes") "step" in "nuggets.md#keys",
        "The keys h j k l move the player one spot, onto any room or passage spot",
        "h is left, j down, k up and l right.";
    RUN: Protocol(3, "Requirements: Client interface, player keystrokes") "run" in "nuggets.md#keys",
        "The keys H J K L repeat the step until it is blocked",
        "A run repeats one step until that step is not possible.";
    BLOCKED: Protocol(2, "Requirements: Client interface, player keystrokes") "blocked-step" in "nuggets.md#keys",
        "A step into a wall, into rock or over the edge has no effect",
        "Allow only steps onto '.' and '#'. Check the edge of the map before you read the next spot.";
    SWAP: Protocol(2, "Requirements: introduction, players switch places") "swap" in "nuggets.md#keys",
        "A player who steps onto another player changes places with it",
        "Move both players, and update what each sees and remembers from its new place.";
    TAKEN: Protocol(3, "Requirements: introduction, collects") "gold-taken" in "nuggets.md#keys",
        "The server removes the pile that a player collects, and no other pile",
        "Remove the pile when you add its gold to the purse, even in the middle of a run.";
    OWN: Protocol(3, "Requirements: Network protocol, DISPLAY") "own-place" in "protocols/nuggets.md#sight",
        "The DISPLAY of a player has '@' exactly at the player's place",
        "Draw '@' last, and never draw the player's own letter.";
    SIGHT: Protocol(3, "Requirements: Visibility") "sight" in "protocols/nuggets.md#sight",
        "The server shows a player the spots, gold and players in sight, and no spot that it has never seen",
        "Use integers: floating point misses lines through a gridpoint. Check rows and columns, both ends excluded.";
    MEMORY: Protocol(3, "Requirements: Visibility") "memory" in "protocols/nuggets.md#sight",
        "The server keeps showing a player each spot that it has seen, including from spots passed in a run",
        "Update what a player has seen after every single step.";
    STALE: Protocol(2, "Requirements: Visibility") "memory-is-bare" in "protocols/nuggets.md#sight",
        "The server shows a player no gold and no players outside its current sight",
        "Remember the bare map, and draw gold and players only on spots in current sight.";
    COLLECT: Protocol(4, "Requirements: Network protocol, GOLD") "gold-collected" in "protocols/nuggets.md#what-a-server-answers",
        "The server sends GOLD with the collected nuggets and the new purse to the player who collects gold",
        "GOLD has three numbers: just collected, in the purse, left in the game.";
    OTHERS: Protocol(2, "Requirements: Network protocol, GOLD") "gold-others" in "protocols/nuggets.md#what-a-server-answers",
        "When a player collects gold, the server sends all other clients GOLD with 0 collected, their own purse and the gold left",
        "Send GOLD to all clients, each with its own purse, and with 0 to those who collected nothing.";
    TOTAL: Protocol(2, "Requirements: Constants") "gold-total" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "All purses and the remaining gold add up to 250, with at least 1 nugget in each pile",
        "Put the rest into the last pile, so that the sum is exactly 250.";
    LEAVE: Protocol(3, "Requirements: Network protocol, QUIT") "quit-reply" in "protocols/nuggets.md#what-a-server-answers",
        "The server answers KEY Q with QUIT",
        "Handle KEY Q like any other key.";
    LEFT: Protocol(2, "Requirements: Server, a player quits") "quitter-leaves" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "The server removes a player who quits from the map",
        "Remove the letter from the map and send DISPLAY to all clients. Keep purse and name for the table.";
    SILENT: Advice "nothing-after-quit" in "protocols/nuggets.md#what-a-server-answers",
        "The server sends nothing more to a client after QUIT",
        "Skip clients that have quit whenever you send to all.";
    RETURN: Protocol(1, "Requirements: Server, accept players") "no-return" in "protocols/nuggets.md#what-a-server-answers",
        "The server rejects a player who has quit and sends PLAY again from the same address",
        "Keep the letters, purses and addresses of players who have quit.";
    EARLY: Protocol(2, "Requirements: Network protocol, QUIT") "no-early-quit" in "protocols/nuggets.md#what-a-server-answers",
        "The server sends QUIT only to clients that quit or were refused or replaced, or when the game is over",
        "QUIT ends a client: never use it as a notice.";
    STRANGER: Protocol(1, "Requirements: Malformed messages") "strangers-ignored" in "protocols/nuggets.md#what-a-server-answers",
        "Keys from an address without an active player have no effect",
        "Find the sender first: without a player at that address there is nothing to move.";
    MALFORMED: Protocol(2, "Requirements: Malformed messages") "malformed-ignored" in "protocols/nuggets.md#what-a-server-answers",
        "An invalid message or an unknown key has no effect on the game",
        "Compare whole words: KEY is followed by one space and one character, and nothing else.";
    WATCHER: Protocol(1, "Requirements: Network protocol, SPECTATE") "spectator-keys" in "protocols/nuggets.md#what-a-server-answers",
        "Keys of a spectator other than Q have no effect",
        "A spectator has no place in the grid. Check for its address before you look up a player.";
    REPLACED: Protocol(2, "Requirements: Server, accept one spectator") "spectator-replaced" in "protocols/nuggets.md#what-a-server-answers",
        "A new spectator replaces the previous one, who receives QUIT",
        "Send QUIT to the old spectator before you overwrite its address.";
    LOST: Protocol(1, "Requirements: Server, handle errors") "lost-client" in "protocols/nuggets.md#what-a-server-answers",
        "A client whose port is closed does not disturb the others",
        "A failed send, or ECONNREFUSED from the next receive, affects one client. Do not stop the server.";
    OVER: Protocol(5, "Requirements: Server, no gold is left") "game-over" in "protocols/nuggets.md#what-a-server-answers",
        "The server sends QUIT GAME OVER: to all clients after the last nugget",
        "Check whether gold is left after each collected pile, even in the middle of a run.";
    TABLE: Protocol(3, "Requirements: Server, game-over summary") "final-table" in "protocols/nuggets.md#what-a-server-answers",
        "The game-over message has a row with letter, purse and name for each player who joined",
        "Keep all players, including those who left, and write their letters, purses and names.";
    TABLE_FORM: Advice "table-form" in "protocols/nuggets.md#what-a-server-answers",
        "A table row has the columns of the example: letter, space, purse in 10 columns, space, name",
        "Use the format \"%c %10d %s\".";
    NAMES: Protocol(1, "Requirements: Network protocol, PLAY") "names" in "protocols/nuggets.md#what-a-server-answers",
        "The server cuts a name to 50 bytes and replaces each byte that is neither graphic ASCII nor a blank with '_'",
        "Use isgraph and isblank in the C locale on each unsigned char. Then cut at 50 bytes.";
    SUMMARY: Protocol(2, "Requirements: Server, print the summary") "summary" in "nuggets.md#the-server",
        "The server prints the game-over table on standard output",
        "Print the table that you send. Through a pipe, flush standard output after it.";
    EXIT: Protocol(2, "Requirements: Server, no gold is left") "exit-status" in "nuggets.md#the-server",
        "After the game the server exits with status 0",
        "Leave the loop and return 0 from main.";
    SEED: Protocol(2, "Requirements: Server, seed") "same-seed" in "nuggets.md#the-server",
        "The same map, seed and messages produce the same game",
        "Seed the generator once, at startup. Let only messages change the order of its numbers.";
    ARGUMENTS: Protocol(2, "Requirements: Server, verify its arguments") "bad-arguments" in "nuggets.md#the-server",
        "If the server cannot read the map, it exits with a nonzero status",
        "Check the result of fopen.";
    TEXTS: Advice "quit-texts" in "protocols/nuggets.md#what-a-server-answers",
        "QUIT gives the reason in the words of the protocol",
        "Copy the sentences from the protocol page.";
    ORDER: Advice "gold-before-display" in "protocols/nuggets.md#what-a-server-answers",
        "The server sends GOLD before DISPLAY after a key",
        "Send the purse before the picture.";
    UNKNOWN: Advice "unknown-key" in "protocols/nuggets.md#what-a-server-answers",
        "The server answers an unknown key with ERROR",
        "Answer each invalid message: it helps authors of clients.";
    LAST: Protocol(1, "Requirements: Network protocol, KEY") "last-gold" in "protocols/nuggets.md#what-a-server-answers",
        "When the game is over, the server sends all clients GOLD with nothing left before QUIT",
        "Send GOLD as after any other pile. Check whether the game is over after that.";
    SHOW: Advice "last-display" in "protocols/nuggets.md#what-a-server-answers",
        "When the game is over, the server sends DISPLAY before QUIT",
        "Send DISPLAY as after any other key, then QUIT.";
    EXTRA_ARGUMENT: Protocol(1, "Requirements: Server, verify its arguments") "extra-argument" in "nuggets.md#the-server",
        "With more arguments than a map and a seed, the server exits with a nonzero status",
        "Compare argc with 2 and 3.";
    BAD_SEED: Protocol(1, "Requirements: Server, verify its arguments") "bad-seed" in "nuggets.md#the-server",
        "If the seed is not a positive number, the server exits with a nonzero status",
        "Check that the whole word is a number, with the end pointer of strtol.";
    BAD_MAP: Advice "bad-map" in "nuggets.md#the-server",
        "If the map has no place for a player, the server exits with a nonzero status",
        "Count the room spots of the map when you read it.";
    SAYS_WHY: Protocol(1, "Requirements: Server, verify its arguments") "says-why" in "nuggets.md#the-server",
        "A server that rejects its arguments prints the reason",
        "Write the invalid value and the expected one on standard error.";
    INPUT: Protocol(2, "Requirements: Server, wait for messages until the gold is collected") "end-of-input" in "nuggets.md#the-server",
        "The server continues when its standard input ends",
        "A server in the background has no input: wait for messages only.";
    NO_SEED: Protocol(2, "Requirements: Server, seed") "no-seed" in "nuggets.md#the-server",
        "Without a seed the server starts, and places the piles differently each time",
        "Use the process id or the time as the seed.";
    OTHER_SEED: Protocol(1, "Requirements: Server, seed") "other-seed" in "nuggets.md#the-server",
        "With another seed the server places the piles differently",
        "Seed the generator with the given number before the first draw.";
    PILES_IN_ROOMS: Protocol(1, "Requirements: Server, gold piles on room spots") "piles-in-rooms" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "The server places piles on room spots",
        "Draw again until the spot is a dot.";
    LARGE_MAP: Protocol(1, "Requirements: Valid maps") "large-map" in "protocols/nuggets.md#messages",
        "The server shows all of a map of 160 rows and 400 columns",
        "A datagram holds 65,507 bytes: allocate buffers by the size of the map.";
    DIAGONAL: Protocol(3, "Requirements: Client interface, player keystrokes") "diagonal-step" in "nuggets.md#keys",
        "The keys y u b n move the player one spot diagonally",
        "y is up and left, u up and right, b down and left, n down and right.";
    RUN_DIAGONAL: Protocol(2, "Requirements: Client interface, player keystrokes") "diagonal-run" in "nuggets.md#keys",
        "The keys Y U B N repeat the diagonal step",
        "A run has the direction of its lower-case letter.";
    RUN_GOLD: Protocol(2, "Requirements: Client interface, player keystrokes") "run-over-gold" in "nuggets.md#keys",
        "Gold does not stop a run",
        "Collect the pile and continue.";
    RUN_SWAP: Protocol(1, "Requirements: Client interface, player keystrokes") "run-through-players" in "nuggets.md#keys",
        "Players do not stop a run",
        "Change places and continue.";
    SMALL_Q: Protocol(1, "Requirements: Client interface, player keystrokes") "small-q" in "nuggets.md#keys",
        "The server does not treat KEY q as quit",
        "Only the capital letter quits: do not use tolower before you compare.";
    PASSAGE_SIGHT: Protocol(2, "Requirements: Visibility") "passage-sight" in "protocols/nuggets.md#sight",
        "The server shows a player in a passage its eight neighbours and no spot that it has never seen",
        "Passage spots block sight as rock does, even next to the player.";
    PUSHED: Protocol(1, "Requirements: Visibility") "pushed-player" in "protocols/nuggets.md#sight",
        "A player who is pushed sees and remembers from its new place",
        "Update the view of both players after a swap.";
    SPECTATOR_QUITS: Protocol(1, "Requirements: Client interface, spectator keystrokes") "spectator-quits" in "protocols/nuggets.md#what-a-server-answers",
        "The server answers KEY Q of the spectator with QUIT",
        "Check for the spectator's address too.";
    WATCH_AGAIN: Advice "watch-again" in "protocols/nuggets.md#what-a-server-answers",
        "The server answers a repeated SPECTATE of the spectator with the complete state, and keeps the spectator",
        "Compare the address with that of the spectator before you send QUIT to it.";
    PLAYER_WATCHES: Advice "player-watches" in "protocols/nuggets.md#what-a-server-answers",
        "SPECTATE from a player does not make it the spectator",
        "Check for a player at that address first.";
    LETTER_KEPT: Protocol(1, "Requirements: Server, accept players") "letter-kept" in "protocols/nuggets.md#rules-that-a-server-keeps",
        "The server assigns no letter twice, not even that of a player who has quit",
        "Count all players who have joined, not the remaining ones.";
    QUITTER_ROW: Protocol(1, "Requirements: Server, game-over summary") "quitter-row" in "protocols/nuggets.md#what-a-server-answers",
        "The final table has a row for each player who has quit",
        "Keep players who have quit, with their purses.";
    NAME_LENGTH: Protocol(1, "Requirements: Network protocol, PLAY") "name-length" in "protocols/nuggets.md#what-a-server-answers",
        "The server cuts a long name to exactly 50 bytes",
        "50 bytes need a buffer of 51 in C.";
    EQUAL_NAMES: Protocol(1, "Requirements: Network protocol, PLAY") "equal-names" in "protocols/nuggets.md#what-a-server-answers",
        "The server accepts two players with the same name",
        "Identify players by their addresses.";
    EMPTY: Protocol(1, "Requirements: Malformed messages") "empty-datagram" in "protocols/nuggets.md#messages",
        "An empty datagram has no effect on the game",
        "recvfrom returns 0 for it, which is neither the end nor an error.";
    ZERO_BYTES: Advice "zero-bytes" in "protocols/nuggets.md#messages",
        "A datagram that contains a zero byte has no effect on the game",
        "Use the length returned by recvfrom, not strlen.";
    LONGEST: Protocol(1, "Requirements: Malformed messages") "longest-datagram" in "protocols/nuggets.md#messages",
        "A datagram of the maximum length has no effect on the game",
        "Leave room in the buffer for the zero that you append.";
    SILENT_WORDS: Advice "silent-to-servers" in "protocols/nuggets.md#what-a-server-answers",
        "The server does not answer a message that only servers send",
        "Two servers that answer each other never stop.";
    MALFORMED_TOLD: Advice "malformed-told" in "protocols/nuggets.md#what-a-server-answers",
        "The server answers an invalid message of a player with ERROR",
        "State the expected message: it helps authors of clients.";
}
