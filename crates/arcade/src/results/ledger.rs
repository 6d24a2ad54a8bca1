//! What one room tells of its matches.

use std::{
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use netcore::{GameEvent, PeerId, Time};
use store::{JournalNote, Kind};

use super::{
    Job, Results,
    seats::Seats,
    tracker::{Moment, News, Source, Tracker},
};
use crate::room::Info;

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
    /// The results of a room whose journal is at `path` and has this id: a new one, or one that goes on.
    pub(crate) fn open(results: &Arc<Results>, (path, id): (&Path, u64), is_new: bool, info: &Info) -> Self {
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let (room, title) = (info.id.clone(), info.title.clone());
        let note = JournalNote { room: room.clone(), title: title.clone(), examined: 0 };
        let job = Job::Journal { file: file.clone(), room: room.clone(), title: title.clone(), is_new };
        results.tell(job, &file, &note);
        let source = Source { id, file: file.clone(), game: info.game.name().to_owned(), room, title };
        Self { results: Arc::clone(results), tracker: Tracker::new(source), note, file, seats: Arc::default() }
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
        let now = Moment { time: now, unix: unix_now() };
        match self.tracker.event(now, event, kind)? {
            News::Begun(id) => Some(id),
            News::Over(new) => {
                self.results.tell(Job::Match(new, self.tracker.known(now)), &self.file, &self.note);
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

/// Milliseconds since the Unix epoch.
pub(crate) fn unix_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
