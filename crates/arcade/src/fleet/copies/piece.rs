//! What the journal of a room in the mesh consists of: what is written down of the room, a state of its match, and what follows it.

use bytes::Bytes;
use journal_core::Copied;
use mesh::{
    Piece,
    value::{self, Unread},
};
use serde::{Deserialize, Serialize};

/// The largest body of a piece, in bytes.
pub(super) const CHUNK: usize = 384 << 10;

/// Which copy a piece belongs to: each owner writes its own, and each journal of a room is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    pub(super) fence: u64,
    pub(super) journal: u64,
}

/// The front of a piece; the rest is its body.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "lowercase")]
enum Front {
    /// What is written down of the room.
    Room,
    /// A state of the match, or a part of it that is `from` bytes behind its beginning.
    State { origin: Origin, position: u64, size: u64, from: u64 },
    /// Records of the journal.
    Records { origin: Origin, position: u64 },
    /// The journal was given up, so its match cannot go on.
    Cut { origin: Origin },
}

fn piece(front: &Front, body: &[u8]) -> Bytes {
    // The front is small.
    value::write(front, body).unwrap_or_default()
}

pub(super) fn room(text: &[u8]) -> Bytes {
    piece(&Front::Room, text)
}

pub(super) fn state(origin: Origin, position: u64, head: &[u8]) -> Vec<Bytes> {
    let size = head.len() as u64;
    let chunks = head.chunks(CHUNK).enumerate();
    let part = |(index, chunk)| piece(&Front::State { origin, position, size, from: (index * CHUNK) as u64 }, chunk);
    chunks.map(part).collect()
}

pub(super) fn records(origin: Origin, position: u64, records: &[u8]) -> Bytes {
    piece(&Front::Records { origin, position }, records)
}

pub(super) fn cut(origin: Origin) -> Bytes {
    piece(&Front::Cut { origin }, &[])
}

/// A room that was read.
#[derive(Debug)]
pub(crate) struct Read {
    /// What is written down of it.
    pub(crate) room: Bytes,
    /// Its journal; none if it was given up, or is damaged.
    pub(crate) journal: Option<Copied>,
}

/// A later version has written a piece, which only a node of that version understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Later;

/// Puts the pieces of a journal together. None if they are not those of a room whose match has a whole state.
///
/// # Errors
/// When a later version has written some of them.
pub(super) fn put_together(pieces: &[Piece]) -> Result<Option<Read>, Later> {
    let (mut room, mut begins, mut is_cut) = (None, None, false);
    let mut growing: Option<(Origin, u64, Vec<u8>)> = None;
    let mut all_records = vec![];
    for piece in pieces {
        let (front, body) = match value::read::<Front>(&piece.body) {
            Ok(read) => read,
            Err(Unread::Newer(_)) => return Err(Later),
            Err(Unread::Damaged) => return Ok(None),
        };
        match front {
            Front::Room => room = Some(body),
            Front::State { origin, position, size, from } => {
                if from == 0 {
                    growing = Some((origin, position, vec![]));
                }
                let Some((of, at, head)) = &mut growing else { continue };
                if (*of, *at, head.len() as u64) != (origin, position, from) {
                    continue;
                }
                head.extend_from_slice(&body);
                if head.len() as u64 == size {
                    (begins, is_cut) = (growing.take(), false);
                }
            }
            Front::Records { origin, position } => all_records.push((origin, position, body)),
            Front::Cut { origin } => is_cut |= begins.as_ref().is_none_or(|(of, ..)| *of == origin),
        }
    }
    let (Some((origin, position, head)), Some(room)) = (begins, room) else { return Ok(None) };
    let mut copied = Copied::new(position, head);
    let own = all_records.iter().filter(|(of, ..)| *of == origin);
    let is_whole = own.into_iter().all(|(_, position, records)| copied.add(*position, records).is_ok());
    Ok(Some(Read { room, journal: (is_whole && !is_cut).then_some(copied) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(bodies: Vec<Bytes>) -> Vec<Piece> {
        bodies.into_iter().map(|body| Piece { is_start: false, body }).collect()
    }

    #[test]
    fn pieces_of_a_later_version_are_read_as_far_as_this_one_may() {
        let origin = Origin { fence: 7, journal: 1 };
        let [state] = &state(origin, 0, b"head")[..] else { panic!("one part") };
        let read = |bodies| put_together(&pieces(bodies));
        assert!(read(vec![room(b"text"), state.clone()]).unwrap().is_some());
        assert!(read(vec![room(b"text")]).unwrap().is_none(), "there is no state");
        // Fields that are not known are ignored.
        let front = serde_json::json!({
            "part": "state", "origin": { "fence": 7, "journal": 1, "disk": "red" }, "position": 0, "size": 4, "from": 0, "packed": false,
        });
        let with_more = value::write(&front, b"head").unwrap();
        let found = read(vec![room(b"text"), with_more]).unwrap().unwrap();
        assert!(*found.room == *b"text" && found.journal.is_some());
        // What needs a later reader is neither taken for damage nor for nothing.
        let mut later = state.to_vec();
        later[0] = value::VERSION + 1;
        assert_eq!(read(vec![room(b"text"), later.into()]).unwrap_err(), Later);
        assert!(read(vec![room(b"text"), Bytes::from_static(b"??")]).unwrap().is_none());
    }
}
