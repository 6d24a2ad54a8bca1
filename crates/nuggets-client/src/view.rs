//! The screen: the status in line 1, the map below it.

mod panel;
#[cfg(test)]
mod tests;

use netcore::Time;
use nuggets::{
    Cell, Client, Direction, Participant,
    client::map_below,
    grid::{PASSAGE, ROCK, ROOM},
    view::SELF,
    visibility::{Field, Sight, Sighter, Vision},
};
use ratatui::{
    buffer::Buffer,
    layout::{Margin, Position, Rect, Size},
    style::{Color, Modifier, Style},
    widgets::{Block, Widget},
};
use termkit::{Camera, Footer, GridView, Header, Overlay, Palette, Title, Tone, TooSmall};

use self::panel::Panel;
use crate::{
    keys::{self, Content, Context, Control},
    result::Verdict,
};

/// The smallest window that shows a part of a larger map. A smaller map only needs its own size.
const SMALLEST: Size = Size::new(16, 4);
/// Columns and rows per arrow key of a spectator.
const SCROLL: (i32, i32) = (8, 4);
/// Spare columns or rows at which the map is centred. With fewer, it begins at the left edge and in line 2, as the
/// requirements define.
const ROOMY: u16 = 12;
/// In the status line if it has room, and there is no line for keys.
const HINT: &str = "? keys  Q leave";
/// Spare rows for the panel: the frame of the map above and below, and the keys.
const PANEL_FROM: u16 = 4;
/// In rows: a window from which a larger map is scrolled above the standings and the keys.
const SCROLLED_FROM: u16 = 12;
const GAP: u16 = 2;

/// The state of the display besides the client: the visible part of the map, the help, the results.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is shown or not")]
pub struct View {
    palette: Palette,
    camera: Camera,
    seen: SightMemory,
    pub(crate) help: bool,
    hint: bool,
    bot: bool,
    verdict: Option<Verdict>,
    pub(crate) board: bool,
    last: Option<Verdict>,
    pub(crate) shows_last: bool,
    window: Size,
    place: String,
    /// The most gold that was unclaimed or the player's own.
    total: u32,
}

impl View {
    /// `bot` is whether a bot controls the client.
    pub fn new(palette: Palette, bot: bool) -> Self {
        let (camera, seen) = (Camera::default(), SightMemory::default());
        let window = Size::ZERO;
        let (verdict, last) = (None, None);
        Self {
            palette,
            camera,
            seen,
            help: false,
            hint: false,
            bot,
            verdict,
            board: false,
            last,
            shows_last: false,
            window,
            place: "the server".to_owned(),
            total: 0,
        }
    }

    #[must_use]
    pub(crate) fn next_game(&self, last: Option<Verdict>) -> Self {
        Self { hint: self.hint, place: self.place.clone(), last, ..Self::new(self.palette, self.bot) }
    }

    /// The status line mentions the keys for help and leaving, and the server's place until it responds.
    #[must_use]
    pub(crate) fn taking_part(self, place: String) -> Self {
        Self { hint: true, place, ..self }
    }

    /// Updates the view for a window of this size. Call it before [`View::picture`].
    pub fn prepare(&mut self, client: &Client, window: Size) {
        self.window = window;
        self.seen.update(client);
        self.total = self.total.max(client.remaining().saturating_add(client.purse()));
        let focus = client.position().map(|place| Position::new(place.col, place.row));
        self.camera.follow(grid(client), self.layout(grid(client), window).map, focus);
    }

    pub(crate) fn set_verdict(&mut self, verdict: Option<Verdict>) {
        self.board &= verdict.is_some();
        self.help &= verdict.is_none();
        self.shows_last &= verdict.is_none();
        self.verdict = verdict;
    }

    /// Scrolls the visible part of the map.
    pub fn scroll(&mut self, client: &Client, direction: Direction) {
        let (rows, columns) = direction.delta();
        let map = self.layout(grid(client), self.window).map;
        self.camera.scroll(grid(client), map, columns * SCROLL.0, rows * SCROLL.1);
    }

