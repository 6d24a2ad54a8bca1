//! Plays every code of a game by hints: ten turns always suffice.
//!
//! `cargo test --release -p mastermind --lib -- --ignored --nocapture` runs these proofs and prints their results.

#![expect(clippy::disallowed_methods, reason = "a proof that takes minutes prints its time")]

use std::{num::NonZero, println, sync::Mutex, thread, time::Instant, vec};

use super::*;
use crate::{lifeline::Revealed, solver::Tally};

/// The knowledge after some turns, with all possible codes in memory.
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

    fn hint(&self) -> Option<Hint> {
        Hint::among(&self.knowledge, &*self.codes)
    }

    fn after(&self, guess: Code) -> Vec<(Feedback, Self)> {
        let next = |(feedback, codes)| {
            let mut knowledge = self.knowledge.clone();
            knowledge.answered(guess, feedback);
            (feedback, Self { knowledge, codes })
        };
        split(&self.codes, guess).into_iter().map(next).collect()
    }

    fn step(&self, tally: &mut Tally) -> Vec<Self> {
        let turn = self.knowledge.turns_gone() + 1;
        assert!(turn <= TURNS, "not found in {TURNS} turns: {:?} after {:?}", self.codes, self.knowledge.answers());
        tally.guesses += 1;
        let guess = self.hint().unwrap().guess;
        let (won, open): (Vec<_>, Vec<_>) =
            self.after(guess).into_iter().partition(|(answer, _)| answer.is_win(guess.len()));
        tally.found(turn, won.len() as u64);
        open.into_iter().map(|(_, branch)| branch).collect()
    }

    fn play(&self, tally: &mut Tally) {
        self.step(tally).iter().for_each(|branch| branch.play(tally));
    }
}

#[test]
fn branch_has_the_hint_of_its_knowledge() {
    for (length, colours, repeats) in [(4, 8, true), (5, 8, false), (6, 8, true), (7, 8, true), (8, 8, false)] {
        let rules = Rules::new(length, colours, repeats).unwrap();
        for seed in 0..3 {
            let secret = rules.draw(&mut Pcg64::seed_from_u64(seed));
            let mut branch = Branch::new(Knowledge::new(rules));
            assert_eq!(branch.codes, rules.all());
            loop {
                let hint = branch.hint();
                assert_eq!(hint, Hint::of(&branch.knowledge), "{:?}", branch.knowledge);
                let guess = hint.unwrap().guess;
                let answer = Feedback::of(guess, secret);
                let next = branch.after(guess).into_iter().find(|(other, _)| *other == answer).unwrap().1;
                assert_eq!(next, Branch::new(next.knowledge.clone()));
                if guess == secret {
                    break;
                }
                branch = next;
                if seed == 1 && branch.knowledge.turns_gone() == 2 {
                    branch.knowledge.revealed(Revealed::Colour(secret.peg(2).unwrap()), 2);
                    branch = Branch::new(branch.knowledge);
                } else if seed == 2 && branch.knowledge.turns_gone() == 2 {
                    branch = branch.after(guess).remove(0).1;
                }
            }
        }
    }
}

/// Plays all codes by hints. After two turns, threads share the branches.
fn hints_find_all(rules: Rules) {
    let start = Instant::now();
    let mut tally = Tally::default();
    let mut open = vec![Branch::new(Knowledge::new(rules))];
    for _ in 0..2 {
        open = open.iter().flat_map(|branch| branch.step(&mut tally)).collect();
    }
    // Threads take the largest branches first.
    open.sort_by_key(|branch| branch.codes.len());
    let open = Mutex::new(open);
    let next = || open.lock().unwrap().pop();
    let work = || {
        let mut tally = Tally::default();
        while let Some(branch) = next() {
            branch.play(&mut tally);
        }
        tally
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            tally.add(&worker.join().unwrap());
        }
    });
    let (turns, hints) = (tally.turns(), tally.guesses);
    println!("{rules}: {tally}, {turns:?}, {hints} hints, {threads} threads, {:.0?}", start.elapsed());
    assert_eq!(tally.codes(), rules.codes());
}

#[test]
#[ignore = "asks for thousands of hints; `.ci/run --release` does"]
fn hints_find_every_code_of_four_to_six_with_repeats() {
    for length in 4..=6 {
        hints_find_all(Rules::new(length, 8, true).unwrap());
    }
}

#[test]
#[ignore = "asks for some two million hints; `.ci/run --release` does"]
fn hints_find_every_code_of_seven_with_repeats() {
    hints_find_all(Rules::new(7, 8, true).unwrap());
}

#[test]
#[ignore = "asks for thousands of hints; `.ci/run --release` does"]
fn hints_find_every_code_without_repeats() {
    for length in 4..=8 {
        hints_find_all(Rules::new(length, 8, false).unwrap());
    }
}

#[test]
#[ignore = "asks for some 17 million hints; part of `just prove`"]
fn hints_find_every_code_of_eight_with_repeats() {
    hints_find_all(Rules::new(8, 8, true).unwrap());
}

#[test]
#[ignore = "asks for millions of hints; part of `just prove`"]
fn hints_find_every_code_of_fewer_colours() {
    for colours in 2..=7 {
        for length in 4..=8 {
            let rules = [true, false].map(|repeats| Rules::new(length, colours, repeats));
            rules.into_iter().flatten().for_each(hints_find_all);
        }
    }
}
