use netcore::Input;

use crate::{
    Entry, Head, Note, codec,
    layout::{self, SegmentPosition, SegmentState, Status},
    peers::Peers,
    record::{self, MAX_BODY, NOTE},
};

/// A part of a match as a journal in memory, for a bug report.
#[derive(Debug)]
pub struct Excerpt {
    bytes: Vec<u8>,
    sum: u32,
    micros: u64,
    peers: Peers,
    body: Vec<u8>,
}

impl Excerpt {
    /// If the excerpt does not start at the beginning of the match, `head` contains its initial state.
    pub fn new(head: &Head) -> Self {
        let status = Status { sequence: 0, state: SegmentState::Open, synced: 0, end: 0 };
        let mut excerpt = Self {
            bytes: layout::front(SegmentPosition::FIRST, status),
            sum: 0,
            micros: 0,
            peers: Peers::default(),
            body: vec![],
        };
        if let Some(base) = &head.base {
            excerpt.micros = base.mark.time.as_nanos() / 1_000;
            excerpt.peers = Peers::restore(base.next_peer, &base.peers);
        }
        codec::encode(head, &mut excerpt.body);
        excerpt.put();
        excerpt
    }

    /// Skips snapshots, because they contain offsets.
    pub fn push(&mut self, entry: &Entry) {
        let (kind, slot, time) = match entry {
            Entry::Arrival(arrival) => {
                (record::kind_of(&arrival.input), self.peers.slot_of(&arrival.input), arrival.time.as_nanos() / 1_000)
            }
            Entry::Note(Note::Snapshot(_)) => return,
            Entry::Note(Note::Mark(mark)) => {
                self.micros = self.micros.max(mark.time.as_nanos() / 1_000);
                (NOTE, Some(0), self.micros)
            }
            Entry::Note(_) => (NOTE, Some(0), self.micros),
        };
        let Some(slot) = slot else { return };
        let micros = time.saturating_sub(self.micros);
        self.micros = self.micros.max(time);
        self.body.clear();
        record::RecordHead { kind, slot, micros }.put(&mut self.body);
        match entry {
            Entry::Arrival(arrival) => {
                record::put_input(&arrival.input, &mut self.body);
                if let Input::Connected { .. } | Input::Disconnected { .. } = &arrival.input {
                    self.peers.follow(&arrival.input, std::iter::empty());
                }
            }
            Entry::Note(note) => {
                record::put_note(note, &mut self.body, MAX_BODY);
            }
        }
        self.put();
    }

    /// Closes the journal.
    pub fn into_bytes(mut self) -> Vec<u8> {
        let end = self.bytes.len() as u64;
        let status = Status { sequence: 1, state: SegmentState::Closed, synced: end, end };
        let slot = status.to_bytes();
        let at = usize::try_from(status.offset()).unwrap_or(usize::MAX);
        if let Some(place) = self.bytes.get_mut(at..at.saturating_add(slot.len())) {
            place.copy_from_slice(&slot);
        }
        self.bytes
    }

    fn put(&mut self) {
        record::put(&self.body, &mut self.sum, &mut self.bytes);
    }
}
