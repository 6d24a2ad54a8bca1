//! The content of the screen, at the positions of [`layout`](super::layout).

use mastermind::{
    Lifeline, Peg, Style,
    code::{MAX_LENGTH, MIN_LENGTH},
    game::{Entry, Outcome, TURNS},
};
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect, Size},
    style::Color,
    text::Line,
    widgets::{Block, Widget},
};
use termkit::{Depth, Footer, Header, Mouse, Overlay, Palette, RETURN, Title, TooSmall, wrap};

use crate::{
    BAR,
    panel::{
        layout::{ANSWERS, MenuPlaces, Panels, SHORT_ANSWERS, SIZE, answers, is_folded, keys, peg_rows, place},
        log::Tone,
        look::{Role, name, style},
        result::MatchResult,
        state::{HELP, LIFELINE, Menu, Overlaid, State, Symbol, Target},
        table::Table,
    },
    round::{Round, Setter},
    voice,
};

/// The first row of messages if each question fits in one row.
const SETUP_LOG_ROW: u16 = 6;
const SUBMIT: &str = " ENTER ";

#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    table: &'a Table,
    depth: Depth,
    quiet: bool,
    // `termkit::Footer` lists the keys.
    framed: bool,
}

/// Each choice is a name and whether the cursor is at it.
struct Question {
    lines: &'static [&'static str],
    choices: Vec<(String, bool)>,
    step: u16,
}

impl Question {
    fn of(state: State) -> Option<Self> {
        match state {
            State::Length(length) => Some(Self {
                lines: &[
                    "How long should the code be? Choose your own misery.",
                    "(The stripes on the left are only decoration.)",
                ],
                choices: (MIN_LENGTH..=MAX_LENGTH).map(|choice| (choice.to_string(), choice == length)).collect(),
                step: 2,
            }),
            State::Repeats { repeats, .. } => Some(Self {
                lines: &["May a digit (a colour) occur twice in the code?"],
                choices: vec![("Yes".into(), repeats), ("No".into(), !repeats)],
                step: 5,
            }),
            _ => None,
        }
    }

    fn rows(&self, panels: Panels) -> (Vec<&'static str>, u16) {
        let width = usize::from(panels.log.width - 2);
        let rows: Vec<&str> = self.lines.iter().flat_map(|line| wrap(line, width)).collect();
        let below = 2 + u16::try_from(rows.len()).unwrap_or(0);
        (rows, below)
    }

    /// All choices are as wide as the longest.
    fn choice_at(&self, at: Position, panels: Panels) -> Option<Target> {
        let row = panels.log.y + self.rows(panels).1;
        let column = at.x.checked_sub(panels.log.x + 1).filter(|_| at.y == row)?;
        let (number, behind) = (usize::from(column / self.step), usize::from(column % self.step));
        let width = self.choices.iter().map(|(name, _)| name.len()).max()?;
        (number < self.choices.len() && behind < width).then_some(Target::Choice(number))
    }
}

impl<'a> View<'a> {
    pub(super) const fn new(table: &'a Table, depth: Depth) -> Self {
        Self { table, depth, quiet: false, framed: false }
    }

    /// Hides the keys after a game while keys are ignored.
    #[must_use]
    pub(super) const fn quiet(self, quiet: bool) -> Self {
        Self { quiet, ..self }
    }

    pub(super) fn target(&self, window: Size, mouse: Mouse) -> Option<Target> {
        if is_small(window) {
            return None;
        }
        let area = Panels::inner(Rect::from((Position::ORIGIN, window)));
        if self.table.overlaid.is_some() {
            return Some(Target::Cover);
        }
        let (at, panels) = (Position::new(mouse.column, mouse.row), Panels::new(area));
        match self.table.state {
            State::Menu(_) => {
                let places = MenuPlaces::new(area);
                let hit = |choice: &Menu| places.choice(*choice).contains(at);
                [Menu::Play, Menu::Quit].into_iter().find(hit).map(Target::Menu)
            }
            state @ (State::Length(_) | State::Repeats { .. }) => Question::of(state)?.choice_at(at, panels),
            State::Set | State::Edit | State::Pick(_) => {
                if panels.submit().contains(at) {
                    return Some(Target::Submit);
                }
                let is_there = |peg: &Peg| place(panels.guide, peg.index()).contains(at);
                if let Some(peg) = (0..self.table.colours()).filter_map(Peg::new).find(is_there) {
                    return Some(Target::Peg(peg));
                }
                let (position, row) = (panels.position_at(at.x)?, panels.guess_row());
                if at.y + 1 == row {
                    Some(Target::Above(position))
                } else if at.y == row + panels.peg.height {
                    Some(Target::Below(position))
                } else {
                    (row..row + panels.peg.height).contains(&at.y).then_some(Target::Position(position))
                }
            }
            State::Between | State::Over => None,
        }
    }

