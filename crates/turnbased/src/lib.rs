//! A server and a client for any game whose players move in turn.
//!
//! A game implements [`Rules`]; [`Table`] is its server as a `netcore` engine, with seats, time limits, retained seats
//! after lost connections, and a state for journals. [`Client`] is the view of one player. [`protocol`] is their wire
//! format: lines of text, with views as JSON.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use turnbased::{Rules, Table};
//!
//! /// Players take one to three sticks in turn; the player who takes the last one wins.
//! #[derive(Debug, Clone, Serialize, Deserialize)]
//! struct Sticks {
//!     left: u8,
//!     turn: u8,
//! }
//!
//! impl Rules for Sticks {
//!     const NAME: &'static str = "sticks";
//!     const TITLE: &'static str = "Sticks";
//!     const VERSION: u32 = 1;
//!     type Options = ();
//!     type Move = u8;
//!     type View = u8;
//!
//!     fn setup(_: &(), _: u64) -> Self {
//!         Self { left: 21, turn: 0 }
//!     }
//!
//!     fn turn(&self) -> Option<u8> {
//!         (self.left > 0).then_some(self.turn)
//!     }
//!
//!     fn moves(&self) -> Vec<u8> {
//!         (1..=self.left.min(3)).collect()
//!     }
//!
//!     fn play(&mut self, taken: &u8) {
//!         self.left -= taken;
//!         self.turn = 1 - self.turn;
//!     }
//!
//!     fn view(&self, _: Option<u8>) -> u8 {
//!         self.left
//!     }
//!
//!     fn scores(&self) -> Vec<i64> {
//!         // The other player has taken the last stick.
//!         vec![i64::from(self.turn), i64::from(1 - self.turn)]
//!     }
//! }
//!
//! let table = Table::<Sticks>::new((), 1);
//! ```
#![no_std]
#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod client;
pub mod protocol;
mod table;

use alloc::{string::String, vec::Vec};
use core::{
    fmt::{Debug, Display},
    str::FromStr,
    time::Duration,
};
use netcore::Level;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use client::Client;
pub use protocol::{ClientMessage, EndReason, Lines, Name, ServerMessage};
pub use table::{LastMove, Setup, Table, TableState};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

/// The rules of a game: its position, and how moves change it. Seats are counted from 0.
///
/// The same setup and moves lead to the same position on every machine.
pub trait Rules: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The name in addresses and journals, in lower case with hyphens.
    const NAME: &'static str;
    /// The name for users.
    const TITLE: &'static str;
    /// Raise it whenever the same moves lead to another position, or the serialization changes.
    const VERSION: u32;
    /// The number of players.
    const SEATS: u8 = 2;
    /// Whether [`view`](Self::view) hides anything from players that watchers may see.
    const HIDES: bool = false;
    /// Whether only a hub with `--examples` offers the game.
    const IS_EXAMPLE: bool = false;
    /// A player who thinks longer about a move loses.
    const MOVE_LIMIT: Duration = Duration::from_secs(120);

    /// The settings for the operator of a table.
    type Options: Clone + Default + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The text of a move has no line feed and at most 32 bytes.
    type Move: Clone + Debug + PartialEq + Display + FromStr + Send + Sync + 'static;
    /// The part of the position that a player may see.
    type View: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The first position. Its random choices depend only on the seed, which differs from game to game.
    fn setup(options: &Self::Options, seed: u64) -> Self;

    /// The seat that moves next; `None` if the game is over.
    fn turn(&self) -> Option<u8>;

    /// All legal moves of the seat whose turn it is, at most 512; empty only if the game is over.
    fn moves(&self) -> Vec<Self::Move>;

    /// Makes one of the [`moves`](Self::moves).
    fn play(&mut self, action: &Self::Move);

    /// The view of a seat, or of a watcher without one.
    fn view(&self, seat: Option<u8>) -> Self::View;

    /// A view as text for terminals, by default JSON.
    fn text(view: &Self::View) -> String {
        serde_json::to_string(view).unwrap_or_default()
    }

    /// The score of each seat; higher is better.
    fn scores(&self) -> Vec<i64>;

    /// Checks that games can be played with these options. The error is a sentence that describes valid ones.
    fn check(options: &Self::Options) -> Result<(), String> {
        let _ = options;
        Ok(())
    }

    /// The move of a bot, as an index into `moves`, by default random; `draw` is a random number.
    fn choose(view: &Self::View, seat: u8, moves: &[Self::Move], level: Level, draw: u64) -> usize {
        let _ = (view, seat, level);
        usize::try_from(draw % u64::try_from(moves.len()).unwrap_or(1).max(1)).unwrap_or(0)
    }
}
