//! The task of one WebSocket: it moves messages between the socket and the line of its seat.

use std::sync::Arc;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use bytes::{Bytes, BytesMut};
use futures_util::{
    StreamExt as _,
    stream::{SplitSink, SplitStream},
};
use netcore::{Rate, Time, TokenBucket};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::beats::{beat, beats, send};
use crate::{
    games::Frames,
    room::{
        counters::Counters,
        info::Info,
        mailbox::{Ending, Mailbox, Next, Piece},
    },
};

/// Messages that are read from one browser.
const READ_RATE: Rate = Rate { per_second: 50, burst: 200 };

/// The close code of a page by which a player leaves for good. With any other the seat is kept for a while.
const LEFT: u16 = 4000;

/// Close codes of the hub, from the range for applications. The page knows them too.
const fn code(ending: Ending) -> (u16, &'static str) {
    match ending {
        Ending::Closed => (1000, "the game is over for this seat"),
        Ending::Replaced => (4001, "this seat is played in another window now"),
        Ending::Expired => (4002, "this seat was given up meanwhile"),
        Ending::Full => (4003, "the room has no place for more browsers"),
    }
}

/// Runs until either side ends. `hello` is the first message of the hub to the page.
pub(crate) async fn run(
    socket: WebSocket,
    line: Arc<Mailbox>,
    frames: Frames,
    hello: String,
    info: watch::Receiver<Info>,
    counters: &Counters,
) {
    let (sink, stream) = socket.split();
    tokio::select! {
        () = read(stream, &line, frames) => {}
        () = write(sink, &line, frames, hello, info, counters) => {}
    }
    line.leave();
}

async fn read(mut stream: SplitStream<WebSocket>, line: &Mailbox, frames: Frames) {
    let start = Instant::now();
    let now = || Time::ZERO.plus(start.elapsed());
    let mut bucket = TokenBucket::new(READ_RATE, now());
    while let Some(Ok(message)) = stream.next().await {
        let mut bytes = match message {
            Message::Text(text) if frames != Frames::Binary => BytesMut::from(text.as_bytes()),
            Message::Binary(bytes) if frames == Frames::Binary => BytesMut::from(&bytes[..]),
            Message::Close(Some(CloseFrame { code: LEFT, .. })) => {
                line.give_up();
                return;
            }
            Message::Close(_) => return,
            // Pings are answered by the library; frames of the other kind are not part of the protocol.
            _ => continue,
        };
        if frames == Frames::ZeroEndedText {
            bytes.extend_from_slice(b"\0");
        }
        // An empty message is none to a room.
        if bytes.is_empty() {
            continue;
        }
        if let Some(ready) = bucket.ready_at(now(), 1) {
            sleep_until(start + ready.since(Time::ZERO)).await;
        }
        bucket.take(now(), 1);
        line.put(bytes).await;
    }
}

async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    line: &Mailbox,
    frames: Frames,
    hello: String,
    mut info: watch::Receiver<Info>,
    counters: &Counters,
) {
    if !send(&mut sink, Message::Text(hello.into())).await {
        return;
    }
    let mut open = true;
    let mut beats = beats();
    loop {
        tokio::select! {
            biased;
            _ = beats.tick() => {
                if !beat(&mut sink).await {
                    return;
                }
            }
            next = line.next() => match next {
                Next::Piece(Piece::Frame(frame)) => {
                    if !send(&mut sink, message(frame, frames)).await {
                        return;
                    }
                    counters.sent();
                }
                Next::Piece(Piece::History(log)) => {
                    for frame in log.frames() {
                        if !send(&mut sink, message(frame, frames)).await {
                            return;
                        }
                        counters.sent();
                    }
                }
                Next::End(ending) => {
                    let (code, reason) = code(ending);
                    let close = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
                    send(&mut sink, Message::Close(Some(close))).await;
                    return;
                }
            },
            // Everything queued is written, and nothing follows. The page reconnects, unless the room has closed the line.
            () = std::future::ready(()), if !open => return,
            changed = info.changed() => {
                if changed.is_err() {
                    open = false;
                    continue;
                }
                let text = serde_json::json!({ "room": *info.borrow_and_update() }).to_string();
                if !send(&mut sink, Message::Text(text.into())).await {
                    return;
                }
            }
        }
    }
}

fn message(frame: Bytes, frames: Frames) -> Message {
    if frames == Frames::Binary {
        return Message::Binary(frame);
    }
    let frame = if frame.last() == Some(&0) { frame.slice(..frame.len() - 1) } else { frame };
    // Servers send ASCII; anything else would be a fault of the room, which must not end the socket.
    match Utf8Bytes::try_from(frame.clone()) {
        Ok(text) => Message::Text(text),
        Err(_) => Message::Text(String::from_utf8_lossy(&frame).into_owned().into()),
    }
}
