//! Nuggets: the rules, the wire, the server and the client, without input or output.
//!
//! Up to 26 players walk through rooms and passages of a map that each sees only where its sight has reached, and
//! collect piles of gold until the last nugget is taken.
//!
//! - [`Grid`] is the map, [`check_map`] finds what is wrong with one.
//! - [`visibility`] says who sees what; [`game`] has the rules; [`view`] keeps what each player may know.
//! - [`protocol`] is what goes over the wire.
//! - [`Server`] is the server as an engine, [`Client`] what a client knows, [`Explorer`] finds a
//!   player's way, and a [`Bot`] plays as well as a [`Level`] says.
//!
//! A whole game in a few lines:
//!
//! ```
//! use std::sync::Arc;
//! use nuggets::{Direction, Grid, Name, Rules, game::{Action, Game}};
//! use rand::SeedableRng;
//!
//! let (grid, _) = Grid::parse(b"+---+\n|...|\n+---+\n")?;
//! let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
//! let mut game = Game::new(Arc::new(grid), Rules::default(), &mut rng)?;
//! let (ann, _) = game.join(Name::new(b"Ann").unwrap(), &mut rng)?;
//! for direction in [Direction::Left, Direction::Right] {
//!     game.apply(ann, Action::Run(direction))?;
//! }
//! assert!(game.is_over());
//! assert_eq!(game.table(), "A        250 Ann");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bot;
mod check;
pub mod client;
mod config;
pub mod explorer;
pub mod game;
pub mod grid;
pub mod protocol;
pub mod server;
pub mod sights;
pub mod view;
pub mod visibility;

pub use bot::{Bot, Level, typist::Typist};
pub use check::{Breach, Report, UNFRAGMENTED, check_map};
pub use client::{Client, Command, End, Participant, Score, Scores};
pub use config::{Config, ConfigError, MAX_GOLD, Rules};
pub use explorer::Explorer;
pub use grid::{Cell, Direction, Grid, MAX_MAP_FILE, ParseGridError, Position, Repair};
pub use protocol::{ClientMessage, Letter, Name, Nuggets, ServerMessage};
pub use server::{Server, state::Setup};

/// The map of a server that is given none.
pub const BUILT_IN_MAP: &[u8] = include_bytes!("../../../maps/main.txt");
