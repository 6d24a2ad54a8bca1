//! Judges guesses by a set of codes, and improves good guesses.

use alloc::vec::Vec;

use super::{
    slices::{Probe, Slices},
    strategy::{Criterion, Strategy},
};
use crate::{
    code::{Code, MAX_LENGTH, Peg},
    config::Rules,
};

/// Smaller is better; ties prefer a guess that may be the code, then the first.
pub(crate) type Judged = (i64, bool, Code);

pub(crate) struct Bench {
    rules: Rules,
    pub(crate) criterion: Criterion,
    slices: Slices,
    pub(crate) judged: usize,
}

impl Bench {
    pub(crate) fn new(rules: Rules, strategy: Strategy) -> Self {
        Self { rules, criterion: Criterion::new(strategy), slices: Slices::new(rules.length(), &[]), judged: 0 }
    }

    pub(crate) fn refill(&mut self, codes: &[Code]) {
        self.slices.refill(codes);
    }

    pub(crate) fn ideal(&self) -> i64 {
        self.criterion.ideal(self.slices.codes)
    }

    pub(crate) fn best(&mut self, guesses: &[Code], count: usize) -> Vec<Judged> {
        self.judged += guesses.len();
        self.best_probed(guesses.iter().map(|guess| (*guess, Probe::of(*guess))), count)
    }

    pub(crate) fn best_probed(&mut self, guesses: impl Iterator<Item = (Code, Probe)>, count: usize) -> Vec<Judged> {
        let bonus = self.criterion.member_bonus();
        let mut best: Vec<Judged> = Vec::with_capacity(count + 1);
        self.slices.judge(guesses, self.criterion.judge(self.slices.codes), |guess, score| {
            let (value, outside) = score.key(bonus);
            let judged = (value, outside, guess);
            if best.len() < count || best.last().is_some_and(|last| judged < *last) {
                let at = best.partition_point(|other| *other <= judged);
                if at == 0 || best[at - 1] != judged {
                    best.insert(at, judged);
                    best.truncate(count);
                }
            }
        });
        best
    }

    pub(crate) fn improve(&mut self, mut guess: Judged) -> Judged {
        while guess.0 > self.ideal() {
            match self.best(&neighbours(self.rules, guess.2), 1)[..] {
                [better] if better < guess => guess = better,
                _ => break,
            }
        }
        guess
    }
}

/// The codes that differ from a guess in one peg or by an exchange of two pegs.
pub(crate) fn neighbours(rules: Rules, guess: Code) -> Vec<Code> {
    let length = rules.length();
    let mut pegs = [None; MAX_LENGTH];
    for (place, peg) in guess.pegs().enumerate() {
        pegs[place] = Some(peg);
    }
    let with = |pegs: &[Option<Peg>]| Code::of(pegs.iter().copied().flatten());
    let mut neighbours = Vec::with_capacity(length * (rules.colours() + length));
    for place in 0..length {
        let own = pegs[place];
        for other in (0..rules.colours()).map(Peg::new).filter(|other| *other != own) {
            pegs[place] = other;
            neighbours.push(with(&pegs));
        }
        pegs[place] = own;
        for other in place + 1..length {
            if pegs[other] != own {
                pegs.swap(place, other);
                neighbours.push(with(&pegs));
                pegs.swap(place, other);
            }
        }
    }
    neighbours
}

/// One first guess of each equivalence class: only the numbers of pegs of equal colour matter.
pub(crate) fn openings(rules: Rules) -> Vec<Code> {
    let mut openings = Vec::new();
    let mut pegs = Vec::new();
    extend_openings(rules, rules.length(), 0, &mut pegs, &mut openings);
    openings
}

fn extend_openings(rules: Rules, most: usize, colour: usize, pegs: &mut Vec<Peg>, openings: &mut Vec<Code>) {
    let left = rules.length() - pegs.len();
    if left == 0 {
        openings.push(Code::of(pegs.iter().copied()));
        return;
    }
    let Some(peg) = Peg::new(colour).filter(|peg| peg.index() < rules.colours()) else {
        return;
    };
    for count in 1..=most.min(left) {
        pegs.extend(core::iter::repeat_n(peg, count));
        extend_openings(rules, count, colour + 1, pegs, openings);
        pegs.truncate(pegs.len() - count);
    }
}
