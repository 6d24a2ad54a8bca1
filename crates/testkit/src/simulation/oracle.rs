use std::{collections::BTreeMap, fmt::Debug, path::Path};

use bytes::Bytes;
use journal_core::{
    Arrival, Entry, Journal, Note, Peer, ReadError, Reader, Replay, Resumable, SegmentState, Source, digest,
};
use netcore::{Client, DisconnectReason, EngineRoom, Input, Link, Outbox, Output, PeerId, Recorded, Room, Time, To};

use crate::{
    disk::{Crash, SimulatedDisk},
    net::{Delivered, Hostable, Net, bytes_of},
};

/// The result of a replay after a crash.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is true or not by itself")]
pub(super) struct Survived {
    pub(super) cut: bool,
    pub(super) over: bool,
    /// Delivered messages are missing, which is permitted after a power cut.
    pub(super) forked: bool,
    pub(super) frames: u64,
    pub(super) snapshots: u64,
    pub(super) segments: u64,
    pub(super) interrupted: Vec<Interrupted>,
    /// Counts as delivered once the server is resumed: peers that received less are updated.
    pub(super) expected: Delivered,
    digest: u64,
    peers: Vec<Peer>,
}

/// A peer that was closed before all its output was delivered.
#[derive(Debug)]
pub(super) struct Interrupted {
    pub(super) peer: PeerId,
    pub(super) closed: Time,
    pub(super) missing: Vec<Bytes>,
}

fn open(disk: &SimulatedDisk, journal: &Path) -> Reader<Source> {
    let opened = Journal::open_on(disk, journal).and_then(|journal| journal.reader());
    opened.unwrap_or_else(|error| panic!("the journal: {error}"))
}

// Only the end of a long match is kept, but the simulated disk remembers the rest.
fn open_whole(disk: &SimulatedDisk, journal: &Path) -> Reader<Source> {
    let reader = open(disk, journal);
    if reader.segment() == 1 {
        return reader;
    }
    let reader = open(&with_oldest(disk, journal, reader.segment()), journal);
    assert_eq!(reader.segment(), 1, "a segment is missing");
    reader
}

// Adds the segments before this one, which were too old to be kept.
fn with_oldest(disk: &SimulatedDisk, journal: &Path, first: u32) -> SimulatedDisk {
    disk.with_removed(|path| {
        (1..first).any(|number| {
            if number == 1 { path == journal } else { path == journal.with_extension(format!("{number}.journal")) }
        })
    })
}

// After a failed sync, earlier bytes of a cut journal may be missing.
fn arrivals(mut reader: Reader<Source>) -> Vec<Entry> {
    let mut arrivals = vec![];
    loop {
        match reader.next() {
            Ok(Some(entry @ Entry::Arrival(_))) => arrivals.push(entry),
            Ok(Some(Entry::Note(_))) => {}
            Ok(None) => return arrivals,
            Err(ReadError::Damaged { .. }) if reader.state() == SegmentState::Cut => return arrivals,
            Err(error) => panic!("the journal: {error}"),
        }
    }
}

/// All arrivals, if the whole journal is readable.
pub(super) fn arrivals_left(disk: &SimulatedDisk, journal: &Path) -> Option<Vec<Entry>> {
    let read = |disk: &SimulatedDisk| Journal::open_on(disk, journal).and_then(|journal| journal.reader()).ok();
    let first = read(disk)?.segment();
    let mut reader = read(&with_oldest(disk, journal, first))?;
    if reader.segment() > 1 {
        return None;
    }
    let mut arrivals = vec![];
    while let Some(entry) = reader.next().ok()? {
        arrivals.extend(matches!(entry, Entry::Arrival(_)).then_some(entry));
    }
    Some(arrivals)
}

pub(super) fn is_damaged_and_cut(disk: &SimulatedDisk, journal: &Path) -> bool {
    let mut reader = open(disk, journal);
    loop {
        match reader.next() {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(error) => return reader.state() == SegmentState::Cut && matches!(error, ReadError::Damaged { .. }),
        }
    }
}

/// Arrivals before a crash: all, and those that certainly survive a power cut.
pub(super) struct Written {
    all: Vec<Entry>,
    certain: Vec<Entry>,
    // Whether the journal was being cut: a power cut may lose the mark, and restore records that were cut off.
    cut: bool,
}

