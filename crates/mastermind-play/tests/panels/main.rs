//! The panel game as screens after keys.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

// What every key does in every state.
mod keys;
// Puzzles of days and seeds, which count once, and duels.
mod puzzles;
// What is on the screen.
mod screens;

use mastermind::Record;
use mastermind_play::{
    Added, Attempt, Wanted,
    panel::{Asked, Press, Table, View},
};
use ratatui::{
    buffer::{Buffer, Cell},
    layout::Rect,
    widgets::Widget,
};
use termkit::Depth;

/// A game of four digits without repeats whose code is 7423.
fn table() -> Table {
    Table::new(Wanted { length: Some(4), repeats: Some(false), colours: None }, 7, None)
}

/// A game in which everything is asked.
fn asking() -> Table {
    Table::new(Wanted::default(), 7, None)
}

/// A duel whose length and repeats are asked.
fn duel() -> Table {
    asking().for_two()
}

/// The key that a character of a test stands for.
fn key(character: char) -> Press {
    match character {
        '<' => Press::Left,
        '>' => Press::Right,
        '^' => Press::Up,
        'v' => Press::Down,
        '\n' => Press::Enter,
        '!' => Press::Escape,
        'b' => Press::Back,
        '[' => Press::First,
        ']' => Press::Last,
        'h' => Press::Hint,
        's' => Press::Statistics,
        '?' => Press::Help,
        'q' => Press::Quit,
        digit => Press::Digit(u8::try_from(digit.to_digit(10).unwrap()).unwrap()),
    }
}

/// Presses keys, and tells what the last one asked for.
fn asked(table: &mut Table, keys: &str) -> Asked {
    keys.chars().fold(Asked::Nothing, |_, character| table.press(key(character)))
}

/// Presses keys.
fn press(table: &mut Table, keys: &str) {
    let _ = asked(table, keys);
}

/// Presses keys and sees to the statistics as the program does.
fn play(table: &mut Table, record: &mut Record, keys: &str) {
    for character in keys.chars() {
        let asked = table.press(key(character));
        let added = |record: &Record, first| Ok(Added { record: record.clone(), first, notice: None });
        match asked {
            Asked::Begin => {
                let first = record.begin(table.round().unwrap().puzzle().unwrap());
                table.begun(added(record, first));
            }
            Asked::Count => {
                let round = table.round().unwrap();
                let first = match round.attempt() {
                    Attempt::Unknown => record.begin(round.puzzle().unwrap()),
                    attempt => attempt == Attempt::First,
                };
                let first = first && record.add(round.game());
                table.counted(added(record, first));
            }
            Asked::Nothing | Asked::Leave => {}
        }
    }
}

fn drawn(table: &Table, depth: Depth, width: u16, height: u16) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    View::new(table, depth).render(buffer.area, &mut buffer);
    buffer
}

/// The rows of a picture without colour.
fn screen(table: &Table, width: u16, height: u16) -> Vec<String> {
    let buffer = drawn(table, Depth::None, width, height);
    let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).collect::<String>();
    buffer.content.chunks(usize::from(width)).map(|cells| row(cells).trim_end().to_owned()).collect()
}

/// The rows of the messages in the smallest window.
fn log(table: &Table) -> Vec<String> {
    let rows = screen(table, 90, 26).into_iter().skip(1).take(24);
    rows.map(|row| row.chars().skip(18).take(71).collect::<String>().trim_end().to_owned())
        .filter(|row| !row.is_empty())
        .collect()
}

/// The columns of the panels on the left.
fn left(table: &Table) -> Vec<String> {
    screen(table, 90, 26).iter().map(|row| row.chars().take(17).collect()).collect()
}
