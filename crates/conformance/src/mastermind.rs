//! Tests mastermind programs: the course's text game, and both sides of our own network protocol.

pub(crate) mod client;
mod lines;
pub(crate) mod server;
pub(crate) mod text;

use std::collections::BTreeSet;

use mastermind::{Code, Feedback, Knowledge, Peg, Rules, solver::Hint};

use crate::{
    judge::{Judge, ScenarioResult},
    rule::Rule,
    tester::Options,
};

type Rows = Vec<(Code, Feedback)>;

/// Repeated digits stay repeated. The usual seed leaves the code unchanged.
fn permuted(code: Code, colours: usize, options: &Options) -> Code {
    let mut digits: Vec<Option<Peg>> = (0..colours).map(Peg::new).collect();
    for last in (1..digits.len()).rev() {
        let drawn = options.drawn(u32::try_from(last).unwrap_or(u32::MAX));
        digits.swap(last, usize::try_from(drawn).unwrap_or(usize::MAX) % (last + 1));
    }
    let exchanged = |peg: Peg| digits.get(peg.index()).copied().flatten().unwrap_or(peg);
    let pegs: Vec<Peg> = code.pegs().map(exchanged).collect();
    Code::new(&pegs).unwrap_or(code)
}

/// Returns a guess that fits all answers, perhaps with repeats: a wrong program may choose such a code.
fn next_guess(judge: &mut Judge, rule: &'static Rule, rules: Rules, rows: &Rows) -> ScenarioResult<Code> {
    let mut knowledge = Knowledge::new(Rules::new(rules.length(), rules.colours(), true)?);
    for (guess, reported) in rows {
        knowledge.answered(*guess, *reported);
    }
    let hint = Hint::of(&knowledge).ok_or_else(|| {
        let rows: Vec<_> = rows.iter().map(|(guess, reported)| format!("{guess} {reported}")).collect();
        format!("expected answers that fit a code, received {}", rows.join("; "))
    });
    Ok(judge.expect(rule, hint)?.guess)
}

fn check_answers(judge: &mut Judge, rule: &'static Rule, code: Code, rows: &Rows) {
    for (guess, reported) in rows {
        let right = Feedback::of(*guess, code);
        judge.check(rule, *reported == right, || {
            format!("expected {right} for {guess} and the code {code}, received {reported}")
        });
    }
}

fn check_codes(judge: &mut Judge, (repeats, random): (&'static Rule, &'static Rule), codes: &[Code]) {
    let reported = codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    judge.check(repeats, codes.iter().any(|code| code.repeats()), || {
        format!("expected a repeated digit in some code, received {reported}")
    });
    let different: BTreeSet<_> = codes.iter().collect();
    judge.check(random, different.len() == codes.len(), || {
        format!("expected different codes in three games, received {reported}")
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutation_keeps_repeats() {
        let code = |text: &str| -> Code { text.parse().unwrap() };
        let of = |seed, text: &str, colours| {
            let seed = crate::Seed::Number(seed);
            permuted(code(text), colours, &Options { seed, ..Options::default() })
        };
        assert_eq!(of(crate::USUAL_SEED, "13572468", 8), code("13572468"));
        let several: BTreeSet<_> = (1..10).map(|seed| of(seed, "13572468", 8)).collect();
        assert!(several.len() > 5 && several.iter().all(|code| !code.repeats()), "{several:?}");
        for seed in 1..10 {
            let pegs: Vec<_> = of(seed, "665544", 6).pegs().collect();
            assert!(pegs[0] == pegs[1] && pegs[2] == pegs[3] && pegs[1] != pegs[2]);
            assert!(pegs.iter().all(|peg| peg.index() < 6), "{pegs:?}");
        }
    }
}
