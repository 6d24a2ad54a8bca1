//! Clients that play by themselves over real sockets.
//!
//! A [`netcore::Client`] knows the game, a [`Pilot`] decides for it, and [`run`] drives both over a [`Wire`]: a UDP socket or a TCP
//! connection. There is a pilot for each game, as good as its [`Level`](netcore::Level) says. To a server such a client is a peer like any
//! other.

mod blackjack;
mod driver;
mod mastermind;
mod nuggets;
mod robots;
mod wire;

pub use crate::{
    blackjack::{blackjack_bot, blackjack_bot_at},
    driver::{Ended, Pilot, run},
    mastermind::{mastermind_bot, mastermind_bot_at},
    nuggets::{nuggets_bot, nuggets_bot_at},
    robots::robots_bot,
    wire::{MAX_UNSENT, Wire},
};
