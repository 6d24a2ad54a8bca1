//! Explosions as pictures; `x` marks a covered field.

use robots::{Blast, Board, Position, explosion::covered};

struct Drawn {
    board: Board,
    bombs: Vec<Position>,
    rows: Vec<Vec<char>>,
}

// `@` is a block, digits are robots, capital letters bombs, small letters bombs on blocks. The last row has y = 0.
fn drawn(picture: &str) -> Drawn {
    let rows: Vec<Vec<char>> =
        picture.lines().map(|row| row.trim().chars().collect()).filter(|row: &Vec<_>| !row.is_empty()).collect();
    let size = |length: usize| u16::try_from(length).unwrap();
    let mut board = Board::new(size(rows[0].len()), size(rows.len()));
    let mut bombs = vec![];
    for (y, row) in rows.iter().rev().enumerate() {
        for (x, &field) in row.iter().enumerate() {
            let position = Position::new(size(x), size(y));
            if field == '@' || field.is_ascii_lowercase() {
                assert!(board.put_block(position));
            }
            if field.is_ascii_alphabetic() {
                bombs.push(position);
            }
        }
    }
    Drawn { board, bombs, rows }
}

fn picture(rows: &[Vec<char>], at: impl Fn(Position, char) -> char) -> String {
    let mut picture = String::new();
    for (up, row) in rows.iter().enumerate() {
        let y = u16::try_from(rows.len() - 1 - up).unwrap();
        picture.extend((0..).zip(row).map(|(x, &field)| at(Position::new(x, y), field)));
        picture.push('\n');
    }
    picture
}

#[track_caller]
fn check(radius: u16, before: &str, covers: &str, after: &str) {
    let Drawn { mut board, bombs, rows } = drawn(before);
    let blasts: Vec<_> = bombs.iter().map(|&bomb| Blast::new(&board, bomb, radius)).collect();
    let plain = |text: &str| {
        text.lines().map(str::trim).filter(|row| !row.is_empty()).fold(String::new(), |all, row| all + row + "\n")
    };
    let blasted =
        picture(&rows, |position, field| if blasts.iter().any(|blast| blast.contains(position)) { 'x' } else { field });
    assert_eq!(blasted, plain(covers));
    let cells = covered(&blasts, 1_000).unwrap();
    assert_eq!(picture(&rows, |position, field| if cells.contains(&position) { 'x' } else { field }), blasted);
    for block in blasts.iter().flat_map(Blast::blocks) {
        board.remove_block(block);
    }
    assert_eq!(picture(&rows, |position, _| if board.is_block(position) { '@' } else { '.' }), plain(after));
}

#[test]
fn a_radius_of_zero_covers_the_bombs_field_only() {
    check(0, "@A@", "@x@", "@.@");
    check(0, "@a@", "@x@", "@.@");
}

#[test]
fn the_radius_is_counted_in_fields() {
    check(1, "....A....", "...xxx...", ".........");
    check(3, "....A....", ".xxxxxxx.", ".........");
    check(3, "@...A..@.", "@xxxxxxx.", "@........");
}

macro_rules! pictures {
    ($($name:ident: $radius:literal, $before:literal, $covers:literal, $after:literal;)*) => {$(
        #[test]
        fn $name() {
            check($radius, $before, $covers, $after);
        }
    )*};
}

pictures! {
    arms_end_at_the_edges_of_a_single_field: 65_535, "A", "x", ".";

    an_arm_ends_with_the_first_block_which_it_destroys: 2, "
        .@2..
        ..1..
        @@A.@
        ..@..
        .....
    ", "
        .@x..
        ..x..
        @xxxx
        ..x..
        .....
    ", "
        .@...
        .....
        @....
        .....
        .....
    ";

    bombs_of_one_turn_explode_against_the_same_blocks: 2, "
        @@@@@
        @@AB@
        .@@@@
    ", "
        @@xx@
        @xxxx
        .@xx@
    ", "
        @@..@
        @....
        .@..@
    ";

    a_bomb_on_a_block_covers_its_own_field_only: 3, "
        .@.
        1a@
        .@.
    ", "
        .@.
        1x@
        .@.
    ", "
        .@.
        ..@
        .@.
    ";

    arms_end_at_the_edge: 65_535, "
        A...
        ....
        ...B
    ", "
        xxxx
        x..x
        xxxx
    ", "
        ....
        ....
        ....
    ";

    blocks_behind_blocks_and_off_the_cross_survive: 9, "
        @.@.@
        .@.@.
        @.A.@
        .@.@.
        @@@@@
    ", "
        @.x.@
        .@x@.
        xxxxx
        .@x@.
        @@x@@
    ", "
        @...@
        .@.@.
        .....
        .@.@.
        @@.@@
    ";
}
