//! Mastermind: codes, feedback, the game with its lifelines, and a codebreaker, without input or output.
//!
//! A code of 4 to 8 pegs in up to eight colours is to be found in ten turns. Each guess is answered by how many pegs are
//! right in colour and place (red) and how many in colour only (white).
//!
//! - [`Code`], [`Rules`] and [`Feedback`] are what everything else is made of.
//! - [`game::Game`] is one game, [`Lifeline`] what helps in it.
//! - [`solver`] has the codebreaker: [`solver::Hint`] for one turn of any game, [`solver::Codebreaker`] to play all codes by
//!   a strategy, [`solver::Search`] for the best play there is.
//! - [`Day`] has the puzzle of a day, [`share()`] a result to be pasted, [`Record`] the statistics of past games
//!   and which [`Puzzle`]s they were.
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
//!     let knowledge = game.ask_hint();
//!     let hint = Hint::of(&knowledge).ok_or("some code is always possible")?;
//!     game.apply(Action::Guess(hint.guess), &mut rng)?;
//! }
//! assert!(matches!(game.outcome(), Some(Outcome::Won { turns }) if turns <= 6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod code;
pub mod daily;
pub mod feedback;
pub mod game;
pub mod lifeline;
mod planes;
mod puzzle;
pub mod record;
mod share;
mod slices;
pub mod solver;

pub use code::{Code, HintCode, ParseCodeError, Peg, Rules, RulesError};
pub use daily::Day;
pub use feedback::Feedback;
pub use game::Game;
pub use lifeline::{Lifeline, Revealed, Style};
pub use puzzle::{Origin, Puzzle};
pub use record::{ParseRecordError, Record};
pub use share::share;
