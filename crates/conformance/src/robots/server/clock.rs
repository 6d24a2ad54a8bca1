use std::{
    thread,
    time::{Duration, Instant},
};

use robots::ServerMessage;

use super::{NO_DELAY, NO_DRIFT, TURN_NUMBERS, lobby::small, session::Session, setup::Setup};
use crate::{
    judge::{Judge, ScenarioResult},
    ports::free_tcp_port,
    robots::{context::Context, show},
    rule::Rule,
};

const TURN: Duration = Duration::from_millis(8);
/// The limit keeps the fast game within the patience.
const TURNS: u128 = 600;
/// Even if the patience is short.
const FEW: u128 = 100;
/// Changes a clock with a resolution of seconds.
const ANOTHER_SECOND: Duration = Duration::from_millis(1_100);
const ATTEMPTS: usize = 3;
/// Turns that are compared at the start and at the end. At least one is on time, even on a busy machine.
const WINDOW: usize = 50;
/// Successive turns that are acknowledged in the same way.
const BLOCK: u16 = 25;
const PROMPT: usize = 0;
const LATE: usize = 1;
/// How much later the last turns may be than the first ones.
const DRIFT: Duration = Duration::from_millis(25);

/// Several attempts, since on a busy machine even a correct server is late.
pub(super) fn fast(context: &Context<'_>, judge: &mut Judge) -> ScenarioResult {
    let turns = (context.options.patience.as_millis() / TURN.as_millis()).clamp(FEW, TURNS);
    let length = u16::try_from(turns)?;
    let mut drift = f64::INFINITY;
    // From the attempt with the most reads of immediately acknowledged turns.
    let mut parts = [0; 2];
    let mut is_prompt = false;
    for _ in 0..ATTEMPTS {
        let measured = measure(context, judge, length)?;
        drift = drift.min(measured.0);
        // A delay of the tester merges turns in both cases, and makes the attempt inconclusive.
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
            "expected no delay after {length} turns of {} ms, received them {:.0} ms later than at the start",
            TURN.as_millis(),
            drift * 1000.0
        )
    });
    // Elsewhere, the measurement is meaningless.
    if cfg!(target_os = "linux") {
        judge.check(&NO_DELAY, is_prompt, || {
            format!(
                "expected each turn immediately, received {} turns of {} ms in {} parts with immediate acknowledgements, but \
                 in {} parts with late ones: turns wait for the acknowledgement of earlier ones",
                length / 2,
                TURN.as_millis(),
                parts[PROMPT],
                parts[LATE]
            )
        });
    }
    Ok(())
}

// Returns the seconds by which the last turns were later than the first ones, and the numbers of reads of the turns
// that were acknowledged immediately and late. A busy machine merges both kinds alike.
fn measure(context: &Context<'_>, judge: &mut Judge, length: u16) -> ScenarioResult<(f64, [u64; 2])> {
    let setup = Setup { players: 1, blocks: 0, length, duration: TURN, ..small(context) };
    let mut session = Session::open(context, judge, setup)?;
    let ann = session.connect("Ann")?;
    session.join(ann, "Ann")?;
    session.start()?;
    let judge = &mut *session.judge;
    let client = &mut session.clients[ann];
    let begin = Instant::now();
    let mut late = Vec::new();
    let mut parts = [0; 2];
    for number in 1..=length {
        let way = usize::from(number / BLOCK % 2);
        if way == LATE {
            client.connection.delay_acknowledgements();
        } else {
            client.connection.acknowledge();
        }
        let before = client.reads;
        let by = context.options.deadline();
        let message = client.expect(judge, &TURN_NUMBERS, by, &format!("turn {number}"))?;
        parts[way] += client.reads - before;
        let right = matches!(&message, ServerMessage::Turn { turn, .. } if *turn == number);
        judge.require(&TURN_NUMBERS, right, || {
            format!("expected turn {number}, received {}", show::message(&message))
        })?;
        late.push(begin.elapsed().as_secs_f64() - TURN.as_secs_f64() * f64::from(number));
    }
    let earliest = |part: &[f64]| part.iter().copied().fold(f64::INFINITY, f64::min);
    let (first, last) = (late.get(..WINDOW).unwrap_or(&late), late.get(late.len() - WINDOW..).unwrap_or(&late));
    Ok((earliest(last) - earliest(first), parts))
}

/// Draws must differ each time. The task proposes the time in seconds as a seed.
pub(super) fn without_seed(context: &Context<'_>, judge: &mut Judge, rule: &'static Rule) -> ScenarioResult {
    let mut drawn = Vec::new();
    let mut last = None;
    for _ in 0..2 {
        if let Some(last) = last {
            thread::sleep(ANOTHER_SECOND.saturating_sub(Instant::elapsed(&last)));
        }
        // With this many draws, two games never coincide by chance.
        let setup = Setup { players: 1, blocks: 20, size: (40, 30), ..small(context) };
        let port = free_tcp_port()?;
        let mut values = setup.values(&port.to_string());
        values.retain(|(name, _)| *name != "seed");
        let mut host = context.host_with(judge, &setup, port, &values)?;
        let mut client = context.connect(judge, &mut host, "a client of a server without -s")?;
        client.join("Ann")?;
        let events = loop {
            let message = client.expect(judge, rule, context.options.deadline(), "a game with turn 0")?;
            if let ServerMessage::Turn { events, .. } = message {
                break events;
            }
        };
        drawn.push(events);
        // On a busy machine, a server may take its seed long after its start.
        last = Some(Instant::now());
    }
    judge.require(rule, drawn.first() != drawn.last(), || {
        format!(
            "expected different draws from two servers without -s, received {} twice",
            show::events(drawn.iter().take(1).flatten())
        )
    })
}
