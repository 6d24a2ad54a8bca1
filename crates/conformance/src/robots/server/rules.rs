//! What the protocol requires of a server.

use crate::rule::rules;

rules! {
    LISTENS: Protocol 1 "listens" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts connections on its port over IPv4",
        "";
    IPV6: Protocol 1 "ipv6" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts connections over IPv6",
        "";
    MANY_CLIENTS: Protocol 1 "many-clients" in "protocols/robots.md#a-server-and-the-network",
        "The server serves 25 clients at a time",
        "";
    WRONG_ARGUMENTS: Protocol 1 "wrong-arguments" in "protocols/robots.md#a-server-and-the-network",
        "With a port that is no number the server ends and its exit status is not 0",
        "";
    TAKEN_PORT: Protocol 1 "taken-port" in "protocols/robots.md#a-server-and-the-network",
        "When its port is taken the server ends and its exit status is not 0",
        "";
    EXIT_ONE: Arcade 0 "exit-status-1" in "protocols/robots.md#a-server-and-the-network",
        "A server that cannot start ends with status 1",
        "";
    WELL_FORMED: Protocol 1 "well-formed" in "protocols/robots.md#server-to-client-tcp",
        "The server sends nothing but messages of the protocol, and none without cause",
        "";
    HELLO: Protocol 1 "hello" in "protocols/robots.md#server-to-client-tcp",
        "Hello is the first message on each connection and holds the parameters",
        "";
    ACCEPTED: Protocol 1 "accepted" in "protocols/robots.md#the-lobby",
        "Each Join in the lobby is told to everybody, with the next id and the exact name",
        "";
    ADDRESS: Protocol 1 "address" in "protocols/robots.md#server-to-client-tcp",
        "The address of a player is IPv4:port or [IPv6]:port",
        "";
    ADDRESS_OF_PEER: Arcade 0 "address-of-peer" in "protocols/robots.md#server-to-client-tcp",
        "The address of a player is the client's end of its connection",
        "";
    NEWCOMER: Protocol 1 "newcomer-in-lobby" in "protocols/robots.md#the-lobby",
        "Who connects in the lobby is told of all players so far in the order of their ids",
        "";
    SECOND_JOIN: Arcade 0 "second-join" in "protocols/robots.md#the-lobby",
        "A second Join of a player in the lobby is ignored",
        "";
    LOBBY_ACTIONS: Protocol 1 "lobby-actions" in "protocols/robots.md#the-lobby",
        "Actions sent in the lobby are ignored and not played later",
        "";
    LOBBY_LEAVER: Protocol 1 "lobby-leaver" in "protocols/robots.md#the-lobby",
        "A player who disconnects in the lobby stays on the list",
        "";
    GAME_STARTED: Protocol 1 "game-started" in "protocols/robots.md#the-lobby",
        "The full lobby is followed at once by GameStarted with all players and by turn 0",
        "";
    TURN_0: Protocol 1 "turn-0" in "protocols/robots.md#turn-0",
        "Turn 0 has a PlayerMoved for each player by id, then a BlockPlaced for each block, none twice and none off the board",
        "";
    DRAWS: Protocol 1 "draws" in "protocols/robots.md#draws",
        "Fields are drawn with the generator of the protocol from the seed, x before y, also for blocks that repeat",
        "";
    TURN_NUMBERS: Protocol 1 "turn-numbers" in "protocols/robots.md#turns-1-to-game-length",
        "Turns are numbered 0, 1, 2 and so on up to game length, none left out",
        "";
    TURN_DURATION: Protocol 1 "turn-duration" in "protocols/robots.md#a-server-and-the-network",
        "A turn collects actions for turn duration",
        "";
    NO_DRIFT: Protocol 1 "no-drift" in "protocols/robots.md#turns-1-to-game-length",
        "Turns do not drift: turn t comes t times turn duration after turn 0",
        "Wait until the time when the turn is due, counted from turn 0, and not for a whole turn duration after the last turn was sent.";
    NO_DELAY: Protocol 1 "no-delay" in "protocols/robots.md#a-server-and-the-network",
        "A turn is sent at once, although the one before is not acknowledged yet",
        "Set TCP_NODELAY on each accepted connection.";
    NO_SEED: Course 1 "no-seed" in "protocols/robots.md#a-server-and-the-network",
        "Without -s the server starts, and draws something else each time",
        "The seed is the one option that the course does not require.";
    SAME_FOR_ALL: Protocol 1 "same-for-all" in "protocols/robots.md#turns-1-to-game-length",
        "All connected clients get the same messages",
        "";
    MOVE: Protocol 1 "move" in "protocols/robots.md#the-board-and-explosions",
        "Move goes to the neighbouring field: Up is y + 1, Right x + 1, Down y - 1, Left x - 1",
        "";
    EDGE: Protocol 1 "edge" in "protocols/robots.md#the-board-and-explosions",
        "A move off the board has no effect and no event",
        "";
    INTO_BLOCK: Protocol 1 "into-block" in "protocols/robots.md#the-board-and-explosions",
        "A move into a block has no effect and no event; leaving a block is allowed",
        "";
    BLOCK: Protocol 1 "place-block" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBlock puts a block on the field of the robot",
        "";
    BLOCK_TWICE: Protocol 1 "block-twice" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBlock on a field with a block has no effect and no event",
        "";
    BOMB: Protocol 1 "place-bomb" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBomb puts a bomb on the field of the robot, also onto a block or another bomb",
        "";
    BOMB_IDS: Protocol 1 "bomb-ids" in "protocols/robots.md#turns-1-to-game-length",
        "Bomb ids are unique within a game",
        "";
    LAST_COUNTS: Protocol 1 "last-counts" in "protocols/robots.md#turns-1-to-game-length",
        "Only the last action that a player sends before the end of a turn is played",
        "";
    IMPOSSIBLE: Protocol 1 "impossible-displaces" in "protocols/robots.md#turns-1-to-game-length",
        "An impossible action displaces earlier ones like any other",
        "";
    JOIN_IN_GAME: Protocol 1 "join-in-game" in "protocols/robots.md#turns-1-to-game-length",
        "Join during a game is ignored and displaces no action",
        "";
    PLAYED_ONCE: Protocol 1 "played-once" in "protocols/robots.md#turns-1-to-game-length",
        "An action is played in one turn and not again; a player who sends nothing does nothing",
        "";
    OBSERVER: Protocol 1 "observer" in "protocols/robots.md#turns-1-to-game-length",
        "What observers send during a game is ignored",
        "";
    EVENT_ORDER: Protocol 1 "event-order" in "protocols/robots.md#turns-1-to-game-length",
        "The events of a turn are first the explosions, then those of the players by id",
        "";
    BOMB_TIMER: Protocol 1 "bomb-timer" in "protocols/robots.md#turns-1-to-game-length",
        "A bomb explodes once, bomb timer turns after the turn that placed it",
        "";
    BLAST: Protocol 1 "blast" in "protocols/robots.md#the-board-and-explosions",
        "An explosion names each robot and block of its blast once: a cross that ends at the edge, at its radius or with the first block",
        "";
    UNITED: Protocol 1 "bombs-together" in "protocols/robots.md#the-board-and-explosions",
        "Bombs that explode in one turn are computed one by one against the blocks and robots at the start of the turn",
        "";
    REBIRTH: Protocol 1 "rebirth" in "protocols/robots.md#turns-1-to-game-length",
        "A destroyed robot is moved to a drawn field in the same turn and its action is dropped",
        "";
    BUSY: Protocol 1 "turns" in "protocols/robots.md#turns-1-to-game-length",
        "Turns in which all players act at once have exactly the events that follow from the rules",
        "";
    LEAVER: Protocol 1 "leaver" in "protocols/robots.md#turns-1-to-game-length",
        "A player who disconnects in the game stays in it: idle, destroyed and reborn as any other",
        "";
    LATE: Protocol 1 "late-joiner" in "protocols/robots.md#late-joiners",
        "Who connects during a game gets Hello, GameStarted and all turns so far, with the content that everybody got",
        "";
    ENDED: Protocol 1 "game-ended" in "protocols/robots.md#the-end",
        "Turn number game length is followed at once by GameEnded",
        "";
    SCORES: Protocol 1 "scores" in "protocols/robots.md#the-end",
        "GameEnded holds for all players in how many turns their robot was destroyed, zeros too",
        "";
    SCORE_ONCE: Protocol 1 "score-once" in "protocols/robots.md#the-end",
        "A robot that several bombs hit in one turn scores once",
        "";
    NEXT_GAME: Protocol 1 "next-game" in "protocols/robots.md#the-end",
        "After GameEnded there is a new lobby without players, whose ids begin with 0",
        "";
    NOT_RESET: Protocol 1 "generator-goes-on" in "protocols/robots.md#draws",
        "The generator is not set back between games",
        "";
    PIECES: Protocol 1 "pieces" in "protocols/robots.md#a-server-and-the-network",
        "A message may arrive in pieces, and nobody waits for the rest of it",
        "";
    COALESCED: Protocol 1 "coalesced" in "protocols/robots.md#a-server-and-the-network",
        "Several messages may arrive at once",
        "";
    BAD_BYTES: Protocol 1 "bad-bytes" in "protocols/robots.md#a-server-and-the-network",
        "A client that sends an unknown tag or direction is disconnected",
        "";
    BAD_NAME: Protocol 1 "bad-name" in "protocols/robots.md#a-server-and-the-network",
        "A client whose name is not UTF-8 is disconnected and does not play",
        "";
    UNDISTURBED: Protocol 1 "others-undisturbed" in "protocols/robots.md#a-server-and-the-network",
        "Nobody else notices a client that sends wrong bytes",
        "";
    NEVER_READS: Protocol 1 "never-reads" in "protocols/robots.md#a-server-and-the-network",
        "A client that does not read does not delay the others",
        "";
}
