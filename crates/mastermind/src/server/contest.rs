//! Who takes part in a game, and with which result.

use alloc::{format, string::ToString, vec::Vec};
use netcore::{Fingerprint, GameEvent, Outbox, Standing, Time};
use serde::{Deserialize, Serialize};

use crate::{game::TURNS, protocol::Name, view::Ending};

/// The score of a player who did not find the code; otherwise it is the number of turns.
pub const NOT_FOUND: i64 = 11;

const _: () = assert!(TURNS == 10, "one less than the score of a code that was not found");

/// Those for whom a game has begun: one, or all of a race.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Contest {
    pub(super) started: Time,
    pub(super) racers: Vec<Racer>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Racer {
    seat: u8,
    name: Name,
    result: Option<Finish>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Finish {
    // None for somebody who left.
    how: Option<Ending>,
    turns: u8,
    // How many were over before.
    after: u8,
}

impl Contest {
    pub(super) const fn new(started: Time) -> Self {
        Self { started, racers: Vec::new() }
    }

    pub(super) fn add_to(&self, print: &mut Fingerprint) {
        print.add_time(Some(self.started));
        print.add_count(self.racers.len());
        for Racer { seat, name, result } in &self.racers {
            print.add((*seat).into());
            print.add_bytes(name.as_str().as_bytes());
            print.add(u64::from(result.is_some()));
            let Some(Finish { how, turns, after }) = result else { continue };
            print.add(how.map_or(0, Ending::number));
            print.add(u64::from(*turns) << 8 | u64::from(*after));
        }
    }

    pub(super) fn enter(&mut self, seat: u8, name: Name) {
        self.racers.push(Racer { seat, name, result: None });
    }

    // The seats that are still playing.
    pub(super) fn running(&self) -> impl Iterator<Item = u8> + '_ {
        self.racers.iter().filter(|racer| racer.result.is_none()).map(|racer| racer.seat)
    }

    pub(super) fn is_over(&self) -> bool {
        self.running().next().is_none()
    }

    // It is over for a seat in this way; with none if the player left.
    pub(super) fn finish(&mut self, seat: u8, how: Option<Ending>, turns: usize) {
        let after = self.racers.iter().filter(|racer| racer.result.is_some()).count();
        let racer = self.racers.iter_mut().find(|racer| racer.seat == seat && racer.result.is_none());
        if let Some(racer) = racer {
            // Both are small: at most ten turns, at most sixteen racers.
            let small = |number| u8::try_from(number).unwrap_or(u8::MAX);
            racer.result = Some(Finish { how, turns: small(turns), after: small(after) });
        }
    }

    // Reports the result, so far or final.
    pub(super) fn report(&self, game: u32, out: &mut Outbox) {
        let standings = self.standings();
        let results: Vec<_> = self.racers.iter().map(|racer| format!("{} {}", racer.name, racer.how())).collect();
        let played = |racer: &Racer| racer.result.is_some_and(|finish| finish.how.is_some());
        let complete = self.is_over() && self.racers.iter().any(played);
        out.event(GameEvent::Ended { game, complete, standings });
        out.summary(format!("game {game}: {}", results.join(", ")));
    }

    // Fewer turns are better. Equal ones share a rank, in the order in which they were over.
    fn standings(&self) -> Vec<Standing> {
        let mut order: Vec<&Racer> = self.racers.iter().collect();
        order.sort_by_key(|racer| (racer.score(), racer.result.map(|finish| finish.after)));
        let mut standings: Vec<Standing> = Vec::with_capacity(order.len());
        for (place, racer) in (1..).zip(order) {
            let score = racer.score();
            let rank = standings.last().filter(|before| before.score == score).map_or(place, |before| before.rank);
            standings.push(Standing { rank, seat: racer.seat.to_string(), name: racer.name.to_string(), score });
        }
        standings
    }
}

impl Racer {
    // Smaller is better.
    fn score(&self) -> i64 {
        match self.result {
            Some(Finish { how: Some(Ending::Won), turns, .. }) => turns.into(),
            _ => NOT_FOUND,
        }
    }

    fn how(&self) -> alloc::string::String {
        match self.result {
            Some(Finish { how: Some(Ending::Won), turns, .. }) => format!("won in {turns} turns"),
            Some(Finish { how: Some(how), .. }) => how.word().into(),
            Some(Finish { how: None, .. }) => "left".into(),
            None => "was still playing".into(),
        }
    }
}
