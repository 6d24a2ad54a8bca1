//! A player of the tester: its style, its connection and the messages that it receives.

use std::{net::SocketAddr, time::Instant};

use blackjack::{Card, DealerMessage, Dialect, Hand, Name, PlayerMessage, Verdict};

use super::rules::{GRAMMAR, LISTENS};
use crate::{
    judge::{Judge, Played},
    launch::Run,
    net::Connection,
    tester::Options,
    words::blackjack::{Reader, Text, UNTERMINATED, WITH_DEALER, dealer_message, of_dealer},
};

/// The style of a player of the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Takes cards until it is bust.
    Greedy,
    /// Never takes a card.
    Modest,
    /// Like one of the two, or like a dealer, changing from round to round.
    Mixed,
    /// Takes cards up to this total if the dealer may reach a soft 17, which the upcards 7 to king almost exclude.
    /// Otherwise takes none.
    Until(u8),
    /// Like [`Style::Mixed`], with each byte in a separate segment.
    Bytes,
}

impl Style {
    /// Whether it takes a card in this round with this hand.
    pub(super) fn hits(self, round: u32, hand: &Hand, upcard: Option<Card>) -> bool {
        match (self, round % 3) {
            (Self::Greedy, _) | (Self::Mixed | Self::Bytes, 0) => true,
            (Self::Until(total), _) => {
                hand.points().total() < total && upcard.is_some_and(|card| !(7..=10).contains(&card.value()))
            }
            (Self::Modest, _) | (Self::Mixed | Self::Bytes, 1) => false,
            _ => hand.points().dealer_hits(),
        }
    }
}

/// The result of waiting for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Message(DealerMessage),
    Closed,
    Nothing,
}

impl std::fmt::Display for Heard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Message(message) => write!(f, "{message}"),
            Self::Closed => f.write_str("the end of the connection"),
            Self::Nothing => f.write_str("nothing in time"),
        }
    }
}

/// A running dealer under test.
pub(super) struct Dealer {
    pub(super) run: Box<dyn Run>,
    pub(super) address: SocketAddr,
    pub(super) options: Options,
}

pub(super) struct Seat {
    pub(super) connection: Connection,
    pub(super) style: Style,
    pub(super) number: usize,
    pub(super) hand: Hand,
    pub(super) stood: bool,
    /// No DECISION arrived when one was due.
    pub(super) unasked: bool,
    /// The RESULT, if it arrived before the round was over.
    pub(super) result: Option<Verdict>,
    /// The dealer has ended the hand, which has been judged.
    pub(super) is_cut: bool,
    reader: Reader,
    // A message that was put back.
    pending: Option<DealerMessage>,
}

impl Seat {
    pub(super) fn connect(judge: &mut Judge, dealer: &mut Dealer, number: usize) -> Played<Self> {
        let Dealer { run, address, options } = dealer;
        let opened = Connection::to_server(&mut **run, *address, options.deadline());
        let opened = opened.map_err(|error| {
            format!("expected a connection to {address}, but connecting failed: {error}{}", run.obituary())
        });
        let line = judge.line(&format!("seat {number}"), &WITH_DEALER);
        let connection = judge.expect(&LISTENS, opened)?.recorded(line);
        Ok(Self {
            connection,
            style: Style::Mixed,
            number,
            hand: Hand::new(),
            stood: false,
            unasked: false,
            result: None,
            is_cut: false,
            reader: of_dealer(),
            pending: None,
        })
    }

    /// Whether the player has no further decisions in this round.
    pub(super) fn is_over(&self) -> bool {
        self.stood || self.hand.points().is_bust()
    }

    /// The seat and the round, counted from 0, for the text of a breach.
    pub(super) fn at(&self, round: u32) -> String {
        format!("seat {}, round {}", self.number, round + 1)
    }

    pub(super) fn say(&mut self, message: &PlayerMessage) {
        let bytes = message.to_bytes(Dialect::Text);
        if self.style == Style::Bytes {
            self.connection.send_in_bytes(&bytes);
        } else {
            self.connection.send(&bytes);
        }
    }

    pub(super) fn join(&mut self, name: &str) -> Played {
        let name = Name::new(name.as_bytes());
        self.say(&PlayerMessage::Join(name.map_err(|_| anyhow::anyhow!("invalid name for a tester"))?));
        Ok(())
    }

    /// Resets the state of the previous round.
    pub(super) fn begin_round(&mut self) {
        (self.hand, self.stood, self.unasked, self.result, self.is_cut) = (Hand::new(), false, false, None, false);
    }

    /// Handles a RESULT that arrived when a question was due.
    pub(super) fn end_with(&mut self, verdict: Verdict) {
        (self.stood, self.result, self.is_cut) = (true, Some(verdict), true);
    }

    /// Puts back a message, so that it is the next one again.
    pub(super) fn put_back(&mut self, message: DealerMessage) {
        self.pending = Some(message);
    }

    /// The next message, if one arrives in time. A message with wrong spelling counts as the message that it resembles.
    pub(super) fn listen(&mut self, judge: &mut Judge, by: Instant) -> Heard {
        if let Some(message) = self.pending.take() {
            return Heard::Message(message);
        }
        if matches!(self.style, Style::Until(_)) {
            // The tester has to play many rounds.
            self.connection.acknowledge();
        }
        while let Some(text) = self.reader.next(&mut self.connection, by) {
            let (Text::Ended(bytes) | Text::Unended(bytes)) = &text;
            let (message, is_exact) = dealer_message(bytes);
            let is_right = is_exact && matches!(text, Text::Ended(_));
            judge.check(&GRAMMAR, is_right, || match (&text, &message) {
                (Text::Ended(_), _) => format!("expected a message of a dealer, received '{}'", bytes.escape_ascii()),
                (Text::Unended(_), Some(_)) => UNTERMINATED.to_owned(),
                (Text::Unended(_), None) => {
                    let start = bytes.get(..40).unwrap_or(bytes).escape_ascii();
                    format!("expected a NUL at the end of a message, received {} bytes without one, starting with '{start}'", bytes.len())
                }
            });
            if let Some(message) = message {
                return Heard::Message(message);
            }
        }
        if !self.connection.closed {
            return Heard::Nothing;
        }
        let rest = self.connection.rest();
        if !rest.is_empty() {
            judge.check(&GRAMMAR, false, || {
                format!(
                    "expected the rest of a message before the end of the connection, received only '{}'",
                    rest.escape_ascii()
                )
            });
        }
        Heard::Closed
    }
}
