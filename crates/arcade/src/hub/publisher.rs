//! Publishes rooms for watchers at other nodes, each room once for all of them. A node with watchers keeps one socket,
//! a *feed*, to the node of the room; see `web/feed.rs`. While there is a feed, a watcher that is not counted receives
//! the messages to publish.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures_util::FutureExt as _;
use mesh::{Append, Appended, Sequence};
use netcore::Role;
use rand::{TryRng as _, rngs::SysRng};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep},
};
use tracing::{debug, warn};

use crate::{
    fleet::{Feeds, Fleet, OwnedRoom},
    room::{
        Room,
        feed::{Backlog, Event, EventKind, Item, MAX_ITEM},
        info::PageNews,
        mailbox::{Leaves, Mailbox, Next, Piece},
        roster::own_watcher,
    },
};

type ById = BTreeMap<String, (Arc<Room>, watch::Sender<PublicationState>)>;

#[derive(Debug, Default)]
pub(crate) struct Feeding {
    rooms: Mutex<ById>,
}

impl Feeding {
    fn rooms(&self) -> MutexGuard<'_, ById> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Removes a room without feeds, or after its publication. Returns whether it was removed.
    fn leave(&self, id: &str, steps: &watch::Sender<PublicationState>) -> bool {
        let mut rooms = self.rooms();
        if steps.receiver_count() > 0 && !steps.borrow().is_last() {
            return false;
        }
        if rooms.get(id).is_some_and(|(_, known)| known.same_channel(steps)) {
            rooms.remove(id);
        }
        true
    }

    /// Publishes a room until the returned value is dropped. Returns `None` if another node owns the room.
    pub(crate) fn feed(
        self: &Arc<Self>,
        fleet: &Arc<Fleet>,
        room: &Arc<Room>,
    ) -> Option<watch::Receiver<PublicationState>> {
        let id = room.file().id.clone();
        let owned = fleet.owned(&id)?;
        let mut rooms = self.rooms();
        if let Some((known, steps)) = rooms.get(&id)
            && Arc::ptr_eq(known, room)
            && !steps.borrow().is_last()
        {
            return Some(steps.subscribe());
        }
        let (steps, step) = watch::channel(PublicationState::Beginning);
        rooms.insert(id.clone(), (Arc::clone(room), steps.clone()));
        drop(rooms);
        let (feeding, fleet, room) = (Arc::clone(self), Arc::clone(fleet), Arc::clone(room));
        tokio::spawn(async move {
            let counted = fleet.feeds.publishing();
            loop {
                let published = Published { room: &room, owned: &owned, feeds: &fleet.feeds };
                tokio::select! {
                    end = publish(published, &steps) => drop(steps.send_replace(end)),
                    () = steps.closed() => {}
                }
                if feeding.leave(&id, &steps) {
                    break;
                }
                // Another feed has just been opened.
                steps.send_replace(PublicationState::Beginning);
            }
            drop(counted);
        });
        Some(step)
    }
}

/// Bytes after which an event ends. A single message may be longer.
const GATHERED: usize = 256 << 10;
/// How long the brokers may be away. Then the publication ends, and watchers at other nodes get their own sockets.
const PATIENCE: Duration = Duration::from_secs(12);
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PublicationState {
    /// Followers might still start at an earlier publication.
    Beginning,
    Going,
    /// The room has closed the connection.
    Over,
    /// The brokers are away, or another node has the room.
    Failed,
}

