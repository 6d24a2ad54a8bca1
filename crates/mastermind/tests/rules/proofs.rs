//! What takes minutes. `cargo test --release -p mastermind -- --ignored --nocapture` runs it and prints what comes out.

use std::collections::BTreeMap;

use mastermind::{
    Code, Feedback, Rules,
    solver::{Codebreaker, Effort, Hint, Knowledge, Search, Strategy},
};

use super::{rng, rules, totals::search};

#[test]
#[ignore = "searches 20 seconds; part of `just prove`"]
fn the_best_play_at_four_pegs_in_seven_colours() {
    let found = search(Search::exhaustive(rules(4, 7, true)));
    println!("4 x 7: {}, {} nodes", found.tally, found.nodes);
    assert_eq!(found.tally.to_string(), "total 11228 / 2401 = 4.6764, longest 6");
}

#[test]
#[ignore = "searches minutes; part of `just prove`"]
fn good_play_at_eight_colours() {
    for (length, repeats, width, most) in [(4, false, 10, 7_801), (4, true, 10, 20_495), (5, true, 2, 179_353)] {
        let found = search(Search::narrow(rules(length, 8, repeats), width));
        println!("{length} x 8, repeats {repeats}, width {width}: {}, {} nodes", found.tally, found.nodes);
        assert!(found.tally.total() <= most, "{}", found.tally);
    }
}

#[test]
#[ignore = "plays 32,768 codes by 32,768 guesses, four times; part of `just prove`"]
fn no_strategy_needs_more_than_ten_turns() {
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

/// Plays codes by hints, and counts the turns. Codes that got the same answers so far share the hint; its generator has a
/// fixed seed, so that there is one tree.
fn play(knowledge: &Knowledge, codes: &[Code], effort: Effort, turns: &mut BTreeMap<usize, u64>) {
    let turn = knowledge.turns_gone() + 1;
    let hint = Hint::with_effort(knowledge, effort, &mut rng(1)).unwrap();
    let mut parts = BTreeMap::<Feedback, Vec<Code>>::new();
    for code in codes {
        parts.entry(Feedback::of(hint.guess, *code)).or_default().push(*code);
    }
    for (answer, part) in parts {
        if answer.is_win(knowledge.rules().length()) {
            *turns.entry(turn).or_default() += part.len() as u64;
        } else {
            assert!(turn < 10, "{} is not found in ten turns: {:?}", part[0], knowledge.answers());
            let mut knowledge = knowledge.clone();
            knowledge.answered(hint.guess, answer);
            play(&knowledge, &part, effort, turns);
        }
    }
}

fn hints_find(rules: Rules, codes: &[Code], effort: Effort) {
    let mut turns = BTreeMap::new();
    play(&Knowledge::new(rules), codes, effort, &mut turns);
    let total: u64 = turns.iter().map(|(turn, codes)| *turn as u64 * codes).sum();
    println!("{rules}: {turns:?}, {:.4} on average", total as f64 / codes.len() as f64);
    assert_eq!(turns.values().sum::<u64>(), codes.len() as u64);
}

#[test]
#[ignore = "asks for thousands of hints; part of `just prove`"]
fn hints_find_every_code_without_repeats() {
    for length in 4..=8 {
        let rules = rules(length, 8, false);
        hints_find(rules, &rules.all(), Effort::High);
    }
}

#[test]
#[ignore = "asks for thousands of hints; part of `just prove`"]
fn hints_find_every_code_of_four_and_five() {
    for length in 4..=5 {
        let rules = rules(length, 8, true);
        hints_find(rules, &rules.all(), Effort::High);
    }
}

/// How many random codes of each larger game are tried.
const CODES: usize = 100_000;

fn hints_find_random_codes(length: usize) {
    let rules = rules(length, 8, true);
    let seed = length as u64;
    let mut rng = rng(seed);
    let codes: Vec<Code> = (0..CODES).map(|_| rules.draw(&mut rng)).collect();
    println!("{CODES} codes of seed {seed}");
    hints_find(rules, &codes, Effort::Low);
}

#[test]
#[ignore = "asks for a hundred thousand hints; part of `just prove`"]
fn hints_find_random_codes_of_six() {
    hints_find_random_codes(6);
}

#[test]
#[ignore = "asks for hundreds of thousands of hints; part of `just prove`"]
fn hints_find_random_codes_of_seven() {
    hints_find_random_codes(7);
}

#[test]
#[ignore = "asks for hundreds of thousands of hints; part of `just prove`"]
fn hints_find_random_codes_of_eight() {
    hints_find_random_codes(8);
}
