//! Who sees what: a pure function of the map and a place on it.
//!
//! From a spot one sees a gridpoint unless something blocks the straight segment between the two centres. Wherever the
//! segment crosses a row or column strictly between the two, the gridpoint there must be a room spot; if it crosses
//! between two neighbouring gridpoints, at least one of the two must be. Boundaries, rock and passage spots block; the
//! target itself may be anything.
//!
//! # How it is computed
//!
//! The plane around the viewer is eight octants. In one of them a target is `(i, j)`, `i` rows away along the octant's
//! axis and `0 <= j <= i` columns off it, and lies in the direction `j / i`. Row `k` is crossed at `j / i * k`. So a run
//! of opaque cells `a ..= b` in row `k` blocks exactly the closed interval of directions `a / k ..= b / k` for all rows
//! behind it. Columns are crossed as well: two opaque cells one behind the other, `(k - 1, m)` and `(k, m)`, block
//! `m / k ..= m / (k - 1)`. That interval begins inside the run of row `k` that holds `m` and can reach beyond the run's
//! end only for `m = b`, so each run still blocks one interval.
//!
//! What is left open after `k` rows is a short list of open intervals, the gaps. Each row is lit where the gaps are and
//! narrows them for the next. The work is proportional to what is seen, all numbers are integers, and an octant ends when
//! no gap is left.

use alloc::{boxed::Box, vec, vec::Vec};
use core::mem;

use crate::grid::{Cell, Grid, ROOM};

/// A stretch of cells that lie side by side in one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    start: u16,
    length: u16,
}

/// The cells that are visible from one spot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sight {
    stretches: Box<[Stretch]>,
}

impl Sight {
    /// Whether `cell` is visible.
    pub fn contains(&self, cell: Cell) -> bool {
        let after = self.stretches.partition_point(|stretch| stretch.start <= cell.0);
        after.checked_sub(1).is_some_and(|last| cell.0 - self.stretches[last].start < self.stretches[last].length)
    }

    /// The visible cells as ranges of offsets into the grid's text, ascending; none spans two rows.
    pub fn ranges(&self) -> impl Iterator<Item = core::ops::Range<usize>> {
        self.stretches.iter().map(|stretch| {
            let start = usize::from(stretch.start);
            start..start + usize::from(stretch.length)
        })
    }

    /// The visible cells, row by row.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        self.stretches.iter().flat_map(|stretch| (stretch.start..=stretch.start + (stretch.length - 1)).map(Cell))
    }

    /// Memory that it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.stretches)
    }
}

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Vision {
    /// The largest distance between two centres, in cells. The eight neighbours are visible at any radius.
    pub radius: Option<u16>,
}

impl Vision {
    fn reaches(self, i: i64, j: i64) -> bool {
        self.radius.is_none_or(|radius| (i <= 1 && j <= 1) || i * i + j * j <= i64::from(radius) * i64::from(radius))
    }

    fn rows(self) -> i64 {
        self.radius.map_or(i64::MAX, |radius| i64::from(radius).max(1))
    }
}

/// A direction `num / den` within an octant; `den` is positive.
#[derive(Debug, Clone, Copy)]
struct Slope {
    num: i64,
    den: i64,
}

impl Slope {
    const fn less(self, other: Self) -> bool {
        self.num * other.den < other.num * self.den
    }

    /// Where row `i` is crossed, rounded down.
    const fn floor_at(self, i: i64) -> i64 {
        (self.num * i).div_euclid(self.den)
    }

    /// Where row `i` is crossed, rounded up.
    const fn ceil_at(self, i: i64) -> i64 {
        -(-self.num * i).div_euclid(self.den)
    }
}

/// The directions strictly between two slopes, which are open so far.
#[derive(Debug, Clone, Copy)]
struct Gap {
    low: Slope,
    high: Slope,
}

