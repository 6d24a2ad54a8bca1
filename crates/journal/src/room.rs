//! A room whose arrivals are written down.

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
    record::{BYTES, Head, LONGEST_GAP, MAX_BODY, Mark, NOTE, Note, Peer, Snapshot, What},
    scribe::Scribe,
    sink::Sink,
};

/// Arrivals between two marks.
const MARK_EVERY: u64 = 256;
/// A snapshot is taken when the journal has grown by so many bytes, and by this many times the last snapshot.
const SNAPSHOT_AFTER: u64 = 128 << 10;
const SNAPSHOT_SHARE: u64 = 4;
/// A state that has more bytes is not written: replaying costs less.
const MAX_SNAPSHOT: usize = 16 << 20;
/// How long a server that has broken an invariant waits for its journal.
const PATIENCE: Duration = Duration::from_secs(5);

/// A room that writes down what arrives at it before anybody is told what follows from it.
///
/// It is made by [`Writing`](crate::Writing), together with the [`Hold`] that its host has to have. The room goes by whole
/// microseconds, as the journal does, so that a replay knows the same times.
pub struct Journalled<E: Recorded> {
    room: Hosted<E>,
    sink: Arc<Sink>,
    scribe: Scribe,
    peers: Peers,
    // Of the newest record.
    micros: u64,
    arrivals: u64,
    last_snapshot: u64,
    snapshot_size: Arc<AtomicU64>,
    // A snapshot is being encoded.
    encoding: Arc<AtomicBool>,
    body: Vec<u8>,
    bytes: Vec<u8>,
}

impl<E: Recorded> std::fmt::Debug for Journalled<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journalled").field("sink", &self.sink).field("arrivals", &self.arrivals).finish_non_exhaustive()
    }
}

/// How far a room had come when its journal was taken up.
#[derive(Debug, Default)]
pub(crate) struct Progressed {
    pub(crate) peers: Peers,
    pub(crate) micros: u64,
    pub(crate) arrivals: u64,
}

impl<E: Recorded> Journalled<E> {
    pub(crate) fn new(room: Hosted<E>, sink: Arc<Sink>, scribe: Scribe, from: Progressed) -> Self {
        let Progressed { peers, micros, arrivals } = from;
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

    /// The room without its journal.
    pub const fn room(&self) -> &Hosted<E> {
        &self.room
    }

    /// Says in the journal that the server goes on from here.
    pub(crate) fn note_resumed(&self) {
        note(&self.sink, &mut vec![], &Note::Resumed { at: seconds() });
        self.scribe.queue(&self.sink);
    }

    // Before an arrival at this time: a mark that tells the time, if the last record is long ago. Not behind the arrival, whose
    // digest is another.
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

    // Writes down what has arrived; `check` is the lowest byte of the digest that came of it.
    fn record(&mut self, micros: u64, check: u8, what: &Heard) {
        let (kind, slot) = match what {
            Heard::Bytes { peer } => (BYTES, self.peers.slot(*peer)),
            Heard::Other(what) => (what.kind(), self.peers.slot_of(what)),
        };
        // A host says nothing about a peer that is not there.
        let Some(slot) = slot else { return };
        let head = Head { kind, slot, micros: micros.saturating_sub(self.micros) };
        self.micros = micros;
        self.body.clear();
        head.put(&mut self.body);
        self.body.push(check);
        match what {
            Heard::Bytes { .. } => self.body.extend_from_slice(&self.bytes),
            Heard::Other(what) => what.put(&mut self.body),
        }
        self.sink.push(&self.body);
        self.arrivals += 1;
    }

    // After an arrival: what stands between arrivals, if it is time for it.
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

    // Only the copy is made here; turning it into bytes may take long.
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
                // Here and not where the room would wait for it.
                sink.spool();
                scribe.queue(&sink);
            } else {
                // Not tried again before the journal has grown much more.
                size.store(MAX_SNAPSHOT as u64, Ordering::Relaxed);
            }
            encoding.store(false, Ordering::Release);
        }));
    }

    // An input has made the room panic, so its digest may do the same.
    fn broken(&mut self, micros: u64, heard: &Heard) {
        self.record(micros, 0, heard);
        note(&self.sink, &mut self.body, &Note::Broken);
        self.scribe.queue(&self.sink);
        self.sink.drain(PATIENCE);
        error!(
            journal = self.sink.name(),
            arrival = self.arrivals,
            "an invariant of the server is broken; the journal ends with what has led to it"
        );
    }
}

