//! What the journal of a room says beside the inputs, so that a result depends on nothing outside the journal: what the room is and
//! what its matches count for, and of each seat how far its name is proven, its host, and how well its bot plays.
//!
//! Facts are recorded while the room processes an input, so nothing that follows from the input is sent before they are stored. The
//! events of that input wait for the journal too, and reach the ledger later. Until then a queue holds what the ledger needs of them.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use journal_core::{Fact, Facts, JournalFacts};
use netcore::{Departure, GameEvent, Level, Output, PeerId, Phase};
use serde::{Deserialize, Serialize};
use store::{Kind, Seated, day_of, unix_now};

use super::{
    info::Player,
    roster::{Proof, Roster},
};
use crate::games::Casual;

/// The key of the [`Description`].
const ROOM: &str = "room";
/// Keys of seats begin with this.
const SEAT: &str = "seat ";
/// Seats that are remembered because their players have left during a match. Beyond that all of them are forgotten.
const MAX_LEFT: usize = 256;

/// What a journal is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    /// The name of the room.
    pub(crate) room: String,
    /// What the room is called.
    pub(crate) title: String,
    /// What its matches count for.
    pub(crate) class: String,
    /// Why they do not count; empty if they do.
    pub(crate) casual: String,
}

impl Description {
    /// The description among these facts. Journals of earlier versions have none.
    pub(crate) fn of(facts: &Facts) -> Option<Self> {
        Self::parse(ROOM, facts.get(ROOM)?)
    }

    /// The description in a fact.
    pub(crate) fn of_fact(fact: &Fact) -> Option<Self> {
        Self::parse(&fact.key, &fact.value)
    }

    fn parse(key: &str, value: &str) -> Option<Self> {
        (key == ROOM).then(|| serde_json::from_str(value).ok())?
    }

    /// The facts of a new journal.
    pub(crate) fn facts(&self) -> Facts {
        let (key, value) = self.fact();
        Facts::from([(key.to_owned(), value)])
    }

    fn fact(&self) -> (&'static str, String) {
        // Texts can always be written.
        (ROOM, serde_json::to_string(self).unwrap_or_default())
    }
}

/// Who has a seat, or has left it during a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeatFact {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) seated: Seated,
    /// Whether the player has left a running match.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) left: bool,
    /// Whether the player left on its own, before the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) quit: bool,
}

impl SeatFact {
    /// The seat that a fact is about, and who has it.
    pub(crate) fn of(key: &str, value: &str) -> Option<(String, Self)> {
        Some((key.strip_prefix(SEAT)?.to_owned(), serde_json::from_str(value).ok()?))
    }

    /// All seats that facts are about.
    pub(crate) fn all(facts: &Facts) -> BTreeMap<String, Self> {
        facts.iter().filter_map(|(key, value)| Self::of(key, value)).collect()
    }
}

/// What the ledger needs of an event beside the event.
#[derive(Debug)]
enum Noted {
    Joined(PeerId, Seated),
    Ended(u32, Ended),
}

/// What becomes known of a match at its end.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// Why it does not count as others do, if so.
    pub(crate) odd: Option<Casual>,
    /// Its seats, their names, and how far these are proven.
    pub(crate) kinds: Vec<(String, String, Kind)>,
}

#[derive(Debug)]
struct Seat {
    fact: SeatFact,
    // What may become known of a name that is not proven yet.
    proof: Option<Proof>,
}

#[derive(Debug, Default)]
struct State {
    seats: BTreeMap<String, Seat>,
    // As many as events wait for the journal, in the same order.
    noted: VecDeque<Noted>,
}

/// Writes the facts of a room into its journal.
#[derive(Debug)]
pub(crate) struct Register {
    journal: JournalFacts,
    roster: Arc<Roster>,
    state: Mutex<State>,
}

