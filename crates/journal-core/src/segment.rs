//! The files of a journal.
//!
//! The first segment has the name of the journal, `match.journal`; later ones contain their number, as in
//! `match.2.journal`. The oldest may be missing. A segment gets its name when it is complete and on disk, so the last
//! one is always the one to continue.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use crate::{
    ReadError,
    disk::{Disk, SharedFile, create_directories},
    layout::{self, FrontError, MAGIC, RECORDS, SegmentPosition, Status},
    record,
};

pub const EXTENSION: &str = "journal";
const UNFINISHED: &str = "new";
/// Journals of one game created in the same second.
const IN_ONE_SECOND: u32 = 1_000;

#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) path: PathBuf,
    pub(crate) file: SharedFile,
    pub(crate) place: SegmentPosition,
    pub(crate) status: Status,
    /// Whether the file contains all records. A server of an earlier version may have left some in a spool.
    pub(crate) is_direct: bool,
    pub(crate) length: u64,
    pub(crate) positions: Positions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Positions {
    // Of the first record with a position.
    offset: u64,
    position: u64,
}

impl Positions {
    pub(crate) const FIRST: Self = Self { offset: RECORDS, position: RECORDS };

    /// The first record after the head is at `offset`.
    pub(crate) fn new(place: SegmentPosition, offset: u64) -> Self {
        place.position.map_or(Self::FIRST, |position| Self { offset, position })
    }

    pub(crate) const fn position(&self, offset: u64) -> u64 {
        self.position + offset.saturating_sub(self.offset)
    }

    pub(crate) const fn offset(&self, position: u64) -> u64 {
        self.offset + position.saturating_sub(self.position)
    }
}

impl Segment {
    pub(crate) fn read(path: PathBuf, file: SharedFile) -> Result<Self, ReadError> {
        let length = file.about()?.length;
        let mut front = vec![0; usize::try_from(length.min(RECORDS)).unwrap_or_default()];
        crate::disk::read_exact_at(&*file, 0, &mut front)?;
        let (_, place, status) = parse_front(&front)?;
        let is_direct = layout::is_direct(&front, status);
        // The length of the head gives the offset of the record after it.
        let mut head = [0; 13];
        let mut known = 0;
        while known < head.len() {
            match file.read_at(RECORDS + known as u64, &mut head[known..])? {
                0 => break,
                count => known += count,
            }
        }
        let start = record::lengths(&head[..known]).map_or(RECORDS, |(front, body)| RECORDS + (front + body) as u64);
        Ok(Self { path, file, place, status, is_direct, length, positions: Positions::new(place, start) })
    }
}

pub(crate) fn parse_front(front: &[u8]) -> Result<(u16, SegmentPosition, Status), ReadError> {
    layout::parse_front(front).map_err(|error| match error {
        // The front was not written completely.
        FrontError::NotAJournal
            if (1..RECORDS).contains(&(front.len() as u64))
                && front.iter().zip(MAGIC).all(|(one, two)| *one == two) =>
        {
            ReadError::Empty
        }
        FrontError::NotAJournal => ReadError::NotAJournal,
        FrontError::Version(version) => ReadError::Version(version),
    })
}

pub(crate) fn path_of(journal: &Path, number: u32) -> PathBuf {
    if number == 1 { journal.to_owned() } else { journal.with_extension(format!("{number}.{EXTENSION}")) }
}

/// The path of a segment until it is complete.
pub(crate) fn unfinished(segment: &Path) -> PathBuf {
    let mut name = segment.as_os_str().to_owned();
    name.push(".");
    name.push(UNFINISHED);
    name.into()
}

pub(crate) fn finished(path: &Path) -> Option<PathBuf> {
    (path.extension() == Some(OsStr::new(UNFINISHED))).then(|| path.with_extension(""))
}

/// The journal, and the number of the segment.
pub(crate) fn split_name(path: &Path) -> Option<(PathBuf, u32)> {
    if path.extension() != Some(OsStr::new(EXTENSION)) {
        return None;
    }
    let stem = Path::new(path.file_stem()?);
    let number = stem.extension().and_then(OsStr::to_str).filter(|digits| !digits.starts_with('0'));
    let number = number.and_then(|digits| digits.parse().ok()).filter(|&number: &u32| number > 1);
    let Some(number) = number else { return Some((path.to_owned(), 1)) };
    let mut name = stem.file_stem()?.to_owned();
    name.push(".");
    name.push(EXTENSION);
    Some((path.with_file_name(name), number))
}

/// Returns `match.journal` for `match.3.journal`, if that is its third segment.
///
/// # Errors
/// If the file exists and cannot be read.
pub(crate) fn journal_of(disk: &dyn Disk, path: &Path) -> Result<PathBuf, ReadError> {
    let Some((journal, number @ 2..)) = split_name(path) else { return Ok(path.to_owned()) };
    let file = match disk.open(path, false) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path.to_owned()),
        Err(error) => return Err(error.into()),
    };
    let place = Segment::read(path.to_owned(), file)?.place;
    Ok(if place.number == number { journal } else { path.to_owned() })
}

