//! What the screen shows.

use std::{collections::BTreeMap, time::Duration};

use netcore::wire::ShortText;
use ratatui::{
    buffer::Buffer,
    layout::{Margin, Rect, Size},
    style::{Modifier, Style},
    text::Line,
    widgets::{Block, Paragraph, Widget, Wrap},
};
use robots::{Direction, DrawMessage, GamePicture, Parameters, Player, PlayerId};
use termkit::{Camera, GridView, Overlay, Palette, StatusLine, TooSmall};
use tokio::sync::watch;

use crate::{
    keys::{HELP, Shown},
    looks::{FIRST_LONG_LABEL, label, printable},
    roster::{Roster, Row},
    scene::{Scene, place},
};

/// The smallest window in which anything can be told.
const SMALLEST: Size = Size::new(12, 3);
/// A lower window has no line for hints.
const HINTS_FROM: u16 = 6;
/// A narrower window has no score board.
const SCORES_FROM: u16 = 36;
/// What the score board has beside a large board, in columns, as a part of the window and within bounds.
const SCORES_PART: u16 = 4;
const SCORES_LEAST: u16 = 20;
const SCORES_LARGE: u16 = 32;
/// What it has at most where the board leaves room, and what sets it off.
const SCORES_MOST: u16 = 44;
const GAP: u16 = 1;
/// The bar beside the number of the turn: from which width of the window on it has how many characters.
const BARS: [(u16, usize); 2] = [(60, 20), (40, 10)];
/// How many columns and rows of fields a key moves the board.
const SCROLL: (i32, i32) = (6, 4);

/// Whose robot is kept in view.
#[derive(Debug, Clone, Default)]
pub enum Follow {
    /// Nobody's.
    #[default]
    Nobody,
    /// The one of the player with this number.
    Id(PlayerId),
    /// The one of the first player of this name.
    Name(ShortText),
    /// The one that somebody else knows, such as a client in the same program.
    Told(watch::Receiver<Option<PlayerId>>),
}

// What the user has chosen to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Look {
    #[default]
    AsTold,
    At(PlayerId),
    Around,
}

/// How things stand with the other program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contact {
    /// Where the client is, as the user knows it.
    pub client: String,
    /// The port on which pictures come.
    pub port: u16,
    /// Time since the last picture, if that is longer than it should be.
    pub silence: Option<Duration>,
    /// Nobody listens where the client should be.
    pub refused: bool,
    /// The client has no server and looks for it again, as far as it is known.
    pub server_lost: bool,
    /// Datagrams that were no pictures.
    pub unreadable: u64,
}

/// What the user looks at: the newest picture, the part of the board, the help.
#[derive(Debug, Clone)]
pub struct View {
    palette: Palette,
    follow: Follow,
    look: Look,
    newest: Option<DrawMessage>,
    camera: Camera,
    help: bool,
    window: Size,
}

impl View {
    /// A view without a picture yet.
    pub fn new(palette: Palette, follow: Follow) -> Self {
        Self {
            palette,
            follow,
            look: Look::default(),
            newest: None,
            camera: Camera::default(),
            help: false,
            window: Size::ZERO,
        }
    }

    /// Takes in a picture; the one before is forgotten.
    pub fn show(&mut self, picture: DrawMessage) {
        self.newest = Some(picture);
    }

    /// The newest picture.
    pub const fn newest(&self) -> Option<&DrawMessage> {
        self.newest.as_ref()
    }

    /// Follows the robot in view, for a window of this size. To be called before [`View::picture`].
    pub fn prepare(&mut self, window: Size) {
        self.window = window;
        let Some(DrawMessage::Game(game)) = &self.newest else { return };
        let focus = self.in_view(&game.players).and_then(|id| game.player_positions.get(&id));
        let focus = focus.and_then(|&position| place(game, position));
        self.camera.follow(size(game), Layout::of(game, window).fields(), focus);
    }

    /// What the screen shows, for the meaning of keys.
    pub fn shown(&self) -> Shown {
        match (self.is_too_small(), self.help) {
            (true, _) => Shown::TooSmall,
            (false, true) => Shown::Help,
            (false, false) => Shown::Game,
        }
    }

    /// Shows the keys, or the game again.
    pub const fn toggle_help(&mut self) {
        self.help = !self.help;
    }

