//! Several clients in one room, including some that break the protocol.

use std::{io::Write as _, time::Duration};

use mastermind::{
    Lifeline, ServerMessage,
    view::{Ending, TurnRecord},
};

use super::{
    Subject,
    games::filler,
    player::Player,
    rules::{GRAMMAR, LEFT, MANY, NEVER_READS, NEW_RULES, NO_CRASH, OTHERS, OWN_TURN, SEEN, STATE},
    visitor::{Server, Visitor, said, seat_of},
};
use crate::{
    judge::{Judge, Played, Scene, scene},
    report::Sender,
};

/// The number of players that play at the same time.
const PLAYERS: usize = 20;
/// The minimum time for which a client that never reads keeps sending when the server accepts no more data.
const PATIENT: Duration = Duration::from_millis(500);
/// The size of the requests of a client that never reads, in bytes. Their answers exceed the buffers of the system.
const FLOOD: usize = 8 << 20;

/// The bytes that a client sends before it disconnects, or while it stays connected. The server may react in any way.
const OFFENCES: [(&str, &[u8], Leaves); 6] = [
    ("a client that sends 10,000 bytes", &[b'x'; 10_000], Leaves::Never),
    ("a client that sends zero bytes", &[0; 300], Leaves::Never),
    ("a client that leaves within a line", b"GUESS 12", Leaves::Wholly),
    ("a client that leaves before its answers", b"PLAY Eve\nGUESS 1111\nGUESS 1111\nRESIGN\nNEW\n", Leaves::Wholly),
    ("a client that closes its sending side", b"PLAY Eve\n", Leaves::Half),
    ("a client that sends bytes other than ASCII", b"PLAY \xff\xfe\x80\nGUESS \xff\n\xff\n", Leaves::Never),
];

#[derive(Clone, Copy)]
enum Leaves {
    Never,
    Half,
    Wholly,
}

pub(super) fn scenes<'s>(subject: &'s Subject<'_>) -> Vec<Scene<'s>> {
    let mut scenes = vec![
        scene("a player and an observer", |judge| watched(judge, subject)).shows([&SEEN, &OWN_TURN, &GRAMMAR]),
        scene("two players", |judge| two(judge, subject)).shows([&MANY, &SEEN, &OWN_TURN]),
        scene("a client that connects during a game", |judge| late(judge, subject)).shows([&STATE]),
        scene("players who leave", |judge| leaving(judge, subject)).shows([&LEFT, &GRAMMAR]),
        scene("twenty players", |judge| judge.under(&MANY, |judge| many(judge, subject))).shows([&MANY]),
        scene("a client that never reads", |judge| never_reads(judge, subject)).shows([&NEVER_READS, &NO_CRASH]),
    ];
    scenes.extend(OFFENCES.iter().map(|&(name, bytes, leaves)| {
        scene(name, move |judge| offence(judge, subject, bytes, leaves)).shows([&OTHERS, &NO_CRASH])
    }));
    scenes
}

/// A player whose game has no repeats, and a filler for it.
fn player(judge: &mut Judge, server: &mut Server, name: &str) -> Played<Player> {
    let mut player = Visitor::connect(judge, server)?.sit(judge, name)?;
    player.resign(judge)?;
    player.new_game(judge, &NEW_RULES, Some((4, false)))?;
    Ok(player)
}

