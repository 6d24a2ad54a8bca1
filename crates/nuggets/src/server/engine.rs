//! The server as a [`netcore::Engine`].

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use netcore::{
    DecodeError, Departure, Engine, GameEvent, Input, Leave, Link, Occupant, Outbox, Outcome, PeerId, Phase, Status,
    Time,
};

use super::{
    Server, Start, count,
    seat::{Role, Seat, UnjoinedPeer},
};
use crate::{
    game::{Action, Game, MAX_PLAYERS},
    protocol::{ClientMessage, FROM_A_SERVER, Nuggets, ServerMessage},
    view::Views,
};

const GOODBYE: &[u8] = b"Thanks for playing!";
const GOODBYE_SPECTATOR: &[u8] = b"Thanks for watching!";
const UNKNOWN_KEY: &[u8] = b"unknown keystroke";

impl Engine for Server {
    type Protocol = Nuggets;

    fn input(&mut self, now: Time, input: Input<'_, ClientMessage>, out: &mut Outbox) {
        if self.outcome.is_some() {
            return;
        }
        match input {
            Input::Connected { peer, role, link, address } => {
                self.unjoined.insert(peer, UnjoinedPeer { address: address.into_owned(), link });
                if role == netcore::Role::Watcher {
                    self.take_seat(now, peer, Role::Watcher, out);
                    self.try_send_snapshot(now, peer, out);
                }
            }
            Input::Message { peer, message } => {
                self.request(now, peer, message, out);
                self.remove_unjoined(peer, out);
            }
            Input::Malformed { peer, why } => {
                self.malformed(now, peer, &why, out);
                self.remove_unjoined(peer, out);
            }
            Input::Refresh { peer } => {
                self.send_snapshot(peer, out);
                // Over datagrams, a peer without a seat exists only while its first message is handled. That message
                // was lost with the previous server, and no disconnect will follow.
                self.remove_unjoined(peer, out);
            }
            Input::Disconnected { peer, why } => {
                if self.unjoined.remove(&peer).is_some() {
                    out.close(peer);
                }
                let why = Departure::Disconnected(why);
                match self.seats.get(&peer).map(|seat| seat.role) {
                    Some(Role::Player(player)) => self.quit(now, peer, player, None, why, out),
                    Some(Role::Spectator | Role::Watcher) => self.leave_seat(peer, why, out),
                    None => {}
                }
            }
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop(leave) => self.stop(leave, out),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.wake.filter(|_| self.outcome.is_none())
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn status(&self) -> Status {
        let phase = match self.outcome {
            Some(_) => Phase::Over,
            None if self.has_begun() => Phase::Playing,
            None => Phase::Lobby,
        };
        // A letter is assigned once per game, so a leaving player does not free its seat.
        let taken = self.game.active().count();
        let left = self.game.players().len() - taken;
        Status { phase, taken: count(taken), seats: count(MAX_PLAYERS - left) }
    }

    fn roster(&self) -> Vec<Occupant> {
        let seats = self.seats.values().filter(|seat| matches!(seat.role, Role::Player(_)));
        let occupant = |seat: &Seat| {
            let (name, letter) = self.called(seat.role);
            Occupant { peer: seat.peer, name, seat: letter }
        };
        seats.map(occupant).collect()
    }
}

impl Server {
    fn request(&mut self, now: Time, peer: PeerId, request: ClientMessage, out: &mut Outbox) {
        match (request, self.seats.get(&peer).map(|seat| seat.role)) {
            (ClientMessage::Play(name), None) => self.play(now, peer, name, out),
            (ClientMessage::Play(_), Some(Role::Player(player))) => self.play_again(now, peer, player, out),
            (ClientMessage::Play(_), Some(Role::Spectator | Role::Watcher)) => {
                self.error(now, peer, b"you are watching; leave with Q before you play", out);
            }
            (ClientMessage::Spectate, Some(Role::Player(_))) => {
                self.error(now, peer, b"you are playing; leave with Q before you watch", out);
            }
            (ClientMessage::Spectate, Some(Role::Watcher)) => self.try_send_snapshot(now, peer, out),
            (ClientMessage::Spectate, None | Some(Role::Spectator)) => self.spectate(now, peer, out),
            (ClientMessage::Key(key), Some(role)) => self.key(now, peer, role, key, out),
            (ClientMessage::Key(_), None) => {}
        }
    }

    fn key(&mut self, now: Time, peer: PeerId, role: Role, key: u8, out: &mut Outbox) {
        if let Some(seat) = self.seats.get_mut(&peer) {
            seat.key(now, self.config.idle_timeout.is_some());
        }
        match role {
            Role::Spectator | Role::Watcher if key == b'Q' => {
                self.send_to(peer, &ServerMessage::Quit(GOODBYE_SPECTATOR), out);
                self.leave_seat(peer, Departure::Quit, out);
            }
            Role::Spectator | Role::Watcher => {}
            Role::Player(player) => match Action::from_key(key) {
                None => self.error(now, peer, UNKNOWN_KEY, out),
                Some(Action::Quit) => self.quit(now, peer, player, Some(GOODBYE), Departure::Quit, out),
                Some(_) if !self.has_begun() => {
                    let text = self.start_text(now);
                    self.error(now, peer, text.as_bytes(), out);
                }
                Some(action) => {
                    let Some(events) = self.game.apply(player, action) else { return };
                    if !events.is_empty() {
                        self.views.update(&self.game, &events);
                        self.send_updates(now, player, &events, out);
                    }
                }
            },
        }
    }

    fn malformed(&mut self, now: Time, peer: PeerId, why: &DecodeError, out: &mut Outbox) {
        let text = format!("malformed message: {why}");
        match self.link(peer) {
            // The rest of the stream cannot be decoded.
            Some(Link::Stream) => self.dismiss_peer(now, peer, &text, out),
            // With a forged address, two servers would respond to each other forever.
            Some(Link::Datagram) if *why == FROM_A_SERVER => {}
            _ => self.error(now, peer, text.as_bytes(), out),
        }
    }

    fn elapsed(&mut self, now: Time, out: &mut Outbox) {
        self.wake = None;
        self.tick(now, out);
        if let Some(limit) = self.config.idle_timeout.filter(|_| self.has_begun()) {
            let idle = |seat: &Seat| match seat.role {
                Role::Player(player) if now.since(seat.last_key) >= limit => Some((seat.peer, player)),
                _ => None,
            };
            let seconds = limit.as_secs();
            for (peer, player) in self.seats.values().filter_map(idle).collect::<Vec<_>>() {
                let text = format!("You sent no key for {seconds} seconds and have lost your seat.");
                let why = Departure::Dismissed(format!("sent no key for {seconds} seconds"));
                self.quit(now, peer, player, Some(text.as_bytes()), why, out);
            }
        }
        self.catch_up = self.catch_up.filter(|&due| now < due);
        self.wake_at(self.catch_up);
        self.wake_at(self.start.due());
        self.wake_at(self.next_idle());
        self.owed_displays(now, out);
    }
}

impl Server {
    pub(super) fn finish(&mut self, out: &mut Outbox) {
        let text = format!("GAME OVER:\n{}", self.game.table());
        self.publish_end(out);
        self.dismiss(text.as_bytes(), &Departure::GameOver, out);
        out.summary(text.clone());
        let next = self.config.rematch.then(|| Game::new(Arc::clone(&self.grid), self.config.rules, &mut self.rng));
        if let Some(Ok(game)) = next {
            self.views = Views::new(&game);
            self.game = game;
            (self.number, self.start) = (self.number.saturating_add(1), Start::Waiting);
            self.quitters.clear();
        } else {
            self.dismiss_unjoined(&text, out);
            self.outcome = Some(Outcome::Finished);
        }
    }

    pub(super) fn stop(&mut self, leave: Leave, out: &mut Outbox) {
        if leave == Leave::Over {
            let mut text = String::from("The server was stopped.");
            if !self.game.players().is_empty() {
                text = format!("{text}\n{}", self.game.table());
            }
            if self.has_begun() {
                self.publish_end(out);
            }
            self.dismiss(text.as_bytes(), &Departure::Dismissed("the server was stopped".to_string()), out);
            self.dismiss_unjoined(&text, out);
        }
        self.outcome = Some(Outcome::Stopped);
    }

    fn dismiss(&mut self, text: &[u8], why: &Departure, out: &mut Outbox) {
        for seat in self.seats.values() {
            out.send(seat.peer, ServerMessage::Quit(text).to_frame(seat.framing()));
        }
        for peer in self.seats.keys().copied().collect::<Vec<_>>() {
            self.leave_seat(peer, why.clone(), out);
        }
    }

    // Peers over datagrams are removed after each message, so this does not affect them.
    fn dismiss_unjoined(&mut self, text: &str, out: &mut Outbox) {
        for peer in self.unjoined.keys().copied().collect::<Vec<_>>() {
            self.send_to(peer, &ServerMessage::Quit(text.as_bytes()), out);
            self.unjoined.remove(&peer);
            out.close(peer);
        }
    }

    fn publish_end(&self, out: &mut Outbox) {
        let standings = self.game.standings();
        out.event(GameEvent::Ended { game: self.number, complete: self.game.is_over(), standings });
    }
}