impl Written {
    /// Reads the journal as another process.
    pub(super) fn read(disk: &SimulatedDisk, journal: &Path) -> Self {
        assert!(disk.certain().has_had(journal), "the journal has a name that a power cut takes away");
        let living = disk.other_process();
        let last = Journal::open_on(&living, journal).and_then(|journal| journal.last());
        let cut = last.is_ok_and(|last| last.state() == SegmentState::Cut);
        let certain = arrivals(open_whole(&disk.certain(), journal));
        Self { all: arrivals(open_whole(&living, journal)), certain, cut }
    }

    /// Checks that no certain arrival is lost, and that every arrival was written.
    pub(super) fn compare(&self, how: Crash, disk: &SimulatedDisk, journal: &Path) {
        let left = arrivals(open_whole(disk, journal));
        let (all, certain) = (&self.all, &self.certain);
        assert!(left.starts_with(certain), "{} arrivals were synced, {} are left", certain.len(), left.len());
        let is_part = all.starts_with(&left) || (self.cut && left.starts_with(all));
        assert!(is_part, "of {} arrivals {} are left, but others", all.len(), left.len());
        assert!(how == Crash::PowerCut || all.len() == left.len(), "the server was killed, and an arrival is gone");
    }
}

// Replays from the first remaining state.
fn replay<E: Recorded>(
    mut reader: Reader<Source>,
    mut look: impl FnMut(&EngineRoom<E>, &Arrival),
) -> (Replay<E>, Expected, (u64, u64), SegmentState) {
    let mut replay = Replay::<E>::start(reader.head()).unwrap_or_else(|error| panic!("the journal: {error}"));
    let (mut expected, mut out, mut snapshots) = (Expected::default(), Outbox::new(), 0);
    while let Some(entry) = reader.next().unwrap_or_else(|error| panic!("the journal: {error}")) {
        match entry {
            Entry::Arrival(arrival) => {
                expected.arrive(&arrival.input);
                let applied = replay.apply(&arrival, &mut out);
                applied.unwrap_or_else(|error| panic!("the journal: {error}: {arrival:?}"));
                expected.apply(arrival.time, &arrival.input, &mut out);
                look(replay.room(), &arrival);
            }
            Entry::Note(Note::Mark(mark)) => {
                replay.check(&mark).unwrap_or_else(|error| panic!("the journal: {error}"));
            }
            Entry::Note(Note::Snapshot(_)) => snapshots += 1,
            Entry::Note(_) => {}
        }
    }
    (replay, expected, (snapshots, u64::from(reader.segment())), reader.state())
}

/// Checks that the match had every state, and that the delivered output is a prefix of the replay's.
pub(super) fn check_delivered<E, C>(net: &Net<E, C>, disk: &SimulatedDisk, journal: &Path, strict: bool) -> Survived
where
    E: Recorded + Hostable,
    C: Client<Error: Debug>,
{
    let reader = open_whole(disk, journal);
    let (replay, expected, (snapshots, segments), state) = replay::<E>(reader, |room, arrival| {
        assert!(net.had(digest(room)), "the match never had the state after {arrival:?}");
    });
    let cut = state == SegmentState::Cut;
    let delivered = net.delivered();
    let mut survived = Survived {
        cut,
        over: replay.room().outcome().is_some(),
        forked: false,
        frames: delivered.values().map(|frames| frames.len() as u64).sum(),
        snapshots,
        segments,
        interrupted: vec![],
        expected: Delivered::new(),
        digest: digest(replay.room()),
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
        if cut {
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

impl Survived {
    pub(super) fn compare<E: Recorded>(&self, resumable: &Resumable<E>) {
        assert_eq!(digest(resumable.room()), self.digest, "the server resumes from another state");
        assert_eq!(resumable.peers, self.peers);
    }
}

#[derive(Debug, Default)]
struct Expected {
    delivered: Delivered,
    present: BTreeMap<PeerId, Link>,
    closed: BTreeMap<PeerId, Time>,
}

impl Expected {
    fn arrive(&mut self, input: &Input<'_, Bytes>) {
        if let Input::Connected { peer, link, .. } = input {
            self.present.insert(*peer, *link);
        }
    }

    fn apply(&mut self, now: Time, input: &Input<'_, Bytes>, out: &mut Outbox) {
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } => self.one(peer, &frame),
                Output::Send { to: To::Everyone, frame } => {
                    for &peer in self.present.keys() {
                        self.delivered.entry(peer).or_default().push(frame.clone());
                    }
                }
                Output::Replay { to, history } => self.one(to, &bytes_of(&history)),
                Output::Close { peer } => {
                    if self.present.remove(&peer) == Some(Link::Datagram) {
                        self.closed.insert(peer, now);
                    }
                }
                Output::Event(_) => {}
            }
        }
        if let Input::Disconnected { peer, why } = input
            && *why != DisconnectReason::Left
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
