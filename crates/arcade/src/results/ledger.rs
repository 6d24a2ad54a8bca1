//! What one room tells of its matches.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use netcore::{GameEvent, Level, Time};
use store::{JournalNote, Kind, Seated, day_of};

use super::{
    Job, Results,
    clock::unix_now,
    tracker::{Moment, News, Source, Tracker},
};
use crate::room::{
    info::Info,
    known::{Proof, Seats},
    ledger::{Ledger, Ledgers},
};

/// The results of one room.
#[derive(Debug)]
struct Told {
    results: Arc<Results>,
    tracker: Tracker,
    note: JournalNote,
    file: String,
    known: Arc<Seats>,
    // By the seats of players whose names are not proven yet: what is known of them, and the name.
    later: BTreeMap<String, (Proof, String)>,
}

impl Ledgers for Results {
    fn open(self: Arc<Self>, journal: (&Path, u64), is_new: bool, info: &Info, known: Arc<Seats>) -> Box<dyn Ledger> {
        let (path, id) = journal;
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let (room, title, class) = (info.id.clone(), info.title.clone(), info.counts.class.clone());
        let casual = info.counts.casual.unwrap_or_default().to_owned();
        let note = JournalNote { room, title, class, casual, examined: 0 };
        let job = Job::Journal { file: file.clone(), note: note.clone(), is_new };
        self.state().begun.insert(file.clone(), note.clone());
        self.tell(job, &file, &note);
        let source = Source::of(id, file.clone(), info.game.name().to_owned(), note.clone());
        let (mut tracker, mut later) = (Tracker::new(source), BTreeMap::new());
        // Those who were there before a restart. Their names are proven again once they are back.
        for player in info.players.iter().filter(|player| !player.seat.is_empty()) {
            let kind = if player.bot { Kind::Bot } else { Kind::Unproven };
            // A bot comes back as it was, which is in the database; what its match counts for is found in the journal.
            tracker.sit(player.seat.clone(), Seated { kind, ..Seated::default() });
            if let Some(proof) = known.proof(player.address.as_deref()).filter(|_| !player.bot) {
                later.insert(player.seat.clone(), (proof, player.name.clone()));
            }
        }
        Box::new(Told { results: self, tracker, note, file, known, later })
    }
}

impl Ledger for Told {
    fn event(&mut self, now: Time, event: &GameEvent, address: Option<&str>, bot: Option<Level>) -> Option<String> {
        let mut kind = if bot.is_some() { Kind::Bot } else { Kind::Unproven };
        match event {
            GameEvent::Joined { name, seat, .. } if !name.is_empty() && bot.is_none() => {
                let proof = self.known.proof(address);
                kind = proof.as_ref().map_or(kind, |proof| proof.kind(name));
                match proof.filter(|_| kind == Kind::Unproven) {
                    Some(proof) => drop(self.later.insert(seat.clone(), (proof, name.clone()))),
                    None => drop(self.later.remove(seat)),
                }
            }
            GameEvent::Ended { game, .. } => {
                if let Some(why) = self.known.take_odd(*game) {
                    self.tracker.mark(*game, why);
                }
                // The database may have answered since they have joined.
                for (seat, (proof, name)) in &self.later {
                    if proof.kind(name) == Kind::Proven {
                        self.tracker.trust(seat, Kind::Proven);
                    }
                }
            }
            _ => {}
        }
        let now = Moment { time: now, unix: unix_now() };
        let mut who = Seated { kind, ..Seated::default() };
        if let (GameEvent::Joined { name, .. }, Some(address)) = (event, address) {
            who.host = self.known.host_codes.code(address, day_of(now.unix));
            bot.map_or("", level_name).clone_into(&mut who.level);
            self.results.note_seat(&self.note.room, address, name, who.clone());
        }
        let news = self.tracker.event(now, event, |_| who);
        if matches!(event, GameEvent::Left { .. } | GameEvent::Ended { .. }) {
            self.later.retain(|seat, _| self.tracker.has(seat));
        }
        match news? {
            News::Begun(id) => Some(id),
            News::Over(new) => {
                self.results.tell(Job::Match(new, self.tracker.known(now)), &self.file, &self.note);
                None
            }
            News::OverWithoutBeginning(new) => {
                let id = new.id.clone();
                self.results.tell(Job::Examine { note: self.note.clone(), new }, &self.file, &self.note);
                Some(id)
            }
        }
    }
}

impl Results {
    /// Notes it for results that are assembled from the journal after a restart. Without a note the name is unproven.
    pub(crate) fn note_seat(&self, room: &str, address: &str, name: &str, seated: Seated) {
        if seated.kind == Kind::Unproven {
            return;
        }
        let job = Job::Seat { room: room.to_owned(), address: address.to_owned(), name: name.to_owned(), seated };
        let _ = self.jobs.try_send(job);
    }
}

// As ratings of bots are called.
pub(crate) const fn level_name(level: Level) -> &'static str {
    match level {
        Level::Easy => "easy",
        Level::Normal => "normal",
        Level::Hard => "hard",
    }
}
