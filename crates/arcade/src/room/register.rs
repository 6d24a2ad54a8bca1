//! The facts in the journal of a room that results need besides the inputs: the room, what its matches count for, and
//! per seat the host, the level of a bot, and whether the name is proven.
//!
//! Facts are recorded while an input is processed, so they are stored before its outputs are sent.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use journal_core::{Fact, Facts, JournalFacts};
use netcore::{Departure, GameEvent, Level, Output, PeerId, Phase};
use serde::{Deserialize, Serialize};
use store::{MatchPlayer, PlayerKind, SeatRecord, day_of, unix_now};

use super::{
    info::Player,
    roster::{Proof, Roster},
};

const ROOM: &str = "room";
/// The prefix of keys of facts about seats.
const SEAT: &str = "seat ";
/// Stored seats of players who have left during a match. Beyond it, all are removed.
const MAX_LEFT: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) room: String,
    pub(crate) title: String,
    /// The board of its matches.
    pub(crate) class: String,
    /// Why its matches do not count, or empty.
    pub(crate) casual: String,
    /// Of a daily challenge, in days since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) day: Option<u32>,
}

impl Description {
    /// Journals of earlier versions have none.
    pub(crate) fn of(facts: &Facts) -> Option<Self> {
        Self::parse(ROOM, facts.get(ROOM)?)
    }

    pub(crate) fn of_fact(fact: &Fact) -> Option<Self> {
        Self::parse(&fact.key, &fact.value)
    }

    fn parse(key: &str, value: &str) -> Option<Self> {
        (key == ROOM).then(|| serde_json::from_str(value).ok())?
    }

    pub(crate) fn facts(&self) -> Facts {
        let (key, value) = self.fact();
        Facts::from([(key.to_owned(), value)])
    }

    fn fact(&self) -> (&'static str, String) {
        // Texts can be serialized.
        (ROOM, serde_json::to_string(self).unwrap_or_default())
    }
}

/// A player who has a seat, or has left it during a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeatFact {
    pub(crate) name: String,
    /// The name in messages of the game, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wire: Option<String>,
    #[serde(flatten)]
    pub(crate) seated: SeatRecord,
    /// During a match.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) left: bool,
    /// Voluntarily, before the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) quit: bool,
}

impl SeatFact {
    /// Extracts the seat from the key of a fact.
    pub(crate) fn seat(key: &str) -> Option<&str> {
        key.strip_prefix(SEAT)
    }

    pub(crate) fn new(name: &str, seated: SeatRecord) -> Self {
        Self { name: name.to_owned(), wire: None, seated, left: false, quit: false }
    }

    /// The name in messages of the game.
    pub(crate) fn wire(&self) -> &str {
        self.wire.as_deref().unwrap_or(&self.name)
    }

    pub(crate) fn of(value: &str) -> Option<Self> {
        serde_json::from_str(value).ok()
    }

    pub(crate) fn all(facts: &Facts) -> BTreeMap<String, Self> {
        facts.iter().filter_map(|(key, value)| Some((Self::seat(key)?.to_owned(), Self::of(value)?))).collect()
    }
}

#[derive(Debug)]
struct Seat {
    fact: SeatFact,
    // Of an unproven name, since the proof may arrive later.
    proof: Option<Proof>,
}

#[derive(Debug)]
pub(crate) struct Register {
    journal: JournalFacts,
    roster: Arc<Roster>,
    seats: Mutex<BTreeMap<String, Seat>>,
}

impl Register {
    /// `players` are those of the previous run, if the room is resumed.
    pub(crate) fn new(
        journal: JournalFacts,
        description: &Description,
        roster: Arc<Roster>,
        players: &[Player],
    ) -> Self {
        let facts = journal.all();
        if Description::of(&facts).is_none() {
            // An earlier version has created the journal.
            let (key, value) = description.fact();
            journal.set(key, &value);
        }
        let seat = |(seat, fact)| (seat, Seat { fact, proof: None });
        let mut seats: BTreeMap<String, Seat> = SeatFact::all(&facts).into_iter().map(seat).collect();
        for Player { address, name, seat, bot, .. } in players.iter().filter(|player| !player.seat.is_empty()) {
            let kind = if *bot { PlayerKind::Bot } else { PlayerKind::Unproven };
            let fact = seats.remove(seat).map(|seat| seat.fact).filter(|fact| fact.name == *name && !fact.left);
            // The database may know more than a missing fact, so none is recorded here.
            let fact = fact.unwrap_or_else(|| SeatFact::new(name, SeatRecord { kind, ..SeatRecord::default() }));
            let proof = roster.proof(address.as_deref()).filter(|_| fact.seated.kind == PlayerKind::Unproven);
            seats.insert(seat.clone(), Seat { fact, proof });
        }
        Self { journal, roster, seats: Mutex::new(seats) }
    }

