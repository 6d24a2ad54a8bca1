//! Pictures, drawn by hand and computed by a literal version of the rule.

use nuggets::{
    Cell, Grid, Position,
    visibility::{Sighter, Vision},
};
use proptest::prelude::*;

use crate::{maps::map, table::plain};

/// The literal rule for one target. Places are (row, column).
fn visible(map: &[Vec<u8>], from: (i64, i64), to: (i64, i64), radius: Option<u16>) -> bool {
    let room = |row: i64, col: i64| {
        let cell = usize::try_from(row).ok().zip(usize::try_from(col).ok());
        cell.and_then(|(row, col)| map.get(row)?.get(col)) == Some(&b'.')
    };
    let ((pr, pc), (r, c)) = (from, to);
    let is_near = radius.is_none_or(|radius| (r - pr).pow(2) + (c - pc).pow(2) <= i64::from(radius).pow(2));
    // The line crosses a row `part / whole` columns aside, rounded down.
    let crossing = |part: i64, whole: i64| {
        let (part, whole) = (part * whole.signum(), whole.abs());
        (part.div_euclid(whole), part.rem_euclid(whole) == 0)
    };
    (is_near || (r - pr).abs().max((c - pc).abs()) <= 1)
        && (pr.min(r) + 1..pr.max(r)).all(|row| {
            let (cols, exact) = crossing((c - pc) * (row - pr), r - pr);
            room(row, pc + cols) || !exact && room(row, pc + cols + 1)
        })
        && (pc.min(c) + 1..pc.max(c)).all(|col| {
            let (rows, exact) = crossing((r - pr) * (col - pc), c - pc);
            room(pr + rows, col) || !exact && room(pr + rows + 1, col)
        })
}

fn rows_of(map: &str) -> Vec<Vec<u8>> {
    map.lines().map(|row| row.as_bytes().to_vec()).collect()
}

// Returns the pictures by the literal rule and by the server.
fn pictures(map: &str, at: (usize, usize), radius: Option<u16>) -> (String, String) {
    let rows = rows_of(map);
    let (grid, _) = Grid::parse(map.as_bytes()).unwrap();
    let short = |number: usize| u16::try_from(number).unwrap();
    let long = |number: usize| i64::try_from(number).unwrap();
    let from = grid.cell(Position::new(short(at.0), short(at.1))).unwrap();
    let sight = Sighter::default().sight((&grid).into(), from, Vision { radius });
    let (mut slow, mut fast) = (String::new(), String::new());
    for (row, line) in rows.iter().enumerate() {
        for (col, &byte) in line.iter().enumerate() {
            let cell: Cell = grid.cell(Position::new(short(row), short(col))).unwrap();
            let shown = |seen: bool| match seen {
                _ if (row, col) == at => '@',
                true => char::from(byte),
                false => ' ',
            };
            slow.push(shown(visible(&rows, (long(at.0), long(at.1)), (long(row), long(col)), radius)));
            fast.push(shown(sight.contains(cell)));
        }
        slow.push('\n');
        fast.push('\n');
    }
    (slow, fast)
}

/// Checks a map drawn beside the picture of a player at `@`.
#[track_caller]
fn check(drawn: &str) {
    let mut sides = [String::new(), String::new()];
    for row in drawn.lines().filter(|row| row.contains('[')) {
        for (side, row) in sides.iter_mut().zip(row.split('[').skip(1)) {
            *side += row.trim_end().strip_suffix(']').expect("a row in brackets");
            side.push('\n');
        }
    }
    let [map, picture] = sides;
    check_picture(&map, &picture, None);
}

