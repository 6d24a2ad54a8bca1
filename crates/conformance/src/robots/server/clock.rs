//! A game with short turns, which shows whether turns are sent when they are due; and servers without a seed.

use std::{
    thread,
    time::{Duration, Instant},
};

use robots::ServerMessage;

use super::{
    lobby::small,
    rules::{NO_DELAY, NO_DRIFT, NO_SEED, TURN_NUMBERS},
    setup::Setup,
    table::Table,
};
use crate::{
    judge::{Judge, Played},
    robots::{context::Context, show},
};

/// How long a turn of the fast game lasts.
const TURN: Duration = Duration::from_millis(8);
/// The most turns of the fast game. It lasts no longer than patience does.
const TURNS: u128 = 600;
/// The fewest, also for the impatient.
const FEW: u128 = 100;
/// After this time a clock that counts seconds shows another one.
const ANOTHER_SECOND: Duration = Duration::from_millis(1_100);
/// How often a server may try.
const ATTEMPTS: usize = 3;
/// Turns at the start and at the end, of which one at least is on time also on a busy machine.
const WINDOW: usize = 50;
/// Turns that are acknowledged in the same way, one block after the other.
const BLOCK: u16 = 25;
/// The ways in which turns are acknowledged.
const PROMPT: usize = 0;
const LATE: usize = 1;
/// How much later the last turns may come, besides the time that they are due.
const DRIFT: Duration = Duration::from_millis(25);

/// On a machine that is too busy for it, a right server cannot be in time either; so it may try again.
pub(super) fn fast(context: &Context<'_>, judge: &mut Judge) -> Played {
    let turns = (context.options.patience.as_millis() / TURN.as_millis()).clamp(FEW, TURNS);
    let length = u16::try_from(turns)?;
    let mut drift = f64::INFINITY;
    // The parts of the attempt in which most turns that were acknowledged at once came one by one, as far as there was one.
    let mut parts = [0; 2];
    let mut is_prompt = false;
    for _ in 0..ATTEMPTS {
        let measured = measure(context, judge, length)?;
        drift = drift.min(measured.0);
        // Where the tester itself is held up, turns come together in either way, and nothing can be said.
        if measured.1[PROMPT] > parts[PROMPT] {
            parts = measured.1;
        }
        is_prompt = parts[LATE] * 2 > parts[PROMPT];
        let is_telling = parts[PROMPT] * 4 > u64::from(length);
        if drift < DRIFT.as_secs_f64() && is_telling && is_prompt {
            break;
        }
    }
    judge.check(&NO_DRIFT, drift < DRIFT.as_secs_f64(), || {
        format!(
            "after {length} turns of {} ms the turns came {:.0} ms later than at the start",
            TURN.as_millis(),
            drift * 1000.0
        )
    });
    // Elsewhere nothing can be said of it.
    if cfg!(target_os = "linux") {
        judge.check(&NO_DELAY, is_prompt, || {
            format!(
                "{} turns of {} ms came in {} parts where each was acknowledged at once, and in {} parts where they were \
                 acknowledged late: later turns waited until earlier ones were acknowledged",
                length / 2,
                TURN.as_millis(),
                parts[PROMPT],
                parts[LATE]
            )
        });
    }
    Ok(())
}

// Plays a game. Returns how many seconds later the last turns came than the first ones, and in how many parts the turns came that were
// acknowledged at once or late. A busy machine merges both alike.
fn measure(context: &Context<'_>, judge: &mut Judge, length: u16) -> Played<(f64, [u64; 2])> {
    let setup = Setup { players: 1, blocks: 0, length, duration: TURN, ..small(context) };
    let mut table = Table::open(context, judge, setup)?;
    let ann = table.connect("Ann")?;
    table.join(ann, "Ann")?;
    table.start()?;
    let judge = &mut *table.judge;
    let guest = &mut table.guests[ann];
    let begin = Instant::now();
    // How late each turn is, compared with the others.
    let mut late = Vec::new();
    let mut parts = [0; 2];
    for number in 1..=length {
        let way = usize::from(number / BLOCK % 2);
        if way == LATE {
            guest.connection.delay_acknowledgements();
        } else {
            guest.connection.acknowledge();
        }
        let before = guest.reads;
        let by = context.options.deadline();
        let message = guest.expect(judge, &TURN_NUMBERS, by, &format!("turn {number}"))?;
        parts[way] += guest.reads - before;
        let right = matches!(&message, ServerMessage::Turn { turn, .. } if *turn == number);
        judge.require(&TURN_NUMBERS, right, || format!("{} came instead of turn {number}", show::message(&message)))?;
        late.push(begin.elapsed().as_secs_f64() - TURN.as_secs_f64() * f64::from(number));
    }
    let earliest = |part: &[f64]| part.iter().copied().fold(f64::INFINITY, f64::min);
    let (first, last) = (late.get(..WINDOW).unwrap_or(&late), late.get(late.len() - WINDOW..).unwrap_or(&late));
    Ok((earliest(last) - earliest(first), parts))
}

/// Without a seed the server must run, and draw something else each time. The task proposes the time in seconds as a seed.
pub(super) fn without_seed(context: &Context<'_>, judge: &mut Judge) -> Played {
    let mut drawn = Vec::new();
    let mut last = None;
    for _ in 0..2 {
        if let Some(last) = last {
            thread::sleep(ANOTHER_SECOND.saturating_sub(Instant::elapsed(&last)));
        }
        // So many draws that they are never the same by chance.
        let setup = Setup { players: 1, blocks: 20, size: (40, 30), ..small(context) };
        last = Some(Instant::now());
        let mut host = context.host_without_seed(judge, &setup)?;
        let mut guest = context.guest(judge, &mut host, "a client of a server without -s")?;
        guest.join("Ann")?;
        let events = loop {
            let message = guest.expect(judge, &NO_SEED, context.options.deadline(), "a game with turn 0")?;
            if let ServerMessage::Turn { events, .. } = message {
                break events;
            }
        };
        drawn.push(events);
    }
    judge.require(&NO_SEED, drawn.first() != drawn.last(), || {
        format!("two servers without -s begin with {}", show::events(drawn.iter().take(1).flatten()))
    })
}
