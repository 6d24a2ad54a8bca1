mod host;

use std::time::{Duration, Instant};

use mastermind::{ClientMessage, view::GameOutcome};

use crate::{
    judge::{Judge, ScenarioResult, scene},
    launch::Launcher,
    mastermind::lines::Delivery,
    rule::rules,
    tester::{Options, Tester},
};
use Scenario::{Game, Invalid, Joins};
use host::{Host, describe};

pub static TESTER: Tester = Tester {
    kind: "mastermind-client",
    is_server: false,
    usual: "{name} {host} {port}",
    known: &["name", "host", "port", "games"],
    needed: &["host", "port"],
    rules: RULES,
    takes_part: &[&PLAYS, &AFTER_OVER],
    play,
};

/// Most clients that repeat their messages do so every second.
const PAUSE: Duration = Duration::from_millis(1500);
const SHORT: Duration = Duration::from_millis(300);
/// More lines than in any other scenario.
const TOGETHER: usize = 40;
const AFTER_NO: usize = 3;
const SOLO: &str = "ROOM solo 4 8 no";
const OTHERS_BEFORE: [&str; 12] = [
    SOLO,
    "SEAT 1 Bob",
    "GAME 1 1 6 yes",
    "ROW 1 1 112233 1 2",
    "LIFELINE 1 2 2 3 5",
    "ROW 1 4 445566 0 0",
    "SEAT 3 Eve Smith",
    "GAME 3 2 4 no",
    "ROW 3 1 1234 4 0",
    "OVER 3 won 1 0 1234",
    "SEAT 4 _",
    "GAME 4 5 8 yes",
];

/// The client may do anything but crash.
const INVALID_LINES: [&[u8]; 12] = [
    b"",
    b"HELLO",
    b"TURN",
    b"TURN 2",
    b"ROW 1",
    b"ROW 1 1 1234 x y",
    b"OVER 1",
    b"GAME 1 1 99 maybe",
    b"LIFELINE 1 1 2 9 9",
    b"OK",
    b"SEAT 1 \xff\xfe",
    &[b'N'; 5000],
];

const RACE_OF_TWO: &[&str] = &["ROOM race 4 8 no 2", "SEAT 2 Bob", "WAIT 1"];

