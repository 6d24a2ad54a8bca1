//! Equivalence of guesses by symmetry.
//!
//! Before the first guess all colours and all places are interchangeable: `1122`, `3131` and `8778` are equally good. A
//! guess breaks part of this symmetry. The remaining permutations map all past guesses to themselves, and therefore the
//! set of possible codes to itself, whatever the answers. Only one of several equivalent guesses needs to be tried.

use alloc::vec::Vec;

use crate::{
    code::{Code, MAX_COLOURS, MAX_LENGTH, Peg},
    config::Rules,
};

/// A permutation of places, with the implied permutation of used colours.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    /// The peg at `places[i]` moves to `i`.
    places: [u8; MAX_LENGTH],
    colours: [u8; MAX_COLOURS],
}

/// The permutations that map all past guesses to themselves. Unused colours are interchangeable too.
#[derive(Debug, Clone)]
pub(crate) struct Symmetry {
    length: usize,
    exchanges: Vec<Exchange>,
    /// A bit for each colour in past guesses.
    used: u8,
    names: [u8; MAX_COLOURS],
}

impl Symmetry {
    /// The order `names` of the colours decides which of several equivalent guesses represents them.
    pub(crate) fn new(rules: Rules, names: [u8; MAX_COLOURS]) -> Self {
        let mut exchanges = Vec::new();
        permute(&mut [0, 1, 2, 3, 4, 5, 6, 7], 0, rules.length(), &mut |places| {
            exchanges.push(Exchange { places: *places, colours: [0; MAX_COLOURS] });
        });
        Self { length: rules.length(), exchanges, used: 0, names }
    }

    pub(crate) const fn none(rules: Rules) -> Self {
        Self { length: rules.length(), exchanges: Vec::new(), used: u8::MAX, names: PLAIN }
    }

    fn named(&self, guess: Code) -> [u8; MAX_LENGTH] {
        let mut pegs = [0; MAX_LENGTH];
        for (named, peg) in pegs.iter_mut().zip(guess.pegs()) {
            *named = self.names[peg.index()];
        }
        pegs
    }

    pub(crate) fn after(&self, guess: Code) -> Self {
        let pegs = self.named(guess);
        let mut used = self.used;
        for &peg in &pegs[..self.length] {
            used |= 1 << peg;
        }
        let exchanges = self.exchanges.iter().filter_map(|exchange| {
            let mut colours = exchange.colours;
            let (mut known, mut taken) = (self.used, self.used);
            for (place, &becomes) in pegs[..self.length].iter().enumerate() {
                let peg = pegs[usize::from(exchange.places[place])];
                if known >> peg & 1 == 0 {
                    if taken >> becomes & 1 == 1 {
                        return None;
                    }
                    colours[usize::from(peg)] = becomes;
                    known |= 1 << peg;
                    taken |= 1 << becomes;
                } else if colours[usize::from(peg)] != becomes {
                    return None;
                }
            }
            Some(Exchange { colours, ..*exchange })
        });
        Self { exchanges: exchanges.collect(), used, ..*self }
    }

    pub(crate) fn is_trivial(&self, colours: usize) -> bool {
        self.exchanges.len() <= 1 && self.used.count_ones() as usize + 1 >= colours
    }

    /// Whether this guess is the representative of its equivalence class.
    pub(crate) fn stands(&self, guess: Code) -> bool {
        let pegs = self.named(guess);
        // Unused colours must appear in their order. Most guesses fail here.
        let mut seen = self.used;
        for &peg in &pegs[..self.length] {
            if seen >> peg & 1 == 0 {
                if (!seen).trailing_zeros() != u32::from(peg) {
                    return false;
                }
                seen |= 1 << peg;
            }
        }
        self.exchanges.iter().all(|exchange| {
            let (mut colours, mut known, mut taken) = (exchange.colours, self.used, self.used);
            for (place, &own) in pegs[..self.length].iter().enumerate() {
                let peg = pegs[usize::from(exchange.places[place])];
                if known >> peg & 1 == 0 {
                    let lowest = LOWEST_FREE[usize::from(taken)];
                    colours[usize::from(peg)] = lowest;
                    known |= 1 << peg;
                    taken |= 1 << lowest;
                }
                let becomes = colours[usize::from(peg)];
                if becomes != own {
                    return becomes > own;
                }
            }
            true
        })
    }
}

/// For each set of colours, the first one not in it; 8 for the full set.
const LOWEST_FREE: [u8; 256] = {
    let mut lowest = [0; 256];
    let mut taken = 0;
    while taken < 256 {
        while taken >> lowest[taken] & 1 == 1 {
            lowest[taken] += 1;
        }
        taken += 1;
    }
    lowest
};

fn permute(places: &mut [u8; MAX_LENGTH], from: usize, to: usize, each: &mut impl FnMut(&[u8; MAX_LENGTH])) {
    if from == to {
        return each(places);
    }
    for other in from..to {
        places.swap(from, other);
        permute(places, from + 1, to, each);
        places.swap(from, other);
    }
}

pub(crate) const PLAIN: [u8; MAX_COLOURS] = [0, 1, 2, 3, 4, 5, 6, 7];

pub(crate) fn renamed(code: Code, names: [u8; MAX_COLOURS]) -> Code {
    Code::of(code.pegs().filter_map(|peg| Peg::new(usize::from(names[peg.index()]))))
}
