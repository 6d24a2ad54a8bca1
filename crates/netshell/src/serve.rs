//! The loop of a server: waits for a signal, a deadline or a transport, and lets the host work.

use std::{
    future::poll_fn,
    io,
    pin::pin,
    task::{Context, Poll},
    time::Duration,
};

use netcore::{Leave, Outcome};
use tokio::task::yield_now;
use tracing::warn;

use crate::{Host, TimeSource, Timer};

/// The longest time between two polls for signals and the runtime.
const SLICE: Duration = Duration::from_micros(500);
/// Pieces of work between two wake-ups of a room whose deadline is always in the past.
const PIECES: usize = 16;
/// An idle loop that notices a deadline this late was stopped, with its process or machine. Messages that arrived
/// meanwhile were sent in time, so they are processed first.
const STALL: Duration = Duration::from_millis(100);
/// How long these messages are processed before deadlines count again.
const CATCH_UP: Duration = Duration::from_millis(500);
const RETRY: Duration = Duration::from_millis(5);
const FLUSH: Duration = Duration::from_secs(1);

/// Drives `host` until its room has an outcome, and returns it. `shutdown` resolves when the room should shut down.
/// Only `clock` and the transports of `host` may need a runtime.
///
/// Deadlines are checked after each piece of work, and signals every half millisecond. If the process was stopped for a
/// while, messages that arrived meanwhile are processed before the room receives the new time.
///
/// # Errors
/// If a transport or the timer fails.
pub async fn serve(
    mut host: Host,
    clock: impl TimeSource,
    shutdown: impl Future<Output = Leave>,
) -> io::Result<Outcome> {
    let mut shutdown = pin!(shutdown);
    let mut stopping = false;
    // Set only if the next wake-up changes, which is rare.
    let mut timer = clock.timer()?;
    let mut set_for = None;
    // When the loop last worked, and until when it catches up after a stall.
    let mut seen = clock.now();
    let mut catch_up = None;
    loop {
        if let Some(outcome) = host.outcome() {
            flush(&mut host, &clock, &mut timer).await?;
            return Ok(outcome);
        }
        let wake = host.wake_at();
        if wake != set_for {
            set_for = wake;
            timer.set(wake)?;
        }
        tokio::select! {
            // In this order, so that a flood of messages delays neither shutdown nor a deadline.
            biased;
            leave = &mut shutdown, if !stopping => {
                stopping = true;
                host.stop(clock.now(), leave);
                continue;
            }
            expired = poll_fn(|context| timer.poll_expired(context)) => {
                expired?;
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
        // A slice that took this long was interrupted by a stall too.
        let after = clock.now();
        seen = if after.since(now) >= STALL { now } else { after };
        if ended == Slice::Busy {
            yield_now().await;
        } else if catch_up.is_some() {
            // The slice may have opened connections; let the runtime poll them for readiness.
            yield_now().await;
            if poll_once(|context| host.poll_ready(context)).await.is_pending() {
                catch_up = None;
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slice {
    Idle,
    Busy,
}

// Deadlines are checked between any two pieces of work, unless `catches_up`.
fn slice(host: &mut Host, clock: &impl TimeSource, catches_up: bool) -> io::Result<Slice> {
    let begun = clock.now();
    loop {
        let now = clock.now();
        if !catches_up && host.elapse(now) && host.deadline().is_some_and(|deadline| deadline <= now) {
            // The room requests to be woken immediately again. Its peers are served in between.
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

async fn poll_once<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
    poll_fn(|context| Poll::Ready(poll(context))).await
}

async fn flush(host: &mut Host, clock: &impl TimeSource, timer: &mut impl Timer) -> io::Result<()> {
    let until = clock.now().plus(FLUSH);
    loop {
        let now = clock.now();
        if now >= until {
            warn!("cannot send the last messages in time");
            return Ok(());
        }
        // Retries even if the system does not report a socket as writable.
        timer.set(Some(now.plus(RETRY)))?;
        tokio::select! {
            biased;
            () = poll_fn(|context| host.poll_flush(now, context)) => return Ok(()),
            expired = poll_fn(|context| timer.poll_expired(context)) => expired?,
        }
    }
}

/// Waits for one of the signals in [`sigkit::ending`], or for Ctrl-C on systems without signals.
#[cfg(unix)]
pub fn shutdown() -> io::Result<impl Future<Output = ()>> {
    any_of(sigkit::ending())
}

/// Like `shutdown`, for a program that SIGHUP does not end.
#[cfg(unix)]
pub fn request_to_end() -> io::Result<impl Future<Output = ()>> {
    any_of(sigkit::REQUESTS.into_iter())
}

#[cfg(unix)]
fn any_of(signals: impl Iterator<Item = i32>) -> io::Result<impl Future<Output = ()>> {
    use std::{future::poll_fn, task::Poll};

    use tokio::signal::unix::{SignalKind, signal};

    // Registered here and not at the first poll, because a signal in between would kill the process.
    let mut signals = signals.map(|number| signal(SignalKind::from_raw(number))).collect::<io::Result<Vec<_>>>()?;
    Ok(poll_fn(move |context| {
        if signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }))
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub fn shutdown() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// Like `shutdown`.
#[cfg(not(unix))]
pub fn request_to_end() -> io::Result<impl Future<Output = ()>> {
    shutdown()
}