    /// Moves the part of the board that is shown, and follows nobody any more.
    pub fn scroll(&mut self, direction: Direction) {
        let Some(DrawMessage::Game(game)) = &self.newest else { return };
        let (columns, rows) = match direction {
            Direction::Up => (0, -SCROLL.1),
            Direction::Right => (SCROLL.0, 0),
            Direction::Down => (0, SCROLL.1),
            Direction::Left => (-SCROLL.0, 0),
        };
        self.look = Look::Around;
        self.camera.scroll(size(game), Layout::of(game, self.window).fields(), columns, rows);
    }

    /// Follows the next robot: first the own one, if it is known, then the others by number.
    pub fn follow_next(&mut self) {
        let Some(DrawMessage::Game(game)) = &self.newest else { return };
        let own = self.own(&game.players);
        let others = || game.player_positions.keys().copied().filter(|&id| Some(id) != own);
        let first = if own.is_some() { Look::AsTold } else { others().next().map_or(Look::AsTold, Look::At) };
        self.look = match self.look {
            Look::Around => first,
            Look::AsTold => others().next().map_or(first, Look::At),
            Look::At(now) => others().find(|&id| id > now).map_or(first, Look::At),
        };
    }

    /// What can be drawn.
    pub const fn picture<'a>(&'a self, contact: &'a Contact) -> Picture<'a> {
        Picture { view: self, contact }
    }

    fn is_too_small(&self) -> bool {
        self.window.width < SMALLEST.width || self.window.height < SMALLEST.height
    }

    // The player that we were told to follow, if it plays.
    fn own(&self, players: &BTreeMap<PlayerId, Player>) -> Option<PlayerId> {
        let told = match &self.follow {
            Follow::Nobody => None,
            Follow::Id(id) => Some(*id),
            Follow::Name(name) => players.iter().find(|(_, player)| player.name == *name).map(|(&id, _)| id),
            Follow::Told(told) => *told.borrow(),
        };
        told.filter(|id| players.contains_key(id))
    }

    fn in_view(&self, players: &BTreeMap<PlayerId, Player>) -> Option<PlayerId> {
        match self.look {
            Look::AsTold => self.own(players),
            Look::At(id) => Some(id),
            Look::Around => None,
        }
    }
}

// The board in fields.
const fn size(game: &GamePicture) -> Size {
    Size::new(game.size_x, game.size_y)
}

/// Where things are in a window, counted from its top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    // With its frame, if it has one.
    board: Rect,
    framed: bool,
    // Columns of a field.
    wide: bool,
    scores: Option<Rect>,
    hints: Option<Rect>,
}

impl Layout {
    fn of(game: &GamePicture, window: Size) -> Self {
        let hints = (window.height >= HINTS_FROM).then(|| Rect::new(0, window.height - 1, window.width, 1));
        let height = window.height.saturating_sub(1 + u16::from(hints.is_some()));
        let with_scores = window.width >= SCORES_FROM && !game.players.is_empty();
        let scores = (window.width / SCORES_PART).clamp(SCORES_LEAST, SCORES_LARGE);
        let room = if with_scores { window.width - scores - GAP } else { window.width };
        let columns = |field: u16| u32::from(game.size_x) * u32::from(field) + 2;
        let long = game.players.keys().chain(game.player_positions.keys()).any(|&id| id >= FIRST_LONG_LABEL);
        let wide = long || columns(3) <= u32::from(room);
        let field = if wide { 3 } else { 2 };
        let framed = columns(field) <= u32::from(room) && u32::from(game.size_y) + 2 <= u32::from(height);
        let (across, down) = if framed {
            (game.size_x * field + 2, game.size_y + 2)
        } else {
            let fields = game.size_x.min(room / field);
            (fields * field, game.size_y.min(height))
        };
        let scores = with_scores.then(|| {
            let x = across + GAP;
            Rect::new(x, 1, (window.width - x).min(SCORES_MOST), height)
        });
        Self { board: Rect::new(0, 1, across, down), framed, wide, scores, hints }
    }

    // The part of the board that fits, in fields.
    fn fields(self) -> Size {
        let inner = self.inner();
        Size::new(inner.width / if self.wide { 3 } else { 2 }, inner.height)
    }

