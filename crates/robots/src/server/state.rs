//! The state of a server as plain data, and a server restored from it.

use alloc::{collections::BTreeMap, format, string::ToString, vec, vec::Vec};
use netcore::{History, Outcome, PeerId, Recorded, Role, StateError, Time, wire::read_datagram};
use serde::{Deserialize, Serialize};

use super::{Opening, Peer, Phase, Playing, Server, facts, history::BoundedHistory};
use crate::{
    config::Config,
    game::{Game, state},
    minstd::MinStd,
    protocol::{Action, MAX_SERVER_ITEMS, Player, PlayerId, ServerMessage},
};

/// The state of a [`Server`] as plain data.
#[derive(Debug, Serialize, Deserialize)]
pub struct State {
    // Until turn 0 is sent, the generator as it was before turn 0 was drawn.
    draws: MinStd,
    peers: Vec<(PeerId, Peer)>,
    // By number.
    players: Vec<Player>,
    phase: PhaseState,
    games: u32,
    stopped: bool,
}

#[derive(Debug, Serialize, Deserialize)]
enum PhaseState {
    Lobby,
    // Turn 0 follows from the generator.
    Opening { due: Time, actions: Vec<Option<Action>> },
    // None if the history has exceeded its bound.
    Playing { start: Time, actions: Vec<Option<Action>>, game: state::State, history: Option<History> },
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
        server.restore_players(players, matches!(phase, PhaseState::Lobby))?;
        server.restore_peers(peers)?;
        server.restore_phase(phase)?;
        server.recount();
        Ok(server)
    }
}

impl Server {
    fn restore_players(&mut self, players: Vec<Player>, lobby: bool) -> Result<(), StateError> {
        let (there, all) = (players.len(), usize::from(self.config.parameters.players_count));
        // With all players a game would have started.
        if there > all || lobby == (there == all) {
            return Err(format!("{there} players of {all}").into());
        }
        self.players = PlayerId::all().zip(players).collect();
        Ok(())
    }

    fn restore_peers(&mut self, peers: Vec<(PeerId, Peer)>) -> Result<(), StateError> {
        let count = peers.len();
        let mut seats = vec![false; self.players.len()];
        for (_, Peer { role, address, player }) in &peers {
            let Some(id) = player else { continue };
            let known = *role == Role::Player && self.players.get(id).is_some_and(|player| player.address == *address);
            match seats.get_mut(id.index()) {
                Some(seat) if known && !*seat => *seat = true,
                _ => return Err(format!("a peer that cannot be player {}", id.0).into()),
            }
        }
        self.peers = peers.into_iter().collect();
        if self.peers.len() == count { Ok(()) } else { Err("a peer that is there twice".into()) }
    }

    // Needs to know the players.
    fn restore_phase(&mut self, phase: PhaseState) -> Result<(), StateError> {
        let (game, start, opening, actions) = match phase {
            PhaseState::Lobby => {
                for (&id, player) in &self.players {
                    self.history.append(&ServerMessage::AcceptedPlayer { id, player: player.clone() });
                }
                return Ok(());
            }
            PhaseState::Opening { due, actions } => {
                self.history = BoundedHistory::new(self.config.max_history);
                self.history.append(&ServerMessage::GameStarted { players: self.players.clone() });
                let draws = self.draws.clone();
                let (game, events) = Game::new(&self.config, &mut self.draws);
                (game, due, Some(Opening { events, draws }), actions)
            }
            PhaseState::Playing { start, actions, game, history } => {
                let game = Game::restore(&self.config, game)?;
                if history.as_ref().is_some_and(|log| !tells(log, &self.players, game.turn())) {
                    return Err("a history that is not that of the game".into());
                }
                let history = BoundedHistory::of(history, self.config.max_history);
                self.history = history.ok_or("a history that is longer than its bound")?;
                (game, start, None, actions)
            }
        };
        if actions.len() != self.players.len() || self.games == 0 {
            return Err(format!("{} actions in game {}", actions.len(), self.games).into());
        }
        self.phase = Phase::Playing(Playing { game, start, opening, actions }.into());
        Ok(())
    }

    /// Recomputes the stored part of the digest.
    pub(super) fn recount(&mut self) {
        let mut digest = facts::of_setup(&self.config, &self.hello);
        for (&id, peer) in &self.peers {
            peer.toggle(id, &mut digest);
        }
        for (id, player) in &self.players {
            digest.toggle(facts::PLAYER, id.0.into(), facts::of_player(player));
        }
        if let Phase::Playing(playing) = &self.phase {
            for (player, action) in (0..).zip(&playing.actions) {
                if let &Some(action) = action {
                    digest.toggle(facts::ACTION, player, facts::of_action(action));
                }
            }
        }
        self.digest = digest;
    }
}

// Whether the history is well-formed: the start of a game of these players, and its turns up to this one. The events are not
// checked; the digest covers the history.
fn tells(history: &History, players: &BTreeMap<PlayerId, Player>, turn: u16) -> bool {
    let mut messages = history.frames().map(|frame| read_datagram(&frame, MAX_SERVER_ITEMS).ok());
    let starts = |message| matches!(message, ServerMessage::GameStarted { players: told } if told == *players);
    messages.next().flatten().is_some_and(starts)
        && (0..=turn)
            .all(|number| matches!(messages.next().flatten(), Some(ServerMessage::Turn { turn, .. }) if turn == number))
        && messages.next().is_none()
}
