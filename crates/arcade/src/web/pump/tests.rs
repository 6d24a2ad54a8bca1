//! The reader of a socket beside a flood of frames. The clock is not the real one.

use std::{
    cell::Cell,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::timeout;

use super::*;
use crate::room::mailbox::Ready;

/// A socket that always has another frame, and counts those that were read.
struct Flood<'a>(Message, &'a Cell<u64>);

impl Stream for Flood<'_> {
    type Item = Result<Message, ()>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.1.set(self.1.get() + 1);
        Poll::Ready(Some(Ok(self.0.clone())))
    }
}

#[tokio::test(start_paused = true)]
async fn every_frame_costs_whatever_it_is() {
    let ping = |length: usize| Message::Ping(vec![0; length].into());
    let of_text = [Message::text(""), Message::binary(vec![]), Message::binary(vec![1; 9]), ping(0), ping(125)];
    let of_bytes = [Message::binary(vec![]), Message::text(""), Message::text("x"), ping(0)];
    let both = of_text.map(|message| (message, Frames::Text)).into_iter();
    for (message, frames) in both.chain(of_bytes.map(|message| (message, Frames::Binary))) {
        let (read_frames, line) = (Cell::new(0), Mailbox::new(Arc::new(Ready::default())));
        let pulse = Pulse::default();
        let reading = read((Flood(message.clone(), &read_frames), &pulse), Some(&line), frames, |_| {});
        let ended = timeout(Duration::from_secs(10), reading).await;
        assert!(ended.is_err() && line.take().is_none(), "{message:?}");
        assert!((600..=702).contains(&read_frames.get()), "{} frames of {message:?}", read_frames.get());
    }
}

#[tokio::test(start_paused = true)]
async fn long_frames_cost_their_bytes() {
    let (read_frames, line) = (Cell::new(0), Mailbox::new(Arc::new(Ready::default())));
    let flood = Flood(Message::binary(vec![0; 60_000]), &read_frames);
    let pulse = Pulse::default();
    let ended = timeout(Duration::from_secs(10), read((flood, &pulse), Some(&line), Frames::Text, |_| {})).await;
    assert!(ended.is_err());
    // The burst holds four of them, and in ten seconds there is room for eleven more.
    assert!((14..=17).contains(&read_frames.get()), "{} frames", read_frames.get());
}
