//! Reading a journal from its front to its end.

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
    record::{self, Arrival, BYTES, CONNECTED, DISCONNECTED, ELAPSED, NOTE, Note, Peer, REFRESH, STOP, Snapshot, What},
};

/// Why a journal cannot be read, or not any further.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The system could not read it.
    #[error("it cannot be read")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("it is no journal; a server with --journal writes them")]
    NotAJournal,
    /// Its first record is not whole, so nothing is known of the match. Nothing had arrived.
    #[error("it ends before the match begins; nothing is lost with it")]
    Empty,
    /// It is of a layout that came later.
    #[error("it is written in layout {0} of journals, and this program reads layout {version}", version = layout::VERSION)]
    Version(u16),
    /// A record in the middle is damaged.
    #[error(
        "the record at offset {offset} is damaged: {what}; the file is not as it was written, so take a copy that is"
    )]
    Damaged {
        /// Where it begins.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Something arrived.
    Arrival(Arrival),
    /// What stands in between.
    Note(Note),
}

/// Reads the records of a journal in their order.
///
/// A last record that is not whole is no error: whoever wrote it was killed meanwhile, and nothing followed from it yet. Then
/// [`torn`](Reader::torn) says what is lost. A record in front of what was known to be on disk is never lost like that, so there it is
/// [`ReadError::Damaged`].
///
/// A clone goes on from where the reader is, as far as a clone of its source does.
#[derive(Debug, Clone)]
pub struct Reader<R> {
    source: R,
    status: Status,
    // Shared by clones: it may hold a map or a state.
    head: Arc<Head>,
    offset: u64,
    // Where the records end, as far as that is known.
    end: u64,
    sum: u32,
    micros: u64,
    slots: BTreeMap<u32, PeerId>,
    body: Vec<u8>,
    torn: u64,
}

/// A record as it lies in the file.
enum Raw {
    Whole,
    End,
    Torn,
}

impl<R: Read> Reader<R> {
    /// Reads the front of a journal of `length` bytes.
    ///
    /// # Errors
    /// [`ReadError`] when it is none.
    pub fn new(mut source: R, length: u64) -> Result<Self, ReadError> {
        let mut front = vec![];
        source.by_ref().take(RECORDS).read_to_end(&mut front)?;
        let status = layout::parse_front(&front).map_err(|error| match error {
            // A journal whose front was not all written yet.
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
        let damaged = ReadError::Damaged { offset: RECORDS, what: "it does not say which match it is of" };
        let head: Head = codec::decode_all(&reader.body).map_err(|_| damaged)?;
        if let Some(base) = &head.base {
            reader.take_up(base);
        }
        reader.head = Arc::new(head);
        Ok(reader)
    }

    /// What it says of its match.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Whether it tells everything.
    pub const fn state(&self) -> State {
        self.status.state
    }

    /// Where the next record begins.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// At the end: bytes behind the last whole record.
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

    /// Whether this slot is that of this peer.
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
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator of results would hide that nothing comes after an error"
    )]
    pub fn next(&mut self) -> Result<Option<Entry>, ReadError> {
        let offset = self.offset;
        match self.raw()? {
            Raw::Whole => {}
            Raw::End | Raw::Torn => return Ok(None),
        }
        let damaged = |what| ReadError::Damaged { offset, what };
        let mut body = &self.body[..];
        let head = record::Head::take(&mut body).ok_or(damaged("it has no head"))?;
        self.micros = self.micros.checked_add(head.micros).ok_or(damaged("its time is beyond all times"))?;
        if head.kind == NOTE {
            let note: Note = codec::decode_all(body).map_err(|_| damaged("it is no note"))?;
            match &note {
                Note::Mark(mark) => self.micros = self.micros.max(mark.time.as_nanos() / 1_000),
                Note::Snapshot(snapshot) if snapshot.offset > offset => {
                    return Err(damaged("it is the state of what comes later"));
                }
                _ => {}
            }
            return Ok(Some(Entry::Note(note)));
        }
        let check: u8 = record::take(&mut body).ok_or(damaged("it is too short"))?;
        let peer = self.slots.get(&head.slot).copied().ok_or(damaged("it is about nobody who is there"));
        let what = match head.kind {
            BYTES => What::Bytes { peer: peer?, bytes: Bytes::copy_from_slice(body) },
            ELAPSED => What::Elapsed,
            REFRESH => What::Refresh(peer?),
            DISCONNECTED => {
                let why: Gone = codec::decode_all(body).map_err(|_| damaged("it does not say why somebody is gone"))?;
                What::Disconnected { peer: peer?, why }
            }
            CONNECTED => {
                let peer: Peer = codec::decode_all(body).map_err(|_| damaged("it does not say who is there"))?;
                self.slots.insert(head.slot, peer.peer);
                What::Connected(peer)
            }
            STOP => {
                let leave: Leave = codec::decode_all(body).map_err(|_| damaged("it does not say how to take leave"))?;
                What::Stop(leave)
            }
            _ => return Err(damaged("it is of no known kind")),
        };
        Ok(Some(Entry::Arrival(Arrival { time: self.time(), what, check })))
    }

    // Goes on from what a snapshot knows.
    fn take_up(&mut self, snapshot: &Snapshot) {
        self.micros = snapshot.mark.time.as_nanos() / 1_000;
        self.slots = snapshot.peers.iter().map(|(slot, peer)| (*slot, peer.peer)).collect();
    }

    // Reads the bytes of the next record, its body into `body`.
    fn raw(&mut self) -> Result<Raw, ReadError> {
        let rest = self.end.saturating_sub(self.offset);
        if rest == 0 {
            return Ok(Raw::End);
        }
        let mut front = [0; 13];
        let mut length = 0;
        // The length is in its first byte, or the first byte says how many follow.
        let lengths = loop {
            let known = record::lengths(&front[..length]);
            if let Some(lengths) = known {
                break lengths;
            }
            if length >= 9 || length as u64 >= rest || !self.fill(&mut front[length..=length])? {
                return self.broken("its length is not one of a record");
            }
            length += 1;
            if length == 1 && front[0] == 0 {
                return self.broken("it has no length");
            }
        };
        let (front_length, body_length) = lengths;
        if (front_length + body_length) as u64 > rest || !self.fill(&mut front[length..front_length])? {
            return self.broken("it is not whole");
        }
        self.body.clear();
        let wanted = body_length as u64;
        // Grows with what is there, not with what a length says.
        let found = self.source.by_ref().take(wanted).read_to_end(&mut self.body)?;
        if found < body_length {
            return self.broken("it is not whole");
        }
        if !record::check(&front[..front_length], &self.body, &mut self.sum) {
            return self.broken("its checksum does not fit");
        }
        self.offset += (front_length + body_length) as u64;
        Ok(Raw::Whole)
    }

    // What a record that is not whole means depends on where it is.
    fn broken(&mut self, what: &'static str) -> Result<Raw, ReadError> {
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

/// What the records from a snapshot on are read with.
impl<R: Read + io::Seek> Reader<R> {
    /// Goes to the first record that `snapshot` does not know of. It must be one of this journal.
    ///
    /// # Errors
    /// When the system cannot go there.
    pub fn go_to(&mut self, snapshot: &Snapshot) -> Result<(), ReadError> {
        self.source.seek(io::SeekFrom::Start(snapshot.offset))?;
        self.offset = snapshot.offset;
        self.sum = snapshot.sum;
        self.take_up(snapshot);
        Ok(())
    }
}
