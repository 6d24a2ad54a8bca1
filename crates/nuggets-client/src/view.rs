//! What the screen shows: the status in line 1, the map below it.

use netcore::Time;
use nuggets::{
    Cell, Client, Direction, Participant,
    grid::{PASSAGE, ROCK, ROOM},
    view::SELF,
};
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect, Size},
    style::{Color, Modifier, Style},
    widgets::Widget,
};
use termkit::{Camera, GridView, Overlay, Palette, StatusLine, TooSmall};

use crate::{
    keys::{self, Context, Shown, Steered},
    result::Verdict,
    seen::Seen,
};

/// The smallest window in which a part of a larger map makes sense; a smaller map needs no more than its own size.
const SMALLEST: Size = Size::new(16, 4);
/// How many columns and rows an arrow key of a spectator moves the map.
const SCROLL: (i32, i32) = (8, 4);
/// With so many columns or rows beyond its map, a window has the map in its middle. With fewer the map begins at the left
/// edge, and in line 2, where the rule wants it.
const ROOMY: u16 = 12;
/// Keys that the status line names where it has room.
const HINT: &str = "? keys  Q leave";

/// What the user looks at, which is more than what the server said: the part of the map, the help.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is shown or not")]
pub struct View {
    palette: Palette,
    camera: Camera,
    seen: Seen,
    help: bool,
    hint: bool,
    bot: bool,
    verdict: Option<Verdict>,
    // Whether the last board is looked at without the result.
    board: bool,
    // The result of the game before.
    last: Option<Verdict>,
    shows_last: bool,
    window: Size,
    // Where the server is, in words.
    place: String,
}

impl View {
    /// The view of a client that is steered by hand or by a bot.
    pub fn new(palette: Palette, bot: bool) -> Self {
        let (camera, seen) = (Camera::default(), Seen::default());
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
        }
    }

    /// The view of the next game, in which the result of the last one can be shown.
    #[must_use]
    pub(crate) fn next_game(&self, last: Option<Verdict>) -> Self {
        Self { hint: self.hint, place: self.place.clone(), last, ..Self::new(self.palette, self.bot) }
    }

    /// The view with a hint in its status line at the keys that show all keys and that leave.
    #[must_use]
    pub const fn with_hint(mut self) -> Self {
        self.hint = true;
        self
    }

    /// The view with the place of the server, which its status line names until the server answers.
    #[must_use]
    pub fn with_place(mut self, place: String) -> Self {
        self.place = place;
        self
    }

    /// Follows what `client` knows now, for a window of this size. To be called before [`View::picture`].
    pub fn prepare(&mut self, client: &Client, window: Size) {
        self.window = window;
        self.seen.update(client);
        let focus = client.position().map(|place| Position::new(place.col, place.row));
        self.camera.follow(grid(client), map_window(window), focus);
    }

    /// Shows the keys, or the game again.
    pub const fn toggle_help(&mut self) {
        self.help = !self.help;
    }

    /// Shows a result over the board, or none.
    pub fn set_verdict(&mut self, verdict: Option<Verdict>) {
        self.board &= verdict.is_some();
        self.help &= verdict.is_none();
        self.shows_last &= verdict.is_none();
        self.verdict = verdict;
    }

    /// Shows the board without the result, or with it again.
    pub const fn toggle_result(&mut self) {
        self.board = !self.board;
    }

    /// Shows the result of the game before, or the game again.
    pub(crate) const fn toggle_last(&mut self) {
        self.shows_last = !self.shows_last;
    }

    /// Moves the part of the map that is shown.
    pub fn scroll(&mut self, client: &Client, direction: Direction) {
        let (rows, columns) = direction.delta();
        self.camera.scroll(grid(client), map_window(self.window), columns * SCROLL.0, rows * SCROLL.1);
    }

    /// In which context a key is typed now.
    pub fn context(&self, client: &Client) -> Context {
        let shown = match self.missing(client) {
            _ if self.verdict.is_some() => Shown::Result,
            Some(_) => Shown::TooSmall,
            None if self.help => Shown::Help,
            None if self.shows_last => Shown::LastResult,
            None => Shown::Game,
        };
        Context { shown, steered: self.steered(client), has_last: self.last.is_some() }
    }

    fn steered(&self, client: &Client) -> Steered {
        match (client.participant(), self.bot) {
            (Participant::Spectator, _) => Steered::Not,
            (Participant::Player(_), true) => Steered::ByBot,
            (Participant::Player(_), false) => Steered::ByHand,
        }
    }

    /// What can be drawn.
    pub const fn picture<'a>(&'a self, client: &'a Client, now: Time) -> Picture<'a> {
        Picture { view: self, client, now }
    }

    // The size that is needed, if the window has not got it.
    fn missing(&self, client: &Client) -> Option<Size> {
        let grid = grid(client);
        if grid == Size::ZERO {
            return None;
        }
        let needed = Size::new(grid.width.min(SMALLEST.width), (grid.height.saturating_add(1)).min(SMALLEST.height));
        (self.window.width < needed.width || self.window.height < needed.height).then_some(needed)
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
            // The terminal's own colour, dimmed, can be read on dark and on light.
            (_, false) => (Color::Reset, Modifier::DIM),
        };
        self.palette.style(colour, modifier)
    }
}

