//! Plays every code of a game by hints, and shows that ten turns are always enough. `cargo test --release -p mastermind --lib --
//! --ignored --nocapture` runs these proofs and prints what they find.

#![expect(clippy::disallowed_methods, reason = "a proof that takes minutes prints its time")]
#![expect(clippy::cast_precision_loss, reason = "means of counts that are far below 2^52")]

use std::{collections::BTreeMap, num::NonZero, println, sync::Mutex, thread, time::Instant, vec};

use super::*;
use crate::lifeline::Revealed;

/// What is known at some point of a game, with all possible codes in memory. Playing all codes of a game this way does not
/// search for the possible codes at each turn.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Branch {
    knowledge: Knowledge,
    codes: Vec<Code>,
}

impl Branch {
    fn new(knowledge: Knowledge) -> Self {
        let codes = Possible::new(&knowledge).all();
        Self { knowledge, codes }
    }

    const fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// The codes that are possible, in numeric order.
    fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// The same as [`Hint::of`] what is known, but faster.
    fn hint(&self) -> Option<Hint> {
        Hint::among(&self.knowledge, &*self.codes)
    }

    /// One branch for each answer to a guess.
    fn after(&self, guess: Code) -> Vec<(Feedback, Self)> {
        let next = |(feedback, codes)| {
            let mut knowledge = self.knowledge.clone();
            knowledge.answered(guess, feedback);
            (feedback, Self { knowledge, codes })
        };
        split(&self.codes, guess).into_iter().map(next).collect()
    }
}

/// A branch gives the same hints as a single game.
#[test]
fn the_hint_of_a_branch_is_the_hint_of_what_is_known() {
    for (length, colours, repeats) in [(4, 8, true), (5, 8, false), (6, 8, true), (7, 8, true), (8, 8, false)] {
        let rules = Rules::new(length, colours, repeats).unwrap();
        for seed in 0..3 {
            let mut rng = Pcg64::seed_from_u64(seed);
            let secret = rules.draw(&mut rng);
            let mut branch = Branch::new(Knowledge::new(rules));
            assert_eq!(branch.codes(), rules.all());
            loop {
                let hint = branch.hint();
                assert_eq!(hint, Hint::of(branch.knowledge()), "{:?}", branch.knowledge());
                let guess = hint.unwrap().guess;
                let next = branch
                    .after(guess)
                    .into_iter()
                    .find(|(answer, _)| *answer == Feedback::of(guess, secret))
                    .unwrap()
                    .1;
                assert_eq!(next, Branch::new(next.knowledge().clone()));
                if guess == secret {
                    break;
                }
                branch = next;
                // A lifeline on the way, or the same guess again.
                if seed == 1 && branch.knowledge().turns_gone() == 2 {
                    let mut knowledge = branch.knowledge().clone();
                    knowledge.revealed(Revealed::Colour(secret.peg(2).unwrap()), 2);
                    branch = Branch::new(knowledge);
                } else if seed == 2 && branch.knowledge().turns_gone() == 2 {
                    branch = branch.after(guess).remove(0).1;
                }
            }
        }
    }
}

/// The result of playing codes by hints.
#[derive(Debug, Default)]
struct Played {
    /// How many codes were found in so many turns.
    turns: BTreeMap<usize, u64>,
    /// Codes that ten turns do not find.
    lost: Vec<Code>,
    hints: u64,
}

impl Played {
    /// Plays all codes that are possible from here on: those that got the same answers so far share the hint.
    fn all_after(&mut self, branch: &Branch) {
        for next in self.step(branch) {
            self.all_after(&next);
        }
    }

    /// One turn, and where it leads.
    fn step(&mut self, branch: &Branch) -> Vec<Branch> {
        let turn = branch.knowledge().turns_gone() + 1;
        if turn > TURNS {
            println!("not found in {TURNS} turns: {:?} after {:?}", branch.codes(), branch.knowledge().answers());
            self.lost.extend(branch.codes());
            return Vec::new();
        }
        let hint = branch.hint().unwrap();
        self.hints += 1;
        let (won, open): (Vec<_>, Vec<_>) = branch
            .after(hint.guess)
            .into_iter()
            .partition(|(answer, _)| answer.is_win(branch.knowledge().rules().length()));
        *self.turns.entry(turn).or_default() += won.len() as u64;
        open.into_iter().map(|(_, branch)| branch).collect()
    }

    fn add(&mut self, other: Self) {
        for (turn, codes) in other.turns {
            *self.turns.entry(turn).or_default() += codes;
        }
        self.lost.extend(other.lost);
        self.hints += other.hints;
    }
}

/// Plays every code of a game by hints. After two turns the branches are shared between threads.
fn hints_find_all(rules: Rules) {
    let start = Instant::now();
    let mut played = Played::default();
    let mut open = vec![Branch::new(Knowledge::new(rules))];
    for _ in 0..2 {
        open = open.iter().flat_map(|branch| played.step(branch)).collect();
    }
    // The largest first, so that no thread is left with one at the end.
    open.sort_by_key(|branch| branch.codes().len());
    let found: u64 = played.turns.values().sum();
    let state = Mutex::new((open, found));
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let work = || {
            let mut played = Played::default();
            loop {
                let next = state.lock().unwrap().0.pop();
                let Some(branch) = next else { return played };
                played.all_after(&branch);
                let mut state = state.lock().unwrap();
                let tenths = |codes| codes * 10 / rules.codes();
                let before = tenths(state.1);
                state.1 += branch.codes().len() as u64;
                if tenths(state.1) > before {
                    println!("{rules}: {} of {} codes, {:.0?}", state.1, rules.codes(), start.elapsed());
                }
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            played.add(worker.join().unwrap());
        }
    });
    let Played { turns, lost, hints } = played;
    let total: u64 = turns.iter().map(|(turn, codes)| *turn as u64 * codes).sum();
    let mean = total as f64 / rules.codes() as f64;
    println!("{rules}: {turns:?}, {mean:.4} on average, {hints} hints, {threads} threads, {:.0?}", start.elapsed());
    assert_eq!(lost, [], "{rules}");
    assert_eq!(turns.values().sum::<u64>(), rules.codes());
}

#[test]
#[ignore = "asks for tens of thousands of hints; part of `just prove`"]
fn hints_find_every_code_without_repeats() {
    for length in 4..=8 {
        hints_find_all(Rules::new(length, 8, false).unwrap());
    }
}

#[test]
#[ignore = "asks for hundreds of thousands of hints; part of `just prove`"]
fn hints_find_every_code_of_four_to_six_with_repeats() {
    for length in 4..=6 {
        hints_find_all(Rules::new(length, 8, true).unwrap());
    }
}

#[test]
#[ignore = "asks for millions of hints; part of `just prove`"]
fn hints_find_every_code_of_seven_with_repeats() {
    hints_find_all(Rules::new(7, 8, true).unwrap());
}

#[test]
#[ignore = "asks for 17 million hints; part of `just prove`"]
fn hints_find_every_code_of_eight_with_repeats() {
    hints_find_all(Rules::new(8, 8, true).unwrap());
}

#[test]
#[ignore = "asks for millions of hints; part of `just prove`"]
fn hints_find_every_code_of_fewer_colours() {
    for colours in 2..=7 {
        for length in 4..=8 {
            for repeats in [true, false] {
                if let Ok(rules) = Rules::new(length, colours, repeats) {
                    hints_find_all(rules);
                }
            }
        }
    }
}
