//! The task of one WebSocket: it moves messages between the socket and the mailbox of its seat.

use std::sync::Arc;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, stream::SplitSink};
use netcore::{Rate, Time, TokenBucket};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};

use super::{
    asides::MAX_ASIDE,
    beats::{Beats, Pulse, beat, send},
};
use crate::{
    games::{Frames, Game},
    hub::following::{Guest, Said},
    room::{
        feed::Item,
        hub_room::Counters,
        info::PageNews,
        mailbox::{Ending, Mailbox, Next, Piece},
    },
};

/// Frames that are read from one browser, whatever they are: an empty one or a ping is one too.
const READ_RATE: Rate = Rate { per_second: 50, burst: 200 };
/// Bytes that are read from one browser; each frame counts [`FRAME`] more. The longest message fits into the burst.
const READ_BYTES: Rate = Rate { per_second: 64 << 10, burst: 256 << 10 };
/// What a frame costs besides its bytes.
const FRAME: u32 = 64;

/// The close code of a page by which a player leaves for good. With any other the seat is kept for a while.
const LEFT: u16 = 4000;

/// Close codes of the hub, from the range for applications. The page knows them too.
const fn code(ending: Ending) -> (u16, &'static str) {
    match ending {
        Ending::Closed => (1000, "the game is over for this seat"),
        Ending::Replaced => (4001, "this seat is played in another window now"),
        Ending::Expired => (4002, "this seat was given up meanwhile"),
        Ending::Full => (4003, "the room has no place for more browsers"),
        Ending::Refused => {
            (4004, "players from your address have had their share of this match; others may still join")
        }
        Ending::Removed => (4006, "the host of this hub has removed you from this room"),
        Ending::RemovedByOwner => (4006, "the owner of this room has removed you"),
        Ending::Banned => (4007, "the host of this hub has banned your address"),
        Ending::Locked => (4008, "the owner of this room has locked it: it takes no new players"),
        Ending::Held => (4010, "the free seats are kept for others for some seconds"),
        Ending::Private => (4009, "this room is for those who know its word"),
        Ending::Missing => (4011, "there is no such room, or it takes the code of its link"),
        Ending::Unclear => {
            (4005, "the first message has to say how the socket enters, as in {\"seat\": null, \"key\": null}")
        }
    }
}

/// What is said between the hub and a page beside the game.
pub(crate) struct Talk<F> {
    /// The first message of the hub.
    pub(crate) hello: String,
    pub(crate) news: PageNews,
    /// What this page is told besides.
    pub(crate) words: mpsc::Receiver<Arc<str>>,
    /// Hears what the page says to the hub.
    pub(crate) hear: F,
}

/// Runs until either side ends.
pub(crate) async fn run(
    socket: WebSocket,
    mailbox: Arc<Mailbox>,
    frames: Frames,
    talk: Talk<impl Fn(&str)>,
    counters: &Counters,
) {
    let (sink, stream) = socket.split();
    let Talk { hello, news, words, hear } = talk;
    let pulse = Pulse::default();
    tokio::select! {
        () = read((stream, &pulse), Some(&mailbox), frames, hear) => {}
        () = write((sink, &pulse), &mailbox, frames, (hello, news, words), counters) => {}
    }
    mailbox.leave();
}

/// Tells somebody who looks on what is published of a room of another node, until either side ends.
pub(crate) async fn look_on(socket: WebSocket, guest: Guest, game: Game, counters: &Counters) {
    let (sink, stream) = socket.split();
    // What those who look on say changes nothing in any game, so no room hears it.
    let pulse = Pulse::default();
    tokio::select! {
        () = read((stream, &pulse), None, game.frames(), |_: &str| {}) => {}
        () = tell((sink, &pulse), &guest, game.frames(), counters) => {}
    }
}

async fn tell(
    (mut sink, pulse): (SplitSink<WebSocket, Message>, &Pulse),
    guest: &Guest,
    frames: Frames,
    counters: &Counters,
) {
    let text = |text: Bytes| {
        let text = Utf8Bytes::try_from(text).unwrap_or_else(|error| error.to_string().into());
        Message::Text(text)
    };
    let mut beats = Beats::new(pulse);
    loop {
        let said = tokio::select! {
            biased;
            due = beats.due() => {
                if !beat(&mut sink, due).await {
                    return;
                }
                continue;
            }
            said = guest.next() => said,
        };
        let sent = match said {
            Said::Item(Item::Frame(frame)) => {
                counters.sent.inc();
                beats.spoke();
                send(&mut sink, message(frame, frames)).await
            }
            Said::Item(Item::News(told) | Item::Word(told)) => send(&mut sink, text(told)).await,
            Said::Item(Item::End(why)) | Said::End(Some(why)) => {
                send(&mut sink, close(why)).await;
                return;
            }
            Said::End(None) => return,
        };
        if !sent {
            return;
        }
    }
}

