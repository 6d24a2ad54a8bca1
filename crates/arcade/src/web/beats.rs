//! What pages are sent, and that they are sent something now and then.

use std::time::Duration;

use axum::extract::ws::{Message, Utf8Bytes};
use futures_util::{Sink, SinkExt as _};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};

use super::connections::STALL;

/// How often a page is sent [`BEAT`], so that it notices a network that is dead without a word; see link.js.
const BEATS: Duration = Duration::from_secs(10);
/// A message of the hub that says nothing.
const BEAT: &str = "{}";
/// When beats are due.
pub(crate) fn beats() -> Interval {
    let mut beats = interval_at(Instant::now() + BEATS, BEATS);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beats
}

/// Tells a page that it is connected, and gives whether it has taken that in time.
pub(crate) async fn beat(sink: &mut (impl Sink<Message> + Unpin)) -> bool {
    send(sink, Message::Text(Utf8Bytes::from_static(BEAT))).await
}

/// Sends a message to a page, and gives whether it has taken it in time.
pub(crate) async fn send(sink: &mut (impl Sink<Message> + Unpin), message: Message) -> bool {
    matches!(timeout(STALL, sink.send(message)).await, Ok(Ok(())))
}
