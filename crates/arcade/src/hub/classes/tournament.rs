//! A closed tournament of a class: rounds of matches between two members, and its table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    MatchPlayer,
    draw::{Pair, round_robin, round_robin_rounds, swiss, swiss_rounds},
};
use crate::games::Game;

/// A win in half points.
const WIN: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum System {
    Swiss,
    RoundRobin,
}

/// In JSON for pages too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pairing {
    pub(crate) one: String,
    /// `None` if the first player has a bye.
    pub(crate) other: Option<String>,
    pub(crate) room: Option<String>,
    /// Of the two players, in half points. `None` until the match is decided.
    pub(crate) points: Option<(u32, u32)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tournament {
    pub(crate) system: System,
    pub(crate) game: Game,
    /// In the order of the draw.
    players: Vec<String>,
    /// The number of rounds of the whole tournament.
    pub(crate) rounds: usize,
    /// The last one may be running.
    pub(crate) played: Vec<Vec<Pairing>>,
}

/// A line of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Place {
    pub(crate) name: String,
    /// In half points.
    points: u32,
    /// The points of all opponents, which decides between equal points.
    opponents: u32,
}

impl Tournament {
    /// The number of rounds follows from the system. The players are in random order.
    pub(crate) fn new(system: System, game: Game, players: Vec<String>) -> Self {
        let rounds = match system {
            System::Swiss => swiss_rounds(players.len()),
            System::RoundRobin => round_robin_rounds(players.len()),
        };
        Self { system, game, players, rounds, played: vec![] }
    }

    fn pairings(&self) -> impl Iterator<Item = &Pairing> {
        self.played.iter().flatten()
    }

    /// Whether a match of the last round is not decided.
    pub(crate) fn is_running(&self) -> bool {
        self.played.last().is_some_and(|round| round.iter().any(|pairing| pairing.points.is_none()))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.played.len() >= self.rounds && !self.is_running()
    }

    /// The players who may take a seat in this room. `None` if it is not a room of the tournament.
    pub(crate) fn players_of(&self, room: &str) -> Option<[&str; 2]> {
        let pairing = self.pairings().find(|pairing| pairing.room.as_deref() == Some(room))?;
        Some([&pairing.one, pairing.other.as_deref()?])
    }

    /// Draws the next round, unless the last one is running or was the last of all.
    pub(crate) fn draw(&mut self) {
        if self.is_running() || self.is_over() {
            return;
        }
        let number: BTreeMap<&str, usize> = self.players.iter().map(String::as_str).zip(0..).collect();
        let pairs = match self.system {
            System::RoundRobin => round_robin(self.players.len(), self.played.len()),
            System::Swiss => {
                let order: Vec<usize> = self.table().iter().map(|place| number[&*place.name]).collect();
                let have_met = |one: usize, other: usize| {
                    let names = [&self.players[one], &self.players[other]];
                    self.pairings().any(|pairing| {
                        names.contains(&&pairing.one)
                            && pairing.other.as_ref().is_some_and(|other| names.contains(&other))
                    })
                };
                let had_bye = |one: usize| {
                    self.pairings().any(|pairing| pairing.one == self.players[one] && pairing.other.is_none())
                };
                swiss(&order, have_met, had_bye)
            }
        };
        let pairing = |(one, other): Pair| Pairing {
            one: self.players[one].clone(),
            other: other.map(|other| self.players[other].clone()),
            room: None,
            points: other.is_none().then_some((WIN, 0)),
        };
        let round = pairs.into_iter().map(pairing).collect();
        self.played.push(round);
    }

    /// Decides the match in this room, unless it is decided or one of its players is missing in the result.
    pub(crate) fn record(&mut self, room: &str, result: &[MatchPlayer]) {
        let mut pairings = self.played.iter_mut().flatten();
        let Some(pairing) = pairings.find(|pairing| pairing.room.as_deref() == Some(room)) else { return };
        let player = |name: Option<&String>| result.iter().find(|player| Some(&player.name) == name);
        let (Some(one), Some(other)) = (player(Some(&pairing.one)), player(pairing.other.as_ref())) else { return };
        // A player who has left loses.
        let (first, second) = ((one.left, one.rank), (other.left, other.rank));
        pairing.points.get_or_insert(match first.cmp(&second) {
            std::cmp::Ordering::Less => (WIN, 0),
            std::cmp::Ordering::Equal => (WIN / 2, WIN / 2),
            std::cmp::Ordering::Greater => (0, WIN),
        });
    }

    /// Decides the open matches of the last round: a player who is present in the room wins against an absent one.
    pub(crate) fn end_round(&mut self, is_present: impl Fn(&str, &str) -> bool) {
        for pairing in self.played.last_mut().into_iter().flatten().filter(|pairing| pairing.points.is_none()) {
            let present = |name: &str| pairing.room.as_deref().is_some_and(|room| is_present(room, name));
            let [one, other] = [&pairing.one, pairing.other.as_ref().unwrap_or(&pairing.one)].map(|name| present(name));
            pairing.points = Some(if one == other {
                (0, 0)
            } else if one {
                (WIN, 0)
            } else {
                (0, WIN)
            });
        }
    }

