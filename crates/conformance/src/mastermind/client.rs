mod host;
mod rules;

use std::time::{Duration, Instant};

use mastermind::ClientMessage;

use crate::{
    judge::{Judge, ScenarioResult, scene},
    launch::Launcher,
    rule::Rule,
    tester::{Options, Tester},
};
use host::{ClientAction, Delivery, Host, describe};
use rules::{
    AFTER_OVER, BYE, CARRIAGE_RETURN, COLOURS, DAILY, EXIT_STATUS, LATE, LENGTH, MERGED, NAME, NEXT_GAME, NO_CRASH,
    OTHERS, PIECES, PLAYS, QUIET, RACE, REFUSED, ROOM_AGAIN, RULES, SEAT, SERVER_GONE, STARS, STATE,
};

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

/// Clients that repeat their messages mostly do so every second.
const PAUSE: Duration = Duration::from_millis(1500);
const SHORT: Duration = Duration::from_millis(300);
/// The number of lines that are sent together, more than in any other scenario.
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

/// The client may react in any way other than a crash.
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

type Scenario = fn(&mut Judge, &mut Host) -> ScenarioResult;

/// The name, the delivery, the lines before PLAY, the rule and the actions.
const GAMES: &[(&str, Delivery, &[&str], &Rule, Scenario)] = &[
    ("a game of six digits", Delivery::Whole, &["ROOM solo 6 8 no"], &LENGTH, |judge, host| {
        host.seat(1);
        host.begin(judge, "716253", 8, false)?;
        host.game(judge)
    }),
    ("a room of six colours", Delivery::Whole, &["ROOM solo 4 6 yes"], &COLOURS, |judge, host| {
        host.seat(1);
        host.begin(judge, "6655", 6, true)?;
        host.game(judge)
    }),
    ("messages byte by byte", Delivery::Bytes, &[SOLO], &PIECES, one_game),
    ("several messages at once", Delivery::Merged, &[SOLO], &MERGED, |judge, host| {
        host.send("SEAT 9 Eve");
        host.send("GAME 9 1 6 yes");
        (0..TOGETHER).for_each(|turn| host.send(format!("ROW 9 {} 665544 0 1", 1 + turn % 9)));
        one_game(judge, host)
    }),
    ("carriage returns", Delivery::Returns, &[SOLO], &CARRIAGE_RETURN, one_game),
    ("seat 12", Delivery::Whole, &[SOLO], &SEAT, |judge, host| {
        host.seat(12);
        host.begin(judge, "2718", 8, false)?;
        host.turn(judge)?;
        host.game(judge)?;
        is_over(judge, host).map(drop)
    }),
    ("a room with other players", Delivery::Whole, &OTHERS_BEFORE, &STATE, |judge, host| {
        host.seat(2);
        host.begin(judge, "3521", 8, false)?;
        host.game(judge)
    }),
    ("other players in the same room", Delivery::Whole, &[SOLO], &OTHERS, others),
    ("a race", Delivery::Whole, &["ROOM race 4 8 yes 2", "WAIT 2"], &RACE, |judge, host| {
        host.seat(1);
        host.send("WAIT 1");
        host.pause(judge, &RACE, SHORT, "before the race starts")?;
        host.send("SEAT 2 Bob");
        host.send("GAME 2 7 4 yes");
        host.begin(judge, "4114", 8, true)?;
        host.game(judge)
    }),
    ("stars", Delivery::Whole, &["ROOM race 4 8 no 2", "SEAT 2 Bob", "WAIT 1"], &STARS, stars),
    (
        "a race that times out",
        Delivery::Whole,
        &["ROOM race 4 8 no 2", "SEAT 2 Bob", "WAIT 1"],
        &LATE,
        |judge, host| {
            host.seat(1);
            host.send("GAME 2 7 4 no");
            host.begin(judge, "8642", 8, false)?;
            if let ClientAction::Sends(ClientMessage::Guess(guess)) = host.receive(judge, &PLAYS)? {
                host.answer(judge, guess)?;
            }
            host.over("late");
            is_over(judge, host).map(drop)
        },
    ),
    ("the daily puzzle", Delivery::Whole, &["ROOM daily 4 8 yes 2026-01-13"], &DAILY, |judge, host| {
        host.seat(1);
        host.begin(judge, "8778", 8, true)?;
        host.game(judge)
    }),
    ("midnight", Delivery::Whole, &["ROOM daily 4 8 yes 2026-01-13"], &ROOM_AGAIN, |judge, host| {
        host.seat(1);
        host.begin(judge, "5885", 8, true)?;
        let ClientAction::Sends(ClientMessage::Guess(guess)) = host.receive(judge, &PLAYS)? else { return Ok(()) };
        if host.answer(judge, guess)? {
            return Ok(());
        }
        // The day ends between the row and the next turn, and the game continues.
        host.send("ROOM daily 4 8 yes 2026-01-14");
        host.send("OK 1");
        for line in host.state() {
            host.send(line);
        }
        host.send_turn(judge)?;
        host.game(judge)
    }),
];

