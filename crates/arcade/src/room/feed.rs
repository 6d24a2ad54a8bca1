//! Events with which watchers at other nodes follow a room: the same messages in the same order as for a watcher at
//! this node.
//!
//! The body of an event is
//!
//! ```text
//! version (1) | kind (1) | run (8) | number (8) | tag (1) length (4) bytes | tag length bytes | ...
//! ```
//!
//! A *run* is the sequence of messages to one watcher from the start. `number` counts the messages of the run before
//! the event, so followers can detect whether a snapshot contains new ones. A snapshot may need several events; all but
//! the last are marked as incomplete.

use std::{collections::VecDeque, sync::Arc};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

use super::mailbox::CloseReason;
use crate::games::Game;

const VERSION: u8 = 1;
const HEAD: usize = 18;
const ITEM: usize = 5;
/// In bytes.
const MAX_EVENT: usize = mesh::MAX_APPEND;
/// In bytes.
pub(crate) const MAX_ITEM: usize = MAX_EVENT - HEAD - ITEM;
const MAX_ITEMS: usize = 1 << 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    Frame(Bytes),
    /// Replaces the previous state of the room.
    News(Bytes),
    /// From the hub, for present pages only.
    Text(Bytes),
    End(CloseReason),
}

impl Item {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Frame(bytes) | Self::News(bytes) | Self::Text(bytes) => bytes.len(),
            Self::End(_) => 0,
        }
    }

    fn write(&self, body: &mut BytesMut) {
        let ending;
        let (tag, bytes) = match self {
            Self::Frame(bytes) => (0, &bytes[..]),
            Self::News(bytes) => (1, &bytes[..]),
            Self::Text(bytes) => (2, &bytes[..]),
            Self::End(why) => {
                ending = serde_json::to_vec(why).unwrap_or_default();
                (3, &ending[..])
            }
        };
        body.put_u8(tag);
        body.put_u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        body.put_slice(bytes);
    }

    fn read(tag: u8, bytes: Bytes) -> Option<Self> {
        match tag {
            0 => Some(Self::Frame(bytes)),
            1 => Some(Self::News(bytes)),
            2 => Some(Self::Text(bytes)),
            3 => serde_json::from_slice(&bytes).ok().map(Self::End),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    Change,
    /// Part of all messages that a new watcher receives.
    Snapshot {
        complete: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    pub(crate) run: u64,
    /// Messages of the run before the event. For a snapshot: those that it replaces.
    pub(crate) number: u64,
    pub(crate) items: Vec<Item>,
}

impl Event {
    /// Encodes the event in as few bodies as possible. Items must not exceed [`MAX_ITEM`].
    pub(crate) fn write(&self) -> Vec<Bytes> {
        let mut pieces: Vec<&[Item]> = vec![];
        let (mut from, mut bytes) = (0, HEAD);
        for (at, item) in self.items.iter().enumerate() {
            // Reasons are shorter than 32 bytes.
            let cost = ITEM + item.len().max(32);
            if at > from && (bytes + cost > MAX_EVENT || at - from >= MAX_ITEMS) {
                pieces.push(&self.items[from..at]);
                (from, bytes) = (at, HEAD);
            }
            bytes += cost;
        }
        pieces.push(&self.items[from..]);
        let last = pieces.len() - 1;
        let mut number = self.number;
        let body = |(at, piece): (usize, &&[Item])| {
            let mut body = BytesMut::new();
            body.put_u8(VERSION);
            body.put_u8(match self.kind {
                EventKind::Change => 0,
                EventKind::Snapshot { .. } if at < last => 1,
                EventKind::Snapshot { .. } => 2,
            });
            body.put_u64(self.run);
            body.put_u64(number);
            if self.kind == EventKind::Change {
                number += piece.len() as u64;
            }
            piece.iter().for_each(|item| item.write(&mut body));
            body.freeze()
        };
        pieces.iter().enumerate().map(body).collect()
    }

    /// `None` if the body is damaged or of another version.
    pub(crate) fn read(mut body: Bytes) -> Option<Self> {
        if body.len() < HEAD || body.get_u8() != VERSION {
            return None;
        }
        let kind = match body.get_u8() {
            0 => EventKind::Change,
            1 => EventKind::Snapshot { complete: false },
            2 => EventKind::Snapshot { complete: true },
            _ => return None,
        };
        let (run, number) = (body.get_u64(), body.get_u64());
        let mut items = vec![];
        while body.has_remaining() {
            if body.remaining() < ITEM || items.len() >= MAX_ITEMS {
                return None;
            }
            let (tag, length) = (body.get_u8(), usize::try_from(body.get_u32()).ok()?);
            if length > body.remaining() {
                return None;
            }
            items.push(Item::read(tag, body.split_to(length))?);
        }
        Some(Self { kind, run, number, items })
    }
}

/// The maximum bytes of the backlog of a published room, with [`OVERHEAD`] per message. Beyond it, the room starts
/// another run.
pub(crate) const MAX_BACKLOG: usize = 2 << 20;
const OVERHEAD: usize = 64;
/// Recent messages that are searched for a superseded one.
const LOOK_BACK: usize = 32;

/// The messages to a watcher from the start, without superseded ones.
#[derive(Debug)]
pub(crate) struct Backlog {
    game: Game,
    news: Option<Bytes>,
    frames: VecDeque<Bytes>,
    bytes: usize,
    // Caches the list until the next message.
    all: Option<Arc<[Item]>>,
}

impl Backlog {
    pub(crate) const fn new(game: Game) -> Self {
        Self { game, news: None, frames: VecDeque::new(), bytes: 0, all: None }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.game);
    }

    pub(crate) fn take(&mut self, item: &Item) {
        match item {
            Item::Frame(frame) => {
                let recent = self.frames.len().saturating_sub(LOOK_BACK)..self.frames.len();
                let superseded = recent.rev().find(|&at| self.game.supersedes(&self.frames[at], frame));
                if let Some(before) = superseded.and_then(|at| self.frames.remove(at)) {
                    self.bytes -= before.len() + OVERHEAD;
                }
                self.bytes += frame.len() + OVERHEAD;
                self.frames.push_back(frame.clone());
            }
            Item::News(news) => self.news = Some(news.clone()),
            // Later watchers do not receive these.
            Item::Text(_) | Item::End(_) => return,
        }
        self.all = None;
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.bytes > MAX_BACKLOG
    }

    /// All items in sending order.
    pub(crate) fn all(&mut self) -> Arc<[Item]> {
        let (news, frames) = (&self.news, &self.frames);
        let all = || news.iter().cloned().map(Item::News).chain(frames.iter().cloned().map(Item::Frame)).collect();
        Arc::clone(self.all.get_or_insert_with(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: impl Into<Bytes>) -> Item {
        Item::Frame(text.into())
    }

    #[test]
    fn event_is_read_as_written_and_a_damaged_one_is_rejected() {
        let items = vec![
            frame("GRID 1 1"),
            Item::News("{\"room\":{}}".into()),
            Item::Text("{}".into()),
            frame(""),
            Item::End(CloseReason::Closed),
        ];
        let event = Event { kind: EventKind::Change, run: 7, number: 1 << 40, items };
        let [body] = &event.write()[..] else { panic!("one event") };
        assert_eq!(Event::read(body.clone()), Some(event));
        for length in 0..body.len() {
            // The body may be cut between two messages.
            if let Some(read) = Event::read(body.slice(..length)) {
                assert!(read.items.len() < 5, "{length}");
            }
        }
        let mut other = body.to_vec();
        other[0] = 2;
        assert_eq!(Event::read(other.into()), None);
        let mut long = body.to_vec();
        long[HEAD + 1] = 0xff;
        assert_eq!(Event::read(long.into()), None, "a length beyond the end");
    }

    #[test]
    fn items_beyond_one_event_take_several() {
        let items: Vec<Item> =
            (0..5).map(|_| frame(vec![b'x'; MAX_ITEM / 2 - HEAD])).chain([frame(vec![b'y'; MAX_ITEM])]).collect();
        for (kind, complete) in [
            (EventKind::Change, [EventKind::Change; 4]),
            (
                EventKind::Snapshot { complete: true },
                [false, false, false, true].map(|complete| EventKind::Snapshot { complete }),
            ),
        ] {
            let event = Event { kind, run: 1, number: 10, items: items.clone() };
            let bodies = event.write();
            assert!(bodies.iter().all(|body| body.len() <= MAX_EVENT));
            let read: Vec<Event> = bodies.into_iter().map(|body| Event::read(body).unwrap()).collect();
            assert_eq!(
                read.iter().map(|event| event.kind).collect::<Vec<_>>(),
                complete[..read.len()],
                "{}",
                read.len()
            );
            assert_eq!(read.iter().flat_map(|event| event.items.clone()).collect::<Vec<_>>(), items);
            let mut number = 10;
            for event in read {
                assert_eq!(event.number, number);
                number += if kind == EventKind::Change { event.items.len() as u64 } else { 0 };
            }
        }
        let none = Event { kind: EventKind::Snapshot { complete: true }, run: 1, number: 0, items: vec![] };
        assert_eq!(none.write().len(), 1, "an empty snapshot is an event");
    }

    #[test]
    fn backlog_has_what_a_new_watcher_receives() {
        let mut backlog = Backlog::new(Game::Nuggets);
        backlog.take(&Item::News("1".into()));
        for text in ["GRID 2 2", "GOLD 0 0 250", "DISPLAY\nab", "GOLD 0 0 240", "DISPLAY\ncd"] {
            backlog.take(&frame(text));
            backlog.take(&Item::Text("said".into()));
        }
        backlog.take(&Item::News("2".into()));
        let expected = [
            Item::News("2".into()),
            frame("GRID 2 2"),
            frame("GOLD 0 0 250"),
            frame("GOLD 0 0 240"),
            frame("DISPLAY\ncd"),
        ];
        assert_eq!(backlog.all()[..], expected);
        for _ in 0..10_000 {
            backlog.take(&frame("DISPLAY\nef"));
        }
        assert!(!backlog.is_full() && backlog.all().len() == 5);
        let mut backlog = Backlog::new(Game::Robots);
        let mut taken = 0;
        while !backlog.is_full() {
            backlog.take(&frame(vec![3; 200]));
            taken += 1;
        }
        assert!(taken > 5_000 && backlog.all().len() == taken);
        backlog.clear();
        assert!(!backlog.is_full() && backlog.all().is_empty());
    }
}