    fn inner(self) -> Rect {
        if self.framed { self.board.inner(Margin::new(1, 1)) } else { self.board }
    }
}

/// One picture of a [`View`]. Drawing changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    view: &'a View,
    contact: &'a Contact,
}

impl Widget for &Picture<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if self.view.is_too_small() {
            TooSmall::new(SMALLEST, self.view.window).render(area, buffer);
            return;
        }
        match &self.view.newest {
            None => self.waiting(area, buffer),
            Some(DrawMessage::Lobby { parameters, players }) => self.lobby(parameters, players, area, buffer),
            Some(DrawMessage::Game(game)) => self.game(game, area, buffer),
        }
        if self.view.help {
            Overlay::new("Robots", HELP).render(area, buffer);
        }
    }
}

impl Picture<'_> {
    fn waiting(&self, area: Rect, buffer: &mut Buffer) {
        let Contact { client, port, .. } = self.contact;
        let mut lines = vec![Line::raw(format!("Waiting for pictures on UDP port {port}."))];
        lines.push(Line::raw(self.trouble(None).unwrap_or_else(|| format!("Keys go to the client at {client}."))));
        lines.push(Line::raw("? shows the keys, Q leaves."));
        Paragraph::new(lines).wrap(Wrap { trim: true }).render(area, buffer);
    }

    fn lobby(&self, parameters: &Parameters, players: &BTreeMap<PlayerId, Player>, area: Rect, buffer: &mut Buffer) {
        let Parameters { server_name, players_count, size_x, size_y, game_length, explosion_radius, bomb_timer } =
            parameters;
        let missing = usize::from(*players_count).saturating_sub(players.len());
        let hints = area.height >= HINTS_FROM;
        let trouble = self.trouble(self.view.newest());
        let title = format!("Lobby of {}", printable(server_name));
        let title = if hints { title } else { trouble.clone().unwrap_or(title) };
        StatusLine::new(&title).render(area, buffer);
        let joined = format!("{} of {players_count}, {missing} more to come", players.len());
        let facts = if area.height >= 14 {
            vec![
                format!("Players           {joined}"),
                format!("Board             {size_x} x {size_y}"),
                format!("Length            {game_length} turns"),
                format!("Explosion radius  {explosion_radius}"),
                format!("Bomb timer        {bomb_timer} turns"),
                String::new(),
            ]
        } else {
            let rest =
                format!("{size_x} x {size_y}, {game_length} turns, radius {explosion_radius}, bombs {bomb_timer}");
            // The list needs a line or two as well.
            [format!("Players {joined}"), rest].into_iter().take(usize::from(area.height / 3)).collect()
        };
        let mut y = area.y + 1;
        for fact in &facts {
            buffer.set_stringn(area.x, y, fact, usize::from(area.width), Style::new());
            y += 1;
        }
        let bottom = area.bottom() - u16::from(hints);
        let row = |(&id, player): (&PlayerId, &Player)| {
            let (name, last) = (printable(&player.name), printable(&player.address));
            Row { id, name, last }
        };
        let rows: Vec<Row> = players.iter().map(row).collect();
        let in_view = self.view.own(players);
        let roster = Roster { rows: &rows, last: "address", at_right: false, in_view, palette: self.view.palette };
        roster.render(Rect { y, height: bottom.saturating_sub(y), ..area }, buffer);
        if hints {
            let joined = if in_view.is_some() {
                "You are in. ?: keys  Q: leave"
            } else {
                "Any game key joins, such as Space. ?: keys  Q: leave"
            };
            self.hints(trouble, joined, Rect { y: bottom, height: 1, ..area }, buffer);
        }
    }

    fn game(&self, game: &GamePicture, area: Rect, buffer: &mut Buffer) {
        let view = self.view;
        let layout = Layout::of(game, area.as_size());
        let on_screen = |rect: Rect| Rect { x: rect.x + area.x, y: rect.y + area.y, ..rect };
        let (fields, in_view) = (layout.fields(), view.in_view(&game.players));
        let trouble = self.trouble(view.newest());

        let marks = view.camera.marks(size(game), fields);
        let turn = title(game, area.width);
        let top = if layout.hints.is_none() { trouble.as_deref().unwrap_or(&turn) } else { &turn };
        StatusLine::new(top).right(&marks).render(area, buffer);

        let scene = Scene::new(game, view.camera.corner(), fields, in_view, view.palette);
        if layout.framed {
            let dim = Style::new().add_modifier(Modifier::DIM);
            Block::bordered().border_style(dim).render(on_screen(layout.board), buffer);
        }
        let inner = on_screen(layout.inner());
        if layout.wide {
            GridView::new(size(game), view.camera, |x, y| scene.cell::<3>(x, y)).render(inner, buffer);
        } else {
            GridView::new(size(game), view.camera, |x, y| scene.cell::<2>(x, y)).render(inner, buffer);
        }

        if let Some(scores) = layout.scores {
            let rows = scores_of(game);
            let roster = Roster { rows: &rows, last: "deaths", at_right: true, in_view, palette: view.palette };
            roster.render(on_screen(scores), buffer);
        }
        if let Some(hints) = layout.hints {
            let who = view.own(&game.players).map_or_else(String::new, |id| {
                let (letter, number) = label(id);
                format!(
                    "You are {}{}.  ",
                    char::from(letter),
                    number.map_or_else(String::new, |it| char::from(it).into())
                )
            });
            let keys = format!("{who}Move: WASD/arrows  Bomb: Space  Block: K  ?: keys  Q: leave");
            let fits = keys.len() <= usize::from(hints.width);
            // Whoever knows how to see the keys knows them all.
            let keys = if fits { keys } else { format!("{who}?: keys  Q: leave") };
            self.hints(trouble, &keys, on_screen(hints), buffer);
        }
    }

    fn hints(&self, trouble: Option<String>, usual: &str, area: Rect, buffer: &mut Buffer) {
        let unreadable = match self.contact.unreadable {
            0 => String::new(),
            count => format!("{count} unreadable"),
        };
        match trouble {
            Some(trouble) => StatusLine::new(&trouble).right(&unreadable).render(area, buffer),
            None if unreadable.is_empty() => StatusLine::new(usual).render(area, buffer),
            None => StatusLine::new(&format!("{unreadable}.  {usual}")).render(area, buffer),
        }
    }

    // What the user should know about the other program.
    fn trouble(&self, newest: Option<&DrawMessage>) -> Option<String> {
        let Contact { client, silence, refused, server_lost, .. } = self.contact;
        if *server_lost {
            return Some("No connection to the server; trying again".to_owned());
        }
        if *refused {
            return Some(format!("Nobody listens at {client}: is the client running there?"));
        }
        let seconds = silence.as_ref()?.as_secs();
        Some(match newest {
            // Between two arrivals there is nothing to tell, however long that takes.
            Some(DrawMessage::Lobby { .. }) => {
                format!("No picture for {seconds} s; in the lobby one comes when somebody joins")
            }
            _ => format!("No picture for {seconds} s: is the client running at {client}?"),
        })
    }
}

