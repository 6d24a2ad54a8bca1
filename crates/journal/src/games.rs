//! The interface between games and replays.

mod blackjack;
mod mastermind;
mod nuggets;
mod robots;
mod turn_based;

pub(crate) use ::games::{Describe, Description};
use bytes::Bytes;
use journal_core::{Head, Peer, Replay};
use netcore::{Input, Link, Outbox, Output, PeerId, Recorded, Role, Time, To};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::Line,
    widgets::{Paragraph, Widget},
};
use termkit::Palette;

use crate::format::plain;

/// The spectator of a replay. No match uses this number.
const WATCHER: PeerId = PeerId(u64::MAX);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeerIdentity {
    /// Empty for a spectator.
    pub name: String,
    /// In the game's own terms.
    pub seat: String,
}

impl PeerIdentity {
    pub(crate) fn label(&self) -> String {
        plain(if self.name.is_empty() { &self.seat } else { &self.name })
    }
}

pub(crate) trait Game: Describe + Clone {
    type Display: GameDisplay<Self> + std::fmt::Debug;

    const STEP: Step = Step::Arrival;

    /// Names and values, without secrets unless requested.
    fn describe_setup(setup: &Self::Setup, secrets: bool) -> Vec<(&'static str, String)>;

    /// `seat` is in the game's own terms, `typed` is the user's input.
    fn is_seat(seat: &str, typed: &str) -> bool;

    /// The last turn, if the game has turns.
    fn turn(&self) -> Option<u64> {
        None
    }

    /// The seat of a peer at the start of a replay, if the game knows it.
    fn identity(&self, peer: &Peer) -> Option<PeerIdentity> {
        let _ = peer;
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// If players act at any time.
    Arrival,
    /// If all players act at the same time.
    Turn,
}

impl Step {
    pub(crate) const fn one(self) -> &'static str {
        match self {
            Self::Arrival => "an arrival",
            Self::Turn => "a turn",
        }
    }
}

/// The display of a match, from a seat or for a spectator.
pub(crate) trait GameDisplay<E: Recorded>: Clone {
    /// Such as the visible part of a map. Kept when the replay moves back.
    type View: std::fmt::Debug;

    /// Whether the lowest row of the display describes keys that have no effect in a replay.
    const HINTS: bool = false;

    /// A display for a spectator, or for a seat that is not taken yet.
    fn new(seat: bool) -> Self;

    fn begin(&mut self, replay: &Replay<E>) {
        let _ = replay;
    }

    fn take_seat(&mut self, identity: &PeerIdentity, link: Link, time: Time);

    /// The message was sent to the player at the seat, or to all peers.
    fn receive(&mut self, to_all: bool, frame: &Bytes, time: Time);

    fn send(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    fn view(palette: Palette) -> Self::View;

    /// Scrolls by steps to the right and down.
    fn scroll(&self, view: &mut Self::View, columns: i32, rows: i32);

    fn follow_next(&self, view: &mut Self::View) {
        let _ = view;
    }

    /// Discards discoveries that are later than the current time.
    fn discard_later(&self, view: &mut Self::View) {
        let _ = view;
    }

    fn draw(&mut self, view: &mut Self::View, replay: &Replay<E>, area: Rect, buffer: &mut Buffer);
}

#[derive(Debug, Default)]
pub(crate) struct Scroll(u16);

impl Scroll {
    fn scroll(&mut self, lines: i32) {
        self.0 = u16::try_from(i32::from(self.0).saturating_add(lines).max(0)).unwrap_or(u16::MAX);
    }

    // Draws from this line on. The last line stays visible.
    fn draw(&mut self, text: &str, area: Rect, buffer: &mut Buffer) {
        let lines: Vec<Line<'_>> = text.lines().map(Line::from).collect();
        self.0 = self.0.min(u16::try_from(lines.len().saturating_sub(1)).unwrap_or(u16::MAX));
        Paragraph::new(lines).scroll((self.0, 0)).render(area, buffer);
    }
}

/// The messages that a new spectator would receive now. Uses a copy of the match, because another peer would change its
/// state.
fn snapshot_frames<E: Game>(replay: &Replay<E>) -> Vec<Bytes> {
    let mut replay = replay.clone();
    let mut out = Outbox::new();
    let address = "127.0.0.1:1";
    replay.add(
        Input::Connected { peer: WATCHER, role: Role::Watcher, link: Link::Message, address: address.into() },
        &mut out,
    );
    let mut frames = vec![];
    for output in out.drain() {
        match output {
            Output::Send { to: To::Peer(WATCHER), frame } => frames.push(frame),
            Output::Replay { to: WATCHER, history } => frames.extend(history.frames()),
            _ => {}
        }
    }
    frames
}

macro_rules! define {
    ($d:tt native { $($module:ident $name:ident $engine:ty;)* } turn_based { $($table:ident $rules:ty;)* }) => {
        const NAMES: &[&str] =
            &[$(<$engine as Recorded>::GAME,)* $(<::games::turnbased::Table<$rules> as Recorded>::GAME,)*];

        /// Evaluates an expression with the type of the game in a head, or else the last expression.
        macro_rules! for_game {
            ($d head:expr, $d game:ident => $d known:expr, $d unknown:expr) => {{
                let game: &str = &$d head.game;
                $(if game == <$engine as ::netcore::Recorded>::GAME {
                    type $d game = $engine;
                    $d known
                } else)*
                $(if game == <::games::turnbased::Table<$rules> as ::netcore::Recorded>::GAME {
                    type $d game = ::games::turnbased::Table<$rules>;
                    $d known
                } else)* {
                    $d unknown
                }
            }};
        }
        pub(crate) use for_game;
    };
}
::games::list!(define $);

pub(crate) fn unknown(head: &Head) -> anyhow::Error {
    anyhow::anyhow!(
        "it is a journal of '{}', but this program supports only {}",
        head.game.escape_debug(),
        NAMES.join(", ")
    )
}
