use std::collections::BTreeSet;

use mastermind::{Code, Feedback, Peg};
use proptest::prelude::*;

use super::{code, rules};

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
