use mastermind::{
    Code, Feedback, Knowledge, Lifeline, Revealed, Rules, Style,
    game::{Action, Game},
    solver::{Hint, JUDGED, LISTED},
};

use super::{code, rng, rules};

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
                let mut parts = std::collections::BTreeMap::<Feedback, u64>::new();
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