/// The segments, oldest first, without gaps up to the last one.
pub(crate) fn segments(disk: &dyn Disk, journal: &Path, write: bool) -> Result<Vec<Segment>, ReadError> {
    let mut found: Vec<Segment> = vec![];
    for path in files_of(disk, journal)?.into_iter().rev() {
        let next = found.last().map(|segment| segment.place.number - 1);
        let number = split_name(&path).map_or(1, |(_, number)| number);
        if next.is_some_and(|next| next != number) {
            break;
        }
        let opened = match disk.open(&path, write && found.is_empty()) {
            Ok(file) => Segment::read(path, file),
            // The segment was too old and has been removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !found.is_empty() => break,
            Err(error) => return Err(error.into()),
        };
        match opened {
            Ok(segment) if segment.place.number == number || number == 1 => found.push(segment),
            // A segment of another journal with such a name.
            Ok(_) if found.is_empty() => {}
            Ok(_) => break,
            // The match can be continued without it.
            Err(_) if write && !found.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    if found.is_empty() {
        return Err(io::Error::from(io::ErrorKind::NotFound).into());
    }
    found.reverse();
    Ok(found)
}

pub(crate) fn exists(disk: &dyn Disk, journal: &Path) -> bool {
    if disk.is_file(journal) {
        return true;
    }
    // Only later segments may be left.
    let files = disk.list(journal.parent().unwrap_or(Path::new(""))).unwrap_or_default();
    files.iter().filter_map(|path| split_name(path)).any(|(of, _)| of == journal)
}

/// Files named like segments, sorted by number.
pub(crate) fn files_of(disk: &dyn Disk, journal: &Path) -> io::Result<Vec<PathBuf>> {
    // Does not list the directory, which may contain thousands of files.
    if disk.is_file(journal) {
        let paths = (1..).map(|number| path_of(journal, number));
        return Ok(paths.take_while(|path| disk.is_file(path)).collect());
    }
    let directory = journal.parent().unwrap_or(Path::new(""));
    let mut found = vec![];
    for path in disk.list(directory)? {
        match split_name(&path) {
            Some((of, number)) if of == journal => found.push((number, path)),
            _ => {}
        }
    }
    if found.is_empty() {
        // A journal may have any name.
        found.push((1, journal.to_owned()));
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Sorted by name. A journal has the name of its first segment, even if only later ones are left.
pub(crate) fn list(disk: &dyn Disk, directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![];
    for path in disk.list(directory)? {
        if let Some((_, 1)) = split_name(&path) {
            found.push(path);
        } else if path.extension() == Some(OsStr::new(EXTENSION)) {
            found.push(journal_of(disk, &path).unwrap_or(path));
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Creates a journal, and its directory if needed; both survive a power cut. The file is locked while open.
pub(crate) fn create(disk: &dyn Disk, directory: &Path, front: &str, begun: u64) -> io::Result<(PathBuf, SharedFile)> {
    create_directories(disk, directory)?;
    // UTC, sortable: 2026-11-22T06-37-51Z.
    let moment = UNIX_EPOCH + Duration::from_secs(begun);
    let moment = humantime::format_rfc3339_seconds(moment).to_string().replace(':', "-");
    let taken: Vec<PathBuf> =
        disk.list(directory)?.iter().filter_map(|path| split_name(path)).map(|(journal, _)| journal).collect();
    for number in 0..IN_ONE_SECOND {
        let number = if number == 0 { String::new() } else { format!("-{number}") };
        let path = directory.join(format!("{front}-{moment}{number}.{EXTENSION}"));
        // Of a long journal, only later segments may be left.
        if taken.contains(&path) {
            continue;
        }
        match disk.create(&path) {
            Ok(file) => {
                if !file.try_lock()? {
                    return Err(io::Error::new(
                        io::ErrorKind::ResourceBusy,
                        "another program has locked the new journal",
                    ));
                }
                disk.sync_directory(directory)?;
                return Ok((path, file));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many journals were created in this second"))
}

/// Locks a journal to continue it; the last segment stays locked while open. `None` if a server is writing it.
pub(crate) fn claim(disk: &dyn Disk, journal: &Path) -> Result<Option<Vec<Segment>>, ReadError> {
    for attempt in 0.. {
        let found = segments(disk, journal, true)?;
        if let Some(last) = found.last()
            && last.file.try_lock()?
        {
            // A server may have continued it before it was locked.
            let now = segments(disk, journal, true)?;
            if now.last().is_some_and(|now| now.path == last.path) {
                return Ok(Some(found));
            }
        }
        // Another process may only be checking the lock, or the server may be about to exit.
        if !disk.wait_for_lock(attempt) {
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_the_name_of_its_journal_with_its_number() {
        let journal = Path::new("games/nuggets-2026-11-22T06-37-51Z.journal");
        for number in [1, 2, 17] {
            let path = path_of(journal, number);
            assert_eq!(split_name(&path), Some((journal.to_owned(), number)), "{}", path.display());
        }
        assert_eq!(path_of(journal, 2), Path::new("games/nuggets-2026-11-22T06-37-51Z.2.journal"));
        for (name, expected) in [
            ("a.1.journal", Some(("a.1.journal", 1))),
            ("a.02.journal", Some(("a.02.journal", 1))),
            ("a.x.journal", Some(("a.x.journal", 1))),
            ("a.2.journal.new", None),
            ("a.txt", None),
        ] {
            let expected = expected.map(|(journal, number)| (PathBuf::from(journal), number));
            assert_eq!(split_name(Path::new(name)), expected, "{name}");
        }
    }
}
