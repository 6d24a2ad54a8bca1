//! Who sees what: a pure function of the map and a place on it.
//!
//! From a spot one sees a gridpoint unless something blocks the straight segment between the two centres. Wherever the
//! segment crosses a row or column strictly between the two, the gridpoint there must be a room spot; if it crosses
//! between two neighbouring gridpoints, at least one of the two must be. Boundaries, rock and passage spots block; the
//! target itself may be anything.
//!
//! # How it is computed
//!
//! The plane around the viewer is four quadrants and the four straight lines between them. In a quadrant a target is
//! `(i, j)`, `i` rows and `j` columns away, and lies in the direction `j / i`. Row `k` is crossed at `j / i * k`. So a run
//! of opaque cells `a ..= b` in row `k` blocks exactly the closed interval of directions `a / k ..= b / k` for all rows
//! behind it. Columns are crossed as well: two opaque cells one behind the other, `(k - 1, m)` and `(k, m)`, block all
//! that lies strictly between `m / k` and `m / (k - 1)`, from row `k` on. Row 0, the viewer's own, is no different: with
//! `(0, m)` and `(1, m)` everything beyond `m / 1` is blocked.
//!
//! What is left open after `k` rows is a short list of open intervals, the gaps. In each row they are narrowed first by
//! the pairs, which hide cells of this row, then mark what is seen, then are narrowed by the runs for the next row. Both
//! ends of a pair's interval lie in blocked directions, so within a gap the first pair that reaches its far end cuts off
//! the rest of it, and no other pair matters. Since the interval of a pair begins inside a run, a gap stays one interval.
//!
//! Opaque cells are bits. A row costs a few words for each of its gaps and no more, however wide they are, rows are the
//! shorter side of the field, and a quadrant ends when no gap is left. All numbers are integers.

mod plane;
mod sight;

use alloc::vec::Vec;
use core::mem;
use serde::{Deserialize, Serialize};

use self::{
    plane::{Plane, Side, WORD, fill, find, runs},
    sight::Builder,
};
use crate::grid::{Cell, Grid};

pub use self::sight::Sight;

/// What a sight is computed on: the text of a map, or of what is known of one.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    text: &'a [u8],
    rows: u16,
    cols: u16,
}

impl<'a> Field<'a> {
    /// A field whose `text` has `rows` rows of `cols` characters, each followed by a newline.
    ///
    /// Only `.` lets sight through. `None` when the text has not that shape.
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

/// How far sight reaches; without a limit it reaches to the edges of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Vision {
    /// The largest distance between two centres, in cells. The eight neighbours are visible at any radius.
    pub radius: Option<u16>,
}

impl Vision {
    /// How many rows away something can be visible, of at most `rows`.
    fn rows(self, rows: usize) -> usize {
        self.radius.map_or(rows, |radius| rows.min(usize::from(radius.max(1))))
    }

    /// How many columns away something in the row `i` rows away can be visible, of at most `cols`.
    fn cols(self, i: usize, cols: usize) -> usize {
        let Some(radius) = self.radius else { return cols };
        let (radius, i) = (u64::from(radius), i as u64);
        let reach = index((radius * radius).saturating_sub(i * i).isqrt());
        cols.min(if i <= 1 { reach.max(1) } else { reach })
    }
}

/// Bits behind the point of a direction.
const POINT: u32 = 40;

/// The directions strictly between two fractions `num / den` that are open so far.
///
/// In a text of less than `2^16` characters the columns times the rows are fewer than that, so here `num * den < 2^16`,
/// and so is `num / den * i` for a row `i < 2^16`. As fixed-point numbers the ends are off by at most `num / 2^POINT`,
/// the product with `i` by less than `2^(32 - POINT)` of `1 / den`. That is too little to reach the next whole number.
#[derive(Debug, Clone, Copy)]
struct Gap {
    /// The lower end or a little more.
    low: u64,
    /// Less than the upper end, by a little.
    high: u64,
}

impl Gap {
    /// The whole quadrant, up to a column that no target reaches.
    const fn up_to(cols: usize) -> Self {
        Self { low: 0, high: below(cols as u64, 1) }
    }

    /// The last column of row `i` that does not lie in the gap because it is too near.
    fn before(self, i: usize) -> usize {
        index((self.low * i as u64) >> POINT)
    }

