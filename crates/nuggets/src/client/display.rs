//! What a client reads off a DISPLAY.

use alloc::vec::Vec;

use crate::{
    game::PILE,
    grid::{PASSAGE, ROCK, ROOM},
    view::SELF,
};

/// What a DISPLAY tells of the map itself: what is known to stand below `shown`, where `known` stood before and
/// [`ROCK`] stands for what was never seen. `None` if somebody stands where nothing is known, who may hide a room spot or a
/// passage spot.
pub const fn map_below(known: u8, shown: u8) -> Option<u8> {
    match shown {
        // Gold lies in rooms only.
        PILE => Some(ROOM),
        SELF | b'A'..=b'Z' => match known {
            ROOM | PASSAGE => Some(known),
            _ => None,
        },
        // Rock, or out of sight; some servers take back what they have shown.
        ROCK => Some(known),
        _ => Some(shown),
    }
}

fn is_shown(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// Whether a text is `rows` rows of `cols` printable characters, each followed by a newline.
pub(super) fn is_exact(text: &[u8], rows: u16, cols: u16) -> bool {
    let width = usize::from(cols) + 1;
    let row = |row: &[u8]| row.ends_with(b"\n") && row[..width - 1].iter().all(|&byte| is_shown(byte));
    text.len() == usize::from(rows) * width && text.chunks_exact(width).all(row)
}

/// Rows and columns by which a DISPLAY may be larger than the GRID, and rows by which it may be smaller, and still be shown.
const SLIP: usize = 2;

/// The rows of a display whose size is not known yet, without known deviations of servers.
pub(super) fn tidy(text: &[u8]) -> Vec<u8> {
    let text = trim_end(text, b"\0\n");
    let mut display: Vec<u8> = text.split(|&byte| byte == b'\n').flat_map(|row| clean(row).chain([b'\n'])).collect();
    if text.is_empty() {
        display.clear();
    }
    display
}

/// A display in the shape of the grid. Some servers end rows with CRLF, omit blanks at their end or the last newline, add NULs at the end, or
/// count one row or column more or less than they send: rows are padded or cut. `None` if the text differs more.
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

// A row without a carriage return at its end, and with `?` instead of bytes that no screen should be sent.
fn clean(row: &[u8]) -> impl Iterator<Item = u8> {
    let row = row.strip_suffix(b"\r").unwrap_or(row);
    row.iter().map(|&byte| if is_shown(byte) { byte } else { b'?' })
}

fn trim_end<'a>(text: &'a [u8], bytes: &[u8]) -> &'a [u8] {
    let end = text.iter().rposition(|byte| !bytes.contains(byte)).map_or(0, |last| last + 1);
    &text[..end]
}
