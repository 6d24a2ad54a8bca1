//! One learner that is watched.

use std::time::{Duration, Instant};

use blackjack::{
    Action, QTable, Score, StateSpace,
    learn::{Chance, Explore, Trainer},
    qtable::Tally,
};
use rand_pcg::Pcg64Mcg;
use serde::Deserialize;
use serde_json::{Value, json};

use super::best::Best;

/// How often rounds are played and told.
pub(super) const TICK: Duration = Duration::from_millis(200);
/// The time of a slice at full speed; the rest of a tick is for others.
const SLICE: Duration = Duration::from_millis(40);
/// Rounds between two looks at the clock.
const BATCH: u64 = 2_000;
/// Rounds after which a learner stops: by then nothing changes any more.
const MAX_ROUNDS: u64 = 2_000_000_000;
/// Rounds a second that can be asked for; more is full speed.
const MAX_PACE: u32 = 1_000_000;
/// Points of the curve. When there are as many, every other one is dropped.
const MAX_POINTS: usize = 512;

/// What a page asks for.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Wish {
    /// Begins anew.
    Start {
        #[serde(default)]
        explore: Exploration,
        /// The chance of a random decision, for `epsilon`.
        #[serde(default = "usual_chance")]
        chance: f64,
        #[serde(default)]
        space: Space,
        #[serde(default)]
        seed: u64,
    },
    /// Goes on.
    Resume,
    Pause,
    /// Rounds a second; without a number as many as there can be.
    Pace {
        rounds: Option<u32>,
    },
}

const fn usual_chance() -> f64 {
    0.1
}

/// How decisions are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Exploration {
    Random,
    Epsilon,
    #[default]
    Confident,
}

/// Which facts make a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Space {
    Coarse,
    #[default]
    Soft,
}

/// What is to be played now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slice {
    Rounds(u64),
    /// For the time of a slice.
    Full,
}

/// A learner, and what was seen of it.
pub(super) struct Session {
    best: &'static Best,
    trainer: Trainer<Pcg64Mcg>,
    space: StateSpace,
    score: Score,
    running: bool,
    // Rounds a second; none is full speed.
    pace: Option<u32>,
    // Of the next round, as far as time has paid for it.
    owed: f64,
    speed: f64,
    value: f64,
    // Rounds and the exact value then.
    curve: Vec<(u64, f64)>,
}

impl Session {
    pub(super) fn new(best: &'static Best) -> Self {
        Self::with(best, StateSpace::Soft, Explore::UntilConfident, 0)
    }

    fn with(best: &'static Best, space: StateSpace, explore: Explore, seed: u64) -> Self {
        let trainer = Trainer::seeded(QTable::new(space), explore, seed, 0);
        let value = best.value(&trainer.table().policy());
        Self {
            best,
            trainer,
            space,
            score: Score::default(),
            running: false,
            pace: Some(5),
            owed: 0.0,
            speed: 0.0,
            value,
            curve: vec![(0, value)],
        }
    }

