//! What pages are sent, and that they are sent something now and then.

use std::{mem, time::Duration};

use axum::extract::ws::{Message, Utf8Bytes};
use futures_util::{Sink, SinkExt as _};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};

use super::connections::STALL;

/// How often a page is sent [`BEAT`] if it is sent nothing else, so that it notices a network that is dead without a word; see
/// link.js.
const PERIOD: Duration = Duration::from_secs(1);
/// A message of the hub that says nothing.
const BEAT: &str = "{}";

/// When a page is to be sent a beat.
pub(crate) struct Beats {
    interval: Interval,
    spoke: bool,
}

impl Beats {
    pub(crate) fn new() -> Self {
        let mut interval = interval_at(Instant::now() + PERIOD, PERIOD);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { interval, spoke: false }
    }

    /// The page was sent something, so the next beat is not needed.
    pub(crate) fn spoke(&mut self) {
        self.spoke = true;
    }

    /// Waits until the page has been sent nothing for a period, or almost two.
    pub(crate) async fn due(&mut self) {
        loop {
            self.interval.tick().await;
            if !mem::take(&mut self.spoke) {
                return;
            }
        }
    }
}

/// Tells a page that it is connected, and gives whether it has taken that in time.
pub(crate) async fn beat(sink: &mut (impl Sink<Message> + Unpin)) -> bool {
    send(sink, Message::Text(Utf8Bytes::from_static(BEAT))).await
}

/// Sends a message to a page, and gives whether it has taken it in time.
pub(crate) async fn send(sink: &mut (impl Sink<Message> + Unpin), message: Message) -> bool {
    matches!(timeout(STALL, sink.send(message)).await, Ok(Ok(())))
}
