//! Line of sight: a pure function of the map and a place on it.
//!
//! A gridpoint is visible from a spot unless the straight segment between the two centres is blocked. Wherever the
//! segment crosses a row or column strictly between them, the gridpoint there must be a room spot; if it crosses
//! between two neighbouring gridpoints, at least one of the two must be. Boundaries, rock and passage spots block; the
//! target itself may be anything.
//!
//! # How it is computed
//!
//! The plane around the viewer is four quadrants and the four straight lines between them. In a quadrant, the target
//! `(i, j)` is `i` rows and `j` columns away, in the direction `j / i`. The segment crosses row `k` at `j / i * k`. So
//! a run of opaque cells `a ..= b` in row `k` blocks the closed interval of directions `a / k ..= b / k` for all rows
//! behind it. Columns are crossed as well: a pair of opaque cells one behind the other, `(k - 1, m)` and `(k, m)`,
//! blocks all cells strictly between `m / k` and `m / (k - 1)`, from row `k` on. This includes row 0, the viewer's own:
//! `(0, m)` and `(1, m)` block everything beyond `m / 1`.
//!
//! After `k` rows, the open directions are a short list of open intervals, the gaps. For each row, the pairs narrow the
//! gaps, because they hide cells of this row; then the visible cells are marked; then the runs narrow the gaps for the
//! next row. Both ends of a pair's interval are blocked directions, so within a gap the first pair that reaches its far
//! end cuts off the rest of it, and no other pair matters. Since the interval of a pair begins inside a run, a gap
//! remains one interval.
//!
//! Opaque cells are bits, so a gap costs a few words per row, regardless of its width. Rows are the shorter side of the
//! field, and a quadrant ends when no gap is left. All numbers are integers.

mod field;
mod plane;
mod sight;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::mem;

use self::{
    field::index,
    plane::{Plane, Side, WORD, fill, find, runs},
    sight::Builder,
};
use crate::grid::Cell;

pub use self::{
    field::{Field, Vision},
    sight::Sight,
};

/// Fraction bits of a direction.
const POINT: u32 = 40;

/// The open directions strictly between two fractions `num / den`.
///
/// Columns times rows are below `2^16`, the limit of a text. So are `num * den` and, for a row `i`, `num / den * i`.
/// The fixed-point ends are off by at most `num / 2^POINT`, and the product with `i` by less than `2^(32 - POINT)` of
/// `1 / den`, which is too little to reach the next whole number.
#[derive(Debug, Clone, Copy)]
struct Gap {
    /// Rounded up.
    low: u64,
    /// Rounded down.
    high: u64,
}

impl Gap {
    /// The last column of row `i` before the gap.
    fn before(self, i: usize) -> usize {
        index((self.low * i as u64) >> POINT)
    }

    /// The last column of row `i` that is not beyond the gap.
    fn last(self, i: usize) -> usize {
        index((self.high * i as u64) >> POINT)
    }
}

/// `num / den` as the lower end of a gap.
const fn above(num: u64, den: u64) -> u64 {
    num * (1_u64 << POINT).div_ceil(den)
}

/// `num / den` as the upper end of a gap; `num` is positive.
const fn below(num: u64, den: u64) -> u64 {
    num * (((1 << POINT) - 1) / den)
}

/// Computes sights, and reuses its memory between calls.
#[derive(Debug, Clone, Default)]
pub struct Sighter {
    plane: Plane,
    // One bit for each cell of the plane; all zero between calls.
    seen: Vec<u64>,
    gaps: Vec<Gap>,
    narrowed: Vec<Gap>,
    builder: Builder,
    work: u64,
}

impl Sighter {
    /// The cells visible from `from` on `field`, itself included. Empty if `from` is outside.
    ///
    /// Calls are fastest if `field` differs from that of the previous call in few cells.
    ///
    /// Source: the requirements of the course's nuggets project, "Visibility".
    pub fn sight(&mut self, field: Field<'_>, from: Cell, vision: Vision) -> Sight {
        self.prepare(field);
        self.compute(from, vision)
    }

    /// The machine-independent work of the last sight: words read and written, and gaps examined.
    #[cfg(test)]
    pub(crate) const fn work(&self) -> u64 {
        self.work
    }

    pub(crate) fn prepare(&mut self, field: Field<'_>) {
        self.plane.update(field);
        self.seen.resize(self.plane.rows * self.plane.words, 0);
    }

    /// Computes the sight on the last prepared field.
    pub(crate) fn compute(&mut self, from: Cell, vision: Vision) -> Sight {
        self.work = 0;
        let Some(from) = self.plane.place(from.index()) else { return Sight::default() };
        let (row, col) = from;
        let cols = self.plane.cols;
        for (side, col) in [(Side::Right, col), (Side::Left, cols - 1 - col)] {
            let edge = col + vision.cols(0, cols - 1 - col);
            let own = self.plane.row(side, row);
            let last = find(col + 1, edge, &mut self.work, |word| own[word]);
            self.see(row, side, col, last + 1);
        }
        let (mut top, mut bottom) = (row, row);
        for up in [true, false] {
            let rows = vision.rows(if up { row } else { self.plane.rows - 1 - row });
            let straight = self.light_column(from, up, rows);
            let right = self.light((up, Side::Right), from, rows, vision);
            let left = self.light((up, Side::Left), (row, cols - 1 - col), rows, vision);
            let far = straight.max(right).max(left);
            if up {
                top -= far;
            } else {
                bottom += far;
            }
        }
        self.collect(top, bottom)
    }

