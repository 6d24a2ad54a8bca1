use mastermind::{Code, Peg};

use crate::tester::Options;

/// Repeated digits stay repeated. With the usual seed, the code is unchanged.
pub(super) fn permuted(code: Code, colours: usize, options: &Options) -> Code {
    let mut digits: Vec<Option<Peg>> = (0..colours).map(Peg::new).collect();
    for last in (1..digits.len()).rev() {
        let drawn = options.drawn(u32::try_from(last).unwrap_or(u32::MAX));
        digits.swap(last, usize::try_from(drawn).unwrap_or(usize::MAX) % (last + 1));
    }
    let exchanged = |peg: Peg| digits.get(peg.index()).copied().flatten().unwrap_or(peg);
    let pegs: Vec<Peg> = code.pegs().map(exchanged).collect();
    Code::new(&pegs).unwrap_or(code)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