    pub(crate) fn context(&self, client: &Client) -> Context {
        let shown = match self.missing(client) {
            _ if self.verdict.is_some() => Content::Result,
            Some(_) => Content::TooSmall,
            None if self.help => Content::Help,
            None if self.shows_last => Content::LastResult,
            None => Content::Game,
        };
        Context { shown, control: self.control(client), has_last: self.last.is_some() }
    }

    fn control(&self, client: &Client) -> Control {
        match (client.participant(), self.bot) {
            (Participant::Spectator, _) => Control::Not,
            (Participant::Player(_), true) => Control::ByBot,
            (Participant::Player(_), false) => Control::ByHand,
        }
    }

    /// The drawable form.
    pub const fn picture<'a>(&'a self, client: &'a Client, now: Time) -> Picture<'a> {
        Picture { view: self, client, now }
    }

    fn missing(&self, client: &Client) -> Option<Size> {
        let grid = grid(client);
        if grid == Size::ZERO {
            return None;
        }
        let needed = Size::new(grid.width.min(SMALLEST.width), (grid.height.saturating_add(1)).min(SMALLEST.height));
        (self.window.width < needed.width || self.window.height < needed.height).then_some(needed)
    }

    fn layout(&self, grid: Size, window: Size) -> Layout {
        let height = window.height.saturating_sub(1);
        let spare = height.checked_sub(grid.height);
        let beside = spare.is_some_and(|spare| spare >= PANEL_FROM)
            && window.width >= grid.width.saturating_add(2 + GAP + Panel::WIDTH)
            && self.verdict.is_none();
        let (line, footer) = match spare {
            _ if !self.hint => (false, false),
            // Before the game.
            _ if grid == Size::ZERO => (false, window.height >= SCROLLED_FROM),
            Some(spare) => (spare >= 1 && !beside, spare >= 2),
            None => (window.height >= SCROLLED_FROM, window.height >= SCROLLED_FROM),
        };
        let map = Size::new(window.width, height - u16::from(line) - u16::from(footer));
        Layout { map, beside: beside && footer, line, footer }
    }

    fn style(&self, shown: u8, visible: bool) -> Style {
        let (colour, modifier) = match (shown, visible) {
            (SELF, _) => (Color::LightGreen, Modifier::BOLD | Modifier::REVERSED),
            (b'A'..=b'Z', _) => (Color::LightMagenta, Modifier::BOLD | Modifier::UNDERLINED),
            (b'*', _) => (Color::Yellow, Modifier::BOLD),
            (ROCK, _) => return Style::new(),
            (ROOM, true) => (Color::Reset, Modifier::empty()),
            (PASSAGE, true) => (Color::Cyan, Modifier::empty()),
            (_, true) => (Color::LightBlue, Modifier::empty()),
            // The terminal's own colour, dimmed, is legible on dark and on light backgrounds.
            (_, false) => (Color::Reset, Modifier::DIM),
        };
        self.palette.style(colour, modifier)
    }
}

#[derive(Debug, Clone, Copy)]
struct Layout {
    /// The window of the map, between the status line and the lines below.
    map: Size,
    /// The panel with the standings is beside the map.
    beside: bool,
    /// The standings are in the line below the map.
    line: bool,
    /// The keys are in the last line.
    footer: bool,
}

/// One picture of a [`View`].
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    view: &'a View,
    client: &'a Client,
    now: Time,
}

