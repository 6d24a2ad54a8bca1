use nuggets::{Grid, check_map, game::MAX_PLAYERS, protocol::MAX_DATAGRAM};

const MAPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../maps/");

#[track_caller]
fn check(map: &str, expected: &[&str]) {
    let found: Vec<String> = check_map(map.as_bytes()).breaches.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "\n{map}");
}

/// A sketch, its rows in brackets, above an unconnected hall with enough spots for all players.
fn above_a_hall(sketch: &str) -> String {
    let rows = sketch.lines().filter_map(|row| row.trim().strip_prefix('[')?.strip_suffix(']'));
    let floor = ["|..........|"; 6];
    let hall = ["", "+----------+"].into_iter().chain(floor).chain(["+----------+"]);
    rows.chain(hall).fold(String::new(), |map, row| map + &format!("{row:<12}\n"))
}

/// Expects these breaches, apart from the missing connection to the hall.
#[track_caller]
fn check_sketch(sketch: &str, expected: &[(usize, usize, &str)]) {
    let map = above_a_hall(sketch);
    let mut found: Vec<String> = check_map(map.as_bytes()).breaches.iter().map(ToString::to_string).collect();
    found.retain(|breach| !breach.contains("cannot be reached"));
    let expected: Vec<String> =
        expected.iter().map(|(row, col, what)| format!("row {row}, column {col}: {what}")).collect();
    assert_eq!(found, expected, "\n{map}");
}

const ROCK: &str = "the room is open to solid rock: boundaries must close it, corners too";
const EDGE: &str = "the room is open to the edge of the map: a boundary must close it";
const CORNER: &str = "a corner joins no two boundaries: '+' has one beside it and one above or below";
const HORIZONTAL_ENDS: &str =
    "a horizontal boundary ends without a corner: '-' continues as '-', '+' or '#' on both sides";
const HORIZONTAL_MEETS: &str = "a horizontal boundary meets a vertical one outside a corner: use '+'";
const VERTICAL_ENDS: &str = "a vertical boundary ends without a corner: '|' continues as '|', '+' or '#' above and \
    below";
const VERTICAL_MEETS: &str = "a vertical boundary meets a horizontal one outside a corner: use '+'";
const WIDE: &str = "a passage is two spots wide here: one is allowed";
const DIAGONAL: &str = "a passage turns diagonally: it must go straight or bend at a right angle";
const NO_DOOR: &str = "a passage opens into a room without breaking a wall: '#' must be in the boundary, one spot wide";
const BROKEN_CORNER: &str = "a passage breaks a corner: it may break a wall only";

