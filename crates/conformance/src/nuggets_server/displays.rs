//! The form of messages in reports.

use nuggets::{
    grid::{Cell, Grid},
    protocol::printable,
};

/// The number of bytes of a message that a report shows.
const SHOWN: usize = 60;
/// The number of cells that a report names.
const NAMED: usize = 4;

/// A message as a report shows it.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = printable(bytes.get(..SHOWN).unwrap_or(bytes), b"");
    if bytes.len() > SHOWN { format!("'{text}...' ({} bytes)", bytes.len()) } else { format!("'{text}'") }
}

/// Explains why a text does not have that many rows and columns.
pub(super) fn misshape(text: &[u8], rows: u16, cols: u16) -> Option<String> {
    if text.starts_with(b"\n") && cols > 0 {
        return Some("starts with an empty row".to_owned());
    }
    let Some(lines) = text.strip_suffix(b"\n") else {
        return Some("has no newline after its last row".to_owned());
    };
    let lines: Vec<&[u8]> = lines.split(|&byte| byte == b'\n').collect();
    if lines.len() != usize::from(rows) {
        return Some(format!("has {} rows", lines.len()));
    }
    let (number, line) = (1..).zip(lines).find(|(_, line)| line.len() != usize::from(cols))?;
    Some(format!("has {} bytes in row {number}", line.len()))
}

/// The differences between two texts of DISPLAYs.
pub(super) fn differences(grid: &Grid, expected: &[u8], display: &[u8]) -> String {
    if display.is_empty() {
        return format!("expected {} bytes, received nothing", expected.len());
    }
    if expected.len() != display.len() {
        return format!("expected {} bytes, received {}", expected.len(), display.len());
    }
    let all =
        (0..=u16::MAX).map(Cell).zip(expected.iter().zip(display)).filter(|(_, (expected, shown))| expected != shown);
    let count = all.clone().count();
    let named = all.take(NAMED).map(|(cell, (expected, shown))| {
        format!(
            "expected '{}' at {}, received '{}'",
            printable(&[*expected], b""),
            grid.position(cell),
            printable(&[*shown], b"")
        )
    });
    let text = named.collect::<Vec<_>>().join("; ");
    match count.saturating_sub(NAMED) {
        0 => text,
        more => format!("{text}; and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explains_wrong_shapes() {
        let wrong = |text: &[u8]| misshape(text, 2, 3).unwrap_or_default();
        assert_eq!(wrong(b"abc\ndef\n"), "");
        assert_eq!(wrong(b"abc\ndef"), "has no newline after its last row");
        assert_eq!(wrong(b"\nabc\ndef"), "starts with an empty row");
        assert_eq!(wrong(b"abc\ndef\nghi\n"), "has 3 rows");
        assert_eq!(wrong(b"abc\ndefg\n"), "has 4 bytes in row 2");
    }
}
