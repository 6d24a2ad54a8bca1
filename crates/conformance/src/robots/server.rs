//! Each scenario starts a server with its own options, connects players and observers, and folds the events. The seed
//! determines each turn, except for what the protocol leaves open: bomb ids, the order of explosions, and which of two
//! turns plays an action sent at the end of a turn.

mod arguments;
mod attribution;
mod board;
mod bytes;
mod clock;
mod diagnosis;
mod explanation;
mod extremes;
mod game;
mod lobby;
mod model;
mod neighbours;
mod openings;
mod running;
mod session;
mod setup;

use self::{
    Scenario::{Played, Refused, Scene},
    board::{Script, script},
};
use crate::{
    judge::{self, Judge, ScenarioResult, scene},
    launch::{EXTRA, Launcher},
    refusal::Values,
    robots::context::{Context, NAME_OF_256},
    rule::{Rule, rules},
    tester::{Options, Tester},
};

pub static TESTER: Tester = Tester {
    kind: "robots-server",
    is_server: true,
    usual: "-b {bomb-timer} -c {players} -d {turn} -e {radius} -k {blocks} -l {length} -n {name} -p {port} -s {seed} \
            -x {x} -y {y}",
    known: PLACEHOLDERS,
    needed: PLACEHOLDERS,
    rules: RULES,
    takes_part: &[&HELLO, &ACCEPTED, &GAME_STARTED, &TURN_NUMBERS, &MOVE, &ENDED],
    play,
};

