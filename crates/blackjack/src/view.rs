//! Views of the game, limited to what their receivers may see. They cannot contain the hole card or the deck, and every
//! message is built from them.
//!
//! A watcher receives the whole picture in one message: lines of printable ASCII separated by line feeds, then a NUL.
//!
//! | line | meaning |
//! |------|---------|
//! | `LOBBY <played> <at most> <waiting> <rounds>` | tables in play, their maximum, waiting clients, finished rounds |
//! | `TABLE <number> <phase> <played> <rounds>` | `LOBBY`, `PLAYING` or `OVER`; finished rounds, and the total |
//! | `DEALER <card>` | the dealer's upcard, only during a round |
//! | `REVEALED <card>, <card> …` | the dealer's hand of the last finished round, the hole card first |
//! | `SEAT <number> FREE` | the seat has no player yet |
//! | `SEAT <number> <stage> <name> <wins> <pushes> <losses> <busts> <forfeits>` | a player and its results |
//! | `HAND <card>, <card> …` | the cards of the seat above |
//!
//! `LOBBY` is the first line; the pictures of at most [`MAX_SHOWN`] tables follow. The stage of a seat is `WAITS`,
//! `DECIDES`, `STANDS`, `BUST`, `FORFEITED`, or `OUT` without a hand.
//!
//! Pictures are an extension of this project.

use alloc::{format, vec::Vec};
use bytes::Bytes;
use core::fmt;
use netcore::Phase;
use serde::{Deserialize, Serialize};

use crate::{
    cards::Card,
    hand::Hand,
    name::Name,
    verdict::{Score, Verdict},
};

/// The maximum number of tables in a picture, those with the lowest numbers.
pub const MAX_SHOWN: usize = 16;

/// The progress of a seat's hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// The seat has no hand.
    Absent,
    /// Its turn is now or later.
    Playing,
    /// The player has stood.
    Stood,
    /// Its total is above 21.
    Bust,
    /// The player broke the rules or left, and lost the hand.
    Forfeited,
}

/// The view of a round from a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a> {
    /// The seat's own cards, in the order of the deal.
    pub cards: &'a [Card],
    /// The dealer's upcard.
    pub upcard: Card,
    /// Whether the seat's decision is due.
    pub asked: bool,
    /// The result of the hand, once the round is over.
    pub verdict: Option<Verdict>,
}

/// The public view of a table.
#[derive(Debug, Clone)]
pub struct TableView {
    /// The number of the table, counted from 1.
    pub number: u32,
    /// The phase of the table.
    pub phase: Phase,
    /// Finished rounds.
    pub played: u32,
    /// The total number of rounds.
    pub rounds: u32,
    /// The dealer's upcard; `None` between rounds.
    pub upcard: Option<Card>,
    /// The dealer's hand of the last finished round.
    pub revealed: Option<Hand>,
    /// The seats in order; `None` for a seat without a player.
    pub seats: Vec<Option<SeatView>>,
}

/// The public view of a seat.
#[derive(Debug, Clone)]
pub struct SeatView {
    /// The name of the player.
    pub name: Name,
    /// The results of the player's rounds.
    pub score: Score,
    /// Forfeited hands.
    pub forfeits: u64,
    /// The cards of the hand and its stage; `None` if no hand was dealt.
    pub hand: Option<(Hand, Stage)>,
    /// Whether it is this seat's turn.
    pub decides: bool,
}

/// The public view of a dealer.
#[derive(Debug, Clone)]
pub struct LobbyView {
    /// Tables in play.
    pub playing: u32,
    /// The maximum number of tables in play.
    pub tables: u32,
    /// Clients waiting for a seat.
    pub waiting: u32,
    /// Finished rounds at finished tables.
    pub rounds: u64,
    /// The tables in the picture.
    pub shown: Vec<TableView>,
}

impl LobbyView {
    /// Encodes the message to a watcher.
    pub fn to_bytes(&self) -> Bytes {
        Bytes::from(format!("{self}\0"))
    }
}

fn write_cards(f: &mut fmt::Formatter<'_>, what: &str, hand: &Hand) -> fmt::Result {
    write!(f, "\n{what} ")?;
    let between = |at| if at > 0 { ", " } else { "" };
    hand.cards().iter().enumerate().try_for_each(|(at, card)| write!(f, "{}{card}", between(at)))
}

impl fmt::Display for TableView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match self.phase {
            Phase::Lobby => "LOBBY",
            Phase::Playing => "PLAYING",
            Phase::Over => "OVER",
        };
        write!(f, "TABLE {} {phase} {} {}", self.number, self.played, self.rounds)?;
        if let Some(upcard) = self.upcard {
            write!(f, "\nDEALER {upcard}")?;
        }
        if let Some(revealed) = &self.revealed {
            write_cards(f, "REVEALED", revealed)?;
        }
        for (number, seat) in (1..).zip(&self.seats) {
            match seat {
                None => write!(f, "\nSEAT {number} FREE")?,
                Some(seat) => write!(f, "\nSEAT {number} {seat}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for SeatView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.hand {
            None | Some((_, Stage::Absent)) => "OUT",
            Some((_, Stage::Playing)) if self.decides => "DECIDES",
            Some((_, Stage::Playing)) => "WAITS",
            Some((_, Stage::Stood)) => "STANDS",
            Some((_, Stage::Bust)) => "BUST",
            Some((_, Stage::Forfeited)) => "FORFEITED",
        };
        let Self { name, score: Score { wins, pushes, losses, busts }, forfeits, .. } = self;
        write!(f, "{stage} {name} {wins} {pushes} {losses} {busts} {forfeits}")?;
        match &self.hand {
            Some((hand, _)) => write_cards(f, "HAND", hand),
            None => Ok(()),
        }
    }
}

impl fmt::Display for LobbyView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LOBBY {} {} {} {}", self.playing, self.tables, self.waiting, self.rounds)?;
        self.shown.iter().try_for_each(|table| write!(f, "\n{table}"))
    }
}
