use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Modifier, Style},
    text::Line,
    widgets::{Block, Clear, Paragraph, Widget, Wrap},
};
use robots::{DrawMessage, GamePicture, Player, PlayerId};
use termkit::{Header, Overlay, Ranking, Title, Tone, TooSmall, printable};
use unicode_width::UnicodeWidthStr;

use crate::{
    footer::{self, Hints},
    keys::help,
    roster::{Roster, Row},
    scene::Scene,
    sender::Contact,
    view::{HINTS_FROM, Layout, SMALLEST, Showing, UserRole, View, size},
};

/// The least width of the window, and characters of the progress bar.
const BARS: [(u16, usize); 2] = [(60, 20), (40, 10)];

/// Drawing has no side effects.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    pub(crate) view: &'a View,
    pub(crate) contact: &'a Contact,
}

impl View {
    /// The drawable picture of this view.
    pub const fn picture<'a>(&'a self, contact: &'a Contact) -> Picture<'a> {
        Picture { view: self, contact }
    }
}

impl Widget for &Picture<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let view = self.view;
        if view.is_too_small() {
            TooSmall::new(SMALLEST, view.window).render(area, buffer);
            return;
        }
        match (view.game(), view.newest()) {
            (Some(game), _) => self.game(game, area, buffer),
            (None, Some(DrawMessage::Lobby { parameters, players })) => self.lobby(parameters, players, area, buffer),
            (None, _) => self.waiting(area, buffer),
        }
        if view.help {
            Overlay::new("Robots", &help(view.steers())).render(area, buffer);
        }
    }
}