/// One eighth of the plane around a viewer, in steps of text offsets.
#[derive(Debug, Clone, Copy)]
struct Octant {
    /// Offset of one row further from the viewer, along the axis.
    along: i64,
    /// Offset of one column further from the axis.
    aside: i64,
    /// Rows up to the grid's edge.
    rows: i64,
    /// Columns up to the grid's edge.
    cols: i64,
}

/// Computes sights; keeps its working memory between calls.
#[derive(Debug, Clone, Default)]
pub struct Sighter {
    // One bit for each offset of the text; all zero between calls.
    seen: Vec<u64>,
    gaps: Vec<Gap>,
    narrowed: Vec<Gap>,
}

impl Sighter {
    /// The cells visible from `from` on `field`, itself included; none if it lies outside.
    ///
    /// Source: the requirements of the course's nuggets project, "Visibility".
    pub fn sight(&mut self, field: Field<'_>, from: Cell, vision: Vision) -> Sight {
        let width = i64::from(field.cols) + 1;
        let origin = i64::from(from.0);
        let (row, col) = (origin / width, origin % width);
        if row >= i64::from(field.rows) || col >= i64::from(field.cols) {
            return Sight::default();
        }
        self.seen.resize(field.text.len().div_ceil(64), 0);
        self.see(origin, 1, 1);
        let (up, down) = (row, i64::from(field.rows) - 1 - row);
        let (left, right) = (col, i64::from(field.cols) - 1 - col);
        for (vertical, rows) in [(-width, up), (width, down)] {
            for (horizontal, cols) in [(-1, left), (1, right)] {
                let upright = Octant { along: vertical, aside: horizontal, rows, cols };
                let lying = Octant { along: horizontal, aside: vertical, rows: cols, cols: rows };
                self.light(field.text, origin, upright, vision);
                self.light(field.text, origin, lying, vision);
            }
        }
        self.collect()
    }

    // Marks the cells of one octant that are visible from `origin`.
    fn light(&mut self, text: &[u8], origin: i64, octant: Octant, vision: Vision) {
        let Octant { along, aside, rows, cols } = octant;
        // All offsets below lie in the grid: `i` and `j` are bounded by its edges.
        let opaque = |i: i64, j: i64| text.get(index(origin + i * along + j * aside)) != Some(&ROOM);
        self.gaps.clear();
        // Wider than the octant, so that the axis and the diagonal themselves lie strictly inside.
        self.gaps.push(Gap { low: Slope { num: -1, den: 1 }, high: Slope { num: 2, den: 1 } });
        for i in 1..=rows.min(vision.rows()) {
            let edge = i.min(cols);
            let mut gaps = mem::take(&mut self.gaps);
            let mut narrowed = mem::take(&mut self.narrowed);
            narrowed.clear();
            for gap in &gaps {
                let first = (gap.low.floor_at(i) + 1).max(0);
                let mut last = (gap.high.ceil_at(i) - 1).min(edge);
                while last >= first && !vision.reaches(i, last) {
                    last -= 1;
                }
                if first <= last {
                    self.see(origin + i * along + first * aside, aside, last - first + 1);
                }
                // Each run of opaque cells that the gap touches takes a closed interval out of it.
                let mut low = gap.low;
                let mut j = gap.low.floor_at(i).max(0);
                let end = gap.high.ceil_at(i).min(edge);
                while j <= end && low.less(gap.high) {
                    if !opaque(i, j) {
                        j += 1;
                        continue;
                    }
                    let begin = Slope { num: j, den: i };
                    while j < end && opaque(i, j + 1) {
                        j += 1;
                    }
                    let behind = j < i && i >= 2 && opaque(i - 1, j);
                    let finish = Slope { num: j, den: if behind { i - 1 } else { i } };
                    if low.less(begin) {
                        let high = if begin.less(gap.high) { begin } else { gap.high };
                        narrowed.push(Gap { low, high });
                    }
                    if low.less(finish) || !begin.less(low) {
                        low = finish;
                    }
                    j += 1;
                }
                if low.less(gap.high) {
                    narrowed.push(Gap { low, high: gap.high });
                }
            }
            mem::swap(&mut gaps, &mut narrowed);
            (self.gaps, self.narrowed) = (gaps, narrowed);
            if self.gaps.is_empty() {
                break;
            }
        }
    }

