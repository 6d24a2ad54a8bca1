use std::{io::Write as _, time::Duration};

use super::{
    LEFT, MANY, NEVER_READS, OTHERS, OWN_TURN, SEEN, STATE, Subject,
    player::{Player, Server},
};
use crate::{
    judge::{Judge, ScenarioResult},
    report::Sender,
};

const PLAYERS: usize = 20;
/// How long a client that never reads keeps sending after the server stops reading.
const PATIENT: Duration = Duration::from_millis(500);
/// In bytes. The answers exceed the system's buffers.
const FLOOD: usize = 8 << 20;

#[derive(Clone, Copy)]
pub(super) enum Departure {
    Never,
    Half,
    Wholly,
}

/// The game has no repeats.
fn seat(judge: &mut Judge, server: &mut Server, name: &str) -> ScenarioResult<Player> {
    let mut player = Player::connect(judge, server)?;
    player.say(judge, &[&format!("PLAY {name}"), "RESIGN", "NEW 4 no"])?;
    Ok(player)
}

pub(super) fn observed(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut watcher = Player::connect(judge, &mut server)?;
    let mut ann = Player::connect(judge, &mut server)?;
    ann.say(judge, &["PLAY Ava"])?;
    watcher.see_seat(judge, ann.seat, "Ava")?;
    watcher.see(judge, ann.seat, &SEEN, "GAME")?;
    ann.refused(judge, &OWN_TURN, ["LIFELINE 3"])?;
    for (line, seen) in [
        ("RESIGN", "OVER resigned"),
        ("NEW 4 no", "GAME"),
        ("GUESS 1111", "ROW 1 "),
        ("LIFELINE 1", "LIFELINE"),
        ("GUESS 1111", "ROW 3 "),
    ] {
        ann.say(judge, &[line])?;
        watcher.see(judge, ann.seat, &SEEN, seen)?;
    }
    judge.check(&OWN_TURN, true, String::new);
    Ok(())
}

pub(super) fn two(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut ann = seat(judge, &mut server, "Ann")?;
    let mut bob = Player::connect(judge, &mut server)?;
    bob.say(judge, &["PLAY Cid"])?;
    other_seats(judge, &ann, &bob)?;
    ann.see_seat(judge, bob.seat, "Cid")?;
    ann.see(judge, bob.seat, &SEEN, "GAME")?;
    bob.say(judge, &["RESIGN"])?;
    ann.see(judge, bob.seat, &SEEN, "OVER")?;
    ann.say(judge, &["GUESS 1111"])
}

fn other_seats(judge: &mut Judge, one: &Player, other: &Player) -> ScenarioResult {
    judge.require(&MANY, one.seat != other.seat, || {
        format!("expected different seats for two players, received seat {} twice", one.seat)
    })
}

pub(super) fn late(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut ann = seat(judge, &mut server, "Ann")?;
    for (lines, wanted) in [
        (&["GUESS 1111", "GUESS 1111"][..], "SEAT, GAME, ROW, ROW"),
        (&["RESIGN"], "SEAT, GAME, ROW, ROW, OVER"),
        (&["NEW 4 no", "LIFELINE 2"], "SEAT, GAME, LIFELINE"),
    ] {
        ann.say(judge, lines)?;
        let reported = Player::connect(judge, &mut server)?.state_of(judge, ann.seat)?;
        judge.check(&STATE, reported == wanted, || {
            let reported = if reported.is_empty() { "nothing" } else { &reported };
            format!("expected {wanted} about a taken seat, received {reported}")
        });
    }
    Ok(())
}

pub(super) fn leaving(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut watcher = Player::connect(judge, &mut server)?;
    for sends_quit in [true, false] {
        let mut bob = Player::connect(judge, &mut server)?;
        bob.say(judge, &["PLAY Dan"])?;
        watcher.see_seat(judge, bob.seat, "Dan")?;
        // After QUIT, the connection stays open until the server closes it.
        let seat = bob.seat;
        let _bob = sends_quit.then(|| {
            bob.lines.send("QUIT");
            bob
        });
        watcher.see(judge, seat, &LEFT, "LEFT")?;
    }
    Ok(())
}

pub(super) fn twenty(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut players: Vec<Player> = Vec::new();
    for number in 0..PLAYERS {
        let player = seat(judge, &mut server, &format!("Player {number}"))?;
        players.iter().try_for_each(|other| other_seats(judge, other, &player))?;
        players.push(player);
    }
    for _ in 0..2 {
        players.iter_mut().try_for_each(|player| player.say(judge, &["GUESS 1111"]))?;
    }
    Ok(())
}

pub(super) fn never_reads(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut ann = seat(judge, &mut server, "Ann")?;
    let flood = Player::connect(judge, &mut server)?.lines.connection;
    flood.note(Sender::Tester, "sends HELLO repeatedly without reading");
    flood.keep_little();
    let mut flood = flood.stream;
    flood.set_write_timeout(Some(PATIENT.max(subject.options.patience / 8)))?;
    let requests = b"HELLO\n".repeat(1024);
    // The server may stop reading or close the connection.
    (0..FLOOD / requests.len()).all(|_| flood.write_all(&requests).is_ok());
    judge.under(&NEVER_READS, |judge| {
        ann.say(judge, &["GUESS 1111"; 3])?;
        Player::connect(judge, &mut server).map(drop)
    })
}

pub(super) fn misbehaving(
    judge: &mut Judge,
    subject: &Subject<'_>,
    bytes: &[u8],
    departure: Departure,
) -> ScenarioResult {
    let mut server = subject.start(judge)?;
    let mut ann = seat(judge, &mut server, "Ann")?;
    let mut eve = Player::connect(judge, &mut server)?.lines.connection;
    eve.send(bytes);
    if let Departure::Half = departure {
        eve.end_sending();
    }
    let _eve = (!matches!(departure, Departure::Wholly)).then_some(eve);
    judge.under(&OTHERS, |judge| {
        ann.say(judge, &["GUESS 1111"])?;
        Player::connect(judge, &mut server)?.say(judge, &["PLAY Bob"])?;
        ann.say(judge, &["GUESS 1111"])
    })
}
