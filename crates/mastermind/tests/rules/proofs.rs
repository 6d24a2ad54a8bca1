//! Long-running proofs. `cargo test --release -p mastermind -- --ignored --nocapture` runs them and prints their
//! results.

use mastermind::solver::{Codebreaker, Search, Strategy};

use super::{
    rules,
    totals::{play, search},
};

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
#[ignore = "plays tens of thousands of codes; `.ci/run --release` does"]
fn good_play_at_five_pegs_in_eight_colours() {
    let tally = play(&Codebreaker::searching(rules(5, 8, true)));
    println!("5 x 8: {tally}");
    assert_eq!(tally.to_string(), "total 179340 / 32768 = 5.4730, longest 7");
}

#[test]
#[ignore = "plays two million codes twice, for minutes; part of `just prove`"]
fn every_code_of_large_games_is_played() {
    for rules in [rules(8, 8, false), rules(7, 8, true)] {
        for breaker in [Codebreaker::limited(rules, Strategy::Entropy), Codebreaker::searching(rules)] {
            let tally = play(&breaker);
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
            let tally = play(&Codebreaker::new(rules, strategy));
            println!("{rules}, {strategy}: {tally}");
            assert_eq!(tally.codes(), rules.codes());
            assert!(tally.longest() <= 10, "{rules}, {strategy}: {tally}");
        }
    }
}
