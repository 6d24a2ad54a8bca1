//! Finds the results of matches in a journal, by replaying it from the last state before what is known.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};

use anyhow::Context as _;
use journal_core::{Arrival, Entry, Facts, Journal, Note, Reader, Replay, Snapshot};
use netcore::{GameEvent, Occupant, Outbox, Output, Recorded, Time};
use store::{JournalNote, Known, NewMatch, Seated};

use super::tracker::{self, Moment, News, Tracker};
use crate::{
    games::{self, Game, Shown, with_kind},
    room::register::{Description, SeatFact},
};

/// A journal, and what is known besides. It describes its room and its seats itself, unless an earlier version has written it.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// Its room, if the journal does not say.
    pub(crate) note: JournalNote,
    /// Records of seats that are not in the journal, by their addresses and names.
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
    // Those that hold there.
    facts: Facts,
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

    // The last state before everything that is not known, with which all seats are known too: without a fact, the kind of a seat follows
    // from the address of its peer.
    fn start<E: Recorded>(&self, opened: &Journal) -> anyhow::Result<Start<E>> {
        let known = Time::from_nanos(self.known.until.saturating_mul(1_000));
        let last = opened.segment_before(known)?;
        for index in (0..=last).rev() {
            let reader = opened.reader_from(index)?;
            let head = reader.head();
            if let Some((state, facts)) = last_state(reader.clone(), known)
                && let Ok(replay) = Replay::<E>::restore(head, &state)
                && are_seats_known(&replay, &facts)
            {
                let mut reader = reader;
                reader.go_to(&state)?;
                return Ok(Start { reader, replay, facts, is_late: false });
            }
            let facts = head.facts();
            let begins_early = head.base.as_ref().is_some_and(|base| base.mark.time < known);
            if begins_early
                && let Ok(replay) = Replay::<E>::start(head)
                && are_seats_known(&replay, &facts)
            {
                return Ok(Start { reader, replay, facts, is_late: false });
            }
        }
        let reader = opened.reader()?;
        let (replay, facts) = (Replay::start(reader.head())?, reader.head().facts());
        let is_late = reader.head().base.as_ref().is_some_and(|base| base.mark.time >= known);
        Ok(Start { reader, replay, facts, is_late })
    }

    fn replay<E: Recorded + Shown>(
        self,
        opened: &Journal,
        mut found: impl FnMut(NewMatch) -> bool,
    ) -> anyhow::Result<Examined> {
        let Start { mut reader, mut replay, facts, is_late } = self.start::<E>(opened)?;
        let head = reader.head().clone();
        let file = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let description = Description::of(&facts).unwrap_or_else(|| {
            let JournalNote { room, title, class, casual, .. } = self.note;
            let title = if title.is_empty() { head.game.clone() } else { title };
            Description { room, title, class, casual }
        });
        let source = tracker::Source::of(head.id, file, head.game.clone(), description);
        let noted = |address: &str, name: &str| {
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
        let mut seats = SeatFact::all(&facts);
        sit_all(&mut tracker, &replay, seats.clone(), noted);
        let mut out = Outbox::new();
        // One behind, since an arrival that made the server panic is followed by a note that says so.
        let mut waiting: Option<Arrival> = None;
        // Of the last arrival. Its facts follow it.
        let mut events: Vec<(GameEvent, String)> = vec![];
        let mut facts: Vec<(String, SeatFact)> = vec![];
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
                    let address = address(&replay, &event).to_owned();
                    events.push((event, address));
                }
            }
            match &entry {
                Some(Entry::Note(Note::Fact(fact))) => {
                    if let Some(description) = Description::of_fact(fact) {
                        tracker.describe(description);
                    }
                    if let Some((seat, fact)) = SeatFact::of(&fact.key, &fact.value) {
                        seats.insert(seat.clone(), fact.clone());
                        facts.push((seat, fact));
                    }
                    continue;
                }
                Some(Entry::Note(Note::Mark(mark))) => {
                    replay.check(mark).context("it cannot be replayed")?;
                    continue;
                }
                Some(Entry::Note(Note::Resumed { .. }) | Entry::Arrival(_)) | None => {}
                Some(Entry::Note(_)) => continue,
            }
            // Names that were proven, or lost their key, since the arrival before, or by the end of a match.
            for (seat, fact) in &facts {
                tracker.set_kind(seat, &fact.name, fact.seated.kind);
            }
            for (event, address) in events.drain(..) {
                let who = |name: &str| {
                    // A fact is recorded only if it differs from the one before.
                    let mut recorded = facts.iter().rev().map(|(seat, fact)| (seat, fact)).chain(&seats);
                    let fact = recorded.find(|(seat, fact)| is_about(&event, seat) && fact.name == name);
                    fact.map_or_else(|| noted(&address, name), |(_, fact)| fact.seated.clone())
                };
                if let Some(News::Over(new)) = tracker.event(moment(&replay, zero), &event, who)
                    && !found(*new)
                {
                    anyhow::bail!("the hub ends");
                }
            }
            facts.clear();
            match entry {
                None => break,
                Some(Entry::Arrival(arrival)) => waiting = Some(arrival),
                Some(Entry::Note(Note::Resumed { at })) => {
                    zero = at.saturating_mul(1_000).saturating_sub(replay.time().as_nanos() / 1_000_000);
                }
                Some(Entry::Note(_)) => {}
            }
        }
        let known = tracker.known(moment(&replay, zero));
        Ok(Examined { position: opened.end(), known, running: tracker.running() })
    }
}

