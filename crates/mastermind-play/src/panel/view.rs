//! What the screen shows.
//!
//! In a window of 90 columns and 26 rows panels stand where the game has always had them. In a larger one the messages get the
//! room, and from [`WIDE`] columns on the answer stands beside each guess instead of below it.

mod menu;

use mastermind::{
    Feedback, Lifeline, Peg, Style as Play,
    code::{MAX_LENGTH, MIN_LENGTH},
    game::{Availability, Entry, Outcome, TURNS},
};
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect, Size},
    style::{Color, Style},
    text::Line,
    widgets::{Block, Widget},
};
use termkit::{Depth, Mouse, Overlay, TooSmall};

use self::menu::MenuPlaces;
use super::{
    keys::HELP,
    log::Tone,
    look::{Look, Role},
    state::{LIFELINE, Menu, Overlaid, State, Symbol, Target},
    table::Table,
};
use crate::voice;

/// The smallest window.
pub const SIZE: Size = Size::new(90, 26);
/// From so many columns on there is room beside the guesses.
const WIDE: u16 = 108;

/// Columns of the panels on the left, and with room beside the guesses.
const LEFT: u16 = 17;
const LEFT_WIDE: u16 = 34;
/// Rows of the panel of the guess.
const GUESS_ROWS: u16 = 5;
/// Where, in the panel of the messages, the choices of the set-up and what is said then begin.
const LENGTH_ROW: u16 = 4;
const REPEATS_ROW: u16 = 3;
const SETUP_LOG_ROW: u16 = 6;
/// Columns between two choices.
const LENGTH_STEP: u16 = 2;
const REPEATS_STEP: u16 = 5;

const SUBMIT: &str = " ENTER ";
/// Columns of the longest bar of the statistics.
const BAR: usize = 40;

/// A picture of the table. Drawing changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    table: &'a Table,
    look: Look,
}

/// Where the panels are.
#[derive(Debug, Clone, Copy)]
struct Panels {
    guess: Rect,
    history: Rect,
    log: Rect,
}

impl Panels {
    const fn new(area: Rect) -> Self {
        let left = if area.width >= WIDE { LEFT_WIDE } else { LEFT };
        Self {
            guess: Rect { width: left, height: GUESS_ROWS, ..area },
            history: Rect { y: area.y + GUESS_ROWS, width: left, height: area.height - GUESS_ROWS, ..area },
            log: Rect { x: area.x + left, width: area.width - left, ..area },
        }
    }

    const fn is_wide(self) -> bool {
        self.guess.width == LEFT_WIDE
    }

    const fn submit(self) -> Rect {
        const WIDTH: u16 = 7;
        Rect { x: self.guess.x + (LEFT - WIDTH) / 2, y: self.guess.y + GUESS_ROWS - 1, width: WIDTH, height: 1 }
    }
}

/// The column of a position in a panel.
const fn column(panel: Rect, position: u16) -> u16 {
    panel.x + 1 + 2 * position
}

/// Positions, as columns of a window are counted.
fn positions() -> impl Iterator<Item = (u16, usize)> {
    (0..).zip(0..MAX_LENGTH)
}

impl<'a> View<'a> {
    /// A picture in so many colours.
    pub const fn new(table: &'a Table, depth: Depth) -> Self {
        Self { table, look: Look::new(depth) }
    }

    /// What the mouse points at in a window of this size.
    pub fn target(&self, window: Size, mouse: Mouse) -> Option<Target> {
        let area = Rect::from((Position::ORIGIN, window));
        if is_small(area) {
            return None;
        }
        if self.table.overlaid().is_some() {
            return Some(Target::Cover);
        }
        let (at, panels) = (Position::new(mouse.column, mouse.row), Panels::new(area));
        match self.table.state() {
            State::Menu(_) => {
                let places = MenuPlaces::new(area);
                let hit = |choice: &Menu| places.choice(*choice).contains(at);
                [Menu::Play, Menu::Quit].into_iter().find(hit).map(Target::Menu)
            }
            State::Length(_) => choice_at(at, panels, LENGTH_ROW, LENGTH_STEP, MAX_LENGTH - MIN_LENGTH + 1, 1),
            State::Repeats { .. } => choice_at(at, panels, REPEATS_ROW, REPEATS_STEP, 2, 3),
            State::Set | State::Edit | State::Pick(_) => {
                if panels.submit().contains(at) {
                    return Some(Target::Submit);
                }
                let (_, position) = positions().find(|(number, _)| column(panels.guess, *number) == at.x)?;
                match at.y - panels.guess.y {
                    1 => Some(Target::Above(position)),
                    2 => Some(Target::Position(position)),
                    3 => Some(Target::Below(position)),
                    _ => None,
                }
            }
            State::Between | State::Over => None,
        }
    }

