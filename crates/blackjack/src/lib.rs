#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;
pub mod cards;
pub mod client;
pub mod exact;
pub mod hand;
pub mod learn;
pub mod policy;
pub mod protocol;
pub mod qtable;
pub mod round;
pub use cards::{Card, Deck, DeckEmpty};
pub use hand::{Hand, Points};
pub use policy::{State, StateSpace, Strategy};
pub use qtable::QTable;
pub use round::{Action, Round, Verdict};
