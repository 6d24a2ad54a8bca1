//! Opens journals for reading, without changing or locking them.

use std::{
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use netcore::Time;

use crate::{
    Bookmark, Head, ReadError, Reader, SegmentState,
    disk::{Disk, SharedFile, SystemDisk},
    record,
    segment::{self, Segment},
    spool::{self, Spooled},
};

const CHUNK: usize = 1 << 16;
/// Attempts to open a journal while its server continues it in another file.
const ATTEMPTS: u32 = 8;

/// A segment with the records that only its spool contains. Clones start at the same position and move independently.
#[derive(Debug)]
pub struct Source {
    file: SharedFile,
    // The valid bytes of the file, and the records after them.
    length: u64,
    tail: Arc<[u8]>,
    // The offset after the buffer.
    at: u64,
    buffer: Vec<u8>,
    taken: usize,
}

impl Source {
    pub(crate) fn new(file: SharedFile, length: u64, tail: Arc<[u8]>) -> Self {
        Self { file, length, tail, at: 0, buffer: vec![], taken: 0 }
    }

    pub fn length(&self) -> u64 {
        self.length + self.tail.len() as u64
    }

    fn offset(&self) -> u64 {
        self.at - (self.buffer.len() - self.taken) as u64
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.clear();
        self.taken = 0;
        if let Some(left) = self.length.checked_sub(self.at).filter(|&left| left > 0) {
            self.buffer.resize(usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK)), 0);
            let read = self.file.read_at(self.at, &mut self.buffer);
            self.buffer.truncate(*read.as_ref().unwrap_or(&0));
            read?;
        } else if let Ok(from) = usize::try_from(self.at - self.length) {
            let rest = self.tail.get(from..).unwrap_or_default();
            self.buffer.extend_from_slice(&rest[..rest.len().min(CHUNK)]);
        }
        self.at += self.buffer.len() as u64;
        Ok(())
    }
}

impl Clone for Source {
    fn clone(&self) -> Self {
        Self { at: self.offset(), ..Self::new(Arc::clone(&self.file), self.length, Arc::clone(&self.tail)) }
    }
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.buffer.len() {
            self.fill()?;
        }
        let count = (&self.buffer[self.taken..]).read(out)?;
        self.taken += count;
        Ok(count)
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.offset().checked_add_signed(by),
            SeekFrom::End(by) => self.length().checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        self.buffer.clear();
        self.taken = 0;
        Ok(self.at)
    }
}

#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    segments: Vec<(Source, Segment)>,
}

/// `path` may be that of any segment.
pub fn open(path: &Path) -> Result<Journal, ReadError> {
    Journal::open_on(&SystemDisk, path)
}

impl Journal {
    pub fn open_on(disk: &dyn Disk, path: &Path) -> Result<Self, ReadError> {
        let journal = segment::journal_of(disk, path)?;
        for _ in 0..ATTEMPTS {
            let found = segment::segments(disk, &journal, false)?;
            // Read before the lengths of the files: records that have left the spool by then are in a file.
            let spooled = spooled(&found);
            let again = segment::segments(disk, &journal, false)?;
            if found.last().map(|last| last.place) == again.last().map(|last| last.place) {
                return Self::new(journal, again, &spooled);
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "its server keeps starting new files").into())
    }

    /// The caller must hold the lock of the journal.
    pub(crate) fn claimed(path: PathBuf, segments: Vec<Segment>) -> Result<Self, ReadError> {
        // A match of a version with spools has other rules, so it is not resumed.
        Self::new(path, segments, &[])
    }