    fn style(&self, role: Role) -> Style {
        self.look.style(role)
    }

    fn put(&self, buffer: &mut Buffer, x: u16, y: u16, text: &str, role: Role) -> u16 {
        buffer.set_stringn(x, y, text, usize::from(buffer.area.right().saturating_sub(x)), self.style(role)).0
    }

    fn frame(&self, buffer: &mut Buffer, area: Rect, title: &str) {
        let mut block = Block::bordered().border_style(self.style(Role::Quiet));
        if !title.is_empty() {
            block = block.title_top(Line::styled(format!(" {title} "), self.style(Role::Plain)).centered());
        }
        block.render(area, buffer);
    }

    /// Writes a text into the border of a panel, near its right end.
    fn at_right(&self, buffer: &mut Buffer, panel: Rect, row: u16, text: &str) {
        let width = u16::try_from(text.chars().count()).unwrap_or(u16::MAX);
        self.put(buffer, panel.right().saturating_sub(width + 2), row, text, Role::Quiet);
    }

    fn panels(&self, buffer: &mut Buffer, area: Rect) {
        let panels = Panels::new(area);
        let player = self.table.player().map(|player| format!("Player {player}"));
        self.frame(buffer, panels.guess, player.as_deref().unwrap_or("Your Guess"));
        self.frame(buffer, panels.history, "");
        self.frame(buffer, panels.log, "THE MASTERMIND");
        self.guess(buffer, panels);
        self.history(buffer, panels);
        self.messages(buffer, panels);
        self.standing(buffer, panels);
    }

    fn guess(&self, buffer: &mut Buffer, panels: Panels) {
        let (table, panel) = (self.table, panels.guess);
        let (active, cursor) = match table.state() {
            State::Set | State::Edit => (table.length(), table.cursor()),
            State::Pick(_) => (1, 0),
            _ => (0, 0),
        };
        for (number, position) in positions() {
            let role = match position {
                _ if position >= active => Role::Beyond,
                _ if position == cursor => Role::Cursor,
                _ => Role::Plain,
            };
            let x = column(panel, number);
            self.put(buffer, x, panel.y + 1, "^", role);
            self.put(buffer, x, panel.y + 3, "v", role);
        }
        let cell = |position: usize| match table.state() {
            State::Pick(lifeline) if position == 0 => Cell::Choice(lifeline),
            State::Edit if table.asks_for_lifeline() => Cell::Letter { beyond: position >= active },
            State::Set | State::Edit if position < active => match table.symbol(position) {
                Symbol::Peg(peg) => Cell::Peg(peg),
                Symbol::Lifeline => Cell::Letter { beyond: false },
            },
            _ => Cell::Beyond,
        };
        let cells: Vec<Cell> = (0..MAX_LENGTH).map(cell).collect();
        self.cells(buffer, column(panel, 0), panel.y + 2, &cells, Some(panel));
        if active > 0 {
            let submit = panels.submit();
            self.put(buffer, submit.x, submit.y, SUBMIT, Role::Plain);
        }
    }

    fn history(&self, buffer: &mut Buffer, panels: Panels) {
        let (table, panel, length) = (self.table, panels.history, self.table.length());
        let setting_up = matches!(table.state(), State::Length(_) | State::Repeats { .. });
        let rows = table.rows();
        for row in 0..TURNS {
            let entry = rows.get(row);
            let cell = |position: usize| match entry {
                _ if position >= length => Cell::Beyond,
                _ if setting_up => Peg::new((row + position) % length).map_or(Cell::Unused, Cell::Peg),
                Some(Entry::Guess { guess, .. }) => guess.peg(position).map_or(Cell::Unused, Cell::Peg),
                Some(Entry::Lifeline { .. }) => Cell::Letter { beyond: false },
                None => Cell::Unused,
            };
            let cells: Vec<Cell> = (0..MAX_LENGTH).map(cell).collect();
            let y = panel.y + 1 + 2 * u16::try_from(row).unwrap_or(0);
            self.cells(buffer, column(panel, 0), y, &cells, Some(panel));
            if let Some(Entry::Guess { feedback, .. }) = entry {
                // Below the tenth guess is the border, which gives way.
                let (x, y) = if panels.is_wide() { (column(panel, 9), y) } else { (column(panel, 0), y + 1) };
                self.feedback(buffer, x, y, *feedback);
            }
        }
    }

