//! What each game adds to a replay.

mod blackjack;
mod nuggets;
mod robots;

use bytes::Bytes;
use journal::{Head, Peer, Replay};
use netcore::{Link, Outbox, Output, PeerId, Recorded, Role, RoomInput, Time, To};
use ratatui::{buffer::Buffer, layout::Rect};
use termkit::Palette;

use crate::deeds::Guest;

/// The number of one who looks on at a replay: no match ever comes to it.
const WATCHER: PeerId = PeerId(u64::MAX);

/// A game whose matches can be looked at.
pub trait Game: Recorded + Clone {
    /// How a match of it is seen.
    type Eye: Eye<Self> + std::fmt::Debug;

    /// What a match goes by.
    const STEP: Step = Step::Arrival;

    /// What it was set up with: names of settings and what they are, without secrets unless they are asked for.
    fn setup_in_words(setup: &Self::Setup, secrets: bool) -> Vec<(&'static str, String)>;

    /// What a message of a player says; `None` if it is none.
    fn said(link: Link, bytes: &[u8]) -> Option<Said>;

    /// Whether a seat, as the game calls it, is the one that somebody typed.
    fn is_seat(seat: &str, typed: &str) -> bool;

    /// The turn that was played last, where there are turns.
    fn turn(&self) -> Option<u64> {
        None
    }

    /// Who a peer is that was there before a replay began, where the game can tell.
    fn guest(&self, peer: &Peer) -> Option<Guest> {
        let _ = peer;
        None
    }

    /// Bytes of memory that a copy of it takes, about and not less.
    fn weight(&self) -> usize;
}

/// What a match goes by, step by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Arrivals, where everybody acts when they like.
    Arrival,
    /// Turns, in which all act at once.
    Turn,
}

impl Step {
    /// One of them, in words.
    pub const fn one(self) -> &'static str {
        match self {
            Self::Arrival => "an arrival",
            Self::Turn => "a turn",
        }
    }
}

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// In the words of the protocol.
    pub text: String,
    /// What its sender did, to stand behind its name; none for what the room's events tell better.
    pub deed: Option<String>,
    /// The name under which it wants to play.
    pub name: Option<String>,
}

/// What is seen of a match, from a seat or by one who looks on.
pub trait Eye<E: Recorded>: Clone {
    /// How that is shown: which part of a map, for example. It stays when the match is wound back.
    type View: std::fmt::Debug;

    /// Whether the lowest row of its picture is about keys that do nothing in a replay.
    const HINTS: bool = false;

    /// The eye of one who looks on, or of a seat that nobody has taken yet.
    fn new(seat: bool) -> Self;

    /// Sees how the match begins.
    fn begin(&mut self, replay: &Replay<E>) {
        let _ = replay;
    }

    /// The seat is taken, by a peer that is connected like this.
    fn sit(&mut self, guest: &Guest, link: Link, time: Time);

    /// Sees what was sent: to whoever has the seat, or to everybody.
    fn hear(&mut self, to_all: bool, frame: &Bytes, time: Time);

    /// Sees what whoever has the seat said.
    fn say(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// A view of the beginning.
    fn view(palette: Palette) -> Self::View;

    /// Shows another part, by so many steps to the right and down.
    fn scroll(&self, view: &mut Self::View, columns: i32, rows: i32);

    /// Follows another player, where that is possible.
    fn follow_next(&self, view: &mut Self::View) {
        let _ = view;
    }

    /// Forgets what was seen later than now.
    fn wound_back(&self, view: &mut Self::View) {
        let _ = view;
    }

    /// Draws what is seen now.
    fn draw(&mut self, view: &mut Self::View, replay: &Replay<E>, area: Rect, buffer: &mut Buffer);
}

/// What one who came now to look on would be sent. The match itself is left as it is: with one more in the room its digest
/// would be another.
fn welcome<E: Game>(replay: &Replay<E>) -> Vec<Bytes> {
    let mut replay = replay.clone();
    let mut out = Outbox::new();
    let address = "127.0.0.1:1";
    replay.add(RoomInput::Connected { peer: WATCHER, role: Role::Watcher, link: Link::Message, address }, &mut out);
    let mut frames = vec![];
    for output in out.drain() {
        match output {
            Output::Send { to: To::Peer(WATCHER), frame } => frames.push(frame),
            Output::Replay { to: WATCHER, log } => frames.extend(log.frames()),
            _ => {}
        }
    }
    frames
}

/// The error about a journal of a game that this program does not know.
pub(crate) fn unknown(head: &Head) -> anyhow::Error {
    anyhow::anyhow!(
        "it is a journal of '{}', and this program knows nuggets, robots and blackjack",
        head.game.escape_debug()
    )
}

/// Does something with the type of the game that a head names, or else the last expression.
macro_rules! for_game {
    ($head:expr, $game:ident => $known:expr, $unknown:expr) => {{
        let game: &str = &$head.game;
        if game == <::nuggets::Server as ::netcore::Recorded>::GAME {
            type $game = ::nuggets::Server;
            $known
        } else if game == <::robots::Server as ::netcore::Recorded>::GAME {
            type $game = ::robots::Server;
            $known
        } else if game == <::blackjack::Server as ::netcore::Recorded>::GAME {
            type $game = ::blackjack::Server;
            $known
        } else {
            $unknown
        }
    }};
}
pub(crate) use for_game;
