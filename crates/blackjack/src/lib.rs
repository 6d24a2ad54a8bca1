//! The game of 21: the rules, the wire format, the dealer, the player and the learner, without I/O.
//!
//! A player takes cards or stands, the dealer draws to 17, and the better total up to 21 wins.
//!
//! ```
//! use blackjack::{Action, Game, Name, Seed};
//!
//! let mut game = Game::new(vec![Name::new(b"Ann")?, Name::new(b"Bob")?], 3, Seed::from_number(1).generator(1))?;
//! while game.outcome().is_none() {
//!     match game.round().and_then(|round| round.turn()) {
//!         Some(seat) => {
//!             let asked = game.view(seat).filter(|view| view.asked).expect("it is the turn of this seat");
//!             let total: u8 = asked.cards.iter().map(|card| card.value()).sum();
//!             game.apply(seat, if total < 15 { Action::Hit } else { Action::Stand })?;
//!         }
//!         None => game.deal()?,
//!     }
//! }
//! println!("{}", game.standings(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Card`], [`Deck`], [`Points`] and [`Hand`] are the basic types; [`Round`] has the rules of a round, [`Game`]
//!   those of many rounds with up to six players; [`view`] limits the information for players and watchers.
//! - [`protocol`] has the messages; [`Server`] is a lobby of [`Table`]s, configured by a [`Config`]; [`Client`] is the
//!   state of a player.
//! - A [`Policy`] decides in each [`State`] of a [`StateSpace`]; a [`QTable`] holds learned values, and reads and
//!   writes table files.
//! - [`learn::Trainer`] learns in process, millions of rounds per second; [`exact::Solver`] computes the value of a
//!   policy and the best policy:
//!
//! ```
//! use blackjack::{QTable, StateSpace, exact::Solver, learn::{Chance, Explore, Trainer}};
//!
//! let explore = Explore::Epsilon(Chance::new(0.1).unwrap());
//! let mut trainer = Trainer::seeded(QTable::new(StateSpace::Coarse), explore, 1, 0);
//! trainer.play(100_000)?;
//! let solver = Solver::new();
//! let learned = solver.value(&trainer.table().policy());
//! let best = solver.value(&solver.best(StateSpace::Coarse));
//! assert!(learned > -0.07 && learned <= best);
//! # Ok::<(), blackjack::DeckEmpty>(())
//! ```
#![no_std]
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod cards;
pub mod client;
pub mod config;
pub mod exact;
pub mod game;
pub mod hand;
pub mod learn;
mod name;
pub mod policy;
pub mod protocol;
pub mod qtable;
pub mod server;
mod verdict;
pub mod view;

pub use cards::{Card, Deck, DeckEmpty};
pub use client::Client;
pub use config::{Config, ConfigError};
pub use game::{Action, Game, Round, Seed, Standings};
pub use hand::{Hand, Points};
pub use name::{MAX_NAME, Name};
pub use policy::{Policy, State, StateSpace};
pub use protocol::{Blackjack, DealerMessage, Dialect, PlayerMessage, Request};
pub use qtable::{ParseTableError, QTable};
pub use server::{Server, Table};
pub use verdict::{Score, Verdict};
