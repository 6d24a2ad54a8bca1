//! The state of the view: pictures, scrolling, the help, results.

#[cfg(test)]
mod flow;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use netcore::{Time, wire::ShortText};
use ratatui::layout::{Margin, Rect, Size};
use robots::{Direction, DrawMessage, GamePicture, Player, PlayerId, Position};
use termkit::{Camera, Palette};
use tokio::sync::watch;

use crate::{
    keys::Content,
    results::{GameResult, Tally, is_last},
    roster::FIRST_LONG_LABEL,
    scene::{SMOKE, place, text_rows},
    story::Story,
};

/// The smallest window that can show a message.
pub(crate) const SMALLEST: Size = Size::new(12, 3);
/// Columns and rows of fields per key.
const SCROLL: (i32, i32) = (6, 4);
/// The least time that a result is shown, even if the next game starts.
const RESULT: Duration = Duration::from_secs(5);

/// The player whose robot is kept in view.
#[derive(Debug, Clone, Default)]
pub enum Follow {
    /// No player.
    #[default]
    Nobody,
    /// The player with this number.
    Id(PlayerId),
    /// The first player with this name.
    Name(ShortText),
    /// Supplied by another component, such as a client in the same program.
    Client(watch::Receiver<Option<PlayerId>>),
}

/// The effect of the game's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserRole {
    /// Sent to a separate client, whose state is unknown.
    Remote,
    /// Sent to a client in the same program, which joins and plays by them.
    Player,
    /// None: the client in the same program never joins.
    Observer,
    /// None: the client in the same program plays by itself.
    Bot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum CameraTarget {
    #[default]
    Followed,
    Player(PlayerId),
    Free,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Showing {
    #[default]
    Newest,
    // Over the final board.
    Table,
    FinalBoard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Joining {
    #[default]
    Unknown,
    // The lobby was empty, and no key was pressed since.
    NotAsked,
    Asked,
}

/// The state of the screen.
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
    /// Fields of recent explosions and the turns since, latest first.
    pub(crate) smoke: Vec<(Position, u8)>,
    pub(crate) window: Size,
    pub(crate) now: Time,
    follow: Follow,
    target: CameraTarget,
    newest: Option<DrawMessage>,
    // A client reports the end of the game before its last picture arrives here.
    own: Option<PlayerId>,
    joining: Joining,
    tally: Tally,
}

impl View {
    /// Shows pictures unchanged, and no keys, for a user who does not take part.
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
            smoke: vec![],
            window: Size::ZERO,
            now: Time::ZERO,
            follow,
            target: CameraTarget::default(),
            newest: None,
            own: None,
            joining: Joining::default(),
            tally: Tally::default(),
        }
    }

    /// Shows keys, events between pictures, and the result of each game.
    #[must_use]
    pub(crate) const fn taking_part(mut self, role: UserRole) -> Self {
        self.role = Some(role);
        self
    }

    /// Returns whether the picture ended a game.
    pub fn show(&mut self, now: Time, picture: DrawMessage) -> bool {
        self.now = now;
        let before = self.newest.take();
        self.age_smoke(before.as_ref(), &picture);
        let ended = self.role.is_some() && self.take_part(before, &picture);
        self.newest = Some(picture);
        ended
    }

    // The same picture may be repeated. After a lost one, the state is unknown.
    fn age_smoke(&mut self, before: Option<&DrawMessage>, picture: &DrawMessage) {
        match (before, picture) {
            (Some(DrawMessage::Game(before)), DrawMessage::Game(game)) if before.turn == game.turn => {}
            (Some(DrawMessage::Game(before)), DrawMessage::Game(game))
                if before.turn.checked_add(1) == Some(game.turn) =>
            {
                let older = self.smoke.iter().map(|&(field, age)| (field, age + 1)).filter(|&(_, age)| age <= SMOKE);
                self.smoke = before.explosions.iter().map(|&field| (field, 1)).chain(older).collect();
            }
            _ => self.smoke.clear(),
        }
    }

    fn take_part(&mut self, before: Option<DrawMessage>, picture: &DrawMessage) -> bool {
        // The last picture of a game has already shown its end.
        let (unfinished, told) = match before {
            Some(DrawMessage::Game(before)) if is_last(&before) => (None, true),
            Some(DrawMessage::Game(before)) => (Some(before), false),
            _ => (None, false),
        };
        match picture {
            DrawMessage::Lobby { parameters, players } => {
                let ended = unfinished.map(|game| self.end(game)).is_some();
                self.own = self.followed_player(players, None);
                self.story.lobby(parameters);
                if players.is_empty() {
                    self.joining = Joining::NotAsked;
                }
                ended
            }
            DrawMessage::Game(game) => {
                self.own = self.followed_player(&game.players, self.own);
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

    /// No further pictures arrive. Returns whether this ended a game.
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

    pub(crate) fn result_text(&self) -> Option<String> {
        self.last.as_ref().map(GameResult::text)
    }

    /// Follows the robot in view, for a window of this size. Call it before [`View::picture`].
    pub fn prepare(&mut self, now: Time, window: Size) {
        (self.now, self.window) = (now, window);
        let Some(game) = self.game() else { return };
        if self.showing == Showing::Newest {
            self.own = self.followed_player(&game.players, self.own);
        }
        let Some(game) = self.game() else { return };
        let focus = self.in_view(&game.players).and_then(|id| game.player_positions.get(&id));
        let focus = focus.and_then(|&position| place(game, position));
        let (size, fields) = (size(game), Layout::of(game, window).fields());
        self.camera.follow(size, fields, focus);
    }

    pub(crate) fn is_moving(&self, now: Time) -> bool {
        self.story.is_moving(now)
    }

    pub(crate) fn content(&self) -> Content {
        match (self.is_too_small(), self.help, self.showing) {
            (true, ..) => Content::TooSmall,
            (false, true, _) => Content::Help,
            (false, false, Showing::Newest) => Content::Game,
            (false, false, Showing::Table | Showing::FinalBoard) => Content::Result,
        }
    }

    pub(crate) const fn steers(&self) -> bool {
        matches!(self.role, Some(UserRole::Remote | UserRole::Player))
    }

    /// Records a sent key. In a lobby, a key of the game requests to join.
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

    /// Returns whether the newest picture is a lobby, where the user can join.
    pub(crate) const fn proceed(&mut self) -> bool {
        self.showing = Showing::Newest;
        matches!(self.newest, Some(DrawMessage::Lobby { .. }))
    }

    /// Stops following a player.
    pub fn scroll(&mut self, direction: Direction) {
        let Some(game) = self.game() else { return };
        let (columns, rows) = match direction {
            Direction::Up => (0, -SCROLL.1),
            Direction::Right => (SCROLL.0, 0),
            Direction::Down => (0, SCROLL.1),
            Direction::Left => (-SCROLL.0, 0),
        };
        let (size, fields) = (size(game), Layout::of(game, self.window).fields());
        self.target = CameraTarget::Free;
        self.camera.scroll(size, fields, columns, rows);
    }

    /// Follows the next robot: first the user's own, if known, then all others by number.
    pub fn follow_next(&mut self) {
        let Some(game) = self.game() else { return };
        let own = self.own(&game.players);
        let others = || game.player_positions.keys().copied().filter(|&id| Some(id) != own);
        let first = if own.is_some() {
            CameraTarget::Followed
        } else {
            others().next().map_or(CameraTarget::Followed, CameraTarget::Player)
        };
        self.target = match self.target {
            CameraTarget::Free => first,
            CameraTarget::Followed => others().next().map_or(first, CameraTarget::Player),
            CameraTarget::Player(now) => others().find(|&id| id > now).map_or(first, CameraTarget::Player),
        };
    }

    pub(crate) fn is_too_small(&self) -> bool {
        self.window.width < SMALLEST.width || self.window.height < SMALLEST.height
    }

    /// On the screen: a final board while its result is shown, or else the newest one.
    pub(crate) fn game(&self) -> Option<&GamePicture> {
        match (self.showing, &self.last, &self.newest) {
            (Showing::Table | Showing::FinalBoard, Some(last), _) => Some(&last.game),
            (_, _, Some(DrawMessage::Game(game))) => Some(game),
            _ => None,
        }
    }

    pub(crate) fn own(&self, players: &BTreeMap<PlayerId, Player>) -> Option<PlayerId> {
        match (self.showing, &self.last) {
            (Showing::Table | Showing::FinalBoard, Some(last)) => last.own,
            _ => self.followed_player(players, self.own.filter(|_| self.in_game())),
        }
    }

    const fn in_game(&self) -> bool {
        matches!(self.newest, Some(DrawMessage::Game(_)))
    }

    // The player given by `follow`, or else `before`, if it is in the game.
    fn followed_player(&self, players: &BTreeMap<PlayerId, Player>, before: Option<PlayerId>) -> Option<PlayerId> {
        let told = match &self.follow {
            Follow::Nobody => None,
            Follow::Id(id) => Some(*id),
            Follow::Name(name) => players.iter().find(|(_, player)| player.name == *name).map(|(&id, _)| id),
            Follow::Client(told) => *told.borrow(),
        };
        told.or(before).filter(|id| players.contains_key(id))
    }

    pub(crate) fn in_view(&self, players: &BTreeMap<PlayerId, Player>) -> Option<PlayerId> {
        match self.target {
            CameraTarget::Followed => self.own(players),
            CameraTarget::Player(id) => Some(id),
            CameraTarget::Free => None,
        }
    }

    pub(crate) fn has_asked(&self) -> bool {
        self.joining == Joining::Asked
    }

    pub(crate) fn looks_on(&self, players: &BTreeMap<PlayerId, Player>) -> bool {
        match self.role {
            Some(UserRole::Player) => self.own(players).is_none(),
            Some(UserRole::Remote) => self.own(players).is_none() && self.joining == Joining::NotAsked,
            Some(UserRole::Observer | UserRole::Bot) => true,
            None => false,
        }
    }
}

/// A lower window has no line for hints.
pub(crate) const HINTS_FROM: u16 = 6;
/// A narrower window has no score board.
const SCORES_FROM: u16 = 36;
/// The score board beside a large board takes 1/`SCORES_PART` of the window width, within these bounds.
const SCORES_PART: u16 = 4;
const SCORES_LEAST: u16 = 20;
const SCORES_LARGE: u16 = 32;
/// Without player numbers, for windows in which the board fits only beside such a narrow score board.
const SCORES_NARROW: u16 = 17;
/// The maximum width of the score board beside a small board, and the gap before it.
const SCORES_MOST: u16 = 44;
const GAP: u16 = 1;
/// In columns and half rows.
const SIDES: RangeInclusive<u16> = 2..=12;
/// The minimum width of a field for a bomb beside a label of two characters.
const LONG_LABEL: u16 = 3;
const FRAME: u16 = 2;

pub(crate) const fn size(game: &GamePicture) -> Size {
    Size::new(game.size_x, game.size_y)
}

/// Relative to the top left corner of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Includes the frame, if there is one.
    pub(crate) board: Rect,
    pub(crate) framed: bool,
    /// Columns and half rows of a field.
    pub(crate) side: u16,
    pub(crate) scores: Option<Rect>,
    pub(crate) hints: Option<Rect>,
}

impl Layout {
    /// Fields are as large as the window allows, and the board with its scores is centred.
    pub(crate) fn of(game: &GamePicture, window: Size) -> Self {
        let hints = (window.height >= HINTS_FROM).then(|| Rect::new(0, window.height - 1, window.width, 1));
        let height = window.height.saturating_sub(1 + u16::from(hints.is_some()));
        let with_scores = window.width >= SCORES_FROM && !game.players.is_empty();
        let long = game.players.keys().chain(game.player_positions.keys()).any(|&id| id >= FIRST_LONG_LABEL);
        let least = if long { LONG_LABEL } else { *SIDES.start() };
        let largest = |room: u16| {
            (least..=*SIDES.end()).rev().find(|&side| {
                u32::from(game.size_x) * u32::from(side) + u32::from(FRAME) <= u32::from(room)
                    && text_rows(game.size_y, side) + u32::from(FRAME) <= u32::from(height)
            })
        };
        let rows = |fields: u16, side: u16| u16::try_from(text_rows(fields, side)).unwrap_or(height);
        let usual = (window.width / SCORES_PART).clamp(SCORES_LEAST, SCORES_LARGE);
        let beside = |scores: u16| window.width.saturating_sub(scores + GAP);
        // A complete board has precedence over the scores.
        let mut whole = largest(window.width).map(|side| (side, false));
        if with_scores {
            let side = largest(beside(usual)).or_else(|| largest(beside(SCORES_NARROW)));
            whole = side.map(|side| (side, true)).or(whole);
        }
        let (side, with_scores, across, down) = if let Some((side, scores)) = whole {
            (side, scores, game.size_x * side + FRAME, rows(game.size_y, side) + FRAME)
        } else {
            let room = if with_scores { beside(usual) } else { window.width };
            let fields = (u32::from(height) * 2 / u32::from(least)).min(game.size_y.into());
            let fields = u16::try_from(fields).unwrap_or(game.size_y);
            (least, with_scores, game.size_x.min(room / least) * least, rows(fields, least))
        };
        let beside = window.width.saturating_sub(across + GAP).min(SCORES_MOST);
        let used = if with_scores { across + GAP + beside } else { across };
        let (x, y) = (window.width.saturating_sub(used) / 2, 1 + height.saturating_sub(down) / 2);
        // Level with the board, or higher to fit all players and the line above them.
        let lines = u16::try_from(game.players.len() + 1).unwrap_or(u16::MAX).min(height);
        let level = y.min(1 + height - lines);
        let scores = with_scores.then(|| Rect::new(x + across + GAP, level, beside, height + 1 - level));
        Self { board: Rect::new(x, y, across, down), framed: whole.is_some(), side, scores, hints }
    }

    pub(crate) fn fields(self) -> Size {
        let (Rect { width, height, .. }, side) = (self.inner(), self.side);
        let rows = u32::from(height) * 2 / u32::from(side);
        Size::new(width / side, u16::try_from(rows).unwrap_or(u16::MAX))
    }

    pub(crate) fn inner(self) -> Rect {
        if self.framed { self.board.inner(Margin::new(1, 1)) } else { self.board }
    }
}

#[cfg(test)]
mod layout_tests {
    use super::*;
    use crate::testing::game;

    #[test]
    fn fields_grow_with_the_window_and_the_board_is_in_the_middle() {
        let game = game(10, 10, &[("A", 0, 0)]);
        for (window, side, board) in [
            (Size::new(40, 14), 2, Rect::new(0, 1, 22, 12)),
            (Size::new(38, 14), 2, Rect::new(8, 1, 22, 12)),
            (Size::new(60, 19), 3, Rect::new(0, 1, 32, 17)),
            (Size::new(80, 24), 4, Rect::new(0, 1, 42, 22)),
            (Size::new(120, 40), 7, Rect::new(1, 1, 72, 37)),
            (Size::new(200, 60), 11, Rect::new(21, 1, 112, 57)),
            (Size::new(300, 90), 12, Rect::new(66, 14, 122, 62)),
        ] {
            let layout = Layout::of(&game, window);
            assert_eq!((layout.side, layout.board), (side, board), "{window}");
            assert_eq!(layout.fields(), Size::new(10, 10));
        }
    }

    #[test]
    fn nothing_is_outside_the_window() {
        for (x, y) in [(0, 0), (1, 1), (10, 10), (60, 3), (3, 60), (65_535, 65_535)] {
            let game = game(x, y, &[("A", 0, 0)]);
            for (width, height) in (12..210).step_by(7).flat_map(|width| (3..70).map(move |height| (width, height))) {
                let layout = Layout::of(&game, Size::new(width, height));
                let window = Rect::new(0, 0, width, height);
                for part in [Some(layout.board), layout.scores, layout.hints].into_iter().flatten() {
                    assert_eq!(part.intersection(window), part, "{x} {y} {width} {height}: {layout:?}");
                }
                assert!(layout.fields().width <= x && layout.fields().height <= y);
            }
        }
    }
}