    /// The last column of row `i` that does not lie beyond the gap.
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

/// One quarter of the plane around a viewer, without the two lines that bound it.
#[derive(Debug, Clone, Copy)]
struct Quadrant {
    up: bool,
    side: Side,
}

/// Computes sights; keeps its working memory between calls.
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
    /// The cells visible from `from` on `field`, itself included; none if it lies outside.
    ///
    /// It is quickest on the field of the call before, and on one that differs from it in a few cells.
    ///
    /// Source: the requirements of the course's nuggets project, "Visibility".
    pub fn sight(&mut self, field: Field<'_>, from: Cell, vision: Vision) -> Sight {
        self.prepare(field);
        self.look(from, vision)
    }

    /// What the last sight took: words read and written, and gaps looked at. For tests, since it is the same everywhere.
    pub const fn work(&self) -> u64 {
        self.work
    }

    /// Gets ready for sights on `field`.
    pub(crate) fn prepare(&mut self, field: Field<'_>) {
        self.plane.update(field);
        self.seen.resize(self.plane.rows() * self.plane.words(), 0);
    }

    /// The sight from `from` on the field that was prepared last.
    pub(crate) fn look(&mut self, from: Cell, vision: Vision) -> Sight {
        self.work = 0;
        let Some(from) = self.plane.place(from.index()) else { return Sight::default() };
        let (row, col) = from;
        let cols = self.plane.cols();
        for (side, col) in [(Side::Right, col), (Side::Left, cols - 1 - col)] {
            let edge = col + vision.cols(0, cols - 1 - col);
            let own = self.plane.row(side, row);
            let last = find(col + 1, edge, &mut self.work, |word| own[word]);
            self.see(row, side, col, last + 1);
        }
        let (mut top, mut bottom) = (row, row);
        for up in [true, false] {
            let rows = vision.rows(if up { row } else { self.plane.rows() - 1 - row });
            let straight = self.light_column(from, up, rows);
            let right = self.light(Quadrant { up, side: Side::Right }, from, rows, vision);
            let left = self.light(Quadrant { up, side: Side::Left }, (row, cols - 1 - col), rows, vision);
            let far = straight.max(right).max(left);
            if up {
                top -= far;
            } else {
                bottom += far;
            }
        }
        self.collect(top, bottom)
    }

    // Marks what is visible straight up or down, and says how many rows away the last of it lies.
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

