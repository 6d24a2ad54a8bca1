use std::{
    collections::VecDeque,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use netcore::{EngineRoom, Recorded};

use crate::{
    Copying, Disk, Head, JournalEnd, JournalHold, Journalled, Scribe, SyncPolicy, SystemDisk, codec,
    layout::{self, SegmentPosition, SegmentState, Status},
    record,
    room::RoomProgress,
    segment::{self, Positions},
    sink::{Current, Sink, Start},
};

/// Default limit on the size of a journal in bytes.
pub const MAX_SIZE: u64 = 1 << 30;

#[derive(Debug, Clone)]
pub struct Writing {
    pub disk: Arc<dyn Disk>,
    pub scribe: Scribe,
    pub sync: SyncPolicy,
    /// Maximum size of a journal in bytes; beyond it, the oldest segments are removed.
    pub max: u64,
    /// The destination of copies of journals, which must all be of one room.
    pub copy: Option<Arc<dyn Copying>>,
}

/// A room, the hold for its host, and the handle that closes the journal at the end.
pub type Parts<E> = (Journalled<E>, JournalHold, JournalEnd);

impl Writing {
    pub fn start(sync: SyncPolicy, max: u64) -> io::Result<Self> {
        Ok(Self { disk: Arc::new(SystemDisk), scribe: Scribe::start()?, sync, max, copy: None })
    }

    /// Creates the directory if needed. Returns the name of the journal.
    pub fn create<E: Recorded>(
        &self,
        directory: &Path,
        room: EngineRoom<E>,
        head: Head,
    ) -> io::Result<(PathBuf, Parts<E>)> {
        self.create_as(directory, E::GAME, room, head)
    }

    /// Like `create`; the name begins with `front`, which contains no dot.
    pub fn create_as<E: Recorded>(
        &self,
        directory: &Path,
        front: &str,
        room: EngineRoom<E>,
        head: Head,
    ) -> io::Result<(PathBuf, Parts<E>)> {
        let (path, file) = segment::create(&*self.disk, directory, front, head.begun)?;
        let status = Status { sequence: 0, state: SegmentState::Open, synced: 0, end: 0 };
        let mut bytes = layout::front(SegmentPosition::FIRST, status);
        let (mut body, mut sum) = (vec![], 0);
        codec::encode(&head, &mut body);
        record::put(&body, &mut sum, &mut bytes);
        file.write_at(0, &bytes)?;
        file.sync()?;
        let position = bytes.len() as u64;
        let status = Status { sequence: 1, synced: position, ..status };
        file.write_at(status.offset(), &status.to_bytes())?;
        let segment = Current { file, path: path.clone(), number: 1, positions: Positions::FIRST, status };
        let (disk, journal, older) = (Arc::clone(&self.disk), path.clone(), VecDeque::new());
        let start = Start { disk, journal, head, segment, older, position, sum };
        Ok((path, self.attach(room, start, RoomProgress::default())))
    }

    pub(crate) fn attach<E: Recorded>(&self, room: EngineRoom<E>, start: Start, from: RoomProgress) -> Parts<E> {
        let sink = Arc::new(Sink::new((self.sync, self.max), start, self.copy.clone()));
        let scribe = || self.scribe.clone();
        (
            Journalled::new(room, Arc::clone(&sink), scribe(), from),
            JournalHold { sink: Arc::clone(&sink), scribe: scribe() },
            JournalEnd { sink, scribe: scribe() },
        )
    }
}
