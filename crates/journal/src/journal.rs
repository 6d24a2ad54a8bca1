//! Creates journals, and opens them for reading.

use std::{
    fs::File,
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use netcore::{Hosted, Recorded};

use crate::{
    Disk, Head, JournalEnd, JournalHold, Journalled, Scribe, SyncPolicy, codec, files,
    layout::{self, RECORDS, State, Status},
    record,
    room::{RoomProgress, seconds},
    sink::{Sink, Start},
    spool::Spool,
};

/// Default limit on the size of a journal in bytes.
pub const MAX_SIZE: u64 = 1 << 30;

/// How journals are written.
#[derive(Debug, Clone)]
pub struct Writing {
    /// The threads that write them.
    pub scribe: Scribe,
    /// What outputs wait for.
    pub sync: SyncPolicy,
    /// Limit on the size of a journal in bytes. At the limit the journal is cut and the match continues without it.
    pub max: u64,
}

/// A journalled room, the hold for its host, and the handle that closes the journal at the end.
pub type Parts<E> = (Journalled<E>, JournalHold, JournalEnd);

impl Writing {
    /// Creates the journal of a new room in a new file.
    ///
    /// # Errors
    /// When the file cannot be created or written.
    pub fn create<E: Recorded>(
        &self,
        directory: &Path,
        room: Hosted<E>,
        program: &str,
        listen: Vec<SocketAddr>,
    ) -> io::Result<(PathBuf, Parts<E>)> {
        let begun = seconds();
        let (path, file) = files::create(directory, E::GAME, begun)?;
        let head = Head::new(room.engine(), program, listen, begun);
        let name = path.display().to_string();
        let parts = self.begin_with(file, name, room, &head, |offset| self.spool(&head, &path, offset))?;
        Ok((path, parts))
    }

    /// A spool for the journal at `path`, if the policy needs one.
    pub(crate) fn spool(&self, head: &Head, path: &Path, offset: u64) -> Option<Spool> {
        (self.sync == SyncPolicy::Interval).then(|| Spool::create(head.id, path, offset)).flatten()
    }

    /// Creates the journal of a new room on an empty disk.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin<E: Recorded>(
        &self,
        disk: impl Disk + 'static,
        name: String,
        room: Hosted<E>,
        head: &Head,
    ) -> io::Result<Parts<E>> {
        self.begin_with(disk, name, room, head, |_| None)
    }

    fn begin_with<E: Recorded>(
        &self,
        disk: impl Disk + 'static,
        name: String,
        room: Hosted<E>,
        head: &Head,
        spool: impl FnOnce(u64) -> Option<Spool>,
    ) -> io::Result<Parts<E>> {
        let status = Status { sequence: 0, state: State::Open, synced: 0, end: 0 };
        let mut bytes = layout::front(status);
        let (mut body, mut sum) = (vec![], 0);
        codec::encode(head, &mut body);
        record::put(&body, &mut sum, &mut bytes);
        disk.write_at(0, &bytes)?;
        disk.sync()?;
        let offset = bytes.len() as u64;
        let status = Status { sequence: 1, synced: offset, ..status };
        disk.write_at(status.offset(), &status.to_bytes())?;
        let start = Start { offset, sum, status, spool: spool(offset) };
        Ok(self.attach(Box::new(disk), name, room, start, RoomProgress::default()))
    }

    pub(crate) fn attach<E: Recorded>(
        &self,
        disk: Box<dyn Disk>,
        name: String,
        room: Hosted<E>,
        start: Start,
        from: RoomProgress,
    ) -> Parts<E> {
        debug_assert!(start.offset >= RECORDS, "records come after the header");
        let sink = Arc::new(Sink::new(disk, name, (self.sync, self.max), start));
        let scribe = || self.scribe.clone();
        (
            Journalled::new(room, Arc::clone(&sink), scribe(), from),
            JournalHold { sink: Arc::clone(&sink), scribe: scribe() },
            JournalEnd { sink, scribe: scribe() },
        )
    }
}

/// Opens a journal for reading. If its server was killed, the journal is completed from its spool first.
///
/// # Errors
/// When it cannot be opened.
pub fn open(path: &Path) -> io::Result<(io::BufReader<File>, u64)> {
    // Without write permission, the journal is read as it is.
    if let Ok(Some(file)) = files::open_to_resume(path) {
        files::recover(&file)?;
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok((io::BufReader::with_capacity(1 << 16, file), length))
}
