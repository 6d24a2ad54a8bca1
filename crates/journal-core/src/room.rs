use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use netcore::{
    Admission, DecoderOf, EngineRoom, EngineRoomState, Hold, Input, Leave, Outbox, Outcome, PeerId, Progress, Recorded,
    Room, Split, Status, Time,
};
use tracing::error;

use crate::{
    Fact, Facts, Peer, codec,
    peers::Peers,
    record::{self, LONGEST_GAP, Mark, Note, RecordHead, Snapshot},
    scribe::Scribe,
    sink::Sink,
    sync::{AtomicBool, AtomicU64, Ordering},
};

/// Arrivals between two marks.
const MARK_EVERY: u64 = 256;
/// A mark encodes the whole state, so marks of a large state are further apart: an arrival per this many bytes.
const MARK_SHARE: usize = 1 << 10;
/// A snapshot is taken when the journal has grown by this many bytes and by this multiple of the last snapshot.
const SNAPSHOT_AFTER: u64 = 128 << 10;
const SNAPSHOT_SHARE: u64 = 4;
/// For a larger state, a replay is cheaper.
const MAX_SNAPSHOT: usize = 16 << 20;
/// Bytes before the body: the checksum, and the length if that is at most 250.
const FRONT: usize = 5;

/// A room whose inputs are recorded before the resulting outputs are sent.
///
/// [`Writing`](crate::Writing) creates it with the [`Hold`] for its host. Times are rounded up to whole microseconds,
/// as the journal stores them, so that a replay uses the same times.
pub struct Journalled<E: Recorded> {
    room: EngineRoom<E>,
    sink: Arc<Sink>,
    scribe: Scribe,
    peers: Peers,
    micros: u64,
    arrivals: u64,
    next_mark: u64,
    last_snapshot: u64,
    snapshot_size: Arc<AtomicU64>,
    encoding: Arc<AtomicBool>,
    body: Vec<u8>,
}

impl<E: Recorded> std::fmt::Debug for Journalled<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journalled").field("sink", &self.sink).field("arrivals", &self.arrivals).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
pub(crate) struct RoomProgress {
    pub(crate) peers: Peers,
    pub(crate) micros: u64,
    pub(crate) arrivals: u64,
}

impl<E: Recorded> Journalled<E> {
    pub(crate) fn new(room: EngineRoom<E>, sink: Arc<Sink>, scribe: Scribe, from: RoomProgress) -> Self {
        let RoomProgress { peers, micros, arrivals } = from;
        let last_snapshot = sink.end_position();
        let journalled = Self {
            room,
            sink,
            scribe,
            peers,
            micros,
            arrivals,
            next_mark: arrivals + MARK_EVERY,
            last_snapshot,
            snapshot_size: Arc::default(),
            encoding: Arc::default(),
            body: vec![],
        };
        if journalled.sink.copy().is_some() {
            let (mut base, state) = journalled.present();
            if codec::encode_within(&state, &mut base.state, MAX_SNAPSHOT) {
                base.mark.digest = codec::hash_encoded(&base.state);
                journalled.sink.begin_copy(base, &journalled.sink.facts());
            }
        }
        journalled
    }

    // The current state, not encoded or hashed yet.
    fn present(&self) -> (Snapshot, EngineRoomState<E::State, DecoderOf<E>>) {
        let mark = Mark { time: time(self.micros), arrivals: self.arrivals, digest: 0 };
        let (offset, sum) = self.sink.position();
        let peers = self.peers.iter().cloned().collect();
        (Snapshot { mark, offset, sum, next_peer: self.peers.next(), peers, state: vec![] }, self.room.state())
    }

    pub const fn room(&self) -> &EngineRoom<E> {
        &self.room
    }

    pub fn peer(&self, peer: PeerId) -> Option<&Peer> {
        self.peers.get(peer)
    }

    pub(crate) fn note_resumed(&self) {
        note(&self.sink, &mut vec![], &Note::Resumed { at: self.scribe.unix_seconds() });
        self.scribe.queue(&self.sink);
    }

    // After a long gap, records a mark with the new time before the arrival changes the state.
    fn bridge(&mut self, micros: u64) {
        if micros.saturating_sub(self.micros) >= LONGEST_GAP {
            self.micros = micros;
            self.mark();
        }
    }

