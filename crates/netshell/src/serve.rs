//! The one server loop.

use std::{future::poll_fn, io, pin::pin, task::Poll};

use netcore::{Engine, Input, Outbox, Outcome};
use tokio::task::yield_now;

use crate::{Clock, alarm::Alarm};

/// A way in which peers reach an engine.
pub trait Transport<E: Engine> {
    /// Waits until [`Transport::pump`] has something to do. Nothing is lost when the wait is given up.
    fn ready(&mut self) -> impl Future<Output = io::Result<()>>;

    /// Hands what has arrived to the engine, a bounded batch, and carries out what follows from each piece.
    ///
    /// # Errors
    /// When the transport itself is broken; trouble with one peer is not an error.
    fn pump(&mut self, clock: &Clock, engine: &mut E, out: &mut Outbox) -> io::Result<()>;

    /// Carries out outputs in order. Never waits: what a peer cannot take is queued within a bound.
    fn deliver(&mut self, clock: &Clock, out: &mut Outbox);

    /// Waits for what is queued to go out, as long as that is sensible.
    fn flush(&mut self) -> impl Future<Output = ()>;

    /// The next text for standard output that the engine has made.
    fn take_summary(&mut self) -> Option<String>;
}

/// Drives `engine` until it has an outcome or `shutdown` is done, which it is told; gives the outcome.
///
/// Each summary of the engine goes to `summary`.
///
/// # Errors
/// When the transport or the timer breaks.
pub async fn serve<E, T>(
    mut engine: E,
    mut transport: T,
    shutdown: impl Future<Output = ()>,
    mut summary: impl FnMut(&str),
) -> io::Result<Outcome>
where
    E: Engine,
    T: Transport<E>,
{
    let clock = Clock::start();
    let mut out = Outbox::new();
    let mut shutdown = pin!(shutdown);
    // One timer for the whole run, set anew only when the deadline changes: most inputs leave it alone.
    let mut alarm = Alarm::new()?;
    let mut set_for = None;
    loop {
        let deadline = engine.deadline();
        if deadline != set_for {
            set_for = deadline;
            alarm.set(deadline.map(|deadline| clock.instant(deadline)))?;
        }
        tokio::select! {
            // In this order, so that a flood of messages delays neither the end nor a deadline.
            biased;
            () = &mut shutdown => engine.input(clock.now(), Input::Stop, &mut out),
            rung = alarm.rung() => {
                rung?;
                // Whatever the rounding, an engine is not woken early.
                let now = clock.now().max(set_for.unwrap_or_default());
                set_for = None;
                engine.input(now, Input::Elapsed, &mut out);
                // Whoever wants to be woken again and again at once still hears its peers in between.
                if engine.deadline().is_some_and(|deadline| deadline <= now) {
                    transport.deliver(&clock, &mut out);
                    yield_now().await;
                    if let Poll::Ready(ready) = poll_once(transport.ready()).await {
                        ready?;
                        transport.pump(&clock, &mut engine, &mut out)?;
                    }
                }
            }
            ready = transport.ready() => {
                ready?;
                transport.pump(&clock, &mut engine, &mut out)?;
                // The alarm is heard only when the loop waits, which it does not while peers keep it busy.
                let now = clock.now();
                if engine.deadline().is_some_and(|deadline| deadline <= now) {
                    transport.deliver(&clock, &mut out);
                    engine.input(now, Input::Elapsed, &mut out);
                }
            }
        }
        transport.deliver(&clock, &mut out);
        while let Some(text) = transport.take_summary() {
            summary(&text);
        }
        if let Some(outcome) = engine.outcome() {
            transport.flush().await;
            return Ok(outcome);
        }
    }
}

// What a future has to say without being waited for.
async fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    let mut future = pin!(future);
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}