/// What the room is handed; bytes are in a buffer beside it.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Bytes { peer: PeerId },
    Other(What),
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
        let heard = match &input {
            RoomInput::Bytes { peer, bytes } => {
                self.bytes.clear();
                self.bytes.extend_from_slice(bytes);
                Heard::Bytes { peer: *peer }
            }
            RoomInput::Connected { peer, role, link, address } => {
                let address = (*address).to_owned();
                Heard::Other(What::Connected(Peer { peer: *peer, role: *role, link: *link, address }))
            }
            RoomInput::Refresh { peer } => Heard::Other(What::Refresh(*peer)),
            RoomInput::Disconnected { peer, why } => Heard::Other(What::Disconnected { peer: *peer, why: *why }),
            RoomInput::Elapsed => Heard::Other(What::Elapsed),
            RoomInput::Stop(leave) => Heard::Other(What::Stop(*leave)),
        };
        // What the room takes of bytes is only known afterwards, and it may end in a panic.
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
                self.broken(micros, &heard);
                resume_unwind(panic);
            }
        };
        match (progress, &heard) {
            // It goes on from before that.
            (_, Heard::Other(What::Stop(Leave::Resumable))) => {
                note(&self.sink, &mut self.body, &Note::Suspended { at: seconds() });
            }
            (Progress::Decoded | Progress::Malformed(_), _) => {
                self.bytes.truncate(self.bytes.len().saturating_sub(left));
                self.record(micros, check_of(&self.room), &heard);
                let what = match &heard {
                    Heard::Bytes { .. } => None,
                    Heard::Other(what) => Some(what),
                };
                self.peers.follow(what, out.closed_since(mark));
                self.annotate();
            }
            // These changed nothing.
            (Progress::Incomplete | Progress::Unheard, _) => {}
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

/// Holds back what follows from an arrival until that is written down.
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

/// Ends a journal when its server ends.
#[derive(Debug)]
pub struct JournalEnd {
    pub(crate) sink: Arc<Sink>,
    pub(crate) scribe: Scribe,
}

impl JournalEnd {
    /// Whether the journal tells everything so far.
    pub fn is_open(&self) -> bool {
        self.sink.is_open()
    }

    /// Has the rest written and the journal closed.
    pub fn close(&self) {
        self.sink.close();
        self.scribe.queue(&self.sink);
    }

    /// Waits until it is closed, at most that long. Whether it is.
    pub fn finish(&self, patience: Duration) -> bool {
        self.sink.finish(patience)
    }
}

/// The lowest byte of a room's digest.
pub(crate) fn check_of(room: &impl Room) -> u8 {
    room.digest().to_le_bytes()[0]
}

/// The time after so many microseconds.
pub(crate) const fn time(micros: u64) -> Time {
    Time::from_nanos(micros.saturating_mul(1_000))
}

/// The time of the clock on the wall, in seconds since 1970 began.
pub(crate) fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Adds a note.
pub(crate) fn note(sink: &Sink, body: &mut Vec<u8>, note: &Note) {
    body.clear();
    Head { kind: NOTE, slot: 0, micros: 0 }.put(body);
    if codec::encode_within(note, body, MAX_BODY) {
        match note {
            // The match goes on without it.
            Note::Snapshot(_) => sink.push_if_it_fits(body),
            _ => sink.push(body),
        }
    }
}
