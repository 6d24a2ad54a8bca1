//! Event streams, for networks that block `WebSocket`. `GET` of a socket's address with `Arcade-Stream: open` opens one,
//! and `POST /frames` with the stream's name in that header sends frames to the hub. No other site may send this
//! header.
//!
//! ```text
//! < event: open     data: "NAME"                              first
//! <                 data: "TEXT"                              a text frame as a JSON string
//! < event: binary   data: "BASE64"                            a binary frame
//! < event: ping     data: ""                                  any POST answers it
//! < event: close    data: {"code":4001,"reason":"TEXT"}       last
//! > {"first":7,"frames":["TEXT",{"binary":"BASE64"},{"close":4000}]}
//! < {"next":10}
//! ```
//!
//! `first` is the number of the first frame, counted from 0. The hub takes frames in order and once: it skips known
//! frames, and takes none after a gap or when the queue is full. `next` is the number of the first missing frame, from
//! which the client repeats.

use std::{
    collections::HashMap,
    convert::Infallible,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Error,
    extract::ws::{Message, WebSocket},
    http::HeaderMap,
    response::sse::Event,
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use futures_util::{Sink, SinkExt as _, Stream, StreamExt as _, sink, stream};
use netcore::{HostId, Rate, Time, TokenBucket};
use rand::{TryRng as _, rngs::SysRng};
use serde_json::json;
use tokio::{sync::mpsc, time::Instant};
use tracing::warn;

pub(super) const PATH: &str = "/frames";
const HEADER: &str = "arcade-stream";
/// Requests a new stream.
const OPEN: &str = "open";
/// Of one stream. A page sends them one after the other, at most every 50 ms.
const POSTS: Rate = Rate { per_second: 20, burst: 60 };
/// Unread frames of a stream, each at most as long as a message of a WebSocket.
const QUEUE: usize = 4;

/// The connection of a page: a WebSocket or its replacement.
pub(crate) enum PageSocket {
    Web(Box<WebSocket>),
    Events(EventSocket),
}

pub(crate) struct EventSocket {
    frames: mpsc::Receiver<Message>,
    events: Pin<Box<dyn Sink<Message, Error = Error> + Send>>,
}

impl Stream for PageSocket {
    type Item = Result<Message, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.get_mut() {
            Self::Web(socket) => socket.poll_next_unpin(context),
            Self::Events(socket) => socket.frames.poll_recv(context).map(|frame| frame.map(Ok)),
        }
    }
}

impl Sink<Message> for PageSocket {
    type Error = Error;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match self.get_mut() {
            Self::Web(socket) => socket.poll_ready_unpin(context),
            Self::Events(socket) => socket.events.poll_ready_unpin(context),
        }
    }

    fn start_send(self: Pin<&mut Self>, message: Message) -> Result<(), Error> {
        match self.get_mut() {
            Self::Web(socket) => socket.start_send_unpin(message),
            Self::Events(socket) => socket.events.start_send_unpin(message),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match self.get_mut() {
            Self::Web(socket) => socket.poll_flush_unpin(context),
            Self::Events(socket) => socket.events.poll_flush_unpin(context),
        }
    }

    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match self.get_mut() {
            Self::Web(socket) => socket.poll_close_unpin(context),
            Self::Events(socket) => socket.events.poll_close_unpin(context),
        }
    }
}

pub(super) fn opens_stream(headers: &HeaderMap) -> bool {
    headers.get(HEADER).is_some_and(|value| value == OPEN)
}

/// `None` if the arcade has only one hub.
pub(super) fn node_of(headers: &HeaderMap) -> Option<&str> {
    Some(headers.get(HEADER)?.to_str().ok()?.rsplit_once('.')?.0)
}

/// By name, which only the page of the stream knows.
#[derive(Debug)]
pub(crate) struct EventStreams {
    // The name of this node and a period, or empty.
    prefix: String,
    start: Instant,
    inboxes: Mutex<HashMap<String, Inbox>>,
}

impl EventStreams {
    pub(super) fn new(node: Option<&str>) -> Arc<Self> {
        let prefix = node.map_or_else(String::new, |node| format!("{node}."));
        Arc::new(Self { prefix, start: Instant::now(), inboxes: Mutex::default() })
    }

