//! Nuggets: the rules.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod client;
pub mod game;
pub mod grid;
pub mod protocol;
pub mod view;
pub mod visibility;

pub use client::{Client, End, Seat};
pub use grid::{Cell, Direction, Grid, ParseGridError, Position, Repair};
pub use protocol::{ClientMessage, Letter, Name, Nuggets, ServerMessage};
