//! The menu, in the middle of the window.

use mastermind::{Peg, code::MAX_LENGTH};
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect, Size},
};
use termkit::wrap;

use super::{Cell, View};
use crate::{
    panel::{layout::MenuPlaces, look::Role, state::Menu},
    settings::Setter,
    voice,
};

const TITLE: &str = "MASTERMIND";

impl View<'_> {
    pub(super) fn menu(&self, buffer: &mut Buffer, area: Rect, selected: Menu) {
        let places = MenuPlaces::new(area);
        let pegs: Vec<Cell> = (0..MAX_LENGTH).filter_map(Peg::new).map(Cell::Peg).collect();
        self.pegs(buffer, Size::new(1, 1), Position::new(places.column(37), places.top), &pegs, None);
        self.put(buffer, places.column(40), places.top + 2, TITLE, Role::Plain);
        for (choice, name, chosen) in [(Menu::Play, "Play", Role::ChosenPlay), (Menu::Quit, "Quit", Role::Chosen)] {
            let place = places.choice(choice);
            self.put(buffer, place.x, place.y, name, if choice == selected { chosen } else { Role::Plain });
        }
        // Long lines wrap, and the lines below them move down.
        let mut next = 0;
        let mut centred = |buffer: &mut Buffer, row: u16, text: &str, role| {
            next = next.max(row);
            for line in wrap(text, usize::from(area.width)) {
                let width = u16::try_from(line.chars().count()).unwrap_or(u16::MAX).min(area.width);
                if places.top + next < places.tip.y {
                    self.put(buffer, area.x + (area.width - width) / 2, places.top + next, line, role);
                }
                next += 1;
            }
        };
        match self.table.settings.setter {
            Setter::Day(day) => centred(buffer, 9, &format!("The puzzle of {day}"), Role::Message),
            Setter::People => centred(buffer, 9, voice::DUEL, Role::Message),
            Setter::Seed => {}
        }
        if let Some(record) = self.table.record.as_ref().filter(|record| record.played() > 0) {
            centred(buffer, 11, &voice::summary(record), Role::Quiet);
        }
        if let Some(trouble) = &self.table.trouble {
            centred(buffer, 11, trouble, Role::Message);
        }
        if let Some(remark) = self.table.log.rows(usize::from(area.width), 1).first() {
            centred(buffer, 12, &remark.iter().map(|(character, _)| character).collect::<String>(), Role::Message);
        }
        self.frame(buffer, places.tip, "Helpful Tip!");
        // The original program has them at column 18; a narrow window has room only farther left.
        let (row, most) = (places.tip.y + places.tip.height / 3, places.tip.right().saturating_sub(1));
        for (row, line) in (row..).zip(TIP) {
            let left = most.saturating_sub(u16::try_from(line.len()).unwrap_or(u16::MAX));
            self.put(buffer, places.column(18).min(left), row, line, Role::Message);
        }
        self.at_right(buffer, places.tip, places.tip.bottom() - 1, " ? keys  s statistics ");
    }
}

const TIP: [&str; 2] = [
    "There is no help here; you are on your own, as it should be.",
    "(All right: arrow keys move you about, ENTER goes in.)",
];
