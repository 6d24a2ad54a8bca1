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

use alloc::{boxed::Box, vec, vec::Vec};
use core::{mem, ops::Range};

use serde::{Deserialize, Serialize};

use crate::grid::{Cell, Grid, ROOM};

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

/// The set of cells visible from one spot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    start: u16,
    length: u16,
}

/// Consecutive rows with the same visible columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Band {
    /// Offset of the first row in the text.
    start: u16,
    rows: u16,
    /// The index after its last stretch. The first follows those of the previous band.
    end: u16,
}

/// The set of cells visible from one spot.
///
/// Rooms are boxes, so most sights are a few bands of one or two stretches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sight {
    /// The length of a row with its newline.
    width: u16,
    bands: Box<[Band]>,
    stretches: Box<[Stretch]>,
}

impl Sight {
    /// Whether `cell` is visible.
    pub fn contains(&self, cell: Cell) -> bool {
        let after = self.bands.partition_point(|band| band.start <= cell.0);
        let Some(band) = after.checked_sub(1).map(|last| self.bands[last]) else { return false };
        let offset = cell.0 - band.start;
        if offset / self.width >= band.rows {
            return false;
        }
        let col = offset % self.width;
        let stretches = self.stretches_of(after - 1);
        let after = stretches.partition_point(|stretch| stretch.start <= col);
        after.checked_sub(1).is_some_and(|last| col - stretches[last].start < stretches[last].length)
    }

    /// The visible cells as ranges of offsets into the grid's text, in ascending order; none spans two rows.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.bands.iter().enumerate().flat_map(move |(index, band)| {
            let (top, width) = (usize::from(band.start), usize::from(self.width));
            let stretches = self.stretches_of(index);
            (0..usize::from(band.rows)).flat_map(move |row| {
                stretches.iter().map(move |stretch| {
                    let start = top + row * width + usize::from(stretch.start);
                    start..start + usize::from(stretch.length)
                })
            })
        })
    }

    /// The visible cells, row by row.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        self.ranges().flatten().map(|offset| Cell(u16::try_from(offset).unwrap_or(u16::MAX)))
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.bands) + size_of_val(&*self.stretches)
    }

    fn stretches_of(&self, band: usize) -> &[Stretch] {
        let start = band.checked_sub(1).map_or(0, |before| usize::from(self.bands[before].end));
        &self.stretches[start..usize::from(self.bands[band].end)]
    }
}

/// Builds sights, and reuses its memory.
#[derive(Debug, Clone, Default)]
struct Builder {
    bands: Vec<Band>,
    stretches: Vec<Stretch>,
}

// Texts have less than `2^16` characters.
fn short(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

impl Builder {
    /// Adds `rows` equal rows, the first at offset `start`. The ranges `cols` must be ascending, disjoint, and
    /// different from those of the row directly above. Rows without visible cells are omitted.
    fn band(&mut self, start: usize, rows: usize, cols: impl Iterator<Item = Range<usize>>) {
        let before = self.stretches.len();
        self.stretches.extend(cols.map(|cols| Stretch { start: short(cols.start), length: short(cols.len()) }));
        if self.stretches.len() > before {
            self.bands.push(Band { start: short(start), rows: short(rows), end: short(self.stretches.len()) });
        }
    }

    fn finish(&mut self, width: usize) -> Sight {
        let sight = Sight {
            width: short(width),
            bands: self.bands.as_slice().into(),
            stretches: self.stretches.as_slice().into(),
        };
        self.bands.clear();
        self.stretches.clear();
        sight
    }
}

// A field as bits that mark the opaque cells.

const WORD: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Right,
    /// Mirrored.
    Left,
}

/// The opaque cells of a field, as rows of bits along its longer side.
///
/// The rule is symmetric, so a tall field is transposed. The plane then has at most 255 rows, whose cells are processed
/// a word at a time.
#[derive(Debug, Clone, Default)]
struct Plane {
    text: Vec<u8>,
    /// The length of a row of the text with its newline.
    width: usize,
    /// Rows of the plane are columns of the text.
    turned: bool,
    rows: usize,
    cols: usize,
    words: usize,
    /// Set for opaque cells and beyond the last column.
    right: Vec<u64>,
    /// The same, mirrored.
    left: Vec<u64>,
}

impl Plane {
    /// Replaces the field. The cost depends mostly on the number of changed cells.
    fn update(&mut self, field: Field<'_>) {
        let (rows, cols) = (usize::from(field.rows), usize::from(field.cols));
        if self.width != cols + 1 || self.text.len() != field.text.len() {
            let turned = rows > cols;
            let (rows, cols) = if turned { (cols, rows) } else { (rows, cols) };
            let words = cols.div_ceil(WORD);
            let opaque = vec![u64::MAX; rows * words];
            let text = vec![b'\n'; field.text.len()];
            let width = usize::from(field.cols) + 1;
            *self = Self { text, width, turned, rows, cols, words, right: opaque.clone(), left: opaque };
        }
        let mut old = mem::take(&mut self.text);
        let chunks = old.chunks_mut(WORD).zip(field.text.chunks(WORD)).enumerate();
        for (index, (old, new)) in chunks.filter(|(_, (old, new))| old != new) {
            for (at, (old, &new)) in (index * WORD..).zip(old.iter_mut().zip(new)) {
                if (*old == ROOM) != (new == ROOM) {
                    self.flip(at);
                }
                *old = new;
            }
        }
        self.text = old;
    }

