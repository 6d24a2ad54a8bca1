//! The totals are those of the literature, or better where ties are resolved differently.

use core::ops::ControlFlow;
use std::collections::BTreeMap;

use mastermind::{
    Code, Feedback, Rules,
    solver::{Codebreaker, Search, SearchResult, Stopped, Strategy, Tally},
};

use super::{rng, rules};

pub(crate) fn play(breaker: &Codebreaker) -> Tally {
    breaker.run(breaker.job(), |_| ControlFlow::Continue(())).unwrap()
}

fn total(length: usize, colours: usize, repeats: bool, strategy: Strategy) -> Tally {
    play(&Codebreaker::new(rules(length, colours, repeats), strategy))
}

#[test]
fn four_pegs_in_six_colours() {
    for (strategy, line, turns) in [
        (Strategy::Minimax, "total 5801 / 1296 = 4.4761, longest 5", vec![1, 6, 62, 533, 694]),
        (Strategy::Expected, "total 5696 / 1296 = 4.3951, longest 6", vec![1, 10, 54, 645, 583, 3]),
        (Strategy::Entropy, "total 5719 / 1296 = 4.4128, longest 6", vec![1, 6, 70, 612, 594, 13]),
        (Strategy::Parts, "total 5668 / 1296 = 4.3735, longest 6", vec![1, 12, 72, 635, 569, 7]),
    ] {
        let tally = total(4, 6, true, strategy);
        assert_eq!((tally.to_string().as_str(), tally.turns()), (line, &turns[..]), "{strategy}");
    }
}

#[test]
fn four_pegs_in_eight_colours() {
    for (strategy, repeats, turns, longest) in [
        (Strategy::Expected, true, 20_725, 7),
        (Strategy::Entropy, true, 20_651, 7),
        (Strategy::Parts, true, 20_896, 7),
        (Strategy::Entropy, false, 7_869, 7),
    ] {
        let tally = total(4, 8, repeats, strategy);
        assert_eq!((tally.total(), tally.longest()), (turns, longest), "{strategy}");
    }
}

#[test]
#[ignore = "plays tens of thousands of codes; `.ci/run --release` does"]
fn limited_codebreaker_is_almost_as_good_as_the_full_one() {
    let totals = Strategy::ALL.map(|strategy| {
        let breaker = Codebreaker::limited(rules(5, 6, true), strategy);
        // The result does not depend on the order of the parts.
        let (mut tally, jobs) = breaker.divide(&breaker.job());
        for job in jobs.into_iter().rev() {
            tally.add(&breaker.run(job, |_| ControlFlow::Continue(())).unwrap());
        }
        assert_eq!(tally.codes(), 7776);
        if strategy == Strategy::Parts {
            assert_eq!(play(&breaker), tally);
        }
        (tally.total(), total(5, 6, true, strategy).total())
    });
    assert_eq!(totals, [(38_028, 37_965), (37_126, 37_134), (37_104, 37_089), (37_133, 37_127)]);
}

#[test]
fn search_over_few_guesses_beats_one_step_over_all() {
    let breaker = Codebreaker::searching(rules(5, 6, true));
    let tally = play(&breaker);
    assert_eq!((tally.total(), tally.codes()), (36_962, 7776));
    let limits = breaker.limits().unwrap();
    let mut asked = 0;
    let stopped = breaker.run(breaker.job(), |_| {
        asked += 1;
        if asked == 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((stopped, asked, limits.searched > 0), (Err(Stopped), 100, true));
}

#[test]
fn work_can_be_divided() {
    let breaker = Codebreaker::new(rules(4, 6, true), Strategy::Parts);
    let (mut tally, jobs) = breaker.divide(&breaker.job());
    assert_eq!(jobs.iter().map(mastermind::solver::Job::codes).sum::<usize>(), 1295);
    for job in jobs {
        tally.add(&breaker.run(job, |_| ControlFlow::Continue(())).unwrap());
    }
    assert_eq!(tally, total(4, 6, true, Strategy::Parts));
}

#[test]
fn work_reports_progress_and_can_be_stopped() {
    let breaker = Codebreaker::new(rules(4, 6, true), Strategy::Entropy);
    let mut found = 0;
    breaker
        .run(breaker.job(), |codes| {
            found += codes;
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(found, 1296);
    let stopped = breaker.run(breaker.job(), |_| ControlFlow::Break(()));
    assert_eq!(stopped, Err(Stopped));
    let stopped = Search::exhaustive(rules(4, 6, true))
        .run(|progress| if progress.nodes > 50 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
    assert_eq!(stopped, Err(Stopped));
}

pub(crate) fn search(mut search: Search) -> SearchResult {
    search.run(|_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn the_best_play_at_four_pegs_in_six_colours() {
    let found = search(Search::exhaustive(rules(4, 6, true)));
    assert_eq!(found.tally.to_string(), "total 5625 / 1296 = 4.3403, longest 6");
    assert!(found.proven && found.nodes > 1000, "{found:?}");
}

#[test]
#[ignore = "searches the best play three times; `.ci/run --release` does"]
fn relabelled_colours_keep_the_total() {
    let mut openings = std::collections::BTreeSet::new();
    for seed in 0..3 {
        let found = search(Search::exhaustive(rules(4, 6, true)).relabelled(&mut rng(seed)));
        assert_eq!(found.tally.total(), 5625);
        openings.insert(found.opening);
    }
    assert!(openings.len() > 1, "{openings:?}");
}

/// A set of codes of a very small game, one bit each.
type Set = u32;

/// The least total for these codes, by trying all ways to play. A guess is a list of the sets of codes with each
/// answer.
fn least(codes: Set, guesses: &[Vec<(Feedback, Set)>], known: &mut BTreeMap<Set, usize>) -> usize {
    let count = codes.count_ones() as usize;
    if count <= 2 {
        return [0, 1, 3][count];
    }
    if let Some(total) = known.get(&codes) {
        return *total;
    }
    let tells = |answers: &&Vec<(Feedback, Set)>| answers.iter().all(|(_, with_answer)| codes & with_answer != codes);
    let mut best = usize::MAX;
    for answers in guesses.iter().filter(tells) {
        let others = answers.iter().filter(|(answer, _)| answer.red != 4);
        let further: usize = others.map(|(_, with_answer)| least(codes & with_answer, guesses, known)).sum();
        best = best.min(count + further);
    }
    known.insert(codes, best);
    best
}

#[test]
fn search_finds_the_total_of_brute_force() {
    for rules in [rules(4, 2, true), rules(4, 4, false)] {
        let codes = rules.all();
        let answers = |guess: &Code| -> Vec<(Feedback, Set)> {
            let mut answers = BTreeMap::new();
            for (bit, code) in codes.iter().enumerate() {
                *answers.entry(Feedback::of(*guess, *code)).or_default() |= 1 << bit;
            }
            answers.into_iter().collect()
        };
        let guesses: Vec<_> =
            Rules::new(rules.length(), rules.colours(), true).unwrap().all().iter().map(answers).collect();
        let everything = least((1 << codes.len()) - 1, &guesses, &mut BTreeMap::new());
        assert_eq!(search(Search::exhaustive(rules)).tally.total(), everything as u64, "{rules}");
    }
}