    fn new(path: PathBuf, segments: Vec<Segment>, spooled: &[(Spooled, bool)]) -> Result<Self, ReadError> {
        let last = segments.len().saturating_sub(1);
        let mut all = vec![];
        for (index, segment) in segments.into_iter().enumerate() {
            let file = Arc::clone(&segment.file);
            let source = if index == last {
                complete(&segment, spooled)?
            } else {
                Source::new(file, segment.length, Arc::default())
            };
            all.push((source, segment));
        }
        Ok(Self { path, segments: all })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn length(&self) -> u64 {
        self.segments.iter().map(|(source, _)| source.length()).sum()
    }

    pub fn is_in_use(&self) -> bool {
        self.segments.last().is_some_and(|(_, segment)| segment.file.is_locked().unwrap_or(false))
    }

    pub fn reader(&self) -> Result<Reader<Source>, ReadError> {
        self.reader_from(0)
    }

    pub fn last(&self) -> Result<Reader<Source>, ReadError> {
        self.reader_from(self.segments.len().saturating_sub(1))
    }

    pub fn end(&self) -> u64 {
        self.segments.last().map_or(0, |(source, segment)| segment.positions.position(source.length()))
    }

    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// The last segment that begins before `time`, or else the first remaining one.
    pub fn segment_before(&self, time: Time) -> Result<usize, ReadError> {
        for index in (1..self.segments.len()).rev() {
            let reader = self.reader_from(index)?;
            if reader.head().base.as_ref().is_some_and(|base| base.mark.time < time) {
                return Ok(index);
            }
        }
        Ok(0)
    }

    /// Index 0 is the first remaining segment. The head contains the state at the start of the segment, unless that is
    /// the beginning of the match.
    pub fn reader_from(&self, index: usize) -> Result<Reader<Source>, ReadError> {
        let mut sources = self.segments.iter().skip(index);
        let (first, _) = sources.next().ok_or(ReadError::NotAJournal)?;
        let following = sources.filter_map(|(source, at)| Some((source.clone(), source.length(), at.place.position?)));
        Reader::chain(first.clone(), first.length(), following)
    }

    /// Returns `None` if the segment with the next record has been removed.
    pub fn reader_at(&self, bookmark: &Bookmark) -> Result<Option<Reader<Source>>, ReadError> {
        for index in (0..self.segments.len()).rev() {
            let mut reader = self.reader_from(index)?;
            if reader.position() <= bookmark.position {
                return reader.continue_at(bookmark).map(|()| Some(reader));
            }
        }
        Ok(None)
    }

    pub fn head(&self) -> Result<Head, ReadError> {
        Ok(self.last()?.head().clone())
    }

    pub(crate) fn into_last(mut self) -> Option<Segment> {
        self.segments.pop().map(|(_, segment)| segment)
    }
}

/// The spools of the last two segments of an open journal of an earlier version, and whether each belongs to the last
/// one. A server that was killed while it continued a journal left the spool of the previous segment.
fn spooled(segments: &[Segment]) -> Vec<(Spooled, bool)> {
    let is_over = |last: &Segment| last.is_direct || last.status.state != SegmentState::Open;
    if segments.last().is_none_or(is_over) {
        return vec![];
    }
    let mut found = vec![];
    for (segment, last) in segments.iter().rev().zip([true, false]) {
        found.extend(spool::read(&*segment.file).into_iter().map(|spooled| (spooled, last)));
    }
    found.sort_by_key(|(spooled, _)| spooled.base);
    found
}

fn complete(segment: &Segment, spooled: &[(Spooled, bool)]) -> Result<Source, ReadError> {
    let whole = Source::new(Arc::clone(&segment.file), segment.length, Arc::default());
    let file_end = segment.positions.position(segment.length);
    if spooled.iter().all(|(spooled, _)| spooled.end() <= file_end) {
        return Ok(whole);
    }
    let mut reader = match Reader::new(whole.clone(), segment.length) {
        Ok(reader) if reader.state() == SegmentState::Open => reader,
        // The error is reported when the journal is read.
        _ => return Ok(whole),
    };
    match reader.skip_to_end() {
        Ok(()) => {}
        Err(ReadError::Io(error)) => return Err(error.into()),
        Err(_) => return Ok(whole),
    }
    let (mut end, mut sum) = (segment.positions.position(reader.offset()), reader.sum);
    let mut tail = vec![];
    for (spooled, last) in spooled.iter().filter(|(spooled, _)| spooled.id == reader.head().id) {
        let Some((before, bodies)) = spooled.bodies_from(end) else { continue };
        // The previous segment has other checksums.
        if *last && before != sum {
            continue;
        }
        for body in bodies {
            let before = tail.len();
            record::put(body, &mut sum, &mut tail);
            end += (tail.len() - before) as u64;
        }
    }
    if tail.is_empty() {
        return Ok(whole);
    }
    Ok(Source::new(Arc::clone(&segment.file), reader.offset(), tail.into()))
}