    // Marks the cells of one quadrant that are visible from `row` and `col`, which is counted from the quadrant's side,
    // and says how many rows away the last of them can lie.
    fn light(&mut self, quadrant: Quadrant, (row, col): (usize, usize), rows: usize, vision: Vision) -> usize {
        let Self { plane, seen, gaps, narrowed, work, .. } = self;
        let (cols, words) = (plane.cols() - 1 - col, plane.words());
        gaps.clear();
        gaps.push(Gap::up_to(cols + 1));
        let mut nearer = plane.row(quadrant.side, row);
        for i in 1..=rows {
            let at = if quadrant.up { row - i } else { row + i };
            let opaque = plane.row(quadrant.side, at);
            let seen = &mut seen[at * words..][..words];
            let edge = vision.cols(i, cols);
            let (to_low, to_high) = (above(1, i as u64), below(1, i as u64));
            narrowed.clear();
            for &gap in &*gaps {
                *work += 1;
                let before = gap.before(i);
                if before >= edge {
                    // So are the gaps that follow, in this row and in all that lie behind it.
                    break;
                }
                let Gap { mut low, mut high } = gap;
                let mut last = gap.last(i).min(edge);
                let from = gap.last(i - 1) + 1;
                // Mostly nothing is in the way.
                if find(col + from.min(before), col + last + 1, work, |word| opaque[word]) > col + last {
                    if last > before {
                        mark(seen, quadrant.side, col + before + 1, col + last + 1, plane.cols(), work);
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
                    mark(seen, quadrant.side, col + before + 1, col + visible + 1, plane.cols(), work);
                }
                // Each run that the gap touches takes a closed interval out of it. It is looked at one cell further than
                // the gap: if it goes on there, it closes the rest.
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
        let words = self.plane.words();
        mark(&mut self.seen[row * words..][..words], side, from, until, self.plane.cols(), &mut self.work);
    }

    // Makes a sight of the marks, which lie in the rows `top..=bottom` of the plane, and clears them.
    fn collect(&mut self, top: usize, bottom: usize) -> Sight {
        let words = self.plane.words();
        let seen = &mut self.seen[top * words..(bottom + 1) * words];
        self.work += seen.len() as u64;
        if self.plane.turned() {
            collect_turned(&mut self.builder, seen, words, top, self.plane.width());
        } else {
            let mut start = 0;
            let rows: usize = seen.len() / words;
            let row = |row: usize| &seen[row * words..][..words];
            for end in 1..=rows {
                if end == rows || row(end) != row(start) {
                    self.builder.band((top + start) * self.plane.width(), end - start, runs(row(start)));
                    start = end;
                }
            }
        }
        seen.fill(0);
        self.builder.finish(self.plane.width())
    }
}

// The rows of bits in `seen`, of `words` words each, are columns of the text, the first of them column `left`.
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
        // A bit for each row that is not like the one above it.
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

// Marks the columns `from..until`, counted from `side`, in a row of `cols` columns.
fn mark(row: &mut [u64], side: Side, from: usize, until: usize, cols: usize, work: &mut u64) {
    match side {
        Side::Right => fill(row, from, until, work),
        Side::Left => fill(row, cols - until, cols - from, work),
    }
}

// A number that is known to be small.
fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Position, ROOM};
    use alloc::{format, string::String};
    use proptest::prelude::*;

    /// The rule, word by word, one target at a time.
    fn oracle(grid: &Grid, from: Position, to: Position) -> bool {
        let room = |row: i64, col: i64| {
            let at = Position::new(u16::try_from(row).unwrap(), u16::try_from(col).unwrap());
            grid.at(grid.cell(at).unwrap()) == ROOM
        };
        let (pr, pc, r, c) = (i64::from(from.row), i64::from(from.col), i64::from(to.row), i64::from(to.col));
        for row in pr.min(r) + 1..pr.max(r) {
            // The sign of the distance is taken out, so that the division rounds down.
            let (num, den) = ((c - pc) * (row - pr) * (r - pr).signum(), (r - pr).abs());
            let col = pc + num.div_euclid(den);
            if !room(row, col) && (num % den == 0 || !room(row, col + 1)) {
                return false;
            }
        }
        for col in pc.min(c) + 1..pc.max(c) {
            let (num, den) = ((r - pr) * (col - pc) * (c - pc).signum(), (c - pc).abs());
            let row = pr + num.div_euclid(den);
            if !room(row, col) && (num % den == 0 || !room(row + 1, col)) {
                return false;
            }
        }
        true
    }

    fn grid(text: &str) -> Grid {
        Grid::parse(text.as_bytes()).unwrap().0
    }

    /// The map as seen from `@`, which stands on the character `under`.
    fn seen(map: &str, under: &str, radius: Option<u16>) -> String {
        let at = map.find('@').unwrap();
        let grid = grid(&map.replace('@', under));
        let from = Cell(u16::try_from(at).unwrap());
        let sight = Sighter::default().sight((&grid).into(), from, Vision { radius });
        let mut picture: Vec<u8> = grid.text().iter().map(|&byte| if byte == b'\n' { byte } else { b' ' }).collect();
        for range in sight.ranges() {
            picture[range.clone()].copy_from_slice(&grid.text()[range]);
        }
        picture[at] = b'@';
        String::from_utf8(picture).unwrap()
    }

    fn check(map: &str, under: &str, expected: &str) {
        assert_eq!(seen(map, under, None), expected, "\n{map}");
    }

    #[test]
    fn a_room_is_seen_with_its_walls_and_the_first_spot_of_a_passage() {
        check(
            "+-----+   \n|..@..|   \n|.....####\n+--#--+   \n   #      \n",
            ".",
            "+-----+   \n|..@..|   \n|.....#   \n+--#--+   \n          \n",
        );
    }

    #[test]
    fn from_a_passage_one_sees_the_neighbours_and_nothing_else() {
        check(
            "+---+      \n|...#####  \n+---+   @##\n        #  \n",
            "#",
            "           \n       ##  \n        @# \n        #  \n",
        );
    }

    #[test]
    fn from_the_door_one_sees_into_the_room_and_from_before_it_not() {
        check("+---+  \n|...|  \n|...@# \n+---+  \n", "#", "+---   \n|...|  \n|...@# \n+---+  \n");
        check("+---+  \n|...|  \n|...#@ \n+---+  \n", "#", "       \n    |  \n    #@ \n    +  \n");
    }

    #[test]
    fn a_corner_of_a_room_hides_what_is_behind_it() {
        check(
            "+------+\n|@.....|\n|..+---+\n|..|    \n|..+---+\n|......|\n+------+\n",
            ".",
            "+------+\n|@.....|\n|..+---+\n|..|    \n|..+    \n|...    \n+----   \n",
        );
    }

    #[test]
    fn between_two_gridpoints_one_room_spot_is_enough() {
        // A single pillar hides the cells exactly behind it; the segments that pass beside it are open.
        check(
            "+-------+\n|.......|\n|...+...|\n|...@...|\n+-------+\n",
            ".",
            "+--- ---+\n|... ...|\n|...+...|\n|...@...|\n+-------+\n",
        );
    }

    #[test]
    fn a_map_without_a_frame_is_seen_to_its_edges() {
        check("...\n.@.\n...\n", ".", "...\n.@.\n...\n");
        check("@\n", ".", "@\n");
        check("@..#.\n", ".", "@..# \n");
    }

    #[test]
    fn a_radius_limits_sight_but_not_to_less_than_the_neighbours() {
        let hall = format!("{}\n", ".........").repeat(4) + "....@....\n" + &format!("{}\n", ".........").repeat(4);
        let expected =
            "         \n    .    \n  .....  \n  .....  \n ...@... \n  .....  \n  .....  \n    .    \n         \n";
        assert_eq!(seen(&hall, ".", Some(3)), expected);
        assert_eq!(seen("...\n.@.\n...\n", ".", Some(1)), "...\n.@.\n...\n");
    }

    #[test]
    fn contains_agrees_with_cells() {
        let grid = grid("+---+\n|...|\n|.+.|\n+---+\n");
        let sight = Sighter::default().sight((&grid).into(), Cell(7), Vision::default());
        let cells: Vec<Cell> = sight.cells().collect();
        for offset in 0..u16::try_from(grid.text().len()).unwrap() {
            assert_eq!(sight.contains(Cell(offset)), cells.contains(&Cell(offset)), "{offset}");
        }
    }

    fn text(cells: &[char], cols: usize) -> String {
        cells.chunks_exact(cols).map(|row| row.iter().chain(['\n'].iter()).collect::<String>()).collect()
    }

    /// Maps of many and of few opaque cells, of a size of `sizes`.
    fn maps(sizes: impl Strategy<Value = (usize, usize)>) -> impl Strategy<Value = String> {
        let cell = prop_oneof![6 => Just('.'), 1 => Just('#'), 1 => Just('|'), 1 => Just(' ')];
        let sparse = prop_oneof![30 => Just('.'), 1 => Just('+')];
        (sizes, any::<bool>()).prop_flat_map(move |((rows, cols), few)| {
            let cells = if few { sparse.clone().boxed() } else { cell.clone().boxed() };
            prop::collection::vec(cells, rows * cols).prop_map(move |cells| text(&cells, cols))
        })
    }

    /// Long and thin either way, and longer than one, two or three words of bits.
    fn thin() -> impl Strategy<Value = (usize, usize)> {
        let long = prop_oneof![1..40usize, 60..70usize, 124..132usize, 188..196usize];
        (1..5usize, long, any::<bool>())
            .prop_map(|(short, long, tall)| if tall { (long, short) } else { (short, long) })
    }

    /// Halls of pillars that stand in a lattice.
    fn lattices() -> impl Strategy<Value = String> {
        let size = prop_oneof![(1..14usize, 1..18usize), (2..8usize, 62..68usize), (62..68usize, 2..8usize)];
        (size, 1..5usize, 1..5usize, 0..4usize, 0..4usize).prop_map(|((rows, cols), down, across, row, col)| {
            let pillar = |at: usize| (at / cols + row).is_multiple_of(down) && (at % cols + col).is_multiple_of(across);
            let cells: Vec<char> = (0..rows * cols).map(|at| if pillar(at) { '+' } else { '.' }).collect();
            text(&cells, cols)
        })
    }

    // From every cell to every cell, or on large maps from some of them.
    fn sight_is_the_rule(map: &str, radius: Option<u16>, cells: usize) -> Result<(), TestCaseError> {
        let Ok((grid, _)) = Grid::parse(map.as_bytes()) else { return Ok(()) };
        let mut sighter = Sighter::default();
        let places: Vec<Position> =
            (0..grid.rows()).flat_map(|row| (0..grid.cols()).map(move |col| Position::new(row, col))).collect();
        let step = (places.len() / cells).max(1);
        for &from in places.iter().step_by(step).chain(places.last()) {
            let sight = sighter.sight((&grid).into(), grid.cell(from).unwrap(), Vision { radius });
            for &to in &places {
                let (rows, cols) = (u32::from(from.row.abs_diff(to.row)), u32::from(from.col.abs_diff(to.col)));
                let near = radius.is_none_or(|radius| rows * rows + cols * cols <= u32::from(radius).pow(2));
                let expected = oracle(&grid, from, to) && (near || (rows <= 1 && cols <= 1));
                prop_assert_eq!(sight.contains(grid.cell(to).unwrap()), expected, "{} from {} to {}", grid, from, to);
            }
            // The cells are those that it contains, in order.
            let offsets = (0..).map(Cell).take(grid.text().len());
            let contained = offsets.filter(|&cell| sight.contains(cell));
            prop_assert!(sight.cells().eq(contained), "{} from {}", grid, from);
            prop_assert!(sight.ranges().all(|range| !grid.text()[range].contains(&b'\n')), "{} from {}", grid, from);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn sight_is_the_rule_from_every_cell(map in maps((1..14usize, 1..18usize)), radius in prop::option::of(1..6u16)) {
            sight_is_the_rule(&map, radius, usize::MAX)?;
        }

        #[test]
        fn sight_is_the_rule_on_long_and_on_tall_maps(map in maps(thin()), radius in prop::option::of(1..150u16)) {
            sight_is_the_rule(&map, radius, 12)?;
        }

        #[test]
        fn sight_is_the_rule_among_pillars(map in lattices(), radius in prop::option::weighted(0.2, 1..80u16)) {
            sight_is_the_rule(&map, radius, 40)?;
        }

        // What the sighter keeps of a field must not show on the next one.
        #[test]
        fn a_sighter_may_be_used_on_one_field_after_the_other(
            fields in prop::collection::vec(maps(prop_oneof![Just((5, 9)), Just((9, 5)), Just((10, 4)), (1..9usize, 1..9usize)]), 2..6),
        ) {
            let mut kept = Sighter::default();
            for map in fields {
                let Ok((grid, _)) = Grid::parse(map.as_bytes()) else { continue };
                let from = grid.room_spots()[0];
                let sight = kept.sight((&grid).into(), from, Vision::default());
                prop_assert_eq!(sight, Sighter::default().sight((&grid).into(), from, Vision::default()), "{}", grid);
            }
        }
    }

    // One room, as large as a map can be, from one end to the other. Looking at each cell once takes 65,000.
    #[test]
    fn a_long_room_costs_words_and_not_cells() {
        // Each word of the map is looked at, marked and taken together, some of them twice.
        const WORK: u64 = 5 * (u16::MAX as u64).div_ceil(WORD as u64) + 64;
        let wide = |rows: usize, cols: usize| format!("{}\n", ".".repeat(cols)).repeat(rows);
        for (rows, cols) in [(1, 65_498), (3, 21_002), (16_374, 3), (32_749, 1), (255, 255)] {
            let grid = grid(&wide(rows, cols));
            let mut sighter = Sighter::default();
            for &spot in grid.room_spots().iter().step_by(997).chain(grid.room_spots().last()) {
                let sight = sighter.sight((&grid).into(), spot, Vision::default());
                assert!(sight.ranges().map(|range| range.len()).sum::<usize>() == rows * cols);
                assert!(sighter.work() <= WORK, "{rows} x {cols} from {spot:?}: {}", sighter.work());
                assert!(sight.bytes() < 200, "{rows} x {cols} from {spot:?}: {}", sight.bytes());
            }
        }
    }

    #[test]
    fn sight_is_symmetric_between_room_spots() {
        let grid = grid(&"..|..+....\n.#....-..|\n....+.....\n".repeat(3));
        let sees = |from, to| Sighter::default().sight((&grid).into(), from, Vision::default()).contains(to);
        for &one in grid.room_spots() {
            for &two in grid.room_spots() {
                let (there, back) = (sees(one, two), sees(two, one));
                assert_eq!(there, back, "{} and {}", grid.position(one), grid.position(two));
            }
        }
    }
}