    // The events end when the socket is dropped, and the frames when the events are. `None` if the system provides no
    // random numbers.
    pub(super) fn open(
        self: &Arc<Self>,
        host: HostId,
        max_message: usize,
    ) -> Option<(EventSocket, impl Stream<Item = Result<Event, Infallible>> + use<>)> {
        let mut secret = [0; 16];
        if let Err(error) = SysRng.try_fill_bytes(&mut secret) {
            warn!(%error, "cannot open an event stream: the system provides no random numbers");
            return None;
        }
        let name = format!("{}{}", self.prefix, URL_SAFE_NO_PAD.encode(secret));
        let (queue, frames) = mpsc::channel(QUEUE);
        // One event, since the connection has buffers of its own.
        let (events, mut receiver) = mpsc::channel(1);
        let posts = TokenBucket::new(POSTS, self.now());
        self.with(|inboxes| inboxes.insert(name.clone(), Inbox { host, max_message, posts, next: 0, queue }));
        let first = Event::default().event("open").json_data(&name).ok()?;
        let guard = OpenStream { streams: Arc::clone(self), name };
        let rest = stream::poll_fn(move |context| {
            let _ = &guard;
            receiver.poll_recv(context).map(|event| event.map(Ok))
        });
        let events = sink::unfold(events, async |events: mpsc::Sender<Event>, message| {
            events.send(event(message)?).await.map_err(Error::new)?;
            Ok(events)
        });
        Some((EventSocket { frames, events: Box::pin(events) }, stream::iter([Ok(first)]).chain(rest)))
    }

    fn now(&self) -> Time {
        Time::ZERO.plus(self.start.elapsed())
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<String, Inbox>) -> T) -> T {
        work(&mut self.inboxes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Charges a POST to its stream. `None` if this host has no such stream; the error is the delay until the next
    /// POST.
    pub(super) fn charge(&self, headers: &HeaderMap, host: HostId) -> Option<Result<(), Duration>> {
        let name = headers.get(HEADER)?.to_str().ok()?;
        let now = self.now();
        self.with(|inboxes| {
            let posts = &mut inboxes.get_mut(name).filter(|inbox| inbox.host == host)?.posts;
            let wait = |ready: Option<Time>| ready.map_or(Duration::ZERO, |ready| ready.since(now));
            Some(if posts.take(now, 1) { Ok(()) } else { Err(wait(posts.ready_at(now, 1))) })
        })
    }

    /// Passes frames, numbered from `first`, to a stream of this host. Returns the number of the first missing frame,
    /// or `None` if the stream has ended, as it does after a frame that is too long.
    pub(super) fn take(&self, headers: &HeaderMap, host: HostId, first: u64, frames: Vec<Message>) -> Option<u64> {
        let name = headers.get(HEADER)?.to_str().ok()?;
        self.with(|inboxes| {
            let taken = inboxes.get_mut(name).filter(|inbox| inbox.host == host)?.take(first, frames);
            if taken.is_err() {
                inboxes.remove(name);
            }
            taken.ok()
        })
    }
}

struct OpenStream {
    streams: Arc<EventStreams>,
    name: String,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.streams.with(|inboxes| inboxes.remove(&self.name));
    }
}

fn event(message: Message) -> Result<Event, Error> {
    let event = Event::default();
    match message {
        Message::Text(text) => event.json_data(text.as_str()),
        Message::Binary(bytes) => event.event("binary").json_data(STANDARD.encode(bytes)),
        Message::Ping(_) | Message::Pong(_) => event.event("ping").json_data(""),
        Message::Close(close) => {
            let (code, reason) = close.map_or((1005, "".into()), |close| (close.code, close.reason));
            event.event("close").json_data(json!({ "code": code, "reason": reason.as_str() }))
        }
    }
}

#[derive(Debug)]
struct Inbox {
    host: HostId,
    max_message: usize,
    posts: TokenBucket,
    // The number of the first frame that was not taken.
    next: u64,
    queue: mpsc::Sender<Message>,
}

/// A frame is too long, or its stream has ended.
#[derive(Debug, PartialEq, Eq)]
struct Ended;

