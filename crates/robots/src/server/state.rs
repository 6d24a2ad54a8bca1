use alloc::{string::ToString, vec::Vec};
use netcore::{History, HistoryWriter, Outcome, PeerId, Recorded, StateError, Time};
use serde::{Deserialize, Serialize};

use super::{BoundedHistory, Opening, Peer, Phase, Playing, Server};
use crate::{
    config::Config,
    game::{Game, GameState},
    minstd::MinStd,
    protocol::{Action, Player, PlayerId, ServerMessage},
};

/// The state of a [`Server`] as plain data.
#[derive(Debug, Serialize, Deserialize)]
pub struct State {
    // Until turn 0 is sent, the generator before turn 0 was drawn.
    draws: MinStd,
    peers: Vec<(PeerId, Peer)>,
    players: Vec<Player>,
    phase: PhaseState,
    games: u32,
    stopped: bool,
}

#[derive(Debug, Serialize, Deserialize)]
enum PhaseState {
    Lobby,
    Opening { due: Time, actions: Vec<Option<Action>> },
    // `history` is `None` once it has exceeded its bound.
    Playing { start: Time, actions: Vec<Option<Action>>, game: GameState, history: Option<History> },
}

impl Recorded for Server {
    const GAME: &'static str = "robots";
    const RULES: u32 = 2;
    const OLDEST_RULES: u32 = 1;

    type Setup = Config;
    type State = State;

    fn setup(&self) -> Config {
        self.config.clone()
    }

    fn from_setup(config: Config) -> Result<Self, StateError> {
        Self::new(config).map_err(|why| why.to_string().into())
    }

    fn state(&self) -> State {
        let (mut draws, mut phase) = (&self.draws, PhaseState::Lobby);
        if let Phase::Playing(playing) = &self.phase {
            let Playing { game, start, opening, actions } = &**playing;
            let actions = actions.clone();
            phase = match opening {
                Some(opening) => {
                    draws = &opening.draws;
                    PhaseState::Opening { due: *start, actions }
                }
                None => {
                    PhaseState::Playing { start: *start, actions, game: game.state(), history: self.history.history() }
                }
            };
        }
        State {
            draws: draws.clone(),
            peers: self.peers.iter().map(|(&id, peer)| (id, peer.clone())).collect(),
            players: self.players.values().cloned().collect(),
            phase,
            games: self.games,
            stopped: self.outcome.is_some(),
        }
    }

    fn restore(config: Config, state: State) -> Result<Self, StateError> {
        let mut server = Self::from_setup(config)?;
        let State { draws, peers, players, phase, games, stopped } = state;
        (server.draws, server.games) = (draws, games);
        server.outcome = stopped.then_some(Outcome::Stopped);
        server.players = PlayerId::all().zip(players).collect();
        server.peers = peers.into_iter().collect();
        let (game, start, opening, actions) = match phase {
            PhaseState::Lobby => {
                for (&id, player) in &server.players {
                    server.history.append(&ServerMessage::AcceptedPlayer { id, player: player.clone() });
                }
                return Ok(server);
            }
            PhaseState::Opening { due, actions } => {
                server.history = BoundedHistory::new(server.config.max_history);
                server.history.append(&ServerMessage::GameStarted { players: server.players.clone() });
                let draws = server.draws.clone();
                let (game, events) = Game::new(&server.config, &mut server.draws);
                (game, due, Some(Opening { events, draws }), actions)
            }
            PhaseState::Playing { start, actions, game, history } => {
                let written = history.map(HistoryWriter::from);
                server.history = BoundedHistory { written, bound: server.config.max_history };
                (Game::restore(&server.config, game), start, None, actions)
            }
        };
        server.phase = Phase::Playing(Playing { game, start, opening, actions }.into());
        Ok(server)
    }
}
