//! What is attacked.

use std::net::SocketAddr;

use serde_json::json;

use crate::{
    hub::{Hub, Room},
    robots,
};

/// Turns of a match of robots: five seconds.
const TURNS: u16 = 50;
/// Rounds of blackjack.
const ROUNDS: u32 = 20;

/// What is attacked: the hub, and the rooms in which the innocents play.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) hub: SocketAddr,
    pub(super) nuggets: Room,
    pub(super) robots: Room,
    pub(super) blackjack: Room,
    pub(super) mastermind: Room,
}

impl Target {
    pub(super) fn open(hub: &Hub) -> anyhow::Result<Self> {
        Ok(Self {
            hub: hub.address(),
            nuggets: hub.open_nuggets()?,
            robots: hub.open(&robots::options(2, TURNS))?,
            blackjack: hub.open(&json!({ "game": "blackjack", "players": 1, "rounds": ROUNDS }))?,
            mastermind: hub.open(&json!({ "game": "mastermind" }))?,
        })
    }
}
