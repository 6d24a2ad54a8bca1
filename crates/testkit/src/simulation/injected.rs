//! An injected bug that a simulation must detect: a server that is resumed without one of its arrivals.

use std::collections::BTreeSet;

use bytes::BytesMut;
use journal::{Arrival, ArrivalKind, Entry, Excerpt, Mark, Note, Peer, Reader};
use netcore::{Hosted, Outbox, PeerId, Progress, Recorded, Room, RoomInput};
use rand::{Rng, RngExt};

/// Removes one of the last arrivals from a journal. All digests in the result are those of the match without that
/// arrival, so that the journal alone does not reveal it.
pub(super) fn leave_one_out<E: Recorded>(bytes: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut reader = Reader::new(bytes, bytes.len() as u64).expect("a journal");
    let head = reader.head().clone();
    let mut entries = vec![];
    while let Some(entry) = reader.next().expect("a journal that is not damaged") {
        entries.push(entry);
    }
    let arrivals: Vec<usize> =
        (0..entries.len()).filter(|&index| matches!(entries[index], Entry::Arrival(_))).collect();
    let Some(&left_out) = arrivals.iter().rev().nth(rng.random_range(0..200)) else { return bytes.to_vec() };
    entries.remove(left_out);
    let mut excerpt = Excerpt::new(&head);
    let mut match_ = Match::<E> {
        room: Hosted::new(E::from_setup(head.setup::<E>().expect("this game")).expect("a set-up that was played")),
        present: BTreeSet::new(),
        arrivals: 0,
    };
    for entry in entries {
        match entry {
            Entry::Arrival(arrival) => {
                if let Some(check) = match_.apply(&arrival) {
                    excerpt.push(&Entry::Arrival(Arrival { check, ..arrival }));
                }
            }
            Entry::Note(Note::Mark(mark)) => {
                let mark = Mark { time: mark.time, arrivals: match_.arrivals, digest: match_.room.digest() };
                excerpt.push(&Entry::Note(Note::Mark(mark)));
            }
            Entry::Note(Note::Over(_)) => {}
            note @ Entry::Note(_) => excerpt.push(&note),
        }
    }
    excerpt.into_bytes()
}

struct Match<E: Recorded> {
    room: Hosted<E>,
    present: BTreeSet<PeerId>,
    arrivals: u64,
}

impl<E: Recorded> Match<E> {
    // The digest byte after an arrival; `None` if the room does not accept it.
    fn apply(&mut self, arrival: &Arrival) -> Option<u8> {
        if let ArrivalKind::Connected(peer) = &arrival.kind {
            self.present.insert(peer.peer);
        }
        if arrival.kind.peer().is_some_and(|peer| !self.present.contains(&peer)) {
            return None;
        }
        let (mut out, mut buffer) = (Outbox::new(), BytesMut::new());
        let mark = out.mark();
        let input = match &arrival.kind {
            ArrivalKind::Connected(Peer { peer, role, link, address }) => {
                RoomInput::Connected { peer: *peer, role: *role, link: *link, address }
            }
            ArrivalKind::Bytes { peer, bytes } => {
                buffer.extend_from_slice(bytes);
                RoomInput::Bytes { peer: *peer, bytes: &mut buffer }
            }
            ArrivalKind::Refresh(peer) => RoomInput::Refresh { peer: *peer },
            ArrivalKind::Disconnected { peer, why } => RoomInput::Disconnected { peer: *peer, why: *why },
            ArrivalKind::Elapsed => RoomInput::Elapsed,
            ArrivalKind::Stop(leave) => RoomInput::Stop(*leave),
        };
        let progress = self.room.input(arrival.time, input, &mut out);
        if !matches!(progress, Progress::Decoded | Progress::Malformed(_)) {
            return None;
        }
        if let ArrivalKind::Disconnected { peer, why } = arrival.kind
            && why != netcore::Gone::Left
        {
            self.present.remove(&peer);
        }
        for peer in out.closed_since(mark) {
            self.present.remove(&peer);
        }
        self.arrivals += 1;
        Some(self.room.digest().to_le_bytes()[0])
    }
}