/// One picture of a [`View`]. Drawing changes nothing.
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
        let (grid, window) = (grid(client), map_window(area.as_size()));
        let display = client.display();
        let cell = |x: u16, y: u16| {
            let offset = usize::from(y) * (usize::from(grid.width) + 1) + usize::from(x);
            let shown = display.get(offset).copied().unwrap_or(ROCK);
            let visible = u16::try_from(offset).is_ok_and(|offset| view.seen.is_visible(Cell(offset), shown));
            [(shown, view.style(shown, visible))]
        };
        let below = Rect::new(area.x, area.y.saturating_add(1), window.width, window.height);
        let map_area = in_the_middle(below, grid);
        GridView::new(grid, view.camera, cell).render(map_area, buffer);
        let status = client.status_at(&view.place, now, usize::from(area.width));
        let marks = view.camera.marks(grid, window);
        StatusLine::new(&status).right(&view.right(&marks, &status, area.width)).render(area, buffer);
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

impl View {
    // What stands at the right edge: where the map goes on, and the keys if there is room for them.
    fn right(&self, marks: &str, status: &str, width: u16) -> String {
        let gap = if marks.is_empty() { "" } else { "  " };
        let both = format!("{HINT}{gap}{marks}");
        let fits = status.chars().count() + 2 + both.chars().count() <= usize::from(width);
        if self.hint && self.verdict.is_none() && fits { both } else { marks.to_owned() }
    }
}

// The part of `area` that shows a map of this size.
fn in_the_middle(area: Rect, grid: Size) -> Rect {
    let margin = |room: u16, needed: u16| match room.saturating_sub(needed) {
        spare @ ROOMY.. => spare / 2,
        _ => 0,
    };
    let (x, y) = (margin(area.width, grid.width), margin(area.height, grid.height));
    Rect::new(area.x + x, area.y + y, area.width - x, area.height - y)
}

// The size of the map, none before the server has told.
fn grid(client: &Client) -> Size {
    client.size().map_or(Size::ZERO, |(rows, cols)| Size::new(cols, rows))
}

