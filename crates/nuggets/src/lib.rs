//! Nuggets: up to 26 players walk through the rooms and passages of a map, see it by line of sight only, and collect
//! piles of gold. This crate has the rules, the wire format, the server and the client, without I/O.
//!
//! A whole game:
//!
//! ```
//! use std::sync::Arc;
//! use netcore::Framing;
//! use nuggets::{Direction, Grid, Name, Rules, game::{Action, Game}, view::Views};
//! use rand::SeedableRng;
//!
//! let (grid, _) = Grid::parse(b"+---+\n|...|\n+---+\n")?;
//! let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
//! let mut game = Game::new(Arc::new(grid), Rules::default(), &mut rng)?;
//! let mut views = Views::new(&game);
//! let (ann, event) = game.join(Name::new(b"Ann").unwrap(), &mut rng).unwrap();
//! views.update(&game, &[event]);
//! for direction in [Direction::Left, Direction::Right] {
//!     let events = game.apply(ann, Action::Run(direction)).unwrap();
//!     views.update(&game, &events);
//! }
//! assert_eq!(views.player(ann, Framing::Whole).unwrap(), "DISPLAY\n+---+\n|..@|\n+---+\n");
//! assert_eq!(game.outcome().unwrap()[0].score, 250);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Config`] configures a server; [`Grid`] is the map, and [`check_map`] finds breaches of the rules for maps.
//! - [`game`] has the rules, [`visibility`] computes lines of sight, [`view`] stores what each player may see.
//! - [`protocol`] is the wire format.
//! - [`Server`] is the server as an engine, [`Client`] is the state of a client, [`Explorer`] finds a player's way, and
//!   a [`Bot`] plays at the skill of a [`Level`](netcore::Level).
#![no_std]
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bot;
mod check;
pub mod client;
mod config;
mod explorer;
pub mod game;
pub mod grid;
pub mod protocol;
pub mod server;
pub mod view;
pub mod visibility;

pub use bot::{Bot, Typist};
pub use check::{Breach, Report, check_map};
pub use client::{Client, Command, End, Participant, Score, Scores};
pub use config::{Config, ConfigError, MAX_GOLD, Rules};
pub use explorer::Explorer;
pub use grid::{Cell, Direction, Grid, MAX_MAP_FILE, ParseGridError, Position, Repair};
pub use protocol::{ClientMessage, Letter, Name, Nuggets, ServerMessage};
pub use server::{Server, Setup};

/// The map of a server without a map argument.
pub const BUILT_IN_MAP: &[u8] = include_bytes!("../../../maps/main.txt");
