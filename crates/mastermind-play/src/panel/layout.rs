//! The positions of the panels in a window.
//!
//! | window | pegs | answers |
//! | --- | --- | --- |
//! | from 60 x 18 | one cell each, one row per guess without blank rows | beside the guesses |
//! | from 80 x 18 | two columns, one row per guess without blank rows | beside the guesses |
//! | 90 columns, from 26 rows | one cell each, as in the original program | below the guesses |
//! | from 91 x 26 | two columns | beside the guesses |
//! | from 120 x 32 | three columns | beside the guesses |
//! | from 160 x 52 | five columns and three rows | beside the guesses |
//!
//! A window with two more rows has the lines of the common frame around the panels.
//!
//! The explanations are beside the board, and the messages below or, in a wide window, beside them. Below 72 columns,
//! the explanations are shorter, and the lifelines are in the frame of the board.

use mastermind::code::MAX_LENGTH;
use ratatui::{
    layout::{Position, Rect, Size},
    text::Line,
};
use termkit::Overlay;

use crate::panel::state::{HELP, Menu};

pub(crate) const SIZE: Size = Size::new(60, 18);
/// The size of the original program, with its layout.
pub(super) const CLASSIC: Size = Size::new(90, 26);
/// In columns: room for pegs of two columns.
const LARGER: u16 = 80;
/// For an answer beside the guesses, in columns.
const ANSWER: u16 = 17;
/// In columns: room beside the board for explanations and messages side by side.
const SIDE_BY_SIDE: u16 = 120;
/// In rows: the messages below explanations that list the keys.
const MESSAGES: u16 = 16;

#[derive(Debug, Clone, Copy)]
pub(super) struct Panels {
    pub(super) guess: Rect,
    pub(super) history: Rect,
    pub(super) guide: Rect,
    pub(super) log: Rect,
    pub(super) peg: Size,
    step: u16,
    /// Answers are beside the guesses instead of below them.
    pub(super) beside: bool,
}

impl Panels {
    pub(super) fn new(area: Rect) -> Self {
        let is = |width, height| area.width >= width && area.height >= height;
        let (peg, step, beside) = if is(160, 52) {
            (Size::new(5, 3), 4, true)
        } else if is(120, 32) {
            (Size::new(3, 1), 2, true)
        } else if is(CLASSIC.width + 1, CLASSIC.height) {
            (Size::new(2, 1), 2, true)
        } else if is(CLASSIC.width, CLASSIC.height) {
            (Size::new(1, 1), 2, false)
        } else if area.width >= LARGER {
            (Size::new(2, 1), 1, true)
        } else {
            (Size::new(1, 1), 1, true)
        };
        // The frame, one column wide, includes the outer columns.
        let pegs = COUNT * (peg.width + 1) + 1;
        let left = pegs + if beside { ANSWER } else { 0 };
        let guess_height = peg.height + 4;
        let Rect { x, y, width, height } = area;
        let (right, rest) = (x + left, width - left);
        let (guide, log) = if rest >= SIDE_BY_SIDE {
            let half = rest / 2;
            (Rect::new(right, y, half, height), Rect::new(right + half, y, rest - half, height))
        } else {
            let above = guide_height(rest, height.saturating_sub(MESSAGES));
            (Rect::new(right, y, rest, above), Rect::new(right, y + above, rest, height - above))
        };
        let guess = Rect::new(x, y, left, guess_height);
        let history = Rect::new(x, y + guess_height, left, height - guess_height);
        Self { guess, history, guide, log, peg, step, beside }
    }

    /// The area without the lines of the common frame, if that leaves room for the same layout.
    pub(super) fn inner(area: Rect) -> Rect {
        let inner = Rect { y: area.y + area.height.min(1), height: area.height.saturating_sub(2), ..area };
        let alike = |one: Self, other: Self| (one.peg, one.step, one.beside) == (other.peg, other.step, other.beside);
        let fits = inner.width >= SIZE.width && inner.height >= SIZE.height;
        if fits && alike(Self::new(inner), Self::new(area)) { inner } else { area }
    }

    pub(super) const fn column(self, position: u16) -> u16 {
        self.guess.x + 1 + position * (self.peg.width + 1)
    }

    pub(super) const fn middle(self, position: u16) -> u16 {
        self.column(position) + self.peg.width / 2
    }

    pub(super) const fn guess_row(self) -> u16 {
        self.guess.y + 2
    }

    /// The first row of the pegs of a turn, which counts from 0.
    pub(super) const fn history_row(self, turn: u16) -> u16 {
        self.history.y + 1 + turn * self.step
    }

    pub(super) const fn answer(self, turn: u16) -> Position {
        let row = self.history_row(turn);
        if self.beside {
            Position::new(self.column(COUNT) + 2, row + self.peg.height / 2)
        } else {
            Position::new(self.column(0), row + 1)
        }
    }

    pub(super) const fn submit(self) -> Rect {
        const WIDTH: u16 = 7;
        let pegs = self.column(COUNT) - self.guess.x;
        Rect::new(self.guess.x + (pegs - WIDTH) / 2, self.guess.bottom() - 1, WIDTH, 1)
    }

