use blackjack::{Policy, StateSpace, exact::Solver};
use testkit::process::Process;

use super::Dealer;

/// The mean reward that the player prints, and its rounds.
fn mean(arguments: &[&str], rounds: u32, seed: u32) -> f64 {
    let dealer = Dealer::start(&format!("{rounds} --delay-ms 0 --seed {seed} --quiet"));
    let played = Process::run(&mut dealer.player(arguments));
    assert_eq!(played.code, Some(0), "{}", played.stderr);
    assert!(played.stdout.starts_with(&format!("Ann: {rounds} rounds, ")), "{}", played.stdout);
    let words: Vec<&str> = played.stdout.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "reward").unwrap();
    let finished = dealer.process.wait();
    assert_eq!(finished.code, Some(0));
    assert!(finished.stdout.contains(words[at + 1]), "both count the same: {}{}", played.stdout, finished.stdout);
    words[at + 1].parse().unwrap()
}

fn check(mean: f64, exact: f64, rounds: u32) {
    let bound = 3.0 * 0.95 / f64::from(rounds).sqrt();
    // What is printed is rounded to four digits.
    assert!((mean - exact).abs() <= bound + 5e-5, "{mean} is not within {bound} of {exact}");
}

fn exact(space: StateSpace) -> f64 {
    let solver = Solver::new();
    solver.value(&solver.best(space))
}

#[test]
fn the_best_tables_earn_over_the_wire_what_they_are_worth() {
    check(mean(&["--best", "--binary"], 10_000, 1), exact(StateSpace::Soft), 10_000);
    check(mean(&["--best", "--state", "coarse"], 10_000, 2), exact(StateSpace::Coarse), 10_000);
}

#[test]
fn what_an_empty_table_plays_is_to_do_as_the_dealer_does() {
    let directory = testkit::TempDir::new();
    let empty = blackjack::QTable::new(StateSpace::Coarse);
    let table = directory.file("table", empty.to_file());
    check(mean(&["--table", &table], 10_000, 3), Solver::new().value(&Policy::mimic()), 10_000);
}

#[test]
#[ignore = "a million rounds take most of a minute; a proof to be run in release"]
fn a_million_binary_rounds_earn_what_they_are_worth() {
    // Ten games of a hundred thousand, so that none is waited for as if it would never end.
    let means: f64 = (11..=20).map(|seed| mean(&["--best", "--binary"], 100_000, seed)).sum();
    check(means / 10.0, exact(StateSpace::Soft), 1_000_000);
}

#[test]
#[ignore = "long; a proof to be run in release"]
fn a_hundred_thousand_text_rounds_earn_what_they_are_worth() {
    check(mean(&["--best", "--state", "coarse"], 100_000, 12), exact(StateSpace::Coarse), 100_000);
}
