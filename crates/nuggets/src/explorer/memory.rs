//! What the explorer remembers of the map: more than the pictures show, since a blank may be rock or may be unknown.

mod pockets;

use alloc::{vec, vec::Vec};
use core::mem;

use crate::{
    client::map_below,
    game::PILE,
    grid::{Cell, Direction, PASSAGE, ROCK, ROOM},
    view::SELF,
    visibility::{Field, Sight, Sighter, Vision},
};

// What stands there is known. Every character says so itself, but rock looks like what was never seen.
const KNOWN: u8 = 1;
// A picture would have shown gold there, so there is none but what is marked.
const CLEARED: u8 = 2;
const GOLD: u8 = 4;
// A spot beside which there is something unknown.
const EDGE: u8 = 8;
// Part of the pocket that is being looked at.
const POCKET: u8 = 16;

// Squares of distances up to which neighbours stand: nothing can hide them.
const BESIDE: usize = 2;

/// Why a spot is worth going to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lure {
    /// Gold was seen there.
    Gold,
    /// Something beside it is unknown, or it was out of sight whenever a picture came, so gold may lie there.
    Unknown,
}

/// The remembered map. Cells are offsets into it, with a margin around the grid so that every cell has eight neighbours.
#[derive(Debug, Default)]
pub(super) struct Memory {
    size: (u16, u16),
    // From a cell to the one below.
    stride: usize,
    // Map characters; `ROCK` also where nothing is known, a newline in the margin.
    cells: Vec<u8>,
    marks: Vec<u8>,
    // The newest picture.
    picture: Vec<u8>,
    // Cells that became known since their surroundings were looked at last.
    fresh: Vec<usize>,
    // Room spots that were never in sight when a picture came.
    doubtful: Vec<usize>,
    gold: Vec<usize>,
    pocket: Vec<usize>,
    written: Vec<usize>,
    // The square of the distance from which on nothing is seen, as far as that has shown.
    dark: usize,
    // Servers may show less than sight allows. Then only neighbours count as seen.
    wary: bool,
    sighter: Sighter,
}

impl Memory {
    /// Nothing is known but the size.
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

    /// Bytes of a picture, newlines included.
    pub(super) fn picture_len(&self) -> usize {
        self.picture.len()
    }

    /// Number of cells, the margin included.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The cell at `offset` of a picture.
    pub(super) const fn cell(&self, offset: usize) -> usize {
        offset + self.stride + 1
    }

    /// What is added to a cell for one step; adding wraps.
    pub(super) fn step(&self, direction: Direction) -> usize {
        // The margin has one cell for each row, as a grid's text has a newline.
        0_usize.wrapping_add_signed(isize::try_from(direction.offset(self.size.1)).unwrap_or_default())
    }

    pub(super) fn is_inside(&self, cell: usize) -> bool {
        self.cells[cell] != b'\n'
    }

    /// Whether a player may stand there, as far as that is known.
    pub(super) fn is_spot(&self, cell: usize) -> bool {
        matches!(self.cells[cell], ROOM | PASSAGE)
    }

    pub(super) fn is_unknown(&self, cell: usize) -> bool {
        self.cells[cell] == ROCK && self.marks[cell] & KNOWN == 0
    }

    pub(super) fn has_gold(&self) -> bool {
        !self.gold.is_empty()
    }

    /// What is to be had from standing on a spot, or running over it.
    pub(super) fn lure(&self, cell: usize) -> Option<Lure> {
        let marks = self.marks[cell];
        if marks & GOLD != 0 {
            Some(Lure::Gold)
        } else {
            let is_unknown = marks & EDGE != 0 || (marks & CLEARED == 0 && self.cells[cell] == ROOM);
            is_unknown.then_some(Lure::Unknown)
        }
    }