impl Register {
    /// Continues the facts of a journal. `players` are those who were there before, if it is resumed.
    pub(crate) fn new(
        journal: JournalFacts,
        description: &Description,
        roster: Arc<Roster>,
        players: &[Player],
    ) -> Self {
        let facts = journal.all();
        if Description::of(&facts).is_none() {
            // One of an earlier version.
            let (key, value) = description.fact();
            journal.set(key, &value);
        }
        let seat = |(seat, fact)| (seat, Seat { fact, proof: None });
        let mut seats: BTreeMap<String, Seat> = SeatFact::all(&facts).into_iter().map(seat).collect();
        for Player { address, name, seat, bot, .. } in players.iter().filter(|player| !player.seat.is_empty()) {
            let kind = if *bot { Kind::Bot } else { Kind::Unproven };
            let fact = seats.remove(seat).map(|seat| seat.fact).filter(|fact| fact.name == *name && !fact.left);
            // Without a fact the database may know more, so nothing is recorded here.
            let fact = fact.unwrap_or_else(|| SeatFact {
                name: name.clone(),
                seated: Seated { kind, ..Seated::default() },
                left: false,
                quit: false,
            });
            let proof = roster.proof(address.as_deref()).filter(|_| fact.seated.kind == Kind::Unproven);
            seats.insert(seat.clone(), Seat { fact, proof });
        }
        Self { journal, roster, state: Mutex::new(State { seats, noted: VecDeque::new() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who has which seat, or has left it during a match.
    pub(crate) fn seats(&self) -> BTreeMap<String, SeatFact> {
        self.state().seats.iter().map(|(seat, of)| (seat.clone(), of.fact.clone())).collect()
    }

    /// Records what follows from the outputs of an input. `address` returns that of a peer, `odd` why a game does not count as others do,
    /// and `phase` is that after the input.
    pub(crate) fn follow<'a>(
        &self,
        outputs: &[Output],
        phase: Phase,
        address: impl Fn(PeerId) -> Option<&'a str>,
        odd: impl Fn(u32) -> Option<Casual>,
    ) {
        let events =
            || outputs.iter().filter_map(|output| if let Output::Event(event) = output { Some(event) } else { None });
        if events().next().is_none() {
            return;
        }
        let mut guard = self.state();
        let State { seats, noted } = &mut *guard;
        if events().any(|event| matches!(event, GameEvent::Ended { .. })) {
            // Before those who leave at the end are forgotten.
            self.prove_all(seats);
        }
        let kinds = seats.iter().map(|(seat, of)| (seat.clone(), of.fact.name.clone(), of.fact.seated.kind));
        let kinds: Vec<_> = kinds.collect();
        for event in events() {
            match event {
                GameEvent::Joined { peer, name, seat } if !name.is_empty() => {
                    let of = self.join(name, address(*peer));
                    noted.push_back(Noted::Joined(*peer, of.fact.seated.clone()));
                    self.record(seat, &of.fact);
                    seats.insert(seat.clone(), of);
                }
                GameEvent::Left { name, seat, why, .. } => {
                    let Some(of) = seats.get_mut(seat).filter(|of| of.fact.name == *name) else { continue };
                    if phase == Phase::Playing {
                        of.fact.left = true;
                        of.fact.quit = *why != Departure::GameOver && of.fact.seated.kind != Kind::Bot;
                        self.record(seat, &of.fact);
                        if seats.values().filter(|of| of.fact.left).count() > MAX_LEFT {
                            self.forget(seats, |_, of| of.fact.left);
                        }
                    } else {
                        self.forget(seats, |other, _| other == seat);
                    }
                }
                GameEvent::Ended { game, standings, .. } => {
                    let of_game = |seat: &str| standings.iter().any(|standing| standing.seat == seat);
                    let kinds = kinds.iter().filter(|(seat, ..)| of_game(seat)).cloned().collect();
                    noted.push_back(Noted::Ended(*game, Ended { odd: odd(*game), kinds }));
                    self.forget(seats, |seat, of| of.fact.left && (phase != Phase::Playing || of_game(seat)));
                }
                _ => {}
            }
        }
    }

    fn join(&self, name: &str, address: Option<&str>) -> Seat {
        let bot = address.and_then(|address| self.roster.bot_level(address.parse().ok()?));
        let proof = self.roster.proof(address).filter(|_| bot.is_none());
        let kind = match (&bot, &proof) {
            (Some(_), _) => Kind::Bot,
            (None, Some(proof)) => proof.kind(name),
            (None, None) => Kind::Unproven,
        };
        let host = address.map_or_else(String::new, |address| self.roster.host_code(address, day_of(unix_now())));
        let level = bot.map_or("", level_name).to_owned();
        let fact = SeatFact { name: name.to_owned(), seated: Seated { kind, host, level }, left: false, quit: false };
        Seat { fact, proof: proof.filter(|_| kind == Kind::Unproven) }
    }

    fn record(&self, seat: &str, fact: &SeatFact) {
        // A name is short enough in any game, and a player of too many counts as unproven.
        let value = serde_json::to_string(fact).unwrap_or_default();
        self.journal.set(&format!("{SEAT}{seat}"), &value);
    }

    fn forget(&self, seats: &mut BTreeMap<String, Seat>, is_over: impl Fn(&str, &Seat) -> bool) {
        for (seat, _) in seats.extract_if(.., |seat, of| is_over(seat, of)) {
            self.journal.set(&format!("{SEAT}{seat}"), "");
        }
    }

    /// Looks again whose names are proven, since more has become known of a seat. Returns the names that are proven by that.
    pub(crate) fn prove(&self) -> Vec<String> {
        self.prove_all(&mut self.state().seats)
    }

    /// The keys of seats lost these names, so players who joined with them do not prove them any more.
    pub(crate) fn revoke(&self, names: &[String]) {
        for (seat, Seat { fact, .. }) in &mut self.state().seats {
            if fact.seated.kind == Kind::Proven && names.contains(&fact.name) {
                fact.seated.kind = Kind::Unproven;
                self.record(seat, fact);
            }
        }
    }

    fn prove_all(&self, seats: &mut BTreeMap<String, Seat>) -> Vec<String> {
        let mut proven = vec![];
        for (seat, Seat { fact, proof }) in seats {
            if proof.take_if(|proof| proof.kind(&fact.name) == Kind::Proven).is_some() {
                fact.seated.kind = Kind::Proven;
                self.record(seat, fact);
                proven.push(fact.name.clone());
            }
        }
        proven
    }

    /// Who the player is that has joined; asked for once, by the ledger.
    pub(crate) fn take_joined(&self, joined: PeerId) -> Seated {
        match self.take(|noted| matches!(noted, Noted::Joined(peer, _) if *peer == joined)) {
            Some(Noted::Joined(_, seated)) => seated,
            _ => Seated::default(),
        }
    }

    /// What became known of a match at its end; asked for once, by the ledger.
    pub(crate) fn take_ended(&self, ended: u32) -> Ended {
        match self.take(|noted| matches!(noted, Noted::Ended(game, _) if *game == ended)) {
            Some(Noted::Ended(_, ended)) => ended,
            _ => Ended::default(),
        }
    }

    fn take(&self, is_wanted: impl Fn(&Noted) -> bool) -> Option<Noted> {
        let noted = &mut self.state().noted;
        let at = noted.iter().position(is_wanted)?;
        // What is before it was noted of events that never came.
        noted.drain(..at);
        noted.pop_front()
    }
}

/// As ratings of bots are called.
pub(crate) const fn level_name(level: Level) -> &'static str {
    match level {
        Level::Easy => "easy",
        Level::Normal => "normal",
        Level::Hard => "hard",
    }
}
