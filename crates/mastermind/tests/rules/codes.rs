use std::collections::BTreeSet;

use mastermind::{Code, ConfigError, Feedback, ParseCodeError, Peg, Rules};
use proptest::prelude::*;

use crate::{code, rng, rules};

#[test]
fn codes_are_digits_and_nothing_else() {
    for text in ["1234", "8888", "12345678", "5618413"] {
        assert_eq!(code(text).to_string(), text);
        assert_eq!(code(text).len(), text.len());
    }
    for (text, error) in [
        ("", ParseCodeError::Length(0)),
        ("123", ParseCodeError::Length(3)),
        ("123456781", ParseCodeError::Length(9)),
        ("1290", ParseCodeError::Colour { found: '9', place: 3 }),
        ("0123", ParseCodeError::Colour { found: '0', place: 1 }),
        ("12 4", ParseCodeError::Colour { found: ' ', place: 3 }),
        ("12४4", ParseCodeError::Colour { found: '४', place: 3 }),
        ("１２３４", ParseCodeError::Colour { found: '１', place: 1 }),
    ] {
        assert_eq!(text.parse::<Code>(), Err(error), "{text:?}");
    }
    assert_eq!("1".repeat(5000).parse::<Code>(), Err(ParseCodeError::Length(5000)));
}

#[test]
fn rules_have_bounds() {
    for (length, colours, repeats, error) in [
        (3, 8, true, ConfigError::Length(3)),
        (9, 8, true, ConfigError::Length(9)),
        (4, 1, true, ConfigError::Colours(1)),
        (4, 9, true, ConfigError::Colours(9)),
        (7, 6, false, ConfigError::TooFewColours { length: 7, colours: 6 }),
    ] {
        assert_eq!(Rules::new(length, colours, repeats), Err(error));
    }
}

#[test]
fn number_of_codes_is_that_of_their_list() {
    for (length, codes) in (4..).zip([1680, 6720, 20160, 40320, 40320]) {
        assert_eq!(rules(length, 8, false).codes(), codes);
        assert_eq!(rules(length, 8, true).codes(), 8u64.pow(u32::try_from(length).unwrap()));
    }
    for rules in [rules(4, 6, true), rules(5, 7, false), rules(6, 4, true)] {
        let all = rules.all();
        assert_eq!(all.len() as u64, rules.codes());
        assert!(all.is_sorted_by(|one, next| one < next), "in order, none twice");
        assert!(all.iter().all(|code| rules.allows_secret(*code)));
    }
}

#[test]
fn without_repeats_only_the_secret_is_restricted() {
    let rules = rules(4, 8, false);
    assert!(rules.allows_guess(code("1122")) && !rules.allows_secret(code("1122")));
    assert!(!rules.allows_guess(code("12345")));
    assert!(!super::rules(4, 6, true).allows_guess(code("1237")));
}

/// Six standard deviations have a chance of 2 in 10^9 for each count.
fn is_uniform(counts: &[u32], draws: u32) {
    let expected = f64::from(draws) / counts.len() as f64;
    let deviation = (expected * (1.0 - 1.0 / counts.len() as f64)).sqrt();
    for count in counts {
        assert!((f64::from(*count) - expected).abs() < 6.0 * deviation, "{count} instead of {expected:.0}");
    }
}

#[test]
fn every_colour_is_drawn_equally_often_at_every_place() {
    const DRAWS: u32 = 40_000;
    for length in 4..=8 {
        for repeats in [false, true] {
            let rules = rules(length, 8, repeats);
            let mut rng = rng(length as u64);
            let mut counts = vec![[0; 8]; length];
            for _ in 0..DRAWS {
                let code = rules.draw(&mut rng);
                assert!(rules.allows_secret(code));
                for (counts, peg) in counts.iter_mut().zip(code.pegs()) {
                    counts[peg.index()] += 1;
                }
            }
            for counts in counts {
                is_uniform(&counts, DRAWS);
            }
        }
    }
}

#[test]
fn every_code_is_drawn_equally_often() {
    const DRAWS: u32 = 200_000;
    for rules in [rules(4, 4, false), rules(4, 5, false), rules(4, 3, true)] {
        let all = rules.all();
        let mut counts = vec![0; all.len()];
        let mut rng = rng(3);
        for _ in 0..DRAWS {
            counts[all.binary_search(&rules.draw(&mut rng)).unwrap()] += 1;
        }
        is_uniform(&counts, DRAWS);
    }
}

