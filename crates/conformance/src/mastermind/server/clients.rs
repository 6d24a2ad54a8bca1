use std::{io::Write as _, time::Duration};

use mastermind::{
    Lifeline, ServerMessage,
    view::{GameOutcome, TurnRecord},
};

use super::{
    Subject,
    client::{Client, Server, describe, seat_of},
    games::filler,
    player::Player,
    rules::{GRAMMAR, LEFT, MANY, NEVER_READS, NEW_RULES, NO_CRASH, OTHERS, OWN_TURN, SEEN, STATE},
};
use crate::{
    judge::{Judge, ScenarioResult, Scene, scene},
    report::Sender,
};

const PLAYERS: usize = 20;
/// How long a client that never reads keeps sending when the server accepts no more data.
const PATIENT: Duration = Duration::from_millis(500);
/// In bytes. The answers exceed the buffers of the system.
const FLOOD: usize = 8 << 20;

/// The server may react in any way.
const MISBEHAVIOURS: [(&str, &[u8], Departure); 6] = [
    ("a client that sends 10,000 bytes", &[b'x'; 10_000], Departure::Never),
    ("a client that sends zero bytes", &[0; 300], Departure::Never),
    ("a client that leaves within a line", b"GUESS 12", Departure::Wholly),
    ("a client that leaves before its answers", b"PLAY Eve\nGUESS 1111\nGUESS 1111\nRESIGN\nNEW\n", Departure::Wholly),
    ("a client that closes its sending side", b"PLAY Eve\n", Departure::Half),
    ("a client that sends bytes other than ASCII", b"PLAY \xff\xfe\x80\nGUESS \xff\n\xff\n", Departure::Never),
];

#[derive(Clone, Copy)]
enum Departure {
    Never,
    Half,
    Wholly,
}

pub(super) fn scenes<'s>(subject: &'s Subject<'_>) -> Vec<Scene<'s>> {
    let mut scenes = vec![
        scene("a player and an observer", |judge| observed_game(judge, subject)).shows([&SEEN, &OWN_TURN, &GRAMMAR]),
        scene("two players", |judge| two_players(judge, subject)).shows([&MANY, &SEEN, &OWN_TURN]),
        scene("a client that connects during a game", |judge| late_client(judge, subject)).shows([&STATE]),
        scene("players who leave", |judge| leaving_players(judge, subject)).shows([&LEFT, &GRAMMAR]),
        scene("twenty players", |judge| judge.under(&MANY, |judge| twenty_players(judge, subject))).shows([&MANY]),
        scene("a client that never reads", |judge| never_reads(judge, subject)).shows([&NEVER_READS, &NO_CRASH]),
    ];
    scenes.extend(MISBEHAVIOURS.iter().map(|&(name, bytes, departure)| {
        scene(name, move |judge| misbehaving_client(judge, subject, bytes, departure)).shows([&OTHERS, &NO_CRASH])
    }));
    scenes
}

/// The game has no repeats.
fn player(judge: &mut Judge, server: &mut Server, name: &str) -> ScenarioResult<Player> {
    let mut player = Client::connect(judge, server)?.take_seat(judge, name)?;
    player.resign(judge)?;
    player.new_game(judge, &NEW_RULES, Some((4, false)))?;
    Ok(player)
}

