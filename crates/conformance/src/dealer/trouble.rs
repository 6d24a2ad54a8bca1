//! Players who break the protocol, and those who only come close to it.

use std::{net::Shutdown, time::Instant};

use blackjack::{DealerMessage, Dialect, PlayerMessage, Verdict};

use super::{
    Subject,
    rules::{BAD_JOIN, EARLY_ANSWER, HALF_CLOSE, OFFENDER, OTHERS},
    seat::{Heard, Seat, Style},
    table::Table,
};
use crate::{
    judge::{Judge, Played},
    tester::Options,
};

/// Rounds in which one player makes trouble in the first.
const ROUNDS: u32 = 2;

/// Games that are begun until a card leaves the player another decision.
const ATTEMPTS: usize = 8;

/// What a player does instead of an answer.
const OFFENCES: &[(&str, &[u8])] = &[
    ("a player answers with an unknown word", b"FOLD\0"),
    ("a player answers in lower case", b"hit\0"),
    ("a player answers with a space too many", b"STAND \0"),
    ("a player sends an empty message", b"\0"),
    ("a player joins twice", b"JOIN again\0"),
    ("a player sends a word of the dealer", b"BEGIN\0"),
    ("a player sends 300 bytes without NUL", &[b'H'; 300]),
];

pub(super) fn play(judge: &mut Judge, subject: &Subject<'_>) -> anyhow::Result<()> {
    judge.play("a player answers twice", |judge| {
        for _ in 0..ATTEMPTS {
            if answers_twice(judge, subject)? {
                break;
            }
        }
        Ok(())
    })?;
    for &(scenario, bytes) in OFFENCES {
        judge.play(scenario, |judge| offends(judge, subject, Some(bytes)))?;
    }
    judge.play("a player leaves when it is asked", |judge| offends(judge, subject, None))?;
    judge.play("a client that does not join", |judge| bad_join(judge, subject))?;
    judge.play("a player closes its sending side", |judge| half_closes(judge, subject))
}

/// Returns whether there was a second question, since the first card may have made the player bust.
fn answers_twice(judge: &mut Judge, subject: &Subject<'_>) -> Played<bool> {
    let mut table = subject.table(judge, 1, &[Style::Modest])?;
    table.deal(judge, 0, 1)?;
    table.asked(judge, 0)?;
    let options = subject.options;
    let Some(seat) = table.seats.first_mut() else { return Ok(true) };
    seat.connection.send(b"HIT\0STAND\0");
    let Heard::Message(DealerMessage::Card(card)) = seat.listen(judge, options.deadline())? else {
        // A dealer may end the connection of a player who says more than it was asked for.
        judge.check(&EARLY_ANSWER, true, String::new);
        return Ok(true);
    };
    seat.hand.push(card);
    if seat.hand.points().is_bust() {
        return Ok(false);
    }
    let mut heard = seat.listen(judge, options.deadline())?;
    if heard == Heard::Message(DealerMessage::Decision) {
        heard = seat.listen(judge, Instant::now() + options.patience / 20)?;
    }
    let result = matches!(heard, Heard::Message(DealerMessage::Result(_)));
    judge.check(&EARLY_ANSWER, !result, || {
        format!("{heard} after HIT and STAND in one write: STAND came before its question and was taken for an answer")
    });
    Ok(true)
}

/// One player breaks the protocol or leaves, and others play on.
fn offends(judge: &mut Judge, subject: &Subject<'_>, bytes: Option<&[u8]>) -> Played {
    let several = subject.launcher.takes("players");
    let styles: &[Style] = if several { &[Style::Modest, Style::Modest] } else { &[Style::Modest] };
    let mut table = subject.table(judge, ROUNDS, styles)?;
    table.deal(judge, 0, ROUNDS)?;
    let asked = table.asked(judge, 0)?;
    let mut offender = table.seats.swap_remove(asked.unwrap_or(0));
    // One who leaves is not there to be told anything.
    let offender = bytes.map(|bytes| {
        offender.connection.send(bytes);
        offender
    });
    let mut others = Ok(());
    if several {
        others = table.finish_round(judge, 0).and_then(|()| table.play(judge, 1, ROUNDS));
        judge.check(&OTHERS, others.is_ok(), || "the game of the other player did not go on to its end".to_owned());
    }
    if let Some(mut offender) = offender {
        offender_is_out(judge, &mut offender, &subject.options)?;
    }
    others
}

fn offender_is_out(judge: &mut Judge, offender: &mut Seat, options: &Options) -> Played {
    let by = options.deadline();
    loop {
        match offender.listen(judge, by)? {
            Heard::Closed => return judge.require(&OFFENDER, true, String::new),
            Heard::Message(DealerMessage::Quit | DealerMessage::Result(Verdict::Lose | Verdict::Bust)) => {}
            heard => {
                return judge
                    .broken(&OFFENDER, || format!("{heard}; the connection is to be closed, after QUIT at most"));
            }
        }
    }
}

fn bad_join(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut dealer = subject.start(1, 1)?;
    for words in [&b"HIT\0"[..], b"join tester\0", b"HELLO tester\0", b"JOIN\0"] {
        let seat = Seat::connect(judge, &mut dealer, 1);
        seat_is_open(judge, seat.is_ok())?;
        let mut seat = seat?;
        seat.connection.send(words);
        let heard = loop {
            let heard = seat.listen(judge, subject.options.deadline())?;
            if heard != Heard::Message(DealerMessage::Quit) {
                break heard;
            }
        };
        judge.require(&BAD_JOIN, heard == Heard::Closed, || {
            format!("{heard} after '{}'; the connection is to be closed", words.escape_ascii())
        })?;
    }
    let played = Table::sit(judge, dealer, &[Style::Modest]).and_then(|mut table| table.play(judge, 0, 1));
    seat_is_open(judge, played.is_ok())?;
    played
}

fn seat_is_open(judge: &mut Judge, open: bool) -> Played {
    judge.require(&BAD_JOIN, open, || "the next client, who joins, does not get the seat".to_owned())
}

fn half_closes(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut table = subject.table(judge, 1, &[Style::Modest])?;
    table.deal(judge, 0, 1)?;
    table.asked(judge, 0)?;
    let Some(seat) = table.seats.first_mut() else { return Ok(()) };
    seat.connection.send(&PlayerMessage::Stand.to_bytes(Dialect::Text));
    // A connection that is lost is closed already.
    let _ = seat.connection.stream.shutdown(Shutdown::Write);
    let result = seat.listen(judge, subject.options.deadline())?;
    let quit = seat.listen(judge, subject.options.deadline())?;
    let right =
        matches!(result, Heard::Message(DealerMessage::Result(_))) && quit == Heard::Message(DealerMessage::Quit);
    judge.check(&HALF_CLOSE, right, || format!("{result}, then {quit} after STAND; RESULT and QUIT are to come"));
    Ok(())
}
