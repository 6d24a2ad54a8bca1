//! The search for the way with the fewest keys to a lure.

use alloc::vec::Vec;

use super::memory::{Lure, Memory};
use crate::grid::Direction;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Habits {
    /// Gold is preferred to the nearest unexplored spot up to this many additional keys.
    pub(crate) patience: usize,
    pub(crate) runs: bool,
}

impl Habits {
    pub(crate) const BEST: Self = Self { patience: 8, runs: true };
}

impl Default for Habits {
    fn default() -> Self {
        Self::BEST
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) from: usize,
    pub(super) step: usize,
    pub(super) key: u8,
    /// `None` if a run leaves the known map or follows an earlier run.
    pub(super) lands: Option<usize>,
}

/// A breadth-first search in which each edge is a key, with reusable memory.
#[derive(Debug, Default)]
pub(super) struct Search {
    // By spot: the last key of the shortest way there, 0 if unreached, and where it is pressed.
    keys: Vec<u8>,
    before: Vec<usize>,
    // By spot: bits for the directions of the runs over it that were followed to their ends.
    swept: Vec<u8>,
    queue: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Find {
    rank: usize,
    worth: usize,
    goal: usize,
    last: Move,
}

#[derive(Clone, Copy, Default)]
struct Haul {
    worth: usize,
    goal: usize,
    gold: bool,
}

impl Haul {
    fn pass(&mut self, memory: &Memory, spot: usize) {
        let Some(lure) = memory.lure(spot) else { return };
        let gold = lure == Lure::Gold;
        if self.worth == 0 || gold && !self.gold {
            self.goal = spot;
        }
        self.gold |= gold;
        // One pile is worth more than all unexplored spots on the way.
        self.worth += if gold { 1_000 } else { 1 };
    }
}

impl Search {
    /// Writes the best way to `way`, last move first, and returns its goal.
    pub(super) fn find_way(
        &mut self,
        memory: &Memory,
        start: usize,
        (habits, banned): (Habits, &[(usize, u8)]),
        way: &mut Vec<Move>,
    ) -> Option<usize> {
        way.clear();
        self.keys.clear();
        self.keys.resize(memory.len(), 0);
        self.swept.clear();
        self.swept.resize(memory.len(), 0);
        self.before.resize(memory.len(), 0);
        self.queue.clear();
        self.queue.push(start);
        // The start must not be reached again.
        self.keys[start] = b'.';
        let patience = if memory.has_gold() { habits.patience } else { 0 };
        let mut best: Option<Find> = None;
        let (mut level, mut length) = (0..1, 1);
        while !level.is_empty() && best.is_none_or(|best| length <= best.rank + patience) {
            for index in level.clone() {
                let from = self.queue[index];
                for (bit, direction) in Direction::ALL.into_iter().enumerate() {
                    let step = memory.step(direction);
                    let key = direction.key();
                    let next = from.wrapping_add(step);
                    if !memory.is_spot(next) {
                        continue;
                    }
                    let is_allowed = |key| banned.is_empty() || !banned.contains(&(from, key));
                    if is_allowed(key) {
                        let mut haul = Haul::default();
                        haul.pass(memory, next);
                        let last = Move { from, step, key, lands: Some(next) };
                        self.take(last, haul, (length, habits.patience), &mut best);
                    }
                    let key = key.to_ascii_uppercase();
                    if habits.runs && self.swept[next] & 1 << bit == 0 && is_allowed(key) {
                        let (haul, lands) = self.run(memory, from, step, 1 << bit);
                        self.take(Move { from, step, key, lands }, haul, (length, habits.patience), &mut best);
                    }
                }
            }
            level = level.end..self.queue.len();
            length += 1;
        }
        let best = best?;
        let mut next = best.last;
        loop {
            way.push(next);
            if next.from == start {
                return Some(best.goal);
            }
            let (from, key) = (self.before[next.from], self.keys[next.from]);
            let direction = Direction::from_key(key.to_ascii_lowercase())?;
            next = Move { from, step: memory.step(direction), key, lands: Some(next.from) };
        }
    }

    // After an earlier run over the same spot, the end is already reachable with as few keys.
    fn run(&mut self, memory: &Memory, from: usize, step: usize, bit: u8) -> (Haul, Option<usize>) {
        let (mut at, mut haul) = (from, Haul::default());
        loop {
            let next = at.wrapping_add(step);
            if memory.is_unknown(next) {
                return (haul, None);
            }
            if !memory.is_spot(next) {
                return (haul, Some(at));
            }
            if self.swept[next] & bit != 0 {
                return (haul, None);
            }
            self.swept[next] |= bit;
            haul.pass(memory, next);
            at = next;
        }
    }

    fn take(&mut self, last: Move, haul: Haul, (length, patience): (usize, usize), best: &mut Option<Find>) {
        if let Some(end) = last.lands.filter(|&end| self.keys[end] == 0) {
            self.keys[end] = last.key;
            self.before[end] = last.from;
            self.queue.push(end);
        }
        if haul.worth > 0 {
            let rank = if haul.gold { length.saturating_sub(patience) } else { length };
            let find = Find { rank, worth: haul.worth, goal: haul.goal, last };
            if best.is_none_or(|best| (rank, best.worth) < (best.rank, find.worth)) {
                *best = Some(find);
            }
        }
    }
}
