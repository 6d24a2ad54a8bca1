//! A room that records its arrivals.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use netcore::{Admission, Hosted, Leave, Outbox, Outcome, PeerId, Progress, Recorded, Room, RoomInput, Status, Time};
use netshell::Hold;
use tracing::error;

use crate::{
    codec,
    peers::Peers,
    record::{ArrivalKind, BYTES, Head, LONGEST_GAP, MAX_BODY, Mark, NOTE, Note, Peer, Snapshot},
    scribe::Scribe,
    sink::Sink,
};

/// Arrivals between two marks.
const MARK_EVERY: u64 = 256;
/// A snapshot is taken when the journal has grown by this many bytes, and by this multiple of the last snapshot.
const SNAPSHOT_AFTER: u64 = 128 << 10;
const SNAPSHOT_SHARE: u64 = 4;
/// Limit on the size of a snapshot; for a larger state a replay is cheaper.
const MAX_SNAPSHOT: usize = 16 << 20;
/// How long a panicking server waits for its journal.
const PATIENCE: Duration = Duration::from_secs(5);

/// A room that records what arrives before the resulting outputs are sent.
///
/// It is created by [`Writing`](crate::Writing), together with the [`Hold`] for its host. Times are rounded up to whole
/// microseconds, as the journal stores them, so that a replay uses the same times.
pub struct Journalled<E: Recorded> {
    room: Hosted<E>,
    sink: Arc<Sink>,
    scribe: Scribe,
    peers: Peers,
    // The time of the latest record.
    micros: u64,
    arrivals: u64,
    last_snapshot: u64,
    snapshot_size: Arc<AtomicU64>,
    // Whether a snapshot is being encoded.
    encoding: Arc<AtomicBool>,
    body: Vec<u8>,
    bytes: Vec<u8>,
}

impl<E: Recorded> std::fmt::Debug for Journalled<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journalled").field("sink", &self.sink).field("arrivals", &self.arrivals).finish_non_exhaustive()
    }
}

/// The progress of a room when its journal was opened.
#[derive(Debug, Default)]
pub(crate) struct RoomProgress {
    pub(crate) peers: Peers,
    pub(crate) micros: u64,
    pub(crate) arrivals: u64,
}

impl<E: Recorded> Journalled<E> {
    pub(crate) fn new(room: Hosted<E>, sink: Arc<Sink>, scribe: Scribe, from: RoomProgress) -> Self {
        let RoomProgress { peers, micros, arrivals } = from;
        let last_snapshot = sink.end_offset();
        Self {
            room,
            sink,
            scribe,
            peers,
            micros,
            arrivals,
            last_snapshot,
            snapshot_size: Arc::default(),
            encoding: Arc::default(),
            body: vec![],
            bytes: vec![],
        }
    }

    /// The room itself.
    pub const fn room(&self) -> &Hosted<E> {
        &self.room
    }

    /// Records that the server was resumed here.
    pub(crate) fn note_resumed(&self) {
        note(&self.sink, &mut vec![], &Note::Resumed { at: seconds() });
        self.scribe.queue(&self.sink);
    }

    // Records a mark with the time before an arrival if the last record is long ago. Not after it, because the digest
    // is another one then.
    fn bridge(&mut self, micros: u64) {
        if micros.saturating_sub(self.micros) >= LONGEST_GAP {
            self.micros = micros;
            self.mark();
        }
    }

    fn mark(&mut self) {
        let mark = Mark { time: time(self.micros), arrivals: self.arrivals, digest: self.room.digest() };
        note(&self.sink, &mut self.body, &Note::Mark(mark));
    }

    // Records an arrival; `check` is the lowest byte of the digest after it.
    fn record(&mut self, micros: u64, check: u8, what: &RecordedInput) {
        let (kind, slot) = match what {
            RecordedInput::Bytes { peer } => (BYTES, self.peers.slot(*peer)),
            RecordedInput::Other(what) => (what.record_kind(), self.peers.slot_of(what)),
        };
        // A host reports nothing about unknown peers.
        let Some(slot) = slot else { return };
        let head = Head { kind, slot, micros: micros.saturating_sub(self.micros) };
        self.micros = micros;
        self.body.clear();
        head.put(&mut self.body);
        self.body.push(check);
        match what {
            RecordedInput::Bytes { .. } => self.body.extend_from_slice(&self.bytes),
            RecordedInput::Other(what) => what.put(&mut self.body),
        }
        self.sink.push(&self.body);
        self.arrivals += 1;
    }