    fn put(&self, buffer: &mut Buffer, x: u16, y: u16, text: &str, role: Role) -> u16 {
        buffer.set_stringn(x, y, text, usize::from(buffer.area.right().saturating_sub(x)), style(self.depth, role)).0
    }

    fn frame(&self, buffer: &mut Buffer, area: Rect, title: &str) {
        let mut block = Block::bordered().border_style(style(self.depth, Role::Quiet));
        if !title.is_empty() {
            block = block.title_top(Line::styled(format!(" {title} "), style(self.depth, Role::Plain)).centered());
        }
        block.render(area, buffer);
    }

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
        match MatchResult::of(self.table) {
            Some(result) => result.render(panels.guide, buffer),
            None => self.guide(buffer, panels),
        }
        self.history(buffer, panels);
        self.messages(buffer, panels);
        self.standing(buffer, panels);
    }

    fn guess(&self, buffer: &mut Buffer, panels: Panels) {
        let table = self.table;
        let (active, cursor) = match table.state {
            State::Set | State::Edit => (table.length(), table.cursor),
            State::Pick(_) => (1, 0),
            _ => (0, 0),
        };
        for (number, position) in (0..).zip(0..MAX_LENGTH) {
            let role = match position {
                _ if position >= active => Role::Beyond,
                _ if position == cursor => Role::Cursor,
                _ => Role::Plain,
            };
            let (x, y) = (panels.middle(number), panels.guess_row());
            self.put(buffer, x, y - 1, "^", role);
            self.put(buffer, x, y + panels.peg.height, "v", role);
        }
        let cell = |position: usize| match table.state {
            State::Pick(lifeline) if position == 0 => Cell::Choice(lifeline),
            State::Edit if table.asks_for_lifeline() => Cell::Letter { beyond: position >= active },
            State::Set | State::Edit if position < active => match table.symbol(position) {
                Symbol::Peg(peg) => Cell::Peg(peg),
                Symbol::Lifeline => Cell::Letter { beyond: false },
            },
            _ => Cell::Beyond,
        };
        let cells: Vec<Cell> = (0..MAX_LENGTH).map(cell).collect();
        self.cells(buffer, panels, panels.guess_row(), &cells);
        if active > 0 {
            let submit = panels.submit();
            self.put(buffer, submit.x, submit.y, SUBMIT, Role::Plain);
        }
    }

    fn history(&self, buffer: &mut Buffer, panels: Panels) {
        let (table, length) = (self.table, self.table.length());
        let setting_up = matches!(table.state, State::Length(_) | State::Repeats { .. });
        let rows = table.rows();
        for row in 0..TURNS {
            let entry = rows.get(row);
            let cell = |position: usize| match entry {
                _ if position >= length => Cell::Beyond,
                _ if setting_up => Peg::new((row + position) % length).map_or(Cell::Unused, Cell::Peg),
                Some(Entry::Guess(guess, _)) => guess.peg(position).map_or(Cell::Unused, Cell::Peg),
                Some(Entry::Lifeline(..)) => Cell::Letter { beyond: false },
                None => Cell::Unused,
            };
            let cells: Vec<Cell> = (0..MAX_LENGTH).map(cell).collect();
            let turn = u16::try_from(row).unwrap_or(0);
            self.cells(buffer, panels, panels.history_row(turn), &cells);
            if let Some(Entry::Guess(_, feedback)) = entry {
                // Below the tenth guess, the answer overwrites the frame.
                let Position { x, y } = panels.answer(turn);
                let end = self.put(buffer, x, y, &format!("RED {}", feedback.red), Role::Red);
                self.put(buffer, end, y, &format!("  WHITE {}", feedback.white), Role::Plain);
            }
        }
    }

    fn messages(&self, buffer: &mut Buffer, panels: Panels) {
        let panel = panels.log;
        let (x, width) = (panel.x + 1, usize::from(panel.width - 2));
        let question = Question::of(self.table.state);
        let first = question.map_or(1, |question| self.question(buffer, panels, &question));
        let height = usize::from(panel.height - 1 - first);
        for (y, row) in (panel.y + first..).zip(self.table.log.rows(width, height)) {
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

    fn question(&self, buffer: &mut Buffer, panels: Panels, question: &Question) -> u16 {
        let (panel, (rows, below)) = (panels.log, question.rows(panels));
        for (y, row) in (panel.y + 1..).zip(rows) {
            self.put(buffer, panel.x + 1, y, row, Role::Message);
        }
        for (x, (name, chosen)) in (panel.x + 1..).step_by(usize::from(question.step)).zip(&question.choices) {
            let role = if *chosen { Role::Chosen } else { Role::Plain };
            self.put(buffer, x, panel.y + below, name, role);
        }
        SETUP_LOG_ROW.max(below + 2)
    }

    /// The first cell is at the left end of the panels.
    fn cells(&self, buffer: &mut Buffer, panels: Panels, y: u16, cells: &[Cell]) {
        self.pegs(buffer, panels.peg, Position::new(panels.column(0), y), cells, Some(panels.guess));
    }

    /// A peg that looks like its surroundings gets an outline where the `frame` leaves room: without colours every peg,
    /// otherwise the black one.
    fn pegs(&self, buffer: &mut Buffer, size: Size, at: Position, cells: &[Cell], frame: Option<Rect>) {
        let pitch = size.width + 1;
        for (left, (cell, position)) in (at.x..).step_by(usize::from(pitch)).zip(cells.iter().zip(0..)) {
            let (text, role) = cell.drawn(position);
            // A cell outside the code has no area, so that it does not look like a peg.
            let area = Rect::new(left, at.y, size.width, size.height).intersection(buffer.area);
            if role != Role::Beyond {
                buffer.set_style(area, style(self.depth, role));
            }
            let (x, y) = (left + size.width / 2, at.y + size.height / 2);
            self.put(buffer, x, y, text.encode_utf8(&mut [0; 4]), role);
        }
        let is_outlined = |position: Option<usize>| {
            position.and_then(|position| cells.get(position)).is_some_and(|cell| cell.is_outlined(self.depth))
        };
        for (column, gap) in (at.x - 1..).step_by(usize::from(pitch)).zip(0..=cells.len()) {
            let sides = match (is_outlined(gap.checked_sub(1)), is_outlined(Some(gap))) {
                (true, true) => "│",
                (true, false) => "▏",
                (false, true) => "▕",
                (false, false) => continue,
            };
            if frame.is_none_or(|frame| column > frame.x && column + 1 < frame.right()) {
                for y in at.y..at.y + size.height {
                    self.put(buffer, column, y, sides, Role::Quiet);
                }
            }
        }
    }

    fn overlay(&self, buffer: &mut Buffer, area: Rect, overlaid: Overlaid) {
        match overlaid {
            Overlaid::Help => Overlay::new("Mastermind", HELP).render(area, buffer),
            Overlaid::Statistics => {
                let text = match (&self.table.record, &self.table.trouble) {
                    (_, Some(trouble)) => trouble.clone(),
                    (Some(record), _) => format!("{}\n\n{}", voice::summary(record), record.bars(BAR)),
                    (None, None) => "No games counted yet.".into(),
                };
                let mut rows: Vec<(&str, &str)> = text.lines().map(|line| ("", line)).collect();
                rows.extend([("", ""), RETURN]);
                Overlay::new("Statistics", &rows).render(area, buffer);
            }
        }
    }
}

impl Widget for &View<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if is_small(area.as_size()) {
            TooSmall::new(SIZE, area.as_size()).render(area, buffer);
            return;
        }
        buffer.set_style(area, style(self.depth, Role::Plain));
        let inner = Panels::inner(area);
        let view = View { framed: inner != area, ..*self };
        match self.table.state {
            State::Menu(selected) => view.menu(buffer, inner, selected),
            _ => view.panels(buffer, inner),
        }
        if view.framed {
            self.header().render(area, buffer);
            Footer::new(self.keys()).render(Rect { y: area.bottom() - 1, height: 1, ..area }, buffer);
        }
        if let Some(overlaid) = self.table.overlaid {
            self.overlay(buffer, area, overlaid);
        }
        // A box and the frame have the terminal's own colours, which may not be dark.
        let plain = style(self.depth, Role::Plain);
        for cell in buffer.content.iter_mut().filter(|cell| cell.bg == Color::Reset) {
            let fg = if cell.fg == Color::Reset { plain.fg } else { None };
            cell.set_style(ratatui::style::Style { fg, bg: plain.bg, ..ratatui::style::Style::new() });
        }
    }
}

