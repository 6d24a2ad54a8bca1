//! What the protocol requires of a client.

use crate::rule::rules;

rules! {
    CONNECTS: Protocol 1 "connects" in "protocols/robots.md#a-client",
        "The client connects to the server when it starts, before any input",
        "";
    SILENT: Protocol 1 "silent-before-input" in "protocols/robots.md#a-client",
        "Nothing is sent to the server before the GUI sends an input",
        "";
    JOIN: Protocol 1 "join" in "protocols/robots.md#a-client",
        "An input in the lobby is answered by a Join with the exact name and by nothing else",
        "";
    FORWARDED: Protocol 1 "forwarded" in "protocols/robots.md#gui-to-client-udp",
        "An input in the game is passed on to the server with the tag of the server's protocol, once and in order",
        "";
    BAD_INPUT: Protocol 1 "bad-input" in "protocols/robots.md#gui-to-client-udp",
        "A datagram that is empty, has an unknown tag or direction, is cut off or has bytes left over is ignored",
        "";
    ANY_ADDRESS: Protocol 1 "any-address" in "protocols/robots.md#a-client",
        "Inputs are taken from any address and port",
        "";
    GUI_IPV6: Protocol 1 "gui-ipv6" in "protocols/robots.md#a-client",
        "Inputs are taken over IPv6 too",
        "";
    PICTURE_FORMAT: Protocol 1 "picture-format" in "protocols/robots.md#client-to-gui-udp",
        "Each datagram to the GUI is one well-formed message",
        "";
    LOBBY: Protocol 1 "lobby-picture" in "protocols/robots.md#a-client",
        "After Hello and after each AcceptedPlayer the GUI is sent a Lobby with the parameters and all players so far",
        "";
    GAME: Protocol 1 "game-picture" in "protocols/robots.md#a-client",
        "After each Turn, 0 included, the GUI is sent a Game with its number, players and board",
        "";
    NO_PICTURE: Protocol 1 "no-picture" in "protocols/robots.md#a-client",
        "GameStarted leads to no picture, and no picture comes twice",
        "";
    ENDED: Protocol 1 "game-ended" in "protocols/robots.md#a-client",
        "After GameEnded the GUI is sent a Lobby without players, and inputs join again",
        "";
    POSITIONS: Protocol 1 "positions" in "protocols/robots.md#a-client",
        "A Game has the position of each robot",
        "";
    BLOCKS: Protocol 1 "blocks" in "protocols/robots.md#a-client",
        "A Game has each block once, those that an explosion lists are gone",
        "";
    BOMBS: Protocol 1 "bombs" in "protocols/robots.md#a-client",
        "A Game has each bomb with its timer, which begins with bomb timer and is one less each turn",
        "";
    EXPLOSIONS: Protocol 1 "explosions" in "protocols/robots.md#the-board-and-explosions",
        "A Game has each field once that this turn's explosions cover, computed from the blocks at the start of the turn",
        "";
    SCORES: Protocol 1 "scores" in "protocols/robots.md#a-client",
        "A Game has a score of each player from turn 0 on, in how many turns the robot was destroyed",
        "";
    SCORE_ONCE: Protocol 1 "score-once" in "protocols/robots.md#a-client",
        "A robot that several explosions of one turn list scores once",
        "";
    PIECES: Protocol 1 "pieces" in "protocols/robots.md#a-client",
        "Messages from the server may arrive byte by byte",
        "";
    BIG_TURN: Protocol 1 "big-turn" in "protocols/robots.md#client-to-gui-udp",
        "A Turn of 60,000 bytes leads to a picture as any other",
        "Read until the message is complete, and send the picture in one datagram, which may have 65,507 bytes.";
    LATE: Protocol 1 "late-joiner" in "protocols/robots.md#a-client",
        "Many messages that arrive at once lead to one picture for each, as for who connects during a game",
        "";
    MAP_ORDER: Protocol 1 "map-order" in "protocols/robots.md#a-client",
        "The entries of a map from the server may have any order",
        "";
    SECOND_GAME: Protocol 1 "second-game" in "protocols/robots.md#a-client",
        "The next game begins without anything of the last one",
        "";
    MALFORMED: Protocol 1 "malformed" in "protocols/robots.md#a-client",
        "Bytes from the server that are no message end the client, with an exit status that is not 0",
        "";
    CLOSED: Protocol 1 "connection-lost" in "protocols/robots.md#a-client",
        "A closed connection ends the client, with an exit status that is not 0",
        "";
    UNREACHABLE: Protocol 1 "unreachable" in "protocols/robots.md#a-client",
        "A server that is not there ends the client, with an exit status that is not 0",
        "";
    TAKEN_PORT: Protocol 1 "taken-port" in "protocols/robots.md#a-client",
        "A port that is taken ends the client, with an exit status that is not 0",
        "";
    WRONG_ARGUMENTS: Protocol 1 "wrong-arguments" in "protocols/robots.md#a-client",
        "With a port that is no number the client ends and its exit status is not 0",
        "";
    EXIT_ONE: Arcade 0 "exit-status-1" in "protocols/robots.md#a-client",
        "A client that cannot start or go on ends with status 1",
        "";
}
