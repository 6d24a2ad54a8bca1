//! Decoding of DISPLAY texts.

use alloc::vec::Vec;

use crate::{
    game::PILE,
    grid::{PASSAGE, ROCK, ROOM},
    view::SELF,
};

/// The map character at a cell that a DISPLAY shows as `shown` and that was `known` before, [`ROCK`] if unseen. `None`
/// if a player covers an unseen cell.
pub const fn map_below(known: u8, shown: u8) -> Option<u8> {
    match shown {
        PILE => Some(ROOM),
        SELF | b'A'..=b'Z' => match known {
            ROOM | PASSAGE => Some(known),
            _ => None,
        },
        // Some servers hide cells that they have shown before.
        ROCK => Some(known),
        _ => Some(shown),
    }
}

fn is_shown(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

pub(super) fn is_exact(text: &[u8], rows: u16, cols: u16) -> bool {
    let width = usize::from(cols) + 1;
    let row = |row: &[u8]| row.ends_with(b"\n") && row[..width - 1].iter().all(|&byte| is_shown(byte));
    text.len() == usize::from(rows) * width && text.chunks_exact(width).all(row)
}

/// A DISPLAY may exceed the GRID by up to this many rows or columns, and lack as many rows.
const SLIP: usize = 2;

/// The rows of a display of unknown size, without known deviations.
pub(super) fn tidy(text: &[u8]) -> Vec<u8> {
    let text = trim_end(text, b"\0\n");
    let mut display: Vec<u8> = text.split(|&byte| byte == b'\n').flat_map(|row| clean(row).chain([b'\n'])).collect();
    if text.is_empty() {
        display.clear();
    }
    display
}

/// Pads or cuts a display to the size of the grid; `None` if it differs by more than [`SLIP`]. Some servers end rows
/// with CRLF, omit trailing blanks or the last newline, append NULs, or miscount a row or column.
pub(super) fn fit(text: &[u8], rows: u16, cols: u16) -> Option<Vec<u8>> {
    let (rows, cols) = (usize::from(rows), usize::from(cols));
    let text = trim_end(text, b"\0");
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end).collect();
    let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let width = lines.iter().map(|line| line.len()).max().unwrap_or(0);
    if used == 0 || used > rows + SLIP || lines.len() + SLIP < rows || width > cols + SLIP {
        return None;
    }
    let mut display = Vec::with_capacity(rows * (cols + 1));
    for row in 1..=rows {
        display.extend(clean(lines.get(row - 1).copied().unwrap_or_default()).take(cols));
        display.resize(row * (cols + 1) - 1, ROCK);
        display.push(b'\n');
    }
    Some(display)
}

// A row without its carriage return and with `?` for bytes that are unsafe for a terminal.
fn clean(row: &[u8]) -> impl Iterator<Item = u8> {
    let row = row.strip_suffix(b"\r").unwrap_or(row);
    row.iter().map(|&byte| if is_shown(byte) { byte } else { b'?' })
}

fn trim_end<'a>(text: &'a [u8], bytes: &[u8]) -> &'a [u8] {
    let end = text.iter().rposition(|byte| !bytes.contains(byte)).map_or(0, |last| last + 1);
    &text[..end]
}