fn expect_broadcast(
    judge: &mut Judge,
    client: &mut Client,
    seat: u8,
    what: &str,
    right: impl FnOnce(&ServerMessage<'_>) -> bool,
) -> ScenarioResult {
    let received = loop {
        match client.receive_about(judge, seat)? {
            Ok(message @ (ServerMessage::Ok(_) | ServerMessage::Turn(_) | ServerMessage::No(_))) => {
                judge.check(&OWN_TURN, false, || {
                    format!("expected OK, TURN and NO only at their player, but another client received '{message}'")
                });
            }
            received => break received,
        }
    };
    judge.require(&SEEN, received.as_ref().is_ok_and(right), || {
        format!("expected {what} at an observer, received {}", describe(&received))
    })
}

/// Another player may have had the seat before, so each scenario uses its own names.
fn await_seat(judge: &mut Judge, client: &mut Client, seat: u8, name: &str) -> ScenarioResult {
    loop {
        match client.receive_about(judge, seat)? {
            Ok(ServerMessage::Seat(_, other)) if other.as_str() == name => return Ok(()),
            Ok(_) => {}
            received => {
                return judge
                    .broken(&SEEN, || format!("expected SEAT at an observer, received {}", describe(&received)));
            }
        }
    }
}

fn observed_game(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut watcher = Client::connect(judge, &mut server)?;
    let mut ann = Client::connect(judge, &mut server)?.take_seat(judge, "Ava")?;
    let seat = ann.seat;
    let watcher = &mut watcher;
    await_seat(judge, watcher, seat, "Ava")?;
    expect_broadcast(judge, watcher, seat, "GAME", |message| matches!(message, ServerMessage::Game { .. }))?;
    ann.client.expect_refusal(judge, &OWN_TURN, "LIFELINE 3")?;
    ann.resign(judge)?;
    expect_broadcast(
        judge,
        watcher,
        seat,
        "OVER",
        |message| matches!(message, ServerMessage::Over(_, over) if over.how == GameOutcome::Resigned),
    )?;
    ann.new_game(judge, &NEW_RULES, Some((4, false)))?;
    expect_broadcast(judge, watcher, seat, "GAME", |message| matches!(message, ServerMessage::Game { .. }))?;
    ann.guess(judge, filler(4)?)?;
    expect_broadcast(judge, watcher, seat, "ROW", |message| {
        matches!(message, ServerMessage::Line(_, TurnRecord::Row { turn: 1, .. }))
    })?;
    ann.lifeline(judge, Lifeline::Colour)?;
    expect_broadcast(judge, watcher, seat, "LIFELINE", |message| {
        matches!(message, ServerMessage::Line(_, TurnRecord::Lifeline { revealed: Some(_), .. }))
    })?;
    ann.guess(judge, filler(4)?)?;
    expect_broadcast(judge, watcher, seat, "ROW", |message| {
        matches!(message, ServerMessage::Line(_, TurnRecord::Row { turn: 3, .. }))
    })?;
    judge.check(&OWN_TURN, true, String::new);
    Ok(())
}

fn two_players(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut ann = player(judge, &mut server, "Ann")?;
    let mut bob = Client::connect(judge, &mut server)?.take_seat(judge, "Cid")?;
    judge.require(&MANY, ann.seat != bob.seat, || {
        format!("expected different seats for two players, received seat {} twice", ann.seat)
    })?;
    let ann_sees = &mut ann.client;
    await_seat(judge, ann_sees, bob.seat, "Cid")?;
    expect_broadcast(judge, ann_sees, bob.seat, "GAME", |message| matches!(message, ServerMessage::Game { .. }))?;
    bob.resign(judge)?;
    expect_broadcast(judge, ann_sees, bob.seat, "OVER", |message| matches!(message, ServerMessage::Over(..)))?;
    // Her own game has continued.
    ann.guess(judge, filler(4)?)
}

/// Returns the messages about `seat` that arrive before the response to the client's own next message.
fn room_state(judge: &mut Judge, client: &mut Client, seat: u8) -> ScenarioResult<Vec<String>> {
    client.send("RESIGN");
    let mut reported = Vec::new();
    loop {
        match client.receive(judge)? {
            Ok(ServerMessage::No(_)) => return Ok(reported),
            Ok(message) if seat_of(&message) == Some(seat) => reported.push(message.to_string()),
            Ok(message) if seat_of(&message).is_some() => {}
            received => {
                return judge.broken(&STATE, || {
                    format!("expected the state of the room after connecting, received {}", describe(&received))
                });
            }
        }
    }
}

fn late_client(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut ann = player(judge, &mut server, "Ann")?;
    ann.guess(judge, filler(4)?)?;
    ann.guess(judge, filler(4)?)?;
    expect_state(judge, &mut server, ann.seat, &["SEAT", "GAME", "ROW", "ROW"])?;
    ann.resign(judge)?;
    expect_state(judge, &mut server, ann.seat, &["SEAT", "GAME", "ROW", "ROW", "OVER"])?;
    ann.new_game(judge, &NEW_RULES, Some((4, false)))?;
    ann.lifeline(judge, Lifeline::Place)?;
    expect_state(judge, &mut server, ann.seat, &["SEAT", "GAME", "LIFELINE"])
}

fn expect_state(judge: &mut Judge, server: &mut Server, seat: u8, wanted: &[&str]) -> ScenarioResult {
    let mut client = Client::connect(judge, server)?;
    let reported = room_state(judge, &mut client, seat)?;
    let came: Vec<&str> = reported.iter().filter_map(|line| line.split(' ').next()).collect();
    judge.check(&STATE, came == wanted, || {
        let came = if came.is_empty() { "nothing".to_owned() } else { came.join(", ") };
        format!("expected {} about a taken seat, received {came}", wanted.join(", "))
    });
    Ok(())
}

fn leaving_players(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut watcher = Client::connect(judge, &mut server)?;
    for how in ["QUIT", "the end of a connection"] {
        let mut bob = Client::connect(judge, &mut server)?.take_seat(judge, "Dan")?;
        let seat = bob.seat;
        await_seat(judge, &mut watcher, seat, "Dan")?;
        if how == "QUIT" {
            bob.client.send("QUIT");
        }
        // The connection of a player that has sent QUIT stays open until the server closes it.
        let kept = if how == "QUIT" {
            Some(bob)
        } else {
            drop(bob);
            None
        };
        let received = loop {
            match watcher.receive_about(judge, seat)? {
                Ok(ServerMessage::Game { .. }) => {}
                received => break received,
            }
        };
        judge.require(&LEFT, matches!(received, Ok(ServerMessage::Left(_))), || {
            format!("expected LEFT {seat} after {how}, received {}", describe(&received))
        })?;
        drop(kept);
    }
    Ok(())
}

fn twenty_players(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut players = Vec::new();
    for number in 0..PLAYERS {
        let player = player(judge, &mut server, &format!("Player {number}"))?;
        let taken = players.iter().any(|other: &Player| other.seat == player.seat);
        judge.require(&MANY, !taken, || {
            format!("expected different seats for two players, received seat {} twice", player.seat)
        })?;
        players.push(player);
    }
    for _ in 0..2 {
        for player in &mut players {
            player.guess(judge, filler(4)?)?;
        }
    }
    Ok(())
}

fn never_reads(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut ann = player(judge, &mut server, "Ann")?;
    let flood = Client::connect(judge, &mut server)?.connection;
    flood.note(Sender::Tester, "sends HELLO repeatedly without reading");
    flood.keep_little();
    let mut flood = flood.stream;
    flood.set_write_timeout(Some(PATIENT.max(subject.options.patience / 8)))?;
    let requests = b"HELLO\n".repeat(1024);
    // The server may read all of it, stop reading, or close the connection.
    (0..FLOOD / requests.len()).all(|_| flood.write_all(&requests).is_ok());
    judge.under(&NEVER_READS, |judge| {
        (0..3).try_for_each(|_| ann.guess(judge, filler(4)?))?;
        Client::connect(judge, &mut server).map(drop)
    })
}

fn misbehaving_client(judge: &mut Judge, subject: &Subject<'_>, bytes: &[u8], departure: Departure) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut ann = player(judge, &mut server, "Ann")?;
    let mut eve = Client::connect(judge, &mut server)?;
    eve.connection.send(bytes);
    let eve = match departure {
        Departure::Never => Some(eve),
        Departure::Half => {
            eve.connection.end_sending();
            Some(eve)
        }
        Departure::Wholly => None,
    };
    judge.under(&OTHERS, |judge| {
        ann.guess(judge, filler(4)?)?;
        Client::connect(judge, &mut server)?.take_seat(judge, "Bob")?;
        ann.guess(judge, filler(4)?)
    })?;
    drop(eve);
    Ok(())
}