/// Whether the next message about this seat that a visitor receives is correct.
fn sees(
    judge: &mut Judge,
    visitor: &mut Visitor,
    seat: u8,
    what: &str,
    right: impl FnOnce(&ServerMessage<'_>) -> bool,
) -> Played {
    let heard = loop {
        match visitor.of(judge, seat)? {
            Ok(message @ (ServerMessage::Ok(_) | ServerMessage::Turn(_) | ServerMessage::No(_))) => {
                judge.check(&OWN_TURN, false, || {
                    format!("expected OK, TURN and NO only at their player, but another client received '{message}'")
                });
            }
            heard => break heard,
        }
    };
    judge.require(&SEEN, heard.as_ref().is_ok_and(right), || {
        format!("expected {what} at an observer, received {}", said(&heard))
    })
}

/// Waits until a visitor is notified that a player with this name has taken a seat. On a running server, another player
/// may have had the seat before, so each scenario uses its own names.
fn takes_seat(judge: &mut Judge, visitor: &mut Visitor, seat: u8, name: &str) -> Played {
    loop {
        match visitor.of(judge, seat)? {
            Ok(ServerMessage::Seat(_, other)) if other.as_str() == name => return Ok(()),
            Ok(_) => {}
            heard => {
                return judge.broken(&SEEN, || format!("expected SEAT at an observer, received {}", said(&heard)));
            }
        }
    }
}

fn watched(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut server = subject.start(judge)?;
    let mut watcher = Visitor::connect(judge, &mut server)?;
    let mut ann = Visitor::connect(judge, &mut server)?.sit(judge, "Ava")?;
    let seat = ann.seat;
    let watcher = &mut watcher;
    takes_seat(judge, watcher, seat, "Ava")?;
    sees(judge, watcher, seat, "GAME", |message| matches!(message, ServerMessage::Game { .. }))?;
    ann.visitor.refused(judge, &OWN_TURN, "LIFELINE 3")?;
    ann.resign(judge)?;
    sees(
        judge,
        watcher,
        seat,
        "OVER",
        |message| matches!(message, ServerMessage::Over(_, over) if over.how == Ending::Resigned),
    )?;
    ann.new_game(judge, &NEW_RULES, Some((4, false)))?;
    sees(judge, watcher, seat, "GAME", |message| matches!(message, ServerMessage::Game { .. }))?;
    ann.guess(judge, filler(4)?)?;
    sees(judge, watcher, seat, "ROW", |message| {
        matches!(message, ServerMessage::Line(_, TurnRecord::Row { turn: 1, .. }))
    })?;
    ann.lifeline(judge, Lifeline::Colour)?;
    sees(judge, watcher, seat, "LIFELINE", |message| {
        matches!(message, ServerMessage::Line(_, TurnRecord::Lifeline { revealed: Some(_), .. }))
    })?;
    ann.guess(judge, filler(4)?)?;
    sees(judge, watcher, seat, "ROW", |message| {
        matches!(message, ServerMessage::Line(_, TurnRecord::Row { turn: 3, .. }))
    })?;
    judge.check(&OWN_TURN, true, String::new);
    Ok(())
}

fn two(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut server = subject.start(judge)?;
    let mut ann = player(judge, &mut server, "Ann")?;
    let mut bob = Visitor::connect(judge, &mut server)?.sit(judge, "Cid")?;
    judge.require(&MANY, ann.seat != bob.seat, || {
        format!("expected different seats for two players, received seat {} twice", ann.seat)
    })?;
    let ann_sees = &mut ann.visitor;
    takes_seat(judge, ann_sees, bob.seat, "Cid")?;
    sees(judge, ann_sees, bob.seat, "GAME", |message| matches!(message, ServerMessage::Game { .. }))?;
    bob.resign(judge)?;
    sees(judge, ann_sees, bob.seat, "OVER", |message| matches!(message, ServerMessage::Over(..)))?;
    // Her own game has continued.
    ann.guess(judge, filler(4)?)
}

/// The messages about a seat that a newly connected client receives before the response to its own next message.
fn told(judge: &mut Judge, visitor: &mut Visitor, seat: u8) -> Played<Vec<String>> {
    visitor.say("RESIGN");
    let mut told = Vec::new();
    loop {
        match visitor.hear(judge)? {
            Ok(ServerMessage::No(_)) => return Ok(told),
            Ok(message) if seat_of(&message) == Some(seat) => told.push(message.to_string()),
            Ok(message) if seat_of(&message).is_some() => {}
            heard => {
                return judge.broken(&STATE, || {
                    format!("expected the state of the room after connecting, received {}", said(&heard))
                });
            }
        }
    }
}

fn late(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut server = subject.start(judge)?;
    let mut ann = player(judge, &mut server, "Ann")?;
    ann.guess(judge, filler(4)?)?;
    ann.guess(judge, filler(4)?)?;
    is_told(judge, &mut server, ann.seat, &["SEAT", "GAME", "ROW", "ROW"])?;
    ann.resign(judge)?;
    is_told(judge, &mut server, ann.seat, &["SEAT", "GAME", "ROW", "ROW", "OVER"])?;
    ann.new_game(judge, &NEW_RULES, Some((4, false)))?;
    ann.lifeline(judge, Lifeline::Place)?;
    is_told(judge, &mut server, ann.seat, &["SEAT", "GAME", "LIFELINE"])
}

/// Whether a newly connected client receives these messages about a seat.
fn is_told(judge: &mut Judge, server: &mut Server, seat: u8, wanted: &[&str]) -> Played {
    let mut visitor = Visitor::connect(judge, server)?;
    let told = told(judge, &mut visitor, seat)?;
    let came: Vec<&str> = told.iter().filter_map(|line| line.split(' ').next()).collect();
    judge.check(&STATE, came == wanted, || {
        let came = if came.is_empty() { "nothing".to_owned() } else { came.join(", ") };
        format!("expected {} about a taken seat, received {came}", wanted.join(", "))
    });
    Ok(())
}

fn leaving(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut server = subject.start(judge)?;
    let mut watcher = Visitor::connect(judge, &mut server)?;
    for how in ["QUIT", "the end of a connection"] {
        let mut bob = Visitor::connect(judge, &mut server)?.sit(judge, "Dan")?;
        let seat = bob.seat;
        takes_seat(judge, &mut watcher, seat, "Dan")?;
        if how == "QUIT" {
            bob.visitor.say("QUIT");
        }
        // The connection of a player that has sent QUIT stays open until the server closes it.
        let kept = if how == "QUIT" {
            Some(bob)
        } else {
            drop(bob);
            None
        };
        let heard = loop {
            match watcher.of(judge, seat)? {
                Ok(ServerMessage::Game { .. }) => {}
                heard => break heard,
            }
        };
        judge.require(&LEFT, matches!(heard, Ok(ServerMessage::Left(_))), || {
            format!("expected LEFT {seat} after {how}, received {}", said(&heard))
        })?;
        drop(kept);
    }
    Ok(())
}

fn many(judge: &mut Judge, subject: &Subject<'_>) -> Played {
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

fn never_reads(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut server = subject.start(judge)?;
    let mut ann = player(judge, &mut server, "Ann")?;
    let flood = Visitor::connect(judge, &mut server)?.connection;
    flood.note(Sender::Tester, "sends HELLO repeatedly without reading");
    flood.keep_little();
    let mut flood = flood.stream;
    flood.set_write_timeout(Some(PATIENT.max(subject.options.patience / 8)))?;
    let requests = b"HELLO\n".repeat(1024);
    // The server may read all of it, stop reading, or close the connection.
    (0..FLOOD / requests.len()).all(|_| flood.write_all(&requests).is_ok());
    judge.under(&NEVER_READS, |judge| {
        (0..3).try_for_each(|_| ann.guess(judge, filler(4)?))?;
        Visitor::connect(judge, &mut server).map(drop)
    })
}

fn offence(judge: &mut Judge, subject: &Subject<'_>, bytes: &[u8], leaves: Leaves) -> Played {
    let mut server = subject.start(judge)?;
    let mut ann = player(judge, &mut server, "Ann")?;
    let mut eve = Visitor::connect(judge, &mut server)?;
    eve.connection.send(bytes);
    let eve = match leaves {
        Leaves::Never => Some(eve),
        Leaves::Half => {
            eve.connection.end_sending();
            Some(eve)
        }
        Leaves::Wholly => None,
    };
    judge.under(&OTHERS, |judge| {
        ann.guess(judge, filler(4)?)?;
        Visitor::connect(judge, &mut server)?.sit(judge, "Bob")?;
        ann.guess(judge, filler(4)?)
    })?;
    drop(eve);
    Ok(())
}
