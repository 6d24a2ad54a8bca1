use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, Read},
    sync::Arc,
};

use bytes::Bytes;
use netcore::{DecodeError, DisconnectReason, Input, Leave, PeerId, Time};
use thiserror::Error;

use crate::{
    codec,
    head::Head,
    layout::{self, RECORDS, SegmentState, Status},
    record::{
        self, Arrival, CONNECTED, DISCONNECTED, ELAPSED, MALFORMED, MESSAGE, NOTE, Note, Peer, REFRESH, STOP, Snapshot,
    },
    segment::{self, Positions},
};

/// Up to this version of the layout, arrivals have a byte of the digest.
const CHECKED: u16 = 2;

#[derive(Debug, Error)]
pub enum ReadError {
    #[error("it cannot be read")]
    Io(#[from] io::Error),
    #[error("it is not a journal; servers write journals with --journal")]
    NotAJournal,
    /// No input has arrived, and the match is unknown.
    #[error("it ends before the match begins, so it contains nothing")]
    Empty,
    #[error("it has layout {0}, but this program reads layout {version}", version = layout::VERSION)]
    Version(u16),
    #[error(
        "the record at offset {offset} is damaged: {what}; the file was changed after it was written, so use an intact copy"
    )]
    Damaged {
        /// The offset in the segment.
        offset: u64,
        what: &'static str,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Arrival(Arrival),
    Note(Note),
}

/// Reads the records of a journal in order.
///
/// An incomplete last record is not an error: the server was killed while it was written, and no output depends on it.
/// [`torn`](Reader::torn) counts the lost bytes. In the part known to be on disk, it is [`ReadError::Damaged`].
///
/// A clone reads from the same position if a clone of its source does.
#[derive(Debug, Clone)]
pub struct Reader<R> {
    source: R,
    following: VecDeque<Following<R>>,
    version: u16,
    status: Status,
    // Shared by clones, because it may contain a map or a state.
    head: Arc<Head>,
    entered: Option<Arc<Head>>,
    segment: u32,
    positions: Positions,
    offset: u64,
    // The end of the records if known, otherwise of the file.
    end: u64,
    pub(crate) sum: u32,
    micros: u64,
    slots: BTreeMap<u32, PeerId>,
    body: Vec<u8>,
    torn: u64,
}

/// A position between two records, at which [`Journal::reader_at`](crate::Journal::reader_at) continues after the
/// journal has grown.
#[derive(Debug, Clone)]
pub struct Bookmark {
    segment: u32,
    pub(crate) position: u64,
    sum: u32,
    micros: u64,
    slots: BTreeMap<u32, PeerId>,
}

#[derive(Debug, Clone)]
struct Following<R> {
    source: R,
    length: u64,
    position: u64,
}

enum Raw {
    Whole,
    End,
    Torn,
}

