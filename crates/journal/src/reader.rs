//! Reads a journal.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    sync::Arc,
};

use bytes::Bytes;
use netcore::{Gone, Leave, PeerId, Time};
use thiserror::Error;

use crate::{
    codec,
    head::Head,
    layout::{self, FrontError, RECORDS, State, Status},
    record::{
        self, Arrival, ArrivalKind, BYTES, CONNECTED, DISCONNECTED, ELAPSED, NOTE, Note, Peer, REFRESH, STOP, Snapshot,
    },
};

/// Why a journal cannot be read, or not to its end.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The system could not read it.
    #[error("it cannot be read")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("it is not a journal; a server with --journal writes them")]
    NotAJournal,
    /// Its first record is incomplete, so the match is unknown. Nothing had arrived yet.
    #[error("it ends before the match begins; nothing is lost with it")]
    Empty,
    /// It has a later layout.
    #[error("it has layout {0}, and this program reads layout {version}", version = layout::VERSION)]
    Version(u16),
    /// A record in the middle is damaged.
    #[error(
        "the record at offset {offset} is damaged: {what}; the file was changed after it was written, so use an intact copy"
    )]
    Damaged {
        /// Its offset.
        offset: u64,
        /// The kind of damage.
        what: &'static str,
    },
}

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// An arrival.
    Arrival(Arrival),
    /// A record between arrivals.
    Note(Note),
}

/// Reads the records of a journal in order.
///
/// An incomplete last record is not an error: the server was killed while it was written, and no output followed from
/// it. [`torn`](Reader::torn) is the number of lost bytes. In the part that was known to be on disk this cannot happen,
/// so there it is [`ReadError::Damaged`].
///
/// A clone continues from the same position, as far as a clone of its source does.
#[derive(Debug, Clone)]
pub struct Reader<R> {
    source: R,
    status: Status,
    // Shared by clones, because it may contain a map or a state.
    head: Arc<Head>,
    offset: u64,
    // The end of the records, as far as it is known.
    end: u64,
    sum: u32,
    micros: u64,
    slots: BTreeMap<u32, PeerId>,
    body: Vec<u8>,
    torn: u64,
}

/// A record in the file.
enum Raw {
    Whole,
    End,
    Torn,
}

impl<R: Read> Reader<R> {
    /// Reads the front of a journal of `length` bytes.
    ///
    /// # Errors
    /// [`ReadError`] when it is not a journal.
    pub fn new(mut source: R, length: u64) -> Result<Self, ReadError> {
        let mut front = vec![];
        source.by_ref().take(RECORDS).read_to_end(&mut front)?;
        let status = layout::parse_front(&front).map_err(|error| match error {
            // A journal whose front was not written completely.
            FrontError::NotAJournal
                if !front.is_empty() && front.iter().zip(layout::MAGIC).all(|(one, two)| *one == two) =>
            {
                ReadError::Empty
            }
            FrontError::NotAJournal => ReadError::NotAJournal,
            FrontError::Version(version) => ReadError::Version(version),
        })?;
        let end = if status.end == 0 { length } else { status.end };
        let head = Arc::default();
        let mut reader = Self {
            source,
            status,
            head,
            offset: RECORDS,
            end,
            sum: 0,
            micros: 0,
            slots: BTreeMap::new(),
            body: vec![],
            torn: 0,
        };
        match reader.raw()? {
            Raw::Whole => {}
            Raw::End | Raw::Torn => return Err(ReadError::Empty),
        }
        let damaged = ReadError::Damaged { offset: RECORDS, what: "it does not describe a match" };
        let head: Head = codec::decode_all(&reader.body).map_err(|_| damaged)?;
        if let Some(base) = &head.base {
            reader.continue_from(base);
        }
        reader.head = Arc::new(head);
        Ok(reader)
    }

    /// The description of the match.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Whether it is complete.
    pub const fn state(&self) -> State {
        self.status.state
    }

    /// The offset of the next record.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// At the end: the number of bytes after the last complete record.
    pub const fn torn(&self) -> u64 {
        self.torn
    }

    /// The time of the last record.
    pub fn time(&self) -> Time {
        Time::from_nanos(self.micros.saturating_mul(1_000))
    }

    pub(crate) const fn status(&self) -> Status {
        self.status
    }

    /// Whether this slot belongs to this peer.
    pub(crate) fn is_slot_of(&self, slot: u32, peer: PeerId) -> bool {
        self.slots.get(&slot) == Some(&peer)
    }

