//! Players that break the protocol, and players that remain just within it.

use std::time::Instant;

use blackjack::{DealerMessage, Dialect, PlayerMessage, Verdict, hand::BEST};

use super::{
    Subject,
    rules::{BAD_JOIN, EARLY_ANSWER, HALF_CLOSE, NO_CRASH, OFFENDER, OTHERS},
    seat::{Dealer, Heard, Seat, Style},
    table::Table,
};
use crate::{
    judge::{Judge, Played, Scene, scene},
    tester::Options,
};

/// The number of rounds. One player breaks the protocol in the first.
const ROUNDS: u32 = 2;

/// The number of games that are started until a card allows the player another decision.
const ATTEMPTS: usize = 8;

/// Messages that a player sends instead of an answer.
const OFFENCES: &[(&str, &[u8])] = &[
    ("a player answers with an unknown word", b"FOLD\0"),
    ("a player answers in lower case", b"hit\0"),
    ("a player answers with an extra space", b"STAND \0"),
    ("a player sends an empty message", b"\0"),
    ("a player joins twice", b"JOIN again\0"),
    ("a player sends a word of the dealer", b"BEGIN\0"),
    ("a player sends 300 bytes without NUL", &[b'H'; 300]),
];

/// Messages that a client sends instead of a valid JOIN. A correct dealer may react in any way other than a crash.
const STRANGE_JOINS: &[(&str, &[u8])] = &[
    ("a client that leaves before JOIN", b""),
    ("a name of 300 bytes", &strange_name()),
    ("10,000 bytes instead of JOIN", &[b'J'; 10_000]),
];

const fn strange_name() -> [u8; 306] {
    let mut join = [b'n'; 306];
    [join[0], join[1], join[2], join[3], join[4], join[305]] = *b"JOIN \0";
    join
}

pub(super) fn scenes<'s>(subject: &'s Subject<'_>) -> Vec<Scene<'s>> {
    let mut scenes = vec![
        scene("a player answers twice", |judge| {
            for _ in 0..ATTEMPTS {
                if answers_twice(judge, subject)? {
                    break;
                }
            }
            Ok(())
        })
        .shows([&EARLY_ANSWER, &NO_CRASH]),
        scene("a client that does not join", |judge| judge.under(&BAD_JOIN, |judge| bad_join(judge, subject)))
            .shows([&BAD_JOIN, &NO_CRASH]),
        scene("a player closes its sending side", |judge| half_closes(judge, subject)).shows([&HALF_CLOSE, &NO_CRASH]),
    ];
    scenes.extend(OFFENCES.iter().map(|&(name, bytes)| {
        let offends = move |judge: &mut Judge| offends(judge, subject, bytes);
        scene(name, offends).shows([&OFFENDER, &OTHERS, &NO_CRASH])
    }));
    scenes.extend(
        STRANGE_JOINS
            .iter()
            .map(|&(name, bytes)| scene(name, move |judge| joins_strangely(judge, subject, bytes)).shows([&NO_CRASH])),
    );
    scenes
}

/// Returns whether a second question was due, since the first card may have made the player bust.
fn answers_twice(judge: &mut Judge, subject: &Subject<'_>) -> Played<bool> {
    let mut table = subject.table(judge, 1, &[Style::Modest])?;
    table.deal(judge, 0, 1)?;
    table.asked(judge, 0)?;
    let options = subject.options;
    let Some(seat) = table.seats.first_mut() else { return Ok(true) };
    seat.connection.send(b"HIT\0STAND\0");
    let Heard::Message(DealerMessage::Card(card)) = seat.listen(judge, options.deadline()) else {
        // A dealer may close the connection of a player that sends an answer without a question.
        judge.check(&EARLY_ANSWER, true, String::new);
        return Ok(true);
    };
    seat.hand.push(card);
    // A dealer that sends no question at 21 breaks another rule.
    if seat.hand.points().total() >= BEST {
        return Ok(false);
    }
    let mut heard = seat.listen(judge, options.deadline());
    if matches!(heard, Heard::Message(DealerMessage::Result(_))) {
        // The dealer would not have sent a question without STAND either.
        return Ok(true);
    }
    if heard == Heard::Message(DealerMessage::Decision) {
        heard = seat.listen(judge, Instant::now() + options.patience / 20);
    }
    // A hand that has stood without being bust cannot be bust.
    let result = matches!(heard, Heard::Message(DealerMessage::Result(verdict)) if verdict != Verdict::Bust);
    judge.check(&EARLY_ANSWER, !result, || {
        format!("expected no RESULT before an answer to DECISION, received {heard}: the dealer used the STAND sent together with HIT")
    });
    Ok(true)
}

