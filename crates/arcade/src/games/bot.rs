//! A bot as the games know it.

use std::net::SocketAddr;

use clientkit::Wire;
use netcore::Level;

/// A bot that is about to play.
#[derive(Debug, Clone)]
pub(crate) struct Bot {
    pub(crate) name: String,
    pub(crate) level: Level,
    /// What its choices are drawn from.
    pub(crate) seed: u64,
    /// Whether it plays against programs, and does not pause as it does for people.
    pub(crate) brisk: bool,
}

/// The way from a bot to its room, and its own address there. It is made when it is first polled.
pub(crate) trait Way<'a>: Future<Output = anyhow::Result<(&'a mut Wire, SocketAddr)>> + Send {}

impl<'a, F: Future<Output = anyhow::Result<(&'a mut Wire, SocketAddr)>> + Send> Way<'a> for F {}
