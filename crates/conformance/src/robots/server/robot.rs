//! A player's robot and the actions that were sent for it.

use std::time::{Duration, Instant};

use robots::{Action, Position};

/// An action that was sent and not seen yet.
pub(super) struct Pending {
    pub(super) action: Action,
    // After this turn had arrived.
    turn: u16,
    at: Instant,
    /// Actions that were sent at once have the same.
    pub(super) burst: u32,
    /// It may have been played without an effect, or dropped.
    pub(super) optional: bool,
}

impl Pending {
    /// Whether it arrived in time for the turn after next, unless the tester itself was held up.
    pub(super) fn is_old(&self, turn: u16, duration: Duration) -> bool {
        turn >= self.turn.saturating_add(2) && self.at.elapsed() >= duration * 3 / 2
    }
}

pub(super) struct Robot {
    pub(super) position: Position,
    /// In how many turns it was destroyed.
    pub(super) score: u32,
    /// By how many bombs.
    pub(super) hits: u32,
    pub(super) pending: Vec<Pending>,
}

impl Robot {
    pub(super) fn new(position: Position) -> Self {
        Self { position, score: 0, hits: 0, pending: vec![] }
    }

    /// Notes actions that are sent at once after a turn.
    pub(super) fn sent(&mut self, actions: &[Action], turn: u16, burst: u32) {
        let at = Instant::now();
        self.pending.extend(actions.iter().map(|&action| Pending { action, turn, at, burst, optional: false }));
    }
}
