//! What the protocol requires of a server.

use crate::report::rules;

rules! {
    LISTENS: required "listens" "The server accepts connections on its port over IPv4";
    IPV6: required "ipv6" "The server accepts connections over IPv6";
    MANY_CLIENTS: required "many-clients" "The server serves 25 clients at a time";
    WRONG_ARGUMENTS: required "wrong-arguments"
        "With a port that is no number the server ends and its exit status is not 0";
    TAKEN_PORT: required "taken-port" "When its port is taken the server ends and its exit status is not 0";
    EXIT_ONE: advice "exit-status-1" "A server that cannot start ends with status 1";
    WELL_FORMED: required "well-formed" "The server sends nothing but messages of the protocol, and none without cause";
    HELLO: required "hello" "Hello is the first message on each connection and holds the parameters";
    ACCEPTED: required "accepted" "Each Join in the lobby is told to everybody, with the next id and the exact name";
    ADDRESS: required "address" "The address of a player is IPv4:port or [IPv6]:port";
    ADDRESS_OF_PEER: advice "address-of-peer" "The address of a player is the client's end of its connection";
    NEWCOMER: required "newcomer-in-lobby"
        "Who connects in the lobby is told of all players so far in the order of their ids";
    SECOND_JOIN: advice "second-join" "A second Join of a player in the lobby is ignored";
    LOBBY_ACTIONS: required "lobby-actions" "Actions sent in the lobby are ignored and not played later";
    LOBBY_LEAVER: required "lobby-leaver" "A player who disconnects in the lobby stays on the list";
    GAME_STARTED: required "game-started"
        "The full lobby is followed at once by GameStarted with all players and by turn 0";
    TURN_0: required "turn-0"
        "Turn 0 has a PlayerMoved for each player by id, then a BlockPlaced for each block, none twice and none off the board";
    DRAWS: required "draws"
        "Fields are drawn with the generator of the protocol from the seed, x before y, also for blocks that repeat";
    TURN_NUMBERS: required "turn-numbers" "Turns are numbered 0, 1, 2 and so on up to game length, none left out";
    TURN_DURATION: required "turn-duration" "A turn collects actions for turn duration";
    SAME_FOR_ALL: required "same-for-all" "All connected clients get the same messages";
    MOVE: required "move" "Move goes to the neighbouring field: Up is y + 1, Right x + 1, Down y - 1, Left x - 1";
    EDGE: required "edge" "A move off the board has no effect and no event";
    INTO_BLOCK: required "into-block" "A move into a block has no effect and no event; leaving a block is allowed";
    BLOCK: required "place-block" "PlaceBlock puts a block on the field of the robot";
    BLOCK_TWICE: required "block-twice" "PlaceBlock on a field with a block has no effect and no event";
    BOMB: required "place-bomb" "PlaceBomb puts a bomb on the field of the robot, also onto a block or another bomb";
    BOMB_IDS: required "bomb-ids" "Bomb ids are unique within a game";
    LAST_COUNTS: required "last-counts" "Only the last action that a player sends before the end of a turn is played";
    IMPOSSIBLE: required "impossible-displaces" "An impossible action displaces earlier ones like any other";
    JOIN_IN_GAME: required "join-in-game" "Join during a game is ignored and displaces no action";
    PLAYED_ONCE: required "played-once"
        "An action is played in one turn and not again; a player who sends nothing does nothing";
    OBSERVER: required "observer" "What observers send during a game is ignored";
    EVENT_ORDER: required "event-order"
        "The events of a turn are first the explosions, then those of the players by id";
    BOMB_TIMER: required "bomb-timer" "A bomb explodes once, bomb timer turns after the turn that placed it";
    BLAST: required "blast"
        "An explosion names each robot and block of its blast once: a cross that ends at the edge, at its radius or with the first block";
    UNITED: required "bombs-together"
        "Bombs that explode in one turn are computed one by one against the blocks and robots at the start of the turn";
    REBIRTH: required "rebirth"
        "A destroyed robot is moved to a drawn field in the same turn and its action is dropped";
    BUSY: required "turns" "Turns in which all players act at once have exactly the events that follow from the rules";
    LEAVER: required "leaver"
        "A player who disconnects in the game stays in it: idle, destroyed and reborn as any other";
    LATE: required "late-joiner"
        "Who connects during a game gets Hello, GameStarted and all turns so far, with the content that everybody got";
    ENDED: required "game-ended" "Turn number game length is followed at once by GameEnded";
    SCORES: required "scores" "GameEnded holds for all players in how many turns their robot was destroyed, zeros too";
    SCORE_ONCE: required "score-once" "A robot that several bombs hit in one turn scores once";
    NEXT_GAME: required "next-game" "After GameEnded there is a new lobby without players, whose ids begin with 0";
    NOT_RESET: required "generator-goes-on" "The generator is not set back between games";
    PIECES: required "pieces" "A message may arrive in pieces, and nobody waits for the rest of it";
    COALESCED: required "coalesced" "Several messages may arrive at once";
    BAD_BYTES: required "bad-bytes" "A client that sends an unknown tag or direction is disconnected";
    BAD_NAME: required "bad-name" "A client whose name is not UTF-8 is disconnected and does not play";
    UNDISTURBED: required "others-undisturbed" "Nobody else notices a client that sends wrong bytes";
    NEVER_READS: required "never-reads" "A client that does not read does not delay the others";
}
