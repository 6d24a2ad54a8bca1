//! The inputs determine the state, and the state determines the published events.

use std::collections::VecDeque;

use bytes::Bytes;
use mesh::{Durability, Fence, Piece, Placement, Writer};

/// Inputs of a match, and of a segment.
pub(super) const MATCH: usize = 40;
const SEGMENT: usize = 10;

#[derive(Debug)]
pub(super) struct Running {
    pub(super) fence: Fence,
    pub(super) placement: Placement,
    pub(super) durability: Durability,
    /// `None` while the journal is being read.
    pub(super) state: Option<Vec<u32>>,
    pub(super) journal: Writer,
    // The numbers of pieces, and the inputs up to each.
    pieces: VecDeque<(u64, usize)>,
    stored: usize,
    pub(super) sent: usize,
    pub(super) events: Writer,
    published: usize,
    pub(super) suspending: bool,
    pub(super) submitted: bool,
}

fn bytes(inputs: &[u32]) -> Bytes {
    inputs.iter().flat_map(|input| input.to_be_bytes()).collect()
}

pub(super) fn inputs(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).map(|four| u32::from_be_bytes(four.try_into().unwrap()))
}

pub(super) fn replay(pieces: &[Piece]) -> Vec<u32> {
    let mut state = vec![];
    for piece in pieces {
        if piece.is_start {
            state.clear();
        }
        state.extend(inputs(&piece.body));
    }
    state
}

impl Running {
    pub(super) fn new((fence, placement): (Fence, Placement), durability: Durability, state: Option<Vec<u32>>) -> Self {
        let journal = if state.is_some() { Writer::of_journal(fence) } else { Writer::taking_over(fence) };
        Self {
            fence,
            placement,
            durability,
            state,
            journal,
            pieces: VecDeque::new(),
            stored: 0,
            sent: 0,
            events: Writer::of_events(fence),
            published: 0,
            suspending: false,
            submitted: false,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.len() >= MATCH)
    }

    pub(super) fn play(&mut self, input: u32) -> bool {
        if self.is_over() || self.suspending {
            return false;
        }
        let Some(state) = &mut self.state else { return false };
        state.push(input);
        let length = state.len();
        if !self.journal.wants_anchor()
            && !length.is_multiple_of(SEGMENT)
            && let Some(number) = self.journal.write(false, bytes(&[input]))
        {
            self.pieces.push_back((number, length));
        } else {
            self.begin_segment();
        }
        true
    }

    pub(super) fn begin_segment(&mut self) {
        if let Some(state) = &self.state
            && let Some(number) = self.journal.write(true, bytes(state))
        {
            self.pieces.push_back((number, state.len()));
        }
    }

    pub(super) fn suspend(&mut self) {
        self.suspending = true;
    }

    pub(super) fn is_stored(&self) -> bool {
        let journal = &self.journal;
        self.state.is_some() && journal.stored() > 0 && !journal.wants_anchor() && journal.lag().0 == 0
    }

    /// How much of the state is in the mesh, as known to this owner.
    pub(super) fn stored(&mut self) -> usize {
        while let Some((number, length)) = self.pieces.front().copied()
            && number <= self.journal.stored()
        {
            self.stored = length;
            self.pieces.pop_front();
        }
        self.stored
    }

    pub(super) fn sendable(&mut self) -> usize {
        let stored = self.stored();
        match (self.durability, &self.state) {
            (_, None) => 0,
            (Durability::Cluster, _) => stored,
            (Durability::Node, Some(state)) => state.len(),
        }
    }

    pub(super) fn publish(&mut self) {
        let Some(state) = &self.state else { return };
        if self.events.wants_anchor() && self.sent > 0 {
            let _ = self.events.write(true, bytes(&state[..self.sent]));
            self.published = self.sent;
        } else if self.published < self.sent {
            let _ = self.events.write(false, bytes(&state[self.published..self.sent]));
            self.published = self.sent;
        }
    }
}
