//! Follows the events of a room, live or from a journal, and puts the results of its matches together.

use std::collections::BTreeMap;

use netcore::{GameEvent, Standing, Time};
use store::{Entry, Kind, Known, NewMatch};

use crate::{games::Game, room::info::rank};

/// Seats that are remembered until their game ends.
const MAX_SEATS: usize = 4_096;
/// Games that are played in a room at the same time.
const MAX_GAMES: usize = 4_096;

/// What is the same for all matches of a journal.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The number of the journal, of which the ids of its matches are made.
    pub(crate) id: u64,
    /// The name of its file.
    pub(crate) file: String,
    pub(crate) game: String,
    pub(crate) room: String,
    pub(crate) title: String,
}

impl Source {
    /// The id of the match with this number.
    pub(crate) fn match_id(&self, number: u32) -> String {
        format!("{:016x}-{number}", self.id)
    }
}

/// A moment: the time of the room, and milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) time: Time,
    pub(crate) unix: u64,
}

impl Moment {
    /// That everything before it is known.
    pub(crate) const fn known(self) -> Known {
        let micros = self.time.as_nanos() / 1_000;
        Known { until: micros, zero: self.unix.saturating_sub(micros / 1_000) }
    }
}

/// Puts results together.
#[derive(Debug)]
pub(crate) struct Tracker {
    source: Source,
    /// Stands for the beginning of a match that began before, and of which nothing more is known.
    pub(super) earliest: Option<Moment>,
    // That of the first event.
    first: Option<Moment>,
    // Whether a match may go on that began before the first event.
    goes_on: bool,
    begun: BTreeMap<u32, Moment>,
    seats: BTreeMap<String, Seated>,
}

// Somebody who has a seat, or had it in a game that is not over.
#[derive(Debug)]
struct Seated {
    kind: Kind,
    left: bool,
}

/// What follows from an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// A match with this id has begun.
    Begun(String),
    Over(Box<NewMatch>),
    /// A match is over whose beginning was not seen. It counts as begun at the first event.
    OverWithoutBeginning(Box<NewMatch>),
}

impl Tracker {
    pub(crate) const fn new(source: Source) -> Self {
        Self { source, earliest: None, first: None, goes_on: false, begun: BTreeMap::new(), seats: BTreeMap::new() }
    }

    /// Somebody has had this seat since before the first event.
    pub(crate) fn sit(&mut self, seat: String, kind: Kind) {
        self.seats.insert(seat, Seated { kind, left: false });
        self.goes_on = true;
    }

    /// More has become known of the name of whoever has this seat, or had it in a game that is not over.
    pub(crate) fn trust(&mut self, seat: &str, kind: Kind) {
        if let Some(seated) = self.seats.get_mut(seat) {
            seated.kind = kind;
        }
    }

    /// Whether somebody has this seat, or had it in a game that is not over.
    pub(crate) fn has(&self, seat: &str) -> bool {
        self.seats.contains_key(seat)
    }

    /// Before which all matches are over, if it is `now`.
    pub(crate) fn known(&self, now: Moment) -> Known {
        self.begun.values().min_by_key(|begun| begun.time).map_or(now, |begun| *begun).known()
    }

    /// The running matches and their beginnings.
    pub(crate) fn running(&self) -> BTreeMap<u32, Known> {
        self.begun.iter().map(|(number, begun)| (*number, begun.known())).collect()
    }

    /// Processes an event. `kind` returns how far the name of a player who joined is trusted.
    pub(crate) fn event(&mut self, now: Moment, event: &GameEvent, kind: impl FnOnce(&str) -> Kind) -> Option<News> {
        self.first.get_or_insert(now);
        match event {
            // Watchers have no name.
            GameEvent::Joined { name, seat, .. } if !name.is_empty() => {
                if self.seats.len() >= MAX_SEATS {
                    self.seats.retain(|_, seated| !seated.left);
                }
                if self.seats.len() < MAX_SEATS {
                    self.seats.insert(seat.clone(), Seated { kind: kind(name), left: false });
                }
                None
            }
            GameEvent::Left { seat, .. } => {
                // The result of a running game also lists players who have left.
                if self.begun.is_empty() && !self.goes_on {
                    self.seats.remove(seat);
                } else if let Some(seated) = self.seats.get_mut(seat) {
                    seated.left = true;
                }
                None
            }
            GameEvent::Started { game, .. } => {
                if self.begun.len() < MAX_GAMES {
                    self.begun.insert(*game, now);
                }
                Some(News::Begun(self.source.match_id(*game)))
            }
            GameEvent::Ended { game, complete, standings } => self.ended(now, *game, *complete, standings),
            _ => None,
        }
    }

    fn ended(&mut self, now: Moment, game: u32, complete: bool, standings: &[Standing]) -> Option<News> {
        let begun = self.begun.remove(&game);
        self.goes_on &= begun.is_some();
        let begun = begun.or(self.earliest);
        let mut players: Vec<Entry> = vec![];
        let hosted = Game::named(&self.source.game);
        for standing in standings {
            // In some games a player keeps its seat for the next one.
            let kind = self.seats.get(&standing.seat).map(|seated| seated.kind).unwrap_or_default();
            let rank = rank(players.last().map(|before| (before.rank, before.score)), standing);
            players.push(Entry {
                rank,
                won: rank == 1 && !hosted.is_some_and(|game| game.is_lost(standing.score)),
                // PostgreSQL has no zero bytes in texts; a name of robots may have one.
                name: standing.name.replace('\0', "\u{fffd}"),
                kind,
                seat: standing.seat.clone(),
                score: standing.score,
            });
        }
        for standing in standings {
            if self.seats.get(&standing.seat).is_some_and(|seated| seated.left) {
                self.seats.remove(&standing.seat);
            }
        }
        if players.is_empty() {
            return None;
        }
        let is_whole = begun.is_some();
        let begun = begun.or(self.first).unwrap_or(now);
        let Source { file, game: name, room, title, .. } = self.source.clone();
        let new = Box::new(NewMatch {
            id: self.source.match_id(game),
            game: name,
            title,
            room,
            journal: file,
            number: game,
            begins: begun.time.as_nanos() / 1_000,
            ends: now.time.as_nanos() / 1_000,
            started: begun.unix.min(now.unix),
            ended: now.unix,
            complete,
            players,
        });
        Some(if is_whole { News::Over(new) } else { News::OverWithoutBeginning(new) })
    }
}
