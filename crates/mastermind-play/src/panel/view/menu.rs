//! The menu, in the middle of the window.

use mastermind::{Peg, code::MAX_LENGTH};
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{Cell, SIZE, View};
use crate::{
    panel::{look::Role, state::Menu},
    voice,
};

const TITLE: &str = "MASTERMIND";

/// Where the menu is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct MenuPlaces {
    // What stands for column 0 and row 0 of the smallest window.
    origin: Position,
    tip: Rect,
}

impl MenuPlaces {
    pub(super) const fn new(area: Rect) -> Self {
        let origin = Position::new(area.x + (area.width - SIZE.width) / 2, area.y + (area.height - SIZE.height) / 2);
        Self { origin, tip: Rect { y: area.y + area.height - 6, height: 6, ..area } }
    }

    pub(super) const fn choice(self, choice: Menu) -> Rect {
        let row = match choice {
            Menu::Play => 10,
            Menu::Quit => 12,
        };
        Rect::new(self.origin.x + 43, self.origin.y + row, 4, 1)
    }
}

impl View<'_> {
    pub(super) fn menu(&self, buffer: &mut Buffer, area: Rect, selected: Menu) {
        let places = MenuPlaces::new(area);
        let (x, y) = (places.origin.x, places.origin.y);
        let pegs: Vec<Cell> = (0..MAX_LENGTH).filter_map(Peg::new).map(Cell::Peg).collect();
        self.cells(buffer, x + 37, y + 6, &pegs, None);
        self.put(buffer, x + 40, y + 8, TITLE, Role::Plain);
        for (choice, name, chosen) in [(Menu::Play, "Play", Role::ChosenPlay), (Menu::Quit, "Quit", Role::Chosen)] {
            let place = places.choice(choice);
            self.put(buffer, place.x, place.y, name, if choice == selected { chosen } else { Role::Plain });
        }
        let centred = |buffer: &mut Buffer, row: u16, text: &str, role| {
            let width = u16::try_from(text.chars().count()).unwrap_or(u16::MAX).min(area.width);
            self.put(buffer, area.x + (area.width - width) / 2, y + row, text, role);
        };
        if let Some(day) = self.table.day() {
            centred(buffer, 15, &format!("The puzzle of {day}"), Role::Message);
        }
        if self.table.is_for_two() {
            centred(buffer, 15, voice::DUEL, Role::Message);
        }
        if let Some(record) = self.table.record().filter(|record| record.played() > 0) {
            centred(buffer, 17, &voice::summary(record), Role::Quiet);
        }
        if let Some(trouble) = self.table.trouble() {
            centred(buffer, 17, trouble, Role::Message);
        }
        if let Some(remark) = self.table.log().rows(usize::from(area.width), 1).first() {
            centred(buffer, 18, &remark.iter().map(|(character, _)| character).collect::<String>(), Role::Message);
        }
        self.frame(buffer, places.tip, "Helpful Tip!");
        let row = places.tip.y + 2;
        self.put(buffer, x + 18, row, "There is no help here; you are on your own, as it should be.", Role::Message);
        self.put(buffer, x + 18, row + 1, "(All right: arrow keys move you about, ENTER goes in.)", Role::Message);
        self.at_right(buffer, places.tip, places.tip.bottom() - 1, " ? keys  s statistics ");
    }
}
