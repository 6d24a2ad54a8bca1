//! Who gets a seat, and how it is given up.

use alloc::{
    format,
    string::{String, ToString},
};
use netcore::{Departure, GameEvent, Link, Outbox, PeerId, Time};

use super::{
    SPECTATOR, Server, facts,
    facts::hash,
    seat::{Role, Seat, Stranger},
};
use crate::{
    game::{Action, MAX_PLAYERS, PlayerId},
    protocol::{Name, ServerMessage},
};

const FULL: &[u8] = b"Game is full: no more players can join.";
const NAMELESS: &[u8] = b"Sorry - you must provide player's name.";
const READMITTED: &[u8] = b"You have left this game and cannot join it again.";
const REPLACED: &[u8] = b"You have been replaced by a new spectator.";

impl Server {
    pub(super) fn play(&mut self, now: Time, peer: PeerId, name: Option<Name>, out: &mut Outbox) {
        let Some(Stranger { address, .. }) = self.strangers.get(&peer) else { return };
        if self.game.players().len() >= MAX_PLAYERS {
            return self.say(peer, &ServerMessage::Quit(FULL), out);
        }
        let Some(name) = name else {
            return self.say(peer, &ServerMessage::Quit(NAMELESS), out);
        };
        if self.quitters.contains(address) {
            return self.say(peer, &ServerMessage::Quit(READMITTED), out);
        }
        self.toggle_game();
        let joined = self.game.join(name, &mut self.rng);
        self.toggle_game();
        let Some((player, event)) = joined else {
            return self.say(peer, &ServerMessage::Quit(FULL), out);
        };
        self.views.update(&self.game, &[event]);
        self.take_seat(now, peer, Role::Player(player), out);
        self.welcome(now, peer, out);
        self.displays(now, None, Some(peer), out);
        self.players_changed(now, out);
    }

    // A PLAY from somebody who plays: an answer to the first was lost, unless a key shows that it arrived.
    pub(super) fn play_again(&mut self, now: Time, peer: PeerId, player: PlayerId, out: &mut Outbox) {
        let Some(seat) = self.seats.get_mut(&peer) else { return };
        if seat.proven {
            let letter = self.game.player(player).map(|player| player.letter);
            let text = letter.map_or_else(String::new, |letter| format!("you are playing already, as {letter}"));
            self.error(now, peer, text.as_bytes(), out);
        } else if seat.welcome_again(now, &mut self.digest) {
            self.welcome(now, peer, out);
        }
    }

    pub(super) fn spectate(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        // The number of nobody in particular: the rate is one for all.
        if !self.spectates.take(now, 1, (&mut self.digest, PeerId(0))) {
            return self.error(now, peer, b"too many spectators just now; try again in a second", out);
        }
        let is_other = |seat: &&Seat| seat.role == Role::Spectator && seat.peer != peer;
        let others = || self.seats.values().filter(is_other);
        let oldest = others().next().map(|seat| seat.peer);
        if let Some(before) = oldest.filter(|_| others().count() >= self.config.spectators as usize) {
            self.say(before, &ServerMessage::Quit(REPLACED), out);
            self.leave_seat(before, Departure::Dismissed("replaced by a new spectator".into()), out);
        }
        if !self.seats.contains_key(&peer) {
            self.take_seat(now, peer, Role::Spectator, out);
        }
        self.welcome(now, peer, out);
    }

    // Takes a player off the map; `farewell` is none if it cannot be told.
    pub(super) fn quit(
        &mut self,
        now: Time,
        peer: PeerId,
        player: PlayerId,
        farewell: Option<&[u8]>,
        why: Departure,
        out: &mut Outbox,
    ) {
        let Some(events) = self.game.apply(player, Action::Quit) else { return };
        self.views.update(&self.game, &events);
        if let Some(text) = farewell {
            self.say(peer, &ServerMessage::Quit(text), out);
        }
        if let Some(seat) = self.seats.get(&peer)
            && self.quitters.insert(seat.address.clone())
        {
            self.digest.toggle(facts::QUITTER, 0, hash(seat.address.as_bytes()));
        }
        self.leave_seat(peer, why, out);
        self.tell(now, player, &events, out);
        // Nobody plays and nobody can join: such a game would never make room for the next.
        let full = self.game.players().len() >= MAX_PLAYERS;
        if self.config.rematch && full && !self.game.is_over() && self.game.active().next().is_none() {
            self.finish(out);
        } else if self.outcome.is_none() {
            self.players_changed(now, out);
        }
    }

    // Sends a peer away, whatever it is, and says why.
    pub(super) fn dismiss_peer(&mut self, now: Time, peer: PeerId, text: &str, out: &mut Outbox) {
        let why = Departure::Dismissed(text.to_string());
        match self.seats.get(&peer).map(|seat| seat.role) {
            Some(Role::Player(player)) => self.quit(now, peer, player, Some(text.as_bytes()), why, out),
            seat => {
                self.say(peer, &ServerMessage::Quit(text.as_bytes()), out);
                if seat.is_some() {
                    self.leave_seat(peer, why, out);
                } else if self.remove_stranger(peer).is_some() {
                    out.close(peer);
                }
            }
        }
    }

    pub(super) fn take_seat(&mut self, now: Time, peer: PeerId, role: Role, out: &mut Outbox) {
        let Some(stranger) = self.remove_stranger(peer) else { return };
        let seat = Seat::new(now, peer, role, stranger);
        seat.toggle(&mut self.digest);
        let (name, seat_name) = self.called(role);
        out.event(GameEvent::Joined { peer, name, seat: seat_name });
        self.seats.insert(peer, seat);
        if let (Some(limit), Role::Player(_)) = (self.config.idle_timeout, role) {
            self.wake_at(Some(now.plus(limit)));
        }
    }

    pub(super) fn leave_seat(&mut self, peer: PeerId, why: Departure, out: &mut Outbox) {
        let Some(gone) = self.seats.remove(&peer) else { return };
        gone.toggle(&mut self.digest);
        out.close(peer);
        let (name, seat) = self.called(gone.role);
        out.event(GameEvent::Left { peer, name, seat, why });
    }

    // The name of somebody who has a seat, and the seat's.
    pub(super) fn called(&self, role: Role) -> (String, String) {
        match role {
            Role::Player(player) => self
                .game
                .player(player)
                .map_or_else(Default::default, |player| (player.name.to_string(), player.letter.to_string())),
            Role::Spectator => (String::new(), SPECTATOR.into()),
            Role::Watcher => (String::new(), "watcher".into()),
        }
    }

    pub(super) fn remove_stranger(&mut self, peer: PeerId) -> Option<Stranger> {
        let stranger = self.strangers.remove(&peer)?;
        stranger.toggle(&mut self.digest, peer);
        Some(stranger)
    }

    // On datagrams nobody says goodbye, so whoever was not let in by a message is forgotten at once.
    pub(super) fn forget_stranger(&mut self, peer: PeerId, out: &mut Outbox) {
        if self.strangers.get(&peer).is_some_and(|stranger| stranger.link == Link::Datagram) {
            self.remove_stranger(peer);
            out.close(peer);
        }
    }
}
