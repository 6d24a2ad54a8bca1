//! Messages as reports show them.

use nuggets::{
    grid::{Cell, Grid},
    protocol::printable,
};

/// Bytes of a message that a report shows.
const SHOWN: usize = 60;
/// Cells that a report names.
const NAMED: usize = 4;

/// A message as a report shows it.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = printable(bytes.get(..SHOWN).unwrap_or(bytes), b"");
    if bytes.len() > SHOWN { format!("'{text}...' ({} bytes)", bytes.len()) } else { format!("'{text}'") }
}

/// Whether a text has that many rows and columns.
pub(super) fn is_shaped(text: &[u8], rows: u16, cols: u16) -> bool {
    let width = usize::from(cols) + 1;
    text.len() == usize::from(rows) * width
        && text.chunks(width).all(|row| row.last() == Some(&b'\n') && !row[..row.len() - 1].contains(&b'\n'))
}

/// Where two texts of DISPLAYs differ.
pub(super) fn differences(grid: &Grid, expected: &[u8], display: &[u8]) -> String {
    if display.is_empty() {
        return "nothing yet".to_owned();
    }
    if expected.len() != display.len() {
        return format!("{} bytes instead of {}", display.len(), expected.len());
    }
    let all =
        (0..=u16::MAX).map(Cell).zip(expected.iter().zip(display)).filter(|(_, (expected, shown))| expected != shown);
    let count = all.clone().count();
    let named = all.take(NAMED).map(|(cell, (expected, shown))| {
        format!(
            "'{}' at {} instead of '{}'",
            printable(&[*shown], b""),
            grid.position(cell),
            printable(&[*expected], b"")
        )
    });
    let text = named.collect::<Vec<_>>().join(", ");
    match count.saturating_sub(NAMED) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}
