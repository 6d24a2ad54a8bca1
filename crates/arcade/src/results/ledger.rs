//! The results of one room.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use netcore::{GameEvent, Time};
use store::Kind;

use super::{
    Job, Results,
    clock::unix_now,
    tracker::{Moment, News, Source, Tracker},
};
use crate::{
    games::Game,
    room::{
        ledger::{Ledger, Ledgers},
        register::{Description, Register},
    },
};

/// The results of one room.
#[derive(Debug)]
struct RoomResults {
    results: Arc<Results>,
    tracker: Tracker,
    file: String,
    register: Arc<Register>,
}

impl Ledgers for Results {
    fn open(
        self: Arc<Self>,
        (path, id): (&Path, u64),
        is_new: bool,
        (game, description): (Game, &Description),
        register: Arc<Register>,
    ) -> Box<dyn Ledger> {
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if is_new {
            self.state().running.insert(file.clone(), BTreeMap::new());
        }
        let source = Source::of(id, file.clone(), game.name().to_owned(), description.clone());
        let mut tracker = Tracker::new(source);
        // Those of before a restart.
        for (seat, fact) in register.seats() {
            tracker.sit(seat, fact);
        }
        Box::new(RoomResults { results: self, tracker, file, register })
    }
}

impl Ledger for RoomResults {
    fn event(&mut self, now: Time, event: &GameEvent) -> Option<String> {
        if let GameEvent::Ended { game, .. } = event {
            let ended = self.register.take_ended(*game);
            if let Some(why) = ended.odd {
                self.tracker.mark(*game, why);
            }
            ended.kinds.iter().for_each(|(seat, name, kind)| self.tracker.set_kind(seat, name, *kind));
        }
        let now = Moment { time: now, unix: unix_now() };
        let (results, register) = (&self.results, &self.register);
        let news = self.tracker.event(now, event, |name| {
            let GameEvent::Joined { peer, .. } = event else { return store::Seated::default() };
            let who = register.take_joined(*peer);
            if who.kind == Kind::Proven {
                results.use_name(name.to_owned());
            }
            who
        });
        match news? {
            News::Begun(id) => Some(id),
            News::Over(new) => {
                self.results.tell(Job::Match(new, self.tracker.known(now)), &self.file);
                None
            }
            News::OverWithoutBeginning(new) => {
                let id = new.id.clone();
                self.results.tell(Job::Examine(new), &self.file);
                Some(id)
            }
        }
    }
}

impl Results {
    /// Notes that a match was joined with a name that is proven, so that the name stays with its key.
    pub(crate) fn use_name(&self, name: String) {
        // Its match notes that again when it is over.
        let _ = self.jobs.try_send(Job::Name(name));
    }
}