    fn mark(&mut self) {
        let (digest, size) = codec::hash(&self.room.state());
        let mark = Mark { time: time(self.micros), arrivals: self.arrivals, digest };
        self.next_mark = self.arrivals + MARK_EVERY.max((size / MARK_SHARE) as u64);
        note(&self.sink, &mut self.body, &Note::Mark(mark));
    }

    fn record(&mut self, micros: u64, input: &Input<'_, &[u8]>) -> u32 {
        // A host reports no inputs of unknown peers.
        let Some(slot) = self.peers.slot_of(input) else { return 0 };
        let head = RecordHead { kind: record::kind_of(input), slot, micros: micros.saturating_sub(self.micros) };
        self.micros = micros;
        self.body.clear();
        head.put(&mut self.body);
        record::put_input(input, &mut self.body);
        self.sink.push(&self.body);
        self.arrivals += 1;
        u32::try_from(self.body.len() + FRONT).unwrap_or(u32::MAX)
    }

    fn annotate(&mut self) {
        if let Some(outcome) = self.room.outcome() {
            self.mark();
            note(&self.sink, &mut self.body, &Note::Over(outcome));
            return;
        }
        if self.arrivals >= self.next_mark {
            self.mark();
        }
        let grown = self.sink.end_position() - self.last_snapshot;
        let share = SNAPSHOT_SHARE * self.snapshot_size.load(Ordering::Relaxed);
        let is_due = grown >= SNAPSHOT_AFTER.min(self.sink.max_segment()).max(share);
        if (is_due || self.sink.copy().is_some_and(|copy| copy.wants_state()))
            && !self.encoding.swap(true, Ordering::AcqRel)
        {
            self.snapshot();
        }
    }

    // Copies the state. The syncing thread encodes it and may begin a segment with it; both may take long.
    fn snapshot(&mut self) {
        let (mut snapshot, state) = self.present();
        // Read after the offset: a concurrent fact is then in both, rather than in neither.
        let facts = self.sink.facts();
        self.last_snapshot = snapshot.offset;
        let (sink, scribe) = (Arc::clone(&self.sink), self.scribe.clone());
        let (size, encoding) = (Arc::clone(&self.snapshot_size), Arc::clone(&self.encoding));
        self.scribe.run(Box::new(move || {
            if codec::encode_within(&state, &mut snapshot.state, MAX_SNAPSHOT) {
                snapshot.mark.digest = codec::hash_encoded(&snapshot.state);
                size.store(snapshot.state.len() as u64, Ordering::Relaxed);
                if sink.copy().is_some() {
                    sink.begin_copy(snapshot.clone(), &facts);
                }
                if sink.is_segment_full() {
                    sink.rotate(snapshot, &facts);
                } else {
                    note_own(&sink, &mut vec![], &Note::Snapshot(snapshot));
                }
                scribe.queue(&sink);
            } else {
                // Delays the next attempt until the journal has grown much more.
                size.store(MAX_SNAPSHOT as u64, Ordering::Relaxed);
            }
            encoding.store(false, Ordering::Release);
        }));
    }

    fn record_panic(&mut self, micros: u64, input: &Input<'_, &[u8]>) {
        self.record(micros, input);
        note(&self.sink, &mut self.body, &Note::Broken);
        // Requests an immediate write.
        self.sink.held_position();
        self.scribe.queue(&self.sink);
        error!(
            journal = self.sink.name.as_str(),
            arrival = self.arrivals,
            "the server panicked; the journal ends with the input that caused it"
        );
    }
}

impl<E: Recorded> Room for Journalled<E> {
    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split {
        self.room.split(peer, bytes)
    }

    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        let micros = now.as_nanos().div_ceil(1_000).max(self.micros);
        let now = time(micros);
        if !self.sink.is_open() {
            return self.room.input(now, input, out);
        }
        self.bridge(micros);
        let start = out.position();
        let room = &mut self.room;
        let done = catch_unwind(AssertUnwindSafe(|| room.input(now, input.borrowed(), out)));
        let progress = match done {
            Ok(progress) => progress,
            Err(panic) => {
                self.record_panic(micros, &input);
                resume_unwind(panic);
            }
        };
        if progress == Progress::Ignored {
            return progress;
        }
        let recorded = match (&input, &progress) {
            // The match resumes from the state before this input.
            (Input::Stop(Leave::Resumable), _) => {
                note(&self.sink, &mut self.body, &Note::Suspended { at: self.scribe.unix_seconds() });
                return progress;
            }
            // The bytes are omitted, since they may be many.
            (Input::Message { peer, .. }, Progress::Malformed(why)) => {
                self.record(micros, &Input::Malformed { peer: *peer, why: why.clone() })
            }
            _ => self.record(micros, &input),
        };
        out.charge_recorded(recorded);
        self.peers.follow(&input, out.closed_since(start));
        self.annotate();
        progress
    }

    fn admits(&self, datagram: &[u8]) -> Admission {
        self.room.admits(datagram)
    }

    fn deadline(&self) -> Option<Time> {
        self.room.deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.room.outcome()
    }

    fn status(&self) -> Status {
        self.room.status()
    }
}

