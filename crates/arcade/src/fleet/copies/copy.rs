//! The copy of one room: waiting pieces, and the stored position in the journal.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    task::{Context, Waker},
    time::Duration,
};

use bytes::Bytes;
use journal_core::{Copied, Copying};
use mesh::{
    Durability, Fence, LogReply, LogRequest, Piece, Sequence, Ticket, Writer,
    value::{self, Unread},
};
use netcore::HostId;
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{Notify, oneshot},
    time::Instant,
};

use super::{Common, MAX_COPY};

/// How long records are batched that no output waits for: a thousand rooms must not write a thousand times a second.
const GATHERING: Duration = Duration::from_millis(500);
/// The maximum waiting bytes of one room, and of all rooms. Beyond them the copy restarts from a new state once the
/// broker is back.
const MAX_WAITING: usize = 1 << 20;
const MAX_WAITING_IN_ALL: usize = 64 << 20;
/// The pause before the next state if the quota has no space.
const NO_PLACE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) enum CopyStep {
    Write(Ticket, LogRequest),
    /// Earlier pieces are no longer needed.
    Trim(Sequence),
    /// The quota of the node, or the share of the room's host, is exhausted. The stored copy must be removed under the
    /// fence, if any.
    Short(Option<Fence>),
    Wait(Option<Instant>),
    /// Another node owns the room.
    Fenced,
    Over,
}