    // Records marks and snapshots that are due after an arrival.
    fn annotate(&mut self) {
        if let Some(outcome) = self.room.outcome() {
            self.mark();
            note(&self.sink, &mut self.body, &Note::Over(outcome));
            return;
        }
        if self.arrivals.is_multiple_of(MARK_EVERY) {
            self.mark();
        }
        let grown = self.sink.end_offset() - self.last_snapshot;
        if grown >= SNAPSHOT_AFTER.max(SNAPSHOT_SHARE * self.snapshot_size.load(Ordering::Relaxed))
            && !self.encoding.swap(true, Ordering::AcqRel)
        {
            self.snapshot();
        }
    }

    // Only the state is copied here. Encoding it may take long.
    fn snapshot(&mut self) {
        let mark = Mark { time: time(self.micros), arrivals: self.arrivals, digest: self.room.digest() };
        let (offset, sum) = self.sink.position();
        self.last_snapshot = offset;
        let peers = self.peers.iter().cloned().collect();
        let mut snapshot = Snapshot { mark, offset, sum, next_peer: self.peers.next(), peers, state: vec![] };
        let state = self.room.state();
        let (sink, scribe) = (Arc::clone(&self.sink), self.scribe.clone());
        let (size, encoding) = (Arc::clone(&self.snapshot_size), Arc::clone(&self.encoding));
        self.scribe.run(Box::new(move || {
            if codec::encode_within(&state, &mut snapshot.state, MAX_SNAPSHOT) {
                size.store(snapshot.state.len() as u64, Ordering::Relaxed);
                note(&sink, &mut vec![], &Note::Snapshot(snapshot));
                // Here, so that the room does not wait for it.
                sink.spool();
                scribe.queue(&sink);
            } else {
                // Not tried again before the journal has grown much more.
                size.store(MAX_SNAPSHOT as u64, Ordering::Relaxed);
            }
            encoding.store(false, Ordering::Release);
        }));
    }

    // An input made the room panic. Its digest is not computed, because that may panic too.
    fn record_panic(&mut self, micros: u64, recorded: &RecordedInput) {
        self.record(micros, 0, recorded);
        note(&self.sink, &mut self.body, &Note::Broken);
        self.scribe.queue(&self.sink);
        self.sink.drain(PATIENCE);
        error!(
            journal = self.sink.name(),
            arrival = self.arrivals,
            "the server panicked; the journal ends with the input that caused it"
        );
    }
}

/// An input of the room; bytes are in a separate buffer.
#[derive(Debug, PartialEq, Eq)]
enum RecordedInput {
    Bytes { peer: PeerId },
    Other(ArrivalKind),
}

impl<E: Recorded> Room for Journalled<E> {
    fn input(&mut self, now: Time, input: RoomInput<'_>, out: &mut Outbox) -> Progress {
        let micros = now.as_nanos().div_ceil(1_000).max(self.micros);
        let now = time(micros);
        if !self.sink.is_open() {
            return self.room.input(now, input, out);
        }
        self.bridge(micros);
        let mark = out.mark();
        let recorded = match &input {
            RoomInput::Bytes { peer, bytes } => {
                self.bytes.clear();
                self.bytes.extend_from_slice(bytes);
                RecordedInput::Bytes { peer: *peer }
            }
            RoomInput::Connected { peer, role, link, address } => {
                let address = (*address).to_owned();
                RecordedInput::Other(ArrivalKind::Connected(Peer { peer: *peer, role: *role, link: *link, address }))
            }
            RoomInput::Refresh { peer } => RecordedInput::Other(ArrivalKind::Refresh(*peer)),
            RoomInput::Disconnected { peer, why } => {
                RecordedInput::Other(ArrivalKind::Disconnected { peer: *peer, why: *why })
            }
            RoomInput::Elapsed => RecordedInput::Other(ArrivalKind::Elapsed),
            RoomInput::Stop(leave) => RecordedInput::Other(ArrivalKind::Stop(*leave)),
        };
        // How many bytes the room takes is known only afterwards, and it may panic.
        let room = &mut self.room;
        let done = catch_unwind(AssertUnwindSafe(|| match input {
            RoomInput::Bytes { peer, bytes } => {
                let progress = room.input(now, RoomInput::Bytes { peer, bytes: &mut *bytes }, out);
                (progress, bytes.len())
            }
            other => (room.input(now, other, out), 0),
        }));
        let (progress, left) = match done {
            Ok(done) => done,
            Err(panic) => {
                self.record_panic(micros, &recorded);
                resume_unwind(panic);
            }
        };
        match (progress, &recorded) {
            // The match is resumed from before this input.
            (_, RecordedInput::Other(ArrivalKind::Stop(Leave::Resumable))) => {
                note(&self.sink, &mut self.body, &Note::Suspended { at: seconds() });
            }
            (Progress::Decoded | Progress::Malformed(_), _) => {
                self.bytes.truncate(self.bytes.len().saturating_sub(left));
                self.record(micros, check_of(&self.room), &recorded);
                let what = match &recorded {
                    RecordedInput::Bytes { .. } => None,
                    RecordedInput::Other(what) => Some(what),
                };
                self.peers.follow(what, out.closed_since(mark));
                self.annotate();
            }
            // These changed nothing.
            (Progress::Incomplete | Progress::Ignored, _) => {}
        }
        progress
    }