#[track_caller]
fn check_picture(map: &str, picture: &str, radius: Option<u16>) {
    let at = picture.find('@').expect("somebody looks");
    let row = picture[..at].matches('\n').count();
    let col = at - picture[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let (slow, fast) = pictures(map, (row, col), radius);
    assert!(slow == picture, "--- drawn\n{picture}\n--- the rule\n{slow}");
    assert!(fast == picture, "--- drawn\n{picture}\n--- the server\n{fast}");
}

macro_rules! sights {
    ($($name:ident: $($drawn:literal),+;)*) => {$(
        #[test]
        fn $name() {
            $(check($drawn);)+
        }
    )*};
}

sights! {
    passage_spots_block_sight: "[...#...] [..@#   ]", "[...#...] [...@...]", "
        [#######]  [###    ]
        [#.   .#]  [#@     ]
        [#######]  [###    ]
    ";

    // Half a step beside the pillar, the line passes between it and a room spot.
    one_room_spot_of_two_is_enough: "
        [.....]  [.. ..]
        [..+..]  [..+..]
        [.....]  [..@..]
    ", "
        [.....]  [     ]
        [.+-+.]  [.+-+.]
        [.....]  [..@..]
    ";

    // On the way to (5, 2) and (4, 2) the line crosses the wall's column between its two cells, or on one of them.
    sight_does_not_pass_between_two_cells_of_a_wall: "
        [....]  [@...]
        [....]  [....]
        [.|..]  [.|..]
        [.|..]  [.|..]
        [....]  [.. .]
        [....]  [.. .]
    ";

    diagonal_walls_leave_only_the_diagonal_visible: "
        [.| .]  [@|  ]
        [-.| ]  [-.| ]
        [ -.|]  [ -.|]
        [. -.]  [  -.]
    ";
}

transcripts! {
    // In the passage Alice sees only the next spots.
    known_cells_remain_shown: plain("..A###.7") => "
        Alice > KEY l
            Alice < DISPLAY [...@#   ]
        Alice > KEY l
            Alice < DISPLAY [...#@#  ]
        Alice > KEY l
            Alice < DISPLAY [...##@.*]
        Alice > KEY l
            Alice < DISPLAY [...###@*]
    ";

    remembered_gold_is_shown_as_bare_map: plain("3.A##.4") => "
        Alice > KEY l
            Alice < DISPLAY [*..@#  ]
        Alice > KEY l
            Alice < DISPLAY [...#@.*]
    ";

    a_cell_left_behind_is_bare_map: plain("A3##.4") => "
        Alice types l
        Alice > KEY l
            Alice < DISPLAY [..@#  ]
        Alice > KEY l
            Alice < DISPLAY [..#@.*]
    ";
}

#[test]
fn a_radius_limits_sight_but_not_to_less_than_the_neighbours() {
    let disc = "         \n    .    \n  .....  \n  .....  \n ...@... \n  .....  \n  .....  \n    .    \n         \n";
    check_picture(&".........\n".repeat(9), disc, Some(3));
    check_picture("...\n...\n...\n", "...\n.@.\n...\n", Some(1));
}

/// Nine kinds of places.
#[test]
fn pictures_of_the_first_map() {
    let map = map("main").to_string();
    let (height, width) = (map.lines().count(), map.find('\n').unwrap());
    let pictures = include_str!("../data/pictures.txt").split("\n= ").skip(1);
    assert_eq!(pictures.clone().count(), 9);
    for picture in pictures {
        let (_title, picture) = picture.split_once('\n').unwrap();
        // The file omits trailing blanks and trailing blank rows.
        let rows = picture.lines().chain(std::iter::repeat("")).take(height);
        let picture = rows.fold(String::new(), |picture, row| picture + &format!("{row:<width$}\n"));
        check_picture(&map, &picture, None);
    }
}

#[test]
fn server_sight_follows_the_rule_on_project_maps() {
    for name in ["main", "brawl", "shaft", "edges", "donuts"] {
        sight_is_the_rule(&map(name).to_string(), None, usize::MAX).unwrap();
    }
}

fn text(cells: &[char], cols: usize) -> String {
    cells.chunks_exact(cols).map(|row| row.iter().chain(['\n'].iter()).collect::<String>()).collect()
}

fn maps(sizes: impl Strategy<Value = (usize, usize)>) -> impl Strategy<Value = String> {
    let cell = prop_oneof![6 => Just('.'), 1 => Just('#'), 1 => Just('|'), 1 => Just(' ')];
    let sparse = prop_oneof![30 => Just('.'), 1 => Just('+')];
    (sizes, any::<bool>()).prop_flat_map(move |((rows, cols), few)| {
        let cells = if few { sparse.clone().boxed() } else { cell.clone().boxed() };
        prop::collection::vec(cells, rows * cols).prop_map(move |cells| text(&cells, cols))
    })
}

/// Long and thin, and longer than one, two or three words of bits.
fn thin() -> impl Strategy<Value = (usize, usize)> {
    let long = prop_oneof![1..40usize, 60..70usize, 124..132usize, 188..196usize];
    (1..5usize, long, any::<bool>()).prop_map(|(short, long, tall)| if tall { (long, short) } else { (short, long) })
}

fn lattices() -> impl Strategy<Value = String> {
    let size = prop_oneof![(1..14usize, 1..18usize), (2..8usize, 62..68usize), (62..68usize, 2..8usize)];
    (size, 1..5usize, 1..5usize, 0..4usize, 0..4usize).prop_map(|((rows, cols), down, across, row, col)| {
        let pillar = |at: usize| (at / cols + row).is_multiple_of(down) && (at % cols + col).is_multiple_of(across);
        let cells: Vec<char> = (0..rows * cols).map(|at| if pillar(at) { '+' } else { '.' }).collect();
        text(&cells, cols)
    })
}

fn sight_is_the_rule(map: &str, radius: Option<u16>, cells: usize) -> Result<(), TestCaseError> {
    let Ok((grid, _)) = Grid::parse(map.as_bytes()) else { return Ok(()) };
    let (rows, mut sighter) = (rows_of(&grid.to_string()), Sighter::default());
    let places: Vec<Cell> =
        (0..).map(Cell).zip(grid.text()).filter(|&(_, &byte)| byte != b'\n').map(|at| at.0).collect();
    let place = |cell| {
        let Position { row, col } = grid.position(cell);
        (row.into(), col.into())
    };
    let step = (places.len() / cells).max(1);
    for &from in places.iter().step_by(step).chain(places.last()) {
        let sight = sighter.sight((&grid).into(), from, Vision { radius });
        for &to in &places {
            let expected = visible(&rows, place(from), place(to), radius);
            prop_assert_eq!(sight.contains(to), expected, "{} from {:?} to {:?}", grid, from, to);
        }
        let offsets = (0..).map(Cell).take(grid.text().len());
        prop_assert!(sight.cells().eq(offsets.filter(|&cell| sight.contains(cell))), "{} from {:?}", grid, from);
        prop_assert!(sight.ranges().all(|range| !grid.text()[range].contains(&b'\n')), "{} from {:?}", grid, from);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn sight_follows_rule_from_every_cell(map in maps((1..14usize, 1..18usize)), radius in prop::option::of(1..6u16)) {
        sight_is_the_rule(&map, radius, usize::MAX)?;
    }

    #[test]
    fn sight_follows_rule_on_long_and_tall_maps(map in maps(thin()), radius in prop::option::of(1..150u16)) {
        sight_is_the_rule(&map, radius, 12)?;
    }

    #[test]
    fn sight_follows_rule_among_pillars(map in lattices(), radius in prop::option::weighted(0.2, 1..80u16)) {
        sight_is_the_rule(&map, radius, 40)?;
    }

    // The sighter caches a field.
    #[test]
    fn sighter_returns_the_same_sights_after_other_fields(
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
