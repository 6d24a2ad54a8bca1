//! The log of how games go.

use std::collections::BTreeMap;

use cmdkit::isolated;
use netshell::{Clock, LogLimit};
use robots::{Parameters, Player, PlayerId, ServerMessage, client::ClientEvent};
use tracing::info;

/// Players who are named in a line of the log.
const MOST_NAMED: usize = 10;

/// Logs the course of games, in a limited number of lines.
#[derive(Debug)]
pub(crate) struct GameLog {
    clock: Clock,
    limit: LogLimit,
    // The players of the current game.
    players: BTreeMap<PlayerId, Player>,
}

impl GameLog {
    pub(crate) fn new() -> Self {
        let clock = Clock::start();
        Self { clock, limit: LogLimit::new(clock.now()), players: BTreeMap::new() }
    }

    pub(crate) fn narrate(&mut self, ClientEvent { message, is_ignored }: &ClientEvent) {
        if *is_ignored || matches!(message, ServerMessage::Turn { .. }) {
            return;
        }
        if let ServerMessage::GameStarted { players } = message {
            self.players.clone_from(players);
        }
        let Some(held_back) = self.limit.admit(self.clock.now()) else { return };
        let held_back = (held_back > 0).then_some(held_back);
        match message {
            ServerMessage::Hello(parameters) => {
                let Parameters {
                    server_name,
                    players_count,
                    size_x,
                    size_y,
                    game_length,
                    explosion_radius,
                    bomb_timer,
                } = parameters;
                let name = shown(server_name);
                info!(%name, players_count, size_x, size_y, game_length, explosion_radius, bomb_timer, held_back, "the server says hello");
            }
            ServerMessage::AcceptedPlayer { id, player } => {
                info!(id = id.0, name = %shown(&player.name), address = %player.address.escape_debug(), held_back, "accepted");
            }
            ServerMessage::GameStarted { players } => info!(players = players.len(), held_back, "the game starts"),
            ServerMessage::GameEnded { scores } => {
                let standing = standing(&self.players, scores);
                info!(destroyed = %standing, held_back, "the game is over");
            }
            ServerMessage::Turn { .. } => {}
        }
    }
}

// A name as a part of a line.
fn shown(name: &str) -> String {
    isolated(&name.escape_debug().to_string()).into_owned()
}

// Who was destroyed how often, the best first.
fn standing(players: &BTreeMap<PlayerId, Player>, scores: &BTreeMap<PlayerId, u32>) -> String {
    let mut table: Vec<(u32, PlayerId)> = scores.iter().map(|(&id, &score)| (score, id)).collect();
    table.sort_unstable();
    let row = |&(score, id): &(u32, PlayerId)| match players.get(&id) {
        Some(player) => format!("{} {score}", shown(&player.name)),
        None => format!("player {} {score}", id.0),
    };
    let mut rows: Vec<String> = table.iter().take(MOST_NAMED).map(row).collect();
    if table.len() > MOST_NAMED {
        rows.push(format!("and {} more", table.len() - MOST_NAMED));
    }
    rows.join(", ")
}
