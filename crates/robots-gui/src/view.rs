//! What the user looks at.

use std::{collections::BTreeMap, time::Duration};

use netcore::{Time, wire::ShortText};
use ratatui::layout::Size;
use robots::{Direction, DrawMessage, GamePicture, Player, PlayerId};
use termkit::{Camera, Palette};
use tokio::sync::watch;

use crate::{
    keys::Shown,
    layout::{Layout, size},
    results::{GameResult, Tally, is_last},
    scene::place,
    story::Story,
};

/// The smallest window in which anything can be told.
pub(crate) const SMALLEST: Size = Size::new(12, 3);
/// How many columns and rows of fields a key moves the board.
const SCROLL: (i32, i32) = (6, 4);
/// A result stays for so long even if the next game begins.
const RESULT: Duration = Duration::from_secs(5);

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

/// What the keys of the game do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserRole {
    /// They go to a client of which nothing else is known.
    Remote,
    /// They go to a client in the same program, which joins and plays by them.
    Player,
    /// Nothing: the client in the same program never joins.
    Observer,
    /// Nothing: the client in the same program plays by itself.
    Bot,
}

// What the user has chosen to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Look {
    #[default]
    AsTold,
    At(PlayerId),
    Around,
}

// What is shown of the last result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Showing {
    // The newest picture.
    #[default]
    Newest,
    // The final board, with the table.
    Table,
    // The final board alone.
    FinalBoard,
}

// Whether the user takes part in the game, as far as this can be known from keys and pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Joining {
    #[default]
    Unknown,
    // There was an empty lobby, and no key was pressed since.
    NotAsked,
    Asked,
}

/// What the user looks at: the newest picture, the part of the board, the help, the result of a game.
#[derive(Debug, Clone)]
pub struct View {
    pub(crate) palette: Palette,
    pub(crate) role: Option<UserRole>,
    pub(crate) story: Story,
    pub(crate) last: Option<GameResult>,
    pub(crate) showing: Showing,
    pub(crate) camera: Camera,
    pub(crate) help: bool,
    pub(crate) danger: bool,
    pub(crate) window: Size,
    pub(crate) now: Time,
    follow: Follow,
    look: Look,
    newest: Option<DrawMessage>,
    // The own player in the game that is shown. A client tells that the game is over before its last picture arrives here.
    own: Option<PlayerId>,
    joining: Joining,
    tally: Tally,
}

impl View {
    /// A view without a picture yet, in which nobody takes part: it shows pictures as they are, and no keys.
    pub fn new(palette: Palette, follow: Follow) -> Self {
        Self {
            palette,
            role: None,
            story: Story::default(),
            last: None,
            showing: Showing::default(),
            camera: Camera::default(),
            help: false,
            danger: false,
            window: Size::ZERO,
            now: Time::ZERO,
            follow,
            look: Look::default(),
            newest: None,
            own: None,
            joining: Joining::default(),
            tally: Tally::default(),
        }
    }

    /// Takes part: keys are shown, what happens from picture to picture is told, and games end with their result.
    #[must_use]
    pub(crate) const fn taking_part(mut self, role: UserRole) -> Self {
        self.role = Some(role);
        self
    }

    /// Handles a picture received at `now`. Returns whether it ended a game.
    pub fn show(&mut self, now: Time, picture: DrawMessage) -> bool {
        self.now = now;
        let before = self.newest.take();
        let ended = self.role.is_some() && self.take_part(before, &picture);
        self.newest = Some(picture);
        ended
    }

    fn take_part(&mut self, before: Option<DrawMessage>, picture: &DrawMessage) -> bool {
        // The last picture of a game has told its end already.
        let (unfinished, told) = match before {
            Some(DrawMessage::Game(before)) if is_last(&before) => (None, true),
            Some(DrawMessage::Game(before)) => (Some(before), false),
            _ => (None, false),
        };
        match picture {
            DrawMessage::Lobby { parameters, players } => {
                let ended = unfinished.map(|game| self.end(game)).is_some();
                self.own = self.told(players, None);
                self.story.lobby(parameters);
                if players.is_empty() {
                    self.joining = Joining::NotAsked;
                }
                ended
            }
            DrawMessage::Game(game) => {
                self.own = self.told(&game.players, self.own);
                self.story.game(self.now, self.own, unfinished.as_ref(), game);
                let next_game = !is_last(game);
                if next_game && self.last.as_ref().is_some_and(|last| self.now.since(last.since) >= RESULT) {
                    self.showing = Showing::Newest;
                }
                !next_game && !told && {
                    self.end(game.clone());
                    true
                }
            }
        }
    }

    fn end(&mut self, game: GamePicture) {
        self.last = Some(self.tally.game_over(self.now, game, self.own));
        self.showing = Showing::Table;
        self.help = false;
    }

    /// Handles the loss of the server, after which no picture comes. Returns whether this ended a game.
    pub(crate) fn server_gone(&mut self, now: Time) -> bool {
        self.now = now;
        match self.newest.clone() {
            Some(DrawMessage::Game(game)) if self.role.is_some() && !is_last(&game) => {
                self.end(game);
                true
            }
            _ => false,
        }
    }

    pub(crate) const fn newest(&self) -> Option<&DrawMessage> {
        self.newest.as_ref()
    }

    /// The result of the last game as plain text, if one has ended.
    pub(crate) fn result_text(&self) -> Option<String> {
        self.last.as_ref().map(GameResult::text)
    }