    fn feedback(&self, buffer: &mut Buffer, x: u16, y: u16, feedback: Feedback) {
        let end = self.put(buffer, x, y, &format!("RED {}", feedback.red), Role::Red);
        self.put(buffer, end, y, &format!("  WHITE {}", feedback.white), Role::Plain);
    }

    fn messages(&self, buffer: &mut Buffer, panels: Panels) {
        let panel = panels.log;
        let (x, width) = (panel.x + 1, usize::from(panel.width - 2));
        let first = match self.table.state() {
            State::Length(length) => {
                self.put(
                    buffer,
                    x,
                    1 + panel.y,
                    "How long shall the code be? You may choose your own misery.",
                    Role::Message,
                );
                self.put(
                    buffer,
                    x,
                    2 + panel.y,
                    "(The stripes on the left are decoration and not the palette.)",
                    Role::Message,
                );
                for (number, choice) in (0..).zip(MIN_LENGTH..=MAX_LENGTH) {
                    self.choice(
                        buffer,
                        panels,
                        (number, LENGTH_ROW, LENGTH_STEP),
                        &choice.to_string(),
                        choice == length,
                    );
                }
                SETUP_LOG_ROW
            }
            State::Repeats { repeats, .. } => {
                self.put(buffer, x, 1 + panel.y, "May a colour occur twice in the code?", Role::Message);
                for (number, name, choice) in [(0, "Yes", true), (1, "No", false)] {
                    self.choice(buffer, panels, (number, REPEATS_ROW, REPEATS_STEP), name, choice == repeats);
                }
                SETUP_LOG_ROW
            }
            _ => 1,
        };
        let height = usize::from(panel.height - 1 - first);
        for (y, row) in (panel.y + first..).zip(self.table.log().rows(width, height)) {
            for (x, (character, tone)) in (x..).zip(row) {
                let role = match tone {
                    Tone::Message => Role::Message,
                    Tone::Red => Role::Red,
                    Tone::White => Role::Plain,
                };
                self.put(buffer, x, y, character.encode_utf8(&mut [0; 4]), role);
            }
        }
    }

    fn choice(&self, buffer: &mut Buffer, panels: Panels, place: (u16, u16, u16), name: &str, chosen: bool) {
        let (number, row, step) = place;
        let role = if chosen { Role::Chosen } else { Role::Plain };
        self.put(buffer, panels.log.x + 1 + number * step, panels.log.y + row, name, role);
    }

    /// How the game stands, in the borders of the messages.
    fn standing(&self, buffer: &mut Buffer, panels: Panels) {
        let (panel, bottom) = (panels.log, panels.log.bottom() - 1);
        self.at_right(buffer, panel, bottom, " ? keys ");
        let Some(game) = self.table.round().map(crate::Round::game) else {
            return;
        };
        let hints = match game.hints() {
            0 => String::new(),
            1 => ", 1 hint".into(),
            hints => format!(", {hints} hints"),
        };
        let row = match game.outcome() {
            None => format!("row {}/{TURNS}", game.turn()),
            Some(Outcome::Won { turns }) => format!("won in {turns}/{TURNS}"),
            Some(Outcome::Lost { .. }) => "lost".into(),
        };
        self.put(buffer, panel.x + 2, panel.y, &format!(" {row}{hints} "), Role::Plain);
        let known = format!(" code {} ", game.hint_code());
        let width = u16::try_from(known.len()).unwrap_or(0);
        self.put(buffer, panel.right() - width - 2, panel.y, &known, Role::Plain);
        if game.outcome().is_some() {
            return;
        }
        let lifelines = Lifeline::ALL.map(|lifeline| {
            let available = match game.availability(lifeline) {
                Availability::Available => "AVAILABLE",
                Availability::Used => "USED UP",
                Availability::Blocked => "TOO LATE",
            };
            format!("#{} {available}, {}", lifeline.number(), voice::cost(lifeline, Play::Panel))
        });
        self.put(buffer, panel.x + 2, bottom, &format!(" lifelines: {} ", lifelines.join("; ")), Role::Plain);
    }

