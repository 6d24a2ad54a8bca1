//! Screens of the panel game after keys.

mod keys;
mod puzzles;
mod screens;

use mastermind::{Day, Peg, Record};
use ratatui::{
    buffer::{Buffer, Cell},
    layout::Rect,
    style::Color,
    widgets::Widget,
};
use termkit::Depth;

use super::{
    look::{Role, style},
    state::{Press, Request},
    table::Table,
    view::View,
};
use crate::{
    book::Added,
    round::{Attempt, RulePreferences, Setter, Settings},
};

fn with(length: Option<usize>, repeats: Option<bool>, colours: Option<usize>, setter: Setter, seed: u64) -> Table {
    let wanted = RulePreferences { length, repeats, colours };
    Table::new(Settings { wanted, rules: wanted.without_asking().unwrap(), setter, seed, hints: false })
}

/// The code is 7423, of four digits without repeats.
fn table() -> Table {
    with(Some(4), Some(false), None, Setter::Seed, 7)
}

fn asking() -> Table {
    with(None, None, None, Setter::Seed, 7)
}

fn duel() -> Table {
    with(None, None, None, Setter::People, 7)
}

fn daily(day: u32) -> (Table, String) {
    let table = with(None, None, None, Setter::Day(Day(day)), 0);
    let code = Day(day).puzzle(table.settings.rules).to_string();
    (table, code)
}

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
        '.' => Press::Other,
        digit => Press::Digit(u8::try_from(digit.to_digit(10).unwrap()).unwrap()),
    }
}

fn request(table: &mut Table, keys: &str) -> Request {
    keys.chars().fold(Request::Nothing, |_, character| table.press(key(character)))
}

fn press(table: &mut Table, keys: &str) {
    let _ = request(table, keys);
}

fn after(mut table: Table, keys: &str) -> Table {
    press(&mut table, keys);
    table
}

fn play(table: &mut Table, record: &mut Record, keys: &str) {
    for character in keys.chars() {
        let request = table.press(key(character));
        let added = |record: &Record, first| Ok(Added { record: record.clone(), first, notice: None });
        let Some(round) = &table.round else { continue };
        match request {
            Request::Begin => {
                let first = record.begin(round.puzzle().unwrap());
                table.begun(added(record, first));
            }
            Request::Count => {
                let first = match round.attempt() {
                    Attempt::Unknown => record.begin(round.puzzle().unwrap()),
                    attempt => attempt == Attempt::First,
                };
                let first = first && record.add(round.game());
                table.counted(added(record, first));
            }
            Request::Nothing | Request::Leave => {}
        }
    }
}

fn drawn(table: &Table, depth: Depth, width: u16, height: u16) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    View::new(table, depth).render(buffer.area, &mut buffer);
    buffer
}

fn text(cells: &[Cell]) -> String {
    cells.iter().map(Cell::symbol).collect()
}

fn red_peg() -> Option<Color> {
    style(Depth::True, Role::Peg(Peg::new(2).unwrap())).bg
}

fn screen(table: &Table, width: u16, height: u16) -> Vec<String> {
    let buffer = drawn(table, Depth::None, width, height);
    buffer.content.chunks(usize::from(width)).map(|cells| text(cells).trim_end().to_owned()).collect()
}

/// In the window of the original program.
fn log(table: &Table) -> Vec<String> {
    let rows = screen(table, 90, 26).into_iter().skip(6).take(19);
    rows.map(|row| row.chars().skip(18).take(71).collect::<String>().trim_end().to_owned())
        .filter(|row| !row.is_empty())
        .collect()
}

fn last(table: &Table) -> String {
    log(table).pop().unwrap()
}

fn says(table: &Table, beginning: &str) -> bool {
    log(table).iter().any(|row| row.starts_with(beginning))
}

fn left(table: &Table) -> Vec<String> {
    screen(table, 90, 26).iter().map(|row| row.chars().take(17).collect()).collect()
}