    fn seats(&self) -> MutexGuard<'_, BTreeMap<String, Seat>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces names in events by real ones. `phase` is the phase after the input.
    pub(crate) fn follow<'a>(&self, outputs: &mut [Output], phase: Phase, address: impl Fn(PeerId) -> Option<&'a str>) {
        let is_end = |output: &Output| matches!(output, Output::Event(GameEvent::Ended { .. }));
        let has_ended = outputs.iter().any(is_end);
        let mut events =
            outputs.iter_mut().filter_map(|output| if let Output::Event(event) = output { Some(event) } else { None });
        let Some(first) = events.next() else { return };
        let seats = &mut *self.seats();
        if has_ended {
            // Before players who leave at the end are removed.
            self.prove_all(seats);
        }
        for event in std::iter::once(first).chain(events) {
            match event {
                GameEvent::Waiting { peer, name, .. } => drop(self.reveal(name, address(*peer))),
                GameEvent::Joined { peer, name, seat } if !name.is_empty() => {
                    let wire = self.reveal(name, address(*peer));
                    let of = self.join(name, wire, address(*peer));
                    self.record(seat, &of.fact);
                    seats.insert(seat.clone(), of);
                }
                GameEvent::Left { peer, name, seat, why } => {
                    match seats.get(seat).filter(|of| of.fact.wire() == *name) {
                        Some(of) => name.clone_from(&of.fact.name),
                        None => drop(self.reveal(name, address(*peer))),
                    }
                    let Some(of) = seats.get_mut(seat).filter(|of| of.fact.name == *name) else { continue };
                    if phase == Phase::Playing {
                        of.fact.left = true;
                        of.fact.quit = *why != Departure::GameOver && of.fact.seated.kind != PlayerKind::Bot;
                        self.record(seat, &of.fact);
                        if seats.values().filter(|of| of.fact.left).count() > MAX_LEFT {
                            self.remove_seats(seats, |_, of| of.fact.left);
                        }
                    } else {
                        self.remove_seats(seats, |other, _| other == seat);
                    }
                }
                GameEvent::Ended { standings, .. } => {
                    for standing in &mut *standings {
                        if let Some(of) = seats.get(&standing.seat).filter(|of| of.fact.wire() == standing.name) {
                            standing.name.clone_from(&of.fact.name);
                        }
                    }
                    let of_game = |seat: &str| standings.iter().any(|standing| standing.seat == seat);
                    self.remove_seats(seats, |seat, of| of.fact.left && (phase != Phase::Playing || of_game(seat)));
                }
                _ => {}
            }
        }
    }

    // Replaces the name of the client at `address` by its real one. Returns the former if they differ.
    fn reveal(&self, name: &mut String, address: Option<&str>) -> Option<String> {
        let alias = self.roster.alias(address).filter(|alias| alias.wire == *name)?;
        Some(std::mem::replace(name, alias.name))
    }

    /// The players whom the result of the current match will list, without results.
    pub(crate) fn players(&self) -> Vec<MatchPlayer> {
        let player = |(seat, Seat { fact, .. }): (&String, &Seat)| {
            let (name, seat, SeatRecord { kind, host, level }) = (fact.name.clone(), seat.clone(), fact.seated.clone());
            MatchPlayer { name, seat, kind, host, level, ..MatchPlayer::default() }
        };
        self.seats().iter().map(player).collect()
    }

    /// Whether a player who has left the match had this name in messages of the game.
    pub(crate) fn is_left(&self, wire: &str) -> bool {
        self.seats().values().any(|of| of.fact.left && of.fact.wire().eq_ignore_ascii_case(wire))
    }

    fn join(&self, name: &str, wire: Option<String>, address: Option<&str>) -> Seat {
        let bot = address.and_then(|address| self.roster.bot_level(address.parse().ok()?));
        let proof = self.roster.proof(address).filter(|_| bot.is_none());
        let kind = match (&bot, &proof) {
            (Some(_), _) => PlayerKind::Bot,
            (None, Some(proof)) => proof.kind(name),
            (None, None) => PlayerKind::Unproven,
        };
        let host = address.map_or_else(String::new, |address| self.roster.host_code(address, day_of(unix_now())));
        let level = bot.map_or("", level_name).to_owned();
        let fact = SeatFact { wire, ..SeatFact::new(name, SeatRecord { kind, host, level }) };
        Seat { fact, proof: proof.filter(|_| kind == PlayerKind::Unproven) }
    }

    fn record(&self, seat: &str, fact: &SeatFact) {
        // Names are short enough in every game. If there are too many players, further ones count as unproven.
        let value = serde_json::to_string(fact).unwrap_or_default();
        self.journal.set(&format!("{SEAT}{seat}"), &value);
    }

    fn remove_seats(&self, seats: &mut BTreeMap<String, Seat>, is_over: impl Fn(&str, &Seat) -> bool) {
        for (seat, _) in seats.extract_if(.., |seat, of| is_over(seat, of)) {
            self.journal.set(&format!("{SEAT}{seat}"), "");
        }
    }

    /// Verifies again after the names of a seat were set. Returns the newly proven names.
    pub(crate) fn prove(&self) -> Vec<String> {
        self.prove_all(&mut self.seats())
    }

    /// The keys of the seats have lost these names.
    pub(crate) fn revoke(&self, names: &[String]) {
        for (seat, Seat { fact, .. }) in &mut *self.seats() {
            if fact.seated.kind == PlayerKind::Proven && names.contains(&fact.name) {
                fact.seated.kind = PlayerKind::Unproven;
                self.record(seat, fact);
            }
        }
    }

    fn prove_all(&self, seats: &mut BTreeMap<String, Seat>) -> Vec<String> {
        let mut proven = vec![];
        for (seat, Seat { fact, proof }) in seats {
            if proof.take_if(|proof| proof.kind(&fact.name) == PlayerKind::Proven).is_some() {
                fact.seated.kind = PlayerKind::Proven;
                self.record(seat, fact);
                proven.push(fact.name.clone());
            }
        }
        proven
    }
}

pub(crate) const fn level_name(level: Level) -> &'static str {
    match level {
        Level::Easy => "easy",
        Level::Normal => "normal",
        Level::Hard => "hard",
    }
}
