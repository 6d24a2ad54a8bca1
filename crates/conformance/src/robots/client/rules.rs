//! What the protocol requires of a client.

use crate::rule::rules;

rules! {
    CONNECTS: Protocol 1 "connects" in "protocols/robots.md#a-client",
        "The client connects to the server when it starts, before any input",
        "Connect in main, before you wait for the GUI.";
    SILENT: Protocol 1 "silent-before-input" in "protocols/robots.md#a-client",
        "Nothing is sent to the server before the GUI sends an input",
        "Join only when a key was pressed, not when Hello has come.";
    JOIN: Protocol 1 "join" in "protocols/robots.md#a-client",
        "An input in the lobby is answered by a Join with the exact name and by nothing else",
        "Any key joins in the lobby. The name has its length in bytes in front, and no zero byte at its end.";
    FORWARDED: Protocol 1 "forwarded" in "protocols/robots.md#gui-to-client-udp",
        "An input in the game is passed on to the server with the tag of the server's protocol, once and in order",
        "The tags differ by one: 0 of the GUI is 1 for the server.";
    BAD_INPUT: Protocol 1 "bad-input" in "protocols/robots.md#gui-to-client-udp",
        "A datagram that is empty, has an unknown tag or direction, is cut off or has bytes left over is ignored",
        "Compare the length of the datagram with that of the message exactly.";
    ANY_ADDRESS: Protocol 1 "any-address" in "protocols/robots.md#a-client",
        "Inputs are taken from any address and port",
        "Do not connect the socket on which you listen for the GUI.";
    GUI_IPV6: Protocol 1 "gui-ipv6" in "protocols/robots.md#a-client",
        "Inputs are taken over IPv6 too",
        "Bind to [::] and switch IPV6_V6ONLY off, which serves both families.";
    PICTURE_FORMAT: Protocol 1 "picture-format" in "protocols/robots.md#client-to-gui-udp",
        "Each datagram to the GUI is one well-formed message",
        "Numbers are big-endian (htons, htonl), and lists have a count of four bytes.";
    LOBBY: Protocol 1 "lobby-picture" in "protocols/robots.md#a-client",
        "After Hello and after each AcceptedPlayer the GUI is sent a Lobby with the parameters and all players so far",
        "Send a Lobby after each of these messages, also when several have come at once.";
    GAME: Protocol 1 "game-picture" in "protocols/robots.md#a-client",
        "After each Turn, 0 included, the GUI is sent a Game with its number, players and board",
        "Send the Game when the whole Turn is read, once, and not after each event.";
    NO_PICTURE: Protocol 1 "no-picture" in "protocols/robots.md#a-client",
        "GameStarted leads to no picture, and no picture comes twice",
        "GameStarted only says who plays: keep the players, and send the picture with turn 0.";
    ENDED: Protocol 1 "game-ended" in "protocols/robots.md#a-client",
        "After GameEnded the GUI is sent a Lobby without players, and inputs join again",
        "Forget players and board at GameEnded, and whether you have joined.";
    POSITIONS: Protocol 1 "positions" in "protocols/robots.md#a-client",
        "A Game has the position of each robot",
        "PlayerMoved holds for turn 0, moves and rebirths alike.";
    BLOCKS: Protocol 1 "blocks" in "protocols/robots.md#a-client",
        "A Game has each block once, those that an explosion lists are gone",
        "Keep blocks in a set. Take those of explosions away behind the last BombExploded of a turn: until then they stop other blasts, and a BlockPlaced may bring one back.";
    BOMBS: Protocol 1 "bombs" in "protocols/robots.md#a-client",
        "A Game has each bomb with its timer, which begins with bomb timer and is one less each turn",
        "Lower the timers of all bombs at the start of a Turn, then read its events: a bomb that was placed in it starts with the whole timer.";
    EXPLOSIONS: Protocol 1 "explosions" in "protocols/robots.md#the-board-and-explosions",
        "A Game has each field once that this turn's explosions cover, computed from the blocks at the start of the turn",
        "Compute a blast with the blocks of the start of the turn: a block that another bomb of this turn destroys still stops it.";
    SCORES: Protocol 1 "scores" in "protocols/robots.md#a-client",
        "A Game has a score of each player from turn 0 on, in how many turns the robot was destroyed",
        "Give everybody 0 at GameStarted. Count turns in which a robot was destroyed, not explosions.";
    SCORE_ONCE: Protocol 1 "score-once" in "protocols/robots.md#a-client",
        "A robot that several explosions of one turn list scores once",
        "Collect the destroyed robots of the turn in a set, and add 1 for each when it is read.";
    PIECES: Protocol 1 "pieces" in "protocols/robots.md#a-client",
        "Messages from the server may arrive byte by byte",
        "A read is not a message: loop until as many bytes are there as the field needs.";
    BIG_TURN: Protocol 1 "big-turn" in "protocols/robots.md#client-to-gui-udp",
        "A Turn of 60,000 bytes leads to a picture as any other",
        "Read until the message is complete, and send the picture in one datagram, which may have 65,507 bytes.";
    LATE: Protocol 1 "late-joiner" in "protocols/robots.md#a-client",
        "Many messages that arrive at once lead to one picture for each, as for who connects during a game",
        "After a message look for the next one in what you have read already, before you read again.";
    MAP_ORDER: Protocol 1 "map-order" in "protocols/robots.md#a-client",
        "The entries of a map from the server may have any order",
        "Read the key of each entry, and do not count them.";
    SECOND_GAME: Protocol 1 "second-game" in "protocols/robots.md#a-client",
        "The next game begins without anything of the last one",
        "Clear bombs, blocks, explosions, scores and positions at GameStarted.";
    MALFORMED: Protocol 1 "malformed" in "protocols/robots.md#a-client",
        "Bytes from the server that are no message end the client, with an exit status that is not 0",
        "Check tags, and that texts are UTF-8. There is no way to find the next message after a wrong byte.";
    CLOSED: Protocol 1 "connection-lost" in "protocols/robots.md#a-client",
        "A closed connection ends the client, with an exit status that is not 0",
        "A read that gives 0 is the end of the connection. End the thread that waits for the GUI too.";
    UNREACHABLE: Protocol 1 "unreachable" in "protocols/robots.md#a-client",
        "A server that is not there ends the client, with an exit status that is not 0",
        "Look at what connect returns, for all addresses that getaddrinfo gives.";
    TAKEN_PORT: Protocol 1 "taken-port" in "protocols/robots.md#a-client",
        "A port that is taken ends the client, with an exit status that is not 0",
        "Look at what bind returns, and do not set SO_REUSEPORT.";
    WRONG_ARGUMENTS: Protocol 1 "wrong-arguments" in "protocols/robots.md#a-client",
        "With a port that is no number the client ends and its exit status is not 0",
        "atoi makes 0 of a word that is no number. Use a function that tells.";
    EXIT_ONE: Arcade 0 "exit-status-1" in "protocols/robots.md#a-client",
        "A client that cannot start or go on ends with status 1",
        "Return 1 from main, and do not let an exception or an abort end the program.";
}
