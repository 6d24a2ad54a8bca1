//! Tests servers and clients of robots.

pub mod client;
mod draws;
pub mod server;
mod show;