impl Widget for &Picture<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let Picture { view, client, now } = *self;
        let last = view.last.as_ref().filter(|_| view.shows_last && !view.help);
        let verdict = view.verdict.as_ref().filter(|_| !view.board).or(last);
        if let Some(needed) = view.missing(client) {
            match verdict {
                Some(verdict) => verdict.render(area, buffer),
                None => TooSmall::new(needed, view.window).render(area, buffer),
            }
            return;
        }
        let grid = grid(client);
        let Layout { map: window, beside, line, footer } = view.layout(grid, area.as_size());
        let display = client.display();
        let cell = |x: u16, y: u16| {
            let offset = usize::from(y) * (usize::from(grid.width) + 1) + usize::from(x);
            let shown = display.get(offset).copied().unwrap_or(ROCK);
            let visible = u16::try_from(offset).is_ok_and(|offset| view.seen.is_visible(Cell(offset), shown));
            [(shown, view.style(shown, visible))]
        };
        let below = Rect::new(area.x, area.y.saturating_add(1), window.width, window.height);
        let panel = Panel { palette: view.palette, client, total: view.total };
        let room = below.width - if beside { GAP + Panel::WIDTH } else { 0 };
        let mut map_area = in_the_middle(Rect { width: room, ..below }, grid);
        if beside {
            // The frame shows the extent of the unexplored map.
            map_area.x = map_area.x.max(area.x + 1);
            map_area.y = map_area.y.max(below.y + 1);
            map_area = Rect { width: grid.width, height: grid.height, ..map_area };
            let dim = Style::new().add_modifier(Modifier::DIM);
            Block::bordered().border_style(dim).render(map_area.outer(Margin::new(1, 1)), buffer);
        }
        if beside {
            let left = map_area.right() + 1 + GAP;
            panel.render(Rect { x: left, width: (area.right() - left).min(Panel::WIDEST), ..map_area }, buffer);
        }
        GridView::new(grid, view.camera, cell).render(map_area, buffer);
        let status = client.status_at(&view.place, now, usize::from(area.width));
        let marks = view.camera.marks(grid, window);
        let shows_fact = view.hint || *client.participant() == Participant::Spectator;
        let fact = if shows_fact && client.is_joined() && !beside && !line { panel.fact() } else { String::new() };
        // As part of the status, the standings precede the title.
        let both = format!("{status}  {fact}");
        let hint = if view.hint && !footer { HINT.len() + usize::from(GAP) } else { 0 };
        let fits = !fact.is_empty() && both.chars().count() + hint <= usize::from(area.width);
        let title = view.hint.then_some(Title::NUGGETS);
        let header = Header::new(view.palette, title).fact(if fits { both } else { status }).right(marks, Tone::Plain);
        let (connection, tone) = connection(client, now);
        match (footer, view.hint && view.verdict.is_none()) {
            (true, _) => header.right(connection, tone).render(area, buffer),
            (false, true) => header.right(HINT, Tone::Plain).render(area, buffer),
            (false, false) => header.render(area, buffer),
        }
        if line && view.verdict.is_none() {
            let place = Rect { y: below.bottom(), height: 1, ..area };
            panel.line(usize::from(area.width)).render(place, buffer);
        }
        if footer && view.verdict.is_none() {
            let place = Rect { y: area.bottom() - 1, height: 1, ..area };
            let keys = if grid == Size::ZERO { &keys::ALWAYS } else { keys::footer(view.context(client)) };
            Footer::new(keys).render(place, buffer);
        }
        if let Some(verdict) = verdict {
            let beside = map_area.x.saturating_add(grid.width.min(map_area.width));
            let free = Rect { x: beside, width: area.right().saturating_sub(beside), ..below };
            verdict.render(if verdict.width() < free.width { free } else { below }, buffer);
        } else if let Some(verdict) = &view.verdict {
            verdict.render_bar(area, buffer);
        } else if view.help {
            Overlay::new("Nuggets", &keys::help(view.context(client))).render(area, buffer);
        }
    }
}

fn connection(client: &Client, now: Time) -> (&'static str, Tone) {
    match (client.end(), client.closed_for(now), client.is_joined()) {
        (Some(_), ..) => ("", Tone::Plain),
        (None, Some(_), _) => ("no server", Tone::Bad),
        (None, None, false) => ("joining", Tone::Warning),
        (None, None, true) => ("online", Tone::Good),
    }
}

