//! Finds the results of matches in a journal, by replaying it from the last state before what is known.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};

use anyhow::Context as _;
use journal_core::{Arrival, Entry, Journal, Note, Reader, Replay, Snapshot};
use netcore::{GameEvent, Occupant, Outbox, Output, Recorded, Time};
use store::{JournalNote, Known, NewMatch, Seated};

use super::tracker::{self, Moment, News, Tracker};
use crate::games::{self, Game, Shown, with_kind};

/// A journal, and what is known besides.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// Its room.
    pub(crate) note: JournalNote,
    /// What is known of seats, by their addresses and names.
    pub(crate) seats: HashMap<(String, String), Seated>,
    /// How much of it is known.
    pub(crate) known: Known,
}

/// What is known of a journal that was looked through.
#[derive(Debug, Default)]
pub(crate) struct Examined {
    /// The position up to which it was looked through.
    pub(crate) position: u64,
    pub(crate) known: Known,
    /// Matches that were not over there.
    pub(crate) running: BTreeMap<u32, Known>,
}

/// From where a journal is replayed.
struct Start<E: Recorded> {
    reader: Reader<journal_core::Source>,
    replay: Replay<E>,
    // The beginnings of matches that are not stored may not be in it.
    is_late: bool,
}

impl Source {
    /// Passes each match that is over and may not be stored on to `found`, until that says no.
    /// Fails when the journal cannot be read or replayed to its end. What was found before counts.
    pub(crate) fn read(self, found: impl FnMut(NewMatch) -> bool) -> anyhow::Result<Examined> {
        let opened = match journal_core::open(&self.path) {
            // Nothing had arrived yet.
            Err(journal_core::ReadError::Empty) => return Ok(Examined::default()),
            opened => opened?,
        };
        let game = opened.head()?.game;
        let game = Game::named(&game).context("it is of a game that this hub does not know")?;
        with_kind!(game, K => self.replay::<<K as games::Kind>::Engine>(&opened, found))
    }

    // The last state before everything that is not known, with which all seats are known too: the kind of a seat follows from the
    // address of its peer.
    fn start<E: Recorded>(&self, opened: &Journal) -> anyhow::Result<Start<E>> {
        let known = Time::from_nanos(self.known.until.saturating_mul(1_000));
        let last = opened.segment_before(known)?;
        for index in (0..=last).rev() {
            let reader = opened.reader_from(index)?;
            let head = reader.head();
            if let Some(state) = last_state(reader.clone(), known)
                && let Ok(replay) = Replay::<E>::restore(head, &state)
                && are_seats_known(&replay)
            {
                let mut reader = reader;
                reader.go_to(&state)?;
                return Ok(Start { reader, replay, is_late: false });
            }
            let begins_early = head.base.as_ref().is_some_and(|base| base.mark.time < known);
            if begins_early
                && let Ok(replay) = Replay::<E>::start(head)
                && are_seats_known(&replay)
            {
                return Ok(Start { reader, replay, is_late: false });
            }
        }
        let reader = opened.reader()?;
        let replay = Replay::start(reader.head())?;
        let is_late = reader.head().base.as_ref().is_some_and(|base| base.mark.time >= known);
        Ok(Start { reader, replay, is_late })
    }

    fn replay<E: Recorded + Shown>(
        self,
        opened: &Journal,
        mut found: impl FnMut(NewMatch) -> bool,
    ) -> anyhow::Result<Examined> {
        let Start { mut reader, mut replay, is_late } = self.start::<E>(opened)?;
        let head = reader.head().clone();
        let file = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let title = if self.note.title.is_empty() { head.game.clone() } else { self.note.title };
        let note = JournalNote { title, ..self.note };
        let source = tracker::Source::of(head.id, file, head.game.clone(), note);
        let who = |address: &str, name: &str| {
            self.seats.get(&(address.to_owned(), name.to_owned())).cloned().unwrap_or_default()
        };
        // Milliseconds since the Unix epoch at time zero of the room. Its time stands still while the hub is away.
        let mut zero = if self.known.until > 0 { self.known.zero } else { head.begun.saturating_mul(1_000) };
        let moment = |replay: &Replay<E>, zero: u64| {
            let millis = replay.time().as_nanos() / 1_000_000;
            Moment { time: replay.time(), unix: zero.saturating_add(millis) }
        };
        let mut tracker = Tracker::new(source);
        if is_late {
            tracker.earliest = Some(moment(&replay, zero));
        }
        for Occupant { peer, name, seat } in replay.room().engine().roster() {
            if !name.is_empty() && !seat.is_empty() {
                tracker.sit(seat, who(replay.peer(peer).map_or("", |peer| &peer.address), &name));
            }
        }
        let mut out = Outbox::new();
        // One behind, since an arrival that made the server panic is followed by a note that says so.
        let mut waiting: Option<Arrival> = None;
        loop {
            let entry = reader.next()?;
            if matches!(entry, Some(Entry::Note(Note::Broken))) {
                break;
            }
            if let Some(arrival) = waiting.take() {
                replay.apply(&arrival, &mut out).context("it cannot be replayed")?;
                for output in out.drain() {
                    let Output::Event(event) = output else { continue };
                    if let GameEvent::Ended { game, .. } = &event
                        && let Some(why) = replay.room().engine().odd(*game)
                    {
                        tracker.mark(*game, why);
                    }
                    let who = |name: &str| who(address(&replay, &event), name);
                    if let Some(News::Over(new)) = tracker.event(moment(&replay, zero), &event, who)
                        && !found(*new)
                    {
                        anyhow::bail!("the hub ends");
                    }
                }
            }
            match entry {
                None => break,
                Some(Entry::Arrival(arrival)) => waiting = Some(arrival),
                Some(Entry::Note(Note::Resumed { at })) => {
                    zero = at.saturating_mul(1_000).saturating_sub(replay.time().as_nanos() / 1_000_000);
                }
                Some(Entry::Note(Note::Mark(mark))) => replay.check(&mark).context("it cannot be replayed")?,
                Some(Entry::Note(_)) => {}
            }
        }
        let known = tracker.known(moment(&replay, zero));
        Ok(Examined { position: opened.end(), known, running: tracker.running() })
    }
}

// The last state in a journal before this time. What is not readable is reported when it is replayed.
fn last_state(mut reader: Reader<journal_core::Source>, before: Time) -> Option<Snapshot> {
    let mut last = None;
    while let Ok(Some(entry)) = reader.next() {
        match entry {
            Entry::Note(Note::Snapshot(state)) if state.mark.time < before => last = Some(state),
            Entry::Arrival(arrival) if arrival.time >= before => break,
            _ => {}
        }
    }
    last
}

fn are_seats_known<E: Recorded>(replay: &Replay<E>) -> bool {
    let roster = replay.room().engine().roster();
    roster
        .iter()
        .all(|Occupant { peer, name, seat }| name.is_empty() || seat.is_empty() || replay.peer(*peer).is_some())
}

// The address of the peer that an event is about.
fn address<'a, E: Recorded>(replay: &'a Replay<E>, event: &GameEvent) -> &'a str {
    match event {
        GameEvent::Joined { peer, .. } => replay.peer(*peer).map_or("", |peer| &peer.address),
        _ => "",
    }
}
