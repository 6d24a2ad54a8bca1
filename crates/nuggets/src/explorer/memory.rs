//! The explorer's memory of the map. Unlike a picture, it distinguishes rock from unknown cells.

use alloc::{vec, vec::Vec};
use core::mem;

use crate::{
    client::map_below,
    game::PILE,
    grid::{Cell, Direction, PASSAGE, ROCK, ROOM},
    view::SELF,
    visibility::{Field, Sight, Sighter, Vision},
};

// Distinguishes known rock from unknown cells.
const KNOWN: u8 = 1;
// Gold there would be in a picture.
const CLEARED: u8 = 2;
const GOLD: u8 = 4;
const EDGE: u8 = 8;
const POCKET: u8 = 16;

// The squared distance of a diagonal neighbour. Neighbours are always visible.
const BESIDE: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lure {
    Gold,
    /// A neighbour is unknown, or the spot was never in sight and may hold gold.
    Unknown,
}

/// Cells are offsets in the grid with a margin, so that every cell has eight neighbours.
#[derive(Debug, Default)]
pub(super) struct Memory {
    size: (u16, u16),
    stride: usize,
    // `ROCK` for unknown cells too; newlines in the margin.
    cells: Vec<u8>,
    marks: Vec<u8>,
    picture: Vec<u8>,
    fresh: Vec<usize>,
    // Room spots that were never in sight.
    doubtful: Vec<usize>,
    gold: Vec<usize>,
    pocket: Vec<usize>,
    written: Vec<usize>,
    // The smallest squared distance at which a cell was invisible.
    dark: usize,
    // Treats only neighbours as seen, since some servers show less than the rules require.
    wary: bool,
    sighter: Sighter,
}

impl Memory {
    pub(super) fn new(size: (u16, u16)) -> Self {
        let (rows, stride) = (usize::from(size.0), usize::from(size.1) + 1);
        let mut cells = vec![b'\n'; (rows + 2) * stride + 2];
        for row in cells[stride + 1..].chunks_exact_mut(stride).take(rows) {
            row[..stride - 1].fill(ROCK);
        }
        Self {
            size,
            stride,
            marks: vec![0; cells.len()],
            cells,
            picture: vec![ROCK; rows * stride],
            dark: usize::MAX,
            ..Self::default()
        }
    }

