//! What is seen of a match from outside its room.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use netcore::{Departure, GameEvent, PeerId, Recorded, Role, Standing, Time};
use netshell::Observer;
use nuggets::server::SPECTATOR;
use tokio::sync::Notify;

use crate::shared::Shared;

/// What is seen of a match. Clones see the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    state: Arc<Mutex<State>>,
    changed: Arc<Notify>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    // The seat at whose port a connection was opened last.
    opened: usize,
    peers: BTreeMap<PeerId, usize>,
    seats: BTreeMap<usize, Seat>,
    /// The result of the game, once it is over.
    pub(crate) result: Option<Result>,
}

#[derive(Debug)]
struct Seat {
    peer: PeerId,
    // What the game calls it.
    label: String,
    // Why the player does not play any more.
    left: Option<String>,
}

/// How a game ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Result {
    /// The standings, in the terms of the game.
    standings: Vec<Standing>,
    /// What the server would have printed.
    pub(crate) summary: Option<String>,
    /// Why the only player has lost whatever the score is, if so.
    pub(crate) breach: Option<String>,
}

impl Seen {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something has changed.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// A connection was opened at the port of this seat. The observer is told of it next.
    pub(crate) fn opened(&self, seat: usize) {
        self.state().opened = seat;
    }

    /// An observer of a room. When a game is over, `audit` may say that its player has broken a rule of the league.
    pub(crate) fn observer<E: Recorded>(&self, room: Shared<E>, audit: fn(&E) -> Option<String>) -> Watch<E> {
        Watch { seen: self.clone(), room, audit }
    }
}

impl State {
    pub(crate) fn has_joined(&self, seat: usize) -> bool {
        self.seats.contains_key(&seat)
    }

    /// Why the player of a seat does not play any more, if that was before the game was over.
    pub(crate) fn left(&self, seat: usize) -> Option<&str> {
        self.seats.get(&seat)?.left.as_deref()
    }

    /// The score of a seat.
    pub(crate) fn score(&self, seat: usize) -> Option<i64> {
        let label = &self.seats.get(&seat)?.label;
        let standings = &self.result.as_ref()?.standings;
        standings.iter().find(|row| row.seat == *label).map(|row| row.score)
    }

    fn joined(&mut self, peer: PeerId, label: &str) {
        let Some(&seat) = self.peers.get(&peer) else { return };
        let known = self.seats.entry(seat).or_insert_with(|| Seat { peer, label: label.to_owned(), left: None });
        if known.peer != peer {
            known.left.get_or_insert_with(|| "it joined twice".to_owned());
        }
    }

    fn left_by(&mut self, peer: PeerId, why: &Departure) {
        let seat = self.peers.get(&peer).and_then(|seat| self.seats.get_mut(seat));
        if let Some(seat) = seat.filter(|seat| seat.peer == peer) {
            seat.left.get_or_insert_with(|| format!("it left the game: {why}"));
        }
    }
}

/// The observer of a match.
pub(crate) struct Watch<E: Recorded> {
    seen: Seen,
    room: Shared<E>,
    audit: fn(&E) -> Option<String>,
}

impl<E: Recorded> Observer for Watch<E> {
    fn connected(&mut self, _: Time, peer: PeerId, _: Role, _: &str) {
        let mut state = self.seen.state();
        let seat = state.opened;
        state.peers.insert(peer, seat);
    }

    fn event(&mut self, _: Time, event: &GameEvent, _: Option<&str>) {
        let mut state = self.seen.state();
        match event {
            GameEvent::Summary(text) => {
                if let Some(result) = &mut state.result {
                    result.summary.get_or_insert_with(|| text.clone());
                }
            }
            // What comes later is of another game, or takes leave.
            _ if state.result.is_some() => {}
            GameEvent::Joined { seat, .. } if seat == SPECTATOR => {}
            GameEvent::Joined { peer, seat, .. } => state.joined(*peer, seat),
            GameEvent::Left { peer, why, .. } => state.left_by(*peer, why),
            GameEvent::Ended { standings, .. } => {
                let breach = self.room.look(self.audit);
                state.result = Some(Result { standings: standings.clone(), summary: None, breach });
            }
            _ => return,
        }
        drop(state);
        self.seen.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_player_at_the_same_port_is_told_and_so_is_who_leaves() {
        let mut state = State::default();
        for (peer, seat) in [(0, 0), (1, 1), (2, 1)] {
            state.peers.insert(PeerId(peer), seat);
        }
        state.joined(PeerId(0), "A");
        state.joined(PeerId(1), "B");
        assert_eq!((state.left(0), state.left(1)), (None, None));
        state.joined(PeerId(2), "C");
        assert_eq!(state.left(1), Some("it joined twice"));
        state.left_by(PeerId(0), &Departure::Quit);
        assert_eq!(state.left(0), Some("it left the game: quit"));
        let row = |seat: &str, score| Standing { rank: 1, seat: seat.into(), name: "x".into(), score };
        state.result = Some(Result { standings: vec![row("B", 7), row("A", 3)], ..Result::default() });
        assert_eq!((state.score(0), state.score(1), state.score(2)), (Some(3), Some(7), None));
    }
}
