//! Areas of unknown cells that cannot contain a room.

use alloc::vec::Vec;
use core::mem;

use super::{KNOWN, Memory, POCKET};
use crate::grid::ROCK;

// Larger pockets are explored.
const LARGEST_POCKET: usize = 256;

impl Memory {
    /// Room spots are surrounded by room spots, walls and doors, so none is next to known rock. Unknown areas without
    /// possible room spots are not explored, which saves most dead ends.
    pub(super) fn write_off_pockets(&mut self) {
        if self.wary {
            return;
        }
        let fresh = mem::take(&mut self.fresh);
        let mut pocket = mem::take(&mut self.pocket);
        for &cell in &fresh {
            for seed in self.around(cell) {
                if self.is_unknown(seed) {
                    let is_empty = self.fill_pocket(seed, &mut pocket);
                    for &cell in &pocket {
                        self.marks[cell] &= !POCKET;
                        if is_empty {
                            self.marks[cell] |= KNOWN;
                            self.written.push(cell);
                        }
                    }
                }
            }
        }
        self.fresh = fresh;
        self.fresh.append(&mut self.written);
        self.pocket = pocket;
    }

    fn fill_pocket(&mut self, seed: usize, pocket: &mut Vec<usize>) -> bool {
        pocket.clear();
        pocket.push(seed);
        self.marks[seed] |= POCKET;
        let mut next = 0;
        while let Some(&cell) = pocket.get(next) {
            let around = self.around(cell);
            let is_rock = |cell: usize| self.cells[cell] == ROCK && self.marks[cell] & KNOWN != 0;
            if !around.into_iter().any(is_rock) || pocket.len() > LARGEST_POCKET {
                return false;
            }
            for beside in around {
                if self.is_unknown(beside) && self.marks[beside] & POCKET == 0 {
                    self.marks[beside] |= POCKET;
                    pocket.push(beside);
                }
            }
            next += 1;
        }
        true
    }
}
