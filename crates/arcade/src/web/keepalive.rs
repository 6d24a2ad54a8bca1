//! Messages show a client that it is connected, and pings show the hub that the client still is.

use std::{
    mem,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use axum::extract::ws::{Message, Utf8Bytes};
use bytes::Bytes;
use futures_util::{Sink, SinkExt as _};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};

use super::connections::STALL;

/// A page receives a message at least every two periods, so that it notices a dead network; see link.js.
const PERIOD: Duration = Duration::from_secs(1);
const BEAT: &str = "{}";
/// Periods between pings, which all `WebSocket` libraries answer. `TCP_USER_TIMEOUT` does not detect a client that has
/// vanished behind a proxy.
const PING_EVERY: u32 = 10;
/// If this many pings are unanswered, the next one fails: 20 to 30 seconds after the client has vanished.
const MAX_UNANSWERED: u32 = 2;
/// Replaces the number of unanswered pings while the client is not read.
const UNREAD: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct Pulse(AtomicU32);

impl Pulse {
    /// Any message is an answer. Until the next call pings count as answered, because the client is not read.
    pub(crate) async fn read<T>(&self, next: impl Future<Output = T>) -> T {
        // A cancelled call leaves the number of unanswered pings.
        let _ = self.0.compare_exchange(UNREAD, 0, Ordering::Relaxed, Ordering::Relaxed);
        let message = next.await;
        self.0.store(UNREAD, Ordering::Relaxed);
        message
    }

    // Returns `false` if the client counts as disconnected.
    fn ping(&self) -> bool {
        let count = |unanswered| (unanswered < MAX_UNANSWERED).then(|| unanswered + 1);
        let counted = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        matches!(counted, Ok(_) | Err(UNREAD))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beat {
    Idle,
    Ping,
    /// The client does not answer pings.
    Gone,
}

pub(crate) struct Beats<'a> {
    interval: Interval,
    periods: u32,
    spoke: bool,
    pulse: &'a Pulse,
}

impl<'a> Beats<'a> {
    pub(crate) fn new(pulse: &'a Pulse) -> Self {
        let mut interval = interval_at(Instant::now() + PERIOD, PERIOD);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { interval, periods: 0, spoke: false, pulse }
    }

    /// Skips the next empty message, since another one was sent.
    pub(crate) fn spoke(&mut self) {
        self.spoke = true;
    }

    /// Waits until a ping is due, or no message was sent for one to two periods. Cancellation safe.
    pub(crate) async fn due(&mut self) -> Beat {
        loop {
            self.interval.tick().await;
            self.periods += 1;
            if self.periods >= PING_EVERY {
                self.periods = 0;
                return if self.pulse.ping() { Beat::Ping } else { Beat::Gone };
            }
            if !mem::take(&mut self.spoke) {
                return Beat::Idle;
            }
        }
    }
}

/// Returns whether the client has accepted the message in time. Pages do not see pings, so they also receive an empty
/// message.
pub(crate) async fn beat(sink: &mut (impl Sink<Message> + Unpin), due: Beat) -> bool {
    let idle = Message::Text(Utf8Bytes::from_static(BEAT));
    match due {
        Beat::Idle => send(sink, idle).await,
        Beat::Ping => send(sink, Message::Ping(Bytes::new())).await && send(sink, idle).await,
        Beat::Gone => false,
    }
}

/// Returns whether the client has accepted the message in time.
pub(crate) async fn send(sink: &mut (impl Sink<Message> + Unpin), message: Message) -> bool {
    matches!(timeout(STALL, sink.send(message)).await, Ok(Ok(())))
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    // Returns the seconds until the client is considered disconnected.
    async fn seconds_until_gone(pulse: &Pulse, read: impl AsyncFn()) -> u64 {
        let start = Instant::now();
        let mut beats = Beats::new(pulse);
        let reading = async {
            loop {
                read().await;
            }
        };
        let beating = async { while beats.due().await != Beat::Gone {} };
        tokio::select! {
            () = reading => unreachable!("it reads forever"),
            () = beating => start.elapsed().as_secs(),
            () = tokio::time::sleep(Duration::from_mins(10)) => 600,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_misses_two_pings_is_gone_after_thirty_seconds() {
        let pulse = Pulse::default();
        assert_eq!(seconds_until_gone(&pulse, async || pulse.read(pending()).await).await, 30);
        let pulse = Pulse::default();
        let answers = async || pulse.read(tokio::time::sleep(Duration::from_secs(19))).await;
        assert_eq!(seconds_until_gone(&pulse, answers).await, 600, "an answer to every other ping is enough");
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_is_not_read_is_not_gone() {
        let pulse = Pulse::default();
        let floods = async || {
            pulse.read(ready(())).await;
            // As if the queue of the room were full.
            tokio::time::sleep(Duration::from_mins(2)).await;
        };
        assert_eq!(seconds_until_gone(&pulse, floods).await, 600);
    }

    #[tokio::test(start_paused = true)]
    async fn cancelled_reads_answer_no_ping() {
        let pulse = Pulse::default();
        let cancelled = async || {
            let _ = timeout(Duration::from_millis(10), pulse.read(pending::<()>())).await;
        };
        assert_eq!(seconds_until_gone(&pulse, cancelled).await, 30);
    }
}
