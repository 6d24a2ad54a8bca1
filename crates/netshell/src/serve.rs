//! The one server loop.

use std::{
    future::poll_fn,
    io,
    pin::pin,
    task::{Context, Poll},
    time::Duration,
};

use netcore::{Leave, Outcome};
use tokio::{task::yield_now, time::timeout};
use tracing::warn;

use crate::{Clock, Host, alarm::Alarm};

/// How long the loop works before it asks the system what else has happened, signals among it.
const SLICE: Duration = Duration::from_micros(500);
/// Pieces of work between two wake-ups of a room that wants to be woken all the time.
const PIECES: usize = 16;
/// If a deadline is noticed this late, and the loop was not at work meanwhile, the whole process stood still: it was stopped,
/// or the machine slept. Messages that arrived meanwhile were sent in time, so they are taken in first.
const STALL: Duration = Duration::from_millis(100);
/// How long what has arrived during a stall is taken in before the clock counts again.
const CATCH_UP: Duration = Duration::from_millis(500);
/// How long the end waits for the system to say that it takes more, before it tries again.
const RETRY: Duration = Duration::from_millis(5);
/// How long the last messages may take to go out at the end.
const FLUSH: Duration = Duration::from_secs(1);

/// Drives `host` until its room has an outcome, which it gives; `shutdown` is when the room is told to take leave, and how.
///
/// Signals and deadlines are looked at after every half millisecond of work, whatever comes in. Messages that lie there when
/// the process was stopped for a while are taken in before the room is told what time it is.
///
/// # Errors
/// When a transport or the timer breaks.
pub async fn serve(mut host: Host, clock: Clock, shutdown: impl Future<Output = Leave>) -> io::Result<Outcome> {
    let mut shutdown = pin!(shutdown);
    let mut stopping = false;
    // One timer for the whole run, set anew only when the next wake-up changes: most work leaves it alone.
    let mut alarm = Alarm::new()?;
    let mut set_for = None;
    // When the loop was last at work, and until when it catches up with what arrived during a stall.
    let mut seen = clock.now();
    let mut catch_up = None;
    loop {
        if let Some(outcome) = host.outcome() {
            flush(&mut host, &clock).await;
            return Ok(outcome);
        }
        let wake = host.wake_at();
        if wake != set_for {
            set_for = wake;
            alarm.set(wake.map(|wake| clock.instant(wake)))?;
        }
        tokio::select! {
            // In this order, so that a flood of messages delays neither the end nor a deadline.
            biased;
            leave = &mut shutdown, if !stopping => {
                stopping = true;
                host.stop(clock.now(), leave);
                continue;
            }
            rung = alarm.rung() => {
                rung?;
                set_for = None;
            }
            ready = poll_fn(|context| host.poll_ready(context)) => ready?,
        }
        let now = clock.now();
        if host.deadline().is_some_and(|deadline| now.since(deadline.max(seen)) >= STALL) {
            catch_up = Some(now.plus(CATCH_UP));
        }
        catch_up = catch_up.filter(|&until| now < until);
        let ended = slice(&mut host, &clock, catch_up.is_some())?;
        // A slice that took so long was interrupted by a stall too.
        let after = clock.now();
        seen = if after.since(now) >= STALL { now } else { after };
        if ended == Slice::Busy {
            yield_now().await;
        } else if catch_up.is_some() {
            // What was taken in may have opened connections, which the system has to be asked about.
            yield_now().await;
            if poll_once(|context| host.poll_ready(context)).await.is_pending() {
                catch_up = None;
            }
        }
    }
}

/// How a slice of work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slice {
    /// Nothing is left to do just now.
    Idle,
    /// The time is up.
    Busy,
}

// Works for a bounded time. A deadline is looked for between any two pieces, unless the host catches up.
fn slice(host: &mut Host, clock: &Clock, catches_up: bool) -> io::Result<Slice> {
    let begun = clock.now();
    loop {
        let now = clock.now();
        if !catches_up && host.elapse(now) && host.deadline().is_some_and(|deadline| deadline <= now) {
            // It wants to be woken again and again, and hears its peers in between.
            for _ in 0..PIECES {
                if !host.work(|| clock.now())? {
                    break;
                }
            }
            return Ok(Slice::Busy);
        }
        if !host.work(|| clock.now())? {
            return Ok(Slice::Idle);
        }
        if clock.now().since(begun) >= SLICE {
            return Ok(Slice::Busy);
        }
    }
}

// What a poll has to say without being waited for.
async fn poll_once<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
    poll_fn(|context| Poll::Ready(poll(context))).await
}

async fn flush(host: &mut Host, clock: &Clock) {
    let until = clock.now().plus(FLUSH);
    while clock.now() < until {
        let all = poll_fn(|context| host.poll_flush(clock.now(), context));
        // Without a word from the system it is tried all the same.
        if timeout(RETRY, all).await.is_ok() {
            return;
        }
    }
    warn!("the system did not take the last messages in time");
}