#[derive(Debug)]
pub(crate) struct RoomCopy {
    common: Arc<Common>,
    state: Mutex<CopyState>,
    pub(super) work: Notify,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they do not depend on each other")]
struct CopyState {
    fence: Fence,
    writer: Writer,
    // Receives the pieces that are read from the log.
    reading: Option<oneshot::Sender<Vec<Piece>>>,
    was_read: Option<oneshot::Receiver<Vec<Piece>>>,
    // The stored record, and whether it has changed since it was last written.
    room: Option<Bytes>,
    is_room_new: bool,
    // The host that has opened the room, the bytes charged to it, and how many of these follow the state.
    host: HostId,
    charged: usize,
    follows: usize,
    is_short: bool,
    // The last piece of a state. Once it is stored, everything before that state can be trimmed.
    trims: Option<u64>,
    journal: u64,
    // The state with which the copy restarts.
    begins: Option<(u64, Vec<u8>)>,
    // Whether a state has to be stored first.
    needs_anchor: bool,
    wants_anchor: bool,
    // The time of the next state, after the quota had no space.
    not_before: Instant,
    // States before this position do not cover all dropped records.
    least: u64,
    runs: VecDeque<(u64, Vec<u8>)>,
    bytes: usize,
    is_cut: bool,
    end: u64,
    // Numbers of pieces, and the journal positions that are reached once they are stored.
    sent: VecDeque<(u64, u64)>,
    reached: u64,
    // Since when the oldest unsent piece, and the oldest unconfirmed one, have waited.
    since: Option<Instant>,
    sent_since: Option<Instant>,
    due: Instant,
    is_urgent: bool,
    is_over: bool,
    waker: Option<Waker>,
}

impl RoomCopy {
    pub(super) fn new(common: Arc<Common>, fence: Fence, reads: bool) -> Self {
        let (reading, was_read) = oneshot::channel();
        let state = CopyState {
            fence,
            writer: writer(fence, reads),
            reading: Some(reading),
            was_read: Some(was_read),
            room: None,
            is_room_new: false,
            host: HostId::Other,
            charged: 0,
            follows: 0,
            is_short: false,
            trims: None,
            journal: 0,
            begins: None,
            needs_anchor: true,
            wants_anchor: false,
            not_before: Instant::now(),
            least: 0,
            runs: VecDeque::new(),
            bytes: 0,
            is_cut: false,
            end: 0,
            sent: VecDeque::new(),
            reached: 0,
            since: None,
            sent_since: None,
            due: Instant::now(),
            is_urgent: false,
            is_over: false,
            waker: None,
        };
        Self { common, state: Mutex::new(state), work: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, CopyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn fence(&self) -> Fence {
        self.state().fence
    }

    /// Continues under another fence. Later pieces begin with a new state, unless the copy is still being read.
    pub(super) fn own(&self, fence: Fence) {
        let mut state = self.state();
        let reads = state.reading.is_some() && state.begins.is_none() && state.journal == 0;
        state.fence = fence;
        state.writer = writer(fence, reads);
        self.start_over(&mut state);
        drop(state);
        self.work.notify_one();
    }

    /// Only the first call returns the receiver.
    pub(super) fn take_receiver(&self) -> Option<oneshot::Receiver<Vec<Piece>>> {
        self.state().was_read.take()
    }

    pub(super) fn note(&self, room: Bytes, host: HostId) {
        let mut state = self.state();
        // A room has the same host for its lifetime.
        if state.charged == 0 {
            state.host = host;
        }
        if state.room.as_ref() != Some(&room) {
            (state.room, state.is_room_new) = (Some(room), true);
            state.since.get_or_insert_with(Instant::now);
            drop(state);
            self.work.notify_one();
        }
    }

    /// Stores all waiting pieces as soon as possible.
    pub(super) fn hurry(&self) {
        self.state().is_urgent = true;
        self.work.notify_one();
    }

    pub(super) fn end(&self) {
        let mut state = self.state();
        state.is_over = true;
        self.clear_runs(&mut state);
        self.take_begins(&mut state);
        self.give_back(&mut state);
        drop(state);
        self.work.notify_one();
        self.wake_waiting();
    }

    fn give_back(&self, state: &mut CopyState) {
        self.common.quota.exchange(state.host, std::mem::take(&mut state.charged), 0);
        self.set_short(state, false);
    }

    fn set_short(&self, state: &mut CopyState, is_short: bool) {
        let was_short = std::mem::replace(&mut state.is_short, is_short);
        self.common.short.fetch_add((is_short && !was_short).into(), Ordering::Relaxed);
        self.common.short.fetch_sub((was_short && !is_short).into(), Ordering::Relaxed);
    }

    // Replaces the charge. Returns whether the quota permits it.
    fn charge(&self, state: &mut CopyState, bytes: usize) -> bool {
        let is_granted = self.common.quota.exchange(state.host, state.charged, bytes);
        if is_granted {
            state.charged = bytes;
        }
        is_granted
    }

    // A later state may be smaller, or other rooms may have freed space.
    fn run_short(&self, state: &mut CopyState) {
        self.set_short(state, true);
        self.start_over(state);
        state.not_before = Instant::now() + NO_PLACE;
    }

    /// Whether an append was rejected because another node owns the room.
    pub(super) fn is_fenced(&self) -> bool {
        self.state().writer.fenced().is_some()
    }

    /// The waiting time of the oldest piece, and the waiting bytes.
    pub(super) fn lag(&self) -> (Duration, usize) {
        let state = self.state();
        let oldest = state.sent_since.or(state.since);
        (oldest.map_or(Duration::ZERO, |since| since.elapsed()), state.bytes + state.writer.lag().1)
    }

    pub(super) fn is_stored(&self) -> bool {
        let state = self.state();
        state.is_over
            || state.writer.fenced().is_some()
            || state.since.is_none() && state.sent_since.is_none() && state.room.is_some()
    }

    /// The waiting time of the oldest piece; `None` if another node could not resume the room from this copy.
    pub(super) fn lag_if_whole(&self) -> Option<Duration> {
        let state = self.state();
        let is_whole = !state.is_over
            && !state.is_cut
            && !state.needs_anchor
            && state.room.is_some()
            && state.writer.fenced().is_none();
        let oldest = state.sent_since.or(state.since);
        let waits = oldest.map_or(Duration::ZERO, |since| since.elapsed());
        // A piece in flight may have to be sent again, so the lag is not zero before it is stored.
        let waits = if state.writer.lag().0 > 0 { waits.max(Duration::from_nanos(1)) } else { waits };
        is_whole.then_some(waits)
    }

    pub(super) fn wake_waiting(&self) {
        let waker = self.state().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn clear_runs(&self, state: &mut CopyState) {
        state.runs.clear();
        self.common.waiting.fetch_sub(std::mem::take(&mut state.bytes), Ordering::Relaxed);
    }

    // Takes the next state, whose bytes no longer count as waiting.
    fn take_begins(&self, state: &mut CopyState) -> Option<(u64, Vec<u8>)> {
        let begins = state.begins.take()?;
        self.common.waiting.fetch_sub(begins.1.len(), Ordering::Relaxed);
        Some(begins)
    }

    // Drops the waiting records, so that the copy needs a newer state.
    fn start_over(&self, state: &mut CopyState) {
        state.least = state.end;
        if state.begins.as_ref().is_some_and(|(position, _)| *position < state.end) {
            self.take_begins(state);
        }
        state.wants_anchor = state.begins.is_none();
        state.needs_anchor = true;
        state.sent.clear();
        state.trims = None;
        self.clear_runs(state);
    }

    pub(super) fn step(&self) -> CopyStep {
        let (now, time) = (Instant::now(), self.common.now());
        let mut guard = self.state();
        let state = &mut *guard;
        if state.is_over {
            return CopyStep::Over;
        }
        if state.writer.fenced().is_some() {
            return CopyStep::Fenced;
        }
        // The log differs from its last known state, or has reached its maximum length.
        if state.writer.wants_anchor() && !state.needs_anchor {
            self.start_over(state);
        }
        let is_idle = state.writer.lag().0 == 0;
        if state.room.is_some()
            && (is_idle || state.needs_anchor)
            && let Some(begins) = self.take_begins(state)
        {
            let bytes = begins.1.len() + state.room.as_ref().map_or(0, Bytes::len);
            if !self.charge(state, bytes) {
                // The former owner may have left a copy.
                let is_first = !state.is_short;
                self.run_short(state);
                // Another node would resume the room from the old copy, so it is removed. With cluster durability it
                // must remain, because delivered outputs depend on it.
                let removes = self.common.durability == Durability::Node && (is_first || state.charged > 0);
                if removes {
                    self.common.quota.exchange(state.host, std::mem::take(&mut state.charged), 0);
                }
                return CopyStep::Short(Some(state.fence).filter(|_| removes));
            }
            self.set_short(state, false);
            state.follows = 0;
            state.begin(begins);
        } else if is_idle && !state.needs_anchor {
            if state.due > now && !state.is_urgent && self.common.durability == Durability::Node {
                return CopyStep::Wait(Some(state.due).filter(|_| state.has_work()));
            }
            self.fill(state);
        }
        if state.trims.is_some_and(|last| last <= state.writer.stored())
            && let Some(anchor) = state.writer.anchor()
        {
            state.trims = None;
            return CopyStep::Trim(anchor);
        }
        if let Some((ticket, request)) = state.writer.next_request(time) {
            state.due = now + GATHERING;
            return CopyStep::Write(ticket, request);
        }
        CopyStep::Wait(state.writer.deadline().map(|due| now + due.since(time)))
    }

    fn fill(&self, state: &mut CopyState) {
        let origin = state.origin();
        let mut pieces = vec![];
        if let Some(room) = state.room.as_ref().filter(|_| std::mem::take(&mut state.is_room_new)) {
            pieces.push(room_piece(room));
        }
        pieces.extend(state.runs.iter().map(|(position, bytes)| records(origin, *position, bytes)));
        let is_cut = std::mem::take(&mut state.is_cut);
        if is_cut {
            pieces.push(cut(origin));
        }
        self.clear_runs(state);
        let bytes: usize = pieces.iter().map(Bytes::len).sum();
        // An abandoned journal has no newer state.
        if state.follows + bytes > MAX_COPY && !is_cut {
            return self.start_over(state);
        }
        if !self.charge(state, state.charged + bytes) && !is_cut {
            return self.run_short(state);
        }
        state.follows += bytes;
        state.sent_since = state.since.take();
        let mut last = None;
        for piece in pieces {
            last = state.writer.write(false, piece);
            if last.is_none() {
                return self.start_over(state);
            }
        }
        // Without a piece, only records that are not copied, such as snapshots, were added.
        match last {
            Some(number) => state.sent.push_back((number, state.end)),
            None => state.reached = state.reached.max(state.end),
        }
    }

    pub(super) fn reply(&self, ticket: Ticket, reply: LogReply) {
        let time = self.common.now();
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some(pieces) = state.writer.reply(time, ticket, reply)
            && let Some(reading) = state.reading.take()
        {
            // The receiver is dropped if the hub is about to end.
            let _ = reading.send(pieces);
        }
        let stored = state.writer.stored();
        while let Some((_, reached)) = state.sent.pop_front_if(|(number, _)| *number <= stored) {
            state.reached = reached;
        }
        if state.writer.lag().0 == 0 {
            state.sent_since = None;
        }
        drop(guard);
        self.wake_waiting();
        self.common.stored.notify_waiters();
    }
}

impl CopyState {
    const fn origin(&self) -> Origin {
        Origin { fence: self.fence.0, journal: self.journal }
    }

    fn has_work(&self) -> bool {
        self.begins.is_some() || self.is_room_new || !self.runs.is_empty() || self.is_cut
    }

    fn begin(&mut self, (position, head): (u64, Vec<u8>)) {
        let Some(room) = &self.room else { return };
        let mut pieces = vec![room_piece(room)];
        pieces.extend(state(self.origin(), position, &head));
        let mut number = None;
        for (index, piece) in pieces.into_iter().enumerate() {
            number = self.writer.write(index == 0, piece);
        }
        // A state that is too large is not stored; the next one may be smaller.
        if let Some(number) = number {
            (self.needs_anchor, self.is_room_new) = (false, false);
            self.sent_since = self.sent_since.or(self.since);
            self.since = self.since.filter(|_| !self.runs.is_empty() || self.is_cut);
            self.sent.push_back((number, position));
            self.trims = Some(number);
        }
    }
}

fn writer(fence: Fence, reads: bool) -> Writer {
    if reads { Writer::taking_over(fence) } else { Writer::of_journal(fence) }
}

impl Drop for RoomCopy {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let begins = state.begins.as_ref().map_or(0, |(_, head)| head.len());
        self.common.quota.exchange(state.host, state.charged, 0);
        self.common.short.fetch_sub(state.is_short.into(), Ordering::Relaxed);
        self.common.waiting.fetch_sub(state.bytes + begins, Ordering::Relaxed);
    }
}

impl Copying for RoomCopy {
    fn begin(&self, journal: u64, position: u64, head: Vec<u8>) {
        let mut state = self.state();
        if state.journal != journal {
            self.clear_runs(&mut state);
            (state.journal, state.least, state.end, state.is_cut) = (journal, 0, position, false);
            (state.reached, state.needs_anchor) = (0, true);
        }
        if position < state.least {
            return;
        }
        self.take_begins(&mut state);
        if self.common.waiting.load(Ordering::Relaxed) + head.len() > MAX_WAITING_IN_ALL {
            (state.wants_anchor, state.not_before) = (true, Instant::now() + NO_PLACE);
            return;
        }
        self.common.waiting.fetch_add(head.len(), Ordering::Relaxed);
        state.begins = Some((position, head));
        state.wants_anchor = false;
        state.since.get_or_insert_with(Instant::now);
        drop(state);
        self.work.notify_one();
    }

    fn add(&self, position: u64, records: &[u8]) {
        let mut guard = self.state();
        let state = &mut *guard;
        state.end = position + records.len() as u64;
        if state.is_over {
            return;
        }
        state.since.get_or_insert_with(Instant::now);
        match state.runs.back_mut() {
            Some((from, run)) if *from + run.len() as u64 == position && run.len() + records.len() <= CHUNK => {
                run.extend_from_slice(records);
            }
            _ => state.runs.push_back((position, records.to_vec())),
        }
        state.bytes += records.len();
        let in_all = self.common.waiting.fetch_add(records.len(), Ordering::Relaxed) + records.len();
        if state.bytes > MAX_WAITING || in_all > MAX_WAITING_IN_ALL {
            self.start_over(state);
        }
    }

    fn skip(&self, position: u64) {
        self.state().end = position;
    }

    fn wants_state(&self) -> bool {
        let state = self.state();
        state.wants_anchor && state.not_before <= Instant::now()
    }

    fn flush(&self) {
        if self.state().has_work() {
            self.work.notify_one();
        }
    }

    fn reached(&self) -> Option<u64> {
        let state = self.state();
        // Another node may own the room, or the room is ending.
        if state.is_over || !self.common.is_leased() {
            return Some(0);
        }
        (self.common.durability == Durability::Cluster).then_some(state.reached)
    }

    fn failure(&self) -> Option<String> {
        self.state().is_over.then(|| "another hub has the room".to_owned())
    }

    fn is_full(&self) -> bool {
        let waits = self.common.durability == Durability::Cluster || !self.common.is_leased();
        waits && self.state().bytes > MAX_WAITING / 2
    }

    fn wake(&self, context: &Context<'_>) {
        self.state().waker = Some(context.waker().clone());
    }

    fn cut(&self) {
        let mut state = self.state();
        state.is_cut = true;
        state.since.get_or_insert_with(Instant::now);
        drop(state);
        self.work.notify_one();
    }
}

/// The largest body of a piece, in bytes.
pub(super) const CHUNK: usize = 384 << 10;

/// Each owner writes its own copy, and a new one for each journal of the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    pub(super) fence: u64,
    pub(super) journal: u64,
}

/// The rest of a piece is its body.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "lowercase")]
enum Front {
    /// The stored record of the room.
    Room,
    /// A state of the match, or the part of it that starts at byte `from`.
    State { origin: Origin, position: u64, size: u64, from: u64 },
    /// Records of the journal.
    Records { origin: Origin, position: u64 },
    /// The journal was abandoned, so its match cannot be resumed.
    Cut { origin: Origin },
}

fn piece(front: &Front, body: &[u8]) -> Bytes {
    // The header is small.
    value::write(front, body).unwrap_or_default()
}

pub(super) fn room_piece(text: &[u8]) -> Bytes {
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

#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) room: Bytes,
    /// `None` if the journal was abandoned or is damaged.
    pub(crate) journal: Option<Copied>,
}

/// A later version has written a piece that this version cannot read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Later;

/// Returns `None` unless the pieces contain the record of a room and a complete state of its match.
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
    fn pieces_of_a_later_version_are_read_if_compatible() {
        let origin = Origin { fence: 7, journal: 1 };
        let [state] = &state(origin, 0, b"head")[..] else { panic!("one part") };
        let read = |bodies| put_together(&pieces(bodies));
        assert!(read(vec![room_piece(b"text"), state.clone()]).unwrap().is_some());
        assert!(read(vec![room_piece(b"text")]).unwrap().is_none(), "there is no state");
        // Unknown fields are ignored.
        let front = serde_json::json!({
            "part": "state", "origin": { "fence": 7, "journal": 1, "disk": "red" }, "position": 0, "size": 4, "from": 0, "packed": false,
        });
        let with_more = value::write(&front, b"head").unwrap();
        let found = read(vec![room_piece(b"text"), with_more]).unwrap().unwrap();
        assert!(*found.room == *b"text" && found.journal.is_some());
        // A piece that needs a later reader is not reported as damaged or missing.
        let mut later = state.to_vec();
        later[0] = value::VERSION + 1;
        assert_eq!(read(vec![room_piece(b"text"), later.into()]).unwrap_err(), Later);
        assert!(read(vec![room_piece(b"text"), Bytes::from_static(b"??")]).unwrap().is_none());
    }
}