fn in_the_middle(area: Rect, grid: Size) -> Rect {
    let margin = |room: u16, needed: u16| match room.saturating_sub(needed) {
        spare @ ROOMY.. => spare / 2,
        _ => 0,
    };
    let (x, y) = (margin(area.width, grid.width), margin(area.height, grid.height));
    Rect::new(area.x + x, area.y + y, area.width - x, area.height - y)
}

// Zero before the size has been received.
fn grid(client: &Client) -> Size {
    client.size().map_or(Size::ZERO, |(rows, cols)| Size::new(cols, rows))
}

/// Distinguishes the cells that the player sees now from those that it remembers.
///
/// A DISPLAY does not mark them, so sight is computed again from the player's place on the known map, with unknown
/// cells opaque. So a visible cell may be treated as remembered if its only line of sight passes an unknown gap, but a
/// remembered cell is never treated as visible.
#[derive(Debug, Clone, Default)]
pub(crate) struct SightMemory {
    displays: u64,
    // The known part of the map, without gold and players.
    map: Vec<u8>,
    sighter: Sighter,
    // `None` for a spectator, which sees the whole map.
    sight: Option<Sight>,
}

impl SightMemory {
    pub(crate) fn update(&mut self, client: &Client) {
        let text = client.display();
        if self.displays == client.displays() && self.map.len() == text.len() {
            return;
        }
        self.displays = client.displays();
        if self.map.len() != text.len() {
            self.map = vec![ROCK; text.len()];
        }
        for (known, &shown) in self.map.iter_mut().zip(text) {
            // Most players are in a room.
            *known = map_below(*known, shown).unwrap_or(ROOM);
        }
        self.sight = client.size().zip(client.position()).and_then(|((rows, cols), place)| {
            let field = Field::new(&self.map, rows, cols)?;
            let offset = place.row.checked_mul(cols.checked_add(1)?)?.checked_add(place.col)?;
            Some(self.sighter.sight(field, Cell(offset), Vision::default()))
        });
    }

    pub(crate) fn is_visible(&self, cell: Cell, shown: u8) -> bool {
        // Gold and players are shown only if they are visible.
        matches!(shown, b'*' | b'@' | b'A'..=b'Z') || self.sight.as_ref().is_none_or(|sight| sight.contains(cell))
    }
}

#[cfg(test)]
pub(crate) mod sight_tests {
    use super::*;
    use netcore::{Client as _, Time};
    use nuggets::{Grid, Name, Participant, view::SELF};

    /// Admitted, with a DISPLAY of these rows. The longest row is as wide as the map.
    pub(crate) fn client(part: Participant, rows: &[&str]) -> Client {
        let mut client = Client::new(part, Time::ZERO);
        let width = rows.iter().map(|row| row.len()).max().unwrap();
        let grid = format!("GRID {} {width}", rows.len());
        for datagram in ["OK A", &grid, "GOLD 0 0 250"] {
            client.receive(Time::ZERO, datagram.as_bytes()).unwrap();
        }
        let rows: Vec<String> = rows.iter().map(|row| format!("{row:width$}")).collect();
        show(&mut client, &rows.iter().map(String::as_str).collect::<Vec<_>>());
        client
    }

    fn show(client: &mut Client, rows: &[&str]) {
        client.receive(Time::ZERO, format!("DISPLAY\n{}\n", rows.join("\n")).as_bytes()).unwrap();
    }

    pub(crate) fn player() -> Participant {
        Participant::Player(Name::new(b"Ann").unwrap())
    }

