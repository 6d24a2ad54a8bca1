//! What watchers at other nodes are shown of a room, as it is published: the same messages as a watcher here gets, in the same order.
//!
//! The body of an event is
//!
//! ```text
//! version (1) | kind (1) | run (8) | number (8) | tag (1) length (4) bytes | tag length bytes | ...
//! ```
//!
//! A *run* is what one watcher of the room is told from its beginning, and `number` how many messages of the run came before. So whoever
//! follows knows whether a snapshot tells something new. A snapshot may need several events; all but the last say that more follow.

pub(crate) mod backlog;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};

use super::mailbox::Ending;

const VERSION: u8 = 1;
const HEAD: usize = 18;
const ITEM: usize = 5;
/// Most bytes of an event.
const MAX_EVENT: usize = mesh::MAX_APPEND;
/// The longest message that can be published.
pub(crate) const MAX_ITEM: usize = MAX_EVENT - HEAD - ITEM;
/// Messages of one event at most.
const MAX_ITEMS: usize = 1 << 16;

/// What a watcher is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    /// A message of the game.
    Frame(Bytes),
    /// The room as the hub shows it; it replaces what was told before.
    News(Bytes),
    /// What the hub says just now.
    Word(Bytes),
    /// The connection is closed, and why.
    End(Ending),
}

impl Item {
    /// Its bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Frame(bytes) | Self::News(bytes) | Self::Word(bytes) => bytes.len(),
            Self::End(_) => 0,
        }
    }

    fn write(&self, body: &mut BytesMut) {
        let ending;
        let (tag, bytes) = match self {
            Self::Frame(bytes) => (0, &bytes[..]),
            Self::News(bytes) => (1, &bytes[..]),
            Self::Word(bytes) => (2, &bytes[..]),
            Self::End(why) => {
                // A word has JSON.
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
            2 => Some(Self::Word(bytes)),
            3 => serde_json::from_slice(&bytes).ok().map(Self::End),
            _ => None,
        }
    }
}

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What follows from the events before.
    Change,
    /// A piece of all that a watcher has to be told who comes now.
    Snapshot {
        /// Whether it is the last piece.
        complete: bool,
    },
}

/// An event of a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) kind: Kind,
    /// The run that it belongs to.
    pub(crate) run: u64,
    /// How many messages of the run came before; of a snapshot, how many it stands for.
    pub(crate) number: u64,
    pub(crate) items: Vec<Item>,
}

impl Told {
    /// The bodies of as few events as it takes. No item is longer than [`MAX_ITEM`].
    pub(crate) fn write(&self) -> Vec<Bytes> {
        let mut pieces: Vec<&[Item]> = vec![];
        let (mut from, mut bytes) = (0, HEAD);
        for (at, item) in self.items.iter().enumerate() {
            // The name of an ending is short.
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
                Kind::Change => 0,
                Kind::Snapshot { .. } if at < last => 1,
                Kind::Snapshot { .. } => 2,
            });
            body.put_u64(self.run);
            body.put_u64(number);
            if self.kind == Kind::Change {
                number += piece.len() as u64;
            }
            piece.iter().for_each(|item| item.write(&mut body));
            body.freeze()
        };
        pieces.iter().enumerate().map(body).collect()
    }

    /// Reads the body of an event. None if another version wrote it, or it is damaged.
    pub(crate) fn read(mut body: Bytes) -> Option<Self> {
        if body.len() < HEAD || body.get_u8() != VERSION {
            return None;
        }
        let kind = match body.get_u8() {
            0 => Kind::Change,
            1 => Kind::Snapshot { complete: false },
            2 => Kind::Snapshot { complete: true },
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

#[cfg(test)]
mod tests;
