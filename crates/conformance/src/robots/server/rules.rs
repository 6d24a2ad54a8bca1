//! The requirements of the protocol for a server.

use crate::rule::rules;

rules! {
    LISTENS: Protocol(2, "Bombowe roboty, 2") "listens" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts connections on its port over IPv4",
        "Bind to the port of -p on all addresses, before anything takes time.";
    IPV6: Protocol(1, "Bombowe roboty, 4") "ipv6" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts connections over IPv6",
        "Bind to [::] and switch IPV6_V6ONLY off, which serves both families.";
    MANY_CLIENTS: Protocol(1, "Bombowe roboty, 4") "many-clients" in "protocols/robots.md#a-server-and-the-network",
        "The server serves 25 clients at a time",
        "Give listen a backlog of more than a few, and let nobody wait for another client.";
    WRONG_ARGUMENTS: Protocol(1, "Bombowe roboty, 6.1") "wrong-arguments" in "protocols/robots.md#a-server-and-the-network",
        "With a port that is no number the server ends and its exit status is not 0",
        "atoi makes 0 of a word that is no number. Use a function that tells.";
    TAKEN_PORT: Protocol(1, "Bombowe roboty, 6.1") "taken-port" in "protocols/robots.md#a-server-and-the-network",
        "When its port is taken the server ends and its exit status is not 0",
        "Look at what bind returns, and do not set SO_REUSEPORT.";
    EXIT_ONE: Advice "exit-status-1" in "protocols/robots.md#a-server-and-the-network",
        "A server that cannot start ends with status 1",
        "Return 1 from main, and do not let an exception or an abort end the program.";
    WELL_FORMED: Protocol(3, "Bombowe roboty, 2.2") "well-formed" in "protocols/robots.md#server-to-client-tcp",
        "The server sends nothing but messages of the protocol, and none without cause",
        "Numbers are big-endian (htons, htonl), lists have a count of four bytes, and a struct may have gaps that must not be sent.";
    HELLO: Protocol(5, "Bombowe roboty, 2.6") "hello" in "protocols/robots.md#server-to-client-tcp",
        "Hello is the first message on each connection and holds the parameters",
        "Send Hello as soon as accept returns, in the order of fields of the page: players count first, bomb timer last.";
    ACCEPTED: Protocol(5, "Bombowe roboty, 2.6") "accepted" in "protocols/robots.md#the-lobby",
        "After each Join in the lobby all clients get one AcceptedPlayer, with the next id and the exact name",
        "Send it to all connections once, to observers and to the player itself too.";
    ADDRESS: Protocol(1, "Bombowe roboty, 2.3") "address" in "protocols/robots.md#server-to-client-tcp",
        "The address of a player is an IPv4 or IPv6 address, with or without a port",
        "Use what inet_ntop returns.";
    ADDRESS_OF_PEER: Advice "address-of-peer" in "protocols/robots.md#server-to-client-tcp",
        "The address of a player is the client's end of its connection as IPv4:port or [IPv6]:port",
        "Use getpeername, not getsockname. An IPv6 address stands in brackets, and a colon and the port follow.";
    NEWCOMER: Protocol(2, "Bombowe roboty, 2.6") "newcomer-in-lobby" in "protocols/robots.md#the-lobby",
        "Who connects in the lobby is told of all players so far in the order of their ids",
        "Keep the AcceptedPlayers of this lobby, and send them behind Hello.";
    SECOND_JOIN: Advice "second-join" in "protocols/robots.md#the-lobby",
        "A second Join of a player in the lobby is ignored",
        "Keep with each connection whether it is a player.";
    LOBBY_ACTIONS: Protocol(1, "Bombowe roboty, 2.1") "lobby-actions" in "protocols/robots.md#the-lobby",
        "Actions sent in the lobby are ignored and not played later",
        "Clear the actions when the game starts.";
    LOBBY_LEAVER: Protocol(1, "Bombowe roboty, 2.6") "lobby-leaver" in "protocols/robots.md#the-lobby",
        "A player who disconnects in the lobby stays on the list",
        "A player is not a connection: keep the player when the connection goes.";
    GAME_STARTED: Protocol(5, "Bombowe roboty, 2.7") "game-started" in "protocols/robots.md#the-lobby",
        "The full lobby is followed at once by GameStarted with all players and by turn 0",
        "Start when the last player is accepted, without waiting for a turn.";
    TURN_0: Protocol(5, "Bombowe roboty, 2.7") "turn-0" in "protocols/robots.md#turn-0",
        "Turn 0 has a PlayerMoved for each player by id, then a BlockPlaced for each block, none twice and none off the board",
        "Draw all robots first, in the order of ids, and then the blocks. A block that is there already has no event, but uses its draws.";
    DRAWS: Protocol(3, "Bombowe roboty, 2.4") "draws" in "protocols/robots.md#draws",
        "Fields are drawn with the generator of the protocol from the seed, x before y, also for blocks that repeat",
        "Multiply in 64 bits. Draw x first: the order in which C and C++ compute arguments is not defined.";
    TURN_NUMBERS: Protocol(5, "Bombowe roboty, 2.10") "turn-numbers" in "protocols/robots.md#turns-1-to-game-length",
        "Turns are numbered 0, 1, 2 and so on up to game length, none left out",
        "Send a Turn also when nothing happened in it.";
    TURN_DURATION: Protocol(2, "Bombowe roboty, 2.9") "turn-duration" in "protocols/robots.md#a-server-and-the-network",
        "A turn collects actions for turn duration",
        "-d counts milliseconds, and actions are played at the end of the turn and not when they come.";
    NO_DRIFT: Advice "no-drift" in "protocols/robots.md#turns-1-to-game-length",
        "Turns do not drift: turn t comes t times turn duration after turn 0",
        "Wait until the time when the turn is due, counted from turn 0, and not for a whole turn duration after the last turn was sent.";
    NO_DELAY: Protocol(1, "Bombowe roboty, 4") "no-delay" in "protocols/robots.md#a-server-and-the-network",
        "A turn is sent at once, although the one before is not acknowledged yet",
        "Set TCP_NODELAY on each accepted connection.";
    NO_SEED: Protocol(1, "Bombowe roboty, 2.4") "no-seed" in "protocols/robots.md#a-server-and-the-network",
        "Without -s the server starts, and draws something else each time",
        "The seed is the one option that the course does not require.";
    SAME_FOR_ALL: Protocol(3, "Bombowe roboty, 2.6") "same-for-all" in "protocols/robots.md#turns-1-to-game-length",
        "All connected clients get the same messages",
        "Write the bytes of a message once, and send them to everybody.";
    MOVE: Protocol(5, "Bombowe roboty, 2.1") "move" in "protocols/robots.md#the-board-and-explosions",
        "Move goes to the neighbouring field: Up is y + 1, Right x + 1, Down y - 1, Left x - 1",
        "(0, 0) is at the lower left, and y grows upwards.";
    EDGE: Protocol(2, "Bombowe roboty, 2.8") "edge" in "protocols/robots.md#the-board-and-explosions",
        "A move beyond the lower or left edge has no effect and no event",
        "Coordinates are unsigned: 0 - 1 is 65535. Check before you subtract.";
    INTO_BLOCK: Protocol(2, "Bombowe roboty, 2.8") "into-block" in "protocols/robots.md#the-board-and-explosions",
        "A move into a block has no effect and no event",
        "Look at the field that the robot goes to, on the board as it is then.";
    BLOCK: Protocol(3, "Bombowe roboty, 2.8") "place-block" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBlock puts a block on the field of the robot",
        "The block comes onto the field of the robot, not in front of it.";
    BLOCK_TWICE: Protocol(1, "Bombowe roboty, 2.8") "block-twice" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBlock on a field with a block has no effect and no event",
        "Send an event only when the block is new.";
    BOMB: Protocol(3, "Bombowe roboty, 2.8") "place-bomb" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBomb puts a bomb on the field of the robot, also onto a block or another bomb",
        "Nothing keeps a bomb from a field.";
    BOMB_IDS: Protocol(1, "Bombowe roboty, 2.3") "bomb-ids" in "protocols/robots.md#turns-1-to-game-length",
        "Bomb ids are unique within a game",
        "Count bombs in the game and do not use an id again when its bomb is gone.";
    LAST_COUNTS: Protocol(2, "Bombowe roboty, 2.9") "last-counts" in "protocols/robots.md#turns-1-to-game-length",
        "Only the last action that a player sends before the end of a turn is played",
        "Keep one action for each player and overwrite it.";
    IMPOSSIBLE: Protocol(1, "Bombowe roboty, 7") "impossible-displaces" in "protocols/robots.md#turns-1-to-game-length",
        "An impossible action displaces earlier ones like any other",
        "Whether an action is possible shows at the end of the turn, so keep it without a check.";
    JOIN_IN_GAME: Protocol(1, "Bombowe roboty, 2.1") "join-in-game" in "protocols/robots.md#turns-1-to-game-length",
        "Join during a game is ignored and displaces no action",
        "Join is no action: leave the kept one alone.";
    PLAYED_ONCE: Protocol(4, "Bombowe roboty, 2.9") "played-once" in "protocols/robots.md#turns-1-to-game-length",
        "An action is played in one turn and not again; a player who sends nothing does nothing",
        "Clear the actions after each turn.";
    OWN_EVENTS: Protocol(4, "Bombowe roboty, 2.8") "own-events" in "protocols/robots.md#turns-1-to-game-length",
        "A Turn lists the events of that turn alone",
        "Empty the list of events at the start of each turn.";
    OBSERVER: Protocol(1, "Bombowe roboty, 7") "observer" in "protocols/robots.md#turns-1-to-game-length",
        "What observers send during a game is ignored",
        "Ask whether the connection is a player of this game.";
    EVENT_ORDER: Protocol(2, "Bombowe roboty, 2.8") "event-order" in "protocols/robots.md#turns-1-to-game-length",
        "The events of a turn are first the explosions, then those of the players by id",
        "Go through bombs first, take away what they hit, and then through players by id, dead ones in their place.";
    BOMB_TIMER: Protocol(5, "Bombowe roboty, 2.8") "bomb-timer" in "protocols/robots.md#turns-1-to-game-length",
        "A bomb explodes once, bomb timer turns after the turn that placed it",
        "Lower timers at the start of the turn, before new bombs are placed.";
    BLAST: Protocol(5, "Bombowe roboty, 2.8") "blast" in "protocols/robots.md#the-board-and-explosions",
        "An explosion names the robots and blocks of its blast: a cross that ends at the edge, at its radius or with the first block",
        "The first block in each direction belongs to the blast and ends it. With a radius of 65535, x + radius needs more than 16 bits.";
    UNITED: Protocol(2, "Bombowe roboty, 2.8") "bombs-together" in "protocols/robots.md#the-board-and-explosions",
        "Bombs that explode in one turn are computed one by one against the blocks and robots at the start of the turn",
        "Take blocks away when all explosions of the turn are computed. A robot may be listed by several.";
    REBIRTH: Protocol(4, "Bombowe roboty, 2.8") "rebirth" in "protocols/robots.md#turns-1-to-game-length",
        "A destroyed robot is moved to a drawn field in the same turn",
        "Draw x and then y for each destroyed robot, in the order of ids, and send PlayerMoved in its place among the players.";
    BUSY: Protocol(5, "Bombowe roboty, 2.8") "turns" in "protocols/robots.md#turns-1-to-game-length",
        "Turns in which all players act at once have exactly the events that follow from the rules",
        "See a turn as the page writes it: bombs by id, blocks away, then each player by id. Each step sees what the one before has done.";
    LEAVER: Protocol(1, "Bombowe roboty, 2.6") "leaver" in "protocols/robots.md#turns-1-to-game-length",
        "A player who disconnects in the game stays in it: idle, destroyed and reborn as any other",
        "A player is not a connection: keep the player when the connection goes.";
    LATE: Protocol(2, "Bombowe roboty, 2.6") "late-joiner" in "protocols/robots.md#late-joiners",
        "Who connects during a game gets Hello, GameStarted and all turns so far, with the content that everybody got",
        "Keep the messages of the game as they were sent, and send them to who comes.";
    ENDED: Protocol(4, "Bombowe roboty, 2.10") "game-ended" in "protocols/robots.md#the-end",
        "Turn number game length is followed at once by GameEnded",
        "GameEnded follows the last turn at once, without another turn duration.";
    SCORES: Protocol(4, "Bombowe roboty, 2.10") "scores" in "protocols/robots.md#the-end",
        "GameEnded holds in how many turns the robot of each player was destroyed",
        "Add to the score when the robot is reborn, and keep it to the end.";
    SCORE_ONCE: Protocol(1, "Bombowe roboty, 7") "score-once" in "protocols/robots.md#the-end",
        "A robot that several bombs hit in one turn scores once",
        "Collect the destroyed robots of the turn in a set.";
    NEXT_GAME: Protocol(3, "Bombowe roboty, 1.1") "next-game" in "protocols/robots.md#the-end",
        "After GameEnded there is a new lobby without players, whose ids begin with 0",
        "Clear players, bombs, blocks and scores; connections stay, and no new Hello is sent.";
    NOT_RESET: Protocol(1, "Bombowe roboty, 2.5") "generator-goes-on" in "protocols/robots.md#draws",
        "The generator is not set back between games",
        "Make the generator once, at the start of the program.";
    PIECES: Protocol(1, "Bombowe roboty, 2") "pieces" in "protocols/robots.md#a-server-and-the-network",
        "A message may arrive in pieces, and nobody waits for the rest of it",
        "A read is not a message: keep what has come for each client, and let nobody wait in read.";
    COALESCED: Protocol(1, "Bombowe roboty, 2") "coalesced" in "protocols/robots.md#a-server-and-the-network",
        "Several messages may arrive at once",
        "After a message look for the next one in what you have read already, before you read again.";
    BAD_BYTES: Protocol(1, "Bombowe roboty, 2.11") "bad-bytes" in "protocols/robots.md#a-server-and-the-network",
        "A client that sends an unknown tag is disconnected",
        "Close the connection: there is no way to find the next message after a wrong byte.";
    BAD_NAME: Protocol(1, "Bombowe roboty, 2.11") "bad-name" in "protocols/robots.md#a-server-and-the-network",
        "A client whose name is not UTF-8 is disconnected and does not play",
        "Check that the name is UTF-8 before the player is added.";
    UNDISTURBED: Protocol(1, "Bombowe roboty, 4") "others-undisturbed" in "protocols/robots.md#a-server-and-the-network",
        "Nobody else notices a client that sends wrong bytes",
        "Close that connection alone. Ignore SIGPIPE, or send with MSG_NOSIGNAL.";
    NEVER_READS: Protocol(1, "Bombowe roboty, 4") "never-reads" in "protocols/robots.md#a-server-and-the-network",
        "A client that does not read does not delay the others",
        "Do not wait in send: use sockets that do not block and a buffer or a thread for each client.";
    NO_ARGUMENTS: Protocol(1, "Bombowe roboty, 6.1") "no-arguments" in "protocols/robots.md#a-server-and-the-network",
        "A server that is started without arguments ends and its exit status is not 0",
        "Look at whether each option was given when all are read.";
    REQUIRED_OPTIONS: Protocol(1, "Bombowe roboty, 1.3") "required-options" in "protocols/robots.md#a-server-and-the-network",
        "Without -c, -x or -y the server ends and its exit status is not 0",
        "A variable that was never set is no default.";
    BELOW_ZERO: Advice "below-zero" in "protocols/robots.md#a-server-and-the-network",
        "With a number below 0 the server ends and its exit status is not 0",
        "strtoul and lexical_cast to an unsigned type take -1 for a large number.";
    TOO_LARGE: Protocol(1, "Bombowe roboty, 1.3") "too-large" in "protocols/robots.md#a-server-and-the-network",
        "With a number that its field cannot hold the server ends and its exit status is not 0",
        "Read into a larger type and compare: 256 players are 0 in a uint8_t.";
    NOT_A_NUMBER: Advice "not-a-number" in "protocols/robots.md#a-server-and-the-network",
        "With a number that has anything behind it, or with an empty one, the server ends and its exit status is not 0",
        "strtol and stoi stop at the first letter and say where: it must be the end.";
    LONG_SERVER_NAME: Advice "long-server-name" in "protocols/robots.md#a-server-and-the-network",
        "With a server name of 256 bytes the server ends and its exit status is not 0",
        "The length of a text has one byte, so that 256 would be 0.";
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/robots.md#a-server-and-the-network",
        "With an unknown option the server ends and its exit status is not 0",
        "getopt returns '?' for it.";
    STRAY_WORD: Advice "stray-word" in "protocols/robots.md#a-server-and-the-network",
        "With a word that belongs to no option the server ends and its exit status is not 0",
        "Behind getopt, optind must be argc.";
    ZERO: Advice "zero" in "protocols/robots.md#a-server-and-the-network",
        "With no players, no fields or a bomb timer of 0 the server ends",
        "Nothing can be drawn modulo 0.";
    SAYS_WHY: Advice "says-why" in "protocols/robots.md#a-server-and-the-network",
        "A server that refuses its arguments says so on standard error",
        "Write what is wrong, and what would be right.";
    HELP: Protocol(1, "Bombowe roboty, 1.3") "help" in "protocols/robots.md#a-server-and-the-network",
        "With -h the server prints a help and ends",
        "Look for -h before you miss options that are required.";
    LONG_OPTIONS: Advice "long-options" in "protocols/robots.md#a-server-and-the-network",
        "Each option has a long name too, from --bomb-timer to --size-y",
        "getopt_long or a library for options does it.";
    LARGEST_VALUES: Protocol(1, "Bombowe roboty, 1.3") "largest-values" in "protocols/robots.md#a-server-and-the-network",
        "The server takes the largest value of each option",
        "All are unsigned: 65535 is no -1, and a turn may last longer than a number of 32 bits can count in microseconds.";
    SERVER_NAME: Protocol(1, "Bombowe roboty, 2") "server-name" in "protocols/robots.md#messages",
        "The name of the server has 0 to 255 bytes",
        "An empty word is a value too. A text of 255 bytes needs no room for a zero.";
    ALL_ADDRESSES: Protocol(1, "Bombowe roboty, 4") "all-addresses" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts connections to all addresses of its machine",
        "Bind to :: or 0.0.0.0 and not to localhost.";
    RESTART: Advice "restart" in "protocols/robots.md#a-server-and-the-network",
        "The server can be started again on the port of one that has just ended",
        "Set SO_REUSEADDR before bind.";
    EMPTY_NAME: Protocol(1, "Bombowe roboty, 2") "empty-name" in "protocols/robots.md#messages",
        "A player may have an empty name",
        "The length in front is 0 then. It is a Join as any other.";
    LONGEST_NAME: Protocol(1, "Bombowe roboty, 2") "longest-name" in "protocols/robots.md#messages",
        "A player may have a name of 255 bytes",
        "A buffer for it has 255 bytes, and an unsigned char for the length.";
    NAME_BYTES: Advice "name-bytes" in "protocols/robots.md#messages",
        "A name is passed on byte by byte, with zeros, line ends and any characters in it",
        "A string of C ends at its first zero. Do not trim, normalize or clean names.";
    EQUAL_NAMES: Protocol(1, "Bombowe roboty, 2.6") "equal-names" in "protocols/robots.md#the-lobby",
        "Two players may have the same name",
        "Know players by their ids and clients by their connections.";
    COMES_BACK: Protocol(1, "Bombowe roboty, 2.6") "comes-back" in "protocols/robots.md#the-lobby",
        "Who leaves the lobby and comes back is another player, also with the same name",
        "Do not look for players by their names.";
    HALF_A_JOIN: Advice "half-a-join" in "protocols/robots.md#the-lobby",
        "Who leaves in the middle of a Join does not become a player",
        "What was not complete when the connection ended is thrown away.";
    SEED_ZERO: Advice "seed-zero" in "protocols/robots.md#draws",
        "With the seeds 0 and 2147483647 every draw is 0",
        "std::minstd_rand takes 1 for these seeds: write the formula yourself.";
    ANY_SEED: Protocol(1, "Bombowe roboty, 2.4") "any-seed" in "protocols/robots.md#draws",
        "The seed has all 32 bits",
        "A seed above 2147483647 is not negative, and its first product needs 64 bits.";
    BLOCKS_UNDER_ROBOTS: Protocol(1, "Bombowe roboty, 2.7") "blocks-under-robots" in "protocols/robots.md#turn-0",
        "A block of turn 0 may fall on a robot",
        "Only another block keeps a block from a field.";
    LARGE_BOARD: Protocol(1, "Bombowe roboty, 7") "large-board" in "protocols/robots.md#the-board-and-explosions",
        "A board may have 65535 x 65535 fields, on all of which robots can go",
        "Keep blocks in a set, since an array of all fields has 4 GB. Coordinates are unsigned.";
    FAR_EDGE: Protocol(1, "Bombowe roboty, 2.8") "far-edge" in "protocols/robots.md#the-board-and-explosions",
        "A move beyond the upper or right edge has no effect and no event",
        "The last field of a row is size - 1.";
    LEAVE_BLOCK: Protocol(1, "Bombowe roboty, 2.8") "leave-block" in "protocols/robots.md#turns-1-to-game-length",
        "A robot that stands on a block may leave it",
        "Only the field that a robot goes to is checked, not the one on which it stands.";
    OVER_BOMBS: Protocol(1, "Bombowe roboty, 2.8") "over-bombs" in "protocols/robots.md#turns-1-to-game-length",
        "Robots walk over bombs",
        "Bombs are no obstacle in this game.";
    SHARED_FIELD: Protocol(1, "Bombowe roboty, 2.8") "shared-field" in "protocols/robots.md#the-board-and-explosions",
        "Any number of robots may stand on one field",
        "Robots are no obstacle to one another.";
    BLOCK_ON_BOTH: Protocol(1, "Bombowe roboty, 2.8") "block-on-others" in "protocols/robots.md#turns-1-to-game-length",
        "A block can be placed on a field where another robot stands too",
        "Only a block keeps a block from a field.";
    BOMBS_ON_ONE: Protocol(1, "Bombowe roboty, 2.8") "bombs-on-one-field" in "protocols/robots.md#turns-1-to-game-length",
        "Of several bombs on one field each explodes when its own timer is over",
        "Bombs are known by their ids: a map from fields to bombs loses some.";
    BLOCK_STOPS: Protocol(1, "Bombowe roboty, 2.8") "block-stops-next" in "protocols/robots.md#turns-1-to-game-length",
        "A block stops players with higher ids in the same turn",
        "Each player acts on the board that the one before has left.";
    BOTH_BLOCK: Protocol(1, "Bombowe roboty, 2.8") "one-block-of-two" in "protocols/robots.md#turns-1-to-game-length",
        "If two players place a block on one field in the same turn, only the first one does",
        "Put the block on the board when its event is written.";
    FREED: Advice "freed-field" in "protocols/robots.md#turns-1-to-game-length",
        "A robot may enter the field of a block in the turn that destroys it",
        "Take destroyed blocks away before the players act.";
    STOOD: Protocol(1, "Bombowe roboty, 2.8") "where-it-stood" in "protocols/robots.md#turns-1-to-game-length",
        "A blast hits the robots that stood in it when the turn began, not those that enter it",
        "Find out who is hit before any player acts.";
    DEAD_ACT: Protocol(1, "Bombowe roboty, 2.8") "action-of-destroyed" in "protocols/robots.md#turns-1-to-game-length",
        "The action of a robot that is destroyed in the turn is dropped",
        "A player is either reborn or acts.";
    BOMB_OF_LEAVER: Protocol(1, "Bombowe roboty, 2.6") "bomb-of-leaver" in "protocols/robots.md#a-server-and-the-network",
        "The bombs of a player who has left explode as any other",
        "Nobody owns a bomb.";
    NO_CHAIN: Protocol(1, "Bombowe roboty, 2.8") "no-chain" in "protocols/robots.md#the-board-and-explosions",
        "A blast does not make other bombs explode",
        "Bombs only explode when their timer is over.";
    ON_BOMBED_BLOCK: Protocol(1, "Bombowe roboty, 7") "bomb-on-block" in "protocols/robots.md#the-board-and-explosions",
        "The blast of a bomb that lies on a block covers that field alone",
        "Look at the field of the bomb before you go in the four directions.";
    SHELTER: Protocol(1, "Bombowe roboty, 2.8") "no-shelter" in "protocols/robots.md#the-board-and-explosions",
        "A blast destroys robots on the field of a block that it destroys",
        "The first block of an arm belongs to the blast, with who stands on it.";
    LISTED_ONCE: Advice "listed-once" in "protocols/robots.md#server-to-client-tcp",
        "An explosion lists nobody and no block twice",
        "The field of the bomb is in all four arms: use a set.";
    ZERO_RADIUS: Protocol(1, "Bombowe roboty, 2.8") "zero-radius" in "protocols/robots.md#the-board-and-explosions",
        "With radius 0 a blast covers the field of the bomb",
        "That field belongs to the blast whatever the radius is.";
    WIDE_BLAST: Protocol(1, "Bombowe roboty, 2.8") "wide-blast" in "protocols/robots.md#the-board-and-explosions",
        "With radius 65535 a blast reaches to the edges and no further",
        "x + radius needs more than 16 bits, and x - radius is below 0.";
    TIMER_ONE: Protocol(1, "Bombowe roboty, 2.8") "timer-one" in "protocols/robots.md#turns-1-to-game-length",
        "With bomb timer 1 a bomb explodes in the turn after the one that placed it",
        "Lower a timer first and compare then.";
    REBIRTH_ON_BLOCK: Protocol(1, "Bombowe roboty, 2.8") "rebirth-on-block" in "protocols/robots.md#turns-1-to-game-length",
        "A robot may be reborn on a block",
        "Draw one field and do not look at what is on it.";
    LAST_WORDS: Advice "last-words" in "protocols/robots.md#turns-1-to-game-length",
        "What a player sent before it disconnected is still played",
        "Read what has come before you forget the connection.";
    NOBODY_THERE: Protocol(1, "Bombowe roboty, 2.6") "nobody-there" in "protocols/robots.md#a-server-and-the-network",
        "A game goes on when all have left, and ends as any other",
        "The clock makes the turns, not the clients.";
    LONG_HISTORY: Protocol(1, "Bombowe roboty, 2.6") "long-history" in "protocols/robots.md#late-joiners",
        "Who comes after a thousand turns is told all of them",
        "Keep the whole game: a fixed number of turns is too few.";
    OLD_HISTORY: Protocol(1, "Bombowe roboty, 2.6") "old-history" in "protocols/robots.md#the-end",
        "Who connects after a game is told nothing of it",
        "Clear what you keep for late joiners when the game has ended.";
    NEXT_BOARD: Protocol(1, "Bombowe roboty, 2.5") "next-board" in "protocols/robots.md#the-end",
        "No block and no bomb of a game is there in the next one",
        "Make a new board for each game.";
    NEXT_SCORES: Protocol(1, "Bombowe roboty, 2.5") "next-scores" in "protocols/robots.md#the-end",
        "All scores begin with 0 in each game",
        "Clear them when a game starts.";
    NO_TURNS: Advice "no-turns" in "protocols/robots.md#the-end",
        "With game length 0 GameEnded follows turn 0",
        "Look whether the game is over after each turn, turn 0 too.";
    SCORE_ZEROS: Protocol(1, "Bombowe roboty, 2.2") "score-zeros" in "protocols/robots.md#the-end",
        "GameEnded has an entry for players who were never hit too",
        "A map of counters has only those that were counted: put all players in at the start.";
    OWN_BUFFERS: Protocol(1, "Bombowe roboty, 2") "own-buffers" in "protocols/robots.md#a-server-and-the-network",
        "Pieces of messages from several clients do not get mixed",
        "Each connection has its own buffer.";
    HALF_MORE: Protocol(1, "Bombowe roboty, 2") "half-more" in "protocols/robots.md#a-server-and-the-network",
        "Behind a message may be the beginning of the next one",
        "Keep what is left over until the rest of it comes.";
    BEFORE_BAD: Advice "before-bad-bytes" in "protocols/robots.md#a-server-and-the-network",
        "Messages that come before wrong bytes count",
        "Play each message when it is read, and find wrong bytes when their turn comes.";
    BAD_DIRECTION: Protocol(1, "Bombowe roboty, 2.11") "bad-direction" in "protocols/robots.md#a-server-and-the-network",
        "A client that sends an unknown direction is disconnected",
        "Compare the number before you make a direction of it.";
    STRICT_UTF8: Advice "strict-utf8" in "protocols/robots.md#a-server-and-the-network",
        "Surrogates, characters in too many bytes, cut ones and numbers above 10FFFF are no UTF-8",
        "Use the decoder of a library: whether the first bits look right is not enough.";
    OFFENDER: Protocol(1, "Bombowe roboty, 2.11") "offender-stays" in "protocols/robots.md#a-server-and-the-network",
        "The robot of a player who sends wrong bytes stays in the game",
        "Whoever is disconnected has left, as any other.";
    RESET: Protocol(1, "Bombowe roboty, 4") "resets" in "protocols/robots.md#a-server-and-the-network",
        "Nobody else notices clients that reset their connections",
        "read and send return ECONNRESET, and accept ECONNABORTED: only that client has gone.";
    FLOOD: Advice "flood" in "protocols/robots.md#a-server-and-the-network",
        "A client that writes without a pause delays nobody",
        "Read from a client once and look at the clock and the others then.";
    VISITORS: Protocol(1, "Bombowe roboty, 4") "visitors" in "protocols/robots.md#a-server-and-the-network",
        "Any number of clients may come and leave one after the other",
        "Close the socket of each client that has left.";
    CROWD: Advice "crowd" in "protocols/robots.md#a-server-and-the-network",
        "The server serves 500 clients at a time",
        "Look at the limits of select, of open files and of threads.";
    MANY_PLAYERS: Advice "255-players" in "protocols/robots.md#the-lobby",
        "A game may have 255 players",
        "Ids are unsigned, and a count up to 255 does not end in a loop over a uint8_t.";
    NOTHING_LOST: Advice "nothing-lost" in "protocols/robots.md#a-server-and-the-network",
        "A client that reads late gets all messages without a gap until it is disconnected",
        "send returns how much it took: keep the rest for later.";
    NO_CRASH: Protocol(2, "Bombowe roboty, 4") "no-crash" in "protocols/robots.md#a-server-and-the-network",
        "The server does not crash",
        "A signal or an error that nobody caught ends a game for all.";
}