fn one_game(judge: &mut Judge, host: &mut Host) -> ScenarioResult {
    host.seat(1);
    host.begin(judge, "6473", 8, false)?;
    host.game(judge)?;
    is_over(judge, host).map(drop)
}

/// Returns whether the client requests another game. The connection of a client that leaves stays open.
fn is_over(judge: &mut Judge, host: &mut Host) -> ScenarioResult<bool> {
    let next = host.receive(judge, &AFTER_OVER)?;
    let right = matches!(next, ClientAction::Closes | ClientAction::Sends(ClientMessage::New(_) | ClientMessage::Quit));
    judge.require(&AFTER_OVER, right, || format!("expected NEW or QUIT after OVER, received {}", describe(&next)))?;
    Ok(matches!(next, ClientAction::Sends(ClientMessage::New(_))))
}

fn others(judge: &mut Judge, host: &mut Host) -> ScenarioResult {
    host.seat(2);
    host.send("SEAT 1 Bob");
    host.send("GAME 1 1 4 no");
    host.begin(judge, "1342", 8, false)?;
    for lines in [
        &["GAME 3 2 6 yes", "ROW 3 1 112233 0 0", "SEAT 3 Eve"][..],
        &["ROW 1 1 1342 4 0", "OVER 1 won 1 0 1342"],
        &["LIFELINE 3 2 2 1 8", "OVER 3 resigned 2 0 888888", "LEFT 3"],
    ] {
        // The lines arrive during the client's turn, before or after its message.
        for line in lines {
            host.send(line);
        }
        if !host.turn(judge)? {
            return Ok(());
        }
    }
    host.game(judge)
}

fn stars(judge: &mut Judge, host: &mut Host) -> ScenarioResult {
    host.seat(1);
    host.send("GAME 2 7 4 no");
    host.begin(judge, "1864", 8, false)?;
    host.send("ROW 2 1 **** 1 2");
    host.send("LIFELINE 2 2 2 * *");
    host.turn(judge)?;
    host.send("ROW 2 4 **** 4 0");
    host.send("OVER 2 won 4 0 ****");
    if host.turn(judge)? {
        // All turns are used, but the race continues for other players, so the code stays hidden.
        host.receive(judge, &PLAYS)?;
        host.send("ROW 1 10 1234 1 1");
        host.send("OVER 1 lost 10 0 ****");
        host.flush();
        is_over(judge, host)?;
    }
    Ok(())
}