    fn admits(&self, datagram: &[u8]) -> Admission {
        self.room.admits(datagram)
    }

    fn max_message(&self) -> usize {
        self.room.max_message()
    }

    fn deadline(&self) -> Option<Time> {
        self.room.deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.room.outcome()
    }

    fn digest(&self) -> u64 {
        self.room.digest()
    }

    fn status(&self) -> Status {
        self.room.status()
    }
}

/// Holds the outputs of an arrival back until it is recorded.
#[derive(Debug)]
pub struct JournalHold {
    pub(crate) sink: Arc<Sink>,
    pub(crate) scribe: Scribe,
}

impl Hold for JournalHold {
    fn mark(&self) -> u64 {
        self.sink.mark()
    }

    fn reached(&self) -> u64 {
        self.sink.reached()
    }

    fn poll_reached(&mut self, reached: u64, context: &mut Context<'_>) -> Poll<()> {
        self.sink.poll_reached(reached, context)
    }

    fn flush(&mut self) {
        self.scribe.queue(&self.sink);
    }

    fn give_up(&mut self) {
        self.sink.give_up();
        self.scribe.queue(&self.sink);
    }
}

/// Closes a journal when its server ends.
#[derive(Debug)]
pub struct JournalEnd {
    pub(crate) sink: Arc<Sink>,
    pub(crate) scribe: Scribe,
}

/// How a journal is doing.
#[derive(Debug, Clone)]
pub struct JournalWatch {
    sink: Arc<Sink>,
}

impl JournalWatch {
    /// Whether the journal is complete so far.
    pub fn is_open(&self) -> bool {
        self.sink.is_open()
    }

    /// Its length in bytes, with what waits for the disk.
    pub fn length(&self) -> u64 {
        self.sink.end_offset()
    }
}

impl JournalEnd {
    /// A handle that only looks.
    pub fn watch(&self) -> JournalWatch {
        JournalWatch { sink: Arc::clone(&self.sink) }
    }

    /// Whether the journal is complete so far.
    pub fn is_open(&self) -> bool {
        self.sink.is_open()
    }

    /// Writes the rest and closes the journal.
    pub fn close(&self) {
        self.sink.close();
        self.scribe.queue(&self.sink);
    }

    /// Waits until it is closed, or the time is over. Returns whether it is.
    pub fn finish(&self, patience: Duration) -> bool {
        self.sink.finish(patience)
    }
}

/// The lowest byte of a room's digest.
pub(crate) fn check_of(room: &impl Room) -> u8 {
    room.digest().to_le_bytes()[0]
}

/// The time after this many microseconds.
pub(crate) const fn time(micros: u64) -> Time {
    Time::from_nanos(micros.saturating_mul(1_000))
}

/// The current time in seconds since the Unix epoch.
pub(crate) fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Adds a note.
pub(crate) fn note(sink: &Sink, body: &mut Vec<u8>, note: &Note) {
    body.clear();
    Head { kind: NOTE, slot: 0, micros: 0 }.put(body);
    if codec::encode_within(note, body, MAX_BODY) {
        match note {
            // The match does not depend on it.
            Note::Snapshot(_) => sink.push_if_it_fits(body),
            _ => sink.push(body),
        }
    }
}
