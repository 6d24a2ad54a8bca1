//! Tests mastermind programs: the course's text game, and both sides of our own network protocol.

mod answers;
pub(crate) mod client;
mod lines;
mod permutation;
pub(crate) mod server;
pub(crate) mod text;