    fn flip(&mut self, offset: usize) {
        let Some((row, col)) = self.place(offset) else { return };
        let mirrored = self.cols - 1 - col;
        self.right[row * self.words + col / WORD] ^= 1 << (col % WORD);
        self.left[row * self.words + mirrored / WORD] ^= 1 << (mirrored % WORD);
    }

    /// The row and column in the plane; `None` for newlines and outside the field.
    fn place(&self, offset: usize) -> Option<(usize, usize)> {
        let (row, col) = (offset.checked_div(self.width)?, offset.checked_rem(self.width)?);
        let (row, col) = if self.turned { (col, row) } else { (row, col) };
        (row < self.rows && col < self.cols).then_some((row, col))
    }

    fn row(&self, side: Side, row: usize) -> &[u64] {
        let bits = if side == Side::Right { &self.right } else { &self.left };
        &bits[row * self.words..][..self.words]
    }
}

/// The first set bit of `from..until`, or `until`. Adds the number of words read to `work`.
fn find(from: usize, until: usize, work: &mut u64, at: impl Fn(usize) -> u64) -> usize {
    if from >= until {
        return until;
    }
    let mut index = from / WORD;
    let mut bits = at(index) & (u64::MAX << (from % WORD));
    loop {
        *work += 1;
        if bits != 0 {
            return until.min(index * WORD + bits.trailing_zeros() as usize);
        }
        index += 1;
        if index * WORD >= until {
            return until;
        }
        bits = at(index);
    }
}

/// Sets the bits of `from..until`, which must not be empty.
fn fill(row: &mut [u64], from: usize, until: usize, work: &mut u64) {
    let (low, high) = (from / WORD, (until - 1) / WORD);
    let (first, last) = (u64::MAX << (from % WORD), u64::MAX >> (WORD - 1 - (until - 1) % WORD));
    *work += (high - low) as u64 + 1;
    if low == high {
        row[low] |= first & last;
    } else {
        row[low] |= first;
        row[low + 1..high].fill(u64::MAX);
        row[high] |= last;
    }
}

fn runs(row: &[u64]) -> impl Iterator<Item = Range<usize>> {
    let until = row.len() * WORD;
    let mut at = 0;
    core::iter::from_fn(move || {
        let start = find(at, until, &mut 0, |word| row[word]);
        at = find(start, until, &mut 0, |word| !row[word]);
        (start < until).then_some(start..at)
    })
}

// The input of a sight: the text of a map and the range of vision.

/// The text of a map or of its known part.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    text: &'a [u8],
    rows: u16,
    cols: u16,
}

impl<'a> Field<'a> {
    /// A field of `rows` rows of `cols` characters, each followed by a newline. Only `.` is transparent. `None` if the
    /// length of `text` differs or needs more than 16 bits.
    pub fn new(text: &'a [u8], rows: u16, cols: u16) -> Option<Self> {
        let length = usize::from(rows).checked_mul(usize::from(cols).checked_add(1)?)?;
        (text.len() == length && u16::try_from(length).is_ok()).then_some(Self { text, rows, cols })
    }
}

impl<'a> From<&'a Grid> for Field<'a> {
    fn from(grid: &'a Grid) -> Self {
        Self { text: grid.text(), rows: grid.rows(), cols: grid.cols() }
    }
}

/// The range of sight, by default to the edges of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Vision {
    /// The largest distance between two centres, in cells. Neighbours are always visible.
    pub radius: Option<u16>,
}

impl Vision {
    /// The largest distance in rows of a visible cell, at most `rows`.
    fn rows(self, rows: usize) -> usize {
        self.radius.map_or(rows, |radius| rows.min(usize::from(radius.max(1))))
    }

    /// The largest distance in columns of a visible cell `i` rows away, at most `cols`.
    fn cols(self, i: usize, cols: usize) -> usize {
        let Some(radius) = self.radius else { return cols };
        let (radius, i) = (u64::from(radius), i as u64);
        let reach = index((radius * radius).saturating_sub(i * i).isqrt());
        cols.min(if i <= 1 { reach.max(1) } else { reach })
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::grid::Grid;

    // A check of each cell would cost 65,000.
    #[test]
    fn sight_in_long_maps_takes_time_per_word() {
        const WORK: u64 = 5 * (u16::MAX as u64).div_ceil(WORD as u64) + 64;
        let wide = |rows: usize, cols: usize| format!("{}\n", ".".repeat(cols)).repeat(rows);
        for (rows, cols) in [(1, 65_498), (3, 21_002), (16_374, 3), (32_749, 1), (255, 255)] {
            let grid = Grid::parse(wide(rows, cols).as_bytes()).unwrap().0;
            let mut sighter = Sighter::default();
            for &spot in grid.room_spots().iter().step_by(997).chain(grid.room_spots().last()) {
                let sight = sighter.sight((&grid).into(), spot, Vision::default());
                assert!(sight.ranges().map(|range| range.len()).sum::<usize>() == rows * cols);
                assert!(sighter.work() <= WORK, "{rows} x {cols} from {spot:?}: {}", sighter.work());
                assert!(sight.bytes() < 200, "{rows} x {cols} from {spot:?}: {}", sight.bytes());
            }
        }
    }
}
