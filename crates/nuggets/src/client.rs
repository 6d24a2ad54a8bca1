//! A client without socket and screen: it folds the server's messages into a state.
//!
//! The caller drives it as a [`netcore::Client`] over any [`Link`].

mod display;
mod end;
mod messages;
mod purses;
mod scores;
mod status;
#[cfg(test)]
mod tests;
mod timers;

use alloc::{collections::VecDeque, string::String, vec, vec::Vec};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use netcore::{DecodeError, DisconnectReason, Framing, Link, Time};

use self::{
    purses::Purses,
    timers::{Due, Phase, Timers},
};
use crate::{
    game::PILE,
    grid::{Direction, PASSAGE, Position, ROOM},
    protocol::{ClientMessage, Letter, Name, stream_decoder},
};

pub use self::{
    display::map_below,
    end::End,
    scores::{Score, Scores},
    timers::{GIVE_UP, GOODBYE, RETRIES},
};

/// An unassigned key. Servers ignore it or respond with an ERROR, which the client does not show.
const PROBE_KEY: u8 = b'?';

/// The role of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Participant {
    /// Plays under this name.
    Player(Name),
    /// Watches.
    Spectator,
}

/// A command of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Press a key. It is sent without validation once the client is admitted. `Q` leaves.
    Key(u8),
    /// Leave: send Q and wait briefly for a goodbye. A client that is not admitted yet ends immediately.
    Leave,
}

/// A client and its state.
#[derive(Debug, Clone)]
pub struct Client {
    participant: Participant,
    link: Link,
    timers: Timers,
    // On a stream, an oversized message blocks later ones here.
    incoming: BytesMut,
    letter: Option<Letter>,
    size: Option<(u16, u16)>,
    purse: u32,
    remaining: u32,
    gold_known: bool,
    display: Vec<u8>,
    displays: u64,
    adjusted: bool,
    note: Option<String>,
    end: Option<End>,
    outgoing: VecDeque<ClientMessage>,
    purses: Purses,
}

impl Client {
    /// A client over datagrams, with its first message ready to send.
    pub fn new(participant: Participant, now: Time) -> Self {
        Self::with_link(Link::Datagram, participant, now)
    }

    /// A client over any link, with its first message ready to send.
    pub fn with_link(link: Link, participant: Participant, now: Time) -> Self {
        let mut client = Self {
            timers: Timers::new(link, participant == Participant::Spectator, now),
            participant,
            link,
            incoming: BytesMut::new(),
            letter: None,
            size: None,
            purse: 0,
            remaining: 0,
            gold_known: false,
            display: vec![],
            displays: 0,
            adjusted: false,
            note: None,
            end: None,
            outgoing: VecDeque::new(),
            purses: Purses::default(),
        };
        client.outgoing.push_back(client.first_message());
        client
    }

    /// The role of the client.
    pub const fn participant(&self) -> &Participant {
        &self.participant
    }

    /// The player's letter, once assigned.
    pub const fn letter(&self) -> Option<Letter> {
        self.letter
    }

    /// Rows and columns of the map, once received.
    pub const fn size(&self) -> Option<(u16, u16)> {
        self.size
    }

    /// Nuggets in the player's purse.
    pub const fn purse(&self) -> u32 {
        self.purse
    }

    /// Unclaimed nuggets, by the last GOLD.
    pub const fn remaining(&self) -> u32 {
        self.remaining
    }

    /// Nuggets that a spectator saw each player collect, by letter, and those without a visible collector.
    pub fn purses(&self) -> (Vec<(Letter, u32)>, u32) {
        (self.purses.entries().collect(), self.purses.unknown)
    }

    /// The last DISPLAY: `rows * (columns + 1)` bytes of printable ASCII, each row ending in a newline; empty at first.
    pub fn display(&self) -> &[u8] {
        &self.display
    }

    /// Number of DISPLAYs received.
    pub const fn displays(&self) -> u64 {
        self.displays
    }

    /// Whether a DISPLAY was padded or cut because it did not match the GRID.
    pub const fn is_adjusted(&self) -> bool {
        self.adjusted
    }

    /// The player's position: the `@` of the last DISPLAY.
    pub fn position(&self) -> Option<Position> {
        let (_, cols) = self.size?;
        let at = u16::try_from(self.display.iter().position(|&byte| byte == b'@')?).ok()?;
        Some(Position::new(at / (cols + 1), at % (cols + 1)))
    }

    /// Whether the server has admitted the client.
    pub const fn is_joined(&self) -> bool {
        matches!(self.timers.phase(), Phase::Playing)
    }

    /// How the client's part in the game ended; `None` while it continues.
    pub const fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// How long the server's port has been closed, if no message has arrived since.
    pub fn closed_for(&self, now: Time) -> Option<Duration> {
        self.timers.closed_for(now)
    }

