//! What a dealer's log can tell.

use alloc::{string::String, vec::Vec};
use core::fmt;
use netcore::{DecodeError, Gone};

use crate::{
    cards::Card,
    protocol::{DealerMessage, Name, PlayerMessage},
};

/// Something that happened; its [`Display`](fmt::Display) is a line for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// At a client.
    Client {
        /// Its address.
        address: String,
        /// Its name, if it has told.
        name: Option<Name>,
        /// What happened.
        what: ClientEvent,
    },
    /// At a table.
    Table {
        /// The table, counted from 1.
        table: u32,
        /// What happened.
        what: TableEvent,
    },
}

/// Something that happened at a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEvent {
    /// It has joined and waits for a table; so many stand before it.
    Waits {
        /// Clients that get a seat before it does.
        before: usize,
    },
    /// It has a seat.
    Seated {
        /// At this table, counted from 1.
        table: u32,
        /// On this seat, counted from 1.
        seat: usize,
    },
    /// It sent something that is no message, or not in time for anything.
    Malformed(DecodeError),
    /// It sent a message that nothing had asked for.
    OutOfTurn(PlayerMessage),
    /// It did not join in time.
    NoJoin,
    /// It did not answer in time.
    NoAnswer,
    /// It is gone.
    Gone(Gone),
    /// There are as many clients as a dealer takes, it only wants to look on, or the dealer is about to leave.
    TurnedAway,
    /// It heard this; only when tracing.
    Heard(DealerMessage),
    /// It said this; only when tracing.
    Said(PlayerMessage),
}

/// Something that happened at a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableEvent {
    /// Its first round begins.
    Begins,
    /// A round is over; only when tracing.
    Round {
        /// The round, counted from 1.
        round: u32,
        /// The dealer's cards, the hole card first.
        dealer: Vec<Card>,
    },
    /// All rounds are played.
    Over,
    /// Everybody has left.
    Deserted,
}

impl Event {
    /// Whether it is one of the many that only a trace shows.
    pub const fn is_trace(&self) -> bool {
        matches!(
            self,
            Self::Client { what: ClientEvent::Heard(_) | ClientEvent::Said(_), .. }
                | Self::Table { what: TableEvent::Round { .. }, .. }
        )
    }

    /// Whether a client did what it should not.
    pub const fn is_fault(&self) -> bool {
        use ClientEvent::{Malformed, NoAnswer, NoJoin, OutOfTurn};
        matches!(self, Self::Client { what: Malformed(_) | OutOfTurn(_) | NoJoin | NoAnswer, .. })
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client { address, name, what } => {
                match name {
                    Some(name) => write!(f, "{name} ({address}) ")?,
                    None => write!(f, "{address} ")?,
                }
                what.fmt(f)
            }
            Self::Table { table, what } => {
                write!(f, "table {table} ")?;
                what.fmt(f)
            }
        }
    }
}

impl fmt::Display for ClientEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waits { before: 0 } => f.write_str("waits for a table"),
            Self::Waits { before } => write!(f, "waits for a table, behind {before} others"),
            Self::Seated { table, seat } => write!(f, "sits at table {table}, seat {seat}"),
            Self::Malformed(why) => write!(f, "is sent away: {why}"),
            Self::OutOfTurn(message) => write!(f, "is sent away: {message} was not asked for"),
            Self::NoJoin => f.write_str("is sent away: no JOIN in time"),
            Self::NoAnswer => f.write_str("is sent away: no answer in time"),
            Self::Gone(Gone::Left) => f.write_str("has left"),
            Self::Gone(Gone::Broken) => f.write_str("is gone: the connection broke"),
            Self::Gone(Gone::Lagging) => f.write_str("is gone: it did not read what was sent to it"),
            Self::TurnedAway => f.write_str("is sent away: there is no place for it"),
            Self::Heard(message) => write!(f, "< {message}"),
            Self::Said(message) => write!(f, "> {message}"),
        }
    }
}

impl fmt::Display for TableEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begins => f.write_str("begins"),
            Self::Round { round, dealer } => {
                write!(f, "round {round}: the dealer had ")?;
                dealer
                    .iter()
                    .enumerate()
                    .try_for_each(|(index, card)| write!(f, "{}{card}", if index > 0 { ", " } else { "" }))
            }
            Self::Over => f.write_str("is over"),
            Self::Deserted => f.write_str("is deserted: all players have left before the last round"),
        }
    }
}