#[test]
fn the_same_seed_draws_the_same_code() {
    let draw = |seed| rules(8, 8, true).draw(&mut rng(seed));
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

/// Exact matches first, then each remaining peg of the guess takes one of the code.
fn by_striking_out(guess: Code, code: Code) -> Feedback {
    let mut guess: Vec<Option<Peg>> = guess.pegs().map(Some).collect();
    let mut code: Vec<Option<Peg>> = code.pegs().map(Some).collect();
    let (mut red, mut white) = (0, 0);
    for place in 0..guess.len() {
        if guess[place] == code[place] {
            (guess[place], code[place]) = (None, None);
            red += 1;
        }
    }
    for peg in guess.iter().flatten() {
        if let Some(found) = code.iter_mut().find(|other| **other == Some(*peg)) {
            *found = None;
            white += 1;
        }
    }
    Feedback { red, white }
}

#[test]
fn examples_of_the_rules_have_their_answers() {
    for (secret, guess, red, white) in [
        ("1234", "1234", 4, 0),
        ("1234", "4321", 0, 4),
        ("1234", "1243", 2, 2),
        ("1234", "1111", 1, 0),
        ("1234", "5678", 0, 0),
        ("2111", "1112", 2, 2),
        ("2111", "1222", 0, 2),
        ("1344", "1122", 1, 0),
        ("2133", "1212", 0, 2),
        ("8828", "2888", 2, 2),
        ("31122", "11223", 2, 3),
        ("2221113", "1112223", 1, 6),
        ("5618413", "1111111", 2, 0),
        ("12121212", "11112222", 4, 4),
        ("88843832", "12345678", 1, 3),
    ] {
        assert_eq!(Feedback::of(code(guess), code(secret)), Feedback { red, white }, "{guess} at {secret}");
        assert_eq!(by_striking_out(code(guess), code(secret)), Feedback { red, white }, "{guess} at {secret}");
    }
}

#[test]
fn all_pairs_of_four_pegs_in_six_colours() {
    let codes = rules(4, 6, true).all();
    let mut seen = BTreeSet::new();
    for guess in &codes {
        for code in &codes {
            let feedback = Feedback::of(*guess, *code);
            assert_eq!(feedback, by_striking_out(*guess, *code), "{guess} at {code}");
            assert_eq!(feedback, Feedback::of(*code, *guess), "{guess} and {code}");
            seen.insert(feedback);
        }
    }
    assert_eq!(seen, Feedback::all(4).collect());
}

#[test]
fn every_possible_answer_is_listed() {
    for length in 4..=8 {
        let all: BTreeSet<_> = Feedback::all(length).collect();
        assert_eq!(all.len(), (length + 1) * (length + 2) / 2 - 1);
        let red = u8::try_from(length).unwrap() - 1;
        assert!(!all.contains(&Feedback { red, white: 1 }));
        assert!(Feedback::all(length).last().unwrap().is_win(length));
    }
}

fn pegs(length: usize, colours: usize) -> impl Strategy<Value = Vec<Peg>> {
    prop::collection::vec((0..colours).prop_map(|colour| Peg::new(colour).unwrap()), length)
}

proptest! {
    #[test]
    fn answers_are_symmetric_and_ignore_relabelling(
        (guess, code, places, colours) in (4usize..=8, 2usize..=8).prop_flat_map(|(length, colours)| (
            pegs(length, colours),
            pegs(length, colours),
            Just((0..length).collect::<Vec<_>>()).prop_shuffle(),
            Just((0..8).collect::<Vec<_>>()).prop_shuffle(),
        )),
    ) {
        let exchanged = |pegs: &[Peg]| {
            let pegs: Vec<Peg> =
                places.iter().map(|place| Peg::new(colours[pegs[*place].index()]).unwrap()).collect();
            Code::new(&pegs).unwrap()
        };
        let (one, other) = (Code::new(&guess).unwrap(), Code::new(&code).unwrap());
        let feedback = Feedback::of(one, other);
        prop_assert_eq!(feedback, by_striking_out(one, other));
        prop_assert_eq!(feedback, Feedback::of(other, one));
        prop_assert_eq!(feedback, Feedback::of(exchanged(&guess), exchanged(&code)));
        prop_assert!(feedback.is_possible(guess.len()));
        prop_assert_eq!(feedback.is_win(guess.len()), guess == code);
    }
}