impl Picture<'_> {
    fn waiting(&self, area: Rect, buffer: &mut Buffer) {
        let Contact { client, port, .. } = self.contact;
        let trouble = footer::trouble(self.view, self.contact);
        let mut lines = match self.view.role {
            None => vec![],
            Some(UserRole::Remote) => {
                let keys = trouble.unwrap_or_else(|| format!("Keys go to the client at {client}."));
                vec![format!("Waiting for pictures on UDP port {port}."), keys]
            }
            Some(_) => vec![trouble.unwrap_or_else(|| "Waiting for the server.".to_owned())],
        };
        self.header(String::new()).render(area, buffer);
        let hints = area.height >= HINTS_FROM;
        if !hints && self.view.role.is_some() {
            lines.push("? shows the keys, Q leaves.".to_owned());
        }
        let lines: Vec<Line<'_>> = lines.into_iter().map(Line::raw).collect();
        let gap = 1 + u16::from(hints);
        let place = Rect { y: area.y + gap, height: area.height - gap - u16::from(hints), ..area };
        Paragraph::new(lines).wrap(Wrap { trim: true }).render(place, buffer);
        if hints && self.view.role.is_some() {
            let keys = Hints { notes: vec![], keys: vec![("?", "keys"), ("Q", "leave")] };
            keys.line(self.view.palette).render(Rect { y: area.bottom() - 1, height: 1, ..area }, buffer);
        }
    }

    fn game(&self, game: &GamePicture, area: Rect, buffer: &mut Buffer) {
        let view = self.view;
        let layout = Layout::of(game, area.as_size());
        let on_screen = |rect: Rect| Rect { x: rect.x + area.x, y: rect.y + area.y, ..rect };
        let (fields, in_view) = (layout.fields(), view.in_view(&game.players));
        let trouble = footer::trouble(view, self.contact);

        let marks = view.camera.marks(size(game), fields);
        match trouble.as_ref().filter(|_| layout.hints.is_none()) {
            Some(trouble) => self.header(marks).fact(trouble).render(area, buffer),
            None => self.game_header(game, marks, area.width).render(area, buffer),
        }

        let mut scene = Scene::new(game, &view.smoke, view.camera.corner(), fields, in_view, view.palette);
        if view.danger
            && let Some(blasts) = view.story.danger(game)
        {
            scene = scene.with_danger(game, &blasts);
        }
        if let Some(own) = view.own(&game.players).filter(|_| view.story.points(view.now)) {
            scene = scene.pointing_at(game, own);
        }
        if layout.framed {
            let dim = Style::new().add_modifier(Modifier::DIM);
            Block::bordered().border_style(dim).render(on_screen(layout.board), buffer);
        }
        scene.render(layout.side, on_screen(layout.inner()), buffer);

        if let Some(scores) = layout.scores {
            let rows = scores_of(game);
            let roster = Roster { rows: &rows, last: "deaths", at_right: true, in_view, palette: view.palette };
            roster.render(on_screen(scores), buffer);
        }
        self.below(game, &layout, trouble, area, buffer);
    }

    fn below(&self, game: &GamePicture, layout: &Layout, trouble: Option<String>, area: Rect, buffer: &mut Buffer) {
        let view = self.view;
        let hints = layout.hints.map(|hints| Rect { x: hints.x + area.x, y: hints.y + area.y, ..hints });
        let Some(last) = view.last.as_ref().filter(|_| view.showing != Showing::Newest) else {
            let Some(hints) = hints else { return };
            let mut usual = footer::game(view, game, self.contact.turn_duration);
            let news = view.story.news(view.now).filter(|_| trouble.is_none());
            if let Some(news) = news {
                usual.notes = vec![news.to_owned()];
            }
            self.hints(trouble, &usual, hints, buffer);
            if let Some(news) = news {
                let width = u16::try_from(news.width()).unwrap_or(u16::MAX).min(hints.width);
                buffer.set_style(Rect { width, ..hints }, Style::new().add_modifier(Modifier::BOLD));
            }
            return;
        };
        let result = footer::result(view, self.contact);
        if let Some(hints) = hints {
            let keys = Hints { notes: vec![], keys: result.keys.clone() };
            let all = if view.showing == Showing::FinalBoard { &result } else { &keys };
            Clear.render(hints, buffer);
            all.line(view.palette).render(hints, buffer);
        }
        if view.showing == Showing::FinalBoard {
            return;
        }
        let mut lines = result.notes;
        if hints.is_none() {
            lines.extend(result.keys.iter().map(|(key, meaning)| format!("{key} {meaning}")));
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (ranks, title) = (last.ranks(), last.title());
        let ranking = Ranking::new(&title, &ranks, &lines);
        // Beside the board if possible, so that the whole board stays visible.
        let beside = layout.scores.map(|scores| Rect { x: scores.x + area.x, y: scores.y + area.y, ..scores });
        let beside = beside.filter(|scores| {
            let size = ranking.size();
            size.width <= scores.width && size.height <= scores.height
        });
        let taken = 1 + u16::from(hints.is_some());
        let place = beside.unwrap_or(Rect { y: area.y + 1, height: area.height.saturating_sub(taken), ..area });
        if let Some(scores) = beside {
            Clear.render(scores, buffer);
        }
        ranking.render(place, buffer);
    }

    pub(crate) fn hints(&self, trouble: Option<String>, usual: &Hints, area: Rect, buffer: &mut Buffer) {
        let unreadable = match self.contact.unreadable {
            0 => String::new(),
            count => format!("{count} unreadable"),
        };
        let trouble = trouble.map(|trouble| Hints { notes: vec![trouble], keys: vec![] });
        let footer = trouble.as_ref().unwrap_or(usual).line(self.view.palette);
        footer.right(unreadable, Style::new()).render(area, buffer);
    }

    /// `marks` name the hidden sides of the board.
    pub(crate) fn header(&self, marks: String) -> Header<'_> {
        let (connection, tone) = footer::connection(self.view, self.contact);
        Header::new(self.view.palette, Some(Title::ROBOTS)).right(marks, Tone::Plain).right(connection, tone)
    }

    // The turn with a progress bar, the remaining time, and the server's name.
    fn game_header(&self, game: &GamePicture, marks: String, width: u16) -> Header<'_> {
        let GamePicture { turn, game_length, server_name, .. } = game;
        let name = printable(server_name);
        let Some(&(_, bar)) = BARS.iter().find(|&&(from, _)| width >= from) else {
            return self.header(marks).fact(format!("{turn}/{game_length}")).fact(name);
        };
        // A game without turns is complete from the start.
        let parts = usize::from(*turn) * bar;
        let done = parts.checked_div(usize::from(*game_length)).map_or(bar, |done| done.min(bar));
        let left = self.contact.turn_duration.filter(|_| self.view.showing == Showing::Newest);
        let left = footer::time_left(game, left).map_or_else(String::new, |left| format!("{left} left"));
        let bar = format!("[{:.<bar$}]", "#".repeat(done));
        self.header(marks).fact(format!("Turn {turn} of {game_length}")).fact(bar).fact(left).fact(name)
    }
}

// Fewest deaths first, and players without a score last.
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
