//! What one room tells of its matches.

use std::{
    fs::File,
    io,
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context as _;
use netcore::{GameEvent, PeerId, Time};
use store::{JournalNote, Kind};

use super::{
    Job, Results,
    seats::Seats,
    tracker::{Moment, News, Source, Tracker},
};

/// The results of one room. The observer of the room passes its events on to it.
#[derive(Debug)]
pub(crate) struct Ledger {
    results: Arc<Results>,
    tracker: Tracker,
    note: JournalNote,
    file: String,
    seats: Arc<Seats>,
}

impl Ledger {
    /// The results of a room whose journal is at `path`, from its beginning or from where it was resumed.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub(crate) fn open(results: &Arc<Results>, path: &Path, room: &str, title: &str) -> anyhow::Result<Self> {
        let head = head(path).with_context(|| format!("cannot read '{}'", path.display()))?;
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let note = JournalNote { room: room.to_owned(), title: title.to_owned(), examined: 0 };
        let job = Job::Journal { file: file.clone(), room: room.to_owned(), title: title.to_owned() };
        results.tell(job, &file, &note);
        let source =
            Source { id: head.id, file: file.clone(), game: head.game, room: room.to_owned(), title: title.to_owned() };
        Ok(Self { results: Arc::clone(results), tracker: Tracker::new(source), note, file, seats: Arc::default() })
    }

    /// What is known of the seats of the room.
    pub(crate) fn seats(&self) -> Arc<Seats> {
        Arc::clone(&self.seats)
    }

    /// Whether this name is proven at this address.
    pub(crate) fn is_proven(&self, address: Option<&str>, name: &str) -> bool {
        self.seats.kind(address, name) == Kind::Proven
    }

    /// The connection at this address has ended for good.
    pub(crate) fn gone(&self, address: &str) {
        self.seats.forget(address);
    }

    /// Processes an event. Returns the id of a match that has begun, or that is over and had begun before a restart.
    pub(crate) fn event(
        &mut self,
        now: Time,
        event: &GameEvent,
        address: Option<&str>,
        is_bot: impl Fn(PeerId) -> bool,
    ) -> Option<String> {
        let bot = matches!(event, GameEvent::Joined { peer, .. } if is_bot(*peer));
        let kind = |name: &str| if bot { Kind::Bot } else { self.seats.kind(address, name) };
        if let (GameEvent::Joined { name, .. }, Some(address)) = (event, address) {
            self.results.note_kind(&self.note.room, address, name, kind(name));
        }
        match self.tracker.event(Moment { time: now, unix: unix_now() }, event, kind)? {
            News::Begun(id) => Some(id),
            News::Over(new) => {
                self.results.tell(Job::Match(new), &self.file, &self.note);
                None
            }
            News::OverWithoutBeginning(number) => {
                let job = Job::Examine { file: self.file.clone(), note: self.note.clone(), number };
                self.results.tell(job, &self.file, &self.note);
                Some(self.tracker.match_id(number))
            }
        }
    }
}

impl Results {
    // For results that are assembled from the journal after a restart. Without a note the name is unproven.
    fn note_kind(&self, room: &str, address: &str, name: &str, kind: Kind) {
        if kind == Kind::Unproven {
            return;
        }
        let job = Job::Seat { room: room.to_owned(), address: address.to_owned(), name: name.to_owned(), kind };
        let _ = self.jobs.try_send(job);
    }
}

// The description of a match, from the file alone, which another task may be writing.
fn head(path: &Path) -> anyhow::Result<journal::Head> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok(journal::Reader::new(io::BufReader::new(file), length)?.head().clone())
}

/// Milliseconds since the Unix epoch.
pub(crate) fn unix_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
