//! The start of a game. Each seat receives an ERROR, because the protocol has no message for it and all clients show an
//! ERROR.

use alloc::{format, string::String};
use core::time::Duration;
use netcore::{GameEvent, Outbox, Severity, Time};
use serde::{Deserialize, Serialize};

use super::{
    Server,
    seat::{Cause, Role, length},
};
use crate::{game::MAX_PLAYERS, protocol::ServerMessage};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Start {
    /// More players are needed.
    Waiting,
    /// The next second of the countdown is announced at `tick`.
    Counting { begins: Time, tick: Time },
    /// The game has begun.
    Begun,
}

impl Start {
    pub(super) const fn due(self) -> Option<Time> {
        match self {
            Self::Counting { tick, .. } => Some(tick),
            Self::Waiting | Self::Begun => None,
        }
    }
}

impl Server {
    pub(super) fn has_begun(&self) -> bool {
        self.start == Start::Begun
    }

    pub(super) fn next_idle(&self) -> Option<Time> {
        let limit = self.config.idle_timeout.filter(|_| self.has_begun())?;
        let players = self.seats.values().filter(|seat| matches!(seat.role, Role::Player(_)));
        players.map(|seat| seat.last_key.plus(limit)).min()
    }

    /// Whether enough players are active, or at least one and no other can join.
    pub(super) fn is_ready(&self) -> bool {
        let active = self.game.active().count();
        let wanted = usize::try_from(self.config.wait_for).unwrap_or(usize::MAX);
        let is_full = self.game.players().len() >= MAX_PLAYERS || !self.game.has_free_spot();
        active > 0 && (active >= wanted || is_full)
    }

    pub(super) fn players_changed(&mut self, now: Time, out: &mut Outbox) {
        match (self.start, self.is_ready()) {
            (Start::Begun, _) | (Start::Counting { .. }, true) => {}
            (Start::Waiting, true) => match self.config.countdown {
                None => self.begin(now, out),
                Some(countdown) => self.count_down(now, now.plus(countdown), out),
            },
            (Start::Waiting | Start::Counting { .. }, false) => {
                self.start = Start::Waiting;
                self.send_start(now, out);
            }
        }
    }

    pub(super) fn tick(&mut self, now: Time, out: &mut Outbox) {
        match self.start {
            Start::Counting { begins, .. } if now >= begins => self.begin(now, out),
            Start::Counting { begins, tick } if now >= tick => self.count_down(now, begins, out),
            Start::Waiting | Start::Counting { .. } | Start::Begun => {}
        }
    }

    pub(super) fn start_text(&self, now: Time) -> String {
        match self.start {
            Start::Waiting => {
                let active = u32::try_from(self.game.active().count()).unwrap_or(u32::MAX);
                match self.config.wait_for.saturating_sub(active) {
                    1 => "waiting for 1 more player".into(),
                    missing => format!("waiting for {missing} more players"),
                }
            }
            Start::Counting { begins, .. } => format!("the game begins in {} s", seconds(begins.since(now))),
            Start::Begun => "the game has begun".into(),
        }
    }

    fn begin(&mut self, now: Time, out: &mut Outbox) {
        self.start = Start::Begun;
        out.event(GameEvent::Started { game: self.number, players: count(self.game.active().count()) });
        if let Some(limit) = self.config.idle_timeout {
            for seat in self.seats.values_mut().filter(|seat| matches!(seat.role, Role::Player(_))) {
                seat.last_key = now;
            }
            self.wake_at(Some(now.plus(limit)));
        }
        // The course's game starts without a wait and needs no announcement.
        if self.config.wait_for > 1 || self.config.countdown.is_some() {
            self.send_start(now, out);
        }
    }

    fn count_down(&mut self, now: Time, begins: Time, out: &mut Outbox) {
        let left = seconds(begins.since(now));
        let tick =
            Time::from_nanos(begins.as_nanos().saturating_sub(left.saturating_sub(1).saturating_mul(1_000_000_000)));
        self.start = Start::Counting { begins, tick };
        self.wake_at(Some(tick));
        self.send_start(now, out);
    }

    fn send_start(&mut self, now: Time, out: &mut Outbox) {
        let text = self.start_text(now);
        for seat in self.seats.values_mut() {
            let frame = ServerMessage::Error(text.as_bytes()).to_frame(seat.framing());
            if seat.pay(now, Cause::Others, length(&frame)) {
                out.send(seat.peer, frame);
            }
        }
        if !self.has_begun() {
            out.event(GameEvent::Notice { severity: Severity::Info, peer: None, text });
        }
    }
}

// Rounded up.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

pub(super) fn count(players: usize) -> u32 {
    u32::try_from(players).unwrap_or(u32::MAX)
}