    /// The table, from first to last. Equal players are in the order of the draw.
    pub(crate) fn table(&self) -> Vec<Place> {
        let mut points: BTreeMap<&str, u32> = self.players.iter().map(|name| (name.as_str(), 0)).collect();
        let mut gain = |name: &str, more: u32| {
            if let Some(points) = points.get_mut(name) {
                *points += more;
            }
        };
        for pairing in self.pairings() {
            let Some((one, other)) = pairing.points else { continue };
            gain(&pairing.one, one);
            if let Some(name) = &pairing.other {
                gain(name, other);
            }
        }
        let place = |name: &String| {
            let opponents = self.pairings().filter_map(|pairing| match &pairing.other {
                Some(other) if pairing.one == *name => points.get(other.as_str()),
                Some(other) if other == name => points.get(pairing.one.as_str()),
                _ => None,
            });
            Place { name: name.clone(), points: points[name.as_str()], opponents: opponents.sum() }
        };
        let mut table: Vec<Place> = self.players.iter().map(place).collect();
        table.sort_by_key(|place| std::cmp::Reverse((place.points, place.opponents)));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::Options;

    fn result(players: &[(&str, u32, bool)]) -> Vec<MatchPlayer> {
        let player = |&(name, rank, left): &(&str, u32, bool)| MatchPlayer { name: name.into(), rank, score: 0, left };
        players.iter().map(player).collect()
    }

    fn with_rooms(tournament: &mut Tournament) -> Vec<(String, String, String)> {
        let round = tournament.played.len();
        let mut rooms = vec![];
        for (number, pairing) in tournament.played.last_mut().unwrap().iter_mut().enumerate() {
            let Some(other) = pairing.other.clone() else { continue };
            let room = format!("{round}-{number}");
            pairing.room = Some(room.clone());
            rooms.push((room, pairing.one.clone(), other));
        }
        rooms
    }

    #[test]
    fn first_decided_match_of_both_players_counts() {
        let players = ["Ann", "Bob"].map(str::to_owned).to_vec();
        let mut tournament = Tournament::new(System::Swiss, Game::Robots, players);
        tournament.draw();
        let rooms = with_rooms(&mut tournament);
        let (room, one, other) = &rooms[0];
        assert_eq!(tournament.players_of(room), Some(["Ann", "Bob"]));
        tournament.record(room, &result(&[(one, 1, false)]));
        assert!(tournament.is_running(), "one of them was missing");
        tournament.record(room, &result(&[(one, 1, true), (other, 2, false)]));
        tournament.record(room, &result(&[(one, 1, false), (other, 2, false)]));
        assert!(tournament.is_over());
        let table = tournament.table();
        assert_eq!((&*table[0].name, table[0].points, table[1].points), ("Bob", WIN, 0));
    }

    #[test]
    fn absent_players_lose_open_matches() {
        let players = ["Ann", "Bob", "Cid", "Dan", "Eve"].map(str::to_owned).to_vec();
        let mut tournament = Tournament::new(System::RoundRobin, Game::Nuggets, players);
        assert_eq!(tournament.rounds, 5);
        tournament.draw();
        let rooms = with_rooms(&mut tournament);
        tournament.end_round(|room, name| room == rooms[0].0 && name == rooms[0].2);
        let points: u32 = tournament.table().iter().map(|place| place.points).sum();
        assert_eq!(points, 2 * WIN, "a bye and one present player");
        tournament.draw();
        assert!(tournament.played.len() == 2 && tournament.is_running());
        tournament.draw();
        assert_eq!(tournament.played.len(), 2, "the round is running");
    }

    #[test]
    fn sixty_players_have_one_winner_and_no_second_meeting() {
        let players: Vec<String> = (0..60).map(|number| format!("Pupil {number:02}")).collect();
        let mut tournament = Tournament::new(System::Swiss, Game::Blackjack, players);
        assert_eq!(tournament.rounds, 6);
        let mut met = std::collections::BTreeSet::new();
        while !tournament.is_over() {
            tournament.draw();
            for (room, one, other) in with_rooms(&mut tournament) {
                let pair = if one < other { (one, other) } else { (other, one) };
                let rows = result(&[(&pair.0, 1, false), (&pair.1, 2, false)]);
                tournament.record(&room, &rows);
                assert!(met.insert(pair));
            }
        }
        let table = tournament.table();
        assert_eq!((&*table[0].name, table[0].points), ("Pupil 00", 6 * WIN));
        assert!(table[1].points < table[0].points);
        let text = serde_json::to_string(&tournament).unwrap();
        assert_eq!(serde_json::from_str::<Tournament>(&text).unwrap(), tournament);
    }

    #[test]
    fn rooms_of_all_games_have_two_players() {
        for game in Game::offered(false) {
            let options = serde_json::to_value(Options::duel(game)).unwrap();
            assert!(options.get("players").is_none_or(|players| *players == 2), "{options}");
        }
    }
}
