//! Seats: who gets one, how it is given up, and what its peer may still be sent.

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

/// Bytes of DISPLAYs that an address may be sent before it has sent a KEY: a quarter of a megabyte a second, after as
/// much at once. Until then nothing shows that the address asked for them itself.
pub const UNPROVEN: Rate = Rate { per_second: 256 << 10, burst: 256 << 10 };
/// Bytes that an address can draw to itself by its own messages once it has sent a KEY: 8 MiB a second after 64 MiB at
/// once. A KEY of five bytes draws a DISPLAY of up to 65,507, and who forges the address of a PLAY can forge that of a
/// KEY.
pub const DRAWN: Rate = Rate { per_second: 8 << 20, burst: 64 << 20 };
/// How often an address without a KEY so far is sent its joining messages again, however often it asks: one that lost
/// them asks again after a second.
pub const WELCOMES: Rate = Rate { per_second: 1, burst: 2 };
/// How many moves of one player are shown to the others one by one: 200 a second, after 10,000 at once. Whoever moves
/// faster is seen every [`CATCH_UP`], so that a program that runs to and fro does not flood everybody's network.
pub const SHOWN: Rate = Rate { per_second: 200, burst: 10_000 };
/// After how long at most the others see the moves beyond [`SHOWN`].
pub const CATCH_UP: Duration = Duration::from_millis(5);
/// How often a SPECTATE is taken in: two a second, after eight at once. Each one sends a whole map somewhere.
pub const SPECTATES: Rate = Rate { per_second: 2, burst: 8 };

/// As what a seat was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Role {
    Player(PlayerId),
    /// The one who came by SPECTATE; the next one takes the place.
    Spectator,
    /// One whom the shell let in to look on.
    Watcher,
}

/// Why a picture is sent. What is owed for both reasons is owed for the later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Cause {
    /// The peer's own message.
    Own,
    /// What somebody else has done.
    Others,
}

/// Somebody who has not been let in yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Stranger {
    pub(super) address: String,
    pub(super) link: Link,
}

/// Somebody who has been let in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Seat {
    pub(super) peer: PeerId,
    pub(super) role: Role,
    pub(super) link: Link,
    pub(super) address: String,
    // Whether a KEY came from there.
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
    // A DISPLAY that had to wait; the newest is sent once it may.
    pub(super) owed: Option<Cause>,
}

impl Seat {
    pub(super) fn new(now: Time, peer: PeerId, role: Role, stranger: Stranger) -> Self {
        let Stranger { address, link } = stranger;
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

    /// Takes in that a KEY came; `timed` if it matters when.
    pub(super) fn key(&mut self, now: Time, timed: bool) {
        self.proven = true;
        if timed {
            self.last_key = now;
        }
    }

    /// Whether `bytes` may be sent, and if so, that they are.
    pub(super) fn pay(&mut self, now: Time, cause: Cause, bytes: u32) -> bool {
        self.allowance(cause).is_none_or(|allowance| allowance.take(now, bytes))
    }

    /// Counts `bytes` that are sent whatever the budgets.
    pub(super) fn charge(&mut self, now: Time, bytes: u32) {
        if self.link == Link::Datagram && self.proven {
            self.drawn.charge(now, bytes);
        }
    }

    /// Whether the joining messages may be sent once more, and if so, that they are.
    pub(super) fn welcome_again(&mut self, now: Time) -> bool {
        self.link != Link::Datagram || self.welcomes.take(now, 1)
    }

    /// Whether a move of this player is shown to the others at once.
    pub(super) fn is_shown(&mut self, now: Time) -> bool {
        self.shown.take(now, 1)
    }

    /// Sends a DISPLAY if the budget allows; otherwise it is owed, and the answer is when to try again.
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

    /// A DISPLAY has to wait.
    pub(super) fn owe(&mut self, cause: Cause) {
        self.owed = self.owed.max(Some(cause));
    }

    // What is paid from. Nobody can forge the address of a stream, and what others do is paid for by them.
    const fn allowance(&mut self, cause: Cause) -> Option<&mut TokenBucket> {
        match (self.link, self.proven, cause) {
            (Link::Stream | Link::Message, ..) | (Link::Datagram, true, Cause::Others) => None,
            (Link::Datagram, true, Cause::Own) => Some(&mut self.drawn),
            (Link::Datagram, false, _) => Some(&mut self.unproven),
        }
    }
}

/// Bytes of a message, as budgets count them.
pub(super) fn length(frame: &Bytes) -> u32 {
    debug_assert!(frame.len() <= MAX_DATAGRAM + 4, "every message fits a datagram, its length not counted");
    u32::try_from(frame.len()).unwrap_or(u32::MAX)
}

/// The encoding of a bucket in a state. Two numbers follow it from which earlier versions computed their digests.
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
        let Some((player, event)) = self.game.join(name, &mut self.rng) else {
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
        } else if seat.welcome_again(now) {
            self.welcome(now, peer, out);
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
        if let Some(seat) = self.seats.get(&peer) {
            self.quitters.insert(seat.address.clone());
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
                } else if self.strangers.remove(&peer).is_some() {
                    out.close(peer);
                }
            }
        }
    }

    pub(super) fn take_seat(&mut self, now: Time, peer: PeerId, role: Role, out: &mut Outbox) {
        let Some(stranger) = self.strangers.remove(&peer) else { return };
        let seat = Seat::new(now, peer, role, stranger);
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

    // On datagrams nobody says goodbye, so whoever was not let in by a message is forgotten at once.
    pub(super) fn forget_stranger(&mut self, peer: PeerId, out: &mut Outbox) {
        if self.strangers.get(&peer).is_some_and(|stranger| stranger.link == Link::Datagram) {
            self.strangers.remove(&peer);
            out.close(peer);
        }
    }
}
