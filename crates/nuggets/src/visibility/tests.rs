use super::*;
use crate::grid::{Grid, Position, ROOM};
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
    (1..5usize, long, any::<bool>()).prop_map(|(short, long, tall)| if tall { (long, short) } else { (short, long) })
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