impl View<'_> {
    fn header(&self) -> Header<'_> {
        let table = self.table;
        let game = table.round.as_ref().map(Round::game);
        let stage = match (table.state, game) {
            (State::Menu(_), _) => String::new(),
            (State::Length(_) | State::Repeats { .. }, _) | (_, None) => "The rules".to_owned(),
            (State::Set, _) => "Set a code".to_owned(),
            (_, Some(game)) => match game.outcome() {
                None => format!("Turn {} of {TURNS}", game.turn()),
                Some(Outcome::Won(turns)) => format!("Found in {turns} of {TURNS} turns"),
                Some(Outcome::Lost(_)) => "Not found".to_owned(),
            },
        };
        let setter = match table.settings.setter {
            Setter::Day(day) => format!("puzzle of {day}"),
            Setter::People => "duel".to_owned(),
            Setter::Seed => String::new(),
        };
        Header::new(Palette::new(self.depth), Some(Title::MASTERMIND)).fact(stage).fact(setter)
    }

    const fn keys(&self) -> &'static [(&'static str, &'static str)] {
        match self.table.state {
            State::Menu(_) => &[("Enter", "choose"), ("s", "statistics"), ("?", "keys"), ("Q", "leave")],
            State::Length(_) | State::Repeats { .. } | State::Pick(_) => {
                &[("Enter", "choose"), ("arrows", "change"), ("?", "keys"), ("Esc Esc", "menu")]
            }
            State::Set | State::Edit => &[
                ("Enter", "submit"),
                ("1-9 arrows", "change"),
                ("h", "hint"),
                ("s", "statistics"),
                ("?", "keys"),
                ("Esc Esc", "menu"),
            ],
            State::Between => &[("Enter", "continue"), ("?", "keys"), ("Esc Esc", "menu")],
            State::Over if self.quiet => &[],
            State::Over => &[("Enter", "again"), ("s", "statistics"), ("Esc", "menu"), ("?", "keys"), ("Q", "leave")],
        }
    }
}

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

    fn is_outlined(self, depth: Depth) -> bool {
        matches!(self, Self::Peg(peg) if style(depth, Role::Peg(peg)).bg == style(depth, Role::Plain).bg)
    }
}

