//! Bombing robots: the rules, the wire format, the server and the client, without I/O.
//!
//! Robots walk over a board, place bombs and blocks, and respawn when destroyed. The player with the fewest deaths
//! wins. All players act simultaneously, turn by turn.
//!
//! - [`Board`] has the fields and their blocks, [`Blast`] the fields that a bomb covers, [`Game`] the turns and scores,
//!   and [`MinStd`] the random numbers that the protocol prescribes.
//! - [`protocol`] has the messages and their bytes.
//! - [`Server`] is the server as an engine, [`Client`] the state of a client, [`GameView`] a game as seen by a client,
//!   and [`Bot`] a computer player.
//!
//! A game of one turn:
//!
//! ```
//! use netcore::wire::ShortText;
//! use robots::{Action, Config, Direction, Game, MAX_HISTORY, MinStd, Parameters, PlayerId};
//!
//! let parameters = Parameters {
//!     server_name: ShortText::try_from("here")?,
//!     players_count: 1,
//!     size_x: 10,
//!     size_y: 10,
//!     game_length: 1,
//!     explosion_radius: 2,
//!     bomb_timer: 3,
//! };
//! let config = Config { parameters, turn_duration: Default::default(), initial_blocks: 0, seed: 1234, max_history: MAX_HISTORY };
//! config.check()?;
//! let mut draws = MinStd::new(config.seed);
//! let (mut game, _) = Game::new(&config, &mut draws);
//! let before = game.robots()[0].position;
//! game.end_turn(&[Some(Action::Move(Direction::Up))], &mut draws);
//! assert_eq!(Some(game.robots()[0].position), game.board().step(before, Direction::Up));
//! assert_eq!(game.outcome(), Some([(PlayerId(0), 0)].into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod board;
mod bot;
pub mod client;
mod config;
pub mod explosion;
mod game;
mod hits;
mod minstd;
pub mod protocol;
pub mod server;
mod view;

pub use board::{Board, Direction, Position};
pub use bot::Bot;
pub use client::Client;
pub use config::{Config, ConfigError, MAX_HISTORY, READ_RATE};
pub use explosion::Blast;
pub use game::{Game, Robot};
pub use hits::HitCounter;
pub use minstd::MinStd;
pub use protocol::{
    Action, Bomb, BombId, ClientMessage, DrawMessage, Event, GamePicture, Incoming, InputMessage, Malformed,
    Parameters, Player, PlayerId, ServerMessage,
};
pub use server::Server;
pub use view::{GameView, PictureTooLarge};
