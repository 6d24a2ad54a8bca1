//! The sockets of rooms: each carries the protocol of its game, and messages of the hub. `/rooms/ID/socket` is for a
//! new player, or a watcher with `?watch=true`. With `?enter=true` the first message is an [`Entry`] as JSON:
//! addresses are written into logs, so they must not contain secrets.

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{
    extract::{
        Path, Query, State,
        ws::{CloseFrame, Message, Utf8Bytes},
    },
    http::StatusCode,
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use futures_util::{Sink, Stream, StreamExt as _, stream::SplitSink};
use netcore::{Rate, Role, Time, TokenBucket};
use serde::Deserialize;
use serde_json::json;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until, timeout},
};
use tracing::warn;

use super::{
    caller::{Caller, SocketPermit},
    event_stream::PageSocket,
    keepalive::{Beats, Pulse, beat, send},
    names::{self, KeyHash},
    page_socket::PageUpgrade,
};
use crate::{
    games::{Frames, Game},
    hub::{
        Hub,
        codes::{AttemptResult, Proof},
        resources::Slot,
        secret::Ticket,
        subscription::{NextMessage, Subscription},
    },
    room::{
        Room,
        feed::Item,
        hub_room::Counters,
        info::PageNews,
        mailbox::{CloseReason, Mailbox, Next, Piece},
    },
};

/// The size of the longest datagram.
pub(super) const MAX_MESSAGE: usize = 65_507;
/// How long the first message of a socket may take.
pub(super) const ENTRY: Duration = Duration::from_secs(5);
/// The longest first message, in bytes.
const MAX_ENTRY: usize = 1 << 10;
/// Only pings may precede the first message.
const MAX_ENTRY_FRAMES: usize = 4;

/// How long a socket waits for the room before its page is notified.
const PATIENCE: Duration = Duration::from_secs(1);
const WAITING: &str = r#"{"waiting":true}"#;

