use mastermind::{Code, ConfigError, ParseCodeError, Rules};

use super::{code, rng, rules};

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
