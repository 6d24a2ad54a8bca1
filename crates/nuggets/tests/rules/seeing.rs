//! Pictures: what is visible from where, drawn by hand and worked out by the words of the rule.

use nuggets::{
    Cell, Grid, Position,
    visibility::{Sighter, Vision},
};

/// Whether one sees from `from` to `to` (row, column) on a map of these rows: the rule, without a division.
///
/// `side(row, col)` is positive on one side of the straight line, negative on the other and 0 on it. So the line
/// crosses a row on a gridpoint where it is 0, and between two gridpoints where it has different signs.
pub(crate) fn visible(map: &[Vec<u8>], from: (i64, i64), to: (i64, i64)) -> bool {
    let room = |row: i64, col: i64| {
        let cell = usize::try_from(row).ok().zip(usize::try_from(col).ok());
        cell.and_then(|(row, col)| map.get(row)?.get(col)) == Some(&b'.')
    };
    let side = |row: i64, col: i64| (to.1 - from.1) * (row - from.0) - (col - from.1) * (to.0 - from.0);
    let rows = (from.0.min(to.0), from.0.max(to.0));
    let cols = (from.1.min(to.1), from.1.max(to.1));
    for row in rows.0 + 1..rows.1 {
        for col in cols.0..=cols.1 {
            if side(row, col) == 0 && !room(row, col) {
                return false;
            }
            if side(row, col) * side(row, col + 1) < 0 && !room(row, col) && !room(row, col + 1) {
                return false;
            }
        }
    }
    for col in cols.0 + 1..cols.1 {
        for row in rows.0..=rows.1 {
            if side(row, col) == 0 && !room(row, col) {
                return false;
            }
            if side(row, col) * side(row + 1, col) < 0 && !room(row, col) && !room(row + 1, col) {
                return false;
            }
        }
    }
    true
}

/// The rows of a map.
pub(crate) fn rows_of(map: &str) -> Vec<Vec<u8>> {
    map.lines().map(|row| row.as_bytes().to_vec()).collect()
}

// What is seen from (row, column), as a picture: by the rule's words and as the server computes it.
fn pictures(map: &str, at: (usize, usize)) -> (String, String) {
    let rows = rows_of(map);
    let (grid, _) = Grid::parse(map.as_bytes()).unwrap();
    let short = |number: usize| u16::try_from(number).unwrap();
    let long = |number: usize| i64::try_from(number).unwrap();
    let from = grid.cell(Position::new(short(at.0), short(at.1))).unwrap();
    let sight = Sighter::default().sight((&grid).into(), from, Vision::default());
    let (mut slow, mut fast) = (String::new(), String::new());
    for (row, line) in rows.iter().enumerate() {
        for (col, &byte) in line.iter().enumerate() {
            let cell: Cell = grid.cell(Position::new(short(row), short(col))).unwrap();
            let shown = |seen: bool| match seen {
                _ if (row, col) == at => '@',
                true => char::from(byte),
                false => ' ',
            };
            slow.push(shown(visible(&rows, (long(at.0), long(at.1)), (long(row), long(col)))));
            fast.push(shown(sight.contains(cell)));
        }
        slow.push('\n');
        fast.push('\n');
    }
    (slow, fast)
}

/// A map, and beside it the picture of one who stands where `@` is.
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
    check_picture(&map, &picture);
}

