//! Tests servers and clients of robots.

pub mod client;
pub mod server;
mod show;
