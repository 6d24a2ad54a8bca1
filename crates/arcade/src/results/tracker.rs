//! Follows the events of a room, live or from a journal, and puts the results of its matches together.

use std::collections::BTreeMap;

use cmdkit::display_name;
use netcore::{Departure, GameEvent, Standing, Time};
use store::{Entry, Kind, Known, LADDER, NewMatch, Order, Seated as Who};

use crate::{
    games::{Casual, Game},
    room::{
        info::rank,
        register::{Description, SeatFact},
    },
};

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
    /// What its matches count for, and why they do not; empty if they do.
    pub(crate) class: String,
    pub(crate) casual: String,
}

impl Source {
    /// The journal with this number and file, of a game.
    pub(crate) fn of(id: u64, file: String, game: String, description: Description) -> Self {
        let Description { room, title, class, casual } = description;
        Self { id, file, game, room, title, class, casual }
    }

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
    // Games that do not count as others do.
    odd: BTreeMap<u32, Casual>,
}

// Somebody who has a seat, or had it in a game that is not over.
#[derive(Debug)]
struct Seated {
    name: String,
    who: Who,
    left: bool,
    // Whether the player left on its own, before the end.
    quit: bool,
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
        Self {
            source,
            earliest: None,
            first: None,
            goes_on: false,
            begun: BTreeMap::new(),
            seats: BTreeMap::new(),
            odd: BTreeMap::new(),
        }
    }

    /// A player has had this seat since before the first event, or had it in a game that is not over.
    pub(crate) fn sit(&mut self, seat: String, SeatFact { name, seated: who, left, quit }: SeatFact) {
        self.seats.insert(seat, Seated { name, who, left, quit });
        self.goes_on = true;
    }

    /// The journal has been continued by a version that describes its room.
    pub(crate) fn describe(&mut self, description: Description) {
        let Source { id, file, game, .. } = self.source.clone();
        self.source = Source::of(id, file, game, description);
    }

    /// Whether the player of this name who has this seat, or had it in a game that is not over, proves the name now.
    pub(crate) fn set_kind(&mut self, seat: &str, name: &str, kind: Kind) {
        if let Some(seated) = self.seats.get_mut(seat).filter(|seated| seated.name == name) {
            seated.who.kind = kind;
        }
    }

    /// The game with this number, which is just over, does not count as others do.
    pub(crate) fn mark(&mut self, game: u32, why: Casual) {
        if self.odd.len() < MAX_GAMES {
            self.odd.insert(game, why);
        }
    }

    /// Before which all matches are over, if it is `now`.
    pub(crate) fn known(&self, now: Moment) -> Known {
        self.begun.values().min_by_key(|begun| begun.time).map_or(now, |begun| *begun).known()
    }

    /// The running matches and their beginnings.
    pub(crate) fn running(&self) -> BTreeMap<u32, Known> {
        self.begun.iter().map(|(number, begun)| (*number, begun.known())).collect()
    }

    /// Processes an event. `who` returns what is known of a player who joined under this name.
    pub(crate) fn event(&mut self, now: Moment, event: &GameEvent, who: impl FnOnce(&str) -> Who) -> Option<News> {
        self.first.get_or_insert(now);
        match event {
            // Watchers have no name.
            GameEvent::Joined { name, seat, .. } if !name.is_empty() => {
                if self.seats.len() >= MAX_SEATS {
                    self.seats.retain(|_, seated| !seated.left);
                }
                if self.seats.len() < MAX_SEATS {
                    let seated = Seated { name: name.clone(), who: who(name), left: false, quit: false };
                    self.seats.insert(seat.clone(), seated);
                }
                None
            }
            GameEvent::Left { seat, why, .. } => {
                // The result of a running game also lists players who have left.
                if self.begun.is_empty() && !self.goes_on {
                    self.seats.remove(seat);
                } else if let Some(seated) = self.seats.get_mut(seat) {
                    seated.left = true;
                    // Bots leave only when nobody is there any more.
                    seated.quit = *why != Departure::GameOver && seated.who.kind != Kind::Bot;
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
            let seated = self.seats.get(&standing.seat);
            let quit = seated.is_some_and(|seated| seated.quit);
            let Who { kind, host, level } = seated.map(|seated| seated.who.clone()).unwrap_or_default();
            let rank = rank(players.last().map(|before| (before.rank, before.score)), standing);
            players.push(Entry {
                rank,
                won: rank == 1 && !quit && !hosted.is_some_and(|game| game.is_lost(standing.score)),
                // Also because PostgreSQL has no zero bytes in texts, and a name of robots may have one.
                name: display_name(&standing.name).into_owned(),
                kind,
                seat: standing.seat.clone(),
                score: standing.score,
                quit,
                host,
                level,
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
        let odd = self.odd.remove(&game).map_or("", Casual::code);
        let casual = match (self.source.casual.as_str(), odd) {
            ("", "") => self.unusual(complete, &players).map_or("", Casual::code),
            ("", odd) => odd,
            (casual, _) => casual,
        };
        let casual = casual.to_owned();
        let is_whole = begun.is_some();
        let begun = begun.or(self.first).unwrap_or(now);
        let Source { file, game: name, room, title, class, .. } = self.source.clone();
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
            class,
            casual,
            players,
        });
        Some(if is_whole { News::Over(new) } else { News::OverWithoutBeginning(new) })
    }

    // Why a match in a room whose matches count does not, by how it went.
    fn unusual(&self, complete: bool, players: &[Entry]) -> Option<Casual> {
        let mut people = players.iter().filter(|player| player.kind != Kind::Bot);
        // Whoever leaves has lost, also if nobody is left then.
        // The ladder ends matches of which not more than one program is left, or that last too long; both are results.
        if !complete && self.source.class != LADDER && !people.clone().all(|player| player.quit) {
            return Some(Casual::Unfinished);
        }
        let Some(first) = people.next() else { return Some(Casual::Alone) };
        let is_other = |player: &Entry| (player.kind, &player.name) != (first.kind, &first.name);
        let meets = Game::named(&self.source.game).is_some_and(|game| game.order(&self.source.class) == Order::Rating);
        (meets && !players.iter().any(is_other)).then_some(Casual::Alone)
    }
}
