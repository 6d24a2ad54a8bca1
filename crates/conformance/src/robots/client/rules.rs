//! What the protocol requires of a client.

use crate::report::rules;

rules! {
    CONNECTS: required "connects" "The client connects to the server when it starts, before any input";
    SILENT: required "silent-before-input" "Nothing is sent to the server before the GUI sends an input";
    JOIN: required "join" "An input in the lobby is answered by a Join with the exact name and by nothing else";
    FORWARDED: required "forwarded"
        "An input in the game is passed on to the server with the tag of the server's protocol, once and in order";
    BAD_INPUT: required "bad-input"
        "A datagram that is empty, has an unknown tag or direction, is cut off or has bytes left over is ignored";
    ANY_ADDRESS: required "any-address" "Inputs are taken from any address and port";
    GUI_IPV6: required "gui-ipv6" "Inputs are taken over IPv6 too";
    PICTURE_FORMAT: required "picture-format" "Each datagram to the GUI is one well-formed message";
    LOBBY: required "lobby-picture"
        "After Hello and after each AcceptedPlayer the GUI is sent a Lobby with the parameters and all players so far";
    GAME: required "game-picture"
        "After each Turn, 0 included, the GUI is sent a Game with its number, players and board";
    NO_PICTURE: required "no-picture" "GameStarted leads to no picture, and no picture comes twice";
    ENDED: required "game-ended" "After GameEnded the GUI is sent a Lobby without players, and inputs join again";
    POSITIONS: required "positions" "A Game has the position of each robot";
    BLOCKS: required "blocks" "A Game has each block once, those that an explosion lists are gone";
    BOMBS: required "bombs"
        "A Game has each bomb with its timer, which begins with bomb timer and is one less each turn";
    EXPLOSIONS: required "explosions"
        "A Game has each field once that this turn's explosions cover, computed from the blocks at the start of the turn";
    SCORES: required "scores"
        "A Game has a score of each player from turn 0 on, in how many turns the robot was destroyed";
    SCORE_ONCE: required "score-once" "A robot that several explosions of one turn list scores once";
    PIECES: required "pieces" "Messages from the server may arrive byte by byte";
    LATE: required "late-joiner"
        "Many messages that arrive at once lead to one picture for each, as for who connects during a game";
    MAP_ORDER: required "map-order" "The entries of a map from the server may have any order";
    SECOND_GAME: required "second-game" "The next game begins without anything of the last one";
    MALFORMED: required "malformed"
        "Bytes from the server that are no message end the client, with an exit status that is not 0";
    CLOSED: required "connection-lost" "A closed connection ends the client, with an exit status that is not 0";
    UNREACHABLE: required "unreachable" "A server that is not there ends the client, with an exit status that is not 0";
    TAKEN_PORT: required "taken-port" "A port that is taken ends the client, with an exit status that is not 0";
    WRONG_ARGUMENTS: required "wrong-arguments"
        "With a port that is no number the client ends and its exit status is not 0";
    EXIT_ONE: advice "exit-status-1" "A client that cannot start or go on ends with status 1";
}
