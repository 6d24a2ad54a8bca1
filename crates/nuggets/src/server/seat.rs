use alloc::{
    format,
    string::{String, ToString},
};
use bytes::Bytes;
use core::time::Duration;
use netcore::{Departure, Framing, GameEvent, Link, Outbox, PeerId, Rate, Time, TokenBucket};
use serde::{Deserialize, Serialize};

use super::{SPECTATOR, Server};
use crate::{
    game::{Action, MAX_PLAYERS, PlayerId},
    protocol::{MAX_DATAGRAM, Name, ServerMessage},
};

const FULL: &[u8] = b"Game is full: no more players can join.";
const NAMELESS: &[u8] = b"Sorry - you must provide player's name.";
const READMITTED: &[u8] = b"You have left this game and cannot join it again.";
const REPLACED: &[u8] = b"You have been replaced by a new spectator.";

/// Budget in bytes for DISPLAYs to an address that has not sent a KEY and may be forged.
pub const UNPROVEN: Rate = Rate { per_second: 256 << 10, burst: 256 << 10 };
/// Budget in bytes for responses to an address that has sent a KEY. A five-byte KEY causes a DISPLAY of up to 65,507
/// bytes, and a sender that forges the address of a PLAY can also forge that of a KEY.
pub const DRAWN: Rate = Rate { per_second: 8 << 20, burst: 64 << 20 };
/// Rate limit for resending the joining messages before a KEY. Clients retry after a second.
pub const WELCOMES: Rate = Rate { per_second: 1, burst: 2 };
/// Rate limit for showing each move of one player to other clients. Faster moves are merged into one update per
/// [`CATCH_UP`], so that automatic players do not flood their networks.
pub const SHOWN: Rate = Rate { per_second: 200, burst: 10_000 };
/// The maximum delay of moves beyond [`SHOWN`].
pub const CATCH_UP: Duration = Duration::from_millis(5);
/// Rate limit for SPECTATE. Each one sends a whole map.
pub const SPECTATES: Rate = Rate { per_second: 2, burst: 8 };

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Role {
    Player(PlayerId),
    /// Joined by SPECTATE. If no spectator seat is free, a new one replaces the oldest.
    Spectator,
    Watcher,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Cause {
    Own,
    Others,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct UnjoinedPeer {
    pub(super) address: String,
    pub(super) link: Link,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Seat {
    pub(super) peer: PeerId,
    pub(super) role: Role,
    pub(super) link: Link,
    pub(super) address: String,
    pub(super) proven: bool,
    pub(super) last_key: Time,
    #[serde(with = "bucket")]
    unproven: TokenBucket,
    #[serde(with = "bucket")]
    drawn: TokenBucket,
    #[serde(with = "bucket")]
    welcomes: TokenBucket,
    #[serde(with = "bucket")]
    shown: TokenBucket,
    // The cause of a delayed DISPLAY. Only the newest picture is sent.
    pub(super) owed: Option<Cause>,
}

impl Seat {
    pub(super) fn new(now: Time, peer: PeerId, role: Role, unjoined: UnjoinedPeer) -> Self {
        let UnjoinedPeer { address, link } = unjoined;
        Self {
            peer,
            role,
            link,
            address,
            proven: false,
            last_key: now,
            unproven: TokenBucket::new(UNPROVEN, now),
            drawn: TokenBucket::new(DRAWN, now),
            welcomes: TokenBucket::new(WELCOMES, now),
            shown: TokenBucket::new(SHOWN, now),
            owed: None,
        }
    }

    pub(super) const fn framing(&self) -> Framing {
        self.link.framing()
    }

    /// Records a KEY, which restarts the idle timeout if `timed` is set.
    pub(super) fn key(&mut self, now: Time, timed: bool) {
        self.proven = true;
        if timed {
            self.last_key = now;
        }
    }

    pub(super) fn pay(&mut self, now: Time, cause: Cause, bytes: u32) -> bool {
        self.allowance(cause).is_none_or(|allowance| allowance.take(now, bytes))
    }

    pub(super) fn charge(&mut self, now: Time, bytes: u32) {
        if self.link == Link::Datagram && self.proven {
            self.drawn.charge(now, bytes);
        }
    }

    pub(super) fn may_resend_snapshot(&mut self, now: Time) -> bool {
        self.link != Link::Datagram || self.welcomes.take(now, 1)
    }

    pub(super) fn may_show_move(&mut self, now: Time) -> bool {
        self.shown.take(now, 1)
    }

    /// Sends a DISPLAY if the budget allows it, or returns the time of the next attempt.
    pub(super) fn show(&mut self, now: Time, cause: Cause, frame: Bytes, out: &mut Outbox) -> Option<Time> {
        let bytes = length(&frame);
        if self.pay(now, cause, bytes) {
            self.owed = None;
            out.send(self.peer, frame);
            return None;
        }
        self.owe(cause);
        self.allowance(cause).and_then(|allowance| allowance.ready_at(now, bytes))
    }

    pub(super) fn owe(&mut self, cause: Cause) {
        self.owed = self.owed.max(Some(cause));
    }

    // The budget for a DISPLAY, if limited: the address of a stream cannot be forged, and actions are charged to their
    // player.
    const fn allowance(&mut self, cause: Cause) -> Option<&mut TokenBucket> {
        match (self.link, self.proven, cause) {
            (Link::Stream | Link::Message, ..) | (Link::Datagram, true, Cause::Others) => None,
            (Link::Datagram, true, Cause::Own) => Some(&mut self.drawn),
            (Link::Datagram, false, _) => Some(&mut self.unproven),
        }
    }
}

pub(super) fn length(frame: &Bytes) -> u32 {
    debug_assert!(frame.len() <= MAX_DATAGRAM + 4, "every message fits a datagram, its length not counted");
    u32::try_from(frame.len()).unwrap_or(u32::MAX)
}

/// In a state, two zeros follow each bucket: earlier versions stored digests there.
pub(super) mod bucket {
    use netcore::TokenBucket;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in crate::server) fn serialize<S: Serializer>(bucket: &TokenBucket, serializer: S) -> Result<S::Ok, S::Error> {
        (bucket, 0_u8, 0_u64).serialize(serializer)
    }

    pub(in crate::server) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TokenBucket, D::Error> {
        let (bucket, _, _): (TokenBucket, u8, u64) = Deserialize::deserialize(deserializer)?;
        Ok(bucket)
    }
}

impl Server {
    pub(super) fn play(&mut self, now: Time, peer: PeerId, name: Option<Name>, out: &mut Outbox) {
        let Some(UnjoinedPeer { address, .. }) = self.unjoined.get(&peer) else { return };
        if self.game.players().len() >= MAX_PLAYERS {
            return self.send_to(peer, &ServerMessage::Quit(FULL), out);
        }
        let Some(name) = name else {
            return self.send_to(peer, &ServerMessage::Quit(NAMELESS), out);
        };
        if self.quitters.contains(address) {
            return self.send_to(peer, &ServerMessage::Quit(READMITTED), out);
        }
        let Some((player, event)) = self.game.join(name, &mut self.rng) else {
            return self.send_to(peer, &ServerMessage::Quit(FULL), out);
        };
        self.views.update(&self.game, &[event]);
        self.take_seat(now, peer, Role::Player(player), out);
        self.try_send_snapshot(now, peer, out);
        self.displays(now, None, Some(peer), out);
        self.players_changed(now, out);
    }

    // Handles a repeated PLAY: unless a KEY shows otherwise, the joining messages were lost.
    pub(super) fn play_again(&mut self, now: Time, peer: PeerId, player: PlayerId, out: &mut Outbox) {
        let Some(seat) = self.seats.get_mut(&peer) else { return };
        if seat.proven {
            let letter = self.game.player(player).map(|player| player.letter);
            let text = letter.map_or_else(String::new, |letter| format!("you are playing already, as {letter}"));
            self.error(now, peer, text.as_bytes(), out);
        } else if seat.may_resend_snapshot(now) {
            self.try_send_snapshot(now, peer, out);
        }
    }

    pub(super) fn spectate(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        if !self.spectates.take(now, 1) {
            return self.error(now, peer, b"too many spectators just now; try again in a second", out);
        }
        let is_other = |seat: &&Seat| seat.role == Role::Spectator && seat.peer != peer;
        let others = || self.seats.values().filter(is_other);
        let oldest = others().next().map(|seat| seat.peer);
        if let Some(before) = oldest.filter(|_| others().count() >= self.config.spectators as usize) {
            self.send_to(before, &ServerMessage::Quit(REPLACED), out);
            self.leave_seat(before, Departure::Dismissed("replaced by a new spectator".into()), out);
        }
        if !self.seats.contains_key(&peer) {
            self.take_seat(now, peer, Role::Spectator, out);
        }
        self.try_send_snapshot(now, peer, out);
    }

    // `farewell` is `None` if the peer is unreachable.
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
            self.send_to(peer, &ServerMessage::Quit(text), out);
        }
        if let Some(seat) = self.seats.get(&peer) {
            self.quitters.insert(seat.address.clone());
        }
        self.leave_seat(peer, why, out);
        self.send_updates(now, player, &events, out);
        // Without active players and free letters, this game would never end.
        let full = self.game.players().len() >= MAX_PLAYERS;
        if self.config.rematch && full && !self.game.is_over() && self.game.active().next().is_none() {
            self.finish(out);
        } else if self.outcome.is_none() {
            self.players_changed(now, out);
        }
    }

    pub(super) fn dismiss_peer(&mut self, now: Time, peer: PeerId, text: &str, out: &mut Outbox) {
        let why = Departure::Dismissed(text.to_string());
        match self.seats.get(&peer).map(|seat| seat.role) {
            Some(Role::Player(player)) => self.quit(now, peer, player, Some(text.as_bytes()), why, out),
            seat => {
                self.send_to(peer, &ServerMessage::Quit(text.as_bytes()), out);
                if seat.is_some() {
                    self.leave_seat(peer, why, out);
                } else if self.unjoined.remove(&peer).is_some() {
                    out.close(peer);
                }
            }
        }
    }

    pub(super) fn take_seat(&mut self, now: Time, peer: PeerId, role: Role, out: &mut Outbox) {
        let Some(unjoined) = self.unjoined.remove(&peer) else { return };
        let seat = Seat::new(now, peer, role, unjoined);
        let (name, seat_name) = self.called(role);
        out.event(GameEvent::Joined { peer, name, seat: seat_name });
        self.seats.insert(peer, seat);
        if let (Some(limit), Role::Player(_)) = (self.config.idle_timeout, role) {
            self.wake_at(Some(now.plus(limit)));
        }
    }

    pub(super) fn leave_seat(&mut self, peer: PeerId, why: Departure, out: &mut Outbox) {
        let Some(gone) = self.seats.remove(&peer) else { return };
        out.close(peer);
        let (name, seat) = self.called(gone.role);
        out.event(GameEvent::Left { peer, name, seat, why });
    }

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

    // Datagrams have no connection, so a peer that its first message did not admit is removed immediately.
    pub(super) fn remove_unjoined(&mut self, peer: PeerId, out: &mut Outbox) {
        if self.unjoined.get(&peer).is_some_and(|unjoined| unjoined.link == Link::Datagram) {
            self.unjoined.remove(&peer);
            out.close(peer);
        }
    }
}
