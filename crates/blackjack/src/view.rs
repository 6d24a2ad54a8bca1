//! What one receiver may know: a [`View`] is for the player of a seat, a [`TableView`] and a [`LobbyView`] are for anybody.
//!
//! None of these types has a place for the hole card or the deck, and every message is made of them.
//!
//! A watcher is sent the whole picture in one message: lines of printable ASCII with a line feed between them, then a zero byte.
//!
//! | line | says |
//! |------|------|
//! | `LOBBY <played> <at most> <waiting> <rounds>` | first: tables that are played, tables at a time, clients that wait, rounds that are over; then the pictures of at most [`MAX_SHOWN`] tables |
//! | `TABLE <number> <phase> <played> <rounds>` | `LOBBY`, `PLAYING` or `OVER`; rounds that are over, and in all |
//! | `DEALER <card>` | the card that lies face up; only while a round is played |
//! | `REVEALED <card>, <card> …` | the dealer's hand of the last round that is over, the hole card first |
//! | `SEAT <number> FREE` | nobody has come for it yet |
//! | `SEAT <number> <stage> <name> <wins> <pushes> <losses> <busts> <forfeits>` | `WAITS`, `DECIDES`, `STANDS`, `BUST`, `FORFEITED`, or `OUT` if no hand was dealt to it |
//! | `HAND <card>, <card> …` | the cards of the seat above |
//!
//! Pictures are our own: the course's protocol has no watchers.

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

/// The most tables that one picture shows: those with the lowest numbers.
pub const MAX_SHOWN: usize = 16;

/// How far the hand of a seat is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Nobody sits there.
    Absent,
    /// Its turn is now or later.
    Playing,
    /// It takes no more cards.
    Stood,
    /// Its total is above 21.
    Bust,
    /// The player broke the rules or left, so the hand is lost.
    Forfeited,
}

/// What a seat may know of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'a> {
    /// Its own cards, in the order in which they came.
    pub cards: &'a [Card],
    /// The dealer's card that lies face up.
    pub upcard: Card,
    /// Whether its decision is due.
    pub asked: bool,
    /// What its hand came to; known once the round is over.
    pub verdict: Option<Verdict>,
}

/// What anybody may see of a table.
#[derive(Debug, Clone)]
pub struct TableView {
    /// Its number, from 1.
    pub number: u32,
    /// How far it is.
    pub phase: Phase,
    /// Rounds that are over.
    pub played: u32,
    /// Rounds in all.
    pub rounds: u32,
    /// The dealer's card that lies face up; none between rounds.
    pub upcard: Option<Card>,
    /// The dealer's hand of the last round that is over.
    pub revealed: Option<Hand>,
    /// Its seats in order; none where nobody has come yet.
    pub seats: Vec<Option<SeatView>>,
}

/// What anybody may see of a seat.
#[derive(Debug, Clone)]
pub struct SeatView {
    /// Who has it.
    pub name: Name,
    /// How its rounds ended.
    pub score: Score,
    /// Hands that were taken from it.
    pub forfeits: u64,
    /// Its cards and how far its hand is; none if it was dealt none.
    pub hand: Option<(Hand, Stage)>,
    /// Whether it is its turn.
    pub decides: bool,
}

/// What anybody may see of a dealer.
#[derive(Debug, Clone)]
pub struct LobbyView {
    /// Tables that are played.
    pub playing: u32,
    /// Tables at the same time.
    pub tables: u32,
    /// Clients that wait for a seat.
    pub waiting: u32,
    /// Rounds that are over, at tables that are over.
    pub rounds: u64,
    /// The tables that are shown.
    pub shown: Vec<TableView>,
}

impl LobbyView {
    /// The message to a watcher.
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