#[derive(Debug, Deserialize)]
pub(crate) struct SocketQuery {
    #[serde(default)]
    pub(super) watch: bool,
    /// Whether the first message is an [`Entry`].
    #[serde(default)]
    pub(super) enter: bool,
    // Rejected, because addresses must not contain secrets.
    pub(super) seat: Option<String>,
    pub(super) key: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Entry {
    /// The token of a seat.
    seat: Option<String>,
    /// The key that owns its names.
    key: Option<String>,
    watch: bool,
    /// The token of the player's previous seat.
    past: Option<String>,
    owner: Option<String>,
    /// Leaves the seat to another window that is connected.
    yields: bool,
    /// The code of the room's link, or its word.
    code: Option<String>,
    word: Option<String>,
}

impl Entry {
    /// Whether it watches without proof of anything.
    pub(super) const fn only_looks_on(&self) -> bool {
        self.watch && self.owner.is_none()
    }
}

pub(crate) async fn socket(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    Query(query): Query<SocketQuery>,
    SocketPermit { caller, place }: SocketPermit,
    upgrade: PageUpgrade,
) -> Response {
    if query.seat.is_some() || query.key.is_some() {
        let text = "Addresses are written into logs: open the socket with ?enter=true, and send seat and key in the first message.\n";
        return (StatusCode::BAD_REQUEST, text).into_response();
    }
    let room = hub.rooms.get(&id);
    if !query.enter {
        match &room {
            Some(room) if room.access.is_public() => {}
            Some(room) if room.access.is_listed() => {
                let text =
                    "This room takes a word: open the socket with ?enter=true, and send it in the first message.\n";
                return (StatusCode::FORBIDDEN, text).into_response();
            }
            _ => return (StatusCode::NOT_FOUND, "There is no such room.\n").into_response(),
        }
    }
    upgrade.on_upgrade(MAX_MESSAGE, async move |mut socket| {
        let entry = if query.enter {
            let Ok(Some(entry)) = timeout(ENTRY, first(&mut socket)).await else {
                return end(socket, CloseReason::Unclear).await;
            };
            entry
        } else {
            Entry { watch: query.watch, ..Entry::default() }
        };
        enter((socket, place), &hub, &id, room, caller, entry).await;
    })
}

// `None` if the first message is not an entry.
pub(super) async fn first(socket: &mut PageSocket) -> Option<Entry> {
    for _ in 0..MAX_ENTRY_FRAMES {
        match socket.next().await?.ok()? {
            Message::Text(text) if text.len() <= MAX_ENTRY => return serde_json::from_str(&text).ok(),
            Message::Ping(_) | Message::Pong(_) => {}
            _ => return None,
        }
    }
    None
}

// A missing room is answered like an unlisted one, whose code is in the first message.
#[expect(clippy::too_many_lines, reason = "a sequence of steps that share their results")]
async fn enter(
    (mut socket, mut place): (PageSocket, Slot),
    hub: &Hub,
    id: &str,
    room: Option<Arc<Room>>,
    caller: Caller,
    entry: Entry,
) {
    let Some(key) = entry.key.as_deref().map(KeyHash::of).map_or(Some(None), |key| key.map(Some)) else {
        return end(socket, CloseReason::Unclear).await;
    };
    let proof = Proof {
        code: entry.code,
        word: entry.word,
        owner: entry.owner.clone(),
        seat: entry.seat.clone().or_else(|| entry.past.clone()),
        key: key.map(|key| key.0),
    };
    let is_admitted = hub.admits(caller.host(), (id, room.as_deref()), &proof).await == AttemptResult::Right(());
    let room = match room {
        Some(room) if is_admitted => room,
        Some(room) if room.access.is_listed() => return end(socket, CloseReason::Private).await,
        _ => return end(socket, CloseReason::Missing).await,
    };
    let class = room.access.class().and_then(|code| hub.classes.get(code));
    let member = class.as_ref().and_then(|class| class.member(&key?.0));
    if let Some(class) = &class {
        let taken = match &member {
            Some((_, host)) => hub.resources().socket_of_member(&class.sockets, *host),
            None => hub.resources().socket(caller.host()),
        };
        match taken {
            Ok(taken) => place = taken,
            Err(refusal) => {
                hub.resources().refusals.count(refusal.kind);
                return end(socket, CloseReason::Full).await;
            }
        }
    }
    // A member of a class is a host of its own.
    let origin = member.as_ref().map_or_else(|| caller.host(), |(_, host)| *host);
    let host = room.roster.mask.host(origin);
    let is_owner = entry.owner.as_ref().is_some_and(|token| room.has_owner(token));
    let role = if entry.watch { Role::Watcher } else { Role::Player };
    // A watcher would see the whole map.
    if role == Role::Watcher && room.access.challenge().is_some() {
        return end(socket, CloseReason::Missing).await;
    }
    let seats = [&entry.seat, &entry.past].map(|token| hub.secret().verify(id, token.as_deref()?));
    let is_removed = seats.iter().flatten().any(|ticket| room.roster.is_removed(ticket.seat));
    let has_seat = seats != [None, None] && !is_removed;
    let is_blocked = !has_seat && room.roster.is_blocked(host);
    if !is_owner && (is_blocked || (is_removed && role == Role::Player)) {
        return end(socket, CloseReason::RemovedByOwner).await;
    }
    // A match of a tournament is for two players.
    let is_other = |(name, _): &(String, _)| class.as_ref().is_some_and(|class| !class.may_play(id, name));
    if role == Role::Player && !is_owner && member.as_ref().is_some_and(is_other) {
        return end(socket, CloseReason::Locked).await;
    }
    // A watcher has no seat to resume.
    let token = entry.seat.filter(|_| role == Role::Player);
    let returns = match token.map(|token| hub.secret().verify(id, &token)) {
        None => None,
        Some(Some(ticket)) if ticket.journal == room.number => Some(ticket.seat),
        Some(_) => return end(socket, CloseReason::Expired).await,
    };
    let is_name_of_other =
        |seat| member.as_ref().is_some_and(|(name, _)| room.name_at(seat).is_some_and(|player| player != *name));
    if returns.is_some_and(is_name_of_other) {
        return end(socket, CloseReason::Expired).await;
    }
    if entry.yields && returns.is_some_and(|seat| room.roster.has_page(seat)) {
        return end(socket, CloseReason::InUse).await;
    }
    let seat = match returns.map_or_else(|| room.roster.mask.seat(origin), Ok) {
        Ok(seat) => seat,
        Err(error) => return warn!(%error, "a browser cannot enter: the system provides no random numbers"),
    };
    let plays = role == Role::Player;
    let comes_anew = plays && returns.is_none();
    if let Some(past) = entry.past.filter(|_| comes_anew).and_then(|past| hub.secret().verify(id, &past)) {
        room.roster.move_member(past.seat, seat);
    }
    if comes_anew && !is_owner {
        if key.is_some_and(|key| room.roster.has_removed_key(|removed| *removed == key.0)) {
            return end(socket, CloseReason::RemovedByOwner).await;
        }
        if let Some((_, ending)) = room.roster.refusal(host, Some(seat), None) {
            return end(socket, ending).await;
        }
    }
    let mut entering = pin!(room.gate.enter(role, origin, seat, returns.is_some()));
    let mailbox = tokio::select! {
        mailbox = &mut entering => mailbox,
        () = sleep(PATIENCE) => {
            if !send(&mut socket, Message::Text(Utf8Bytes::from_static(WAITING))).await {
                return;
            }
            entering.await
        }
    };
    let Some(mailbox) = mailbox else { return };
    if let Some(key) = key.filter(|_| plays) {
        room.roster.set_key(seat, key.0);
    }
    if let Some((name, _)) = member.as_ref().filter(|_| plays) {
        room.roster.set_member(seat, name);
        room.prove_names();
    }
    let (page, messages) = room.roster.enter(plays.then_some(seat), is_owner);
    if is_owner {
        if entry.owner.is_some_and(|token| room.has_first_owner(&token)) {
            page.set_first_owner();
        }
        room.set_owner_active(caller.host());
    }
    let mut news = room.news.subscribe(plays.then_some(seat));
    let mut hello = news.room().to_string();
    if let Some(own) = news.own() {
        let token = json!(hub.secret().token(id, Ticket { journal: room.number, seat }));
        let kept = hub.keep_seats().as_secs();
        hello.replace_range(..1, &format!(r#"{{"seat":{token},"kept":{kept},"own":{own},"#));
    }
    let metrics = hub.metrics().game(room.game.name());
    let on_aside = |text: &str| {
        if plays {
            apply_aside(&room, seat, text);
        }
    };
    let page_channel = PageChannel { hello, news, messages, on_aside };
    let pumped = run(socket, Arc::clone(&mailbox), room.game.frames(), page_channel, &metrics);
    tokio::select! {
        () = pumped => {}
        () = async {
            match (key, class) {
                (Some(key), Some(class)) if member.is_some() => return class.removed(&key.0).await,
                // The names are looked up while the socket is served.
                (Some(key), None) if plays => names::prove(hub.results(), &room, seat, key).await,
                _ => {}
            }
            std::future::pending::<()>().await;
        } => {
            mailbox.give_up();
            mailbox.leave();
        }
    }
    drop(place);
}

/// Frames of one browser: empty ones and pings count too.
const READ_RATE: Rate = Rate { per_second: 50, burst: 200 };
/// Bytes of one browser; each frame counts [`FRAME`] more. The longest message fits into the burst.
const READ_BYTES: Rate = Rate { per_second: 64 << 10, burst: 256 << 10 };
const FRAME: u32 = 64;

/// A player leaves permanently with this close code. After any other code the seat is retained for a while.
const LEFT: u16 = 4000;

/// From the range for applications. The page uses the same codes.
const fn code(ending: CloseReason) -> (u16, &'static str) {
    match ending {
        CloseReason::Closed => (1000, "the game is over for this seat"),
        CloseReason::Replaced => (4001, "this seat is played in another window now"),
        CloseReason::InUse => (4012, "this seat is in use in another window"),
        CloseReason::Expired => (4002, "this seat was given up meanwhile"),
        CloseReason::Full => (4003, "the room has no place for more browsers"),
        CloseReason::Refused => {
            (4004, "players from your address have used their share of this match; others can still join")
        }
        CloseReason::Removed => (4006, "the host of this hub has removed you from this room"),
        CloseReason::RemovedByOwner => (4006, "the owner of this room has removed you"),
        CloseReason::Banned => (4007, "the operator of this hub has banned your address"),
        CloseReason::Locked => (4008, "the owner of this room has locked it: it takes no new players"),
        CloseReason::Held => (4010, "the free seats are kept for others for some seconds"),
        CloseReason::Private => (4009, "this room requires its password"),
        CloseReason::Missing => (4011, "there is no such room, or it takes the code of its link"),
        CloseReason::Name => (4013, "in this class you play under the name that you took when you joined it"),
        CloseReason::Played => (4014, "you have played this challenge"),
        CloseReason::Unclear => {
            (4005, "the first message has to say how the socket enters, as in {\"seat\": null, \"key\": null}")
        }
    }
}

/// Messages between the hub and a page beside the game.
pub(crate) struct PageChannel<F> {
    pub(crate) hello: String,
    pub(crate) news: PageNews,
    /// Messages to this page only, or to all present pages.
    pub(crate) messages: mpsc::Receiver<Arc<str>>,
    /// Receives the messages of the page to the hub.
    pub(crate) on_aside: F,
}

/// Serves the socket of a seat until either side ends.
pub(crate) async fn run(
    socket: PageSocket,
    mailbox: Arc<Mailbox>,
    frames: Frames,
    page_channel: PageChannel<impl Fn(&str)>,
    counters: &Counters,
) {
    let (sink, stream) = socket.split();
    let PageChannel { hello, news, messages, on_aside } = page_channel;
    let pulse = Pulse::default();
    tokio::select! {
        () = read((stream, &pulse), Some(&mailbox), frames, on_aside) => {}
        () = write((sink, &pulse), &mailbox, frames, (hello, news, messages), counters) => {}
    }
    mailbox.leave();
}

/// Serves a watcher of a room of another node until either side ends.
pub(crate) async fn serve_watcher(socket: PageSocket, subscription: Subscription, game: Game, counters: &Counters) {
    let (sink, stream) = socket.split();
    // Messages of watchers have no effect in any game, so they are not forwarded.
    let pulse = Pulse::default();
    tokio::select! {
        () = read((stream, &pulse), None, game.frames(), |_: &str| {}) => {}
        () = write_to_watcher((sink, &pulse), &subscription, game.frames(), counters) => {}
    }
}

async fn write_to_watcher(
    (mut sink, pulse): (SplitSink<PageSocket, Message>, &Pulse),
    subscription: &Subscription,
    frames: Frames,
    counters: &Counters,
) {
    let text = |text: Bytes| {
        let text = Utf8Bytes::try_from(text).unwrap_or_else(|error| error.to_string().into());
        Message::Text(text)
    };
    let mut beats = Beats::new(pulse);
    loop {
        let next = tokio::select! {
            biased;
            due = beats.due() => {
                if !beat(&mut sink, due).await {
                    return;
                }
                continue;
            }
            next = subscription.next() => next,
        };
        let sent = match next {
            NextMessage::Item(Item::Frame(frame)) => {
                counters.sent.inc();
                beats.spoke();
                send(&mut sink, message(frame, frames)).await
            }
            NextMessage::Item(Item::News(bytes) | Item::Text(bytes)) => send(&mut sink, text(bytes)).await,
            NextMessage::Item(Item::End(why)) | NextMessage::End(Some(why)) => {
                send(&mut sink, close(why)).await;
                return;
            }
            NextMessage::End(None) => return,
        };
        if !sent {
            return;
        }
    }
}

// Reads a frame only when all frames before it are paid for, so a flood is not buffered here.
async fn read<E>(
    (mut stream, pulse): (impl Stream<Item = Result<Message, E>> + Unpin, &Pulse),
    room: Option<&Mailbox>,
    frames: Frames,
    on_aside: impl Fn(&str),
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
        match classify(message, frames) {
            Received::Message(message) => {
                if let Some(room) = room {
                    room.put(message).await;
                }
            }
            Received::PageCommand(text) => on_aside(&text),
            Received::Nothing => {}
            Received::End { left } => {
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

enum Received {
    Message(BytesMut),
    /// No message of a game begins like one.
    PageCommand(Utf8Bytes),
    Nothing,
    End {
        left: bool,
    },
}

fn classify(message: Message, frames: Frames) -> Received {
    let mut bytes = match message {
        Message::Text(text) if text.starts_with('{') => {
            return if text.len() <= MAX_ASIDE { Received::PageCommand(text) } else { Received::Nothing };
        }
        Message::Text(text) if frames != Frames::Binary => BytesMut::from(text.as_bytes()),
        Message::Binary(bytes) if frames == Frames::Binary => BytesMut::from(&bytes[..]),
        Message::Close(close) => {
            return Received::End { left: close.is_some_and(|close| close.code == LEFT) };
        }
        // The library answers pings; frames of the other kind are not part of the protocol.
        _ => return Received::Nothing,
    };
    if frames == Frames::ZeroEndedText {
        bytes.extend_from_slice(b"\0");
    }
    // Rooms have no empty messages.
    if bytes.is_empty() { Received::Nothing } else { Received::Message(bytes) }
}

async fn write(
    (mut sink, pulse): (impl Sink<Message> + Unpin, &Pulse),
    mailbox: &Mailbox,
    frames: Frames,
    (hello, mut news, mut messages): (String, PageNews, mpsc::Receiver<Arc<str>>),
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
            Some(word) = messages.recv() => {
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
            // The room has ended, and the queue is empty. The page reconnects, unless the room is closed, which may
            // have ended before it accepted the seat.
            () = std::future::ready(()), if !open => {
                if news.closing().is_some() {
                    send(&mut sink, close(CloseReason::Closed)).await;
                }
                return;
            }
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

/// Closes a socket that was not accepted.
pub(crate) async fn end(mut socket: PageSocket, ending: CloseReason) {
    send(&mut socket, close(ending)).await;
}

fn close(ending: CloseReason) -> Message {
    let (code, reason) = code(ending);
    Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::from_static(reason) }))
}

fn message(frame: Bytes, frames: Frames) -> Message {
    if frames == Frames::Binary {
        return Message::Binary(frame);
    }
    let frame = if frame.last() == Some(&0) { frame.slice(..frame.len() - 1) } else { frame };
    // Rooms send ASCII. A fault of the room must not close the socket.
    match Utf8Bytes::try_from(frame.clone()) {
        Ok(text) => Message::Text(text),
        Err(_) => Message::Text(String::from_utf8_lossy(&frame).into_owned().into()),
    }
}

/// In bytes.
pub(super) const MAX_ASIDE: usize = 256;

/// A message of a page to the hub: a text frame that begins with a brace.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum PageCommand {
    /// A phrase for all pages.
    Say(u8),
    /// Whether the player is ready for a rematch.
    Rematch(bool),
}

/// Unknown messages are ignored: a page may be newer than the hub.
pub(super) fn apply_aside(room: &Room, seat: SocketAddr, text: &str) {
    match serde_json::from_str(text) {
        Ok(PageCommand::Say(phrase)) => room.roster.broadcast_phrase(seat, phrase),
        Ok(PageCommand::Rematch(ready)) => room.roster.answer_invitation(seat, ready),
        Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cell::Cell,
        pin::Pin,
        task::{Context, Poll},
        time::Duration,
    };

    use tokio::{sync::watch, time::timeout};

    use crate::{
        hub::metrics::Metrics,
        room::{
            info::{Info, News},
            mailbox::Ready,
        },
    };

    use super::*;

    /// Always has another frame, and counts those that were read.
    struct Flood<'a>(Message, &'a Cell<u64>);

    impl Stream for Flood<'_> {
        type Item = Result<Message, ()>;

        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            self.1.set(self.1.get() + 1);
            Poll::Ready(Some(Ok(self.0.clone())))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn every_frame_is_charged() {
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
    async fn closing_room_closes_sockets_whose_seats_it_has_not_closed() {
        for closing in [None, Some("enough".to_owned())] {
            let (info, seen) = watch::channel(Info::usual(Game::Robots));
            let news = News::of(seen).subscribe(None);
            let closes = closing.is_some();
            info.send_modify(|info| info.closing = closing);
            drop(info);
            let (mailbox, mut sent) = (Mailbox::new(Arc::new(Ready::default())), vec![]);
            let page = ("hello".to_owned(), news, mpsc::channel(1).1);
            let counters = Metrics::new().game("robots");
            write((&mut sent, &Pulse::default()), &mailbox, Frames::Binary, page, &counters).await;
            assert_eq!(sent.last() == Some(&close(CloseReason::Closed)), closes, "{sent:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn long_frames_are_charged_by_bytes() {
        let (read_frames, line) = (Cell::new(0), Mailbox::new(Arc::new(Ready::default())));
        let flood = Flood(Message::binary(vec![0; 60_000]), &read_frames);
        let pulse = Pulse::default();
        let ended = timeout(Duration::from_secs(10), read((flood, &pulse), Some(&line), Frames::Text, |_| {})).await;
        assert!(ended.is_err());
        // The burst permits four frames, and ten seconds permit eleven more.
        assert!((14..=17).contains(&read_frames.get()), "{} frames", read_frames.get());
    }
}
