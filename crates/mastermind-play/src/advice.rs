//! A hint in words.

use mastermind::solver::Hint;

/// How many codes are possible, which if they are few, and what the codebreaker would guess and why: a sentence or two in
/// each line.
pub(crate) fn advice(hint: &Hint) -> Vec<String> {
    let Hint { remaining, possible, guess, may_win, bits, expected, worst, sampled, tried } = hint;
    if *remaining == 1 {
        return vec![format!("Only {guess} is possible.")];
    }
    let mut lines = vec![format!("{remaining} codes are possible.")];
    if !possible.is_empty() {
        let codes: Vec<String> = possible.iter().map(ToString::to_string).collect();
        lines.push(format!("They are {}.", codes.join(" ")));
    }
    let itself = if *may_win { ", and it may be the code" } else { ", though it cannot be the code" };
    lines.push(format!(
        "I would guess {guess}: the answer tells {bits:.2} bits, {expected:.1} codes remain on average, {worst} at worst{itself}."
    ));
    match sampled {
        Some(codes) => lines.push(format!("({tried} guesses compared against a sample of {codes} possible codes)")),
        None if *tried > 1 => lines.push(format!("({tried} guesses compared against every possible code)")),
        None => {}
    }
    lines
}