/// Holds outputs back until their arrival is recorded. Clones share a journal, and only one may wait at a time.
#[derive(Debug, Clone)]
pub struct JournalHold {
    pub(crate) sink: Arc<Sink>,
    pub(crate) scribe: Scribe,
}

impl Hold for JournalHold {
    fn position(&self) -> u64 {
        self.sink.held_position()
    }

    fn reached(&self) -> u64 {
        self.sink.reached_with_copy()
    }

    fn poll_reached(&mut self, reached: u64, context: &mut Context<'_>) -> Poll<()> {
        self.sink.poll_with_copy(reached, context)
    }

    fn flush(&mut self) {
        self.scribe.flush(&self.sink);
        if let Some(copy) = self.sink.copy() {
            copy.flush();
        }
    }

    fn is_full(&self) -> bool {
        self.sink.is_full() || self.sink.copy().is_some_and(|copy| copy.is_full())
    }

    fn set_stalled(&mut self, is_stalled: bool) {
        self.sink.set_stalled(is_stalled);
    }

    fn failure(&self) -> Option<String> {
        self.sink.failure().or_else(|| self.sink.copy().and_then(|copy| copy.failure()))
    }
}

#[derive(Debug)]
pub struct JournalEnd {
    pub(crate) sink: Arc<Sink>,
    pub(crate) scribe: Scribe,
}

#[derive(Debug, Clone)]
pub struct JournalWatch {
    sink: Arc<Sink>,
}

impl JournalWatch {
    pub fn is_open(&self) -> bool {
        self.sink.is_open()
    }

    /// Whether outputs have waited long for the disk or the copy.
    pub fn is_stalled(&self) -> bool {
        self.sink.is_stalled()
    }

    /// Includes bytes that wait for the disk, and removed segments.
    pub fn length(&self) -> u64 {
        self.sink.end_position()
    }
}

#[derive(Debug, Clone)]
pub struct JournalFacts {
    sink: Arc<Sink>,
    scribe: Scribe,
}

impl JournalFacts {
    /// Sets a fact; an empty value removes it. Later outputs of the room wait until it is stored. Returns `false` if it
    /// is longer than [`MAX_FACT`](crate::MAX_FACT), or if there are [`MAX_FACTS`](crate::MAX_FACTS) others.
    pub fn set(&self, key: &str, value: &str) -> bool {
        let is_set = self.sink.set_fact(Fact { key: key.to_owned(), value: value.to_owned() });
        self.scribe.queue(&self.sink);
        is_set
    }

    pub fn all(&self) -> Facts {
        self.sink.facts()
    }
}

impl JournalEnd {
    pub fn facts(&self) -> JournalFacts {
        JournalFacts { sink: Arc::clone(&self.sink), scribe: self.scribe.clone() }
    }

    pub fn watch(&self) -> JournalWatch {
        JournalWatch { sink: Arc::clone(&self.sink) }
    }

    pub fn is_open(&self) -> bool {
        self.sink.is_open()
    }

    pub fn close(&self) {
        self.sink.close();
        self.scribe.queue(&self.sink);
        if let Some(copy) = self.sink.copy() {
            copy.flush();
        }
    }

    /// Waits until the journal is closed or given up. Returns whether it is.
    pub fn finish(&self, patience: Duration) -> bool {
        self.sink.finish(patience)
    }
}

pub(crate) const fn time(micros: u64) -> Time {
    Time::from_nanos(micros.saturating_mul(1_000))
}

fn note(sink: &Sink, body: &mut Vec<u8>, note: &Note) {
    if record::encode_note(body, note) {
        sink.push(body);
    }
}

// Records a note that is not copied.
fn note_own(sink: &Sink, body: &mut Vec<u8>, note: &Note) {
    if record::encode_note(body, note) {
        sink.push_own(body);
    }
}
