//! Messages to the clients, limited by their visibility.

use alloc::{borrow::Cow, string::ToString, vec::Vec};
use bytes::Bytes;
use netcore::{Framing, Outbox, PeerId};

use super::{Server, seat::SeatGame};
use crate::{
    config::Mode,
    lifeline::Lifeline,
    protocol::{RoomRules, ServerMessage, Turn},
    view::{Board, GameOutcome, Visibility},
};

impl Server {
    pub(super) fn send(&self, peer: PeerId, message: &ServerMessage<'_>, out: &mut Outbox) {
        if let Some(known) = self.peers.get(&peer) {
            out.send(peer, message.to_frame(known.link.framing()));
        }
    }

    pub(super) fn send_all(&self, message: &ServerMessage<'_>, out: &mut Outbox) {
        self.send_each(|_| Some(message.clone()), None, out);
    }

    fn send_each<'a>(
        &self,
        message: impl Fn(Visibility) -> Option<ServerMessage<'a>>,
        seat: Option<u8>,
        out: &mut Outbox,
    ) {
        // Encodes the message once for each framing and visibility.
        let mut frames: Vec<((Framing, Visibility), Option<Bytes>)> = Vec::new();
        for (&peer, known) in &self.peers {
            let kind = (known.link.framing(), seat.map_or(Visibility::All, |seat| self.visibility(peer, seat)));
            let at = frames.iter().position(|(other, _)| *other == kind).unwrap_or_else(|| {
                frames.push((kind, message(kind.1).map(|message| message.to_frame(kind.0))));
                frames.len() - 1
            });
            if let Some(frame) = &frames[at].1 {
                out.send(peer, frame.clone());
            }
        }
    }

    pub(super) fn refuse(&self, peer: PeerId, text: &str, out: &mut Outbox) {
        self.send(peer, &ServerMessage::No(Cow::Borrowed(text)), out);
    }

    fn visibility(&self, peer: PeerId, seat: u8) -> Visibility {
        let own = self.peers.get(&peer).is_some_and(|peer| peer.seat == Some(seat));
        let current = self.seats.get(&seat).and_then(|seat| seat.current.as_ref());
        match self.config.mode {
            Mode::Solo => Visibility::All,
            Mode::Race(_) if !current.is_some_and(|current| self.contests.contains_key(&current.number)) => {
                Visibility::All
            }
            Mode::Race(_) if own && current.is_some_and(|current| current.how != Some(GameOutcome::Won)) => {
                Visibility::NoCode
            }
            Mode::Daily | Mode::Keyed(_) | Mode::Race(_) if own => Visibility::All,
            Mode::Daily | Mode::Keyed(_) | Mode::Race(_) => Visibility::Answers,
        }
    }

    pub(super) fn board(&self, seat: u8, visibility: Visibility) -> Option<Board> {
        let SeatGame { number, game, how, .. } = self.seats.get(&seat)?.current.as_ref()?;
        Some(game.view(*number, *how, visibility))
    }

    pub(super) fn send_over(&self, seat: u8, out: &mut Outbox) {
        let over = |visibility| self.board(seat, visibility)?.over;
        self.send_each(|visibility| Some(ServerMessage::Over(seat, over(visibility)?)), Some(seat), out);
    }

    // Sends up to `last` lines from the end of a game.
    pub(super) fn send_lines(&self, seat: u8, last: usize, out: &mut Outbox) {
        let count = self.board(seat, Visibility::Answers).map_or(0, |board| board.lines.len());
        for at in count.saturating_sub(last)..count {
            let line = |visibility| self.board(seat, visibility)?.lines.get(at).copied();
            self.send_each(|visibility| Some(ServerMessage::Line(seat, line(visibility)?)), Some(seat), out);
        }
    }

    pub(super) fn send_turn(&self, number: u8, out: &mut Outbox) {
        let Some(seat) = self.seats.get(&number) else { return };
        let Some(SeatGame { game, .. }) = seat.current.as_ref().filter(|current| current.how.is_none()) else { return };
        let lifelines = Lifeline::ALL.map(|lifeline| game.availability(lifeline));
        let turn = Turn { turn: game.turn(), lifelines, hints: game.hints() };
        self.send(seat.peer, &ServerMessage::Turn(turn), out);
        self.send_advice(number, out);
    }

    pub(super) fn send_advice(&self, seat: u8, out: &mut Outbox) {
        let Some(seat) = self.seats.get(&seat) else { return };
        let Some((advice, possible)) = seat.current.as_ref().and_then(|current| current.advice.clone()) else { return };
        self.send(seat.peer, &ServerMessage::Hint(advice), out);
        if !possible.is_empty() {
            self.send(seat.peer, &ServerMessage::Possible(possible), out);
        }
    }

    pub(super) fn send_snapshot(&self, peer: PeerId, out: &mut Outbox) {
        let date = self.today.map(|(day, _)| day.to_string());
        let mode = if self.config.mode.is_daily() { Mode::Daily } else { self.config.mode };
        self.send(peer, &ServerMessage::Room(RoomRules { mode, rules: self.rules, date }), out);
        let own = self.peers.get(&peer).and_then(|peer| peer.seat);
        if let Some(seat) = own {
            self.send(peer, &ServerMessage::Ok(seat), out);
        }
        for (&seat, taken) in &self.seats {
            self.send(peer, &ServerMessage::Seat(seat, taken.name.clone()), out);
            let Some(board) = self.board(seat, self.visibility(peer, seat)) else { continue };
            self.send(peer, &ServerMessage::Game { seat, number: board.number, rules: board.rules }, out);
            for line in board.lines {
                self.send(peer, &ServerMessage::Line(seat, line), out);
            }
            if let Some(over) = board.over {
                self.send(peer, &ServerMessage::Over(seat, over), out);
            }
        }
        if matches!(self.config.mode, Mode::Race(_)) && self.contests.is_empty() {
            self.send(peer, &ServerMessage::Wait(self.missing()), out);
        }
        if let Some(seat) = own {
            self.send_turn(seat, out);
        }
    }
}
