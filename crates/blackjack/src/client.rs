//! A player without its socket: decodes the dealer's messages, tracks the hand, and reports when a decision is due.
//!
//! Answer a [`MessageEffect::DecisionDue`] immediately: some dealers wait only 26 ms. A wrong message that can be
//! ignored or repaired, such as a duplicate card, is an [`Anomaly`]; any other is a [`ClientError`]. BEGIN and QUIT are
//! always valid.

mod knowledge;

use alloc::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use netcore::{DecodeError, DisconnectReason, Framing, MessageDecoder, MessageStream, Time};
use thiserror::Error;

use self::knowledge::{Knowledge, Phase};
use crate::{
    cards::Card,
    game::Action,
    hand::{Hand, Points},
    learn::Choice,
    name::Name,
    policy::{State, StateSpace},
    protocol::{DealerDecoder, DealerMessage, Dialect, PlayerMessage},
};

pub use self::knowledge::{Anomaly, Event, MessageEffect, NoDecisionDue, UnexpectedMessage};

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

#[cfg(test)]
mod tests {
    use std::{format, string::String, vec::Vec};

    use netcore::Client as _;

    use super::*;
    use crate::{qtable::QTable, verdict::Verdict};

    fn client(space: StateSpace) -> Client {
        Client::new(Name::new(b"Ann").unwrap(), Dialect::Text, Framing::Stream, space)
    }

    const HIT: Choice = Choice::sure(Action::Hit);
    const STAND: Choice = Choice::sure(Action::Stand);

    // Returns the anomalies.
    fn play(player: &mut Client, table: &mut QTable, script: &str) -> Result<String, String> {
        let mut odd = Vec::new();
        for line in script.split(", ") {
            match line {
                "HIT" | "STAND" => {
                    let choice = if line == "HIT" { HIT } else { STAND };
                    player.decide(choice).map_err(|error| format!("{error}"))?;
                }
                _ => {
                    let message = DealerMessage::parse_text(line.as_bytes()).expect("a message");
                    let event = player.apply(message).map_err(|error| format!("{error}"))?;
                    odd.extend(event.anomaly.map(|anomaly| format!("{anomaly}")));
                    if let MessageEffect::Ended { verdict, lesson: Some(lesson), .. } = event.effect {
                        lesson.teach(table, verdict);
                    }
                }
            }
        }
        Ok(odd.join("; "))
    }

    const DEAL: &str = "BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DEALER Three of Diamonds, DECISION";

    fn after(script: &str) -> (Result<String, String>, String) {
        let (mut player, mut table) = (client(StateSpace::Coarse), QTable::new(StateSpace::Coarse));
        let odd = play(&mut player, &mut table, &script.replace("DEAL,", &format!("{DEAL},")));
        (odd, table.dump().trim_end().into())
    }

    #[test]
    fn complete_rounds_are_learned() {
        for (script, learned) in [
            ("DEAL, STAND, RESULT WIN", "16 3 - 0 1.000000 1"),
            ("DEAL, HIT, CARD Nine of Clubs, RESULT BUST", "16 3 -1.000000 1 - 0"),
            ("DEAL, HIT, CARD Nine of Clubs, RESULT LOOSE", "16 3 -1.000000 1 - 0"),
            ("DEAL, HIT, CARD Five of Clubs, DECISION, STAND, RESULT PUSH", "16 3 0.000000 1 - 0\n21 3 - 0 0.000000 1"),
            ("DEAL, STAND, RESULT WIN, DEAL, STAND, RESULT LOOSE, QUIT", "16 3 - 0 0.000000 2"),
        ] {
            assert_eq!(after(script), (Ok(String::new()), learned.into()), "{script}");
        }
    }

    #[test]
    fn tolerated_faults_are_reported_and_not_learned() {
        for (script, told) in [
            ("RESULT WIN", "outside a round"),
            ("RESULT LOSE, RESULT BUST, BEGIN, QUIT", "not counted; received a result outside a round"),
            ("BEGIN, RESULT WIN", "before the hand was played"),
            ("DEAL, RESULT WIN", "before the hand was played"),
            ("DEAL, HIT, RESULT BUST", "before the hand was played"),
            ("DEAL, HIT, CARD Nine of Clubs, RESULT WIN", "a hand of 25 cannot have"),
            ("DEAL, STAND, RESULT BUST", "a hand of 16 cannot have"),
            ("DEAL, STAND, BEGIN", "before the end of the last one"),
        ] {
            let (odd, learned) = after(script);
            assert!(odd.as_ref().is_ok_and(|odd| odd.contains(told)), "{script}: {odd:?}");
            assert_eq!(learned, "", "{script}");
        }
        let (odd, learned) = after("DEAL, HIT, CARD Ten of Clubs, RESULT BUST");
        assert_eq!(odd, Ok("received the Ten of Clubs twice in one round".into()));
        assert_eq!(learned, "16 3 -1.000000 1 - 0");
        let begun = "BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DEALER Three of Diamonds, CARD Two of Clubs, DECISION, STAND, \
                 RESULT WIN";
        let (odd, learned) = after(begun);
        assert!(odd.as_ref().is_ok_and(|odd| odd.contains("began before")), "{odd:?}");
        assert_eq!(learned, "");
    }