    /// Follows the robot in view, for a window of this size. To be called before [`View::picture`].
    pub fn prepare(&mut self, now: Time, window: Size) {
        (self.now, self.window) = (now, window);
        let Some(game) = self.game() else { return };
        if self.showing == Showing::Newest {
            self.own = self.told(&game.players, self.own);
        }
        let Some(game) = self.game() else { return };
        let focus = self.in_view(&game.players).and_then(|id| game.player_positions.get(&id));
        let focus = focus.and_then(|&position| place(game, position));
        let (size, fields) = (size(game), Layout::of(game, window).fields());
        self.camera.follow(size, fields, focus);
    }

    /// Whether the screen changes by itself within a moment.
    pub(crate) fn is_moving(&self, now: Time) -> bool {
        self.story.is_moving(now)
    }

    /// What the screen shows, for the meaning of keys.
    pub(crate) fn shown(&self) -> Shown {
        match (self.is_too_small(), self.help, self.showing) {
            (true, ..) => Shown::TooSmall,
            (false, true, _) => Shown::Help,
            (false, false, Showing::Newest) => Shown::Game,
            (false, false, Showing::Table | Showing::FinalBoard) => Shown::Result,
        }
    }

    /// Whether keys of the game are of any use to the client: it plays by them, or nothing else is known.
    pub(crate) const fn steers(&self) -> bool {
        matches!(self.role, Some(UserRole::Remote | UserRole::Player))
    }

    /// Records that a key of the game was sent. In a lobby it asks to join.
    pub(crate) fn sent(&mut self) {
        if !matches!(self.newest, Some(DrawMessage::Game(_))) {
            self.joining = Joining::Asked;
        }
    }

    pub(crate) const fn toggle_table(&mut self) {
        self.showing = match self.showing {
            Showing::Newest => Showing::Newest,
            Showing::Table => Showing::FinalBoard,
            Showing::FinalBoard => Showing::Table,
        };
    }

    /// Closes the result and shows the newest picture. Returns whether that is a lobby, in which the user can join.
    pub(crate) const fn proceed(&mut self) -> bool {
        self.showing = Showing::Newest;
        matches!(self.newest, Some(DrawMessage::Lobby { .. }))
    }

    /// Moves the part of the board that is shown, and follows nobody any more.
    pub fn scroll(&mut self, direction: Direction) {
        let Some(game) = self.game() else { return };
        let (columns, rows) = match direction {
            Direction::Up => (0, -SCROLL.1),
            Direction::Right => (SCROLL.0, 0),
            Direction::Down => (0, SCROLL.1),
            Direction::Left => (-SCROLL.0, 0),
        };
        let (size, fields) = (size(game), Layout::of(game, self.window).fields());
        self.look = Look::Around;
        self.camera.scroll(size, fields, columns, rows);
    }

    /// Follows the next robot: first the own one, if it is known, then the others by number.
    pub fn follow_next(&mut self) {
        let Some(game) = self.game() else { return };
        let own = self.own(&game.players);
        let others = || game.player_positions.keys().copied().filter(|&id| Some(id) != own);
        let first = if own.is_some() { Look::AsTold } else { others().next().map_or(Look::AsTold, Look::At) };
        self.look = match self.look {
            Look::Around => first,
            Look::AsTold => others().next().map_or(first, Look::At),
            Look::At(now) => others().find(|&id| id > now).map_or(first, Look::At),
        };
    }

    pub(crate) fn is_too_small(&self) -> bool {
        self.window.width < SMALLEST.width || self.window.height < SMALLEST.height
    }

    /// The game that is shown: a final board as long as the user looks at the result.
    pub(crate) fn game(&self) -> Option<&GamePicture> {
        match (self.showing, &self.last, &self.newest) {
            (Showing::Table | Showing::FinalBoard, Some(last), _) => Some(&last.game),
            (_, _, Some(DrawMessage::Game(game))) => Some(game),
            _ => None,
        }
    }

    /// The player that the user is, if it plays.
    pub(crate) fn own(&self, players: &BTreeMap<PlayerId, Player>) -> Option<PlayerId> {
        match (self.showing, &self.last) {
            (Showing::Table | Showing::FinalBoard, Some(last)) => last.own,
            _ => self.told(players, self.own.filter(|_| self.in_game())),
        }
    }

    const fn in_game(&self) -> bool {
        matches!(self.newest, Some(DrawMessage::Game(_)))
    }

    // The player that we were told to follow, or else the one of `before`, if it plays.
    fn told(&self, players: &BTreeMap<PlayerId, Player>, before: Option<PlayerId>) -> Option<PlayerId> {
        let told = match &self.follow {
            Follow::Nobody => None,
            Follow::Id(id) => Some(*id),
            Follow::Name(name) => players.iter().find(|(_, player)| player.name == *name).map(|(&id, _)| id),
            Follow::Told(told) => *told.borrow(),
        };
        told.or(before).filter(|id| players.contains_key(id))
    }

    /// The player whose robot is kept in view.
    pub(crate) fn in_view(&self, players: &BTreeMap<PlayerId, Player>) -> Option<PlayerId> {
        match self.look {
            Look::AsTold => self.own(players),
            Look::At(id) => Some(id),
            Look::Around => None,
        }
    }

    /// Whether the user has asked to join the coming game.
    pub(crate) fn has_asked(&self) -> bool {
        self.joining == Joining::Asked
    }

    /// Whether it is known that the user only looks on at this game.
    pub(crate) fn looks_on(&self, players: &BTreeMap<PlayerId, Player>) -> bool {
        match self.role {
            Some(UserRole::Player) => self.own(players).is_none(),
            Some(UserRole::Remote) => self.own(players).is_none() && self.joining == Joining::NotAsked,
            Some(UserRole::Observer | UserRole::Bot) => true,
            None => false,
        }
    }
}

#[cfg(test)]
mod flow;
#[cfg(test)]
mod tests;