    pub(super) fn picture_len(&self) -> usize {
        self.picture.len()
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(super) const fn cell(&self, offset: usize) -> usize {
        offset + self.stride + 1
    }

    pub(super) fn step(&self, direction: Direction) -> usize {
        // The margin has one cell per row, like the newline in a text.
        0_usize.wrapping_add_signed(isize::try_from(direction.offset(self.size.1)).unwrap_or_default())
    }

    pub(super) fn is_inside(&self, cell: usize) -> bool {
        self.cells[cell] != b'\n'
    }

    pub(super) fn is_spot(&self, cell: usize) -> bool {
        matches!(self.cells[cell], ROOM | PASSAGE)
    }

    pub(super) fn is_unknown(&self, cell: usize) -> bool {
        self.cells[cell] == ROCK && self.marks[cell] & KNOWN == 0
    }

    pub(super) fn has_gold(&self) -> bool {
        !self.gold.is_empty()
    }

    /// The reason to visit a spot.
    pub(super) fn lure(&self, cell: usize) -> Option<Lure> {
        let marks = self.marks[cell];
        if marks & GOLD != 0 {
            Some(Lure::Gold)
        } else {
            let is_unknown = marks & EDGE != 0 || (marks & CLEARED == 0 && self.cells[cell] == ROOM);
            is_unknown.then_some(Lure::Unknown)
        }
    }

    /// Returns whether new cells or gold came into sight.
    pub(super) fn learn(&mut self, picture: &[u8], here: usize, walked: &[usize]) -> bool {
        let mut news = self.compare(picture);
        // A run that seems to cross a wall was another kind of move.
        if walked.iter().all(|&spot| self.is_spot(spot)) {
            for &spot in walked {
                self.stand(spot);
            }
        }
        self.stand(here);
        news |= !self.fresh.is_empty();
        // An unchanged picture adds no doubtful spots.
        if !self.doubtful.is_empty() || self.gold.iter().any(|&spot| !self.is_shown(spot)) {
            let sight = self.sight(here);
            self.measure_sight(here, &sight);
            self.clear_visible(here, &sight);
        }
        self.write_off_pockets();
        self.find_edges();
        news
    }

    /// Marks all room spots to be searched again: a player may have dropped gold behind the explorer. With `wary`, only
    /// neighbouring spots count as seen.
    pub(super) fn doubt_everything(&mut self, here: usize, wary: bool) {
        self.wary = wary;
        for mark in &mut self.marks {
            *mark &= !CLEARED;
        }
        self.doubtful = (0..self.len()).filter(|&cell| self.cells[cell] == ROOM).collect();
        for offset in 0..self.picture.len() {
            if self.picture[offset] == PILE {
                self.update_cell(self.cell(offset), PILE);
            }
        }
        if wary {
            for mark in &mut self.marks {
                *mark &= !KNOWN;
            }
            self.fresh = (0..self.len()).filter(|&cell| self.is_spot(cell)).collect();
        }
        self.stand(here);
        let sight = self.sight(here);
        self.clear_visible(here, &sight);
        self.find_edges();
    }

    pub(super) fn give_up(&mut self, spot: usize) {
        self.stand(spot);
        self.find_edges();
    }

    fn compare(&mut self, picture: &[u8]) -> bool {
        // Most pieces do not change between two keys.
        const PIECE: usize = 256;
        let mut news = false;
        let old = mem::take(&mut self.picture);
        for (index, (now, before)) in picture.chunks(PIECE).zip(old.chunks(PIECE)).enumerate() {
            if now != before {
                for (offset, &shown) in now.iter().enumerate().filter(|&(offset, shown)| before[offset] != *shown) {
                    news |= self.update_cell(self.cell(index * PIECE + offset), shown);
                }
            }
        }
        self.picture = old;
        self.picture.copy_from_slice(picture);
        news
    }

    fn update_cell(&mut self, cell: usize, shown: u8) -> bool {
        if matches!(shown, SELF | b'A'..=b'Z') {
            self.remove_gold(cell);
        }
        let what = map_below(self.cells[cell], shown).unwrap_or(PASSAGE);
        if self.cells[cell] != what {
            if what == ROOM && self.marks[cell] & CLEARED == 0 {
                self.doubtful.push(cell);
            }
            self.cells[cell] = what;
            self.fresh.push(cell);
        }
        if shown == PILE && self.marks[cell] & GOLD == 0 {
            self.marks[cell] |= GOLD | CLEARED;
            self.gold.push(cell);
            return true;
        }
        false
    }

    // The player has collected any gold on its spot and sees its neighbours.
    fn stand(&mut self, spot: usize) {
        self.marks[spot] |= CLEARED;
        self.remove_gold(spot);
        for cell in self.around(spot).into_iter().chain([spot]) {
            if self.is_unknown(cell) {
                self.fresh.push(cell);
            }
            self.marks[cell] |= KNOWN;
        }
    }

    fn remove_gold(&mut self, spot: usize) {
        if self.marks[spot] & GOLD != 0 {
            self.marks[spot] &= !GOLD;
            self.gold.retain(|&cell| cell != spot);
        }
    }

    // Unknown cells hide those behind them, so the sight may be incomplete but has no false positives.
    fn sight(&mut self, here: usize) -> Sight {
        let text = &self.cells[self.cell(0)..][..self.picture.len()];
        let from = Cell(u16::try_from(self.offset(here)).unwrap_or(u16::MAX));
        let field = Field::new(text, self.size.0, self.size.1);
        field.map(|field| self.sighter.sight(field, from, Vision::default())).unwrap_or_default()
    }

    // Walls enclose each room, so an unknown cell in sight must be too far away to be visible.
    fn measure_sight(&mut self, here: usize, sight: &Sight) {
        for &spot in self.fresh.iter().filter(|&&cell| self.cells[cell] == ROOM) {
            for cell in self.around(spot) {
                let distance = self.distance_squared(here, cell);
                let is_too_far = distance > BESIDE && self.is_unknown(cell) && self.is_in(sight, cell);
                if is_too_far && distance < self.dark {
                    self.dark = distance;
                }
            }
        }
    }

    fn clear_visible(&mut self, here: usize, sight: &Sight) {
        let (mut doubtful, mut gold) = (mem::take(&mut self.doubtful), mem::take(&mut self.gold));
        gold.retain(|&spot| {
            let is_gone = !self.is_shown(spot) && self.is_seen(here, spot, sight);
            if is_gone {
                self.marks[spot] &= !GOLD;
            }
            !is_gone
        });
        doubtful.retain(|&spot| {
            if self.is_seen(here, spot, sight) {
                self.marks[spot] |= CLEARED;
            }
            self.marks[spot] & CLEARED == 0
        });
        (self.doubtful, self.gold) = (doubtful, gold);
    }

    fn find_edges(&mut self) {
        let mut fresh = mem::take(&mut self.fresh);
        for cell in fresh.drain(..) {
            for spot in self.around(cell).into_iter().chain([cell]) {
                let is_edge = self.is_spot(spot) && self.around(spot).into_iter().any(|beside| self.is_unknown(beside));
                if is_edge {
                    self.marks[spot] |= EDGE;
                } else {
                    self.marks[spot] &= !EDGE;
                }
            }
        }
        self.fresh = fresh;
    }

    fn around(&self, cell: usize) -> [usize; 8] {
        if self.cells[cell] == b'\n' {
            return [cell; 8];
        }
        Direction::ALL.map(|direction| cell.wrapping_add(self.step(direction)))
    }

    fn distance_squared(&self, from: usize, to: usize) -> usize {
        let rows = (from / self.stride).abs_diff(to / self.stride);
        let cols = (from % self.stride).abs_diff(to % self.stride);
        rows * rows + cols * cols
    }

    fn is_shown(&self, gold: usize) -> bool {
        self.picture[self.offset(gold)] == PILE
    }

    fn is_seen(&self, here: usize, spot: usize, sight: &Sight) -> bool {
        let limit = if self.wary { BESIDE + 1 } else { self.dark };
        self.distance_squared(here, spot) < limit && self.is_in(sight, spot)
    }

    fn is_in(&self, sight: &Sight, cell: usize) -> bool {
        u16::try_from(self.offset(cell)).is_ok_and(|offset| sight.contains(Cell(offset)))
    }

    const fn offset(&self, cell: usize) -> usize {
        cell - self.stride - 1
    }
}

// Areas of unknown cells that cannot contain a room.

// Larger pockets are explored.
const LARGEST_POCKET: usize = 256;

impl Memory {
    /// Room spots are surrounded by room spots, walls and doors, so none is next to known rock. Unknown areas without
    /// possible room spots are not explored, which saves most dead ends.
    fn write_off_pockets(&mut self) {
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
