//! A minimal engine and a disk with faults, for tests.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard},
};

use bytes::{Buf, BytesMut};
use netcore::{
    Admission, DecodeError, Engine, Fingerprint, Framing, Hosted, Input, Leave, Link, Outbox, Outcome, PeerId, Phase,
    Protocol, Recorded, Role, Room, RoomInput, StateError, Status, Time,
};
use serde::{Deserialize, Serialize};

use crate::{Disk, Head, JournalHold, Journalled, Parts, Scribe, SyncPolicy, Writing};

/// Sums up the bytes that it receives, one per message, and sends everybody the sum. `!` is malformed, `q` closes its
/// sender, `x` panics, and each second is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Adder {
    pub(crate) sum: u64,
    start: u64,
    seconds: u64,
    over: Option<Outcome>,
}

impl Adder {
    pub(crate) const fn new(start: u64) -> Self {
        Self { sum: start, start, seconds: 0, over: None }
    }
}

pub(crate) struct OneByte;

impl Protocol for OneByte {
    type Request = u8;
    type Decoder = ();
    const MAX_MESSAGE: usize = 1;

    fn decode((): &mut (), buffer: &mut BytesMut, _: Framing) -> Result<Option<u8>, DecodeError> {
        match buffer.first() {
            Some(b'!') => Err(DecodeError::Invalid { what: "a shout", at: 0 }),
            Some(&byte) => {
                buffer.advance(1);
                Ok(Some(byte))
            }
            None => Ok(None),
        }
    }

    fn encode_request(request: &u8, out: &mut BytesMut) {
        out.extend_from_slice(&[*request]);
    }

    fn admits(_: Result<&u8, DecodeError>) -> Admission {
        Admission::Admitted
    }
}

impl Engine for Adder {
    type Protocol = OneByte;

    fn input(&mut self, _: Time, input: Input<'_, u8>, out: &mut Outbox) {
        match input {
            Input::Request { request: b'x', .. } => panic!("an invariant is broken"),
            Input::Request { peer, request: b'q' } => {
                out.send(peer, "bye".into());
                out.close(peer);
            }
            Input::Request { request, .. } => self.sum += u64::from(request),
            Input::Elapsed => self.seconds += 1,
            Input::Stop(Leave::Over | Leave::Resumable) => self.over = Some(Outcome::Stopped),
            _ => {}
        }
        out.send_everyone(self.sum.to_string().into());
    }

    fn deadline(&self) -> Option<Time> {
        Some(Time::from_millis(1_000 * (self.seconds + 1)))
    }

    fn outcome(&self) -> Option<Outcome> {
        self.over
    }

    fn digest(&self) -> u64 {
        let mut fingerprint = Fingerprint::new();
        fingerprint.add(self.sum);
        fingerprint.add(self.seconds);
        fingerprint.add(u64::from(self.over.is_some()));
        fingerprint.value()
    }

    fn status(&self) -> Status {
        Status { phase: Phase::Playing, taken: 0, seats: 1 }
    }
}

impl Recorded for Adder {
    const GAME: &'static str = "adder";
    const RULES: u32 = 3;
    type Setup = u64;
    type State = Self;

    fn setup(&self) -> u64 {
        self.start
    }

    fn from_setup(setup: u64) -> Result<Self, StateError> {
        Ok(Self::new(setup))
    }

    fn state(&self) -> Self {
        self.clone()
    }

    fn restore(setup: u64, state: Self) -> Result<Self, StateError> {
        if state.start == setup { Ok(state) } else { Err("a sum that began elsewhere".into()) }
    }
}

/// A file that tests can inspect and damage.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryDisk(Arc<Mutex<MemoryState>>);

#[derive(Debug, Default)]
pub(crate) struct MemoryState {
    pub(crate) bytes: Vec<u8>,
    pub(crate) syncs: usize,
    /// Limit on the length of the file.
    pub(crate) full_at: Option<usize>,
    pub(crate) sync_fails: bool,
}

impl MemoryDisk {
    pub(crate) fn lock(&self) -> MutexGuard<'_, MemoryState> {
        self.0.lock().unwrap()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }
}

impl Disk for MemoryDisk {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        let (from, to) = (usize::try_from(offset).unwrap(), usize::try_from(offset).unwrap() + bytes.len());
        assert!(from <= state.bytes.len(), "no holes");
        let room = state.full_at.unwrap_or(usize::MAX).max(state.bytes.len()).min(to);
        let length = state.bytes.len().max(room);
        state.bytes.resize(length, 0);
        state.bytes[from..room].copy_from_slice(&bytes[..room - from]);
        if room < to { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn rewrite(&self, from: u64, to: u64) -> io::Result<()> {
        assert!(from <= to && to <= self.lock().bytes.len() as u64, "what is there");
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.lock().bytes.truncate(usize::try_from(length).unwrap());
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.lock();
        state.syncs += 1;
        if state.sync_fails { Err(io::Error::other("the disk is broken")) } else { Ok(()) }
    }
}

/// A journalled room without threads.
pub(crate) struct Bench {
    pub(crate) disk: MemoryDisk,
    pub(crate) scribe: Scribe,
    pub(crate) room: Journalled<Adder>,
    pub(crate) hold: JournalHold,
    pub(crate) end: crate::JournalEnd,
    pub(crate) now: Time,
    pub(crate) out: Outbox,
}

pub(crate) fn writing(sync: SyncPolicy, max: u64) -> Writing {
    Writing { scribe: Scribe::by_hand(), sync, max }
}

pub(crate) const ANN: PeerId = PeerId(0);

impl Bench {
    pub(crate) fn new(sync: SyncPolicy, max: u64) -> Self {
        let (disk, writing) = (MemoryDisk::default(), writing(sync, max));
        let room = Hosted::new(Adder::new(7));
        let head = Head::new(room.engine(), "1.2.3", vec![], 99);
        let parts = writing.begin(disk.clone(), "disk".into(), room, &head).unwrap();
        Self::of(disk, writing.scribe, parts)
    }

    pub(crate) fn of(disk: MemoryDisk, scribe: Scribe, (room, hold, end): Parts<Adder>) -> Self {
        Self { disk, scribe, room, hold, end, now: Time::ZERO, out: Outbox::new() }
    }

    /// Ann connects over a stream.
    pub(crate) fn connect(&mut self) {
        let (role, link) = (Role::Player, Link::Stream);
        self.input(RoomInput::Connected { peer: ANN, role, link, address: "10.0.0.1:5" });
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) {
        let mut bytes = BytesMut::from(bytes);
        while !bytes.is_empty() {
            self.input(RoomInput::Bytes { peer: ANN, bytes: &mut bytes });
        }
    }

    pub(crate) fn input(&mut self, input: RoomInput<'_>) {
        self.now = Time::from_nanos(self.now.as_nanos() + 1_000_500);
        self.room.input(self.now, input, &mut self.out);
    }

    /// Does all pending writes and syncs.
    pub(crate) fn settle(&self) {
        use netshell::Hold as _;
        let mut hold = JournalHold { sink: Arc::clone(&self.hold.sink), scribe: self.scribe.clone() };
        hold.flush();
        while self.scribe.write() || self.scribe.keep() {}
    }

    /// Whether all outputs so far may be sent.
    pub(crate) fn may_leave(&self) -> bool {
        use netshell::Hold as _;
        self.hold.reached() >= self.hold.mark()
    }
}