impl Inbox {
    fn take(&mut self, first: u64, frames: Vec<Message>) -> Result<u64, Ended> {
        let before = self.next;
        if let Some(known) = self.next.checked_sub(first) {
            for frame in frames.into_iter().skip(usize::try_from(known).unwrap_or(usize::MAX)) {
                let length = match &frame {
                    Message::Text(text) => text.len(),
                    Message::Binary(bytes) => bytes.len(),
                    _ => 0,
                };
                if length > self.max_message {
                    return Err(Ended);
                }
                match self.queue.try_send(frame) {
                    Ok(()) => self.next += 1,
                    Err(mpsc::error::TrySendError::Full(_)) => break,
                    Err(mpsc::error::TrySendError::Closed(_)) => return Err(Ended),
                }
            }
        }
        // Any frame counts as an answer to pings.
        if self.next == before && self.queue.capacity() == QUEUE {
            let _ = self.queue.try_send(Message::Pong("".into()));
        }
        Ok(self.next)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_pcg::Pcg64Mcg;
    use tokio::time::timeout;

    use super::*;

    const ANN: HostId = HostId::V4([10, 0, 0, 1]);
    const EVE: HostId = HostId::V4([10, 0, 0, 2]);

    fn inbox() -> (Inbox, mpsc::Receiver<Message>) {
        let (queue, frames) = mpsc::channel(QUEUE);
        (Inbox { host: ANN, max_message: 9, posts: TokenBucket::new(POSTS, Time::ZERO), next: 0, queue }, frames)
    }

    fn numbered(range: std::ops::Range<u64>) -> Vec<Message> {
        range.map(|number| Message::text(number.to_string())).collect()
    }

    fn received(frames: &mut mpsc::Receiver<Message>) -> Vec<u64> {
        let texts = std::iter::from_fn(|| frames.try_recv().ok()).filter(|frame| !matches!(frame, Message::Pong(_)));
        texts.map(|text| text.into_text().unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn frames_are_taken_in_order_and_once() {
        let (mut inbox, mut frames) = inbox();
        assert_eq!(inbox.take(1, numbered(1..3)), Ok(0), "the first one is missing");
        assert_eq!(inbox.take(u64::MAX, numbered(0..1)), Ok(0));
        assert_eq!(inbox.take(0, vec![]), Ok(0));
        assert!(matches!(frames.try_recv(), Ok(Message::Pong(_))) && frames.try_recv().is_err());
        assert_eq!(inbox.take(0, numbered(0..2)), Ok(2));
        assert_eq!(inbox.take(0, numbered(0..2)), Ok(2), "repeated");
        assert_eq!(inbox.take(1, numbered(1..4)), Ok(4), "one of them is repeated");
        assert_eq!(inbox.take(4, numbered(4..9)), Ok(4), "the queue is full");
        assert_eq!(received(&mut frames), [0, 1, 2, 3]);
        assert_eq!(inbox.take(4, numbered(4..9)), Ok(8), "it has space for some");
        assert_eq!(received(&mut frames), [4, 5, 6, 7]);
        assert_eq!(inbox.take(8, vec![Message::text("x".repeat(10))]), Err(Ended), "too long");
        drop(frames);
        assert_eq!(inbox.take(8, numbered(8..9)), Err(Ended));
    }

    #[test]
    fn lost_repeated_and_reordered_posts_deliver_all_frames() {
        for seed in 0..200 {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let (mut inbox, mut frames) = inbox();
            let (mut missing, mut delivered, mut flying) = (0, vec![], vec![]);
            while delivered.len() < 100 {
                let end = (missing + random.random_range(0..30)).min(100);
                flying.push(missing..end);
                match random.random_range(0..4) {
                    0 => drop(flying.pop()),
                    1 => flying.extend(flying.last().cloned()),
                    _ => {}
                }
                while random.random_bool(0.6) && !flying.is_empty() {
                    let post = flying.swap_remove(random.random_range(0..flying.len()));
                    let next = inbox.take(post.start, numbered(post)).unwrap();
                    // Responses are lost, too.
                    if random.random_bool(0.8) {
                        missing = next;
                    }
                }
                delivered.extend(received(&mut frames));
            }
            assert_eq!(delivered, (0..100).collect::<Vec<_>>(), "seed {seed}");
        }
    }

    fn open(streams: &Arc<EventStreams>) -> (HeaderMap, EventSocket, impl Stream + use<>) {
        let (socket, events) = streams.open(ANN, 9).unwrap();
        let name = streams.with(|inboxes| inboxes.keys().next().unwrap().clone());
        (HeaderMap::from_iter([(HEADER.parse().unwrap(), HeaderValue::try_from(name).unwrap())]), socket, events)
    }

    #[tokio::test(start_paused = true)]
    async fn posts_are_charged_to_their_stream() {
        let streams = EventStreams::new(Some("node-1"));
        let (headers, _socket, _events) = open(&streams);
        assert_eq!(node_of(&headers), Some("node-1"));
        assert!(streams.charge(&headers, EVE).is_none(), "another host");
        assert!(streams.charge(&HeaderMap::new(), ANN).is_none());
        let accepted = (0..10_000).filter(|_| streams.charge(&headers, ANN) == Some(Ok(()))).count();
        assert_eq!(accepted, 60);
        tokio::time::advance(Duration::from_secs(1)).await;
        let accepted = (0..10_000).filter(|_| streams.charge(&headers, ANN) == Some(Ok(()))).count();
        assert_eq!(accepted, 20);
    }

    #[tokio::test(start_paused = true)]
    async fn unread_stream_is_dropped_and_closed_stream_ends_its_frames() {
        let streams = EventStreams::new(None);
        let (_, socket, events) = open(&streams);
        let mut socket = PageSocket::Events(socket);
        let start = Instant::now();
        while matches!(timeout(Duration::from_secs(30), socket.send(Message::text("{}"))).await, Ok(Ok(()))) {
            assert!(start.elapsed() < Duration::from_hours(1), "it is served without being read");
        }
        drop(events);
        assert!(socket.next().await.is_none());
        assert!(streams.with(|inboxes| inboxes.is_empty()));
        // The events end with the task of the page.
        let (_, socket, events) = open(&streams);
        drop(socket);
        assert_eq!(events.count().await, 1);
    }
}