    /// Takes in a picture, seen from `here`, and the spots that the player was on since the last one. Whether there is
    /// anything new in it.
    pub(super) fn learn(&mut self, picture: &[u8], here: usize, walked: &[usize]) -> bool {
        let mut news = self.compare(picture);
        // What looks like a run through a wall was something else.
        if walked.iter().all(|&spot| self.is_spot(spot)) {
            for &spot in walked {
                self.stand(spot);
            }
        }
        self.stand(here);
        news |= !self.fresh.is_empty();
        // New room spots are doubtful, so this is skipped where all is as it was.
        if !self.doubtful.is_empty() || self.gold.iter().any(|&spot| !self.is_shown(spot)) {
            let sight = self.sight(here);
            self.measure_sight(here, &sight);
            self.clear_what_is_seen(here, &sight);
        }
        self.write_off_pockets();
        self.find_edges();
        news
    }

    /// Casts doubt on everything, since gold is left and nothing is known that it could hide behind: somebody may have
    /// put it down after the explorer passed. With `wary`, even what should have been seen from afar is looked at again
    /// from beside it.
    pub(super) fn doubt_everything(&mut self, here: usize, wary: bool) {
        self.wary = wary;
        for mark in &mut self.marks {
            *mark &= !CLEARED;
        }
        self.doubtful = (0..self.len()).filter(|&cell| self.cells[cell] == ROOM).collect();
        // Gold that was given up is worth another try.
        for offset in 0..self.picture.len() {
            if self.picture[offset] == PILE {
                self.look_at(self.cell(offset), PILE);
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
        self.clear_what_is_seen(here, &sight);
        self.find_edges();
    }

    /// Takes the lure from a spot that cannot be reached, until everything is doubted.
    pub(super) fn give_up(&mut self, spot: usize) {
        self.stand(spot);
        self.find_edges();
    }

    // What is different from the last picture; whether gold came into sight.
    fn compare(&mut self, picture: &[u8]) -> bool {
        // Large pieces at once: hardly any of them changes from one key to the next.
        const PIECE: usize = 256;
        let mut news = false;
        let old = mem::take(&mut self.picture);
        for (index, (now, before)) in picture.chunks(PIECE).zip(old.chunks(PIECE)).enumerate() {
            if now != before {
                for (offset, &shown) in now.iter().enumerate().filter(|&(offset, shown)| before[offset] != *shown) {
                    news |= self.look_at(self.cell(index * PIECE + offset), shown);
                }
            }
        }
        self.picture = old;
        self.picture.copy_from_slice(picture);
        news
    }

    fn look_at(&mut self, cell: usize, shown: u8) -> bool {
        if matches!(shown, SELF | b'A'..=b'Z') {
            self.forget_gold(cell);
        }
        // Where somebody stands on what will be seen when they are gone, let it hide what is behind it until then.
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

    // Nothing beside a player is hidden, and what gold was there is theirs.
    fn stand(&mut self, spot: usize) {
        self.marks[spot] |= CLEARED;
        self.forget_gold(spot);
        for cell in self.around(spot).into_iter().chain([spot]) {
            if self.is_unknown(cell) {
                self.fresh.push(cell);
            }
            self.marks[cell] |= KNOWN;
        }
    }

    fn forget_gold(&mut self, spot: usize) {
        if self.marks[spot] & GOLD != 0 {
            self.marks[spot] &= !GOLD;
            self.gold.retain(|&cell| cell != spot);
        }
    }

    // What would be in sight if only the known map existed: unknown cells hide what is behind them, so this may lack
    // something, but has nothing too much.
    fn sight(&mut self, here: usize) -> Sight {
        let text = &self.cells[self.cell(0)..][..self.picture.len()];
        let from = Cell(u16::try_from(self.offset(here)).unwrap_or(u16::MAX));
        let field = Field::new(text, self.size.0, self.size.1);
        field.map(|field| self.sighter.sight(field, from, Vision::default())).unwrap_or_default()
    }

    // Rooms are closed by walls, so nothing blank can be in sight unless it is too far away to be seen.
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

    // Had there been gold on what is in sight, the picture would have shown it.
    fn clear_what_is_seen(&mut self, here: usize, sight: &Sight) {
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

    // The eight neighbours of a cell of the grid; one of the margin has no more than itself.
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
