//! A player of the tester: how it plays, its connection, and what it hears.

use std::{net::SocketAddr, time::Instant};

use blackjack::{Card, DealerMessage, Dialect, Hand, Name, PlayerMessage};

use super::rules::{GRAMMAR, LISTENS};
use crate::{
    judge::{Judge, Played},
    launch::Run,
    net::{Connection, MAX_TEXT},
    tester::Options,
    words::blackjack::WITH_DEALER,
};

/// How a player of the tester plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Takes cards until it is bust.
    Greedy,
    /// Never takes a card.
    Modest,
    /// As one of the two, or as a dealer, from round to round.
    Mixed,
    /// Takes cards up to this total when the dealer may come to a soft 17, which 7 to king almost rule out; else none.
    Until(u8),
    /// As [`Style::Mixed`], each byte in a segment of its own.
    Bytes,
}

impl Style {
    /// Whether it takes a card, in this round and with this hand.
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

/// What came of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Message(DealerMessage),
    Closed,
    Nothing,
}

impl std::fmt::Display for Heard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Message(message) => write!(f, "{message} came"),
            Self::Closed => f.write_str("the connection was closed"),
            Self::Nothing => f.write_str("nothing came in time"),
        }
    }
}

/// A dealer under test that runs.
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
    /// No DECISION came when one was due.
    pub(super) unasked: bool,
}

impl Seat {
    pub(super) fn connect(judge: &mut Judge, dealer: &mut Dealer, number: usize) -> Played<Self> {
        let Dealer { run, address, options } = dealer;
        let opened = Connection::to_server(&mut **run, *address, options.deadline());
        let opened = opened.map_err(|error| format!("cannot connect to {address}: {error}{}", run.obituary()));
        let line = judge.line(&format!("seat {number}"), &WITH_DEALER);
        let connection = judge.expect(&LISTENS, opened)?.recorded(line);
        Ok(Self { connection, style: Style::Mixed, number, hand: Hand::new(), stood: false, unasked: false })
    }

    /// Whether the player has no more decisions in this round.
    pub(super) fn is_over(&self) -> bool {
        self.stood || self.hand.points().is_bust()
    }

    /// The seat and a round that is counted from 0, as breaches call them.
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
        self.say(&PlayerMessage::Join(name.map_err(|_| anyhow::anyhow!("the tester has no name"))?));
        Ok(())
    }

    /// The next message, if one comes by then.
    pub(super) fn listen(&mut self, judge: &mut Judge, by: Instant) -> Played<Heard> {
        if matches!(self.style, Style::Until(_)) {
            // Many rounds are to be played.
            self.connection.acknowledge();
        }
        let Some(text) = self.connection.text(by) else {
            let buffer = &mut self.connection.buffer;
            if buffer.len() > MAX_TEXT {
                let start = buffer.get(..40).unwrap_or_default().escape_ascii().to_string();
                return judge.broken(&GRAMMAR, || format!("{MAX_TEXT} bytes have no NUL; they begin with '{start}'"));
            }
            if !self.connection.closed {
                return Ok(Heard::Nothing);
            }
            let rest = self.connection.rest();
            if rest.is_empty() {
                return Ok(Heard::Closed);
            }
            let rest = rest.escape_ascii();
            return judge.broken(&GRAMMAR, || format!("the connection ended within a message, after '{rest}'"));
        };
        // `LOSE` is read, but not to be sent.
        let is_exact = |message: &DealerMessage| message.to_bytes(Dialect::Text).strip_suffix(b"\0") == Some(&*text);
        let message = DealerMessage::parse_text(&text).ok().filter(is_exact);
        let message = message.ok_or_else(|| format!("'{}' is no message of a dealer", text.escape_ascii()));
        Ok(Heard::Message(judge.expect(&GRAMMAR, message)?))
    }
}
