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

/// A display without the slips of some servers: a NUL or an empty line at its end, no newline there, bytes that no screen
/// should be sent.
pub(super) fn tidy(text: &[u8]) -> Vec<u8> {
    let text = text.strip_suffix(b"\0").unwrap_or(text);
    let end = text.iter().rposition(|&byte| byte != b'\n').map_or(0, |last| last + 1);
    let shown = |&byte: &u8| if byte == b'\n' || is_shown(byte) { byte } else { b'?' };
    let mut display: Vec<u8> = text[..end].iter().map(shown).collect();
    if !display.is_empty() {
        display.push(b'\n');
    }
    display
}
