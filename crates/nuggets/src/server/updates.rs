use alloc::{format, vec::Vec};
use bytes::Bytes;
use netcore::{Outbox, PeerId, Time};

use super::{
    CATCH_UP, Server,
    seat::{Cause, Role, Seat, length},
};
use crate::{
    game::{Event, Game, Player, PlayerId},
    protocol::ServerMessage,
    view::Views,
};

impl Server {
    /// Sends the changes by an action of `actor`: all GOLDs, all DISPLAYs, then texts, because a GOLD clears a client's
    /// status line. Ends the game if no gold is left.
    pub(super) fn send_updates(&mut self, now: Time, actor: PlayerId, events: &[Event], out: &mut Outbox) {
        let mut gained = 0;
        let mut shared = false;
        let mut victims = Vec::new();
        for event in events {
            match *event {
                Event::Collected(_, nuggets) => {
                    gained += nuggets;
                    shared = true;
                }
                Event::Stolen { victim, nuggets, .. } => {
                    gained += nuggets;
                    victims.push((victim, nuggets));
                }
                Event::Dropped(_) => shared = true,
                Event::Joined(..) | Event::Moved { .. } | Event::Left(..) => {}
            }
        }
        for seat in self.seats.values_mut() {
            let told = match seat.role {
                Role::Player(player) if player == actor => (shared || gained > 0).then_some(gained),
                Role::Player(player) => (shared || victims.iter().any(|&(victim, _)| victim == player)).then_some(0),
                Role::Spectator | Role::Watcher => shared.then_some(0),
            };
            if let Some(collected) = told {
                let frame = gold(&self.game, seat.role, collected).to_frame(seat.framing());
                if seat.role == Role::Player(actor) {
                    seat.charge(now, length(&frame));
                }
                out.send(seat.peer, frame);
            }
        }
        let over = self.game.is_over();
        let fast = |seat: &mut Seat| seat.role == Role::Player(actor) && !seat.may_show_move(now);
        if !shared && !over && self.seats.values_mut().any(fast) {
            self.display_later(now, actor, out);
        } else {
            self.displays(now, Some(actor), None, out);
        }
        self.send_thefts(now, actor, &victims, out);
        if over {
            self.finish(out);
        }
    }

    fn send_thefts(&mut self, now: Time, thief: PlayerId, victims: &[(PlayerId, u32)], out: &mut Outbox) {
        for &(victim, nuggets) in victims {
            let (Some(winner), Some(loser)) = (self.game.player(thief), self.game.player(victim)) else { continue };
            let Player { letter, purse, .. } = winner;
            let taken = format!("you stole {nuggets} nuggets from {}; you have {purse} now", loser.letter);
            let lost = format!("{letter} stole {nuggets} nuggets from you; you have {} now", loser.purse);
            for (player, text) in [(thief, taken), (victim, lost)] {
                let plays = |seat: &&mut Seat| seat.role == Role::Player(player);
                let Some(seat) = self.seats.values_mut().find(plays) else { continue };
                let frame = ServerMessage::Error(text.as_bytes()).to_frame(seat.framing());
                if player == thief {
                    seat.charge(now, length(&frame));
                }
                out.send(seat.peer, frame);
            }
        }
    }

    /// Sends the joining messages within the budget, because the request may have a forged address.
    pub(super) fn try_send_snapshot(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        let Some(seat) = self.seats.get_mut(&peer) else { return };
        let Some(display) = display(&self.views, seat) else { return };
        if seat.pay(now, Cause::Own, length(&display)) {
            self.send_snapshot(peer, out);
        }
    }

    pub(super) fn send_snapshot(&mut self, peer: PeerId, out: &mut Outbox) {
        let Some(seat) = self.seats.get_mut(&peer) else { return };
        seat.owed = None;
        let (role, framing) = (seat.role, seat.framing());
        let Some(display) = display(&self.views, seat) else { return };
        if let Role::Player(player) = role
            && let Some(player) = self.game.player(player)
        {
            out.send(peer, ServerMessage::Ok(player.letter).to_frame(framing));
        }
        let size = ServerMessage::Grid { rows: self.grid.rows(), cols: self.grid.cols() };
        out.send(peer, size.to_frame(framing));
        out.send(peer, gold(&self.game, role, 0).to_frame(framing));
        out.send(peer, display);
    }

    pub(super) fn displays(&mut self, now: Time, actor: Option<PlayerId>, except: Option<PeerId>, out: &mut Outbox) {
        self.show(now, |seat| (Some(seat.peer) != except).then(|| cause(seat, actor)), out);
    }

    fn display_later(&mut self, now: Time, actor: PlayerId, out: &mut Outbox) {
        for seat in self.seats.values_mut().filter(|seat| cause(seat, Some(actor)) == Cause::Others) {
            seat.owe(Cause::Others);
        }
        self.show(now, |seat| Some(cause(seat, Some(actor))).filter(|&cause| cause == Cause::Own), out);
        let due = self.catch_up.unwrap_or_else(|| now.plus(CATCH_UP));
        self.catch_up = Some(due);
        self.wake_at(Some(due));
    }

    pub(super) fn owed_displays(&mut self, now: Time, out: &mut Outbox) {
        let waits = self.catch_up.is_some();
        self.show(now, |seat| seat.owed.filter(|&cause| cause == Cause::Own || !waits), out);
    }

    fn show(&mut self, now: Time, cause: impl Fn(&Seat) -> Option<Cause>, out: &mut Outbox) {
        let mut again = None;
        for seat in self.seats.values_mut() {
            let (Some(cause), Some(frame)) = (cause(seat), display(&self.views, seat)) else { continue };
            let later = seat.show(now, cause, frame, out);
            again = again.into_iter().chain(later).min();
        }
        self.wake_at(again);
    }

    /// Sends an ERROR. For peers without a seat, the shell limits the rate.
    pub(super) fn error(&mut self, now: Time, peer: PeerId, text: &[u8], out: &mut Outbox) {
        let message = ServerMessage::Error(text);
        match self.seats.get_mut(&peer) {
            None => self.send_to(peer, &message, out),
            Some(seat) => {
                let frame = message.to_frame(seat.framing());
                if seat.pay(now, Cause::Own, length(&frame)) {
                    out.send(peer, frame);
                }
            }
        }
    }

    pub(super) fn send_to(&self, peer: PeerId, message: &ServerMessage<'_>, out: &mut Outbox) {
        if let Some(link) = self.link(peer) {
            out.send(peer, message.to_frame(link.framing()));
        }
    }
}

fn gold(game: &Game, role: Role, collected: u32) -> ServerMessage<'static> {
    let purse = match role {
        Role::Player(player) => game.player(player).map_or(0, |player| player.purse),
        Role::Spectator | Role::Watcher => 0,
    };
    ServerMessage::Gold { collected, purse, remaining: game.remaining() }
}

fn cause(seat: &Seat, actor: Option<PlayerId>) -> Cause {
    if actor.is_some_and(|actor| seat.role == Role::Player(actor)) { Cause::Own } else { Cause::Others }
}

fn display(views: &Views, seat: &Seat) -> Option<Bytes> {
    let framing = seat.framing();
    match seat.role {
        Role::Player(player) => views.player(player, framing),
        Role::Spectator | Role::Watcher => Some(views.spectator(framing)),
    }
}
