//! Estimates the players' purses from the messages to a spectator.
//!
//! These contain only the remaining gold, but a GOLD precedes the DISPLAY that shows its collector on the pile. If only
//! one player can have reached the pile, it is the collector.

use alloc::{collections::BTreeMap, vec::Vec};

use crate::{game::PILE, protocol::Letter};

#[derive(Debug, Clone, Default)]
pub(super) struct Purses {
    known: BTreeMap<Letter, u32>,
    pub(super) unknown: u32,
    fresh: u32,
}

impl Purses {
    pub(super) fn left(&mut self, before: u32, now: u32) {
        self.fresh = self.fresh.saturating_add(before.saturating_sub(now));
    }

    pub(super) fn compare(&mut self, before: &[u8], now: &[u8], width: usize) {
        let fresh = core::mem::take(&mut self.fresh);
        if fresh == 0 {
            return;
        }
        let purse = match collector(before, now, width) {
            Some(letter) => self.known.entry(letter).or_default(),
            None => &mut self.unknown,
        };
        *purse = purse.saturating_add(fresh);
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (Letter, u32)> {
        self.known.iter().map(|(&letter, &purse)| (letter, purse))
    }
}

// The only player that can have passed all missing piles.
fn collector(before: &[u8], now: &[u8], width: usize) -> Option<Letter> {
    if before.len() != now.len() || width == 0 {
        return None;
    }
    let gone: Vec<usize> = (0..now.len()).filter(|&at| before[at] == PILE && now[at] != PILE).collect();
    if gone.is_empty() {
        return None;
    }
    let mut movers = (b'A'..=b'Z').filter_map(|letter| {
        let place = |display: &[u8]| display.iter().position(|&byte| byte == letter);
        let (from, to) = (place(before)?, place(now)?);
        let on_the_way = from != to && gone.iter().all(|&pile| is_between(from, pile, to, width));
        Letter::from_byte(letter).filter(|_| on_the_way)
    });
    let first = movers.next()?;
    movers.next().is_none().then_some(first)
}

// Whether a run between two cells passes `by`.
fn is_between(from: usize, by: usize, to: usize, width: usize) -> bool {
    let steps = |one: usize, other: usize| {
        let part = |cell: usize| (i64::try_from(cell / width), i64::try_from(cell % width));
        match (part(one), part(other)) {
            ((Ok(row), Ok(col)), (Ok(to_row), Ok(to_col))) => Some((to_row - row, to_col - col)),
            _ => None,
        }
    };
    let (Some((rows, cols)), Some((by_rows, by_cols))) = (steps(from, to), steps(from, by)) else { return false };
    let straight = rows == 0 || cols == 0 || rows.abs() == cols.abs();
    let length = rows.abs().max(cols.abs());
    let by_length = by_rows.abs().max(by_cols.abs());
    straight
        && (1..=length).contains(&by_length)
        && (by_rows, by_cols) == (rows.signum() * by_length, cols.signum() * by_length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 7;

    fn attributed(before: &str, now: &str, collected: u32) -> (Vec<(u8, u32)>, u32) {
        let mut purses = Purses::default();
        purses.left(250, 250 - collected);
        purses.compare(before.as_bytes(), now.as_bytes(), WIDTH);
        (purses.entries().map(|(letter, purse)| (letter.byte(), purse)).collect(), purses.unknown)
    }

    #[test]
    fn visible_collector_is_credited_with_the_gold() {
        type Case = (&'static str, &'static str, &'static str, u32, &'static [(u8, u32)], u32);
        let cases: [Case; 7] = [
            ("a run", "A.**..\nB.....\n", ".....A\nB.....\n", 9, &[(b'A', 9)], 0),
            ("a run to the side", "A.....\n.*B...\n", "......\n.AB...\n", 3, &[(b'A', 3)], 0),
            ("only a swap", "AB*...\n......\n", "BA....\n......\n", 0, &[], 0),
            ("a swap and gold", "AB*...\n......\n", "B.A...\n......\n", 4, &[(b'A', 4)], 0),
            ("both may have come past", "A.*..B\n......\n", "B....A\n......\n", 4, &[], 4),
            ("there and back", "A.*...\n......\n", "A.....\n......\n", 4, &[], 4),
            ("another size", "A.*...\n......\n", "....\n....\n", 4, &[], 4),
        ];
        for (what, before, now, collected, known, unknown) in cases {
            assert_eq!(attributed(before, now, collected), (known.to_vec(), unknown), "{what}");
        }
    }
}