/// One player breaks the protocol, and the other players continue.
fn offends(judge: &mut Judge, subject: &Subject<'_>, bytes: &[u8]) -> Played {
    let several = subject.launcher.takes("players");
    let styles: &[Style] = if several { &[Style::Modest, Style::Modest] } else { &[Style::Modest] };
    let mut table = subject.table(judge, ROUNDS, styles)?;
    table.deal(judge, 0, ROUNDS)?;
    let asked = table.asked(judge, 0)?;
    let mut offender = table.seats.swap_remove(asked.unwrap_or(0));
    offender.connection.send(bytes);
    table.offender = Some(offender);
    let mut others = Ok(());
    if several {
        others = judge.under(&OTHERS, |judge| {
            table.finish_round(judge, 0)?;
            table.play(judge, 1, ROUNDS)
        });
    }
    if let Some(mut offender) = table.offender.take() {
        offender_is_out(judge, &mut offender, &table.told, &subject.options)?;
    }
    last_look(&mut table.dealer, &subject.options);
    others
}

// A dealer whose only player has disconnected may exit or wait for another one. A crash would occur soon.
fn last_look(dealer: &mut Dealer, options: &Options) {
    dealer.run.exit(Instant::now() + options.patience / 10);
}

fn joins_strangely(judge: &mut Judge, subject: &Subject<'_>, bytes: &[u8]) -> Played {
    let mut dealer = subject.start(judge, 1, 1)?;
    let mut seat = Seat::connect(judge, &mut dealer, 1)?;
    seat.connection.send(bytes);
    if !bytes.is_empty() {
        // Any reaction of the dealer is allowed.
        seat.connection.more(Instant::now() + subject.options.patience / 10);
    }
    drop(seat);
    last_look(&mut dealer, &subject.options);
    Ok(())
}

fn offender_is_out(judge: &mut Judge, offender: &mut Seat, told: &[DealerMessage], options: &Options) -> Played {
    let by = options.deadline();
    let mut told = told.iter().map(|message| Heard::Message(*message));
    loop {
        let heard = told.next().unwrap_or_else(|| offender.listen(judge, by));
        match heard {
            Heard::Closed => return judge.require(&OFFENDER, true, String::new),
            Heard::Message(DealerMessage::Quit | DealerMessage::Result(Verdict::Lose | Verdict::Bust)) => {}
            heard => {
                return judge.broken(&OFFENDER, || {
                    format!("expected the end of the connection after QUIT at most, received {heard}")
                });
            }
        }
    }
}

fn bad_join(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut dealer = subject.start(judge, 1, 1)?;
    for words in [&b"HIT\0"[..], b"join tester\0", b"HELLO tester\0", b"JOIN\0"] {
        let mut seat = Seat::connect(judge, &mut dealer, 1)?;
        seat.connection.send(words);
        let heard = loop {
            let heard = seat.listen(judge, subject.options.deadline());
            if heard != Heard::Message(DealerMessage::Quit) {
                break heard;
            }
        };
        judge.require(&BAD_JOIN, heard == Heard::Closed, || {
            format!("expected the end of the connection after '{}', received {heard}", words.escape_ascii())
        })?;
    }
    // The next joining client gets the seat.
    Table::sit(judge, dealer, &[Style::Modest])?.play(judge, 0, 1)
}

fn half_closes(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut table = subject.table(judge, 1, &[Style::Modest])?;
    table.deal(judge, 0, 1)?;
    table.asked(judge, 0)?;
    let Some(seat) = table.seats.first_mut() else { return Ok(()) };
    seat.connection.send(&PlayerMessage::Stand.to_bytes(Dialect::Text));
    seat.connection.end_sending();
    let result = seat.listen(judge, subject.options.deadline());
    let right = matches!(result, Heard::Message(DealerMessage::Result(_)));
    judge.check(&HALF_CLOSE, right, || format!("expected RESULT after STAND, received {result}"));
    Ok(())
}