    fn see(&mut self, first: i64, step: i64, count: i64) {
        if step.abs() == 1 {
            // Side by side: whole words at a time.
            let start = index(if step == 1 { first } else { first - (count - 1) });
            let end = start + index(count);
            let (low, high) = (start / 64, (end - 1) / 64);
            for word in low..=high {
                let from = if word == low { start % 64 } else { 0 };
                let to = if word == high { (end - 1) % 64 } else { 63 };
                self.seen[word] |= (u64::MAX << from) & (u64::MAX >> (63 - to));
            }
            return;
        }
        let mut at = first;
        for _ in 0..count {
            self.seen[index(at) / 64] |= 1 << (index(at) % 64);
            at += step;
        }
    }

    // Turns the marks into stretches and clears them. Newlines are never marked, so no stretch spans two rows.
    fn collect(&mut self) -> Sight {
        let mut stretches: Vec<Stretch> = vec![];
        for (word, bits) in self.seen.iter_mut().enumerate() {
            let mut left = mem::take(bits);
            while left != 0 {
                let from = left.trailing_zeros();
                let length = (!(left >> from)).trailing_zeros();
                let start = u16::try_from(word * 64).unwrap_or(u16::MAX) + u16::try_from(from).unwrap_or(0);
                let length16 = u16::try_from(length).unwrap_or(0);
                match stretches.last_mut() {
                    Some(last) if last.start + last.length == start => last.length += length16,
                    _ => stretches.push(Stretch { start, length: length16 }),
                }
                left = if from + length >= 64 { 0 } else { left & (u64::MAX << (from + length)) };
            }
        }
        Sight { stretches: stretches.into() }
    }
}

// An offset that is known to be within a text.
fn index(offset: i64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Position;
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

    fn maps() -> impl Strategy<Value = String> {
        let cell = prop_oneof![6 => Just('.'), 1 => Just('#'), 1 => Just('|'), 1 => Just(' ')];
        let sparse = prop_oneof![30 => Just('.'), 1 => Just('+')];
        let size = (1..14usize, 1..18usize);
        let text = |cells: Vec<char>, cols: usize| {
            let rows: Vec<String> = cells.chunks_exact(cols).map(|row| row.iter().collect()).collect();
            rows.join("\n") + "\n"
        };
        (size, any::<bool>()).prop_flat_map(move |((rows, cols), few)| {
            let cells = if few { sparse.clone().boxed() } else { cell.clone().boxed() };
            prop::collection::vec(cells, rows * cols).prop_map(move |cells| text(cells, cols))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn sight_is_the_rule_from_every_cell(map in maps(), radius in prop::option::of(1..6u16)) {
            let Ok((grid, _)) = Grid::parse(map.as_bytes()) else { return Ok(()) };
            let mut sighter = Sighter::default();
            let places: Vec<Position> =
                (0..grid.rows()).flat_map(|row| (0..grid.cols()).map(move |col| Position::new(row, col))).collect();
            for &from in &places {
                let sight = sighter.sight((&grid).into(), grid.cell(from).unwrap(), Vision { radius });
                for &to in &places {
                    let (rows, cols) = (from.row.abs_diff(to.row), from.col.abs_diff(to.col));
                    let near = radius.is_none_or(|radius| rows * rows + cols * cols <= radius * radius);
                    let expected = oracle(&grid, from, to) && (near || (rows <= 1 && cols <= 1));
                    prop_assert_eq!(sight.contains(grid.cell(to).unwrap()), expected, "{} from {} to {}", grid, from, to);
                }
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