enum Scenario {
    /// The name, the delivery, the lines before PLAY, and the actions.
    Game(&'static str, Delivery, &'static [&'static str], fn(&mut Judge, &mut Host) -> ScenarioResult),
    Joins(&'static str, &'static str),
    Invalid(&'static str, &'static [&'static [u8]]),
}

rules! {
    for Scenario;
    JOINS: Protocol(3, "What a server answers, PLAY") "joins" in "protocols/mastermind.md#messages",
        "The client connects and takes a seat with PLAY and its name",
        "Take host and port from the command line, and send PLAY after ROOM.";
    GRAMMAR: Protocol(2, "Messages") "grammar" in "protocols/mastermind.md#messages",
        "The client sends only player messages of the protocol, of at most 64 bytes and a line feed",
        "Send one blank between words and none at the end.";
    NAME: Protocol(1, "Messages, PLAY") "name" in "protocols/mastermind.md#messages",
        "The client sends its name unchanged, including blanks",
        "Take the whole argument, and send all of it.",
        Joins("a name with a blank", "Ann van Dam");
    SEAT: Protocol(2, "Messages, OK") "seat" in "protocols/mastermind.md#messages",
        "The client accepts any seat number in OK",
        "Compare the first number of GAME, ROW and OVER with the number in OK. Seats may have two digits.",
        Game("seat 12", Delivery::Whole, &[SOLO], |judge, host| {
            host.take_seat(12);
            host.begin(judge, "2718", 8, false)?;
            host.turn(judge)?;
            host.play_on(judge)?;
            is_over(judge, host).map(drop)
        });
    PLAYS: Protocol(5, "What a server answers, GUESS") "plays" in "protocols/mastermind.md#what-a-server-answers",
        "The client answers TURN with GUESS, LIFELINE, HINT or RESIGN",
        "Answer TURN, not ROW or GAME.";
    QUIET: Protocol(2, "What a server answers, GUESS") "quiet" in "protocols/mastermind.md#what-a-server-answers",
        "The client sends one message for each TURN, and waits for the next TURN",
        "Send a message after TURN only, not after each ROW or after a delay.",
        Game("a slow server", Delivery::Whole, &[SOLO], |judge, host| {
            host.pause(judge, &QUIET, PAUSE, "between PLAY and OK")?;
            host.take_seat(1);
            host.pause(judge, &QUIET, PAUSE, "between SEAT and GAME")?;
            host.begin(judge, "7531", 8, false)?;
            host.receive(judge, &PLAYS)?;
            host.pause(judge, &QUIET, PAUSE, "between a guess and its answer")
        });
    LENGTH: Protocol(3, "Messages, GAME") "length" in "protocols/mastermind.md#messages",
        "A guess has the number of digits in GAME, here from four to six",
        "Take the length from GAME, not from ROOM: games in one room may differ.",
        Game("a game of six digits", Delivery::Whole, &["ROOM solo 6 8 no"], |judge, host| {
            host.take_seat(1);
            host.begin(judge, "716253", 8, false)?;
            host.play_on(judge)
        });
    COLOURS: Protocol(2, "Messages, ROOM") "colours" in "protocols/mastermind.md#messages",
        "A guess contains only the colours of ROOM",
        "In ROOM the length comes first and the number of colours second.",
        Game("a room of six colours", Delivery::Whole, &["ROOM solo 4 6 yes"], |judge, host| {
            host.take_seat(1);
            host.begin(judge, "6655", 6, true)?;
            host.play_on(judge)
        });
    AFTER_OVER: Protocol(4, "What a server answers, NEW") "after-over" in "protocols/mastermind.md#what-a-server-answers",
        "After OVER the client sends NEW or QUIT, or closes the connection",
        "React only to the OVER of your own seat. The server sends no TURN until you send NEW.";
    LATE: Protocol(1, "Messages, OVER") "late" in "protocols/mastermind.md#who-may-see-what",
        "The client accepts an OVER before it has found the code, such as OVER late in a race",
        "Do not wait for TURN after each ROW: OVER may come instead.",
        Game("a race that times out", Delivery::Whole, RACE_OF_TWO, |judge, host| {
            host.take_seat(1);
            host.send("GAME 2 7 4 no");
            host.begin(judge, "8642", 8, false)?;
            if let Some(ClientMessage::Guess(guess)) = host.receive(judge, &PLAYS)? {
                host.answer(judge, guess)?;
            }
            host.over(GameOutcome::Late);
            is_over(judge, host).map(drop)
        });
    NEXT_GAME: Protocol(3, "What a server answers, NEW") "next-game" in "protocols/mastermind.md#what-a-server-answers",
        "The client plays the next game by the rules in its GAME, and discards the answers of the last game",
        "Clear the answers at GAME. Use {games} in the command, or the kit cannot test this with a client that plays one game.";
    OTHERS: Protocol(2, "Who may see what") "others" in "protocols/mastermind.md#messages",
        "The client ignores GAME, ROW, LIFELINE and OVER of other seats",
        "Compare the seat first.",
        Game("other players in the same room", Delivery::Whole, &[SOLO], |judge, host| {
            host.take_seat(2);
            host.send_all(&["SEAT 1 Bob", "GAME 1 1 4 no"]);
            host.begin(judge, "1342", 8, false)?;
            for lines in [
                &["GAME 3 2 6 yes", "ROW 3 1 112233 0 0", "SEAT 3 Eve"][..],
                &["ROW 1 1 1342 4 0", "OVER 1 won 1 0 1342"],
                &["LIFELINE 3 2 2 1 8", "OVER 3 resigned 2 0 888888", "LEFT 3"],
            ] {
                // The lines arrive during the client's turn, before or after its message.
                host.send_all(lines);
                if !host.turn(judge)? {
                    return Ok(());
                }
            }
            host.play_on(judge)
        });
    STATE: Protocol(2, "What a server answers, a connection") "state" in "protocols/mastermind.md#what-a-server-answers",
        "The client takes a seat in a room where a game is already in progress",
        "Between ROOM and OK, expect SEAT, GAME, ROW and OVER of other players.",
        Game("a room with other players", Delivery::Whole, &OTHERS_BEFORE, |judge, host| {
            host.take_seat(2);
            host.begin(judge, "3521", 8, false)?;
            host.play_on(judge)
        });
    STARS: Protocol(1, "Who may see what") "stars" in "protocols/mastermind.md#who-may-see-what",
        "The client accepts stars in messages of other seats and in its own OVER",
        "A code or guess of another player may consist of stars: do not parse it as digits.",
        Game("stars", Delivery::Whole, RACE_OF_TWO, |judge, host| {
            host.take_seat(1);
            host.send("GAME 2 7 4 no");
            host.begin(judge, "1864", 8, false)?;
            host.send_all(&["ROW 2 1 **** 1 2", "LIFELINE 2 2 2 * *"]);
            host.turn(judge)?;
            host.send_all(&["ROW 2 4 **** 4 0", "OVER 2 won 4 0 ****"]);
            if host.turn(judge)? {
                // All turns are used, but the code stays hidden, since the race continues for other players.
                host.receive(judge, &PLAYS)?;
                host.send_all(&["ROW 1 10 1234 1 1", "OVER 1 lost 10 0 ****"]);
                host.lines.flush();
                is_over(judge, host)?;
            }
            Ok(())
        });
    RACE: Protocol(2, "What a server answers, PLAY") "race" in "protocols/mastermind.md#what-a-server-answers",
        "In a race the client waits until all players are ready",
        "WAIT is not TURN: send no guess.",
        Game("a race", Delivery::Whole, &["ROOM race 4 8 yes 2", "WAIT 2"], |judge, host| {
            host.take_seat(1);
            host.send("WAIT 1");
            host.pause(judge, &RACE, SHORT, "before the race starts")?;
            host.send_all(&["SEAT 2 Bob", "GAME 2 7 4 yes"]);
            host.begin(judge, "4114", 8, true)?;
            host.play_on(judge)
        });
    DAILY: Protocol(2, "Messages, ROOM") "daily" in "protocols/mastermind.md#messages",
        "The client plays in a room with the daily puzzle",
        "ROOM daily ends with a date.",
        Game("the daily puzzle", Delivery::Whole, &["ROOM daily 4 8 yes 2026-01-13"], |judge, host| {
            host.take_seat(1);
            host.begin(judge, "8778", 8, true)?;
            host.play_on(judge)
        });
    ROOM_AGAIN: Protocol(1, "What a server answers, NEW") "room-again" in "protocols/mastermind.md#what-a-server-answers",
        "If the server repeats ROOM and the complete state, the client keeps its seat and continues",
        "Send PLAY once. Replace the known rows with the repeated ones.",
        Game("midnight", Delivery::Whole, &["ROOM daily 4 8 yes 2026-01-13"], |judge, host| {
            host.take_seat(1);
            host.begin(judge, "5885", 8, true)?;
            let Some(ClientMessage::Guess(guess)) = host.receive(judge, &PLAYS)? else { return Ok(()) };
            if host.answer(judge, guess)?.is_some() {
                return Ok(());
            }
            // The day ends before the next turn, but the game continues.
            host.send("ROOM daily 4 8 yes 2026-01-14");
            host.send_state();
            host.send_turn(judge)?;
            host.play_on(judge)
        });
    REFUSED: Protocol(1, "Messages, NO") "refused" in "protocols/mastermind.md#messages",
        "After NO the client does not repeat the same message endlessly",
        "Send the next message that can be valid, or disconnect.",
        Game("a rejected guess", Delivery::Whole, &[SOLO], |judge, host| {
            host.take_seat(1);
            host.begin(judge, "7531", 8, false)?;
            for count in 0.. {
                let connection = &mut host.lines.connection;
                let waits = connection.buffer.is_empty() && !connection.more(Instant::now() + PAUSE);
                if count > 0 && waits || host.receive(judge, &PLAYS)?.is_none() {
                    break;
                }
                judge.require(&REFUSED, count < AFTER_NO, || {
                    format!("expected fewer than {AFTER_NO} messages after NO, received {count}")
                })?;
                host.send("NO wait a moment");
            }
            judge.require(&REFUSED, true, String::new)
        });
    PIECES: Protocol(1, "Messages") "pieces" in "protocols/mastermind.md#messages",
        "The client accepts messages that arrive byte by byte",
        "A read may return a part of a message: collect bytes up to the line feed.",
        Game("messages byte by byte", Delivery::Bytes, &[SOLO], one_game);
    MERGED: Protocol(1, "Messages") "merged" in "protocols/mastermind.md#messages",
        "The client accepts several messages that arrive together",
        "A read may return several messages: keep the bytes after the line feed for the next one.",
        Game("several messages at once", Delivery::Merged, &[SOLO], |judge, host| {
            host.send_all(&["SEAT 9 Eve", "GAME 9 1 6 yes"]);
            (0..TOGETHER).for_each(|turn| host.send(format!("ROW 9 {} 665544 0 1", 1 + turn % 9)));
            one_game(judge, host)
        });
    CARRIAGE_RETURN: Protocol(1, "Messages") "carriage-return" in "protocols/mastermind.md#messages",
        "The client ignores a carriage return before the line feed",
        "Remove it in one place, before you parse the line.",
        Game("carriage returns", Delivery::Returns, &[SOLO], one_game);
    BYE: Protocol(2, "Messages, BYE") "bye" in "protocols/mastermind.md#messages",
        "The client exits after BYE, at any time, and the end of the connection",
        "Handle BYE in every state.",
        Game("BYE in the middle of a game", Delivery::Whole, &[SOLO], |judge, host| {
            host.take_seat(1);
            host.begin(judge, "7531", 8, false)?;
            host.turn(judge)?;
            host.send("BYE you said nothing for 15 minutes and have lost your seat");
            host.leave(judge, &BYE, "BYE in the middle of a game")
        });
    EXIT_STATUS: Advice "exit-status" in "protocols/mastermind.md#what-a-server-answers",
        "After QUIT and BYE the client exits with status 0",
        "Return 0 from main.";
    SERVER_GONE: Protocol(1, "Messages, BYE") "server-gone" in "protocols/mastermind.md#messages",
        "The client exits when the connection ends without BYE",
        "A read of 0 bytes is the end of the connection.",
        Game("a server that disconnects", Delivery::Whole, &[SOLO], |judge, host| {
            host.take_seat(1);
            host.begin(judge, "7531", 8, false)?;
            host.turn(judge)?;
            host.leave(judge, &SERVER_GONE, "the end of the connection")
        });
    NO_CRASH: Protocol(3, "Messages") "no-crash" in "protocols/mastermind.md#messages",
        "The client does not crash, whatever a server sends",
        "Check the number of words in a line before you use them.",
        Invalid("invalid lines", &INVALID_LINES);
    FITS: Advice "fits" in "mastermind.md#the-game",
        "Each guess is consistent with all previous answers",
        "Keep the codes that would get the same answers, and guess one of them.";
}

fn one_game(judge: &mut Judge, host: &mut Host) -> ScenarioResult {
    host.take_seat(1);
    host.begin(judge, "6473", 8, false)?;
    host.play_on(judge)?;
    is_over(judge, host).map(drop)
}

/// Returns whether the client requests another game. Keeps the connection of a leaving client open.
fn is_over(judge: &mut Judge, host: &mut Host) -> ScenarioResult<bool> {
    let next = host.receive(judge, &AFTER_OVER)?;
    let right = matches!(next, None | Some(ClientMessage::New(_) | ClientMessage::Quit));
    judge.require(&AFTER_OVER, right, || {
        format!("expected NEW or QUIT after OVER, received {}", describe(next.as_ref()))
    })?;
    Ok(matches!(next, Some(ClientMessage::New(_))))
}

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let start = |judge: &mut Judge, delivery, name: &str, lines: &[&str]| {
        Host::start(judge, launcher, *options, delivery, name, lines)
    };
    let mut joins = false;
    judge.play("two games", |judge| {
        let mut host = start(judge, Delivery::Whole, "tester", &[SOLO])?;
        joins = true;
        host.take_seat(1);
        host.begin(judge, "8536", 8, false)?;
        host.play_on(judge)?;
        if is_over(judge, &mut host)? {
            judge.under(&NEXT_GAME, |judge| {
                host.begin(judge, "22112", 8, true)?;
                host.play_on(judge)
            })?;
            is_over(judge, &mut host)?;
        }
        host.send("BYE thanks for playing");
        host.lines.connection.end_sending();
        let exit = host.run.exit(options.deadline());
        judge.require(&BYE, exit.is_some(), || {
            "expected the client to exit after BYE, but it is still running".to_owned()
        })?;
        judge.check(&EXIT_STATUS, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || {
            format!("expected exit status 0 after BYE{}", host.run.exit_clause())
        });
        Ok(())
    })?;
    if !joins {
        // Otherwise, each further scenario would wait until its deadline.
        return Ok(());
    }
    let scenes = SCENARIOS.iter().map(|&(rule, ref scenario)| match *scenario {
        Game(name, delivery, lines, game) => scene(name, move |judge| {
            judge.under(rule, |judge| {
                let mut host = start(judge, delivery, "tester", lines)?;
                game(judge, &mut host)
            })
        })
        .shows([rule, &NO_CRASH]),
        Joins(name, joined) => {
            scene(name, move |judge| start(judge, Delivery::Whole, joined, &[SOLO]).map(drop)).shows([rule])
        }
        Invalid(name, lines) => scene(name, move |judge| {
            for line in lines {
                let mut host = start(judge, Delivery::Whole, "tester", &[SOLO])?;
                host.take_seat(1);
                host.begin(judge, "4567", 8, false)?;
                host.receive(judge, &PLAYS)?;
                host.lines.send(line);
                let connection = &mut host.lines.connection;
                // Any reaction is allowed.
                let by = Instant::now() + options.patience / 10;
                while connection.more(by) {}
                host.run.exit(Instant::now() + if connection.closed { options.patience } else { Duration::ZERO });
            }
            Ok(())
        })
        .shows([rule]),
    });
    judge.side_by_side(scenes.collect())
}
