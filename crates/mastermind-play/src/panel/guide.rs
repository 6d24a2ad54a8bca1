//! What is explained beside the board: the pegs that can be chosen, what an answer means, and the keys where there is room.

use ratatui::{layout::Rect, text::Line};
use termkit::Overlay;

use super::keys::HELP;

/// The parts of an answer, and what each means.
pub(super) const ANSWERS: [(&str, &str); 2] =
    [("RED", ": right digit, right place."), ("WHITE", ": right digit, wrong place.")];
/// The pegs stand in so many columns.
const COLUMNS: u16 = 4;
/// Rows of the pegs.
pub(super) const PEGS: u16 = 8 / COLUMNS;
/// There are at least so many lines of keys.
const KEYS: u16 = 10;
/// A panel that is narrower has a row for each part of an answer.
const WIDE: u16 = 68;

/// Rows of the panel with its frame, and with the keys if the rows that are `spare` are enough for them.
pub(super) fn height(width: u16, spare: u16) -> u16 {
    let least = 2 + PEGS + answers(width);
    // Lines are wrapped only where they may be shown.
    let keys = if spare > least + KEYS { 1 + keys(width).len() } else { 0 };
    let keys = u16::try_from(keys).unwrap_or(u16::MAX);
    if least + keys <= spare { least + keys } else { least }
}

/// Rows of what an answer means.
pub(super) const fn answers(width: u16) -> u16 {
    if width >= WIDE { 1 } else { 2 }
}

/// The keys, in lines for a panel of so many columns.
pub(super) fn keys(width: u16) -> Vec<Line<'static>> {
    let rows = HELP.split(|row| *row == ("", "")).next().unwrap_or_default();
    Overlay::new("", rows).lines(usize::from(width.saturating_sub(4)))
}

/// The place of a peg and its name, counted from 0.
pub(super) fn place(guide: Rect, peg: usize) -> Rect {
    let (number, width) = (u16::try_from(peg).unwrap_or(u16::MAX), guide.width.saturating_sub(2) / COLUMNS);
    Rect::new(guide.x + 1 + number % COLUMNS * width, guide.y + 1 + number / COLUMNS, width, 1)
}