    // Marks the visible cells straight up or down. Returns the distance of the last one.
    fn light_column(&mut self, (row, col): (usize, usize), up: bool, rows: usize) -> usize {
        for i in 1..=rows {
            let at = if up { row - i } else { row + i };
            self.see(at, Side::Right, col, col + 1);
            if self.plane.row(Side::Right, at)[col / WORD] >> (col % WORD) & 1 != 0 {
                return i;
            }
        }
        rows
    }

    // Marks the visible cells of one quadrant. `col` is counted from its side. Returns an upper bound of their distance
    // in rows.
    fn light(&mut self, (up, side): (bool, Side), (row, col): (usize, usize), rows: usize, vision: Vision) -> usize {
        let Self { plane, seen, gaps, narrowed, work, .. } = self;
        let (cols, words) = (plane.cols - 1 - col, plane.words);
        gaps.clear();
        // The whole quadrant, one column more than any target.
        gaps.push(Gap { low: 0, high: below(cols as u64 + 1, 1) });
        let mut nearer = plane.row(side, row);
        for i in 1..=rows {
            let at = if up { row - i } else { row + i };
            let opaque = plane.row(side, at);
            let seen = &mut seen[at * words..][..words];
            let edge = vision.cols(i, cols);
            let (to_low, to_high) = (above(1, i as u64), below(1, i as u64));
            narrowed.clear();
            for &gap in &*gaps {
                *work += 1;
                let before = gap.before(i);
                if before >= edge {
                    // All following gaps are out of range too, in this row and those behind it.
                    break;
                }
                let Gap { mut low, mut high } = gap;
                let mut last = gap.last(i).min(edge);
                let from = gap.last(i - 1) + 1;
                // The most frequent case.
                if find(col + from.min(before), col + last + 1, work, |word| opaque[word]) > col + last {
                    if last > before {
                        mark(seen, side, col + before + 1, col + last + 1, plane.cols, work);
                    }
                    narrowed.push(gap);
                    continue;
                }
                // The first pair that ends at the gap's upper end or beyond it.
                let pair = find(col + from, col + last + 1, work, |word| nearer[word] & opaque[word]) - col;
                let mut visible = last;
                if pair <= last {
                    if pair <= before {
                        continue;
                    }
                    (visible, last, high) = (pair, pair - 1, pair as u64 * to_high);
                }
                if visible > before {
                    mark(seen, side, col + before + 1, col + visible + 1, plane.cols, work);
                }
                // Each run removes a closed interval from the gap. One more cell is examined, because a run that
                // continues there closes the rest.
                let (mut j, until) = (before, col + last + 1);
                let further = (until + 1).min(words * WORD);
                while j <= last {
                    let start = find(col + j, until, work, |word| opaque[word]) - col;
                    if start > last {
                        break;
                    }
                    if start > before {
                        narrowed.push(Gap { low, high: start as u64 * to_high });
                    }
                    j = find(col + start, further, work, |word| !opaque[word]) - col;
                    if j > before + 1 {
                        low = (j - 1) as u64 * to_low;
                    }
                }
                if j <= last + 1 {
                    narrowed.push(Gap { low, high });
                }
            }
            mem::swap(gaps, narrowed);
            if gaps.is_empty() {
                return i;
            }
            nearer = opaque;
        }
        rows
    }

    fn see(&mut self, row: usize, side: Side, from: usize, until: usize) {
        let words = self.plane.words;
        mark(&mut self.seen[row * words..][..words], side, from, until, self.plane.cols, &mut self.work);
    }

    // Builds the sight from the marks in the rows `top..=bottom`, and clears them.
    fn collect(&mut self, top: usize, bottom: usize) -> Sight {
        let words = self.plane.words;
        let seen = &mut self.seen[top * words..(bottom + 1) * words];
        self.work += seen.len() as u64;
        if self.plane.turned {
            collect_turned(&mut self.builder, seen, words, top, self.plane.width);
        } else {
            let mut start = 0;
            let rows: usize = seen.len() / words;
            let row = |row: usize| &seen[row * words..][..words];
            for end in 1..=rows {
                if end == rows || row(end) != row(start) {
                    self.builder.band((top + start) * self.plane.width, end - start, runs(row(start)));
                    start = end;
                }
            }
        }
        seen.fill(0);
        self.builder.finish(self.plane.width)
    }
}

// The rows of `seen`, of `words` words each, are columns of the text from `left` on.
fn collect_turned(builder: &mut Builder, seen: &[u64], words: usize, left: usize, width: usize) {
    let bit = |col: usize, row: usize| seen[col * words + row / WORD] >> (row % WORD) & 1 != 0;
    let cols = seen.len() / words;
    let mut start = 0;
    let mut band = |end: usize| {
        let mut col = 0;
        let stretches = core::iter::from_fn(|| {
            let from = (col..cols).find(|&col| bit(col, start))?;
            col = (from..cols).find(|&col| !bit(col, start)).unwrap_or(cols);
            Some(left + from..left + col)
        });
        builder.band(start * width, end - start, stretches);
        start = end;
    };
    for word in 0..words {
        // A bit for each row that differs from the one above.
        let mut changes = 0;
        for row in seen.chunks_exact(words) {
            let above = word.checked_sub(1).map_or(0, |before| row[before] >> (WORD - 1));
            changes |= row[word] ^ (row[word] << 1 | above);
        }
        while changes != 0 {
            band(word * WORD + changes.trailing_zeros() as usize);
            changes &= changes - 1;
        }
    }
    band(words * WORD);
}

fn mark(row: &mut [u64], side: Side, from: usize, until: usize, cols: usize, work: &mut u64) {
    match side {
        Side::Right => fill(row, from, until, work),
        Side::Left => fill(row, cols - until, cols - from, work),
    }
}