// The part of the window that the map has.
const fn map_window(window: Size) -> Size {
    Size::new(window.width, window.height.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netcore::Client as _;
    use nuggets::Name;
    use ratatui::{Terminal, backend::TestBackend};

    const MAP: [&str; 6] = [
        "+------------------+",
        "|@..........*....B.|",
        "|..................####",
        "|..................|",
        "|.................C|",
        "+------------------+",
    ];

    fn client(part: Participant, rows: &[&str]) -> Client {
        let width = rows.iter().map(|row| row.len()).max().unwrap();
        let text = rows.iter().map(|row| format!("{row:width$}\n")).collect::<Vec<_>>().concat();
        let mut client = Client::new(part, Time::ZERO);
        let grid = format!("GRID {} {width}", rows.len());
        for datagram in ["OK A", &grid, "GOLD 0 0 250", &format!("DISPLAY\n{text}")] {
            client.receive(Time::ZERO, datagram.as_bytes()).unwrap();
        }
        client
    }

    fn player() -> Client {
        client(Participant::Player(Name::new(b"Ann").unwrap()), &MAP)
    }

    fn terminal(view: &mut View, client: &Client, width: u16, height: u16) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        view.prepare(client, Size::new(width, height));
        terminal.draw(|frame| frame.render_widget(&view.picture(client, Time::ZERO), frame.area())).unwrap();
        terminal
    }

    fn screen(view: &mut View, client: &Client, width: u16, height: u16) -> Vec<String> {
        let terminal = terminal(view, client, width, height);
        let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
        terminal
            .backend()
            .buffer()
            .content
            .chunks(usize::from(width))
            .map(|cells| row(cells).trim_end().into())
            .collect()
    }

    fn view() -> View {
        View::new(Palette::COLOUR, false)
    }

    #[test]
    fn the_status_is_in_line_1_and_the_map_begins_in_line_2() {
        let shown = screen(&mut view(), &player(), 34, 9);
        assert_eq!(shown[0], "A 0 gold, 250 left");
        assert_eq!(shown[1..7], MAP);
        assert_eq!(shown[7..], ["", ""]);
        assert_eq!(screen(&mut view(), &player(), 60, 7)[0], "Player A has 0 nuggets (250 nuggets unclaimed).");
    }

    #[test]
    fn a_window_as_narrow_as_its_map_cuts_the_status_at_the_right_edge() {
        let narrow = client(Participant::Spectator, &["+---+", "|A.*|", "+---+"]);
        assert_eq!(screen(&mut view(), &narrow, 5, 4), ["250 l", "+---+", "|A.*|", "+---+"]);
    }

    #[test]
    fn before_the_welcome_there_is_only_the_status() {
        let client = Client::new(Participant::Spectator, Time::ZERO);
        let shown = screen(&mut view(), &client, 60, 3);
        assert_eq!(shown, ["Waiting for the server to answer (attempt 1).", "", ""]);
    }

    #[test]
    fn a_smaller_window_follows_the_player_and_says_where_the_map_goes_on() {
        let mut client = player();
        let mut view = view();
        assert_eq!(
            screen(&mut view, &client, 16, 4),
            ["A 0, 250 left", "+---------------", "|@..........*...", "|..............."]
        );
        let rows = MAP.map(|row| format!("{:23}\n", row.replace('@', "."))).concat();
        let moved = rows.replace('C', "@");
        client.receive(Time::ZERO, format!("DISPLAY\n{moved}").as_bytes()).unwrap();
        assert_eq!(
            screen(&mut view, &client, 16, 4),
            ["A 0, 250 left", "............|", "...........@|", "------------+"]
        );
        let wide = screen(&mut view, &client, 34, 4);
        assert_eq!(wide[0], "A 0 gold, 250 left               ^");
        assert_eq!(wide[1..], MAP[3..].iter().map(|row| row.replace('C', "@")).collect::<Vec<_>>());
    }

    #[test]
    fn a_window_that_is_too_small_says_so_until_it_is_not() {
        let (client, mut view) = (player(), view());
        assert_eq!(
            screen(&mut view, &client, 40, 3),
            ["Window too small: needs 4 rows, 16", "columns; has 3 rows, 40 columns. Please", "enlarge it."]
        );
        assert_eq!(view.context(&client).shown, Shown::TooSmall);
        assert_eq!(screen(&mut view, &client, 15, 6)[0], "Needs 4 rows,");
        assert_eq!(screen(&mut view, &client, 30, 7)[1..], MAP);
        assert_eq!(view.context(&client).shown, Shown::Game);
        for (width, height) in [(1, 1), (2, 1), (1, 9)] {
            screen(&mut view, &client, width, height);
        }
    }

    #[test]
    fn a_large_window_has_the_map_in_its_middle() {
        let shown = screen(&mut view(), &player(), 123, 31);
        assert_eq!(shown[0], "Player A has 0 nuggets (250 nuggets unclaimed).");
        let middle = MAP.map(|row| " ".repeat(50) + row);
        assert_eq!(shown[13..19], middle);
        assert!(shown[1..13].iter().chain(&shown[19..]).all(String::is_empty));
    }

    #[test]
    fn the_keys_are_hinted_at_where_there_is_room() {
        let (client, mut view) = (player(), view().with_hint());
        assert_eq!(
            screen(&mut view, &client, 80, 24)[0],
            "Player A has 0 nuggets (250 nuggets unclaimed).                  ? keys  Q leave"
        );
        assert_eq!(screen(&mut view, &client, 60, 24)[0], "Player A has 0 nuggets (250 nuggets unclaimed).");
        assert_eq!(screen(&mut view, &client, 38, 4)[0], "A 0 gold, 250 left  ? keys  Q leave  v");
    }

    #[test]
    fn a_result_stands_over_the_board_or_beside_it() {
        let mut client = player();
        client.receive(Time::ZERO, b"QUIT GAME OVER:\nA         50 Ann\nB        200 Bob").unwrap();
        let mut view = view();
        let mut verdict = Verdict::of(&client);
        verdict.keys = vec!["Q leave".into()];
        view.set_verdict(Some(verdict));
        let shown = screen(&mut view, &client, 80, 24);
        let row = |text: &str| shown.iter().position(|line| line.contains(text)).unwrap();
        assert!(row("┌ Game over") < row("  1. B Bob  200 ★") && row("200 ★") < row("> 2. A Ann   50"), "{shown:#?}");
        assert!(row("Q leave") > row("> 2."));
        assert!(shown.iter().any(|line| line.contains("|..................####")), "beside it: {shown:#?}");
        assert_eq!(view.context(&client).shown, Shown::Result);
        assert!(screen(&mut view, &client, 34, 8).iter().any(|line| line.contains("200 ★")));
        view.toggle_result();
        assert_eq!(screen(&mut view, &client, 34, 8)[1..7], MAP);
        // A window that is too small for the map still shows how one did.
        view.toggle_result();
        let tiny = screen(&mut view, &client, 34, 3);
        assert!(tiny[0].ends_with("> 2. A Ann   50") && tiny[2].ends_with("Q leave"), "{tiny:?}");
    }

    #[test]
    fn the_help_covers_the_map_and_goes_away() {
        let (client, mut view) = (player(), view());
        view.toggle_help();
        let shown = screen(&mut view, &client, 80, 24);
        assert!(shown.iter().any(|row| row.contains("┌ Nuggets ─")), "{shown:#?}");
        assert!(shown.iter().any(|row| row.contains("Q            leave the game")), "{shown:#?}");
        assert!(shown.iter().any(|row| row.contains("Any key goes back to the game.")), "{shown:#?}");
        assert!(shown.iter().any(|row| row.contains("The game goes on meanwhile.")), "{shown:#?}");
        assert_eq!(shown[0], "Player A has 0 nuggets (250 nuggets unclaimed).");
        view.toggle_help();
        assert_eq!(screen(&mut view, &client, 34, 12)[1..7], MAP);
    }

    #[test]
    fn a_spectator_moves_the_map_by_hand() {
        let (client, mut view) = (
            client(Participant::Spectator, &MAP.map(|row| if row == MAP[1] { "|A..........*....B.|" } else { row })),
            view(),
        );
        screen(&mut view, &client, 18, 4);
        view.scroll(&client, Direction::DownRight);
        let part: Vec<&str> = MAP[3..].iter().map(|row| &row[5..]).collect();
        assert_eq!(screen(&mut view, &client, 18, 4)[1..], part);
    }

    #[test]
    fn kinds_of_cells_differ_with_and_without_colour() {
        for palette in [Palette::COLOUR, Palette::MONO] {
            let view = View::new(palette, false);
            let styles = [
                view.style(b'@', true),
                view.style(b'B', true),
                view.style(b'*', true),
                view.style(b'.', true),
                view.style(b'.', false),
            ];
            for (index, style) in styles.iter().enumerate() {
                assert!(!styles[..index].contains(style), "{palette:?} {index}");
            }
            assert!(view.style(b'|', false).add_modifier.contains(Modifier::DIM));
            assert!(!view.style(b'|', true).add_modifier.contains(Modifier::DIM));
        }
        let mono = View::new(Palette::MONO, false);
        assert!(b"@A*.#|".iter().all(|&byte| mono.style(byte, true).fg.is_none()));
    }

    #[test]
    fn what_is_remembered_is_dim() {
        let passage =
            client(Participant::Player(Name::new(b"Ann").unwrap()), &["+--+    ", "|..|    ", "|..##@# ", "+--+    "]);
        let terminal = terminal(&mut view(), &passage, 10, 5);
        let dim = |x: u16, y: u16| terminal.backend().buffer()[(x, y)].modifier.contains(Modifier::DIM);
        assert!(dim(1, 2) && dim(0, 1) && dim(3, 3));
        assert!(!dim(4, 3) && !dim(5, 3) && !dim(6, 3));
    }
}