impl PublicationState {
    pub(super) const fn is_last(self) -> bool {
        matches!(self, Self::Over | Self::Failed)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Published<'a> {
    pub(super) room: &'a Arc<Room>,
    pub(super) owned: &'a OwnedRoom,
    pub(super) feeds: &'a Feeds,
}

enum StreamEnd {
    Closed,
    Broken,
}

/// Returns when the room has closed the connection, or the brokers are away for too long.
pub(super) async fn publish(published: Published<'_>, steps: &watch::Sender<PublicationState>) -> PublicationState {
    let mut last = None;
    // A run ends when a new watcher would receive too much. The next one starts as for a new watcher.
    loop {
        match run(published, &mut last, steps).await {
            Ok(()) => {}
            Err(StreamEnd::Closed) => return PublicationState::Over,
            Err(StreamEnd::Broken) => return PublicationState::Failed,
        }
    }
}

// Publishes the messages to one watcher. Returns `Ok` if another run follows.
async fn run(
    Published { room, owned, feeds }: Published<'_>,
    last: &mut Option<Sequence>,
    steps: &watch::Sender<PublicationState>,
) -> Result<(), StreamEnd> {
    let address = own_watcher();
    let mailbox = room.gate.enter(Role::Watcher, address.into(), address, false).await.ok_or(StreamEnd::Closed)?;
    let mailbox = Leaves(mailbox);
    let (_here, mut messages) = room.roster.enter(None, false);
    let mut news = room.news.subscribe(None);
    let number = SysRng.try_next_u64().map_err(|_| StreamEnd::Broken)?;
    let mut log = Log { owned, feeds, last, run: number, number: 0, backlog: Backlog::new(room.game), begun: false };
    log.publish(vec![Item::News(Bytes::copy_from_slice(news.room().as_bytes()))]).await?;
    steps.send_if_modified(|step| std::mem::replace(step, PublicationState::Going) != PublicationState::Going);
    loop {
        let (items, over) = gather(&mailbox.0, &mut news, &mut messages).await;
        if items.iter().any(|item| item.len() > MAX_ITEM) {
            warn!("a message of {} is too long to publish", room.game.name());
            return Err(StreamEnd::Broken);
        }
        log.publish(items).await?;
        if over {
            return Err(StreamEnd::Closed);
        }
        if log.backlog.is_full() {
            return Ok(());
        }
    }
}

// Waits for a message, then takes queued ones up to [`GATHERED`] bytes. Also returns whether the stream has ended.
async fn gather(mailbox: &Mailbox, news: &mut PageNews, messages: &mut mpsc::Receiver<Arc<str>>) -> (Vec<Item>, bool) {
    let text = |text: &str| Bytes::copy_from_slice(text.as_bytes());
    let (mut items, mut bytes) = (vec![], 0);
    tokio::select! {
        biased;
        Some(word) = messages.recv() => items.push(Item::Text(text(&word))),
        next = mailbox.next() => if take(next, news, &mut items, &mut bytes) {
            return (items, true);
        },
        changed = news.changed() => {
            if changed.is_err() {
                while let Some(next) = mailbox.next().now_or_never() {
                    if take(next, news, &mut items, &mut bytes) {
                        break;
                    }
                }
                return (items, true);
            }
            items.push(Item::News(text(&news.room())));
        }
    }
    while bytes < GATHERED
        && let Some(next) = mailbox.next().now_or_never()
    {
        if take(next, news, &mut items, &mut bytes) {
            return (items, true);
        }
    }
    (items, false)
}

// Returns whether the mailbox has ended.
fn take(next: Next, news: &PageNews, items: &mut Vec<Item>, bytes: &mut usize) -> bool {
    let mut push = |frame: Bytes| {
        *bytes += frame.len();
        items.push(Item::Frame(frame));
    };
    match next {
        Next::Piece(Piece::Frame(frame)) => push(frame),
        Next::Piece(Piece::History(history)) => history.frames().for_each(push),
        Next::End(ending) => {
            items.extend(news.closing().map(|room| Item::News(room.into())));
            items.push(Item::End(ending));
            return true;
        }
    }
    false
}

struct Log<'a> {
    owned: &'a OwnedRoom,
    feeds: &'a Feeds,
    last: &'a mut Option<Sequence>,
    run: u64,
    number: u64,
    backlog: Backlog,
    // Whether there is a snapshot for followers.
    begun: bool,
}

impl Log<'_> {
    async fn publish(&mut self, items: Vec<Item>) -> Result<(), StreamEnd> {
        if !self.begun {
            self.snapshot().await?;
        }
        let changes = Event { kind: EventKind::Change, run: self.run, number: self.number, items };
        for body in changes.write() {
            if !self.append(false, &body).await? {
                // Followers apply this message after the snapshot, so the snapshot must not contain it.
                self.snapshot().await?;
                if !self.append(false, &body).await? {
                    debug!("a snapshot is requested again immediately");
                    return Err(StreamEnd::Broken);
                }
            }
            for item in Event::read(body).map(|event| event.items).unwrap_or_default() {
                self.backlog.take(&item);
                self.number += 1;
            }
        }
        Ok(())
    }

    async fn snapshot(&mut self) -> Result<(), StreamEnd> {
        let items = self.backlog.all().to_vec();
        let snapshot =
            Event { kind: EventKind::Snapshot { complete: true }, run: self.run, number: self.number, items };
        for (at, body) in snapshot.write().into_iter().enumerate() {
            if !self.append(at == 0, &body).await? {
                return Err(StreamEnd::Broken);
            }
        }
        self.begun = true;
        Ok(())
    }

    // Returns whether the event is stored. Otherwise a snapshot must precede it.
    async fn append(&mut self, is_anchor: bool, body: &Bytes) -> Result<bool, StreamEnd> {
        let OwnedRoom { name, fence } = self.owned;
        let mut append = Append { fence: *fence, after: *self.last, is_anchor, body: body.clone() };
        let begun = Instant::now();
        loop {
            match self.feeds.publish(name, &append).await {
                Ok(Appended::Stored(sequence)) => {
                    *self.last = Some(sequence);
                    return Ok(true);
                }
                // An earlier publication ended here, or the response to a stored attempt was lost.
                Ok(Appended::Misplaced(_)) if is_anchor && append.after.is_some() => append.after = None,
                Ok(Appended::Misplaced(_) | Appended::AnchorDue) => return Ok(false),
                Ok(Appended::Fenced(_)) => {
                    debug!(room = %name, "another node has the room");
                    return Err(StreamEnd::Broken);
                }
                Err(error) if begun.elapsed() >= PATIENCE => {
                    warn!(room = %name, "cannot publish the room, so spectators at other nodes get separate \
                        sockets: {error}");
                    return Err(StreamEnd::Broken);
                }
                Err(error) => {
                    debug!(room = %name, "{error}");
                    sleep(PAUSE).await;
                }
            }
        }
    }
}