pub(super) const fn is_small(window: Size) -> bool {
    window.width < SIZE.width || window.height < SIZE.height
}

/// In a guide of at least this width, pegs have three columns.
const LARGE: u16 = 13;

impl View<'_> {
    fn guide(&self, buffer: &mut Buffer, panels: Panels) {
        let guide = panels.guide;
        self.frame(buffer, guide, "Pegs");
        for peg in (0..self.table.colours()).filter_map(Peg::new) {
            let place = place(guide, peg.index());
            let width = if place.width < LARGE { 1 } else { 3 };
            self.pegs(buffer, Size::new(width, 1), Position::new(place.x + 1, place.y), &[Cell::Peg(peg)], None);
            self.put(buffer, place.x + width + 2, place.y, name(self.depth, peg), Role::Plain);
        }
        let first = guide.y + 1 + peg_rows(guide.width);
        let explained = if is_folded(guide.width) { SHORT_ANSWERS } else { ANSWERS };
        let (rows, mut x) = (answers(guide.width), guide.x + 2);
        for ((part, meaning), row) in explained.into_iter().zip(0..) {
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

const TITLE: &str = "MASTERMIND";

impl View<'_> {
    fn menu(&self, buffer: &mut Buffer, area: Rect, selected: Menu) {
        let places = MenuPlaces::new(area);
        let pegs: Vec<Cell> = (0..MAX_LENGTH).filter_map(Peg::new).map(Cell::Peg).collect();
        self.pegs(buffer, Size::new(1, 1), Position::new(places.column(37), places.top), &pegs, None);
        self.put(buffer, places.column(40), places.top + 2, TITLE, Role::Plain);
        for (choice, name, chosen) in [(Menu::Play, "Play", Role::ChosenPlay), (Menu::Quit, "Quit", Role::Chosen)] {
            let place = places.choice(choice);
            self.put(buffer, place.x, place.y, name, if choice == selected { chosen } else { Role::Plain });
        }
        // Long lines wrap, and move the lines below them down.
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
        // At column 18 as in the original program, or further left in a narrow window.
        let (most, room) = (places.tip.right().saturating_sub(1), usize::from(places.tip.width.saturating_sub(2)));
        let lines: Vec<&str> = TIP.iter().flat_map(|line| wrap(line, room)).collect();
        let above = if lines.len() > TIP.len() { 1 } else { places.tip.height / 3 };
        for (row, line) in (places.tip.y + above..places.tip.bottom() - 1).zip(lines) {
            let left = most.saturating_sub(u16::try_from(line.len()).unwrap_or(u16::MAX));
            self.put(buffer, places.column(18).min(left), row, line, Role::Message);
        }
        if !self.framed {
            self.at_right(buffer, places.tip, places.tip.bottom() - 1, " ? keys  s statistics ");
        }
    }
}

const TIP: [&str; 2] = [
    "There is no help here; you are on your own, as it should be.",
    "(All right: arrow keys move the selection, ENTER opens.)",
];

const TITLE_WIDTH: usize = " THE MASTERMIND ".len();
const KEYS: &str = " ? keys ";
/// Keys after a game, longest form first.
const AGAIN: [&str; 2] = [" ENTER plays again   ESC menu   Q quits ", " ENTER again  Q quit "];

impl View<'_> {
    fn standing(&self, buffer: &mut Buffer, panels: Panels) {
        let (panel, bottom) = (panels.log, panels.log.bottom() - 1);
        let width = usize::from(panel.width.saturating_sub(4));
        if !self.framed {
            self.at_right(buffer, panel, bottom, KEYS);
        }
        let Some(game) = self.table.round.as_ref().map(Round::game) else { return };
        let hints = match game.hints() {
            0 => String::new(),
            1 => ", 1 hint".into(),
            hints => format!(", {hints} hints"),
        };
        let row = match game.outcome() {
            None => format!("row {}/{TURNS}", game.turn()),
            Some(Outcome::Won(turns)) => format!("won in {turns}/{TURNS}"),
            Some(Outcome::Lost(_)) => "lost".into(),
        };
        let known = format!(" code {} ", game.hint_code());
        // Between the corners, each text has a line of the frame at its side.
        let fits = |row: &String| row.len() + known.len() + 4 <= usize::from(panel.width);
        let rows = [format!(" {row}{hints} "), format!(" {row} "), format!(" {} ", row.trim_start_matches("row "))];
        let row = rows.iter().find(|row| fits(row)).unwrap_or(&rows[2]);
        // A narrow frame omits the title in favour of information.
        let free = usize::from(panel.width).saturating_sub(TITLE_WIDTH) / 2;
        if row.len() + 2 > free || known.len() + 2 > free {
            let line = "─".repeat(usize::from(panel.width - 2));
            self.put(buffer, panel.x + 1, panel.y, &line, Role::Quiet);
        }
        self.put(buffer, panel.x + 2, panel.y, row, Role::Plain);
        if fits(row) {
            let known_width = u16::try_from(known.len()).unwrap_or(0);
            self.put(buffer, panel.right() - known_width - 2, panel.y, &known, Role::Plain);
        }
        // The frame of folded panels is too narrow.
        let (panel, width, keys) = if is_folded(panel.width) {
            (panels.history, usize::from(panels.history.width.saturating_sub(4)), 0)
        } else {
            (panel, width, KEYS.len())
        };
        if game.outcome().is_some() {
            let over = self.table.state == State::Over && !self.quiet && !self.framed;
            let room = width - keys;
            if let Some(again) = AGAIN.iter().find(|again| over && again.len() <= room) {
                self.put(buffer, panel.x + 2, bottom, again, Role::Plain);
            }
            return;
        }
        let [long, short] = [true, false].map(|long| {
            let lifelines = Lifeline::ALL.map(|lifeline| {
                let (number, status) = (lifeline.number(), voice::status(game, lifeline));
                let cost = voice::cost(lifeline, Style::Panel);
                if long { format!("#{number} {status}, {cost}") } else { format!("#{number} {status}") }
            });
            lifelines.join(if long { "; " } else { "  " })
        });
        let forms = [format!(" lifelines: {long} "), format!(" {long} "), format!(" {short} ")];
        let fitting = forms.iter().find(|form| form.len() + keys <= width);
        self.put(buffer, panel.x + 2, bottom, fitting.unwrap_or(&forms[2]), Role::Plain);
    }
}
