//! The game of 21: the rules, the wire, the dealer, the player and the learner, without input or output.
//!
//! A player takes cards or stands, a dealer has to draw to 17, and the better total up to 21 wins. What makes the game
//! worth a program is that a player can learn it, and that how well it has learned can be computed exactly.
//!
//! - [`Card`], [`Deck`], [`Points`] and [`Hand`] are what is played with; [`Round`] has the rules of a round, [`Table`]
//!   those of a table of up to six seats and its standings.
//! - [`State`] and [`StateSpace`] are what a decision is made on, a [`Strategy`] makes it, a [`QTable`] is what was learned
//!   and reads and writes table files.
//! - [`learn::Trainer`] learns in process, millions of rounds a second; [`exact::Solver`] says what a strategy is worth, and
//!   which is best.
//! - [`protocol`] is what goes over the wire, [`Dealer`] the server as an engine, [`Player`] what a player knows.
//!
//! To learn, and to be judged:
//!
//! ```
//! use blackjack::{QTable, StateSpace, exact::Solver, learn::{Chance, Explore, Trainer}};
//!
//! let explore = Explore::Epsilon(Chance::new(0.1).unwrap());
//! let mut trainer = Trainer::seeded(QTable::new(StateSpace::Coarse), explore, 1, 0);
//! trainer.play(100_000)?;
//! let solver = Solver::new();
//! let learned = solver.value(&trainer.table().strategy());
//! let best = solver.value(&solver.best(StateSpace::Coarse));
//! assert!(learned > -0.07 && learned <= best);
//! assert_eq!(QTable::from_file(&trainer.table().to_file()).as_ref(), Ok(trainer.table()));
//! # Ok::<(), blackjack::DeckEmpty>(())
//! ```
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod cards;
pub mod client;
pub mod dealer;
pub mod exact;
pub mod hand;
pub mod learn;
pub mod policy;
pub mod protocol;
pub mod qtable;
pub mod round;
pub mod table;

pub use cards::{Card, Deck, DeckEmpty};
pub use client::Player;
pub use dealer::Dealer;
pub use hand::{Hand, Points};
pub use policy::{State, StateSpace, Strategy};
pub use protocol::{Blackjack, DealerMessage, Dialect, Name, PlayerMessage, Request};
pub use qtable::{ParseTableError, QTable};
pub use round::{Action, Round, Verdict};
pub use table::{Seed, Standings, Table};
