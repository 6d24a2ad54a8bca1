//! The tester is both the client's server and its GUI.

mod blasts;
mod command_line;
mod extremes;
mod picture;
mod scenes;
mod script;
mod session;

use robots::{Event, Parameters};

use self::{
    Scenario::{Addressed, Blast, Ends, Ignored, Inconsistent, Named, Other, Refused, Scene},
    blasts::{block, bomb, explosion, robot},
    command_line::NAME_OF_255,
    extremes::ADDRESS,
    script::parameters,
    session::{CommandLine, Session, USUAL},
};
use crate::{
    judge::{Judge, ScenarioResult, scene},
    launch::Launcher,
    net::Connection,
    refusal::{MORE, Refusal, RefusalTest, Values},
    robots::context::{Context, NAME_OF_256},
    rule::{Rule, rules},
    tester::{Options, Tester},
};

pub static TESTER: Tester = Tester {
    kind: "robots-client",
    is_server: false,
    usual: "-d {gui} -n {name} -p {port} -s {server}",
    known: PLACEHOLDERS,
    needed: PLACEHOLDERS,
    rules: RULES,
    takes_part: &[&JOIN, &LOBBY, &GAME, &ENDED, &FORWARDED],
    play,
};

enum Scenario {
    /// The client must still run afterwards.
    Scene(&'static str, fn(&mut Session<'_>, &'static Rule) -> ScenarioResult),
    /// The radius, the positions of the blocks and the bomb, and the destroyed blocks.
    Blast(&'static str, u16, &'static [(u16, u16)], (u16, u16), &'static [(u16, u16)]),
    /// Invalid inputs in a game.
    Ignored(&'static [&'static [u8]]),
    /// The bomb timer, and events that contradict earlier ones.
    Inconsistent(u16, fn() -> Vec<Event>),
    Named(&'static str, &'static str),
    /// The client must accept one of the spellings.
    Addressed(&'static str, &'static [CommandLine]),
    /// Why the client must end, whether a game runs, the server's last bytes, and the end of the connection.
    Ends(&'static str, &'static str, bool, &'static [u8], fn(Connection) -> Option<Connection>),
    Other(&'static str, fn(&Context<'_>, &mut Judge, &'static Rule) -> ScenarioResult),
    Refused(&'static str, Values),
}

rules! {
    for Scenario;
    CONNECTS: Protocol(2, "Bombowe roboty, 7") "connects" in "protocols/robots.md#a-client",
        "The client connects to the server at startup, before any input",
        "Connect in main, before you wait for the GUI.";
    SERVER_NAME: Protocol(1, "Bombowe roboty, 1.3") "server-name" in "protocols/robots.md#a-server-and-the-network",
        "The client accepts a host name for the server, as in localhost:2022",
        "Use getaddrinfo, and try each address that it returns.",
        Addressed("a host name of the server", &[CommandLine { server: "localhost", ..USUAL }]);
    SERVER_IPV6: Protocol(1, "Bombowe roboty, 1.3") "server-ipv6" in "protocols/robots.md#a-server-and-the-network",
        "The client accepts an IPv6 address for the server, as in [::1]:2022 or ::1:2022",
        "Split at the last colon. Remove the brackets from the address.",
        Addressed(
            "an IPv6 address of the server",
            &[CommandLine { server: "[::1]", ..USUAL }, CommandLine { server: "::1", ..USUAL }],
        );
    SILENT: Protocol(1, "Bombowe roboty, 2.6") "silent-before-input" in "protocols/robots.md#a-client",
        "The client sends nothing to the server before the first input of the GUI",
        "Send Join after an input, not after Hello.";
    JOIN: Protocol(5, "Bombowe roboty, 2.6") "join" in "protocols/robots.md#a-client",
        "The client answers an input in the lobby with Join and its exact name, and with nothing else",
        "Any input joins in the lobby. The name has its length in bytes in front and no zero byte at the end.";
    EMPTY_NAME: Protocol(1, "Bombowe roboty, 2") "empty-name" in "protocols/robots.md#messages",
        "The client accepts an empty name: Join is two zero bytes",
        "Send the length 0.",
        Named("an empty name", "");
    SHORT_NAME: Protocol(1, "Bombowe roboty, 2") "short-name" in "protocols/robots.md#messages",
        "The client sends a name of one byte unchanged",
        "Send the length 1, and no zero byte after the name.",
        Named("a name of one byte", "x");
    LONGEST_NAME: Protocol(1, "Bombowe roboty, 2") "longest-name" in "protocols/robots.md#messages",
        "The client sends all of a name of 255 bytes",
        "The length is one unsigned byte. It counts bytes, not characters.",
        Named("a name of 255 bytes", NAME_OF_255);
    REJOINS: Protocol(2, "Bombowe roboty, 2.10") "rejoins" in "protocols/robots.md#a-client",
        "After GameEnded the client answers an input with Join again",
        "After a game the client is in the lobby again, even if it has joined before.";
    FORWARDED: Protocol(5, "Bombowe roboty, 3") "forwarded" in "protocols/robots.md#gui-to-client-udp",
        "During a game the client forwards PlaceBomb and PlaceBlock with the tags of the server's protocol, once and in order",
        "The tags differ by one: 0 from the GUI is 1 for the server.";
    MOVE_UP: Protocol(2, "Bombowe roboty, 3") "move-up" in "protocols/robots.md#gui-to-client-udp",
        "The client forwards Move Up as Move Up",
        "The direction does not change: 0 is up.";
    MOVE_RIGHT: Protocol(2, "Bombowe roboty, 3") "move-right" in "protocols/robots.md#gui-to-client-udp",
        "The client forwards Move Right as Move Right",
        "The direction does not change: 1 is right.";
    MOVE_DOWN: Protocol(2, "Bombowe roboty, 3") "move-down" in "protocols/robots.md#gui-to-client-udp",
        "The client forwards Move Down as Move Down",
        "The direction does not change: 2 is down.";
    MOVE_LEFT: Protocol(2, "Bombowe roboty, 3") "move-left" in "protocols/robots.md#gui-to-client-udp",
        "The client forwards Move Left as Move Left",
        "The direction does not change: 3 is left.";
    OBSERVES: Protocol(1, "Bombowe roboty, 2.6") "observes" in "protocols/robots.md#a-client",
        "The client does not join a game that has started without it",
        "Send Join only in the lobby: before GameStarted and after GameEnded.";
    FORWARDS: Advice "observer-forwards" in "protocols/robots.md#a-client",
        "The client forwards inputs in a game that has started without it",
        "The server ignores them, so the client need not track whether it plays.";
    BAD_INPUT: Protocol(1, "Bombowe roboty, 2.6") "bad-input" in "protocols/robots.md#gui-to-client-udp",
        "The client ignores an invalid datagram in the lobby, and sends no Join",
        "Parse the datagram before you check whether a game is in progress.",
        Scene("invalid inputs in the lobby", scenes::bad_inputs_in_lobby);
    EMPTY_INPUT: Protocol(1, "Bombowe roboty, 7") "empty-input" in "protocols/robots.md#gui-to-client-udp",
        "The client ignores an empty datagram during a game",
        "recvfrom may return 0, which is not the end of the input.",
        Ignored(&[&[]]);
    UNKNOWN_INPUT: Protocol(1, "Bombowe roboty, 7") "unknown-input" in "protocols/robots.md#gui-to-client-udp",
        "The client ignores a datagram with an unknown tag during a game",
        "The only valid tags are 0, 1 and 2.",
        Ignored(&[&[3], &[0xff]]);
    BAD_DIRECTION: Protocol(1, "Bombowe roboty, 7") "bad-direction" in "protocols/robots.md#gui-to-client-udp",
        "The client ignores a Move with an unknown direction",
        "Directions are 0 to 3. The server would close the connection at any other.",
        Ignored(&[&[2, 4], &[2, 0xff]]);
    CUT_INPUT: Protocol(1, "Bombowe roboty, 7") "cut-input" in "protocols/robots.md#gui-to-client-udp",
        "The client ignores a Move without a direction",
        "Check the length before you use the second byte, which may belong to an earlier datagram.",
        Ignored(&[&[2]]);
    LONG_INPUT: Advice "long-input" in "protocols/robots.md#gui-to-client-udp",
        "The client ignores an input with extra bytes",
        "Require the exact length of the message.",
        Ignored(&[&[0, 0], &[2, 1, 1], &[1, 10, 0]]);
    BIG_INPUT: Advice "big-input" in "protocols/robots.md#gui-to-client-udp",
        "The client ignores a datagram of 60,000 bytes",
        "recvfrom truncates long datagrams: with a small buffer, this one looks like an input.",
        Ignored(&[&[1; 60_000]]);
    ANY_ADDRESS: Protocol(1, "Bombowe roboty, 7") "any-address" in "protocols/robots.md#a-client",
        "The client accepts inputs from any address and port",
        "Do not connect the socket that receives from the GUI.",
        Scene("inputs from another port", scenes::from_other_port);
    GUI_IPV6: Protocol(1, "Bombowe roboty, 4") "gui-ipv6" in "protocols/robots.md#a-client",
        "The client accepts inputs over IPv6",
        "Bind to [::] and disable IPV6_V6ONLY to accept both families.",
        Scene("inputs over IPv6", scenes::over_ipv6);
    TO_GUI: Protocol(1, "Bombowe roboty, 7") "to-gui" in "protocols/robots.md#a-client",
        "The client sends pictures to the address from the command line, even if inputs come from elsewhere",
        "Do not reply to the sender of the last input.",
        Scene("pictures after inputs from another port", command_line::to_gui);
    GUI_NAME: Protocol(1, "Bombowe roboty, 1.3") "gui-name" in "protocols/robots.md#a-server-and-the-network",
        "The client accepts a host name for the GUI, as in localhost:2024",
        "Use getaddrinfo for the GUI too.",
        Addressed("a host name of the GUI", &[CommandLine { gui: "localhost", ..USUAL }]);
    GUI_ADDRESS_IPV6: Protocol(1, "Bombowe roboty, 1.3") "gui-address-ipv6" in "protocols/robots.md#a-server-and-the-network",
        "The client accepts an IPv6 address for the GUI, as in [::1]:2024 or ::1:2024",
        "Open the socket for pictures in the address family of the GUI.",
        Addressed(
            "an IPv6 address of the GUI",
            &[CommandLine { gui: "[::1]", ..USUAL }, CommandLine { gui: "::1", ..USUAL }],
        );
    LATE_GUI: Advice "late-gui" in "protocols/robots.md#a-client",
        "The client keeps running without a GUI, and sends it pictures as soon as it starts",
        "A send may report that an earlier datagram was refused: continue.",
        Other("a GUI that starts late", command_line::late_gui);
    PICTURE_FORMAT: Protocol(4, "Bombowe roboty, 3") "picture-format" in "protocols/robots.md#client-to-gui-udp",
        "Each datagram to the GUI is one well-formed message",
        "Send numbers in big-endian order (htons, htonl), and a count of four bytes for lists.";
    HELLO_PICTURE: Protocol(1, "Bombowe roboty, 3") "hello-picture" in "protocols/robots.md#a-client",
        "After Hello the client sends the GUI a Lobby with the parameters and without players",
        "Hello changes the state: the parameters are known now.";
    LOBBY: Protocol(5, "Bombowe roboty, 3") "lobby-picture" in "protocols/robots.md#a-client",
        "After each AcceptedPlayer the client sends the GUI a Lobby with the parameters and all players so far",
        "Send a Lobby after each AcceptedPlayer, even if several arrive together.";
    LARGE_NUMBERS: Protocol(1, "Bombowe roboty, 2.2") "large-numbers" in "protocols/robots.md#messages",
        "The client accepts the largest parameters: 255 and 65535",
        "Use unsigned types of the right size, and ntohs.",
        Scene("large numbers", |session, rule| {
            let setup = parameters(255, (65_535, 65_534), 65_533, 65_532, 65_531)?;
            extremes::lobby_of(session, rule, setup, "Ann", ADDRESS)
        });
    SERVER_NAMES: Protocol(1, "Bombowe roboty, 2") "server-names" in "protocols/robots.md#messages",
        "The client forwards a server name of 0 to 255 bytes unchanged",
        "The length is one unsigned byte: a char may be negative.",
        Scene("a server without a name", |session, rule| extremes::server_name(session, rule, "")),
        Scene("a server with a long name", |session, rule| extremes::server_name(session, rule, &"s".repeat(255)));
    LONG_NAMES: Protocol(1, "Bombowe roboty, 2") "long-names" in "protocols/robots.md#messages",
        "The client forwards names and addresses of players of up to 255 bytes unchanged",
        "The length is one unsigned byte: a char may be negative.",
        Scene("long names", |session, rule| {
            let setup = parameters(1, (4, 3), 5, 1, 1)?;
            extremes::lobby_of(session, rule, setup, &"n".repeat(255), &"a".repeat(255))
        });
    ANY_TEXT: Advice "any-address-text" in "protocols/robots.md#messages",
        "The client forwards the address of a player unchanged, whatever text it is",
        "Do not parse it: servers may format addresses differently.",
        Scene("an arbitrary text as an address", |session, rule| {
            extremes::lobby_of(session, rule, parameters(1, (4, 3), 5, 1, 1)?, "Ann", "somewhere, 100 %s")
        });
    ZERO_BYTES: Advice "zero-bytes" in "protocols/robots.md#messages",
        "The client forwards a zero byte in the name of a server or a player unchanged",
        "A C string ends at its first zero: store the length.",
        Scene("names with zero bytes", |session, rule| {
            let setup = Parameters { server_name: "a\0b".parse()?, ..parameters(1, (4, 3), 5, 1, 1)? };
            extremes::lobby_of(session, rule, setup, "c\0d", ADDRESS)
        });
    MANY_PLAYERS: Protocol(1, "Bombowe roboty, 2.3") "many-players" in "protocols/robots.md#messages",
        "The client accepts 255 players",
        "Count players in a type larger than a byte.",
        Scene("255 players", extremes::many_players);
    GAME: Protocol(6, "Bombowe roboty, 3") "game-picture" in "protocols/robots.md#a-client",
        "After each Turn, including turn 0, the client sends the GUI a Game with its number, players and board",
        "Send one Game when the whole Turn is parsed, not after each event.";
    NO_PICTURE: Protocol(1, "Bombowe roboty, 3") "no-picture" in "protocols/robots.md#a-client",
        "The client sends no picture after GameStarted, and no picture twice",
        "GameStarted only lists the players: store them, and send a picture with turn 0.";
    ENDED: Protocol(3, "Bombowe roboty, 7") "game-ended" in "protocols/robots.md#a-client",
        "After GameEnded the client sends the GUI a Lobby without players, and joins again at the next input",
        "At GameEnded clear players, board and the flag that you have joined.";
    POSITIONS: Protocol(5, "Bombowe roboty, 3") "positions" in "protocols/robots.md#a-client",
        "A Game contains the position of each robot",
        "Handle PlayerMoved the same way for turn 0, moves and rebirths.";
    LARGE_POSITIONS: Protocol(1, "Bombowe roboty, 2.3") "large-positions" in "protocols/robots.md#messages",
        "The client accepts positions up to 65534 and turns up to 65535",
        "Use unsigned numbers of 16 bits.",
        Scene("large positions", extremes::large_positions);
    BLOCKS: Protocol(5, "Bombowe roboty, 3") "blocks" in "protocols/robots.md#a-client",
        "A Game contains each block once, and no block that an explosion destroyed",
        "Remove destroyed blocks only after the last BombExploded of a turn, since until then they stop other blasts. A later BlockPlaced may restore one.";
    BLOCK_AGAIN: Advice "block-again" in "protocols/robots.md#a-client",
        "A Game contains a block that is destroyed and placed again in the same turn",
        "Remove destroyed blocks before you add placed ones.",
        Scene("a block that is placed again", blasts::block_again);
    BOMBS: Protocol(5, "Bombowe roboty, 7") "bombs" in "protocols/robots.md#a-client",
        "A Game contains each bomb with its timer, which starts at bomb timer and decreases by one each turn",
        "At the start of a Turn decrease the timers of all bombs, then process its events. A new bomb keeps the full timer.";
    TWIN_BOMBS: Protocol(1, "Bombowe roboty, 2.8") "twin-bombs" in "protocols/robots.md#client-to-gui-udp",
        "The picture contains both of two bombs with the same position and timer",
        "Store bombs by id, not in a set of positions.",
        Scene("two bombs and one field", blasts::twin_bombs);
    EXPLOSIONS: Protocol(5, "Bombowe roboty, 2.8") "explosions" in "protocols/robots.md#the-board-and-explosions",
        "A Game contains each field covered by this turn's explosions once, computed from the blocks at the start of the turn",
        "Compute a blast from the blocks at the start of the turn. A block that another bomb destroys in this turn still stops it.";
    BLAST_STOPS: Protocol(1, "Bombowe roboty, 2.8") "blast-stops" in "protocols/robots.md#the-board-and-explosions",
        "An arm of a blast ends with the first block, and covers it",
        "Mark the field first, then stop if it has a block.",
        Blast("an arm and a block", 2, &[(3, 2), (4, 2), (2, 0)], (2, 2), &[(3, 2), (2, 0)]);
    BLAST_EDGE: Protocol(1, "Bombowe roboty, 2.8") "blast-edge" in "protocols/robots.md#the-board-and-explosions",
        "An arm of a blast ends at the edge of the board",
        "Compare before you subtract: 0 - 1 is large in an unsigned type.",
        Blast("an arm and the edge", 3, &[], (0, 4), &[]);
    BLAST_ON_BLOCK: Protocol(1, "Bombowe roboty, 7") "blast-on-block" in "protocols/robots.md#the-board-and-explosions",
        "The blast of a bomb on a block covers only that field",
        "Check the field of the bomb before the arms.",
        Blast("a bomb on a block", 3, &[(2, 2), (3, 2)], (2, 2), &[(2, 2)]);
    BLAST_BEFORE: Protocol(1, "Bombowe roboty, 2.8") "blast-before" in "protocols/robots.md#the-board-and-explosions",
        "Each blast of a turn uses the blocks as they were before the turn",
        "Keep a copy of the blocks, or remove destroyed blocks after the last explosion.",
        Scene("two bombs and one block", blasts::blast_before);
    RADIUS_0: Protocol(1, "Bombowe roboty, 2.8") "radius-0" in "protocols/robots.md#the-board-and-explosions",
        "With radius 0 a blast covers only the field of the bomb",
        "Start the arms at the neighbouring fields.",
        Blast("radius 0", 0, &[(1, 2), (2, 1)], (1, 1), &[]);
    RADIUS_MAX: Protocol(1, "Bombowe roboty, 2.8") "radius-65535" in "protocols/robots.md#the-board-and-explosions",
        "With radius 65535 an arm reaches the edge of a large board",
        "The sum of position and radius overflows 16 bits: use 32 bits.",
        Scene("radius 65535", blasts::long_explosion);
    BLAST_OVER: Protocol(2, "Bombowe roboty, 7") "blast-over" in "protocols/robots.md#a-client",
        "A Game contains no explosions of the previous turn",
        "Clear the explosions at the start of each Turn.",
        Scene("a turn after an explosion", blasts::blast_over);
    SCORES: Protocol(5, "Bombowe roboty, 2.5") "scores" in "protocols/robots.md#a-client",
        "From turn 0 on, a Game contains for each player the number of turns in which its robot was destroyed",
        "Set all scores to 0 at GameStarted. Count turns in which a robot was destroyed, not explosions.";
    SCORE_ONCE: Protocol(1, "Bombowe roboty, 7") "score-once" in "protocols/robots.md#a-client",
        "The client counts one point for a robot that several explosions of one turn destroy",
        "Collect the robots destroyed in the turn in a set, and add 1 for each at the end of the turn.",
        Scene("two bombs and one robot", blasts::hit_twice);
    PIECES: Protocol(2, "Bombowe roboty, 2") "pieces" in "protocols/robots.md#a-client",
        "The client accepts messages from the server that arrive byte by byte",
        "A read may return a part of a message: repeat it until the field is complete.",
        Scene("byte by byte", scenes::pieces);
    BIG_TURN: Protocol(1, "Bombowe roboty, 3") "big-turn" in "protocols/robots.md#client-to-gui-udp",
        "The client sends a picture after a Turn of 60,000 bytes",
        "Read until the message is complete. Send the picture in one datagram, of at most 65,507 bytes.",
        Scene("a big turn", scenes::big_turn);
    LATE: Protocol(2, "Bombowe roboty, 2.6") "late-joiner" in "protocols/robots.md#a-client",
        "The client sends one picture for each of many messages that arrive together, as for a late joiner",
        "After a message, look for the next one in the data that you have already read.",
        Scene("a late joiner", scenes::late);
    MAP_ORDER: Advice "map-order" in "protocols/robots.md#a-client",
        "The client accepts map entries in any order",
        "Parse the key of each entry instead of its position.",
        Scene("maps in another order", scenes::map_order);
    SECOND_GAME: Protocol(3, "Bombowe roboty, 1.1") "second-game" in "protocols/robots.md#a-client",
        "The client starts the next game without any state of the last one",
        "Clear bombs, blocks, explosions, scores and positions at GameStarted.";
    MANY_GAMES: Protocol(1, "Bombowe roboty, 1.1") "many-games" in "protocols/robots.md#a-client",
        "The client plays twenty games on one connection",
        "Clear all state at GameEnded, and end the threads of the old game.",
        Scene("many games", extremes::many_games);
    STRADDLING: Protocol(1, "Bombowe roboty, 2") "straddling" in "protocols/robots.md#a-client",
        "The client accepts a segment with the end of one message and the start of the next",
        "Keep the bytes after a message, even if they are half of the next one.",
        Scene("segments that split messages", extremes::straddling);
    OVERDUE: Advice "overdue-bomb" in "protocols/robots.md#a-client",
        "The client continues if a bomb does not explode in time",
        "Keep a timer of 0 at 0: decreasing an unsigned 0 gives a large number.",
        Inconsistent(2, Vec::new);
    UNKNOWN_BOMB: Advice "unknown-bomb" in "protocols/robots.md#a-client",
        "The client continues after the explosion of an unknown bomb",
        "Check whether the map contains the id.",
        Inconsistent(99, || vec![explosion(77, &[0], &[(1, 2)])]);
    OFF_BOARD: Advice "off-the-board" in "protocols/robots.md#a-client",
        "The client continues after positions outside the board",
        "Trust the server, but do not use a position as an array index.",
        Inconsistent(99, || vec![robot(0, 4, 65_535), block(60_000, 0), bomb(5, 4, 3)]);
    UNKNOWN_PLAYER: Advice "unknown-player" in "protocols/robots.md#a-client",
        "The client continues after events of unknown players",
        "Check whether the map contains the id.",
        Inconsistent(99, || vec![robot(9, 1, 1), explosion(0, &[0, 200], &[])]);
    NO_DELAY: Protocol(1, "Bombowe roboty, 4") "no-delay" in "protocols/robots.md#a-client",
        "The client sends an input immediately, without waiting for the acknowledgement of the previous one",
        "Set TCP_NODELAY on the connection to the server.",
        Scene("two inputs in one batch", extremes::no_delay);
    MALFORMED: Protocol(1, "Bombowe roboty, 7") "malformed" in "protocols/robots.md#a-client",
        "After an unknown message tag the client exits with a nonzero status",
        "After an invalid byte the start of the next message is unknown.",
        Ends("invalid bytes", "after the unknown message tag 9", false, &[9], Some);
    BAD_EVENT: Protocol(1, "Bombowe roboty, 7") "bad-event" in "protocols/robots.md#a-client",
        "After an unknown event tag the client exits with a nonzero status",
        "The valid event tags are 0 to 3.",
        Ends("invalid bytes", "after the unknown event tag 4", true, &[3, 0, 1, 0, 0, 0, 1, 4], Some);
    BAD_TEXT: Advice "bad-text" in "protocols/robots.md#a-client",
        "After text that is not UTF-8 the client exits with a nonzero status",
        "Validate text when you read it: the GUI cannot.",
        Ends("invalid bytes", "after a name that is not UTF-8", false, &[1, 0, 1, 0xff, 1, b'a'], Some);
    CUT_OFF: Protocol(1, "Bombowe roboty, 4") "cut-off" in "protocols/robots.md#a-client",
        "If the connection ends within a message, the client exits with a nonzero status",
        "A read that returns 0 is the end, even in the middle of a field.",
        Ends(
            "a server that leaves within a message",
            "after the connection ended within a Turn",
            true,
            &[3, 0, 1, 0, 0, 0, 9],
            |_| None,
        );
    RESET: Protocol(1, "Bombowe roboty, 4") "reset" in "protocols/robots.md#a-client",
        "If the connection is reset, the client exits with a nonzero status",
        "A failed read is the end of the connection.",
        Ends("a connection that is reset", "after the connection was reset", false, &[], |server| {
            server.reset();
            None
        });
    CLOSED: Protocol(1, "Bombowe roboty, 4") "connection-lost" in "protocols/robots.md#a-client",
        "If the server closes the connection, the client exits with a nonzero status",
        "A read that returns 0 is the end of the connection. End the thread that receives from the GUI too.",
        Ends("a server that leaves", "after the server closed the connection", false, &[], |_| None);
    UNREACHABLE: Protocol(1, "Bombowe roboty, 4") "unreachable" in "protocols/robots.md#a-client",
        "If no server listens, the client exits with a nonzero status",
        "Check the result of connect for all addresses that getaddrinfo returns.",
        Other("no server", scenes::unreachable);
    TAKEN_PORT: Protocol(1, "Bombowe roboty, 4") "taken-port" in "protocols/robots.md#a-client",
        "If its port is in use, the client exits with a nonzero status",
        "Check the result of bind, and do not set SO_REUSEPORT.",
        Other("a port in use", scenes::taken_port);
    WRONG_ARGUMENTS: Protocol(1, "Bombowe roboty, 6.1") "wrong-arguments" in "protocols/robots.md#a-client",
        "If the port is not a number, the client exits with a nonzero status",
        "atoi returns 0 for a word that is not a number. Use a function that reports errors.",
        Refused("with '-p port'", &[("port", Some("port"))]);
    PORT_RANGE: Protocol(1, "Bombowe roboty, 1.3") "port-too-large" in "protocols/robots.md#a-server-and-the-network",
        "If the port is 65536, the client exits with a nonzero status",
        "A port has 16 bits.",
        Refused("with '-p 65536'", &[("port", Some("65536"))]);
    MISSING: Protocol(1, "Bombowe roboty, 6.1") "missing-arguments" in "protocols/robots.md#a-server-and-the-network",
        "Without arguments the client exits with a nonzero status",
        "Require each of -d, -n, -p and -s.",
        Refused("without arguments", &[("gui", None), ("name", None), ("port", None), ("server", None)]);
    NAME_TOO_LONG: Advice "name-too-long" in "protocols/robots.md#a-server-and-the-network",
        "If the name has 256 bytes, the client exits with a nonzero status",
        "The length of a text is one byte.",
        Refused("with a name of 256 bytes", &[("name", Some(NAME_OF_256))]);
    NO_PORT: Protocol(1, "Bombowe roboty, 1.3") "address-without-port" in "protocols/robots.md#a-server-and-the-network",
        "If an address has no port, the client exits with a nonzero status",
        "Look for the last colon and for digits after it.",
        Refused("with '-d 127.0.0.1'", &[("gui", Some("127.0.0.1"))]),
        Refused("with '-s 127.0.0.1'", &[("server", Some("127.0.0.1"))]);
    NO_CRASH: Protocol(2, "Bombowe roboty, 6.1") "no-crash" in "protocols/robots.md#a-server-and-the-network",
        "The client does not crash, whatever a server or a GUI sends and however it ends",
        "Do not allocate memory for a count before its bytes have arrived, and catch exceptions.";
    EXIT_ONE: Protocol(1, "Bombowe roboty, 4") "exit-status-1" in "protocols/robots.md#a-client",
        "A client that cannot start or continue exits with status 1",
        "Return 1 from main. Do not end the program with an exception or an abort.";
    TOO_BIG: Advice "too-big-picture" in "protocols/robots.md#a-client",
        "The client continues if a picture does not fit into a datagram",
        "Sending more than 65,507 bytes fails: log it, and continue.",
        Scene("a turn too big for a picture", extremes::too_big);
    TRAILING: Advice "trailing-letters" in "protocols/robots.md#a-server-and-the-network",
        "If letters follow the port, the client exits with a nonzero status",
        "strtoul returns the end of the number, which must be the end of the word.",
        Refused("with '-p 2023x'", &[("port", Some("2023x"))]);
    EXTRA: Advice "extra-argument" in "protocols/robots.md#a-server-and-the-network",
        "With a word that is not an option, the client exits with a nonzero status",
        "Check for arguments after the options.",
        Refused("with the word 'more' after the options", &[(MORE, Some("more"))]);
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/robots.md#a-server-and-the-network",
        "With an unknown option, the client exits with a nonzero status",
        "getopt returns '?' for it.",
        Refused("with the option -Z", &[(MORE, Some("-Z"))]);
    EXPLAINS: Advice "explains" in "protocols/robots.md#a-server-and-the-network",
        "A client that rejects its arguments prints the reason on standard error",
        "Write a line to std::cerr before you exit.";
}

static PLACEHOLDERS: &[&str] = &["gui", "name", "port", "server"];

/// Without listed rules, a scenario may observe any.
type General = (&'static str, &'static [&'static Rule], fn(&mut Session<'_>) -> ScenarioResult);

const GENERAL: [General; 3] = [
    ("inputs of an observer", &[&OBSERVES, &FORWARDS], scenes::observer),
    ("a busy game", &[], scenes::busy),
    ("explosions", &[], blasts::explosions),
];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let context = &Context::new(launcher, options, "client", &EXIT_ONE);
    judge.play("two games", |judge| scenes::two_games(&mut Session::launch(context, judge, USUAL)?))?;
    let mut scenes: Vec<_> = GENERAL
        .iter()
        .map(|&(name, meant, play)| {
            scene(name, move |judge| play(&mut Session::launch(context, judge, USUAL)?)).shows(meant.iter().copied())
        })
        .collect();
    let mut refusals = Vec::new();
    for (rule, scenario) in SCENARIOS {
        let name = match scenario {
            Refused(how, values) => {
                refusals.push(Refusal { rule, how, values });
                continue;
            }
            Ignored(_) => "invalid inputs",
            Inconsistent(..) => "inconsistent events",
            Scene(name, _)
            | Blast(name, ..)
            | Named(name, _)
            | Addressed(name, _)
            | Ends(name, ..)
            | Other(name, _) => name,
        };
        let exits = matches!(scenario, Ends(..) | Other(..)).then_some(&EXIT_ONE);
        let run = move |judge: &mut Judge| run(context, judge, rule, scenario);
        scenes.push(scene(name, run).shows([*rule].into_iter().chain(exits)));
    }
    let refusals =
        RefusalTest { launcher, options: *options, explains: &EXPLAINS, values: command_line::values }.scenes(refusals);
    judge.side_by_side(scenes.into_iter().chain(refusals).collect())
}

fn run(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule, scenario: &Scenario) -> ScenarioResult {
    let launch = |judge| Session::launch(context, judge, CommandLine { crash_counts: rule.is_required(), ..USUAL });
    match *scenario {
        Scene(_, play) => play(&mut launch(judge)?, rule),
        Blast(_, radius, blocks, place, hit) => {
            blasts::single_blast(&mut launch(judge)?, rule, (radius, blocks), (place, hit))
        }
        Ignored(inputs) => scenes::bad_input(&mut launch(judge)?, rule, inputs),
        Inconsistent(timer, events) => extremes::inconsistent(&mut launch(judge)?, rule, timer, events()),
        Named(_, name) => command_line::named(context, judge, rule, name),
        Addressed(_, command_lines) => command_line::addressed(context, judge, rule, command_lines),
        Ends(_, why, in_game, bytes, end) => scenes::ends(context, judge, rule, (why, in_game, bytes), end),
        Other(_, play) => play(context, judge, rule),
        // Played elsewhere.
        Refused(..) => Ok(()),
    }
}