// The turn, as a bar too, and the server's name, which may be long.
fn title(game: &GamePicture, width: u16) -> String {
    let GamePicture { turn, game_length, server_name, .. } = game;
    let name = printable(server_name);
    let Some(&(_, bar)) = BARS.iter().find(|&&(from, _)| width >= from) else {
        return format!("{turn}/{game_length}  {name}");
    };
    // A game of no turns is over at once.
    let parts = usize::from(*turn) * bar;
    let done = parts.checked_div(usize::from(*game_length)).map_or(bar, |done| done.min(bar));
    format!("Turn {turn} of {game_length} [{:-<bar$}]  {name}", "#".repeat(done))
}

// Fewest deaths first. Whoever has no score yet comes last.
fn scores_of(game: &GamePicture) -> Vec<Row> {
    let mut players: Vec<(Option<u32>, PlayerId, &Player)> =
        game.players.iter().map(|(&id, player)| (game.scores.get(&id).copied(), id, player)).collect();
    players.sort_by_key(|&(score, id, _)| (score.is_none(), score, id));
    let row = |(score, id, player): (Option<u32>, PlayerId, &Player)| {
        let last = score.map_or_else(|| "-".to_owned(), |score| score.to_string());
        Row { id, name: printable(&player.name), last }
    };
    players.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests;