/// An error that was not recorded before breaks only the scenario's rule.
enum Scenario {
    Scene(&'static str, fn(&Context<'_>, &mut Judge, &'static Rule) -> ScenarioResult),
    Played(&'static str, Script),
    /// Starts the server once per value, or without arguments.
    Refused(&'static str, Values),
}

rules! {
    for Scenario;
    LISTENS: Protocol(2, "Bombowe roboty, 2") "listens" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts connections on its port over IPv4",
        "Bind to the port given with -p on all addresses, before any slow work.";
    IPV6: Protocol(1, "Bombowe roboty, 4") "ipv6" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts connections over IPv6",
        "Bind to [::] and disable IPV6_V6ONLY to accept both families.";
    MANY_CLIENTS: Protocol(1, "Bombowe roboty, 4") "many-clients" in "protocols/robots.md#a-server-and-the-network",
        "The server serves 25 clients at the same time",
        "Use a listen backlog of more than a few, and let no client wait for another.";
    WRONG_ARGUMENTS: Protocol(1, "Bombowe roboty, 6.1") "wrong-arguments" in "protocols/robots.md#a-server-and-the-network",
        "If the port is not a number, the server exits with a nonzero status",
        "atoi returns 0 for a word that is not a number. Use a function that reports errors.";
    TAKEN_PORT: Protocol(1, "Bombowe roboty, 6.1") "taken-port" in "protocols/robots.md#a-server-and-the-network",
        "If its port is in use, the server exits with a nonzero status",
        "Check the result of bind, and do not set SO_REUSEPORT.";
    EXIT_ONE: Advice "exit-status-1" in "protocols/robots.md#a-server-and-the-network",
        "A server that cannot start exits with status 1",
        "Return 1 from main. Do not end the program with an exception or an abort.";
    WELL_FORMED: Protocol(3, "Bombowe roboty, 2.2") "well-formed" in "protocols/robots.md#server-to-client-tcp",
        "The server sends only messages of the protocol, and none without a cause",
        "Send numbers in big-endian order (htons, htonl), and a count of four bytes for lists. Do not send the padding of a struct.";
    HELLO: Protocol(5, "Bombowe roboty, 2.6") "hello" in "protocols/robots.md#server-to-client-tcp",
        "The server sends Hello with the parameters as the first message on each connection",
        "Send Hello as soon as accept returns, with the fields in the order of the page: players count first, bomb timer last.";
    ACCEPTED: Protocol(5, "Bombowe roboty, 2.6") "accepted" in "protocols/robots.md#the-lobby",
        "After each Join in the lobby the server sends all clients one AcceptedPlayer with the next id and the exact name",
        "Send it once to each connection, including observers and the player itself.";
    ADDRESS: Protocol(1, "Bombowe roboty, 2.3") "address" in "protocols/robots.md#server-to-client-tcp",
        "The address of a player is an IPv4 or IPv6 address, with or without a port",
        "Use the result of inet_ntop.";
    ADDRESS_OF_PEER: Advice "address-of-peer" in "protocols/robots.md#server-to-client-tcp",
        "The address of a player is the client's end of its connection, as IPv4:port or [IPv6]:port",
        "Use getpeername, not getsockname. Put an IPv6 address in brackets, before the colon and the port.";
    NEWCOMER: Protocol(2, "Bombowe roboty, 2.6") "newcomer-in-lobby" in "protocols/robots.md#the-lobby",
        "The server sends a client that connects in the lobby all players so far in the order of their ids",
        "Keep the AcceptedPlayers of this lobby, and send them after Hello.";
    SECOND_JOIN: Advice "second-join" in "protocols/robots.md#the-lobby",
        "The server ignores a second Join of a player in the lobby",
        "Store for each connection whether it has joined.";
    LOBBY_ACTIONS: Protocol(1, "Bombowe roboty, 2.1") "lobby-actions" in "protocols/robots.md#the-lobby",
        "The server ignores actions that arrive in the lobby",
        "Clear the actions when the game starts.";
    LOBBY_LEAVER: Protocol(1, "Bombowe roboty, 2.6") "lobby-leaver" in "protocols/robots.md#the-lobby",
        "A player who disconnects in the lobby stays on the list",
        "Keep the player when its connection closes.";
    GAME_STARTED: Protocol(5, "Bombowe roboty, 2.7") "game-started" in "protocols/robots.md#the-lobby",
        "When the lobby is full, the server immediately sends GameStarted with all players, and turn 0",
        "Start when the last player is accepted, without waiting for a turn.";
    TURN_0: Protocol(5, "Bombowe roboty, 2.7") "turn-0" in "protocols/robots.md#turn-0",
        "Turn 0 has a PlayerMoved for each player by id, then a BlockPlaced for each block, none twice and none outside the board",
        "Draw all robots first, in the order of ids, and then the blocks. A repeated block has no event, but uses its draws.";
    DRAWS: Protocol(3, "Bombowe roboty, 2.4") "draws" in "protocols/robots.md#draws",
        "The server draws fields with the protocol's generator from the seed, x before y, also for repeated blocks",
        "Multiply in 64 bits. Draw x first: C and C++ do not define the order in which arguments are computed.";
    TURN_NUMBERS: Protocol(5, "Bombowe roboty, 2.10") "turn-numbers" in "protocols/robots.md#turns-1-to-game-length",
        "The server numbers turns 0, 1, 2 and so on up to game length, without gaps",
        "Send a Turn even if it has no events.";
    TURN_DURATION: Protocol(2, "Bombowe roboty, 2.9") "turn-duration" in "protocols/robots.md#a-server-and-the-network",
        "The server collects actions for the turn duration",
        "-d is in milliseconds. Apply actions at the end of the turn, not on arrival.";
    NO_DRIFT: Advice "no-drift" in "protocols/robots.md#turns-1-to-game-length",
        "Turns do not drift: the server sends turn t at t times turn duration after turn 0",
        "Wait until the due time of the turn, counted from turn 0. Do not wait a whole turn duration after the previous turn.";
    NO_DELAY: Protocol(1, "Bombowe roboty, 4") "no-delay" in "protocols/robots.md#a-server-and-the-network",
        "The server sends a turn immediately, without waiting for the acknowledgement of the previous one",
        "Set TCP_NODELAY on each accepted connection.";
    NO_SEED: Protocol(1, "Bombowe roboty, 2.4") "no-seed" in "protocols/robots.md#a-server-and-the-network",
        "Without -s the server starts, and draws different fields each time",
        "The seed is the only option that the task does not require.",
        Scene("servers without a seed", clock::without_seed);
    SAME_FOR_ALL: Protocol(3, "Bombowe roboty, 2.6") "same-for-all" in "protocols/robots.md#turns-1-to-game-length",
        "The server sends all connected clients the same messages",
        "Encode a message once, and send the same bytes to all clients.";
    MOVE: Protocol(5, "Bombowe roboty, 2.1") "move" in "protocols/robots.md#the-board-and-explosions",
        "Move goes to the neighbouring field: Up is y + 1, Right x + 1, Down y - 1, Left x - 1",
        "(0, 0) is at the lower left, and y grows upwards.";
    EDGE: Protocol(2, "Bombowe roboty, 2.8") "edge" in "protocols/robots.md#the-board-and-explosions",
        "A move beyond the lower or left edge has no effect and no event",
        "Coordinates are unsigned: 0 - 1 is 65535. Check before you subtract.";
    INTO_BLOCK: Protocol(2, "Bombowe roboty, 2.8") "into-block" in "protocols/robots.md#the-board-and-explosions",
        "A move into a block has no effect and no event",
        "Check the target field on the board at that moment.";
    BLOCK: Protocol(3, "Bombowe roboty, 2.8") "place-block" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBlock puts a block on the field of the robot",
        "Place the block on the robot's own field, not in front of it.";
    BLOCK_TWICE: Protocol(1, "Bombowe roboty, 2.8") "block-twice" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBlock on a field with a block has no effect and no event",
        "Send an event only for a new block.";
    BOMB: Protocol(3, "Bombowe roboty, 2.8") "place-bomb" in "protocols/robots.md#turns-1-to-game-length",
        "PlaceBomb puts a bomb on the field of the robot, even onto a block or another bomb",
        "Allow a bomb on any field.";
    BOMB_IDS: Protocol(1, "Bombowe roboty, 2.3") "bomb-ids" in "protocols/robots.md#turns-1-to-game-length",
        "Bomb ids are unique within a game",
        "Count the bombs of the game, and do not reuse the id of an exploded bomb.";
    LAST_COUNTS: Protocol(2, "Bombowe roboty, 2.9") "last-counts" in "protocols/robots.md#turns-1-to-game-length",
        "The server plays only the last action that a player sends before the end of a turn",
        "Store one action for each player, and overwrite it.";
    IMPOSSIBLE: Protocol(1, "Bombowe roboty, 7") "impossible-displaces" in "protocols/robots.md#turns-1-to-game-length",
        "An impossible action replaces earlier ones like any other",
        "Store the action without a check. Whether it is possible is decided at the end of the turn.";
    JOIN_IN_GAME: Protocol(1, "Bombowe roboty, 2.1") "join-in-game" in "protocols/robots.md#turns-1-to-game-length",
        "The server ignores Join during a game, and keeps the player's action",
        "Join is not an action: keep the stored one.";
    PLAYED_ONCE: Protocol(4, "Bombowe roboty, 2.9") "played-once" in "protocols/robots.md#turns-1-to-game-length",
        "The server plays an action in one turn only; a player who sends nothing does nothing",
        "Clear the actions after each turn.";
    OWN_EVENTS: Protocol(4, "Bombowe roboty, 2.8") "own-events" in "protocols/robots.md#turns-1-to-game-length",
        "A Turn lists only the events of that turn",
        "Clear the list of events at the start of each turn.";
    OBSERVER: Protocol(1, "Bombowe roboty, 7") "observer" in "protocols/robots.md#turns-1-to-game-length",
        "The server ignores actions of observers during a game",
        "Check whether the connection is a player of this game.";
    EVENT_ORDER: Protocol(2, "Bombowe roboty, 2.8") "event-order" in "protocols/robots.md#turns-1-to-game-length",
        "A Turn lists first the explosions, then the players' events by id",
        "Process bombs first and remove what they destroy. Then process all players by id, including destroyed ones.";
    BOMB_TIMER: Protocol(5, "Bombowe roboty, 2.8") "bomb-timer" in "protocols/robots.md#turns-1-to-game-length",
        "A bomb explodes once, bomb timer turns after the turn that placed it",
        "Decrease timers at the start of the turn, before you place new bombs.";
    BLAST: Protocol(5, "Bombowe roboty, 2.8") "blast" in "protocols/robots.md#the-board-and-explosions",
        "An explosion lists the robots and blocks of its blast: a cross that ends at the edge, at its radius or with the first block",
        "Include the first block in each direction, and stop there. With radius 65535, x + radius needs more than 16 bits.";
    UNITED: Protocol(2, "Bombowe roboty, 2.8") "bombs-together" in "protocols/robots.md#the-board-and-explosions",
        "The server computes each explosion of a turn from the blocks and robots at the start of the turn",
        "Remove blocks after all explosions of the turn are computed. Several explosions may list the same robot.";
    REBIRTH: Protocol(4, "Bombowe roboty, 2.8") "rebirth" in "protocols/robots.md#turns-1-to-game-length",
        "The server moves a destroyed robot to a drawn field in the same turn",
        "Draw x and then y for each destroyed robot in the order of ids, and send PlayerMoved at its place among the players.";
    BUSY: Protocol(5, "Bombowe roboty, 2.8") "turns" in "protocols/robots.md#turns-1-to-game-length",
        "A turn in which all players act has exactly the events that follow from the rules",
        "Process a turn in the order of the page: bombs by id, removed blocks, then players by id. Each step uses the result of the previous one.";
    LEAVER: Protocol(1, "Bombowe roboty, 2.6") "leaver" in "protocols/robots.md#turns-1-to-game-length",
        "A player who disconnects during a game stays in it: idle, but destroyed and reborn like any other",
        "Keep the player when its connection closes.";
    LATE: Protocol(2, "Bombowe roboty, 2.6") "late-joiner" in "protocols/robots.md#late-joiners",
        "The server sends a client that connects during a game Hello, GameStarted and all turns so far, as all others received them",
        "Store the messages of the game as sent, and send them to each new client.";
    ENDED: Protocol(4, "Bombowe roboty, 2.10") "game-ended" in "protocols/robots.md#the-end",
        "The server sends GameEnded immediately after turn number game length",
        "Send GameEnded right after the last turn, without waiting for another turn duration.";
    SCORES: Protocol(4, "Bombowe roboty, 2.10") "scores" in "protocols/robots.md#the-end",
        "GameEnded contains for each player the number of turns in which its robot was destroyed",
        "Increment the score when the robot is reborn, and keep it to the end.";
    SCORE_ONCE: Protocol(1, "Bombowe roboty, 7") "score-once" in "protocols/robots.md#the-end",
        "The server counts one point for a robot that several bombs destroy in one turn",
        "Collect the robots destroyed in the turn in a set.";
    NEXT_GAME: Protocol(3, "Bombowe roboty, 1.1") "next-game" in "protocols/robots.md#the-end",
        "After GameEnded the server opens a new lobby without players, with ids from 0",
        "Clear players, bombs, blocks and scores. Keep connections, and send no new Hello.";
    NOT_RESET: Protocol(1, "Bombowe roboty, 2.5") "generator-goes-on" in "protocols/robots.md#draws",
        "The server does not reset the generator between games",
        "Create the generator once, at startup.";
    PIECES: Protocol(1, "Bombowe roboty, 2") "pieces" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts a message that arrives in pieces, and serves other clients meanwhile",
        "A read may return a part of a message: buffer it for each client, and do not block in read.";
    COALESCED: Protocol(1, "Bombowe roboty, 2") "coalesced" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts several messages that arrive together",
        "After a message, look for the next one in the data that you have already read.",
        Scene("several messages in one segment", lobby::coalesced);
    BAD_BYTES: Protocol(1, "Bombowe roboty, 2.11") "bad-bytes" in "protocols/robots.md#a-server-and-the-network",
        "The server disconnects a client that sends an unknown tag",
        "Close the connection: after an invalid byte the start of the next message is unknown.";
    BAD_NAME: Protocol(1, "Bombowe roboty, 2.11") "bad-name" in "protocols/robots.md#a-server-and-the-network",
        "The server disconnects a client whose name is not UTF-8, and does not let it play",
        "Check that the name is UTF-8 before you add the player.";
    UNDISTURBED: Protocol(1, "Bombowe roboty, 4") "others-undisturbed" in "protocols/robots.md#a-server-and-the-network",
        "A client that sends invalid bytes does not disturb other clients",
        "Close only that connection. Ignore SIGPIPE, or send with MSG_NOSIGNAL.";
    NEVER_READS: Protocol(1, "Bombowe roboty, 4") "never-reads" in "protocols/robots.md#a-server-and-the-network",
        "A client that does not read does not delay others",
        "Do not block in send: use nonblocking sockets with a buffer, or a thread for each client.";
    NO_ARGUMENTS: Protocol(1, "Bombowe roboty, 6.1") "no-arguments" in "protocols/robots.md#a-server-and-the-network",
        "Without arguments the server exits with a nonzero status",
        "Check after parsing that each required option was given.",
        Refused("no arguments", &[]);
    REQUIRED_OPTIONS: Protocol(1, "Bombowe roboty, 1.3") "required-options" in "protocols/robots.md#a-server-and-the-network",
        "Without -c, -x or -y the server exits with a nonzero status",
        "Do not use an uninitialized variable as the default.",
        Refused("missing options", &[("players", None), ("x", None), ("y", None)]);
    BELOW_ZERO: Advice "below-zero" in "protocols/robots.md#a-server-and-the-network",
        "If a number is below 0, the server exits with a nonzero status",
        "strtoul and lexical_cast to an unsigned type turn -1 into a large number.",
        Refused("numbers below 0", &[("x", Some("-1")), ("seed", Some("-1")), ("turn", Some("-5"))]);
    TOO_LARGE: Protocol(1, "Bombowe roboty, 1.3") "too-large" in "protocols/robots.md#a-server-and-the-network",
        "If a number does not fit its field, the server exits with a nonzero status",
        "Parse into a larger type and compare: 256 players are 0 in a uint8_t.",
        Refused("numbers out of range", &[
            ("players", Some("256")),
            ("y", Some("65536")),
            ("port", Some("65536")),
            ("bomb-timer", Some("70000")),
            ("seed", Some("4294967296")),
        ]);
    NOT_A_NUMBER: Advice "not-a-number" in "protocols/robots.md#a-server-and-the-network",
        "If a number is empty or has other characters after it, the server exits with a nonzero status",
        "strtol and stoi stop at the first letter and return its position, which must be the end.",
        Refused("invalid numbers", &[
            ("players", Some("2x")),
            ("length", Some("1.5")),
            ("radius", Some("")),
            ("blocks", Some("0x1f")),
        ]);
    LONG_SERVER_NAME: Advice "long-server-name" in "protocols/robots.md#a-server-and-the-network",
        "If the server name has 256 bytes, the server exits with a nonzero status",
        "The length of a text is one byte, so 256 becomes 0.",
        Refused("a server name of 256 bytes", &[("name", Some(NAME_OF_256))]);
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/robots.md#a-server-and-the-network",
        "With an unknown option, the server exits with a nonzero status",
        "getopt returns '?' for it.",
        Refused("an unknown option", &[(EXTRA, Some("--no-such-option"))]);
    STRAY_WORD: Advice "stray-word" in "protocols/robots.md#a-server-and-the-network",
        "With an argument that belongs to no option, the server exits with a nonzero status",
        "After getopt, optind must equal argc.",
        Refused("an extra word", &[(EXTRA, Some("stray"))]);
    ZERO: Advice "zero" in "protocols/robots.md#a-server-and-the-network",
        "With no players, no fields or a bomb timer of 0, the server exits",
        "Reject 0: a draw modulo 0 is not possible.",
        Scene("zeros", arguments::zero);
    SAYS_WHY: Advice "says-why" in "protocols/robots.md#a-server-and-the-network",
        "A server that rejects its arguments prints the reason on standard error",
        "Print the invalid value and the expected one.";
    HELP: Protocol(1, "Bombowe roboty, 1.3") "help" in "protocols/robots.md#a-server-and-the-network",
        "With -h the server prints help and exits",
        "Handle -h before you check for missing options.",
        Scene("help", arguments::help);
    LONG_OPTIONS: Advice "long-options" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts a long name for each option, from --bomb-timer to --size-y",
        "Use getopt_long or an options library.",
        Scene("long options", arguments::long_options);
    LARGEST_VALUES: Protocol(1, "Bombowe roboty, 1.3") "largest-values" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts the largest value of each option",
        "All values are unsigned: 65535 is not -1. The duration of a turn may exceed 32 bits in microseconds.",
        Scene("the largest values", arguments::largest);
    SERVER_NAME: Protocol(1, "Bombowe roboty, 2") "server-name" in "protocols/robots.md#messages",
        "The server accepts a server name of 0 to 255 bytes",
        "An empty argument is a value too. A text of 255 bytes has no terminating zero.",
        Scene("server names", bytes::server_name);
    ALL_ADDRESSES: Protocol(1, "Bombowe roboty, 4") "all-addresses" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts connections on all addresses of its machine",
        "Bind to :: or 0.0.0.0, not to localhost.",
        Scene("another address", neighbours::all_addresses);
    RESTART: Advice "restart" in "protocols/robots.md#a-server-and-the-network",
        "A new server can listen on the port of one that has just ended",
        "Set SO_REUSEADDR before bind.",
        Scene("restart on the same port", neighbours::restart);
    EMPTY_NAME: Protocol(1, "Bombowe roboty, 2") "empty-name" in "protocols/robots.md#messages",
        "The server accepts an empty player name",
        "The length is 0. Handle this Join like any other.",
        Scene("a player without a name", |context, judge, rule| bytes::named(context, judge, rule, ""));
    LONGEST_NAME: Protocol(1, "Bombowe roboty, 2") "longest-name" in "protocols/robots.md#messages",
        "The server accepts a player name of 255 bytes",
        "Use a buffer of 255 bytes, and an unsigned char for the length.",
        Scene("the longest name", |context, judge, rule| bytes::named(context, judge, rule, bytes::LONGEST));
    NAME_BYTES: Advice "name-bytes" in "protocols/robots.md#messages",
        "The server forwards a name byte by byte, including zeros, line ends and all other characters",
        "A C string ends at its first zero. Do not trim, normalize or clean names.",
        Scene("a name with special characters", |context, judge, rule| {
            // Zero bytes, control characters, and characters that some programs change.
            bytes::named(context, judge, rule, " a\0b\r\n\t\u{1b}[31me\u{301}\u{1f916}\u{fffd} ")
        });
    EQUAL_NAMES: Protocol(1, "Bombowe roboty, 2.6") "equal-names" in "protocols/robots.md#the-lobby",
        "The server accepts two players with the same name",
        "Identify players by their ids and clients by their connections.",
        Scene("equal names", bytes::equal_names);
    COMES_BACK: Protocol(1, "Bombowe roboty, 2.6") "comes-back" in "protocols/robots.md#the-lobby",
        "A player who leaves the lobby and joins again becomes a new player, even with the same name",
        "Do not look up players by name.",
        Scene("a player who joins again", bytes::comes_back);
    HALF_A_JOIN: Advice "half-a-join" in "protocols/robots.md#the-lobby",
        "A client that leaves in the middle of a Join does not become a player",
        "Discard an incomplete message when the connection ends.",
        Scene("half of a Join", neighbours::partial_join);
    SEED_ZERO: Advice "seed-zero" in "protocols/robots.md#draws",
        "With the seeds 0 and 2147483647 each draw is 0",
        "std::minstd_rand replaces these seeds with 1: implement the formula yourself.",
        Scene("the seed 0", extremes::seed_zero);
    ANY_SEED: Protocol(1, "Bombowe roboty, 2.4") "any-seed" in "protocols/robots.md#draws",
        "The server uses all 32 bits of the seed",
        "A seed above 2147483647 is not negative, and its first product needs 64 bits.",
        Scene("large seeds", extremes::any_seed);
    BLOCKS_UNDER_ROBOTS: Protocol(1, "Bombowe roboty, 2.7") "blocks-under-robots" in "protocols/robots.md#turn-0",
        "Turn 0 may place a block on a robot",
        "Only another block prevents a block on a field.",
        Scene("a block on a robot", board::blocks_under_robots);
    LARGE_BOARD: Protocol(1, "Bombowe roboty, 7") "large-board" in "protocols/robots.md#the-board-and-explosions",
        "The server supports a board of 65535 x 65535 fields, all of which robots can reach",
        "Store blocks in a set, since an array of all fields needs 4 GB. Coordinates are unsigned.",
        Scene("the largest board", extremes::large_board);
    FAR_EDGE: Protocol(1, "Bombowe roboty, 2.8") "far-edge" in "protocols/robots.md#the-board-and-explosions",
        "A move beyond the upper or right edge has no effect and no event",
        "The last field of a row is size - 1.",
        Scene("the far edges", board::far_edge);
    LEAVE_BLOCK: Protocol(1, "Bombowe roboty, 2.8") "leave-block" in "protocols/robots.md#turns-1-to-game-length",
        "A robot that stands on a block may leave it",
        "Check only the target field, not the robot's current field.";
    OVER_BOMBS: Protocol(1, "Bombowe roboty, 2.8") "over-bombs" in "protocols/robots.md#turns-1-to-game-length",
        "Robots may walk over bombs",
        "Bombs are not obstacles.",
        Played("a walk over a bomb", Script { timer: 50, ..script("0 .", "0* 0> 0< -") });
    SHARED_FIELD: Protocol(1, "Bombowe roboty, 2.8") "shared-field" in "protocols/robots.md#the-board-and-explosions",
        "Several robots may stand on one field",
        "Robots are not obstacles to each other.",
        Played("two robots on a field", script("0 1", "0> 1< 0< -"));
    BLOCK_ON_BOTH: Protocol(1, "Bombowe roboty, 2.8") "block-on-others" in "protocols/robots.md#turns-1-to-game-length",
        "A robot can place a block on a field with other robots",
        "Only another block prevents a block on a field.",
        Played("a block on two robots", script("01", "0# -"));
    BOMBS_ON_ONE: Protocol(1, "Bombowe roboty, 2.8") "bombs-on-one-field" in "protocols/robots.md#turns-1-to-game-length",
        "Each of several bombs on one field explodes when its own timer expires",
        "Store bombs by id: a map from fields to bombs loses some.",
        Played("two bombs on a field", script("0", "0* 0* - -"));
    BLOCK_STOPS: Protocol(1, "Bombowe roboty, 2.8") "block-stops-next" in "protocols/robots.md#turns-1-to-game-length",
        "A block stops players with higher ids in the same turn",
        "Let each player act on the board that the previous player left.",
        Played("a block in the way", script("1 0", "0#+1> -"));
    BOTH_BLOCK: Protocol(1, "Bombowe roboty, 2.8") "one-block-of-two" in "protocols/robots.md#turns-1-to-game-length",
        "If two players place a block on one field in the same turn, only the first block counts",
        "Put the block on the board when you write its event.",
        Played("two blocks on a field", script("01", "0#+1# -"));
    FREED: Advice "freed-field" in "protocols/robots.md#turns-1-to-game-length",
        "A robot may enter the field of a block in the turn that destroys it",
        "Remove destroyed blocks before the players act.",
        Played("a field freed by a bomb", script("0 # 1", "0* - 1< -"));
    STOOD: Protocol(1, "Bombowe roboty, 2.8") "where-it-stood" in "protocols/robots.md#turns-1-to-game-length",
        "A blast hits the robots in it at the start of the turn, not those that enter it",
        "Determine the hit robots before any player acts.",
        Played("a walk into a blast", script("0 2 1", "0* - 1<+2> -"));
    DEAD_ACT: Protocol(1, "Bombowe roboty, 2.8") "action-of-destroyed" in "protocols/robots.md#turns-1-to-game-length",
        "The server drops the action of a robot that is destroyed in the turn",
        "A player either is reborn or acts.",
        Played("an action of a destroyed robot", script("0", "0* - 0# -"));
    BOMB_OF_LEAVER: Protocol(1, "Bombowe roboty, 2.6") "bomb-of-leaver" in "protocols/robots.md#a-server-and-the-network",
        "The bombs of a player who has left explode like any other",
        "A bomb has no owner: keep it when its player leaves.",
        Played("a bomb of a player who has left", script("01", "1* 1x - -"));
    NO_CHAIN: Protocol(1, "Bombowe roboty, 2.8") "no-chain" in "protocols/robots.md#the-board-and-explosions",
        "A blast does not trigger other bombs",
        "A bomb explodes only when its timer expires.",
        Played("a bomb beside a bomb", script("0 1", "0* 1* - -"));
    ON_BOMBED_BLOCK: Protocol(1, "Bombowe roboty, 7") "bomb-on-block" in "protocols/robots.md#the-board-and-explosions",
        "The blast of a bomb on a block covers only that field",
        "Check the field of the bomb before the four directions.",
        Played("a bomb on a block", Script { radius: 2, ..script("0 1 .", "0# 0* - -") });
    SHELTER: Protocol(1, "Bombowe roboty, 2.8") "no-shelter" in "protocols/robots.md#the-board-and-explosions",
        "A blast destroys robots on the field of a block that it destroys",
        "The first block of an arm belongs to the blast, including the robots on it.",
        Played("a robot on a block", script("0 1 .", "0*+1# - -"));
    LISTED_ONCE: Advice "listed-once" in "protocols/robots.md#server-to-client-tcp",
        "An explosion lists no robot and no block twice",
        "The field of the bomb is in all four arms: use a set.";
    ZERO_RADIUS: Protocol(1, "Bombowe roboty, 2.8") "zero-radius" in "protocols/robots.md#the-board-and-explosions",
        "With radius 0 a blast covers the field of the bomb",
        "The field of the bomb belongs to the blast for every radius.",
        Played("radius 0", Script { radius: 0, ..script("0 1", "0* - -") });
    WIDE_BLAST: Protocol(1, "Bombowe roboty, 2.8") "wide-blast" in "protocols/robots.md#the-board-and-explosions",
        "With radius 65535 a blast reaches the edges and no further",
        "x + radius needs more than 16 bits, and x - radius is below 0.",
        Scene("the largest radius", extremes::wide_blast);
    TIMER_ONE: Protocol(1, "Bombowe roboty, 2.8") "timer-one" in "protocols/robots.md#turns-1-to-game-length",
        "With bomb timer 1 a bomb explodes in the turn after the one that placed it",
        "Decrease a timer first, then compare.",
        Played("the shortest timer", Script { timer: 1, ..script("0", "0* -") });
    REBIRTH_ON_BLOCK: Protocol(1, "Bombowe roboty, 2.8") "rebirth-on-block" in "protocols/robots.md#turns-1-to-game-length",
        "A robot may be reborn on a block",
        "Draw one field, without checking what is on it.",
        Scene("a rebirth on a block", board::rebirth_on_block);
    LAST_WORDS: Advice "last-words" in "protocols/robots.md#turns-1-to-game-length",
        "The server plays what a player sent before it disconnected",
        "Process all received data before you drop the connection.",
        Scene("an action before leaving", board::action_before_leaving);
    NOBODY_THERE: Protocol(1, "Bombowe roboty, 2.6") "nobody-there" in "protocols/robots.md#a-server-and-the-network",
        "A game continues after all players have left, and ends as usual",
        "The clock drives the turns, not the clients.",
        Scene("a game without clients", extremes::nobody_there);
    LONG_HISTORY: Protocol(1, "Bombowe roboty, 2.6") "long-history" in "protocols/robots.md#late-joiners",
        "The server sends a client that connects after a thousand turns all of them",
        "Store the whole game: a fixed number of turns is not enough.",
        Scene("a long game", extremes::long_history);
    OLD_HISTORY: Protocol(1, "Bombowe roboty, 2.6") "old-history" in "protocols/robots.md#the-end",
        "The server sends a client that connects after a game nothing of that game",
        "Clear the history for late joiners when the game ends.",
        Scene("a new client after a game", extremes::old_history);
    NEXT_BOARD: Protocol(1, "Bombowe roboty, 2.5") "next-board" in "protocols/robots.md#the-end",
        "The next game starts without blocks and bombs of the previous one",
        "Create a new board for each game.",
        Scene("the board of the next game", extremes::next_board);
    NEXT_SCORES: Protocol(1, "Bombowe roboty, 2.5") "next-scores" in "protocols/robots.md#the-end",
        "All scores start at 0 in each game",
        "Clear them when a game starts.",
        Scene("the scores of the next game", extremes::next_scores);
    NO_TURNS: Advice "no-turns" in "protocols/robots.md#the-end",
        "With game length 0 the server sends GameEnded after turn 0",
        "Check whether the game is over after each turn, including turn 0.",
        Scene("a game without turns", extremes::no_turns);
    SCORE_ZEROS: Protocol(1, "Bombowe roboty, 2.2") "score-zeros" in "protocols/robots.md#the-end",
        "GameEnded contains an entry for players who were never hit too",
        "A map of counters contains only counted players: add all players at the start.";
    OWN_BUFFERS: Protocol(1, "Bombowe roboty, 2") "own-buffers" in "protocols/robots.md#a-server-and-the-network",
        "The server does not mix partial messages of several clients",
        "Use a separate buffer for each connection.",
        Scene("pieces of two messages", neighbours::own_buffers);
    HALF_MORE: Protocol(1, "Bombowe roboty, 2") "half-more" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts the start of the next message after a message",
        "Keep the remaining bytes until the rest arrives.",
        Scene("a message and a half", bytes::half_more);
    BEFORE_BAD: Advice "before-bad-bytes" in "protocols/robots.md#a-server-and-the-network",
        "The server processes messages that arrive before invalid bytes",
        "Process each message when you parse it, before you parse the next.",
        Scene("a message before invalid bytes", bytes::before_bad);
    BAD_DIRECTION: Protocol(1, "Bombowe roboty, 2.11") "bad-direction" in "protocols/robots.md#a-server-and-the-network",
        "The server disconnects a client that sends an unknown direction",
        "Check the number before you convert it to a direction.",
        Scene("unknown directions", bytes::bad_direction);
    STRICT_UTF8: Advice "strict-utf8" in "protocols/robots.md#a-server-and-the-network",
        "The server treats surrogates, overlong and truncated characters, and numbers above 10FFFF as invalid UTF-8",
        "Use the decoder of a library: checking the first bits is not enough.",
        Scene("names that are almost UTF-8", bytes::strict_utf8);
    OFFENDER: Protocol(1, "Bombowe roboty, 2.11") "offender-stays" in "protocols/robots.md#a-server-and-the-network",
        "The robot of a player who sends invalid bytes stays in the game",
        "Treat a client that you disconnect like one that has left.",
        Scene("a player who sends invalid bytes", neighbours::offender);
    RESET: Protocol(1, "Bombowe roboty, 4") "resets" in "protocols/robots.md#a-server-and-the-network",
        "Clients that reset their connections do not disturb others",
        "read and send return ECONNRESET, and accept ECONNABORTED. Drop only that client.",
        Scene("connections that are reset", neighbours::resets);
    FLOOD: Advice "flood" in "protocols/robots.md#a-server-and-the-network",
        "A client that sends without a pause delays no other client",
        "Read once from a client, then check the clock and the other clients.",
        Scene("a flood", neighbours::flood);
    VISITORS: Protocol(1, "Bombowe roboty, 4") "visitors" in "protocols/robots.md#a-server-and-the-network",
        "The server accepts any number of clients that connect and leave one after the other",
        "Close the socket of each client that has left.",
        Scene("visitors", neighbours::visitors);
    CROWD: Advice "crowd" in "protocols/robots.md#a-server-and-the-network",
        "The server serves 500 clients at the same time",
        "Check the limits of select, of open files and of threads.",
        Scene("500 connections", neighbours::crowd);
    MANY_PLAYERS: Advice "255-players" in "protocols/robots.md#the-lobby",
        "The server supports a game of 255 players",
        "Ids are unsigned. A loop up to 255 over a uint8_t never ends.",
        Scene("255 players", extremes::many_players);
    NOTHING_LOST: Advice "nothing-lost" in "protocols/robots.md#a-server-and-the-network",
        "A client that reads late receives all messages without a gap until it is disconnected",
        "send returns the number of bytes it accepted: keep the rest for later.";
    NO_CRASH: Protocol(2, "Bombowe roboty, 4") "no-crash" in "protocols/robots.md#a-server-and-the-network",
        "The server does not crash",
        "A signal or an uncaught exception ends the game for all players.";
}

static PLACEHOLDERS: &[&str] =
    &["bomb-timer", "players", "turn", "radius", "blocks", "length", "name", "port", "seed", "x", "y"];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let context = &Context::new(launcher, options, "server", &EXIT_ONE);
    if let Some(address) = launcher.address() {
        return judge.play("the running server", |judge| running::play(context, judge, address));
    }
    // Each group uses the results of the previous ones.
    judge.side_by_side(scenes(context, &FIRST))?;
    let (floods, others) = SCENARIOS.iter().partition::<Vec<_>, _>(|(rule, _)| **rule == FLOOD);
    // The last rules have the slowest scenarios.
    judge.side_by_side(others.into_iter().rev().map(|(rule, scenario)| detail(context, rule, scenario)).collect())?;
    judge.side_by_side(scenes(context, &LAST))?;
    // Floods use a whole processor.
    judge.side_by_side(floods.into_iter().map(|(rule, scenario)| detail(context, rule, scenario)).collect())
}

fn scenes<'s>(context: &'s Context<'_>, of: &[(&'static str, Meant, Play)]) -> Vec<judge::Scene<'s>> {
    let scene = |&(name, meant, play): &(&'static str, Meant, Play)| {
        let attempt = move |judge: &mut Judge, number| {
            let played = play(&context.attempt(number, None), judge);
            if played.is_err() && judge.has_crashed() {
                judge.ended_by(&NO_CRASH);
            }
            played
        };
        let run = move |judge: &mut Judge| judge.repeated(ATTEMPTS, attempt);
        scene(name, run).shows(meant.iter().copied())
    };
    of.iter().map(scene).collect()
}