impl<R: Read> Reader<R> {
    pub fn new(mut source: R, length: u64) -> Result<Self, ReadError> {
        let mut front = vec![];
        source.by_ref().take(RECORDS).read_to_end(&mut front)?;
        let (version, place, status) = segment::parse_front(&front)?;
        let end = if status.end == 0 { length } else { status.end };
        let head = Arc::default();
        let mut reader = Self {
            source,
            following: VecDeque::new(),
            version,
            status,
            head,
            entered: None,
            segment: place.number,
            positions: Positions::FIRST,
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
        reader.positions = Positions::new(place, reader.offset);
        if let Some(base) = &head.base {
            reader.continue_from(base);
        }
        reader.head = Arc::new(head);
        Ok(reader)
    }

    /// Opens the first remaining segment, of `length` bytes, and later ones, each with its length and first position.
    pub(crate) fn chain(
        first: R,
        length: u64,
        following: impl IntoIterator<Item = (R, u64, u64)>,
    ) -> Result<Self, ReadError> {
        let mut reader = Self::new(first, length)?;
        let following = following.into_iter();
        reader.following = following.map(|(source, length, position)| Following { source, length, position }).collect();
        reader.limit();
        Ok(reader)
    }

    // Ends this segment where the next one begins: records in both are read from the next one.
    fn limit(&mut self) {
        if let Some(next) = self.following.front() {
            self.end = self.end.min(self.positions.offset(next.position));
        }
    }

    // Returns `false` at the last segment.
    fn enter_next(&mut self) -> Result<bool, ReadError> {
        let Some(Following { source, length, position }) = self.following.pop_front() else {
            if self.status.state == SegmentState::Continued {
                return Err(ReadError::Damaged {
                    offset: self.offset,
                    what: "the segment that continues it is missing",
                });
            }
            return Ok(false);
        };
        if self.position() < position {
            let damaged = ReadError::Damaged { offset: self.offset, what: "it ends before the next segment begins" };
            return Err(damaged);
        }
        let next = Self::new(source, length)?;
        if next.head.id != self.head.id {
            let damaged = ReadError::Damaged { offset: RECORDS, what: "the segment is of another journal" };
            return Err(damaged);
        }
        let following = std::mem::take(&mut self.following);
        *self = Self { following, head: Arc::clone(&self.head), entered: Some(next.head), ..next };
        self.limit();
        Ok(true)
    }

    /// Moves to the end without decoding records.
    pub(crate) fn skip_to_end(&mut self) -> Result<(), ReadError> {
        loop {
            match self.raw()? {
                Raw::Whole => {}
                Raw::End | Raw::Torn if self.enter_next()? => {}
                Raw::End | Raw::Torn => return Ok(()),
            }
        }
    }

    pub const fn state(&self) -> SegmentState {
        self.status.state
    }

    pub(crate) const fn version(&self) -> u16 {
        self.version
    }

    /// Counted from 1.
    pub const fn segment(&self) -> u32 {
        self.segment
    }

    /// The head of the segment that the last call of [`next`](Self::next) entered, if any, with the state before the
    /// returned record.
    pub fn entered(&mut self) -> Option<Arc<Head>> {
        self.entered.take()
    }

    /// The offset of the next record if the journal were one file.
    pub const fn position(&self) -> u64 {
        self.positions.position(self.offset)
    }

    pub fn bookmark(&self) -> Bookmark {
        let Self { segment, sum, micros, .. } = *self;
        Bookmark { segment, position: self.position(), sum, micros, slots: self.slots.clone() }
    }

    pub fn head(&self) -> &Head {
        &self.head
    }

    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes after the last complete record, once the end is reached.
    pub const fn torn(&self) -> u64 {
        self.torn
    }

    pub fn time(&self) -> Time {
        Time::from_nanos(self.micros.saturating_mul(1_000))
    }

    pub(crate) fn is_slot_of(&self, slot: u32, peer: PeerId) -> bool {
        self.slots.get(&slot) == Some(&peer)
    }

    #[allow(clippy::should_implement_trait, reason = "an iterator of results would hide that nothing follows an error")]
    pub fn next(&mut self) -> Result<Option<Entry>, ReadError> {
        let mut offset = self.offset;
        loop {
            match self.raw()? {
                Raw::Whole => break,
                Raw::End | Raw::Torn if self.enter_next()? => offset = self.offset,
                Raw::End | Raw::Torn => return Ok(None),
            }
        }
        let position = self.positions.position(offset);
        let damaged = |what| ReadError::Damaged { offset, what };
        let mut body = &self.body[..];
        let head = record::RecordHead::take(&mut body).ok_or(damaged("it has no head"))?;
        self.micros = self.micros.checked_add(head.micros).ok_or(damaged("its time is out of range"))?;
        if head.kind == NOTE {
            let note = record::take_note(body).ok_or(damaged("its note is not valid"))?;
            match &note {
                Note::Mark(mark) => self.micros = self.micros.max(mark.time.as_nanos() / 1_000),
                Note::Snapshot(snapshot) if snapshot.offset > position => {
                    return Err(damaged("it is the state after a later record"));
                }
                _ => {}
            }
            return Ok(Some(Entry::Note(note)));
        }
        let check: Option<u8> = match self.version {
            ..=CHECKED => Some(record::take(&mut body).ok_or(damaged("it is too short"))?),
            _ => None,
        };
        let peer = self.slots.get(&head.slot).copied().ok_or(damaged("it concerns an unknown peer"));
        let input = match head.kind {
            MESSAGE => Input::Message { peer: peer?, message: Bytes::copy_from_slice(body) },
            MALFORMED => {
                let why: DecodeError = codec::decode_all(body).map_err(|_| damaged("its error is not valid"))?;
                Input::Malformed { peer: peer?, why }
            }
            ELAPSED => Input::Elapsed,
            REFRESH => Input::Refresh { peer: peer? },
            DISCONNECTED => {
                let why: DisconnectReason =
                    codec::decode_all(body).map_err(|_| damaged("its reason for disconnecting is not valid"))?;
                Input::Disconnected { peer: peer?, why }
            }
            CONNECTED => {
                let Peer { peer, role, link, address } =
                    codec::decode_all(body).map_err(|_| damaged("its peer is not valid"))?;
                self.slots.insert(head.slot, peer);
                Input::Connected { peer, role, link, address: address.into() }
            }
            STOP => {
                let leave: Leave = codec::decode_all(body).map_err(|_| damaged("its way to stop is not valid"))?;
                Input::Stop(leave)
            }
            _ => return Err(damaged("its kind is unknown")),
        };
        Ok(Some(Entry::Arrival(Arrival { time: self.time(), input, check })))
    }

    fn continue_from(&mut self, snapshot: &Snapshot) {
        self.micros = snapshot.mark.time.as_nanos() / 1_000;
        self.slots = snapshot.peers.iter().map(|(slot, peer)| (*slot, peer.peer)).collect();
    }

    fn raw(&mut self) -> Result<Raw, ReadError> {
        let rest = self.end.saturating_sub(self.offset);
        if rest == 0 {
            return Ok(Raw::End);
        }
        let mut front = [0; 13];
        let mut length = 0;
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
        // Grows with the bytes present, not with the stored length.
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

    // An invalid record is damage or a torn end, depending on its offset.
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

impl<R: Read + io::Seek> Reader<R> {
    /// Moves to the first record that `snapshot` does not include. `snapshot` is of this journal, and not of an earlier
    /// segment.
    pub fn go_to(&mut self, snapshot: &Snapshot) -> Result<(), ReadError> {
        while self.following.front().is_some_and(|next| next.position <= snapshot.offset) {
            self.offset = self.end;
            self.enter_next()?;
        }
        self.offset = self.positions.offset(snapshot.offset);
        self.source.seek(io::SeekFrom::Start(self.offset))?;
        self.sum = snapshot.sum;
        self.continue_from(snapshot);
        Ok(())
    }

    /// Moves to a bookmark, which must not be before the current position.
    pub(crate) fn continue_at(&mut self, bookmark: &Bookmark) -> Result<(), ReadError> {
        if self.segment == bookmark.segment {
            self.offset = self.positions.offset(bookmark.position);
            self.source.seek(io::SeekFrom::Start(self.offset))?;
            (self.sum, self.micros) = (bookmark.sum, bookmark.micros);
            self.slots.clone_from(&bookmark.slots);
            return Ok(());
        }
        // A new segment repeats the last records of the previous one, with other checksums.
        while self.position() < bookmark.position {
            if self.next()?.is_none() {
                return Err(ReadError::Damaged { offset: self.offset, what: "it ends before the bookmark" });
            }
        }
        Ok(())
    }
}
