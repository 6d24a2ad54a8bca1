//! Drives clients over real sockets.
//!
//! A [`netcore::Client`] contains the logic of the game, a [`Pilot`] decides for it, and [`run`] drives both over a
//! [`Wire`]: a UDP socket or a TCP connection. Programs with a screen use the [`Wire`] in a loop of their own. With the
//! feature `places`, a [`ServerLocation`] finds the server, even after it has moved. With the feature `bots`, there is
//! a pilot for each game, at any [`Level`](netcore::Level).

#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

#[cfg(feature = "bots")]
mod bots;
mod driver;
#[cfg(feature = "places")]
mod server_location;
mod wire;

pub use crate::{
    driver::{Ended, Pilot, run},
    wire::{MAX_UNSENT, Received, Wire},
};

#[cfg(feature = "bots")]
pub use crate::bots::{blackjack_bot, mastermind_bot, nuggets_bot, robots_bot, turn_based_bot};

#[cfg(feature = "places")]
pub use crate::server_location::ServerLocation;