    /// A row of cells, each in every other column. A black one on black has an outline, as far as the `frame` leaves room.
    fn cells(&self, buffer: &mut Buffer, x: u16, y: u16, cells: &[Cell], frame: Option<Rect>) {
        for ((x, cell), position) in (x..).step_by(2).zip(cells).zip(0..) {
            let (text, role) = cell.drawn(position);
            self.put(buffer, x, y, text.encode_utf8(&mut [0; 4]), role);
        }
        if !self.look.is_coloured() {
            return;
        }
        let is_dark = |position: Option<usize>| {
            position.and_then(|position| cells.get(position)).is_some_and(|cell| cell.is_dark(self.look))
        };
        for gap in 0..=cells.len() {
            let sides = match (is_dark(gap.checked_sub(1)), is_dark(Some(gap))) {
                (true, true) => "│",
                (true, false) => "▏",
                (false, true) => "▕",
                (false, false) => continue,
            };
            let column = x - 1 + 2 * u16::try_from(gap).unwrap_or(0);
            if frame.is_none_or(|frame| column > frame.x && column + 1 < frame.right()) {
                self.put(buffer, column, y, sides, Role::Quiet);
            }
        }
    }

    fn overlay(&self, buffer: &mut Buffer, area: Rect, overlaid: Overlaid) {
        match overlaid {
            Overlaid::Help => Overlay::new("Mastermind", HELP).render(area, buffer),
            Overlaid::Statistics => {
                let text = match (self.table.record(), self.table.trouble()) {
                    (_, Some(trouble)) => trouble.to_owned(),
                    (Some(record), _) => format!("{}\n\n{}", voice::summary(record), record.bars(BAR)),
                    (None, None) => "No game has been counted yet.".into(),
                };
                let mut rows: Vec<(&str, &str)> = text.lines().map(|line| ("", line)).collect();
                rows.extend([("", ""), ("", "Any key or click goes back.")]);
                Overlay::new("Statistics", &rows).render(area, buffer);
            }
        }
    }
}

impl Widget for &View<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if is_small(area) {
            TooSmall::new(SIZE, area.as_size()).render(area, buffer);
            return;
        }
        buffer.set_style(area, self.style(Role::Plain));
        match self.table.state() {
            State::Menu(selected) => self.menu(buffer, area, selected),
            _ => self.panels(buffer, area),
        }
        if let Some(overlaid) = self.table.overlaid() {
            self.overlay(buffer, area, overlaid);
            // The box has the terminal's own colours, which need not be dark.
            let plain = self.style(Role::Plain);
            for cell in buffer.content.iter_mut().filter(|cell| cell.bg == Color::Reset) {
                cell.set_style(plain);
            }
        }
    }
}

/// What stands at a position of a row.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Peg(Peg),
    Letter { beyond: bool },
    Choice(Lifeline),
    Unused,
    Beyond,
}

impl Cell {
    fn drawn(self, position: usize) -> (char, Role) {
        match self {
            Self::Peg(peg) => (peg.digit(), Role::Peg(peg)),
            Self::Letter { beyond } => {
                (LIFELINE[position % MAX_LENGTH], if beyond { Role::LetterBeyond } else { Role::Letter })
            }
            Self::Choice(Lifeline::Colour) => ('1', Role::Chosen),
            Self::Choice(Lifeline::Place) => ('2', Role::Chosen),
            Self::Unused => ('*', Role::Unused),
            Self::Beyond => ('*', Role::Beyond),
        }
    }

    /// Whether it is a peg that has the colour of what is around it.
    fn is_dark(self, look: Look) -> bool {
        matches!(self, Self::Peg(peg) if look.style(Role::Peg(peg)).bg == look.style(Role::Plain).bg)
    }
}

const fn is_small(area: Rect) -> bool {
    area.width < SIZE.width || area.height < SIZE.height
}

/// Which of `count` choices stands there, each `width` columns wide.
fn choice_at(at: Position, panels: Panels, row: u16, step: u16, count: usize, width: u16) -> Option<Target> {
    let column = at.x.checked_sub(panels.log.x + 1).filter(|_| at.y == panels.log.y + row)?;
    let number = usize::from(column / step);
    (number < count && column % step < width).then_some(Target::Choice(number))
}