    pub(crate) const fn sum(&self) -> u32 {
        self.sum
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// [`ReadError`] when it cannot be read.
    #[allow(clippy::should_implement_trait, reason = "an iterator of results would hide that nothing follows an error")]
    pub fn next(&mut self) -> Result<Option<Entry>, ReadError> {
        let offset = self.offset;
        match self.raw()? {
            Raw::Whole => {}
            Raw::End | Raw::Torn => return Ok(None),
        }
        let damaged = |what| ReadError::Damaged { offset, what };
        let mut body = &self.body[..];
        let head = record::Head::take(&mut body).ok_or(damaged("it has no head"))?;
        self.micros = self.micros.checked_add(head.micros).ok_or(damaged("its time is out of range"))?;
        if head.kind == NOTE {
            let note: Note = codec::decode_all(body).map_err(|_| damaged("its note is not valid"))?;
            match &note {
                Note::Mark(mark) => self.micros = self.micros.max(mark.time.as_nanos() / 1_000),
                Note::Snapshot(snapshot) if snapshot.offset > offset => {
                    return Err(damaged("it is the state after a later record"));
                }
                _ => {}
            }
            return Ok(Some(Entry::Note(note)));
        }
        let check: u8 = record::take(&mut body).ok_or(damaged("it is too short"))?;
        let peer = self.slots.get(&head.slot).copied().ok_or(damaged("it concerns an unknown peer"));
        let kind = match head.kind {
            BYTES => ArrivalKind::Bytes { peer: peer?, bytes: Bytes::copy_from_slice(body) },
            ELAPSED => ArrivalKind::Elapsed,
            REFRESH => ArrivalKind::Refresh(peer?),
            DISCONNECTED => {
                let why: Gone =
                    codec::decode_all(body).map_err(|_| damaged("its reason for disconnecting is not valid"))?;
                ArrivalKind::Disconnected { peer: peer?, why }
            }
            CONNECTED => {
                let peer: Peer = codec::decode_all(body).map_err(|_| damaged("its peer is not valid"))?;
                self.slots.insert(head.slot, peer.peer);
                ArrivalKind::Connected(peer)
            }
            STOP => {
                let leave: Leave = codec::decode_all(body).map_err(|_| damaged("its way to stop is not valid"))?;
                ArrivalKind::Stop(leave)
            }
            _ => return Err(damaged("its kind is unknown")),
        };
        Ok(Some(Entry::Arrival(Arrival { time: self.time(), kind, check })))
    }

    // Continues from the state of a snapshot.
    fn continue_from(&mut self, snapshot: &Snapshot) {
        self.micros = snapshot.mark.time.as_nanos() / 1_000;
        self.slots = snapshot.peers.iter().map(|(slot, peer)| (*slot, peer.peer)).collect();
    }

    // Reads the next record, and its body into `body`.
    fn raw(&mut self) -> Result<Raw, ReadError> {
        let rest = self.end.saturating_sub(self.offset);
        if rest == 0 {
            return Ok(Raw::End);
        }
        let mut front = [0; 13];
        let mut length = 0;
        // The first byte is the length or says how many bytes follow.
        let lengths = loop {
            let known = record::lengths(&front[..length]);
            if let Some(lengths) = known {
                break lengths;
            }
            if length >= 9 || length as u64 >= rest || !self.fill(&mut front[length..=length])? {
                return self.invalid("its length is out of range");
            }
            length += 1;
            if length == 1 && front[0] == 0 {
                return self.invalid("its length is zero");
            }
        };
        let (front_length, body_length) = lengths;
        if (front_length + body_length) as u64 > rest || !self.fill(&mut front[length..front_length])? {
            return self.invalid("it is incomplete");
        }
        self.body.clear();
        let wanted = body_length as u64;
        // Grows with the bytes that are present, not with the stored length.
        let found = self.source.by_ref().take(wanted).read_to_end(&mut self.body)?;
        if found < body_length {
            return self.invalid("it is incomplete");
        }
        if !record::check(&front[..front_length], &self.body, &mut self.sum) {
            return self.invalid("its checksum is wrong");
        }
        self.offset += (front_length + body_length) as u64;
        Ok(Raw::Whole)
    }

    // An incomplete or invalid record is damage or a torn end, depending on its offset.
    fn invalid(&mut self, what: &'static str) -> Result<Raw, ReadError> {
        if self.offset < self.status.synced.max(self.status.end) {
            return Err(ReadError::Damaged { offset: self.offset, what });
        }
        self.torn = self.end.saturating_sub(self.offset);
        self.end = self.offset;
        Ok(Raw::Torn)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<bool, ReadError> {
        match self.source.read_exact(bytes) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Reading from a snapshot.
impl<R: Read + io::Seek> Reader<R> {
    /// Moves to the first record that `snapshot` does not include. It must belong to this journal.
    ///
    /// # Errors
    /// When the source cannot seek.
    pub fn go_to(&mut self, snapshot: &Snapshot) -> Result<(), ReadError> {
        self.source.seek(io::SeekFrom::Start(snapshot.offset))?;
        self.offset = snapshot.offset;
        self.sum = snapshot.sum;
        self.continue_from(snapshot);
        Ok(())
    }
}
