//! Mastermind: codes, feedback, the game with its lifelines, the protocol and the server, and a codebreaker, without
//! I/O.
//!
//! The player has ten turns to find a code of 4 to 8 pegs in up to eight colours. The feedback on a guess counts the
//! pegs with the right colour in the right place (red), and the further pegs with a right colour (white).
//!
//! A whole game, played by the codebreaker:
//!
//! ```
//! use mastermind::{Rules, Style, game::{Action, Game, Outcome}, solver::Hint};
//! use rand::SeedableRng;
//!
//! let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
//! let mut game = Game::new(Rules::new(4, 6, true)?, Style::Text, &mut rng);
//! while game.outcome().is_none() {
//!     let knowledge = game.request_hint();
//!     let hint = Hint::of(&knowledge).ok_or("some code is always possible")?;
//!     game.apply(Action::Guess(hint.guess), &mut rng)?;
//! }
//! assert!(matches!(game.outcome(), Some(Outcome::Won(turns)) if turns <= 6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Code`] and [`Feedback`] are the basic types. [`Rules`] apply to one game, [`Config`] to a server.
//! - [`game::Game`] is one game, with its [`Lifeline`]s. [`Knowledge`] is what it has revealed.
//! - [`solver`] is the codebreaker: [`solver::Hint`] suggests the next guess, [`solver::Codebreaker`] plays all codes
//!   by a strategy, [`solver::Search`] finds the best play.
//! - [`Day`] defines the puzzle of a day, [`share()`] formats a result to paste, [`Record`] has the statistics of past
//!   games and their [`Puzzle`]s.
//! - [`server::Server`] is a room of players as a `netcore` engine, [`Client`] is the state of a player, and
//!   [`protocol`] has their messages, which are built from a [`view`].
#![no_std]
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod client;
pub mod code;
pub mod config;
pub mod game;
mod knowledge;
mod lifeline;
pub mod protocol;
mod puzzle;
pub mod record;
pub mod server;
mod share;
pub mod solver;
pub mod view;

pub use client::Client;
pub use code::{Code, Feedback, ParseCodeError, Peg};
pub use config::{Config, ConfigError, Mode, Rules};
pub use game::Game;
pub use knowledge::Knowledge;
pub use lifeline::{Lifeline, Revealed, Style};
pub use protocol::{ClientMessage, Mastermind, Name, ServerMessage};
pub use puzzle::{Day, Origin, Puzzle};
pub use record::{ParseRecordError, Record, histogram};
pub use server::Server;
pub use share::share;