    /// The final table in the server's QUIT, if it has one.
    pub fn scores(&self) -> Option<Scores> {
        match &self.end {
            Some(End::Quit(text)) => Scores::read(text),
            _ => None,
        }
    }

    /// The message that requests admission.
    pub fn first_message(&self) -> ClientMessage {
        match &self.participant {
            Participant::Player(name) => ClientMessage::Play(Some(name.clone())),
            Participant::Spectator => ClientMessage::Spectate,
        }
    }

    /// Handles a new address of the server. Sends an unassigned key there for a player, because a server that knows the
    /// player answers it; otherwise the first message.
    pub fn moved(&mut self, now: Time) {
        if matches!(self.timers.phase(), Phase::Over | Phase::Leaving { .. }) {
            return;
        }
        let plays = self.is_joined() && matches!(self.participant, Participant::Player(_));
        self.timers.moved(now);
        self.outgoing.push_back(if plays { ClientMessage::Key(PROBE_KEY) } else { self.first_message() });
    }

    fn key(&mut self, now: Time, key: u8) {
        if !self.is_joined() {
            return;
        }
        self.note = None;
        if key == b'Q' {
            self.leave(now);
            return;
        }
        self.timers.key(now, self.must_move(key));
        self.outgoing.push_back(ClientMessage::Key(key));
    }

    fn leave(&mut self, now: Time) {
        let end = match self.timers.phase() {
            // Releases a seat if the admission was lost.
            Phase::Joining { .. } => Some(End::LeftEarly),
            Phase::Playing if self.closed_for(now).is_some() => Some(End::Gone),
            Phase::Playing => {
                self.timers.leave(now);
                None
            }
            Phase::Leaving { .. } | Phase::Over => return,
        };
        self.outgoing.push_back(ClientMessage::Key(b'Q'));
        if let Some(end) = end {
            self.finish(end);
        }
    }

    // Whether the last DISPLAY shows that a key moves the player, which makes a response certain. Servers ignore a step
    // into a wall, and some an unassigned key.
    fn must_move(&self, key: u8) -> bool {
        let (Some(way), Some((_, cols)), Some(at)) = (
            Direction::from_key(key.to_ascii_lowercase()),
            self.size,
            self.display.iter().position(|&byte| byte == b'@'),
        ) else {
            return false;
        };
        let target = i32::try_from(at).ok().and_then(|at| usize::try_from(at + way.offset(cols)).ok());
        let there = target.and_then(|target| self.display.get(target));
        there.is_some_and(|&byte| matches!(byte, ROOM | PASSAGE | PILE) || byte.is_ascii_uppercase())
    }

    fn finish(&mut self, end: End) {
        self.timers.end();
        self.end = Some(end);
    }
}

impl netcore::Client for Client {
    type Action = Command;
    type Error = DecodeError;

    /// Handles received bytes. A malformed message sets a note and changes no other state.
    ///
    /// # Errors
    /// [`DecodeError`] if a stream announces a message longer than the limit.
    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), DecodeError> {
        if self.link.framing() == Framing::Whole {
            self.message(now, bytes);
            return Ok(());
        }
        self.incoming.extend_from_slice(bytes);
        while let Some(message) = stream_decoder().decode(&mut self.incoming)? {
            self.message(now, &message);
        }
        Ok(())
    }

    fn act(&mut self, now: Time, command: Command) {
        match command {
            Command::Key(key) => self.key(now, key),
            Command::Leave => self.leave(now),
        }
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.outgoing.pop_front().map(|message| message.to_frame(self.link.framing()))
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        self.timers.deadline(now)
    }

    fn elapsed(&mut self, now: Time) {
        match self.timers.elapsed(now) {
            None => {}
            Some(Due::FirstMessage) => self.outgoing.push_back(self.first_message()),
            Some(Due::HalfWelcome) => self.guess_size(),
            Some(Due::Probe) => self.outgoing.push_back(ClientMessage::Key(PROBE_KEY)),
            Some(Due::Quit) => self.outgoing.push_back(ClientMessage::Key(b'Q')),
            Some(Due::End(end)) => self.finish(end),
        }
    }

    /// Over datagrams, the server's port is closed, but may open again.
    fn disconnected(&mut self, now: Time, why: DisconnectReason) {
        match (self.timers.phase(), self.link) {
            (Phase::Over, _) => {}
            (_, Link::Datagram) => self.timers.refused(now),
            (_, Link::Stream | Link::Message) => {
                self.outgoing.clear();
                self.finish(End::Disconnected(why));
            }
        }
    }

    fn is_over(&self) -> bool {
        self.timers.phase() == Phase::Over && self.outgoing.is_empty()
    }
}