fn reject(judge: &mut Judge, host: &mut Host) -> ScenarioResult {
    for count in 0.. {
        let waits = host.connection.buffer.is_empty() && !host.connection.more(Instant::now() + PAUSE);
        if count > 0 && waits || host.receive(judge, &PLAYS)? == ClientAction::Closes {
            break;
        }
        judge.require(&REFUSED, count < AFTER_NO, || {
            format!("expected fewer than {AFTER_NO} messages after NO, received {count}")
        })?;
        host.send("NO wait a moment");
    }
    judge.check(&REFUSED, true, String::new);
    Ok(())
}

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let start = |judge: &mut Judge, delivery, name: &str, lines: &[&str]| {
        Host::start(judge, launcher, *options, delivery, name, lines)
    };
    let mut joins = false;
    judge.play("two games", |judge| {
        let mut host = start(judge, Delivery::Whole, "tester", &[SOLO])?;
        joins = true;
        host.seat(1);
        host.begin(judge, "8536", 8, false)?;
        host.game(judge)?;
        if is_over(judge, &mut host)? {
            judge.under(&NEXT_GAME, |judge| {
                host.begin(judge, "22112", 8, true)?;
                host.game(judge)
            })?;
            is_over(judge, &mut host)?;
        }
        host.send("BYE thanks for playing");
        host.connection.end_sending();
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
    let games = GAMES.iter().map(|&(name, delivery, lines, rule, scenario)| {
        scene(name, move |judge| {
            judge.under(rule, |judge| {
                let mut host = start(judge, delivery, "tester", lines)?;
                scenario(judge, &mut host)
            })
        })
        .shows([rule, &NO_CRASH])
    });
    let invalid_lines = scene("invalid lines", |judge| {
        for line in INVALID_LINES {
            let mut host = start(judge, Delivery::Whole, "tester", &[SOLO])?;
            host.seat(1);
            host.begin(judge, "4567", 8, false)?;
            host.receive(judge, &PLAYS)?;
            host.connection.send(&[line, b"\n"].concat());
            // The client may then send any message, and may continue or not.
            let by = Instant::now() + options.patience / 10;
            while host.connection.more(by) {}
            host.run.exit(Instant::now() + if host.connection.closed { options.patience } else { Duration::ZERO });
        }
        Ok(())
    })
    .shows([&NO_CRASH]);
    let rest = [
        scene("a name with a blank", |judge| start(judge, Delivery::Whole, "Ann van Dam", &[SOLO]).map(drop))
            .shows([&NAME]),
        scene("a slow server", |judge| {
            let mut host = start(judge, Delivery::Whole, "tester", &[SOLO])?;
            host.pause(judge, &QUIET, PAUSE, "between PLAY and OK")?;
            host.seat(1);
            host.pause(judge, &QUIET, PAUSE, "between SEAT and GAME")?;
            host.begin(judge, "7531", 8, false)?;
            host.receive(judge, &PLAYS)?;
            host.pause(judge, &QUIET, PAUSE, "between a guess and its answer")
        })
        .shows([&QUIET]),
        scene("a rejected guess", |judge| {
            let mut host = start(judge, Delivery::Whole, "tester", &[SOLO])?;
            host.seat(1);
            host.begin(judge, "7531", 8, false)?;
            reject(judge, &mut host)
        })
        .shows([&REFUSED]),
        scene("BYE in the middle of a game", |judge| {
            let mut host = start(judge, Delivery::Whole, "tester", &[SOLO])?;
            host.seat(1);
            host.begin(judge, "7531", 8, false)?;
            host.turn(judge)?;
            host.send("BYE you said nothing for 15 minutes and have lost your seat");
            host.leave(judge, &BYE, "BYE in the middle of a game")
        })
        .shows([&BYE]),
        scene("a server that disconnects", |judge| {
            let mut host = start(judge, Delivery::Whole, "tester", &[SOLO])?;
            host.seat(1);
            host.begin(judge, "7531", 8, false)?;
            host.turn(judge)?;
            host.leave(judge, &SERVER_GONE, "the end of the connection")
        })
        .shows([&SERVER_GONE]),
    ];
    judge.side_by_side(games.chain([invalid_lines]).chain(rest).collect())
}
