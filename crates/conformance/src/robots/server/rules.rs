//! What the protocol requires of a server.

use crate::rule::rules;

rules! {
    LISTENS: Protocol 1 "listens" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts connections on its port over IPv4",
        "Bind to the port of -p on all addresses, before anything takes time.";
    IPV6: Protocol 1 "ipv6" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts connections over IPv6",
        "Bind to [::] and switch IPV6_V6ONLY off, which serves both families.";
    MANY_CLIENTS: Protocol 1 "many-clients" in "protocols/robots.md#a-server-and-the-network",
        "The server serves 25 clients at a time",
        "Give listen a backlog of more than a few, and let nobody wait for another client.";
    WRONG_ARGUMENTS: Protocol 1 "wrong-arguments" in "protocols/robots.md#a-server-and-the-network",
        "With a port that is no number the server ends and its exit status is not 0",
        "atoi makes 0 of a word that is no number. Use a function that tells.";
    TAKEN_PORT: Protocol 1 "taken-port" in "protocols/robots.md#a-server-and-the-network",
        "When its port is taken the server ends and its exit status is not 0",
        "Look at what bind returns, and do not set SO_REUSEPORT.";
    EXIT_ONE: Arcade 0 "exit-status-1" in "protocols/robots.md#a-server-and-the-network",
        "A server that cannot start ends with status 1",
        "Return 1 from main, and do not let an exception or an abort end the program.";
    WELL_FORMED: Protocol 1 "well-formed" in "protocols/robots.md#server-to-client-tcp",
        "The server sends nothing but messages of the protocol, and none without cause",
        "Numbers are big-endian (htons, htonl), lists have a count of four bytes, and a struct may have gaps that must not be sent.";
    HELLO: Protocol 1 "hello" in "protocols/robots.md#server-to-client-tcp",
        "Hello is the first message on each connection and holds the parameters",
        "Send Hello as soon as accept returns, in the order of fields of the page: players count first, bomb timer last.";
    ACCEPTED: Protocol 1 "accepted" in "protocols/robots.md#the-lobby",
        "Each Join in the lobby is told to everybody, with the next id and the exact name",
        "Send it to all connections, observers and the player itself too. The name may be empty and may hold zero bytes.";
    ADDRESS: Protocol 1 "address" in "protocols/robots.md#server-to-client-tcp",
        "The address of a player is IPv4:port or [IPv6]:port",
        "An IPv6 address stands in brackets, and a colon and the port follow.";
    ADDRESS_OF_PEER: Arcade 0 "address-of-peer" in "protocols/robots.md#server-to-client-tcp",
        "The address of a player is the client's end of its connection",
        "Ask getpeername, not getsockname.";
    NEWCOMER: Protocol 1 "newcomer-in-lobby" in "protocols/robots.md#the-lobby",
        "Who connects in the lobby is told of all players so far in the order of their ids",
        "Keep the AcceptedPlayers of this lobby, and send them behind Hello.";
    SECOND_JOIN: Arcade 0 "second-join" in "protocols/robots.md#the-lobby",
        "A second Join of a player in the lobby is ignored",
        "Keep with each connection whether it is a player.";
    LOBBY_ACTIONS: Protocol 1 "lobby-actions" in "protocols/robots.md#the-lobby",
        "Actions sent in the lobby are ignored and not played later",
        "Clear the actions when the game starts.";
    LOBBY_LEAVER: Protocol 1 "lobby-leaver" in "protocols/robots.md#the-lobby",
        "A player who disconnects in the lobby stays on the list",
        "A player is not a connection: keep the player when the connection goes.";
    GAME_STARTED: Protocol 1 "game-started" in "protocols/robots.md#the-lobby",
        "The full lobby is followed at once by GameStarted with all players and by turn 0",
        "Start when the last player is accepted, without waiting for a turn.";
    TURN_0: Protocol 1 "turn-0" in "protocols/robots.md#turn-0",
        "Turn 0 has a PlayerMoved for each player by id, then a BlockPlaced for each block, none twice and none off the board",
        "Draw all robots first, in the order of ids, and then the blocks. A block that is there already has no event, but uses its draws.";
    DRAWS: Protocol 1 "draws" in "protocols/robots.md#draws",
        "Fields are drawn with the generator of the protocol from the seed, x before y, also for blocks that repeat",
        "Multiply in 64 bits. Draw x first: the order in which C and C++ compute arguments is not defined.";
    TURN_NUMBERS: Protocol 1 "turn-numbers" in "protocols/robots.md#turns-1-to-game-length",
        "Turns are numbered 0, 1, 2 and so on up to game length, none left out",
        "Send a Turn also when nothing happened in it.";
    TURN_DURATION: Protocol 1 "turn-duration" in "protocols/robots.md#a-server-and-the-network",
        "A turn collects actions for turn duration",
        "-d counts milliseconds, and actions are played at the end of the turn and not when they come.";
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
        "Write the bytes of a message once, and send them to everybody.";
    MOVE: Protocol 1 "move" in "protocols/robots.md#the-board-and-explosions",
        "Move goes to the neighbouring field: Up is y + 1, Right x + 1, Down y - 1, Left x - 1",
        "(0, 0) is at the lower left, and y grows upwards.";
    EDGE: Protocol 1 "edge" in "protocols/robots.md#the-board-and-explosions",
        "A move off the board has no effect and no event",
        "Coordinates are unsigned: 0 - 1 is 65535. Check before you subtract.";
    INTO_BLOCK: Protocol 1 "into-block" in "protocols/robots.md#the-board-and-explosions",
        "A move into a block has no effect and no event; leaving a block is allowed",
        "Only the field that a robot goes to is checked, not the one on which it stands.";
    BLOCK: Protocol 1 "place-block" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBlock puts a block on the field of the robot",
        "The block comes onto the field of the robot, not in front of it.";
    BLOCK_TWICE: Protocol 1 "block-twice" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBlock on a field with a block has no effect and no event",
        "Send an event only when the block is new.";
    BOMB: Protocol 1 "place-bomb" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBomb puts a bomb on the field of the robot, also onto a block or another bomb",
        "Bombs do not get into each other's way: keep a list and no grid.";
    BOMB_IDS: Protocol 1 "bomb-ids" in "protocols/robots.md#turns-1-to-game-length",
        "Bomb ids are unique within a game",
        "Count bombs in the game and do not use an id again when its bomb is gone.";
    LAST_COUNTS: Protocol 1 "last-counts" in "protocols/robots.md#turns-1-to-game-length",
        "Only the last action that a player sends before the end of a turn is played",
        "Keep one action for each player and overwrite it.";
    IMPOSSIBLE: Protocol 1 "impossible-displaces" in "protocols/robots.md#turns-1-to-game-length",
        "An impossible action displaces earlier ones like any other",
        "Whether an action is possible shows at the end of the turn, so keep it without a check.";
    JOIN_IN_GAME: Protocol 1 "join-in-game" in "protocols/robots.md#turns-1-to-game-length",
        "Join during a game is ignored and displaces no action",
        "Join is no action: leave the kept one alone.";
    PLAYED_ONCE: Protocol 1 "played-once" in "protocols/robots.md#turns-1-to-game-length",
        "An action is played in one turn and not again; a player who sends nothing does nothing",
        "Clear the actions after each turn.";
    OBSERVER: Protocol 1 "observer" in "protocols/robots.md#turns-1-to-game-length",
        "What observers send during a game is ignored",
        "Ask whether the connection is a player of this game.";
    EVENT_ORDER: Protocol 1 "event-order" in "protocols/robots.md#turns-1-to-game-length",
        "The events of a turn are first the explosions, then those of the players by id",
        "Go through bombs first, take away what they hit, and then through players by id, dead ones in their place.";
    BOMB_TIMER: Protocol 1 "bomb-timer" in "protocols/robots.md#turns-1-to-game-length",
        "A bomb explodes once, bomb timer turns after the turn that placed it",
        "Lower timers at the start of the turn, before new bombs are placed.";
    BLAST: Protocol 1 "blast" in "protocols/robots.md#the-board-and-explosions",
        "An explosion names each robot and block of its blast once: a cross that ends at the edge, at its radius or with the first block",
        "The first block in each direction belongs to the blast and ends it. With a radius of 65535, x + radius needs more than 16 bits.";
    UNITED: Protocol 1 "bombs-together" in "protocols/robots.md#the-board-and-explosions",
        "Bombs that explode in one turn are computed one by one against the blocks and robots at the start of the turn",
        "Take blocks away when all explosions of the turn are computed. A robot may be listed by several.";
    REBIRTH: Protocol 1 "rebirth" in "protocols/robots.md#turns-1-to-game-length",
        "A destroyed robot is moved to a drawn field in the same turn and its action is dropped",
        "Draw x and then y for each destroyed robot, in the order of ids, and send PlayerMoved in its place among the players.";
    BUSY: Protocol 1 "turns" in "protocols/robots.md#turns-1-to-game-length",
        "Turns in which all players act at once have exactly the events that follow from the rules",
        "See a turn as the page writes it: bombs by id, blocks away, then each player by id. Each step sees what the one before has done.";
    LEAVER: Protocol 1 "leaver" in "protocols/robots.md#turns-1-to-game-length",
        "A player who disconnects in the game stays in it: idle, destroyed and reborn as any other",
        "A player is not a connection: keep the player when the connection goes.";
    LATE: Protocol 1 "late-joiner" in "protocols/robots.md#late-joiners",
        "Who connects during a game gets Hello, GameStarted and all turns so far, with the content that everybody got",
        "Keep the messages of the game as they were sent, and send them to who comes.";
    ENDED: Protocol 1 "game-ended" in "protocols/robots.md#the-end",
        "Turn number game length is followed at once by GameEnded",
        "GameEnded follows the last turn at once, without another turn duration.";
    SCORES: Protocol 1 "scores" in "protocols/robots.md#the-end",
        "GameEnded holds for all players in how many turns their robot was destroyed, zeros too",
        "The map has an entry for each player, who was never hit too.";
    SCORE_ONCE: Protocol 1 "score-once" in "protocols/robots.md#the-end",
        "A robot that several bombs hit in one turn scores once",
        "Collect the destroyed robots of the turn in a set.";
    NEXT_GAME: Protocol 1 "next-game" in "protocols/robots.md#the-end",
        "After GameEnded there is a new lobby without players, whose ids begin with 0",
        "Clear players, bombs, blocks and scores; connections stay, and no new Hello is sent.";
    NOT_RESET: Protocol 1 "generator-goes-on" in "protocols/robots.md#draws",
        "The generator is not set back between games",
        "Make the generator once, at the start of the program.";
    PIECES: Protocol 1 "pieces" in "protocols/robots.md#a-server-and-the-network",
        "A message may arrive in pieces, and nobody waits for the rest of it",
        "A read is not a message: keep what has come for each client, and let nobody wait in read.";
    COALESCED: Protocol 1 "coalesced" in "protocols/robots.md#a-server-and-the-network",
        "Several messages may arrive at once",
        "After a message look for the next one in what you have read already, before you read again.";
    BAD_BYTES: Protocol 1 "bad-bytes" in "protocols/robots.md#a-server-and-the-network",
        "A client that sends an unknown tag or direction is disconnected",
        "Close the connection: there is no way to find the next message after a wrong byte.";
    BAD_NAME: Protocol 1 "bad-name" in "protocols/robots.md#a-server-and-the-network",
        "A client whose name is not UTF-8 is disconnected and does not play",
        "Check that the name is UTF-8 before the player is added.";
    UNDISTURBED: Protocol 1 "others-undisturbed" in "protocols/robots.md#a-server-and-the-network",
        "Nobody else notices a client that sends wrong bytes",
        "Close that connection alone. Ignore SIGPIPE, or send with MSG_NOSIGNAL.";
    NEVER_READS: Protocol 1 "never-reads" in "protocols/robots.md#a-server-and-the-network",
        "A client that does not read does not delay the others",
        "Do not wait in send: use sockets that do not block and a buffer or a thread for each client.";
}
