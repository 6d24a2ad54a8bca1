mod clients;
mod games;
mod player;

use mastermind::{ServerMessage, protocol::MAX_MESSAGE};

use crate::{
    judge::{Judge, ScenarioResult, scene},
    launch::Launcher,
    mastermind::lines::Delivery,
    ports::free_tcp_port,
    rule::{Rule, rules},
    tester::{Options, Tester},
};
use Scenario::{Game, Misbehaves, Scene, TooLong};
use clients::Departure;
use player::{Player, Server};

pub static TESTER: Tester = Tester {
    kind: "mastermind-server",
    is_server: true,
    usual: "{port}",
    known: &["port"],
    needed: &["port"],
    rules: RULES,
    takes_part: &[&ROW, &RESIGNED, &LOST],
    play,
};

/// Without repeats, so that no guess is correct by chance.
const SHORT_GAME: &[&str] = &["PLAY Ann", "RESIGN", "NEW 4 no", "GUESS 1111", "GUESS 1111", "RESIGN"];

const INVALID_LINES: [&[u8]; 25] = [
    b"",
    b"PLAY",
    b"GUESS",
    b"GUESS ",
    b"GUESS 123",
    b"GUESS 1290",
    b"GUESS 12x4",
    b"GUESS  1111",
    b"GUESS 1111 ",
    b"GUESS 1111 1111",
    b"GUESS1111",
    b" GUESS 1111",
    b"LIFELINE",
    b"LIFELINE 3",
    b"LIFELINE 1 1",
    b"HINT 1",
    b"NEW 9 yes",
    b"NEW 5",
    b"NEW 5 maybe",
    b"RESIGN 1",
    b"QUIT now",
    b"HELLO",
    b"ROW 1 1 1234 0 2",
    b"GUESS \xd9\xa1\xd9\xa1\xd9\xa1\xd9\xa1",
    b"GUESS 11\x0011",
];

