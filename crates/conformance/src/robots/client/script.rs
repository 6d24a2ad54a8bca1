//! Games for a client, as the messages of a server.

use std::time::Duration;

use robots::{BombId, Config, Event, Game, MAX_HISTORY, MinStd, Parameters, Player, PlayerId, ServerMessage};

use crate::{judge::ScenarioResult, robots::draws::Draws};

pub(super) fn parameters(
    players: u8,
    size: (u16, u16),
    length: u16,
    radius: u16,
    timer: u16,
) -> ScenarioResult<Parameters> {
    Ok(Parameters {
        server_name: "Gęś server".parse()?,
        players_count: players,
        size_x: size.0,
        size_y: size.1,
        game_length: length,
        explosion_radius: radius,
        bomb_timer: timer,
    })
}

/// The names vary, and one is empty.
pub(super) fn players(count: u8) -> anyhow::Result<Vec<Player>> {
    let names = ["", "Ann", "Żółć!", "Ann"];
    (0..count)
        .map(|id| {
            let name = names.get(usize::from(id) % names.len()).unwrap_or(&"").parse()?;
            let address =
                if id % 2 == 0 { format!("127.0.0.1:{}", 4000 + u16::from(id)) } else { format!("[::1]:{id}") };
            Ok(Player { name, address: address.parse()? })
        })
        .collect()
}

pub(super) fn opening(players: &[Player]) -> Vec<ServerMessage> {
    let mut messages: Vec<_> = PlayerId::all()
        .zip(players)
        .map(|(id, player)| ServerMessage::AcceptedPlayer { id, player: player.clone() })
        .collect();
    messages.push(ServerMessage::GameStarted { players: PlayerId::all().zip(players.iter().cloned()).collect() });
    messages
}

pub(super) fn turns(parameters: &Parameters, seed: u32) -> Vec<ServerMessage> {
    let config = Config {
        parameters: parameters.clone(),
        turn_duration: Duration::ZERO,
        initial_blocks: parameters.size_x * parameters.size_y / 4,
        seed,
        max_history: MAX_HISTORY,
    };
    let (mut draws, mut dice) = (MinStd::new(seed), Draws(seed + 1));
    let (mut game, events) = Game::new(&config, &mut draws);
    let mut messages = vec![ServerMessage::Turn { turn: 0, events }];
    for turn in 1..=parameters.game_length {
        let actions: Vec<_> = (0..parameters.players_count).map(|_| dice.action()).collect();
        let mut events = game.end_turn(&actions, &mut draws);
        // The order of explosions, and of the robots in each, is undefined.
        let explosions = events.iter().take_while(|event| matches!(event, Event::BombExploded { .. })).count();
        events[..explosions].reverse();
        for event in &mut events {
            match event {
                Event::BombPlaced { id, .. } => *id = unusual(*id),
                Event::BombExploded { id, robots_destroyed, .. } => {
                    *id = unusual(*id);
                    robots_destroyed.reverse();
                }
                Event::PlayerMoved { .. } | Event::BlockPlaced { .. } => {}
            }
        }
        messages.push(ServerMessage::Turn { turn, events });
    }
    messages
}

// Ids may be large and in any order.
fn unusual(id: BombId) -> BombId {
    BombId(0xffff_ff00 - 7 * id.0)
}
