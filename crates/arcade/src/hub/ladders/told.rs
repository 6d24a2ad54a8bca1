//! What the tasks of a ladder tell each other.

use bytes::Bytes;
use ladder::{FIXED, Input, MatchId, ProgramId};
use netcore::{HostId, Level};
use tokio::sync::mpsc;

use super::line::Line;
use crate::room::info::Row;

/// The rating of a new program: that of the bot in the middle.
pub(super) const USUAL_RATING: i64 = FIXED[1].1;

/// A program that has proven its name.
#[derive(Debug)]
pub(super) struct Newcomer {
    pub(super) name: String,
    pub(super) host: HostId,
    pub(super) orders: mpsc::Sender<Order>,
}

/// What a keeper is told.
#[derive(Debug)]
pub(super) enum Told {
    /// A program has come.
    Came(ProgramId, Newcomer, i64),
    Input(Input),
    /// The result of a match is known. Whoever leaves now has done nothing wrong.
    Settled(MatchId),
    /// A match is over, or could not be played.
    Ended(MatchId, Option<Ended>),
}

/// What a program is told to do.
#[derive(Debug)]
pub(super) enum Order {
    /// Its match begins in a room.
    Play(Box<Table>),
    /// It has to go, for this reason.
    Away(String),
    /// Its match is over, and its room is gone.
    Over,
}

/// The seat of a program in a room.
#[derive(Debug)]
pub(super) struct Table {
    /// The connection to the room.
    pub(super) room: Line,
    /// The message that takes the seat, which has been sent. A program that repeats it is not to show its key.
    pub(super) join: Bytes,
    /// What the room says first, which the program has heard already.
    pub(super) greeting: Bytes,
}

/// How a match has ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// Its permanent id.
    pub(super) id: String,
    pub(super) rows: Vec<Row>,
    /// Which of the names are programs.
    pub(super) programs: Vec<String>,
    pub(super) bot: Option<Level>,
}

/// A program that comes over a WebSocket.
#[derive(Debug)]
pub(super) struct Tunnel {
    pub(super) host: HostId,
    /// What it says.
    pub(super) inbox: mpsc::Receiver<Bytes>,
    /// What it is told. Dropped when the ladder has done with it.
    pub(super) outbox: mpsc::Sender<Bytes>,
}
