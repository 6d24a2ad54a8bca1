//! Rare hands, and hands for which dealers often omit the question.

use std::collections::HashSet;

use blackjack::{Card, DealerMessage, Hand, Verdict, hand::BEST};

use super::{
    rules::{ACE_ONE, ASKED_AGAIN, ASKED_AT_21, NATURAL},
    seat::Heard,
};
use crate::{judge::Judge, rule::Rule};

/// Events that depend on chance. Dealers that are correct for most hands are often wrong for one of these.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Event {
    /// The first two cards total 21.
    Dealt21,
    /// A drawn card makes the total 21.
    Drawn21,
    /// An ace counts 1.
    LowAce,
    /// A hand of 21 received its RESULT.
    Best,
    Ended(Verdict),
}

/// The number of kinds of events, including one for each verdict.
pub(super) const EVENTS: usize = 8;

/// The events in the rounds so far.
pub(super) type Seen = HashSet<Event>;

/// The special properties of a hand for which a question is due.
#[derive(Clone, Copy)]
pub(super) struct Question {
    is_dealt: bool,
    is_best: bool,
    /// An ace counts 1, since 11 would exceed 21.
    has_low_ace: bool,
}

impl Question {
    pub(super) fn of(hand: &Hand) -> Self {
        let (cards, total) = (hand.cards(), hand.points().total());
        let with_high_aces: u32 = cards.iter().map(|card| u32::from(Card::value(*card))).sum();
        Self { is_dealt: cards.len() == 2, is_best: total == BEST, has_low_ace: with_high_aces > u32::from(total) }
    }

    /// Records that the question arrived.
    pub(super) fn asked(self, judge: &mut Judge, seen: &mut Seen) {
        if self.has_low_ace {
            seen.insert(Event::LowAce);
            judge.check(&ACE_ONE, true, String::new);
        }
        match (self.is_best, self.is_dealt) {
            (true, true) => {
                seen.insert(Event::Dealt21);
                judge.check(&NATURAL, true, String::new);
            }
            (true, false) => {
                seen.insert(Event::Drawn21);
                judge.check(&ASKED_AT_21, true, String::new);
            }
            (false, false) => drop(judge.check(&ASKED_AGAIN, true, String::new)),
            (false, true) => {}
        }
    }

    /// The rule that is broken if this event occurred instead of the question: the `usual` one, unless the hand
    /// explains it.
    pub(super) fn missed(self, heard: Heard, usual: &'static Rule) -> &'static Rule {
        match heard {
            Heard::Message(DealerMessage::Result(Verdict::Bust)) if self.has_low_ace => &ACE_ONE,
            Heard::Message(DealerMessage::Result(_)) if self.is_best && self.is_dealt => &NATURAL,
            Heard::Message(DealerMessage::Result(_)) if self.is_best => &ASKED_AT_21,
            _ => usual,
        }
    }
}