#[track_caller]
fn check_picture(map: &str, picture: &str) {
    let at = picture.find('@').expect("somebody looks");
    let row = picture[..at].matches('\n').count();
    let col = at - picture[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let (slow, fast) = pictures(map, (row, col));
    assert!(slow == picture, "--- drawn\n{picture}\n--- the rule\n{slow}");
    assert!(fast == picture, "--- drawn\n{picture}\n--- the server\n{fast}");
}

#[test]
fn a_room_is_seen_whole_with_its_walls_and_doors() {
    check(
        "
        [+----#--+   ]  [+----#--+   ]
        [|.......|   ]  [|.......|   ]
        [|.......####]  [|.....@.#   ]
        [|.......|   ]  [|.......|   ]
        [+--#----+   ]  [+--#----+   ]
        [   ###      ]  [            ]
        ",
    );
}

#[test]
fn from_a_door_the_room_is_seen() {
    // Along the wall in which the door stands nothing but its two neighbours: the wall itself is in the way.
    check(
        "
        [+----+   ]  [+----    ]
        [|....|   ]  [|....|   ]
        [|....### ]  [|....@#  ]
        [|....|   ]  [|....|   ]
        [+----+   ]  [+----    ]
        ",
    );
}

#[test]
fn from_before_the_door_the_room_is_not_seen() {
    check(
        "
        [+----+   ]  [         ]
        [|....|   ]  [     |   ]
        [|....### ]  [     #@# ]
        [|....|   ]  [     |   ]
        [+----+   ]  [         ]
        ",
    );
}

#[test]
fn passage_spots_block_sight() {
    check("[...#...] [..@#   ]");
    check("[...#...] [...@...]");
    check(
        "
        [#######]  [###    ]
        [#.   .#]  [#@     ]
        [#######]  [###    ]
        ",
    );
}

#[test]
fn in_a_passage_the_neighbours_are_seen_and_nothing_else() {
    check("[#######.] [  #@#   ]");
    check(
        "
        [.##  ]  [ ##  ]
        [  #  ]  [  @  ]
        [  ###]  [  ## ]
        ",
    );
}

#[test]
fn at_a_fork_all_branches_begin_to_be_seen() {
    check(
        "
        [   #   ]  [       ]
        [   #   ]  [   #   ]
        [#######]  [  #@#  ]
        [   #   ]  [   #   ]
        [   ###.]  [       ]
        ",
    );
}

#[test]
fn a_corner_hides_the_other_arm_of_a_room() {
    // Looking down: at row 3 the lines through (2, 3) are cut off, those through (3, 2) and (4, 2) are open.
    check(
        "
        [+--------+]  [+--------+]
        [|........|]  [|@.......|]
        [|..+-----+]  [|..+-----+]
        [|..|      ]  [|..|      ]
        [|..+-----+]  [|..+      ]
        [|........|]  [|...      ]
        [+--------+]  [+----     ]
        ",
    );
}

#[test]
fn around_a_hole_nothing_is_seen_through_it() {
    check(
        "
        [+---------+]  [+---------+]
        [|.........|]  [|.........|]
        [|.........|]  [|....@....|]
        [|...+-+...|]  [|...+-+...|]
        [|...+-+...|]  [|..     ..|]
        [|.........|]  [|.       .|]
        [|.........|]  [|         |]
        [+---------+]  [           ]
        ",
    );
}

#[test]
fn one_room_spot_of_two_is_enough() {
    // Half a step aside of the pillar the line passes between it and a room spot.
    check(
        "
        [.....]  [.. ..]
        [..+..]  [..+..]
        [.....]  [..@..]
        ",
    );
    // Between two that block it is closed.
    check(
        "
        [.....]  [     ]
        [.+-+.]  [.+-+.]
        [.....]  [..@..]
        ",
    );
}

#[test]
fn nobody_looks_through_between_two_stones_of_a_wall() {
    // On the way to (5, 2) and (4, 2) the line crosses the wall's column between its two stones, or on one of them.
    check(
        "
        [....]  [@...]
        [....]  [....]
        [.|..]  [.|..]
        [.|..]  [.|..]
        [....]  [.. .]
        [....]  [.. .]
        ",
    );
}

#[test]
fn between_two_diagonal_walls_one_looks_along_the_diagonal_only() {
    check(
        "
        [.| .]  [@|  ]
        [-.| ]  [-.| ]
        [ -.|]  [ -.|]
        [. -.]  [  -.]
        ",
    );
}

#[test]
fn a_map_may_touch_the_edges() {
    check(
        "
        [....]  [@...]
        [....]  [....]
        [..#.]  [..#.]
        ",
    );
}

const MAPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/");

/// Nine kinds of places on the first map of this project.
#[test]
fn pictures_of_the_first_map() {
    let map = std::fs::read_to_string(format!("{MAPS}main.txt")).unwrap();
    let (height, width) = (map.lines().count(), map.find('\n').unwrap());
    let pictures = include_str!("../data/pictures.txt").split("\n= ").skip(1);
    assert_eq!(pictures.clone().count(), 9);
    for picture in pictures {
        let (_title, picture) = picture.split_once('\n').unwrap();
        // The file leaves out what is blank at the ends of rows and below the last.
        let rows = picture.lines().chain(std::iter::repeat("")).take(height);
        let picture = rows.fold(String::new(), |picture, row| picture + &format!("{row:<width$}\n"));
        check_picture(&map, &picture);
    }
}

#[test]
fn what_the_server_computes_is_the_rule_from_every_spot() {
    for name in ["main", "brawl", "shaft", "edges", "donuts"] {
        let map = std::fs::read_to_string(format!("{MAPS}{name}.txt")).unwrap();
        let spots = map.lines().enumerate().flat_map(|(row, line)| {
            line.bytes().enumerate().filter(|(_, byte)| b".#".contains(byte)).map(move |(col, _)| (row, col))
        });
        for at in spots {
            let (slow, fast) = pictures(&map, at);
            assert!(slow == fast, "{name} from {at:?}\n--- the rule\n{slow}\n--- the server\n{fast}");
        }
    }
}
