use std::iter;

use mastermind::{ServerMessage, protocol::MAX_MESSAGE, view::GameOutcome};

use super::{
    Subject,
    client::{Client, describe},
    games::filler,
    rules::{
        CARRIAGE_RETURN, LONG_LINE, LOWER_CASE, MERGED, NAMES, NEW_RULES, NO_CRASH, NO_EFFECT, PIECES, QUIT, REFUSED,
        SEAT,
    },
};
use crate::judge::{Judge, ScenarioResult, Scene, scene};

const NO_MESSAGES: [&[u8]; 25] = [
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

/// Names, and their form in SEAT.
const NAMED: [(&[u8], &str); 4] = [
    (b"abcdefghijklmnopqrstuvwxyz1234", "abcdefghijklmnopqrstuvwx"),
    (b"Ann Lee", "Ann Lee"),
    (b"a\tb\x7fc", "a_b_c"),
    ("Żółw".as_bytes(), "______w"),
];

pub(super) fn scenes<'s>(subject: &'s Subject<'_>) -> Vec<Scene<'s>> {
    vec![
        scene("invalid lines", |judge| no_messages(judge, subject)).shows([&REFUSED, &NO_CRASH]),
        scene("messages before PLAY", |judge| before_play(judge, subject)).shows([&NO_EFFECT]),
        scene("messages at the wrong time", |judge| wrong_time(judge, subject)).shows([&NO_EFFECT]),
        scene("names", |judge| names(judge, subject)).shows([&NAMES]),
        scene("lower case", |judge| lower_case(judge, subject)).shows([&LOWER_CASE]),
        scene("carriage returns", |judge| {
            judge.under(&CARRIAGE_RETURN, |judge| {
                let mut client = subject.connect(judge)?;
                client.returns = true;
                short_game(judge, client)
            })
        })
        .shows([&CARRIAGE_RETURN]),
        scene("messages byte by byte", |judge| {
            judge.under(&PIECES, |judge| {
                let mut client = subject.connect(judge)?;
                client.in_bytes = true;
                short_game(judge, client)
            })
        })
        .shows([&PIECES]),
        scene("several messages at once", |judge| judge.under(&MERGED, |judge| merged(judge, subject)))
            .shows([&MERGED]),
        scene("the longest line", |judge| longest(judge, subject)).shows([&LONG_LINE]),
        scene("a line that is too long", |judge| too_long(judge, subject, &[b'G'; MAX_MESSAGE + 1], true))
            .shows([&LONG_LINE, &NO_CRASH]),
        scene("a line without a line feed", |judge| too_long(judge, subject, &[b'G'; 3 * MAX_MESSAGE], false))
            .shows([&LONG_LINE, &NO_CRASH]),
    ]
}

/// Without repeats, so that no guess is correct by chance.
fn short_game(judge: &mut Judge, client: Client) -> ScenarioResult {
    let mut player = client.take_seat(judge, "Ann")?;
    player.resign(judge)?;
    player.new_game(judge, &NEW_RULES, Some((4, false)))?;
    player.guess(judge, filler(4)?)?;
    player.guess(judge, filler(4)?)?;
    player.resign(judge).map(drop)
}

fn no_messages(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.take_seat(judge, "Ann")?;
    player.resign(judge)?;
    player.new_game(judge, &NEW_RULES, Some((4, false)))?;
    for line in NO_MESSAGES {
        player.client.expect_refusal(judge, &REFUSED, line)?;
    }
    judge.under(&REFUSED, |judge| player.guess(judge, filler(4)?))
}

fn before_play(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut client = subject.connect(judge)?;
    for line in ["GUESS 1234", "LIFELINE 1", "HINT", "NEW", "RESIGN"] {
        client.expect_refusal(judge, &NO_EFFECT, line)?;
    }
    judge.under(&NO_EFFECT, |judge| client.take_seat(judge, "Ann").map(drop))
}

fn wrong_time(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.take_seat(judge, "Ann")?;
    player.resign(judge)?;
    for line in ["GUESS 1234", "LIFELINE 1", "RESIGN", "HINT", "PLAY Bob"] {
        player.client.expect_refusal(judge, &NO_EFFECT, line)?;
    }
    player.new_game(judge, &NEW_RULES, Some((4, false)))?;
    for line in ["NEW", "NEW 5 yes", "PLAY Bob", "GUESS 12345"] {
        player.client.expect_refusal(judge, &NO_EFFECT, line)?;
    }
    judge.under(&NO_EFFECT, |judge| player.guess(judge, filler(4)?))
}

fn names(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    for (typed, wanted) in NAMED {
        let mut client = subject.connect(judge)?;
        client.send([b"PLAY ", typed].concat());
        let received = client.receive_own(judge)?;
        let Ok(ServerMessage::Ok(seat)) = received else {
            return judge.broken(&SEAT, || format!("expected OK after PLAY, received {}", describe(&received)));
        };
        let wanted = format!("SEAT {seat} {wanted}");
        // A wrong name can be well formed, so the line is compared as text. Messages about other seats may precede it.
        let reported = iter::from_fn(|| client.line()).find(|line| line.starts_with(&format!("SEAT {seat} ")));
        judge.check(&NAMES, reported.as_ref().is_none_or(|reported| *reported == wanted), || {
            let reported = reported.as_deref().unwrap_or_default().escape_debug();
            format!("expected '{wanted}' after PLAY {}, received '{reported}'", typed.escape_ascii())
        });
    }
    Ok(())
}

fn lower_case(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    judge.under(&LOWER_CASE, |judge| {
        let mut client = subject.connect(judge)?;
        client.send("play Ann");
        let mut player = client.receive_seat(judge, "Ann")?;
        player.resign(judge)?;
        player.client.send("new 4 no");
        player.expect_game(judge, &NEW_RULES, (4, false))?;
        player.client.send("Guess 1111");
        player.expect_row(judge, filler(4)?)?;
        player.client.send("quit");
        player.client.expect_bye(judge, &QUIT, "quit")
    })
}

fn merged(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let client = subject.connect(judge)?;
    let mut player = client.take_seat(judge, "Ann")?;
    player.resign(judge)?;
    player.client.send("NEW 4 no\nGUESS 1111\nGUESS 1111\nRESIGN");
    player.expect_game(judge, &NEW_RULES, (4, false))?;
    player.expect_row(judge, filler(4)?)?;
    player.expect_row(judge, filler(4)?)?;
    player.over(judge, &MERGED, GameOutcome::Resigned)
}

fn longest(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    judge.under(&LONG_LINE, |judge| {
        let mut client = subject.connect(judge)?;
        let name = "n".repeat(MAX_MESSAGE - "PLAY ".len());
        client.send(format!("PLAY {name}"));
        let received = client.receive_own(judge)?;
        judge.require(&LONG_LINE, matches!(received, Ok(ServerMessage::Ok(_))), || {
            format!("expected OK after PLAY with {MAX_MESSAGE} bytes, received {}", describe(&received))
        })
    })
}

fn too_long(judge: &mut Judge, subject: &Subject<'_>, line: &[u8], ends: bool) -> ScenarioResult {
    let mut client = subject.connect(judge)?;
    if ends {
        client.send(line);
    } else {
        client.connection.send(line);
    }
    client.expect_bye(judge, &LONG_LINE, &format!("a line of {} bytes", line.len()))
}
