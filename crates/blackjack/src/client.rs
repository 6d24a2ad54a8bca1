//! A player without its socket: decodes the dealer's messages, tracks the hand, and reports when a decision is due.
//!
//! Answer a [`MessageEffect::DecisionDue`] immediately: some dealers wait only 26 ms. A wrong message that can be
//! ignored or repaired, such as a duplicate card, is an [`Anomaly`]; any other is a [`ClientError`]. BEGIN and QUIT are
//! always valid.

mod knowledge;
#[cfg(test)]
mod tests;

use alloc::collections::VecDeque;
use bytes::{Bytes, BytesMut};
use netcore::{DecodeError, DisconnectReason, Framing, MessageDecoder, MessageStream, Time};
use thiserror::Error;

pub use knowledge::{Anomaly, Event, MessageEffect, NoDecisionDue, UnexpectedMessage};
use knowledge::{Knowledge, Phase};

use crate::{
    cards::Card,
    game::Action,
    hand::{Hand, Points},
    learn::Choice,
    name::Name,
    policy::{State, StateSpace},
    protocol::{DealerDecoder, DealerMessage, Dialect, PlayerMessage},
};

/// A malformed message of a dealer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("message {number}, from byte {start} of the stream: {error}")]
pub struct Malformed {
    /// The number of the message, counted from 1.
    pub number: u64,
    /// The offset of the message in the stream, counted from 0.
    pub start: u64,
    /// The decoding error, which is part of the text and not a separate source.
    pub error: DecodeError,
}

/// An error in a dealer's stream.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ClientError {
    /// The bytes are not a message.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The message is not valid in this phase.
    #[error(transparent)]
    UnexpectedMessage(#[from] UnexpectedMessage),
}

/// A player that joins and plays until the dealer sends QUIT.
///
/// ```
/// use blackjack::{Action, Client, Dialect, Name, StateSpace, client::MessageEffect, learn::Choice};
/// use netcore::{Client as _, Framing, Time};
///
/// let mut ann = Client::new(Name::new(b"Ann")?, Dialect::Text, Framing::Stream, StateSpace::Coarse);
/// assert_eq!(ann.take_outgoing().as_deref(), Some(&b"JOIN Ann\0"[..]));
/// ann.receive(Time::ZERO, b"BEGIN\0CARD Ten of Clubs\0CARD Six of Hearts\0DEALER Thr")?;
/// ann.receive(Time::ZERO, b"ee of Diamonds\0DECISION\0")?;
/// assert_eq!((ann.hand().total(), ann.upcard().map(|card| card.value())), (16, Some(3)));
/// let last = core::iter::from_fn(|| ann.poll_event()).last();
/// assert_eq!(last.map(|event| event.effect), Some(MessageEffect::DecisionDue));
/// ann.act(Time::ZERO, Choice::sure(Action::Stand));
/// assert_eq!(ann.take_outgoing().as_deref(), Some(&b"STAND\0"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    name: Name,
    dialect: Dialect,
    framing: Framing,
    incoming: MessageStream<DealerDecoder>,
    knowledge: Knowledge,
    events: VecDeque<Event>,
    outgoing: VecDeque<Bytes>,
    // The stream has ended or cannot be decoded further.
    ended: bool,
}

impl Client {
    /// Creates a player that requests a seat and distinguishes states as in `space`.
    pub fn new(name: Name, dialect: Dialect, framing: Framing, space: StateSpace) -> Self {
        let join = PlayerMessage::Join(name.clone()).to_bytes(dialect);
        Self {
            name,
            dialect,
            framing,
            incoming: MessageStream::new(DealerDecoder::new(dialect)),
            knowledge: Knowledge::new(space),
            events: VecDeque::new(),
            outgoing: VecDeque::from([join]),
            ended: false,
        }
    }

    /// The name of the player.
    pub const fn name(&self) -> &Name {
        &self.name
    }