// Reads a frame only when all before it are paid for, so nothing of a flood is kept here.
async fn read<E>(
    (mut stream, pulse): (impl Stream<Item = Result<Message, E>> + Unpin, &Pulse),
    room: Option<&Mailbox>,
    frames: Frames,
    hear: impl Fn(&str),
) {
    let start = Instant::now();
    let now = || Time::ZERO.plus(start.elapsed());
    let (mut messages, mut bytes) = (TokenBucket::new(READ_RATE, now()), TokenBucket::new(READ_BYTES, now()));
    while let Some(Ok(message)) = pulse.read(stream.next()).await {
        let length = match &message {
            Message::Text(text) => text.len(),
            Message::Binary(bytes) | Message::Ping(bytes) | Message::Pong(bytes) => bytes.len(),
            Message::Close(_) => 0,
        };
        messages.charge(now(), 1);
        bytes.charge(now(), u32::try_from(length).unwrap_or(u32::MAX).saturating_add(FRAME));
        match taken(message, frames) {
            Taken::Message(message) => {
                if let Some(room) = room {
                    room.put(message).await;
                }
            }
            Taken::Aside(text) => hear(&text),
            Taken::Nothing => {}
            Taken::End { left } => {
                if let Some(room) = room.filter(|_| left) {
                    room.give_up();
                }
                return;
            }
        }
        let paid = messages.ready_at(now(), 1).max(bytes.ready_at(now(), FRAME));
        if let Some(paid) = paid.filter(|paid| *paid > now()) {
            sleep_until(start + paid.since(Time::ZERO)).await;
        }
    }
}

/// What a frame of a browser is.
enum Taken {
    Message(BytesMut),
    /// Something for the hub, which no message of a game begins like.
    Aside(Utf8Bytes),
    Nothing,
    End {
        left: bool,
    },
}

fn taken(message: Message, frames: Frames) -> Taken {
    let mut bytes = match message {
        Message::Text(text) if text.starts_with('{') => {
            return if text.len() <= MAX_ASIDE { Taken::Aside(text) } else { Taken::Nothing };
        }
        Message::Text(text) if frames != Frames::Binary => BytesMut::from(text.as_bytes()),
        Message::Binary(bytes) if frames == Frames::Binary => BytesMut::from(&bytes[..]),
        Message::Close(close) => {
            return Taken::End { left: close.is_some_and(|close| close.code == LEFT) };
        }
        // Pings are answered by the library; frames of the other kind are not part of the protocol.
        _ => return Taken::Nothing,
    };
    if frames == Frames::ZeroEndedText {
        bytes.extend_from_slice(b"\0");
    }
    // An empty message is none to a room.
    if bytes.is_empty() { Taken::Nothing } else { Taken::Message(bytes) }
}

async fn write(
    (mut sink, pulse): (SplitSink<WebSocket, Message>, &Pulse),
    mailbox: &Mailbox,
    frames: Frames,
    (hello, mut news, mut words): (String, PageNews, mpsc::Receiver<Arc<str>>),
    counters: &Counters,
) {
    if !send(&mut sink, Message::Text(hello.into())).await {
        return;
    }
    let mut open = true;
    let mut beats = Beats::new(pulse);
    loop {
        tokio::select! {
            biased;
            due = beats.due() => {
                if !beat(&mut sink, due).await {
                    return;
                }
            }
            Some(word) = words.recv() => {
                if !send(&mut sink, Message::Text((*word).into())).await {
                    return;
                }
            }
            next = mailbox.next() => match next {
                Next::Piece(Piece::Frame(frame)) => {
                    if !send(&mut sink, message(frame, frames)).await {
                        return;
                    }
                    counters.sent.inc();
                    beats.spoke();
                }
                Next::Piece(Piece::History(log)) => {
                    for frame in log.frames() {
                        if !send(&mut sink, message(frame, frames)).await {
                            return;
                        }
                        counters.sent.inc();
                    }
                }
                Next::End(ending) => {
                    if let Some(room) = news.closing() {
                        send(&mut sink, Message::Text(room.into())).await;
                    }
                    send(&mut sink, close(ending)).await;
                    return;
                }
            },
            // Everything queued is written, and nothing follows. The page reconnects, unless the room has closed the mailbox.
            () = std::future::ready(()), if !open => return,
            changed = news.changed() => {
                if changed.is_err() {
                    open = false;
                    continue;
                }
                let room = news.room();
                if !send(&mut sink, Message::Text((*room).into())).await {
                    return;
                }
                if let Some(own) = news.own()
                    && !send(&mut sink, Message::Text(format!(r#"{{"own":{own}}}"#).into())).await
                {
                    return;
                }
            }
        }
    }
}

/// Ends a socket that was not let in.
pub(crate) async fn end(mut socket: WebSocket, ending: Ending) {
    send(&mut socket, close(ending)).await;
}

fn close(ending: Ending) -> Message {
    let (code, reason) = code(ending);
    Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::from_static(reason) }))
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

#[cfg(test)]
mod tests;