    fn visible(seen: &SightMemory, client: &Client) -> Vec<String> {
        let shown = |(offset, &byte): (usize, &u8)| {
            let cell = Cell(u16::try_from(offset).unwrap());
            char::from(if byte == b'\n' || seen.is_visible(cell, byte) { byte } else { b' ' })
        };
        let text: String = client.display().iter().enumerate().map(shown).collect();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_passage_sees_its_neighbours_and_remembers_the_room() {
        let mut client = client(player(), &["+---+   ", "|..@|   ", "|...### ", "+---+   "]);
        let mut seen = SightMemory::default();
        seen.update(&client);
        assert_eq!(visible(&seen, &client), ["+---+   ", "|..@|   ", "|...#   ", "+---+   "]);
        show(&mut client, &["+---+   ", "|...|   ", "|...#@# ", "+---+   "]);
        seen.update(&client);
        assert_eq!(visible(&seen, &client), ["        ", "    |   ", "    #@# ", "    +   "]);
    }

    #[test]
    fn gold_and_players_are_transparent_and_always_in_sight() {
        let client = client(player(), &["+-----+", "|@*B..|", "+-----+"]);
        let mut seen = SightMemory::default();
        seen.update(&client);
        assert_eq!(visible(&seen, &client), ["+-----+", "|@*B..|", "+-----+"]);
    }

    // Compares with the sight on the complete map, from every spot.
    #[test]
    fn remembered_cells_are_never_shown_as_visible() {
        const MAP: &[u8] =
            b"+-----------+  +----+ \n|...........|  |....| \n|..+-+..||..#####...| \n|..|.|......|  |....| \n\
            |..#...-...+|  +---#+ \n|......|....|      #  \n|...........########  \n+-----------+         \n";
        let (grid, _) = Grid::parse(MAP).unwrap();
        let mut sighter = Sighter::default();
        let mut known: Vec<u8> = MAP.iter().map(|&byte| if byte == b'\n' { byte } else { b' ' }).collect();
        let rows = ["                      "; 8];
        let mut client = client(player(), &rows);
        let mut seen = SightMemory::default();
        let (mut visible, mut missed) = (0, 0);
        let spots: Vec<Cell> =
            (0..).map(Cell).zip(MAP).filter(|(_, byte)| b".#".contains(byte)).map(|(cell, _)| cell).collect();
        for step in 0..2 * spots.len() {
            let place = spots[step * 37 % spots.len()];
            let truth = sighter.sight(Field::from(&grid), place, Vision::default());
            for cell in truth.cells() {
                known[cell.index()] = grid.at(cell);
            }
            let mut shown = known.clone();
            shown[place.index()] = SELF;
            client.receive(Time::ZERO, &[b"DISPLAY\n", &shown[..]].concat()).unwrap();
            seen.update(&client);
            for (cell, &shown) in (0..).map(Cell).zip(&shown).filter(|&(_, shown)| !b" \n".contains(shown)) {
                let guessed = seen.is_visible(cell, shown);
                assert!(!guessed || truth.contains(cell), "step {step}: {}", grid.position(cell));
                visible += usize::from(truth.contains(cell));
                missed += usize::from(truth.contains(cell) && !guessed);
            }
        }
        assert!(known == MAP && missed * 100 < visible, "{missed} of {visible}");
    }

    #[test]
    fn a_spectator_sees_everything() {
        let client = client(Participant::Spectator, &["+-+ +-+", "|A###.|", "+-+ +-+"]);
        let mut seen = SightMemory::default();
        seen.update(&client);
        assert_eq!(visible(&seen, &client), ["+-+ +-+", "|A###.|", "+-+ +-+"]);
    }

    #[test]
    fn the_floor_below_a_player_is_remembered() {
        // A player in a known passage is opaque, like the passage.
        let mut client = client(player(), &["...###..", ".@.###..", "...###.."]);
        let mut seen = SightMemory::default();
        seen.update(&client);
        assert_eq!(visible(&seen, &client)[1], ".@.#    ");
        show(&mut client, &["...###..", ".@.B##..", "...###.."]);
        seen.update(&client);
        assert_eq!(visible(&seen, &client)[1], ".@.B    ");
    }
}