fn detail<'s>(context: &'s Context<'_>, rule: &'static Rule, scenario: &'static Scenario) -> judge::Scene<'s> {
    let (Scene(name, _) | Played(name, _) | Refused(name, _)) = scenario;
    let also = [&EXIT_ONE, &SAYS_WHY].into_iter().filter(move |_| *rule == NO_ARGUMENTS);
    let attempt = move |judge: &mut Judge, number| {
        if !rule.is_required() {
            // The task does not define the behavior, so a crash breaks only this rule.
            judge.judges_crashes();
        }
        let own = context.attempt(number, Some(rule));
        let played = match scenario {
            Scene(_, play) => play(&own, judge, rule),
            Played(_, script) => script.play(&own, judge, rule),
            Refused(_, values) => arguments::refused(&own, judge, rule, values),
        };
        let (crashed, failed) = (judge.has_crashed(), judge.has_failed(rule));
        // A crash breaks one rule: in a scenario for advice its own, unless the crash was recorded before.
        let is_apart = if rule.is_required() { played.is_err() } else { judge.has_failed(&NO_CRASH) };
        match (&played, own.hidden_by.get()) {
            _ if crashed && is_apart => {
                judge.retract(rule);
                judge.leave_out_for([rule], &NO_CRASH);
            }
            _ if failed => {}
            _ if crashed && !rule.is_required() => {
                judge.check(rule, false, || "expected no crash, but the server crashed".to_owned());
            }
            (Ok(()), None) => {
                judge.check(rule, true, String::new);
            }
            // Correct behavior before an early end is not an observation.
            (_, known) => {
                judge.retract(rule);
                if let Some(known) = known {
                    judge.leave_out_for([rule], known);
                }
            }
        }
        played
    };
    let run = move |judge: &mut Judge| judge.repeated(ATTEMPTS, attempt);
    scene(name, run).shows([rule].into_iter().chain(also))
}

