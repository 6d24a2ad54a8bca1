//! Checks the state after a crash.

use std::{collections::BTreeMap, fmt::Debug};

use bytes::Bytes;
use journal::{Arrival, ArrivalKind, Entry, Note, Peer, ReadError, Reader, Replay, Resumable, State};
use netcore::{Client, Gone, Hosted, Link, Outbox, Output, PeerId, Recorded, Room, Time, To};

use crate::net::{Delivered, Net, bytes_of};

/// The result of replaying a journal after a crash.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is true or not by itself")]
pub(super) struct Survived {
    /// It was given up and is marked so.
    pub(super) cut: bool,
    /// It was given up without being marked: messages were delivered that are not in it.
    pub(super) beyond: bool,
    /// The match had ended.
    pub(super) over: bool,
    /// Messages were delivered that are not in it, which is permitted after a power cut.
    pub(super) forked: bool,
    /// Number of frames that were delivered.
    pub(super) frames: u64,
    pub(super) snapshots: u64,
    /// Peers that were closed before everything was delivered to them.
    pub(super) interrupted: Vec<Interrupted>,
    /// What counts as delivered once the server is resumed: peers that received less are updated.
    pub(super) expected: Delivered,
    digest: u64,
    peers: Vec<Peer>,
}

/// A peer that was closed before everything was delivered to it.
#[derive(Debug)]
pub(super) struct Interrupted {
    pub(super) peer: PeerId,
    pub(super) closed: Time,
    pub(super) missing: Vec<Bytes>,
}

fn reader(bytes: &[u8]) -> Reader<&[u8]> {
    Reader::new(bytes, bytes.len() as u64).unwrap_or_else(|error| panic!("the journal: {error}"))
}

// The arrivals in a journal. If it was given up because of a failed sync, earlier bytes may be missing.
fn arrivals(bytes: &[u8]) -> Vec<Entry> {
    let (mut reader, mut arrivals) = (reader(bytes), vec![]);
    loop {
        match reader.next() {
            Ok(Some(entry @ Entry::Arrival(_))) => arrivals.push(entry),
            Ok(Some(Entry::Note(_))) => {}
            Ok(None) => return arrivals,
            Err(ReadError::Damaged { .. }) if reader.state() == State::Cut => return arrivals,
            Err(error) => panic!("the journal: {error}"),
        }
    }
}

/// Whether a journal that was given up is damaged before its end.
pub(super) fn is_damaged_and_cut(bytes: &[u8]) -> bool {
    let mut reader = reader(bytes);
    loop {
        match reader.next() {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(error) => return reader.state() == State::Cut && matches!(error, ReadError::Damaged { .. }),
        }
    }
}

/// Checks that nothing synced is lost and nothing is there that was not written.
pub(super) fn check_files(written: &[u8], synced: &[u8], left: &[u8]) {
    let (written, synced, left) = (arrivals(written), arrivals(synced), arrivals(left));
    assert!(left.starts_with(&synced), "{} arrivals were synced, {} are left", synced.len(), left.len());
    assert!(written.starts_with(&left), "of {} arrivals {} are left, but others", written.len(), left.len());
}

// Replays a journal from its beginning and counts its snapshots.
fn replay<E: Recorded>(
    journal: &[u8],
    mut look: impl FnMut(&Hosted<E>, &Arrival),
) -> (Replay<E>, Expected, u64, State) {
    let mut reader = reader(journal);
    let mut replay = Replay::<E>::start(reader.head()).unwrap_or_else(|error| panic!("the journal: {error}"));
    let (mut expected, mut out, mut snapshots) = (Expected::default(), Outbox::new(), 0);
    while let Some(entry) = reader.next().unwrap_or_else(|error| panic!("the journal: {error}")) {
        match entry {
            Entry::Arrival(arrival) => {
                expected.arrive(&arrival.kind);
                let applied = replay.apply(&arrival, &mut out);
                applied.unwrap_or_else(|error| panic!("the journal: {error}: {arrival:?}"));
                expected.apply(arrival.time, &arrival.kind, &mut out);
                look(replay.room(), &arrival);
            }
            Entry::Note(Note::Mark(mark)) => {
                replay.check(&mark).unwrap_or_else(|error| panic!("the journal: {error}"));
            }
            Entry::Note(Note::Snapshot(_)) => snapshots += 1,
            Entry::Note(_) => {}
        }
    }
    (replay, expected, snapshots, reader.state())
}