enum Scenario {
    /// The name, the other rules that it observes by design, and the actions.
    Scene(&'static str, &'static [&'static Rule], fn(&mut Judge, &Subject<'_>) -> ScenarioResult),
    /// The first two messages are never merged with others.
    Game(&'static str, Delivery, &'static [&'static str]),
    TooLong(&'static str, &'static [u8], &'static str),
    /// The server may react in any way.
    Misbehaves(&'static str, &'static [u8], Departure),
}

rules! {
    for Scenario;
    LISTENS: Protocol(1, "What a server answers, a connection") "listens" in "protocols/mastermind.md#what-a-server-answers",
        "The server accepts connections on its port",
        "Listen on the port from the command line, on all addresses or on 127.0.0.1.";
    GRAMMAR: Protocol(2, "Messages") "grammar" in "protocols/mastermind.md#messages",
        "The server sends only messages of the protocol: at most 256 bytes of printable ASCII and one line feed",
        "Send no blank at the end, no carriage return and no leading zeros.";
    ROOM: Protocol(2, "What a server answers, a connection") "room" in "protocols/mastermind.md#what-a-server-answers",
        "The server sends ROOM as the first message of a connection, here for a solo room",
        "Send ROOM as soon as a client connects, before it sends anything.";
    SEAT: Protocol(3, "What a server answers, PLAY") "seat" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers PLAY with OK, SEAT with the name, and GAME",
        "Send them in this order, with the name from PLAY.";
    FIRST_TURN: Protocol(2, "What a server answers, PLAY") "first-turn" in "protocols/mastermind.md#what-a-server-answers",
        "After GAME the server sends TURN 1 available available 0",
        "Send TURN immediately after GAME, with two words and the number of hints so far.";
    NAMES: Protocol(1, "Messages, PLAY") "names" in "protocols/mastermind.md#messages",
        "The server cuts a name to 24 bytes and replaces bytes other than printable ASCII with _",
        "Count bytes, not letters: é has two bytes in UTF-8.",
        Scene("names", &[], games::names);
    NUMBERS: Protocol(1, "Messages, GAME") "numbers" in "protocols/mastermind.md#messages",
        "Each game in the room has a different number",
        "Count the games of the room, not those of one seat.";
    ROW: Protocol(4, "What a server answers, GUESS") "row" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers GUESS with ROW, which has the seat, the turn and the guess",
        "Repeat the guess, and count turns from 1.";
    FEEDBACK: Protocol(5, "Mastermind, The game") "feedback" in "mastermind.md#the-game",
        "The red and white counts in ROW match the code in OVER",
        "Use each digit of the code once, and count exact matches first. For the code 2111, the guess 1222 gets 0 and 2.";
    TURN: Protocol(3, "What a server answers, GUESS") "turn" in "protocols/mastermind.md#what-a-server-answers",
        "After ROW the server sends TURN with the next turn, unless the game is over",
        "Count the turns used by lifelines too.";
    WON: Protocol(3, "What a server answers, GUESS") "won" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers the right code with OVER won, the turns, the hints and the code",
        "Count the turn of the right guess, and those of a lifeline.",
        Scene("a won game", &[&FEEDBACK, &GRAMMAR], games::won);
    LOST: Protocol(3, "What a server answers, GUESS") "lost" in "protocols/mastermind.md#what-a-server-answers",
        "After the tenth turn the server sends OVER lost 10 with the code",
        "After each ROW, check whether it was the tenth turn.";
    RESIGNED: Protocol(2, "What a server answers, RESIGN") "resigned" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers RESIGN with OVER resigned, the completed turns and the code",
        "Do not count the current turn.";
    CODES: Protocol(3, "Mastermind, The game") "codes" in "mastermind.md#the-game",
        "The code has the length and the colours of the game, and no digit twice if repeats are not allowed",
        "Without repeats, shuffle the digits and take as many as the code needs.";
    REPEATS: Protocol(1, "Mastermind, The game") "repeats" in "mastermind.md#the-game",
        "If repeats are allowed, some codes have repeated digits",
        "Draw each digit independently.";
    RANDOM: Protocol(2, "Mastermind, The game") "random" in "mastermind.md#the-game",
        "Codes differ between games and between starts of the server",
        "Seed the generator once, with a different value at each start.",
        Scene("two starts of a server", &[], games::starts);
    LIFELINE_1: Protocol(2, "Mastermind, Lifelines") "lifeline-1" in "mastermind.md#lifelines",
        "LIFELINE 1 reveals a digit of the code without its place, and takes one turn",
        "Write `*` as the place.",
        Scene("lifelines", &[&LIFELINE_2, &ANY_PLACE, &AVAILABILITY, &GRAMMAR], games::lifelines);
    LIFELINE_2: Protocol(2, "Mastermind, Lifelines") "lifeline-2" in "mastermind.md#lifelines",
        "LIFELINE 2 reveals a place, counted from 1, and its digit, and takes two turns",
        "The first place is 1, not 0.";
    ANY_PLACE: Protocol(1, "Mastermind, Lifelines") "any-place" in "mastermind.md#lifelines",
        "Lifelines reveal a random place",
        "Draw the place each time. Do not take the first unknown place.";
    ONE_LIFELINE: Protocol(1, "Mastermind, Lifelines") "one-lifeline" in "mastermind.md#lifelines",
        "The server grants one lifeline in a game, and then refuses both",
        "Use one flag for both lifelines.",
        Scene("a second lifeline", &[&AVAILABILITY], |judge, subject| {
            let mut player = subject.seat(judge, &[])?;
            for lifeline in ["LIFELINE 1", "LIFELINE 2"] {
                player.say(judge, &["NEW 4 no", "GUESS 1111", lifeline])?;
                player.refused(judge, &ONE_LIFELINE, ["LIFELINE 1", "LIFELINE 2"])?;
                player.say(judge, &["GUESS 1111", "RESIGN"])?;
            }
            Ok(())
        });
    BLOCKED: Protocol(1, "Mastermind, Lifelines") "blocked" in "mastermind.md#lifelines",
        "The server grants a lifeline exactly if it leaves a turn for a guess",
        "With ten turns, grant the second lifeline, which takes two, in turn 8 but not in turn 9.",
        Scene("lifelines in late turns", &[&AVAILABILITY], games::late_lifelines);
    AVAILABILITY: Protocol(1, "Messages, TURN") "availability" in "protocols/mastermind.md#messages",
        "TURN shows for each lifeline whether the server would grant it: available, used or blocked",
        "Use one function both to show the word and to refuse the lifeline.";
    NEW: Protocol(2, "What a server answers, NEW") "new" in "protocols/mastermind.md#what-a-server-answers",
        "After a game the server answers NEW with the next game, by the rules of the room",
        "Keep the seat, and draw a new code. Start at turn 1.";
    NEW_RULES: Protocol(2, "What a server answers, NEW") "new-rules" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers NEW with a length and yes or no with a game by these rules",
        "Parse the length and the word, and use them for this game only.";
    REFUSED: Protocol(1, "Messages, lines that are no messages") "refused" in "protocols/mastermind.md#messages",
        "The server answers an invalid line with NO and does nothing else",
        "Check the whole line: the number of digits, each digit, and that nothing follows.",
        Scene("invalid lines", &[&NO_CRASH], |judge, subject| {
            let mut player = subject.seat(judge, &["NEW 4 no"])?;
            player.refused(judge, &REFUSED, INVALID_LINES)?;
            judge.under(&REFUSED, |judge| player.say(judge, &["GUESS 1111"]))
        });
    NO_EFFECT: Protocol(1, "Messages, NO") "no-effect" in "protocols/mastermind.md#messages",
        "The server answers a message at the wrong time with NO and does nothing else",
        "First check whether the client has a seat and a game in progress.",
        Scene("messages before PLAY", &[], |judge, subject| {
            let mut player = subject.connect(judge)?;
            player.refused(judge, &NO_EFFECT, ["GUESS 1234", "LIFELINE 1", "HINT", "NEW", "RESIGN"])?;
            judge.under(&NO_EFFECT, |judge| player.say(judge, &["PLAY Ann"]))
        }),
        Scene("messages at the wrong time", &[], |judge, subject| {
            let mut player = subject.seat(judge, &[])?;
            player.refused(judge, &NO_EFFECT, ["GUESS 1234", "LIFELINE 1", "RESIGN", "HINT", "PLAY Bob"])?;
            player.say(judge, &["NEW 4 no"])?;
            player.refused(judge, &NO_EFFECT, ["NEW", "NEW 5 yes", "PLAY Bob", "GUESS 12345"])?;
            judge.under(&NO_EFFECT, |judge| player.say(judge, &["GUESS 1111"]))
        });
    LOWER_CASE: Protocol(1, "Messages") "lower-case" in "protocols/mastermind.md#messages",
        "The server accepts the first word in lower case",
        "Ignore case in the first word only.",
        Game("lower case", Delivery::Whole, &["play Ann", "resign", "new 4 no", "Guess 1111", "quit"]);
    CARRIAGE_RETURN: Protocol(1, "Messages") "carriage-return" in "protocols/mastermind.md#messages",
        "The server ignores a carriage return before the line feed",
        "Remove it in one place, before you parse the line.",
        Game("carriage returns", Delivery::Returns, SHORT_GAME);
    PIECES: Protocol(1, "Messages") "pieces" in "protocols/mastermind.md#messages",
        "The server accepts messages that arrive byte by byte",
        "A read may return a part of a message: collect bytes up to the line feed.",
        Game("messages byte by byte", Delivery::Bytes, SHORT_GAME);
    MERGED: Protocol(1, "Messages") "merged" in "protocols/mastermind.md#messages",
        "The server accepts several messages that arrive together",
        "A read may return several messages: keep the bytes after the line feed for the next one.",
        Game("several messages at once", Delivery::Merged, SHORT_GAME);
    LONG_LINE: Protocol(1, "Messages") "long-line" in "protocols/mastermind.md#messages",
        "The server accepts a line of 64 bytes, and ends the connection with BYE after a longer one, even without its line feed",
        "Count bytes while you collect them. Do not wait for the line feed.",
        Scene("the longest line", &[], |judge, subject| {
            let mut player = subject.connect(judge)?;
            player.lines.send(format!("PLAY {}", "n".repeat(MAX_MESSAGE - "PLAY ".len())));
            let wanted = format!("OK after PLAY with {MAX_MESSAGE} bytes");
            player.expect(judge, &LONG_LINE, &wanted, |message| matches!(message, ServerMessage::Ok(_)).then_some(()))
        }),
        TooLong("a line that is too long", &[b'G'; MAX_MESSAGE + 1], "\n"),
        TooLong("a line without a line feed", &[b'G'; 3 * MAX_MESSAGE], "");
    QUIT: Protocol(2, "What a server answers, QUIT") "quit" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers QUIT with BYE and closes the connection",
        "Send BYE, then close.";
    LEFT: Protocol(1, "What a server answers, QUIT") "left" in "protocols/mastermind.md#what-a-server-answers",
        "When a player leaves, the server sends LEFT with its seat to all other clients",
        "A connection may also end without QUIT.",
        Scene("players who leave", &[&GRAMMAR], clients::leaving);
    SEEN: Protocol(2, "Who may see what") "seen" in "protocols/mastermind.md#who-may-see-what",
        "In a solo room the server sends SEAT, GAME, ROW, LIFELINE and OVER of each player to all clients",
        "Send them to observers too.",
        Scene("a player and an observer", &[&OWN_TURN, &GRAMMAR], clients::observed);
    OWN_TURN: Protocol(1, "What a server answers") "own-turn" in "protocols/mastermind.md#what-a-server-answers",
        "The server sends OK, TURN and NO only to the player concerned",
        "Separate messages for all clients from messages for one player.";
    STATE: Protocol(2, "What a server answers, a connection") "state" in "protocols/mastermind.md#what-a-server-answers",
        "The server sends a new client SEAT, GAME, the ROWs and LIFELINEs, and OVER of each taken seat",
        "Keep the rows and the lifeline of each game, and send them to each new client after ROOM.",
        Scene("a client that connects during a game", &[], clients::late);
    HINT: Protocol(1, "What a server answers, HINT") "hint" in "protocols/mastermind.md#what-a-server-answers",
        "The server answers HINT with NO, or with TURN, HINT with the number of possible codes, and POSSIBLE if they are few",
        "Without a codebreaker, answer NO.",
        Scene("a hint", &[&GRAMMAR], games::hint);
    MANY: Advice "many" in "protocols/mastermind.md#what-a-server-answers",
        "The server serves twenty players at the same time, each with its own seat and game",
        "Give each connection its own seat and game. Do not limit the number of seats.",
        Scene("two players", &[&SEEN, &OWN_TURN], clients::two),
        Scene("twenty players", &[], |judge, subject| judge.under(&MANY, |judge| clients::twenty(judge, subject)));
    OTHERS: Protocol(2, "Messages, lines that are no messages") "others" in "protocols/mastermind.md#what-a-server-answers",
        "A misbehaving client does not disturb the other players",
        "Disconnect that client without ending the program, and never block on one client.",
        Misbehaves("a client that sends 10,000 bytes", &[b'x'; 10_000], Departure::Never),
        Misbehaves("a client that sends zero bytes", &[0; 300], Departure::Never),
        Misbehaves("a client that leaves within a line", b"GUESS 12", Departure::Wholly),
        Misbehaves("a client that leaves before its answers", b"PLAY Eve\nGUESS 1111\nGUESS 1111\nRESIGN\nNEW\n", Departure::Wholly),
        Misbehaves("a client that closes its sending side", b"PLAY Eve\n", Departure::Half),
        Misbehaves("a client that sends bytes other than ASCII", b"PLAY \xff\xfe\x80\nGUESS \xff\n\xff\n", Departure::Never);
    NEVER_READS: Advice "never-reads" in "protocols/mastermind.md#what-a-server-answers",
        "A client that sends requests and never reads does not block the other players",
        "Writing to a full socket blocks. Queue a limited number of messages, then close the connection.",
        Scene("a client that never reads", &[&NO_CRASH], clients::never_reads);
    NO_CRASH: Protocol(3, "Messages, lines that are no messages") "no-crash" in "protocols/mastermind.md#what-a-server-answers",
        "The server does not crash, whatever a client sends or does",
        "Check lengths before you copy, and ignore SIGPIPE: a client may disconnect at any time.";
}

struct Subject<'a> {
    launcher: &'a dyn Launcher,
    options: Options,
}

impl Subject<'_> {
    fn start(&self, judge: &mut Judge) -> anyhow::Result<Server> {
        let port = free_tcp_port()?;
        let address = self.launcher.address().unwrap_or_else(|| ([127, 0, 0, 1], port).into());
        let run = judge.start(self.launcher, &[("port", port.to_string())])?;
        Ok(Server { run, address, options: self.options, clients: 0 })
    }

    fn connect(&self, judge: &mut Judge) -> ScenarioResult<Player> {
        let mut server = self.start(judge)?;
        let player = Player::connect(judge, &mut server)?;
        Ok(Player { _server: Some(server), ..player })
    }

    fn seat(&self, judge: &mut Judge, more: &[&str]) -> ScenarioResult<Player> {
        let mut player = self.connect(judge)?;
        player.say(judge, &["PLAY Ann", "RESIGN"])?;
        player.say(judge, more)?;
        Ok(player)
    }
}

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let subject = &Subject { launcher, options: *options };
    judge.play("a whole game", |judge| games::lost(judge, subject))?;
    if judge.has_failed(&LISTENS) || judge.has_failed(&ROOM) {
        // Otherwise, each further scenario would wait until its deadline.
        return Ok(());
    }
    // Other rules depend on this scenario, so every selection includes it.
    let mut scenes = vec![scene("games with other rules", |judge| games::other_rules(judge, subject))];
    scenes.extend(SCENARIOS.iter().map(|&(rule, ref scenario)| {
        match *scenario {
            Scene(name, also, run) => {
                scene(name, move |judge| run(judge, subject)).shows([rule].into_iter().chain(also.iter().copied()))
            }
            Game(name, delivery, lines) => scene(name, move |judge| {
                judge.under(rule, |judge| {
                    let mut player = subject.connect(judge)?;
                    player.lines.delivery = delivery;
                    let (first, rest) = lines.split_at(2);
                    first.iter().try_for_each(|line| player.say(judge, &[line]))?;
                    player.say(judge, rest)
                })
            })
            .shows([rule]),
            TooLong(name, line, end) => scene(name, move |judge| {
                let mut player = subject.connect(judge)?;
                player.lines.connection.send(&[line, end.as_bytes()].concat());
                player.bye(judge, rule, &format!("a line of {} bytes", line.len()))
            })
            .shows([rule, &NO_CRASH]),
            Misbehaves(name, bytes, departure) => {
                scene(name, move |judge| clients::misbehaving(judge, subject, bytes, departure))
                    .shows([rule, &NO_CRASH])
            }
        }
    }));
    judge.side_by_side(scenes)
}