    pub(super) fn position_at(self, column: u16) -> Option<usize> {
        let position = column.checked_sub(self.column(0))? / (self.peg.width + 1);
        (position < COUNT && column < self.column(position) + self.peg.width).then_some(usize::from(position))
    }
}

const COUNT: u16 = {
    assert!(MAX_LENGTH == 8);
    8
};

#[derive(Debug, Clone, Copy)]
pub(super) struct MenuPlaces {
    middle: u16,
    pub(super) top: u16,
    pub(super) tip: Rect,
}

impl MenuPlaces {
    /// From the pegs to the last line of text.
    const ROWS: u16 = 13;
    /// The tip needs its frame and two lines.
    const LEAST_TIP: u16 = 4;

    pub(super) fn new(area: Rect) -> Self {
        let tip = (CLASSIC.height - 20).min(area.height.saturating_sub(Self::ROWS)).max(Self::LEAST_TIP);
        let above = area.height.saturating_sub(tip);
        let top = 6 + area.height.saturating_sub(CLASSIC.height) / 2;
        Self {
            middle: area.x + area.width / 2,
            top: area.y + top.min(above.saturating_sub(Self::ROWS)),
            tip: Rect { y: area.y + above, height: tip, ..area },
        }
    }

    /// `column` of the original program, relative to the middle of its window.
    pub(super) const fn column(self, column: u16) -> u16 {
        (self.middle + column).saturating_sub(CLASSIC.width / 2)
    }

    pub(super) const fn choice(self, choice: Menu) -> Rect {
        let row = match choice {
            Menu::Play => 4,
            Menu::Quit => 6,
        };
        Rect::new(self.column(43), self.top + row, 4, 1)
    }
}

pub(super) const ANSWERS: [(&str, &str); 2] =
    [("RED", ": right digit, right place."), ("WHITE", ": right digit, wrong place.")];
/// For a folded panel.
pub(super) const SHORT_ANSWERS: [(&str, &str); 2] = [("RED", ": right place"), ("WHITE", ": wrong place")];

/// Whether a panel of this width has short explanations, and two pegs a row.
pub(super) const fn is_folded(width: u16) -> bool {
    width < 38
}

const fn columns(width: u16) -> u16 {
    if is_folded(width) { 2 } else { 4 }
}

/// Rows of pegs in a panel of this width.
pub(super) const fn peg_rows(width: u16) -> u16 {
    8 / columns(width)
}

/// A lower bound on the lines of keys.
const KEYS: u16 = 10;
/// A narrower panel has a row for each part of an answer.
const WIDE_GUIDE: u16 = 68;

/// Includes the keys if `spare` rows are enough for them.
pub(super) fn guide_height(width: u16, spare: u16) -> u16 {
    let least = 2 + peg_rows(width) + answers(width);
    let keys = if spare > least + KEYS { 1 + keys(width).len() } else { 0 };
    let keys = u16::try_from(keys).unwrap_or(u16::MAX);
    if least + keys <= spare { least + keys } else { least }
}

pub(super) const fn answers(width: u16) -> u16 {
    if width >= WIDE_GUIDE { 1 } else { 2 }
}

pub(super) fn keys(width: u16) -> Vec<Line<'static>> {
    let rows = HELP.split(|row| *row == ("", "")).next().unwrap_or_default();
    Overlay::new("", rows).lines(usize::from(width.saturating_sub(4)))
}

pub(super) fn place(guide: Rect, peg: usize) -> Rect {
    let (number, columns) = (u16::try_from(peg).unwrap_or(u16::MAX), columns(guide.width));
    let width = guide.width.saturating_sub(2) / columns;
    Rect::new(guide.x + 1 + number % columns * width, guide.y + 1 + number / columns, width, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_fit_every_window() {
        for width in SIZE.width..=220 {
            for height in SIZE.height..=70 {
                let area = Rect::new(0, 0, width, height);
                let panels = Panels::new(area);
                let Panels { guess, history, guide, log, peg, .. } = panels;
                for panel in [guess, history, guide, log] {
                    assert_eq!(panel.intersection(area), panel, "{area}: {panels:?}");
                }
                assert_eq!((guess.right(), guess.bottom()), (guide.x, history.y), "{area}: {panels:?}");
                let cells = [guess, history, guide, log].map(Rect::area).iter().sum::<u32>();
                assert_eq!(cells, area.area(), "{area}: {panels:?}");
                assert_eq!((log.right(), log.bottom()), (area.right(), area.bottom()), "{area}: {panels:?}");
                assert!(guide.height >= guide_height(guide.width, 0), "{area}: {panels:?}");
                assert!(panels.history_row(9) + peg.height < history.bottom(), "{area}: {panels:?}");
                assert!(panels.answer(9).x + ANSWER - 3 <= history.right(), "{area}: {panels:?}");
                assert!(
                    log.width >= 26 && log.height >= 6 && panels.submit().right() < guess.right(),
                    "{area}: {panels:?}"
                );
                for position in 0..COUNT {
                    assert_eq!(panels.position_at(panels.middle(position)), Some(usize::from(position)));
                }
                assert_eq!(panels.position_at(panels.column(COUNT)), None);
            }
        }
    }
}
