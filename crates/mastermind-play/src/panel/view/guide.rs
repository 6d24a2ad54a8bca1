//! The explanations beside the board.

use mastermind::Peg;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Size},
};

use super::{Cell, View};
use crate::panel::{
    guide::{ANSWERS, PEGS, answers, keys, place},
    layout::Panels,
    look::{Role, name},
};

/// From so many columns on, a peg here has three columns.
const LARGE: u16 = 13;

impl View<'_> {
    pub(super) fn guide(&self, buffer: &mut Buffer, panels: Panels) {
        let guide = panels.guide;
        self.frame(buffer, guide, "Pegs");
        for peg in (0..self.table.colours()).filter_map(Peg::new) {
            let place = place(guide, peg.index());
            let width = if place.width < LARGE { 1 } else { 3 };
            // Between the columns of an outline.
            self.pegs(buffer, Size::new(width, 1), Position::new(place.x + 1, place.y), &[Cell::Peg(peg)], None);
            self.put(buffer, place.x + width + 2, place.y, name(self.depth, peg), Role::Plain);
        }
        let first = guide.y + 1 + PEGS;
        let (rows, mut x) = (answers(guide.width), guide.x + 2);
        for ((part, meaning), row) in ANSWERS.into_iter().zip(0..) {
            let role = if row == 0 { Role::Red } else { Role::Plain };
            let y = first + row.min(rows - 1);
            let end = self.put(buffer, x, y, part, role);
            let end = self.put(buffer, end, y, meaning, Role::Plain);
            if rows == 1 {
                x = end + 2;
            }
        }
        let room = first + rows + 1..guide.bottom() - 1;
        let keys = if room.is_empty() { vec![] } else { keys(guide.width) };
        for (y, line) in room.zip(keys) {
            buffer.set_line(guide.x + 2, y, &line, guide.width - 4);
        }
    }
}