    /// The dialect of the connection.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The player's hand.
    pub const fn hand(&self) -> &Hand {
        &self.knowledge.hand
    }

    /// The points of the hand.
    pub const fn points(&self) -> Points {
        self.hand().points()
    }

    /// The dealer's upcard, once received.
    pub const fn upcard(&self) -> Option<Card> {
        self.knowledge.upcard
    }

    /// The state for the decision; `None` unless a decision is due.
    pub fn state(&self) -> Option<State> {
        let upcard = self.upcard().filter(|_| self.knowledge.phase == Phase::Asked)?;
        Some(State::of(self.knowledge.space, self.points(), upcard.value()))
    }

    /// Whether a round is in progress.
    pub const fn in_round(&self) -> bool {
        !matches!(self.knowledge.phase, Phase::Idle | Phase::Over)
    }

    /// Whether the dealer has sent QUIT.
    pub const fn has_received_quit(&self) -> bool {
        matches!(self.knowledge.phase, Phase::Over)
    }

    /// Whether an incomplete message is buffered.
    pub fn is_within_message(&self) -> bool {
        !self.incoming.unread().is_empty()
    }

    /// The received part of an incomplete text; empty in the binary dialect.
    pub fn unended_text(&self) -> &[u8] {
        match self.dialect {
            Dialect::Text => self.incoming.unread(),
            Dialect::Binary => &[],
        }
    }

    /// The number of bytes of complete messages so far.
    pub const fn bytes_read(&self) -> u64 {
        self.incoming.start()
    }

    /// The next event of the last received bytes, which discard earlier events.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Applies one decoded message.
    ///
    /// # Errors
    /// [`UnexpectedMessage`] if the message is not valid in this phase. The player is then unchanged.
    pub fn apply(&mut self, message: DealerMessage) -> Result<Event, UnexpectedMessage> {
        self.knowledge.apply(message)
    }

    /// Queues the decision as the next message, and returns it.
    pub fn decide(&mut self, choice: Choice) -> Result<PlayerMessage, NoDecisionDue> {
        let state = self.state().ok_or(NoDecisionDue)?;
        self.knowledge.episode.record(state, choice);
        self.knowledge.phase = match choice.action {
            Action::Hit => Phase::Hit,
            Action::Stand => Phase::Done,
        };
        let message = PlayerMessage::from(choice.action);
        self.outgoing.push_back(message.to_bytes(self.dialect));
        Ok(message)
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        if self.framing == Framing::Whole {
            let message = self.incoming.decoder().decode_whole(bytes).map_err(|error| self.malformed(error))?;
            self.incoming.skip(bytes.len());
            self.events.push_back(self.knowledge.apply(message)?);
            return Ok(());
        }
        self.incoming.buffer().extend_from_slice(bytes);
        while !self.has_received_quit()
            && let Some(message) = self.incoming.next_message().map_err(|error| self.malformed(error))?
        {
            self.events.push_back(self.knowledge.apply(message)?);
        }
        Ok(())
    }

    const fn malformed(&self, error: DecodeError) -> Malformed {
        Malformed { number: self.incoming.number(), start: self.incoming.start(), error }
    }
}

impl MessageDecoder for DealerDecoder {
    type Message = DealerMessage;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<DealerMessage>, DecodeError> {
        self.decode(buffer)
    }
}

impl netcore::Client for Client {
    type Action = Choice;
    type Error = ClientError;

    fn receive(&mut self, _: Time, bytes: &[u8]) -> Result<(), ClientError> {
        self.events.clear();
        if netcore::Client::is_over(self) {
            return Ok(());
        }
        let read = self.read(bytes);
        self.ended |= read.is_err();
        read
    }

    fn act(&mut self, _: Time, choice: Choice) {
        let _ = self.decide(choice);
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.outgoing.pop_front()
    }

    fn disconnected(&mut self, _: Time, _: DisconnectReason) {
        self.ended = true;
    }

    fn is_over(&self) -> bool {
        self.ended || self.has_received_quit()
    }
}
