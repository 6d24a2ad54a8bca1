//! The requirements of the protocol for a client.

use crate::rule::rules;

rules! {
    CONNECTS: Protocol(2, "Bombowe roboty, 7") "connects" in "protocols/robots.md#a-client",
        "The client connects to the server when it starts, before any input",
        "Connect in main, before you wait for the GUI.";
    SERVER_NAME: Protocol(1, "Bombowe roboty, 1.3") "server-name" in "protocols/robots.md#a-server-and-the-network",
        "The host of the server may be a name, as in localhost:2022",
        "Use getaddrinfo, and try each address that it gives.";
    SERVER_IPV6: Protocol(1, "Bombowe roboty, 1.3") "server-ipv6" in "protocols/robots.md#a-server-and-the-network",
        "The host of the server may be an IPv6 address, as in [::1]:2022 or ::1:2022",
        "The last colon comes before the port. Brackets are no part of the address.";
    SILENT: Protocol(1, "Bombowe roboty, 2.6") "silent-before-input" in "protocols/robots.md#a-client",
        "Nothing is sent to the server before the GUI sends an input",
        "Join only when a key was pressed, not when Hello has come.";
    JOIN: Protocol(5, "Bombowe roboty, 2.6") "join" in "protocols/robots.md#a-client",
        "An input in the lobby is answered by a Join with the exact name and by nothing else",
        "Any key joins in the lobby. The name has its length in bytes in front, and no zero byte at its end.";
    EMPTY_NAME: Protocol(1, "Bombowe roboty, 2") "empty-name" in "protocols/robots.md#messages",
        "A name may be empty: Join is two zero bytes",
        "The length in front is 0 then.";
    SHORT_NAME: Protocol(1, "Bombowe roboty, 2") "short-name" in "protocols/robots.md#messages",
        "A name of one byte is sent as it is",
        "The length in front is 1: no zero byte follows.";
    LONGEST_NAME: Protocol(1, "Bombowe roboty, 2") "longest-name" in "protocols/robots.md#messages",
        "A name of 255 bytes is sent whole",
        "The length in front is one unsigned byte, and counts bytes and not characters.";
    REJOINS: Protocol(2, "Bombowe roboty, 2.10") "rejoins" in "protocols/robots.md#a-client",
        "After GameEnded an input is answered by Join again",
        "The state is the lobby again, however often one has joined.";
    FORWARDED: Protocol(5, "Bombowe roboty, 3") "forwarded" in "protocols/robots.md#gui-to-client-udp",
        "PlaceBomb and PlaceBlock are passed on in the game with the tag of the server's protocol, once and in order",
        "The tags differ by one: 0 of the GUI is 1 for the server.";
    MOVE_UP: Protocol(2, "Bombowe roboty, 3") "move-up" in "protocols/robots.md#gui-to-client-udp",
        "Move Up of the GUI is Move Up for the server",
        "The direction stays: 0 is up.";
    MOVE_RIGHT: Protocol(2, "Bombowe roboty, 3") "move-right" in "protocols/robots.md#gui-to-client-udp",
        "Move Right of the GUI is Move Right for the server",
        "The direction stays: 1 is right.";
    MOVE_DOWN: Protocol(2, "Bombowe roboty, 3") "move-down" in "protocols/robots.md#gui-to-client-udp",
        "Move Down of the GUI is Move Down for the server",
        "The direction stays: 2 is down.";
    MOVE_LEFT: Protocol(2, "Bombowe roboty, 3") "move-left" in "protocols/robots.md#gui-to-client-udp",
        "Move Left of the GUI is Move Left for the server",
        "The direction stays: 3 is left.";
    OBSERVES: Protocol(1, "Bombowe roboty, 2.6") "observes" in "protocols/robots.md#a-client",
        "In a game that has begun without it, the client does not join",
        "A Join is sent in the lobby only, that is before GameStarted and after GameEnded.";
    FORWARDS: Advice "observer-forwards" in "protocols/robots.md#a-client",
        "In a game that has begun without it, the client passes inputs on",
        "The server ignores them, so the client need not know whether it plays.";
    BAD_INPUT: Protocol(1, "Bombowe roboty, 2.6") "bad-input" in "protocols/robots.md#gui-to-client-udp",
        "A datagram that is no input is ignored in the lobby, too: it is answered by no Join",
        "Read the datagram before you look whether a game goes on.";
    EMPTY_INPUT: Protocol(1, "Bombowe roboty, 7") "empty-input" in "protocols/robots.md#gui-to-client-udp",
        "An empty datagram is ignored in the game",
        "recvfrom may give 0: that is no end.";
    UNKNOWN_INPUT: Protocol(1, "Bombowe roboty, 7") "unknown-input" in "protocols/robots.md#gui-to-client-udp",
        "A datagram with an unknown tag is ignored in the game",
        "There are the tags 0, 1 and 2.";
    BAD_DIRECTION: Protocol(1, "Bombowe roboty, 7") "bad-direction" in "protocols/robots.md#gui-to-client-udp",
        "A Move with an unknown direction is ignored",
        "Directions are 0 to 3: the server would close the connection at any other.";
    CUT_INPUT: Protocol(1, "Bombowe roboty, 7") "cut-input" in "protocols/robots.md#gui-to-client-udp",
        "A Move without a direction is ignored",
        "Look at the length before you take the second byte: it may be of an earlier datagram.";
    LONG_INPUT: Advice "long-input" in "protocols/robots.md#gui-to-client-udp",
        "An input with bytes left over is ignored",
        "Compare the length of the datagram with that of the message exactly.";
    BIG_INPUT: Advice "big-input" in "protocols/robots.md#gui-to-client-udp",
        "A datagram of 60,000 bytes is ignored",
        "recvfrom cuts off what does not fit: a small buffer makes an input of it.";
    ANY_ADDRESS: Protocol(1, "Bombowe roboty, 7") "any-address" in "protocols/robots.md#a-client",
        "Inputs are taken from any address and port",
        "Do not connect the socket on which you listen for the GUI.";
    GUI_IPV6: Protocol(1, "Bombowe roboty, 4") "gui-ipv6" in "protocols/robots.md#a-client",
        "Inputs are taken over IPv6 too",
        "Bind to [::] and switch IPV6_V6ONLY off, which serves both families.";
    TO_GUI: Protocol(1, "Bombowe roboty, 7") "to-gui" in "protocols/robots.md#a-client",
        "Pictures go to the address of the command line, also when inputs come from elsewhere",
        "Do not answer to the sender of the last input.";
    GUI_NAME: Protocol(1, "Bombowe roboty, 1.3") "gui-name" in "protocols/robots.md#a-server-and-the-network",
        "The host of the GUI may be a name, as in localhost:2024",
        "Use getaddrinfo for the GUI as well.";
    GUI_ADDRESS_IPV6: Protocol(1, "Bombowe roboty, 1.3") "gui-address-ipv6" in "protocols/robots.md#a-server-and-the-network",
        "The host of the GUI may be an IPv6 address, as in [::1]:2024 or ::1:2024",
        "Open the socket for pictures in the family of that address.";
    LATE_GUI: Advice "late-gui" in "protocols/robots.md#a-client",
        "A GUI that is not there yet does not end the client, and gets pictures when it is",
        "A send may fail because of an earlier datagram that found nobody: go on.";
    PICTURE_FORMAT: Protocol(4, "Bombowe roboty, 3") "picture-format" in "protocols/robots.md#client-to-gui-udp",
        "Each datagram to the GUI is one well-formed message",
        "Numbers are big-endian (htons, htonl), and lists have a count of four bytes.";
    HELLO_PICTURE: Protocol(1, "Bombowe roboty, 3") "hello-picture" in "protocols/robots.md#a-client",
        "After Hello the GUI is sent a Lobby with the parameters and without players",
        "The state has changed: the parameters are known now.";
    LOBBY: Protocol(5, "Bombowe roboty, 3") "lobby-picture" in "protocols/robots.md#a-client",
        "After each AcceptedPlayer the GUI is sent a Lobby with the parameters and all players so far",
        "Send a Lobby after each AcceptedPlayer, also when several have come at once.";
    LARGE_NUMBERS: Protocol(1, "Bombowe roboty, 2.2") "large-numbers" in "protocols/robots.md#messages",
        "The parameters may be as large as their fields: 255 and 65535",
        "Use unsigned types of the right size, and ntohs.";
    SERVER_NAMES: Protocol(1, "Bombowe roboty, 2") "server-names" in "protocols/robots.md#messages",
        "The name of the server may be empty or have 255 bytes, and is passed on unchanged",
        "The length is one unsigned byte: a char may be negative.";
    LONG_NAMES: Protocol(1, "Bombowe roboty, 2") "long-names" in "protocols/robots.md#messages",
        "Names and addresses of players may have 255 bytes, and are passed on unchanged",
        "The length is one unsigned byte: a char may be negative.";
    ANY_TEXT: Advice "any-address-text" in "protocols/robots.md#messages",
        "An address of a player is passed on unchanged, whatever its text is",
        "Do not read it: a server may write addresses in another way.";
    ZERO_BYTES: Advice "zero-bytes" in "protocols/robots.md#messages",
        "A zero byte in the name of a server or a player is passed on unchanged",
        "A string of C ends at its first zero: keep the length.";
    MANY_PLAYERS: Protocol(1, "Bombowe roboty, 2.3") "many-players" in "protocols/robots.md#messages",
        "There may be 255 players",
        "Count players with a number that is larger than a byte.";
    GAME: Protocol(6, "Bombowe roboty, 3") "game-picture" in "protocols/robots.md#a-client",
        "After each Turn, 0 included, the GUI is sent a Game with its number, players and board",
        "Send the Game when the whole Turn is read, once, and not after each event.";
    NO_PICTURE: Protocol(1, "Bombowe roboty, 3") "no-picture" in "protocols/robots.md#a-client",
        "GameStarted leads to no picture, and no picture comes twice",
        "GameStarted only says who plays: keep the players, and send the picture with turn 0.";
    ENDED: Protocol(3, "Bombowe roboty, 7") "game-ended" in "protocols/robots.md#a-client",
        "After GameEnded the GUI is sent a Lobby without players, and inputs join again",
        "Forget players and board at GameEnded, and whether you have joined.";
    POSITIONS: Protocol(5, "Bombowe roboty, 3") "positions" in "protocols/robots.md#a-client",
        "A Game has the position of each robot",
        "PlayerMoved holds for turn 0, moves and rebirths alike.";
    LARGE_POSITIONS: Protocol(1, "Bombowe roboty, 2.3") "large-positions" in "protocols/robots.md#messages",
        "Positions and turns may be as large as 65534 and 65535",
        "Use unsigned numbers of 16 bits.";
    BLOCKS: Protocol(5, "Bombowe roboty, 3") "blocks" in "protocols/robots.md#a-client",
        "A Game has each block once, those that an explosion lists are gone",
        "Keep blocks in a set. Take those of explosions away behind the last BombExploded of a turn: until then they stop other blasts, and a BlockPlaced may bring one back.";
    BLOCK_AGAIN: Advice "block-again" in "protocols/robots.md#a-client",
        "A block that is destroyed and placed again in one turn is there",
        "Take blocks of explosions away before you add those that are placed.";
    BOMBS: Protocol(5, "Bombowe roboty, 7") "bombs" in "protocols/robots.md#a-client",
        "A Game has each bomb with its timer, which begins with bomb timer and is one less each turn",
        "Lower the timers of all bombs at the start of a Turn, then read its events: a bomb that was placed in it starts with the whole timer.";
    TWIN_BOMBS: Protocol(1, "Bombowe roboty, 2.8") "twin-bombs" in "protocols/robots.md#client-to-gui-udp",
        "Two bombs at one position with one timer are both in the picture",
        "Keep bombs by their ids, and not in a set of positions.";
    EXPLOSIONS: Protocol(5, "Bombowe roboty, 2.8") "explosions" in "protocols/robots.md#the-board-and-explosions",
        "A Game has each field once that this turn's explosions cover, computed from the blocks at the start of the turn",
        "Compute a blast with the blocks of the start of the turn: a block that another bomb of this turn destroys still stops it.";
    BLAST_STOPS: Protocol(1, "Bombowe roboty, 2.8") "blast-stops" in "protocols/robots.md#the-board-and-explosions",
        "An arm of a blast ends with the first block, which it covers",
        "Mark the field first, and stop then if it has a block.";
    BLAST_EDGE: Protocol(1, "Bombowe roboty, 2.8") "blast-edge" in "protocols/robots.md#the-board-and-explosions",
        "An arm of a blast ends at the edge of the board",
        "Compare before you subtract: an unsigned 0 - 1 is large.";
    BLAST_ON_BLOCK: Protocol(1, "Bombowe roboty, 7") "blast-on-block" in "protocols/robots.md#the-board-and-explosions",
        "The blast of a bomb on a block covers that field alone",
        "Look at the field of the bomb before the arms.";
    BLAST_BEFORE: Protocol(1, "Bombowe roboty, 2.8") "blast-before" in "protocols/robots.md#the-board-and-explosions",
        "Each blast of a turn meets the blocks as they were before it",
        "Keep a copy of the blocks, or remove those that were hit behind the last explosion.";
    RADIUS_0: Protocol(1, "Bombowe roboty, 2.8") "radius-0" in "protocols/robots.md#the-board-and-explosions",
        "With radius 0 a blast covers the field of the bomb alone",
        "Begin arms with the field beside the bomb.";
    RADIUS_MAX: Protocol(1, "Bombowe roboty, 2.8") "radius-65535" in "protocols/robots.md#the-board-and-explosions",
        "With radius 65535 an arm reaches the edge of a large board",
        "Beware of overflow: use 32 bits for the sum of position and radius.";
    BLAST_OVER: Protocol(2, "Bombowe roboty, 7") "blast-over" in "protocols/robots.md#a-client",
        "The next turn has no explosions of the last",
        "Clear the explosions at the start of each Turn.";
    SCORES: Protocol(5, "Bombowe roboty, 2.5") "scores" in "protocols/robots.md#a-client",
        "A Game has a score of each player from turn 0 on, in how many turns the robot was destroyed",
        "Give everybody 0 at GameStarted. Count turns in which a robot was destroyed, not explosions.";
    SCORE_ONCE: Protocol(1, "Bombowe roboty, 7") "score-once" in "protocols/robots.md#a-client",
        "A robot that several explosions of one turn list scores once",
        "Collect the destroyed robots of the turn in a set, and add 1 for each when it is read.";
    PIECES: Protocol(2, "Bombowe roboty, 2") "pieces" in "protocols/robots.md#a-client",
        "Messages from the server may arrive byte by byte",
        "A read is not a message: loop until as many bytes are there as the field needs.";
    BIG_TURN: Protocol(1, "Bombowe roboty, 3") "big-turn" in "protocols/robots.md#client-to-gui-udp",
        "A Turn of 60,000 bytes leads to a picture as any other",
        "Read until the message is complete, and send the picture in one datagram, which may have 65,507 bytes.";
    LATE: Protocol(2, "Bombowe roboty, 2.6") "late-joiner" in "protocols/robots.md#a-client",
        "Many messages that arrive at once lead to one picture for each, as for who connects during a game",
        "After a message look for the next one in what you have read already, before you read again.";
    MAP_ORDER: Advice "map-order" in "protocols/robots.md#a-client",
        "The entries of a map from the server may have any order",
        "Read the key of each entry, and do not count them.";
    SECOND_GAME: Protocol(3, "Bombowe roboty, 1.1") "second-game" in "protocols/robots.md#a-client",
        "The next game begins without anything of the last one",
        "Clear bombs, blocks, explosions, scores and positions at GameStarted.";
    MANY_GAMES: Protocol(1, "Bombowe roboty, 1.1") "many-games" in "protocols/robots.md#a-client",
        "Twenty games follow each other on one connection",
        "Forget everything at GameEnded, and keep no thread of the old game.";
    STRADDLING: Protocol(1, "Bombowe roboty, 2") "straddling" in "protocols/robots.md#a-client",
        "Messages count the same when a segment has the end of one and the beginning of the next",
        "Keep what is behind a message, also if it is half of the next one.";
    OVERDUE: Advice "overdue-bomb" in "protocols/robots.md#a-client",
        "A bomb that does not explode in time does not end the client",
        "A timer of 0 stays 0: an unsigned number below it is large.";
    UNKNOWN_BOMB: Advice "unknown-bomb" in "protocols/robots.md#a-client",
        "An explosion of a bomb that was never placed does not end the client",
        "Look whether the map has the id.";
    OFF_BOARD: Advice "off-the-board" in "protocols/robots.md#a-client",
        "Positions off the board do not end the client",
        "The server is always right: use no position as an index of an array.";
    UNKNOWN_PLAYER: Advice "unknown-player" in "protocols/robots.md#a-client",
        "Events of a player who is not in the game do not end the client",
        "Look whether the map has the id.";
    NO_DELAY: Protocol(1, "Bombowe roboty, 4") "no-delay" in "protocols/robots.md#a-client",
        "An input is sent at once, and does not wait until the last one is acknowledged",
        "Set TCP_NODELAY on the connection to the server.";
    MALFORMED: Protocol(1, "Bombowe roboty, 7") "malformed" in "protocols/robots.md#a-client",
        "An unknown tag of a message ends the client, with an exit status that is not 0",
        "There is no way to find the next message after a wrong byte.";
    BAD_EVENT: Protocol(1, "Bombowe roboty, 7") "bad-event" in "protocols/robots.md#a-client",
        "An unknown tag of an event ends the client, with an exit status that is not 0",
        "Events have the tags 0 to 3.";
    BAD_TEXT: Advice "bad-text" in "protocols/robots.md#a-client",
        "A text that is not UTF-8 ends the client, with an exit status that is not 0",
        "Check texts when you read them: the GUI could not.";
    CUT_OFF: Protocol(1, "Bombowe roboty, 4") "cut-off" in "protocols/robots.md#a-client",
        "The end of the connection within a message ends the client, with an exit status that is not 0",
        "A read that gives 0 is the end, also in the middle of a field.";
    RESET: Protocol(1, "Bombowe roboty, 4") "reset" in "protocols/robots.md#a-client",
        "A connection that is reset ends the client, with an exit status that is not 0",
        "A read that fails is the end of the connection.";
    CLOSED: Protocol(1, "Bombowe roboty, 4") "connection-lost" in "protocols/robots.md#a-client",
        "A closed connection ends the client, with an exit status that is not 0",
        "A read that gives 0 is the end of the connection. End the thread that waits for the GUI too.";
    UNREACHABLE: Protocol(1, "Bombowe roboty, 4") "unreachable" in "protocols/robots.md#a-client",
        "A server that is not there ends the client, with an exit status that is not 0",
        "Look at what connect returns, for all addresses that getaddrinfo gives.";
    TAKEN_PORT: Protocol(1, "Bombowe roboty, 4") "taken-port" in "protocols/robots.md#a-client",
        "A port that is taken ends the client, with an exit status that is not 0",
        "Look at what bind returns, and do not set SO_REUSEPORT.";
    WRONG_ARGUMENTS: Protocol(1, "Bombowe roboty, 6.1") "wrong-arguments" in "protocols/robots.md#a-client",
        "With a port that is no number the client ends, with an exit status that is not 0",
        "atoi makes 0 of a word that is no number. Use a function that tells.";
    PORT_RANGE: Protocol(1, "Bombowe roboty, 1.3") "port-too-large" in "protocols/robots.md#a-server-and-the-network",
        "With port 65536 the client ends, with an exit status that is not 0",
        "A port has 16 bits.";
    MISSING: Protocol(1, "Bombowe roboty, 6.1") "missing-arguments" in "protocols/robots.md#a-server-and-the-network",
        "Without arguments the client ends, with an exit status that is not 0",
        "Each of -d, -n, -p and -s has to be there.";
    NAME_TOO_LONG: Advice "name-too-long" in "protocols/robots.md#a-server-and-the-network",
        "With a name of 256 bytes the client ends, with an exit status that is not 0",
        "The length of a text has one byte.";
    NO_PORT: Protocol(1, "Bombowe roboty, 1.3") "address-without-port" in "protocols/robots.md#a-server-and-the-network",
        "With an address without a port the client ends, with an exit status that is not 0",
        "Look for the last colon, and for digits behind it.";
    NO_CRASH: Protocol(2, "Bombowe roboty, 6.1") "no-crash" in "protocols/robots.md#a-server-and-the-network",
        "The client does not crash, whatever a server or a GUI sends and however it ends",
        "Never allocate memory for a count before its bytes have arrived, and catch exceptions.";
    EXIT_ONE: Protocol(1, "Bombowe roboty, 4") "exit-status-1" in "protocols/robots.md#a-client",
        "A client that cannot start or go on ends with status 1",
        "Return 1 from main, and do not let an exception or an abort end the program.";
    TOO_BIG: Advice "too-big-picture" in "protocols/robots.md#a-client",
        "A picture that does not fit into a datagram does not end the client",
        "A send of more than 65,507 bytes fails: log it, and go on.";
    TRAILING: Advice "trailing-letters" in "protocols/robots.md#a-server-and-the-network",
        "With letters behind the port the client ends, with an exit status that is not 0",
        "strtoul tells where the number ends: that must be the end of the word.";
    EXTRA: Advice "extra-argument" in "protocols/robots.md#a-server-and-the-network",
        "With a word that is no option the client ends, with an exit status that is not 0",
        "Look at what is left behind the options.";
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/robots.md#a-server-and-the-network",
        "With an option that it does not know the client ends, with an exit status that is not 0",
        "getopt gives '?' then.";
    EXPLAINS: Advice "explains" in "protocols/robots.md#a-server-and-the-network",
        "A client that does not start says why on standard error",
        "Write a line to std::cerr before you exit.";
}