// Seats the players who are there when a replay starts, and those who have left a running match.
fn sit_all<E: Recorded>(
    tracker: &mut Tracker,
    replay: &Replay<E>,
    mut facts: BTreeMap<String, SeatFact>,
    noted: impl Fn(&str, &str) -> Seated,
) {
    for Occupant { peer, name, seat } in replay.room().engine().roster() {
        if !name.is_empty() && !seat.is_empty() {
            let fact = facts.remove(&seat).filter(|fact| fact.name == name && !fact.left).unwrap_or_else(|| {
                let seated = noted(replay.peer(peer).map_or("", |peer| &peer.address), &name);
                SeatFact { name, seated, left: false, quit: false }
            });
            tracker.sit(seat, fact);
        }
    }
    for (seat, fact) in facts.into_iter().filter(|(_, fact)| fact.left) {
        tracker.sit(seat, fact);
    }
}

// The last state in a journal before this time, and the facts that hold there. What is not readable is reported when it is replayed.
fn last_state(mut reader: Reader<journal_core::Source>, before: Time) -> Option<(Snapshot, Facts)> {
    let mut last: Option<Snapshot> = None;
    let mut facts = reader.head().facts();
    let mut recorded = vec![];
    let mut position = reader.position();
    while let Ok(Some(entry)) = reader.next() {
        match entry {
            Entry::Note(Note::Snapshot(state)) if state.mark.time < before => last = Some(state),
            Entry::Note(Note::Fact(fact)) => recorded.push((position, fact)),
            Entry::Arrival(arrival) if arrival.time >= before => break,
            _ => {}
        }
        position = reader.position();
    }
    let last = last?;
    // A state is written some records after the moment that it is of.
    let until = recorded.into_iter().filter(|(position, _)| *position < last.offset);
    until.for_each(|(_, fact)| fact.apply_to(&mut facts));
    Some((last, facts))
}

fn are_seats_known<E: Recorded>(replay: &Replay<E>, facts: &Facts) -> bool {
    let seats = SeatFact::all(facts);
    replay.room().engine().roster().iter().all(|Occupant { peer, name, seat }| {
        name.is_empty() || seat.is_empty() || seats.contains_key(seat) || replay.peer(*peer).is_some()
    })
}

// Whether a player has joined at this seat.
fn is_about(event: &GameEvent, of: &str) -> bool {
    matches!(event, GameEvent::Joined { seat, .. } if seat == of)
}

// The address of the peer that an event is about.
fn address<'a, E: Recorded>(replay: &'a Replay<E>, event: &GameEvent) -> &'a str {
    match event {
        GameEvent::Joined { peer, .. } => replay.peer(*peer).map_or("", |peer| &peer.address),
        _ => "",
    }
}
