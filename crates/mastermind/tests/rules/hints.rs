use core::ops::ControlFlow;
use std::collections::BTreeMap;

use mastermind::{
    Code, Feedback, Knowledge, Lifeline, Revealed, Rules, Style,
    game::{Action, Game},
    solver::{Codebreaker, Hint, JUDGED, LISTED, Search, SearchResult, Stopped, Strategy, Tally},
};

use crate::{code, rng, rules};

fn knowledge(rules: Rules, answers: &[(&str, u8, u8)]) -> Knowledge {
    let mut knowledge = Knowledge::new(rules);
    for (guess, red, white) in answers {
        knowledge.answered(code(guess), Feedback { red: *red, white: *white });
    }
    knowledge
}

#[test]
fn hint_numbers_are_those_of_all_codes() {
    for (length, colours, repeats) in
        [(4, 6, true), (4, 8, false), (5, 8, true), (6, 7, false), (6, 8, true), (7, 4, true)]
    {
        let rules = rules(length, colours, repeats);
        let all = rules.all();
        for seed in 0..4 {
            let mut rng = rng(seed);
            let mut game = Game::new(rules, Style::Panel, &mut rng);
            for turn in 0..3 {
                let knowledge = game.request_hint();
                let possible: Vec<&Code> = all.iter().filter(|code| knowledge.allows(**code)).collect();
                let hint = Hint::of(&knowledge).unwrap();
                assert_eq!(hint.remaining, possible.len() as u64, "{rules}: {knowledge:?}");
                if possible.len() <= LISTED {
                    assert_eq!(hint.possible.iter().collect::<Vec<_>>(), possible);
                } else {
                    assert_eq!(hint.possible, []);
                }
                assert_eq!(hint.may_win, possible.contains(&&hint.guess));
                assert!(hint.sampled.is_none_or(|sampled| sampled < possible.len()));
                assert!(turn == 0 || hint.sampled == (possible.len() > JUDGED).then_some(JUDGED));
                let mut parts = BTreeMap::<Feedback, u64>::new();
                for code in &possible {
                    *parts.entry(Feedback::of(hint.guess, **code)).or_default() += 1;
                }
                assert_eq!(hint.worst, *parts.values().max().unwrap());
                let total = possible.len() as f64;
                let parts = parts.iter().map(|(answer, count)| (answer.is_win(length), *count as f64));
                let expected: f64 = parts.clone().filter(|(win, _)| !win).map(|(_, count)| count * count / total).sum();
                let bits: f64 = parts.map(|(_, count)| count / total * (total / count).log2()).sum();
                assert!((hint.expected - expected).abs() < 1e-6, "{} {expected}", hint.expected);
                assert!((hint.bits - bits).abs() < 1e-6, "{} {bits}", hint.bits);
                let guess = if turn == 0 { rules.draw(&mut rng) } else { hint.guess };
                if game.apply(Action::Guess(guess), &mut rng).is_err() || game.outcome().is_some() {
                    break;
                }
                if turn == 0 && seed % 2 == 0 {
                    let lifeline = if seed == 0 { Lifeline::Colour } else { Lifeline::Place };
                    game.apply(Action::Lifeline(lifeline), &mut rng).unwrap();
                }
            }
        }
    }
}

#[test]
fn hints_use_what_lifelines_reveal() {
    let mut known = knowledge(rules(4, 8, true), &[("1234", 1, 1)]);
    let before = Hint::of(&known).unwrap().remaining;
    known.revealed(Revealed::Place { place: 2, peg: mastermind::Peg::from_digit('3').unwrap() }, 3);
    let after = Hint::of(&known).unwrap().remaining;
    assert!(after < before && known.turns_gone() == 4);
    assert!(known.allows(code("5531").to_string().parse().unwrap()));
    assert!(!known.allows(code("1553")));
}

#[test]
fn contradicting_answers_leave_no_code() {
    let known = knowledge(rules(4, 8, true), &[("1111", 2, 0), ("1111", 1, 0)]);
    assert_eq!(Hint::of(&known), None);
}

#[test]
fn single_possible_code_is_the_hint() {
    let hint = Hint::of(&knowledge(rules(5, 8, false), &[("12345", 5, 0)])).unwrap();
    assert_eq!((hint.remaining, hint.guess, hint.may_win), (1, code("12345"), true));
    assert_eq!(hint.possible, [code("12345")]);
    assert!(hint.bits.abs() < 1e-9 && hint.expected.abs() < 1e-9);
}

#[test]
fn hints_win_the_largest_games() {
    for repeats in [true, false] {
        let rules = rules(8, 8, repeats);
        let mut rng = rng(5);
        let mut game = Game::new(rules, Style::Text, &mut rng);
        let mut before = rules.codes() + 1;
        while game.outcome().is_none() {
            let hint = Hint::of(&game.request_hint()).unwrap();
            assert!(hint.remaining < before, "each answer tells something");
            before = hint.remaining;
            game.apply(Action::Guess(hint.guess), &mut rng).unwrap();
        }
        assert!(matches!(game.outcome(), Some(mastermind::game::Outcome::Won(_))), "{game:?}");
    }
}

/// Long-running proofs. `cargo test --release -p mastermind -- --ignored --nocapture` runs them and prints their
/// results.
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

/// The totals are those of the literature, or better where ties are resolved differently.
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
