use anyhow::ensure;
use mastermind::{Code, Feedback};

/// Computes the answer in two ways: programs under test may use the same crate as this tester, so an error in the crate
/// must not hide theirs.
pub(super) fn answer(code: Code, guess: Code) -> anyhow::Result<Feedback> {
    let feedback = Feedback::of(guess, code);
    let (red, white) = by_definition(&code.to_string(), &guess.to_string());
    ensure!((feedback.red, feedback.white) == (red, white), "inconsistent answers to {guess} for the code {code}");
    Ok(feedback)
}

/// Removes exact matches, then matches each remaining digit of the guess with an equal digit of the code.
fn by_definition(code: &str, guess: &str) -> (u8, u8) {
    let (exact, other): (Vec<_>, Vec<_>) = code.bytes().zip(guess.bytes()).partition(|(one, other)| one == other);
    let mut left: Vec<u8> = other.iter().map(|(of_code, _)| *of_code).collect();
    let red = exact.len();
    let mut white = 0;
    for (_, digit) in other {
        if let Some(at) = left.iter().position(|of_code| *of_code == digit) {
            left.swap_remove(at);
            white += 1;
        }
    }
    (u8::try_from(red).unwrap_or(u8::MAX), white)
}

#[cfg(test)]
mod tests {
    use mastermind::Rules;

    use super::*;

    #[test]
    fn definition_matches_the_page_and_the_crate() {
        for (code, guess, answer) in [
            ("2111", "1222", (0, 2)),
            ("2111", "1112", (2, 2)),
            ("1344", "1122", (1, 0)),
            ("8828", "2888", (2, 2)),
            ("31122", "11223", (2, 3)),
            ("12121212", "11112222", (4, 4)),
            ("88843832", "12345678", (1, 3)),
        ] {
            assert_eq!(by_definition(code, guess), answer, "{code} {guess}");
        }
        let codes = Rules::new(4, 4, true).unwrap().all();
        for (code, guess) in codes.iter().flat_map(|code| codes.iter().map(move |guess| (*code, *guess))) {
            answer(code, guess).unwrap();
        }
    }
}