/// Replays a journal from its beginning, and checks that the match had every state and that what was delivered to each
/// peer is a prefix of what the replay sends.
pub(super) fn check_delivered<E, C>(net: &Net<E, C>, left: &[u8], strict: bool, given_up: bool) -> Survived
where
    E: Recorded,
    Hosted<E>: Send + Sync + 'static,
    C: Client,
    C::Error: Debug,
{
    let (replay, expected, snapshots, state) = replay::<E>(left, |room, arrival| {
        assert!(net.had(room.digest()), "the match never had the state after {arrival:?}");
    });
    let cut = state == State::Cut;
    let delivered = net.delivered();
    let mut survived = Survived {
        cut,
        beyond: false,
        over: replay.room().outcome().is_some(),
        forked: false,
        frames: delivered.values().map(|frames| frames.len() as u64).sum(),
        snapshots,
        interrupted: vec![],
        expected: Delivered::new(),
        digest: replay.room().digest(),
        peers: replay.peers().cloned().collect(),
    };
    let nothing = vec![];
    for (peer, delivered) in &delivered {
        let expected = expected.delivered.get(peer).unwrap_or(&nothing);
        if expected.starts_with(delivered) {
            continue;
        }
        let at = expected.iter().zip(delivered).take_while(|(one, two)| one == two).count();
        assert!(
            at == expected.len(),
            "{peer} received {:?} as number {at} of {}, and the replay sends {:?}",
            delivered[at].escape_ascii().to_string(),
            delivered.len(),
            expected[at].escape_ascii().to_string(),
        );
        if cut || given_up {
            survived.beyond = true;
            continue;
        }
        assert!(
            !strict,
            "{peer} received {} frames, and the replay sends only {}; the next is {:?}",
            delivered.len(),
            expected.len(),
            delivered[at].escape_ascii().to_string(),
        );
        survived.forked = true;
    }
    for (peer, closed) in &expected.closed {
        let (delivered, expected) =
            (delivered.get(peer).unwrap_or(&nothing), expected.delivered.get(peer).unwrap_or(&nothing));
        if delivered.len() < expected.len() {
            let missing = expected[delivered.len()..].to_vec();
            survived.interrupted.push(Interrupted { peer: *peer, closed: *closed, missing });
        }
    }
    survived.expected = expected.delivered;
    survived
}

/// Everything that a match sends to each peer until its journal ends, according to a replay. Panics if the journal is
/// damaged or cannot be replayed.
pub fn expected_deliveries<E: Recorded>(journal: &[u8]) -> Delivered {
    replay::<E>(journal, |_, _| {}).1.delivered
}

impl Survived {
    /// Checks that the resumed room has the state of the replay.
    pub(super) fn compare<E: Recorded>(&self, resumable: &Resumable<E>) {
        assert_eq!(resumable.room().digest(), self.digest, "the server resumes from another state");
        assert_eq!(resumable.peers, self.peers);
    }
}

/// What a replay sends to each peer.
#[derive(Debug, Default)]
struct Expected {
    delivered: Delivered,
    present: BTreeMap<PeerId, Link>,
    // When peers on datagram links were closed.
    closed: BTreeMap<PeerId, Time>,
}

impl Expected {
    fn arrive(&mut self, what: &ArrivalKind) {
        if let ArrivalKind::Connected(peer) = what {
            self.present.insert(peer.peer, peer.link);
        }
    }

    fn apply(&mut self, now: Time, what: &ArrivalKind, out: &mut Outbox) {
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } => self.one(peer, &frame),
                Output::Send { to: To::Everyone, frame } => {
                    for &peer in self.present.keys() {
                        self.delivered.entry(peer).or_default().push(frame.clone());
                    }
                }
                Output::Replay { to, log } => self.one(to, &bytes_of(&log)),
                Output::Close { peer } => {
                    if self.present.remove(&peer) == Some(Link::Datagram) {
                        self.closed.insert(peer, now);
                    }
                }
                Output::Event(_) => {}
            }
        }
        if let ArrivalKind::Disconnected { peer, why } = what
            && *why != Gone::Left
        {
            self.present.remove(peer);
        }
    }

    fn one(&mut self, peer: PeerId, frame: &Bytes) {
        if self.present.contains_key(&peer) {
            self.delivered.entry(peer).or_default().push(frame.clone());
        }
    }
}