    #[test]
    fn dealer_may_restart_or_quit_at_any_time() {
        let script = "BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DEALER Three of Diamonds, DECISION, HIT, \
                  CARD Two of Clubs, DECISION, STAND, RESULT WIN";
        let steps: Vec<&str> = script.split(", ").collect();
        for length in 0..=steps.len() {
            let part = steps[..length].iter().fold(String::new(), |part, step| part + step + ", ");
            let (odd, learned) = after(&format!("{part}QUIT"));
            assert_eq!((odd, learned.is_empty()), (Ok(String::new()), length < steps.len()), "{part}");
            let (odd, learned) = after(&format!("{part}DEAL, STAND, RESULT WIN, QUIT"));
            assert_eq!(odd.map(|odd| odd.is_empty()), Ok(length == 0 || length == steps.len()), "{part}");
            assert!(learned.ends_with("1.000000 1"), "{learned}");
        }
    }

    #[test]
    fn protocol_violations_are_errors() {
        for (script, expected) in [
            ("CARD Ten of Clubs", "BEGIN or QUIT"),
            ("DECISION", "BEGIN or QUIT"),
            ("BEGIN, DECISION", "CARD"),
            ("BEGIN, DEALER Ten of Clubs", "CARD"),
            ("BEGIN, CARD Ten of Clubs, CARD Six of Hearts, CARD Two of Clubs", "DEALER"),
            ("BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DECISION", "DEALER"),
            ("DEAL, DECISION", "nothing before the answer"),
            ("DEAL, CARD Two of Clubs", "nothing before the answer"),
            ("DEAL, HIT, DECISION", "CARD"),
            ("DEAL, HIT, CARD Nine of Clubs, DECISION", "RESULT"),
            ("DEAL, STAND, CARD Nine of Clubs", "RESULT"),
            ("DEAL, STAND, DECISION", "RESULT"),
            ("QUIT, BEGIN", "nothing after QUIT"),
            ("QUIT, QUIT", "nothing after QUIT"),
        ] {
            let error = after(script).0.expect_err(script);
            assert!(error.ends_with(&format!("expected {expected}")), "{script}: {error}");
        }
        assert_eq!(after("BEGIN, HIT").0, Err("the dealer is not waiting for a decision".into()));
        assert_eq!(after("DEAL, STAND, STAND").0, Err("the dealer is not waiting for a decision".into()));
    }

    #[test]
    fn stream_decodes_the_same_in_any_pieces() {
        let texts = ["BEGIN", "CARD Queen of Diamonds", "CARD Six of Hearts", "RESULT LOSE", "QUIT"];
        let messages = texts.map(|text| DealerMessage::parse_text(text.as_bytes()).unwrap());
        for dialect in [Dialect::Text, Dialect::Binary] {
            let mut bytes = BytesMut::new();
            for message in messages {
                bytes.extend_from_slice(&message.to_bytes(dialect));
            }
            for step in 1..=bytes.len() {
                let mut player = Client::new(Name::new(b"Ann").unwrap(), dialect, Framing::Stream, StateSpace::Soft);
                let mut read = Vec::new();
                for piece in bytes.chunks(step) {
                    player.receive(Time::ZERO, piece).unwrap();
                    read.extend(core::iter::from_fn(|| player.poll_event()).map(|event| event.message));
                }
                assert_eq!(read, messages, "{dialect:?} in pieces of {step}");
                assert_eq!((player.bytes_read(), player.is_within_message()), (bytes.len() as u64, false));
            }
        }
    }

    #[test]
    fn error_has_its_position() {
        for (dialect, bytes, told) in [
            (Dialect::Text, &b"BEGIN\0\0"[..], "message 2, from byte 6 of the stream: byte 0: no message"),
            (Dialect::Text, b"QUIT\n\0", "message 1, from byte 0 of the stream: byte 0: no message"),
            (Dialect::Binary, b"\0\0\0\x01\x02\0\0\0\x02\x03\x35", "message 2, from byte 5 of the stream: byte 1"),
            (Dialect::Binary, b"\0\0\0\0", "message 1, from byte 0 of the stream: "),
            (Dialect::Binary, b"\xff\xff\xff\xff", "message 1, from byte 0 of the stream: a message of 4294967295"),
            (Dialect::Text, &[b'A'; 257], "message 1, from byte 0 of the stream: "),
        ] {
            let mut player = Client::new(Name::new(b"Ann").unwrap(), dialect, Framing::Stream, StateSpace::Soft);
            let error = format!("{}", player.receive(Time::ZERO, bytes).expect_err(told));
            assert!(error.starts_with(told), "{error}");
        }
    }

    #[test]
    fn deck_of_aces_is_handled() {
        let mut player = client(StateSpace::Soft);
        let ace = DealerMessage::Card(Card::new(1).unwrap());
        let apply = |player: &mut Client, message| player.apply(message).unwrap().effect;
        apply(&mut player, DealerMessage::Begin);
        apply(&mut player, ace);
        apply(&mut player, ace);
        apply(&mut player, DealerMessage::Upcard(Card::new(1).unwrap()));
        let mut hits = 0;
        while player.apply(DealerMessage::Decision).is_ok() {
            player.decide(HIT).unwrap();
            apply(&mut player, ace);
            hits += 1;
        }
        assert_eq!((hits, player.hand().total()), (20, 22));
        let ended = apply(&mut player, DealerMessage::Result(Verdict::Bust));
        let MessageEffect::Ended { verdict: Verdict::Bust, total: 22, lesson: Some(lesson) } = ended else {
            panic!("{ended:?}")
        };
        let mut table = QTable::new(StateSpace::Soft);
        lesson.teach(&mut table, Verdict::Bust);
        assert_eq!(table.visited().map(|(_, entry)| entry.hit.n).sum::<u64>(), 20);
    }
}
