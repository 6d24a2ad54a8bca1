//! Tests servers and clients of robots.

pub mod client;
mod context;
mod draws;
pub mod server;
mod show;