    /// Does what the page asks for.
    ///
    /// # Errors
    /// What would be possible, in words.
    pub(super) fn wish(&mut self, wish: Wish) -> Result<(), &'static str> {
        match wish {
            Wish::Start { explore, chance, space, seed } => {
                let explore = match explore {
                    Exploration::Random => Explore::Random,
                    Exploration::Epsilon => Explore::Epsilon(Chance::new(chance).ok_or("the chance is from 0 to 1")?),
                    Exploration::Confident => Explore::UntilConfident,
                };
                let space = match space {
                    Space::Coarse => StateSpace::Coarse,
                    Space::Soft => StateSpace::Soft,
                };
                *self = Self { pace: self.pace, running: true, ..Self::with(self.best, space, explore, seed) };
            }
            Wish::Resume => self.running = true,
            Wish::Pause => self.running = false,
            Wish::Pace { rounds: Some(0) } => return Err("the pace is at least one round a second"),
            Wish::Pace { rounds } => self.pace = rounds.filter(|rounds| *rounds <= MAX_PACE),
        }
        self.owed = 0.0;
        Ok(())
    }

    /// What is to be played after this time, if anything.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most a second of the greatest pace"
    )]
    pub(super) fn due(&mut self, passed: Duration) -> Option<Slice> {
        if !self.running || self.score.rounds() >= MAX_ROUNDS {
            return None;
        }
        let Some(pace) = self.pace else { return Some(Slice::Full) };
        self.owed += f64::from(pace) * passed.as_secs_f64().min(1.0);
        let rounds = self.owed.floor();
        self.owed -= rounds;
        (rounds >= 1.0).then_some(Slice::Rounds(rounds as u64))
    }

    /// Plays.
    pub(super) fn play(&mut self, slice: Slice) {
        let begun = Instant::now();
        let before = self.score.rounds();
        match slice {
            Slice::Rounds(rounds) => self.rounds(rounds),
            Slice::Full => {
                while self.running && begun.elapsed() < SLICE && self.score.rounds() < MAX_ROUNDS {
                    self.rounds(BATCH);
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a speed for people to read")]
        let rounds = (self.score.rounds() - before) as f64;
        self.speed = self.pace.map_or(rounds / TICK.max(begun.elapsed()).as_secs_f64(), f64::from);
        self.value = self.best.value(&self.trainer.table().policy());
        self.note();
    }

    fn rounds(&mut self, rounds: u64) {
        match self.trainer.play(rounds) {
            Ok(score) => self.score += score,
            // Never in practice: no round takes 52 cards.
            Err(_) => self.running = false,
        }
    }

    // The curve has points at distances that grow with the rounds, as it is drawn.
    fn note(&mut self) {
        let rounds = self.score.rounds();
        let far = self.curve.last().is_none_or(|(last, _)| rounds > last + last / 50);
        if far {
            self.curve.push((rounds, self.value));
        }
        if self.curve.len() >= MAX_POINTS {
            let mut at = 0;
            self.curve.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
    }

    /// What the page shows.
    pub(super) fn report(&self) -> Value {
        let (table, best) = (self.trainer.table(), self.best.policy(self.space));
        let policy = table.policy();
        let (mut cells, mut ideal, mut means) = (String::new(), String::new(), vec![]);
        let letter = |action| if action == Action::Hit { 'h' } else { 's' };
        for state in self.space.states() {
            let entry = table.entry(state);
            // Capital letters for decisions that both actions were tried for.
            let tried = entry.hit.n > 0 && entry.stand.n > 0;
            let decided = letter(policy.action(state));
            cells.push(match entry.visits() {
                0 => '.',
                _ if tried => decided.to_ascii_uppercase(),
                _ => decided,
            });
            ideal.push(letter(best.action(state)));
            means.push((worth(entry.hit), worth(entry.stand), entry.visits()));
        }
        json!({
            "space": self.space.word(),
            "running": self.running,
            "rounds": self.score.rounds(),
            "mean": self.score.mean(),
            "speed": self.speed.round(),
            "pace": self.pace,
            "value": self.value,
            "optimum": self.best.optimum(self.space),
            "differs": policy.differences(best).count(),
            "cells": cells,
            "best": ideal,
            "means": means,
            "curve": self.curve,
        })
    }
}

// In thousandths.
fn worth(tally: Tally) -> Option<f64> {
    tally.mean().map(|mean| (mean * 1_000.0).round() / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        Session::new(super::super::best())
    }

    fn wish(text: &str) -> Wish {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_first_rounds_are_played_one_by_one_and_the_same_seed_learns_the_same() {
        let learn = || {
            let mut session = session();
            assert_eq!(session.due(TICK), None, "nothing happens before it is started");
            session.wish(wish(r#"{"do": "start", "seed": 7}"#)).unwrap();
            session.wish(wish(r#"{"do": "pace", "rounds": 5}"#)).unwrap();
            let mut seen = vec![];
            for _ in 0..4 {
                let slice = session.due(TICK).unwrap();
                assert_eq!(slice, Slice::Rounds(1));
                session.play(slice);
                seen.push(session.report()["cells"].clone());
            }
            assert_eq!(session.report()["rounds"], 4);
            seen
        };
        let seen = learn();
        assert_eq!(seen, learn());
        assert!(seen[3].as_str().unwrap().contains(['h', 's', 'H', 'S']) && seen[3].as_str().unwrap().contains('.'));
    }

    #[test]
    fn it_gets_close_to_the_optimum_and_says_what_still_differs() {
        let mut session = session();
        session.wish(wish(r#"{"do": "start", "explore": "confident", "space": "coarse", "seed": 1}"#)).unwrap();
        session.wish(wish(r#"{"do": "pace"}"#)).unwrap();
        assert_eq!(session.due(TICK), Some(Slice::Full));
        session.play(Slice::Rounds(1_000_000));
        let report = session.report();
        let (value, optimum) = (report["value"].as_f64().unwrap(), report["optimum"].as_f64().unwrap());
        assert!(value <= optimum && optimum - value < 0.002, "{value} {optimum}");
        assert!(report["differs"].as_u64().unwrap() < 20);
        assert_eq!(report["cells"].as_str().unwrap().len(), 180);
        session.wish(Wish::Pause).unwrap();
        assert_eq!(session.due(TICK), None);
    }

    #[test]
    fn what_a_page_may_not_ask_for_changes_nothing() {
        let mut session = session();
        for text in [r#"{"do": "start", "explore": "epsilon", "chance": 2}"#, r#"{"do": "pace", "rounds": 0}"#] {
            assert!(session.wish(wish(text)).is_err(), "{text}");
            assert_eq!(session.due(TICK), None);
        }
        for text in [r#"{"do": "fly"}"#, r#"{"do": "start", "seed": -1}"#, "", "[]"] {
            assert!(serde_json::from_str::<Wish>(text).is_err(), "{text}");
        }
        session.wish(wish(r#"{"do": "pace", "rounds": 4000000000}"#)).unwrap();
        session.wish(Wish::Resume).unwrap();
        assert_eq!(session.due(TICK), Some(Slice::Full));
    }

    #[test]
    fn the_curve_is_bounded() {
        let mut session = session();
        session.running = true;
        for _ in 0..MAX_POINTS + 100 {
            session.play(Slice::Rounds(1));
        }
        assert!(session.curve.len() < MAX_POINTS && session.curve.len() > 50);
        assert!(session.curve.is_sorted_by_key(|(rounds, _)| *rounds));
    }
}