fn maps() -> Vec<(String, Vec<u8>)> {
    let mut maps: Vec<_> = std::fs::read_dir(MAPS).unwrap().map(|entry| entry.unwrap().path()).collect();
    maps.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    maps.sort();
    let name = |path: &std::path::Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    maps.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

pub(crate) fn map(name: &str) -> Grid {
    let text = std::fs::read(format!("{MAPS}{name}.txt")).unwrap();
    Grid::parse(&text).unwrap().0
}

#[test]
fn unplayable_maps_are_refused() {
    check("", &["the map is empty"]);
    check("\n\n\n", &["the map is empty"]);
    check("\r\n", &["the map is empty"]);
    check("   \n   \n", &["the map has no room spot ('.'), so neither gold nor players have a place"]);
    check("+--+\n|##|\n+--+\n", &["the map has no room spot ('.'), so neither gold nor players have a place"]);
    check(
        "##A##\n##*##\n\t####\n",
        &[
            "row 1, column 3: 'A' is not a map character; expected ' ' '-' '|' '+' '.' '#'",
            "row 2, column 3: '*' is not a map character; expected ' ' '-' '|' '+' '.' '#'",
            "row 3, column 1: '\\t' is not a map character; expected ' ' '-' '|' '+' '.' '#'",
            "the map has no room spot ('.'), so neither gold nor players have a place",
        ],
    );
    // Foreign characters are treated as rock, and the rest is checked as well.
    check(
        "..\0\n",
        &[
            "row 1, column 3: '\\x00' is not a map character; expected ' ' '-' '|' '+' '.' '#'",
            "2 room spots are too few: 26 players and 30 piles need 56",
            &format!("row 1, column 1: {EDGE}"),
            &format!("row 1, column 2: {EDGE}"),
        ],
    );
    let found = check_map(b"..x\n.\t.\nx..\n").to_string();
    let foreign: Vec<&str> = found.lines().filter_map(|line| line.split_once(": '").map(|at| at.0)).collect();
    assert_eq!(foreign, ["row 1, column 3", "row 2, column 2", "row 3, column 1"]);
    assert!(found.contains("room spots are too few"), "and the rest is found as well");
    assert_eq!(check_map(&[1; 5_000]).breaches.len(), 100);
    // 256 rows of 255 columns make 8 + 256 * 256 bytes.
    check(
        &(".".repeat(255) + "\n").repeat(256),
        &["the map is too large: 256 rows of 255 columns make a DISPLAY of 65544 bytes, at most 65507 fit a datagram"],
    );
}

#[test]
fn largest_map_that_fits_a_datagram_is_accepted() {
    // 8 + 233 * 281 bytes is 65,481; one row more does not fit, nor one column.
    let fits = |rows: usize, cols: usize| Grid::parse((".".repeat(cols) + "\n").repeat(rows).as_bytes()).is_ok();
    assert!(fits(233, 280) && !fits(234, 280) && !fits(233, 281));
    // 65,499 is 3 * 7 * 3,119: exactly the limit.
    assert!(fits(21, 3_118) && fits(1, 65_498) && !fits(1, 65_499) && !fits(65_499, 1));
}

#[test]
fn map_errors_are_corrected_and_reported() {
    let hall = above_a_hall("");
    check(&hall, &[]);
    check(&hall.replace('\n', "\r\n"), &["9 carriage returns were dropped; the first is in row 1"]);
    check(hall.trim_end_matches('\n'), &["row 9, the last one, does not end in a newline"]);
    check(
        &hall.replacen("            ", "  ", 1),
        &["row 1 is 2 columns wide, expected 12; it was filled up with spaces"],
    );
    let ragged = check_map(hall.replacen("+\n", "\n", 1).as_bytes()).to_string();
    assert!(ragged.contains("\nrow 2 is 11 columns wide, expected 12; it was filled up with spaces\n"), "{ragged}");
}

#[test]
fn too_few_room_spots() {
    check("+-+\n|.|\n+-+\n", &["1 room spots are too few: 26 players and 30 piles need 56"]);
    let hall = |cols: usize| format!("+{0}+\n|{1}|\n+{0}+\n", "-".repeat(cols), ".".repeat(cols));
    check(&hall(55), &["55 room spots are too few: 26 players and 30 piles need 56"]);
    check(&hall(56), &[]);
}

macro_rules! sketches {
    ($($name:ident: $($sketch:literal => $breaches:expr),+;)*) => {$(
        #[test]
        fn $name() {
            $(check_sketch($sketch, &$breaches);)+
        }
    )*};
}

sketches! {
    a_room_without_a_wall: "
        [+--+]
        [|.. ]
        [+--+]
    " => [(1, 4, CORNER), (2, 3, ROCK), (3, 4, CORNER)];

    a_room_at_the_edge_of_the_map_needs_its_wall_as_well: "
        [         +--]
        [         |..]
        [         +--]
    " => [(1, 12, HORIZONTAL_ENDS), (2, 12, EDGE), (3, 12, HORIZONTAL_ENDS)];

    a_wall_that_ends_in_a_room: "
        [+---+]
        [|.|.|]
        [|...|]
        [+---+]
    " => [(1, 3, HORIZONTAL_MEETS), (2, 3, VERTICAL_ENDS)];

    boundaries_side_by_side: "[|-|]" => [
        (1, 1, VERTICAL_ENDS), (1, 1, VERTICAL_MEETS), (1, 2, HORIZONTAL_ENDS),
        (1, 3, VERTICAL_ENDS), (1, 3, VERTICAL_MEETS),
    ];

    passages_of_more_than_one_spot: "
        [###]
        [###]
        [###]
    " => [(1, 1, WIDE), (1, 2, WIDE), (2, 1, WIDE), (2, 2, WIDE)], "
        [# #]
        [###]
        [# #]
    " => [];

    passages_that_zigzag: "
        [# ]
        [ #]
        [# ]
    " => [(1, 1, DIAGONAL), (2, 2, DIAGONAL)];

    doors_in_corners_and_side_by_side: "
        [+--##]
        [|..| ]
        [+--+ ]
    " => [(1, 4, BROKEN_CORNER)], "
        [+###+]
        [|...|]
        [+---+]
    " => [(1, 2, NO_DOOR), (1, 3, NO_DOOR), (1, 4, NO_DOOR)];

    a_passage_that_goes_on_inside_a_room: "
        [+--+ ]
        [|.###]
        [|..| ]
        [+--+ ]
    " => [(2, 3, NO_DOOR)];

    // A shared wall with a door, a hole, doors, bends, a loop, dead ends, and three edges of the map.
    proper_drawings_keep_all_rules: "
        [+--+-----+##]
        [|..#.....| #]
        [+--+.++..###]
        [   |.++..| #]
        [#  |.....| #]
        [#  +-#---+ #]
        [######    ##]
    " => [];
}

#[test]
fn spots_that_cannot_be_reached() {
    check(
        &above_a_hall(
            "
            [+-+  +--+]
            [|.|  |..|]
            [+-+  +--+]
            [         ]
            [    ###  ]
            ",
        ),
        &[
            "row 2, column 2: this spot cannot be reached from the others",
            "row 2, column 7: this spot and 1 more cannot be reached from the others",
            "row 5, column 5: this spot and 2 more cannot be reached from the others",
        ],
    );
}

#[test]
fn report_contains_the_size_of_a_display() {
    let notes = check_map(above_a_hall("").as_bytes()).notes;
    assert_eq!(
        notes,
        [
            "9 rows of 12 columns, 60 room spots, displays of 125 bytes",
            "a display fits one Ethernet frame (1472 bytes)",
        ]
    );
    let edge = |cols: usize| format!("{}\n", ".".repeat(cols));
    let travel = |cols: usize| check_map(edge(cols).as_bytes()).notes[1].clone();
    assert!(travel(1_463).contains("fits one Ethernet frame"));
    assert!(travel(1_464).contains("travels in fragments on Ethernet"));
    let tall = check_map("..............................\n".repeat(60).as_bytes()).notes.concat();
    assert!(tall.contains("travels in fragments on Ethernet"));
}

#[test]
fn every_map_of_this_project_keeps_all_rules() {
    let maps = maps();
    assert!(maps.len() >= 8, "{} maps", maps.len());
    for (name, text) in maps {
        let found: Vec<String> = check_map(&text).breaches.iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "{name}: {found:#?}");
        let (grid, repairs) = Grid::parse(&text).unwrap();
        assert!(repairs.is_empty());
        assert_eq!(grid.text(), text, "{name} is read as it is written");
        assert!(8 + text.len() <= MAX_DATAGRAM && grid.room_spots().len() >= MAX_PLAYERS + 30);
    }
}

#[test]
fn project_maps_include_extreme_shapes() {
    assert!(8 + map("continent").text().len() >= 60_000);
    assert!(map("panorama").cols() > 120);
    let grid = map("edges");
    let spot = |row: u16, col: u16| {
        let cell = grid.cell(nuggets::Position::new(row, col)).unwrap();
        matches!(grid.at(cell), b'.' | b'#')
    };
    let (bottom, right) = (grid.rows() - 1, grid.cols() - 1);
    assert!([0, bottom].into_iter().all(|row| (0..=right).any(|col| spot(row, col))), "top and bottom");
    assert!([0, right].into_iter().all(|col| (0..=bottom).any(|row| spot(row, col))), "left and right");
}
