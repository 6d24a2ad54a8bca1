//! Tests programs of mastermind: the text game of the course, and both sides of our own network protocol.

mod answers;
pub(crate) mod client;
mod disguise;
mod lines;
pub(crate) mod server;
pub(crate) mod text;