/// Repetitions if the tester does not keep up with the turns.
const ATTEMPTS: u32 = 4;

type Play = fn(&Context<'_>, &mut Judge) -> ScenarioResult;

/// If empty, the scenario may observe any rule.
type Meant = &'static [&'static Rule];

/// The scenarios for details use the results of these.
static FIRST: [(&str, Meant, Play); 15] = [
    ("a lobby", &[], lobby::whole_lobby),
    ("actions in the lobby", &[&LOBBY_ACTIONS], lobby::early_actions),
    ("two Joins of one player", &[&SECOND_JOIN, &ACCEPTED, &ADDRESS, &ADDRESS_OF_PEER], lobby::second_join),
    ("messages byte by byte", &[&PIECES], lobby::pieces),
    ("invalid bytes", &[&BAD_BYTES, &UNDISTURBED], lobby::wrong_bytes),
    ("a name that is not UTF-8", &[&BAD_NAME], lobby::bad_name),
    ("many clients", &[&MANY_CLIENTS], lobby::many),
    ("IPv6", &[&IPV6], lobby::over_ipv6),
    ("moves of one robot", &[&MOVE, &EDGE, &IMPOSSIBLE, &PLAYED_ONCE], game::moves),
    ("blocks and bombs of one robot", &[&BLOCK, &BLOCK_TWICE, &BOMB, &LEAVE_BLOCK, &INTO_BLOCK], game::blocks),
    ("several messages in a turn", &[&LAST_COUNTS, &JOIN_IN_GAME], game::several_messages),
    ("an invalid port", &[&WRONG_ARGUMENTS, &EXIT_ONE], |context, judge| {
        arguments::refused(context, judge, &WRONG_ARGUMENTS, &[("port", Some("port"))])
    }),
    ("a port in use", &[&TAKEN_PORT, &EXIT_ONE], lobby::taken_port),
    ("a single bomb", &[&BLAST, &BOMB_TIMER], board::single_bomb),
    ("a bomb under two robots", &[&BLAST, &REBIRTH], |context, judge| {
        script("01", "0* - -").play(context, judge, &BOMB)
    }),
];

static BUSY_RULES: Meant = &[
    &SAME_FOR_ALL,
    &BOMB_IDS,
    &OBSERVER,
    &EVENT_ORDER,
    &BOMB_TIMER,
    &BLAST,
    &UNITED,
    &LISTED_ONCE,
    &REBIRTH,
    &BUSY,
    &LATE,
    &SCORES,
    &SCORE_ONCE,
    &SCORE_ZEROS,
    &TURN_NUMBERS,
    &DRAWS,
];

/// The slowest scenarios, and those that cover all remaining rules.
static LAST: [(&str, Meant, Play); 6] = [
    ("a busy game", BUSY_RULES, game::busy),
    ("long turns", &[&TURN_DURATION, &GAME_STARTED, &ENDED], game::long_turns),
    ("a client that never reads", &[&NEVER_READS, &NOTHING_LOST], game::never_reading),
    ("a fast game", &[&NO_DRIFT, &NO_DELAY], clock::fast),
    ("players who leave", &[&LOBBY_LEAVER, &LEAVER, &UNITED, &SCORE_ONCE], game::leaving_players),
    ("two games", &[&NEXT_GAME, &NOT_RESET, &JOIN_IN_GAME, &TURN_DURATION], game::two_games),
];
