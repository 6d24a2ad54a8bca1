//! The effects of one player on the other players at its table.

use std::{
    io::Write as _,
    net::TcpStream,
    time::{Duration, Instant},
};

use super::{
    Subject,
    rules::{FLOODS, HALF_CLOSES, LATECOMERS, LEAVES, LEAVES_EARLY, LEAVES_LATE, NO_CRASH, RESETS, SENDS_AHEAD},
    seat::{Dealer, Seat, Style},
};
use crate::{
    judge::{Judge, Played, Scene, scene},
    report::Sender,
    rule::Rule,
};

/// The number of rounds. One player breaks the protocol in the first.
const ROUNDS: u32 = 2;
/// The maximum number of bytes of a player that sends without end. It sends as many of them as the dealer accepts
/// within a while.
const FLOOD: usize = 4 << 20;
static CHUNK: [u8; 1 << 16] = [b'H'; 1 << 16];
/// How long a dealer may leave such bytes unread before the player gives up.
const STUCK: Duration = Duration::from_millis(200);
/// The number of connections during a game.
const LATE: usize = 4;

/// The time at which a player breaks the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Asked,
    /// While the other player has a question.
    BeforeItsTurn,
    /// After it has stood.
    AfterItsTurn,
}

/// The action of the player at that time. It may return the seat to keep it connected.
type Trouble = fn(Seat) -> Option<Seat>;

const TROUBLES: &[(&str, &Rule, When, Trouble)] = &[
    ("a player leaves during its turn", &LEAVES, When::Asked, |_| None),
    ("a player leaves before its turn", &LEAVES_EARLY, When::BeforeItsTurn, |_| None),
    ("a player leaves after its turn", &LEAVES_LATE, When::AfterItsTurn, |_| None),
    ("the connection of a player is reset", &RESETS, When::Asked, |seat| {
        seat.connection.reset();
        None
    }),
    ("a player closes its sending side during its turn", &HALF_CLOSES, When::Asked, |seat| {
        seat.connection.end_sending();
        Some(seat)
    }),
    ("a player sends without end", &FLOODS, When::Asked, |mut seat| {
        flood(&mut seat);
        Some(seat)
    }),
    ("a player answers before its turn", &SENDS_AHEAD, When::BeforeItsTurn, |mut seat| {
        seat.connection.send(&b"HIT\0".repeat(20));
        Some(seat)
    }),
];

pub(super) fn scenes<'s>(subject: &'s Subject<'_>) -> Vec<Scene<'s>> {
    let latecomers =
        scene("clients that connect during a game", |judge| latecomers(judge, subject)).shows([&LATECOMERS, &NO_CRASH]);
    if !subject.launcher.takes("players") {
        return vec![latecomers];
    }
    let troubles = TROUBLES.iter().map(|&(name, rule, when, trouble)| {
        scene(name, move |judge| troubled(judge, subject, rule, when, trouble)).shows([rule, &NO_CRASH])
    });
    troubles.chain([latecomers]).collect()
}

fn troubled(judge: &mut Judge, subject: &Subject<'_>, rule: &'static Rule, when: When, trouble: Trouble) -> Played {
    let mut table = subject.table(judge, ROUNDS, &[Style::Modest, Style::Modest])?;
    table.deal(judge, 0, ROUNDS)?;
    let Some(asked) = table.asked(judge, 0)? else { return Ok(()) };
    if when == When::AfterItsTurn {
        table.hand(judge, asked, 0)?;
    }
    let number = if when == When::BeforeItsTurn { 1 - asked } else { asked };
    let troubled = table.seats.remove(number);
    table.offender = trouble(troubled);
    let played = judge.under(rule, |judge| {
        if when == When::BeforeItsTurn {
            table.hand(judge, 0, 0)?;
        }
        table.finish_round(judge, 0)?;
        table.play(judge, 1, ROUNDS)
    });
    last_look(&mut table.dealer);
    played
}

// A crash would occur soon.
fn last_look(dealer: &mut Dealer) {
    dealer.run.exit(Instant::now() + dealer.options.patience / 10);
}

fn flood(seat: &mut Seat) {
    let stream = &mut seat.connection.stream;
    // Without a timeout, the first write that does not fit would block forever.
    if stream.set_write_timeout(Some(STUCK)).is_err() {
        return;
    }
    let mut written = 0;
    while written < FLOOD && stream.write_all(&CHUNK).is_ok() {
        written += CHUNK.len();
    }
    seat.connection.note(Sender::Tester, &format!("sends 'H' {written} times"));
}

fn latecomers(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut table = subject.table(judge, ROUNDS, &[Style::Modest])?;
    table.deal(judge, 0, ROUNDS)?;
    let Some(asked) = table.asked(judge, 0)? else { return Ok(()) };
    let mut late = Vec::new();
    for number in 0..LATE {
        // A dealer need not accept more connections than it has seats.
        let opened = TcpStream::connect_timeout(&table.dealer.address, STUCK);
        if let Ok(mut stream) = opened {
            let _ = stream.write_all(if number % 2 == 0 { b"JOIN late\0" } else { b"" });
            late.push(stream);
        }
    }
    judge.under(&LATECOMERS, |judge| {
        table.hand(judge, asked, 0)?;
        late.truncate(LATE / 2);
        table.finish_round(judge, 0)?;
        table.play(judge, 1, ROUNDS)
    })
}
