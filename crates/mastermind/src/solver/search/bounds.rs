//! Bounds of the least total of a set that need no search.

use alloc::vec::Vec;

use crate::{
    code::Code,
    feedback::{CLASSES, Feedback},
};

#[derive(Debug, Clone, Copy)]
pub(super) enum Bound {
    /// The total, and a guess that achieves it.
    Exactly(u32, Code),
    AtLeast(u32),
}

pub(super) fn easy(codes: &[Code]) -> Bound {
    let count = number_of(codes);
    match most_telling_member(codes) {
        // Each code is found by the second turn, one of them by the first.
        Some((parts, guess)) if parts == count => Bound::Exactly(2 * count - 1, guess),
        // One code takes one turn, one takes three, all others two. A guess from outside the set does no better.
        Some((parts, guess)) if parts + 1 == count => Bound::Exactly(2 * count, guess),
        _ => Bound::AtLeast(2 * count),
    }
}

fn most_telling_member(codes: &[Code]) -> Option<(u32, Code)> {
    if codes.len() > CLASSES {
        return None;
    }
    let parts =
        |guess: Code| codes.iter().fold(0u64, |seen, code| seen | 1 << Feedback::of(guess, *code).class()).count_ones();
    let mut best = None;
    for guess in codes {
        let parts = parts(*guess);
        if best.is_none_or(|(most, _)| parts > most) {
            best = Some((parts, *guess));
            if parts as usize == codes.len() {
                break;
            }
        }
    }
    best
}

/// At most 2^24.
pub(crate) fn number_of(codes: &[Code]) -> u32 {
    u32::try_from(codes.len()).unwrap_or(u32::MAX / 2)
}

/// By number of codes, the least total if every guess could distinguish all `answers` answers.
pub(super) fn bounds(codes: usize, answers: usize) -> Vec<i64> {
    let mut bounds = alloc::vec![0];
    let (mut turn, mut room) = (1, 1);
    let mut left = room;
    for _ in 0..codes {
        if left == 0 {
            turn += 1;
            room *= answers - 1;
            left = room;
        }
        left -= 1;
        bounds.push(bounds[bounds.len() - 1] + turn);
    }
    bounds
}
