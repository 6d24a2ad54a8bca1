//! What takes long. `cargo test --release -p mastermind -- --ignored --nocapture` runs it and prints what comes out.

use std::{collections::BTreeMap, num::NonZero, sync::Mutex, thread, time::Instant};

use mastermind::{
    Code, Rules,
    game::TURNS,
    solver::{Branch, Codebreaker, Knowledge, Search, Strategy},
};

use super::{rules, totals::search};

#[test]
#[ignore = "searches 20 seconds; part of `just prove`"]
fn the_best_play_at_four_pegs_in_seven_colours() {
    let found = search(Search::exhaustive(rules(4, 7, true)));
    println!("4 x 7: {}, {} nodes", found.tally, found.nodes);
    assert_eq!(found.tally.to_string(), "total 11228 / 2401 = 4.6764, longest 6");
}

#[test]
#[ignore = "searches minutes; part of `just prove`"]
fn the_best_play_at_four_pegs_in_eight_colours() {
    for (repeats, line) in
        [(false, "total 7797 / 1680 = 4.6411, longest 6"), (true, "total 20471 / 4096 = 4.9978, longest 7")]
    {
        let found = search(Search::exhaustive(rules(4, 8, repeats)));
        println!("4 x 8, repeats {repeats}: {}, {} nodes", found.tally, found.nodes);
        assert_eq!((found.tally.to_string().as_str(), found.proven), (line, true));
    }
}

#[test]
fn good_play_at_five_pegs_in_eight_colours() {
    let breaker = Codebreaker::searching(rules(5, 8, true));
    let tally = breaker.run(breaker.job(), |_| core::ops::ControlFlow::Continue(())).unwrap();
    println!("5 x 8: {tally}");
    assert_eq!(tally.to_string(), "total 179340 / 32768 = 5.4730, longest 7");
}

#[test]
#[ignore = "plays two million codes twice, for minutes; part of `just prove`"]
fn every_code_of_large_games_is_played() {
    for rules in [rules(8, 8, false), rules(7, 8, true)] {
        for breaker in [Codebreaker::limited(rules, Strategy::Entropy), Codebreaker::searching(rules)] {
            let tally = breaker.run(breaker.job(), |_| core::ops::ControlFlow::Continue(())).unwrap();
            println!("{rules}, {:?}: {tally}", breaker.limits());
            assert_eq!(tally.codes(), rules.codes());
        }
    }
}

#[test]
#[ignore = "plays 32,768 codes by 32,768 guesses, four times; part of `just prove`"]
fn no_strategy_needs_more_than_ten_turns_for_four_or_five_pegs() {
    for strategy in Strategy::ALL {
        for rules in [rules(4, 8, true), rules(4, 8, false), rules(5, 8, false), rules(5, 8, true)] {
            let breaker = Codebreaker::new(rules, strategy);
            let tally = breaker.run(breaker.job(), |_| core::ops::ControlFlow::Continue(())).unwrap();
            println!("{rules}, {strategy}: {tally}");
            assert_eq!(tally.codes(), rules.codes());
            assert!(tally.longest() <= 10, "{rules}, {strategy}: {tally}");
        }
    }
}

/// What came of playing codes by hints.
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
#[expect(clippy::disallowed_methods, reason = "a proof that takes minutes prints its time")]
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
        hints_find_all(rules(length, 8, false));
    }
}

#[test]
#[ignore = "asks for hundreds of thousands of hints; part of `just prove`"]
fn hints_find_every_code_of_four_to_six_with_repeats() {
    for length in 4..=6 {
        hints_find_all(rules(length, 8, true));
    }
}

#[test]
#[ignore = "asks for millions of hints; part of `just prove`"]
fn hints_find_every_code_of_seven_with_repeats() {
    hints_find_all(rules(7, 8, true));
}

#[test]
#[ignore = "asks for 17 million hints; part of `just prove`"]
fn hints_find_every_code_of_eight_with_repeats() {
    hints_find_all(rules(8, 8, true));
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
