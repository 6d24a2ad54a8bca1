//! What chance brings to some hands, and hands that are easily not asked.

use std::collections::HashSet;

use blackjack::{Card, DealerMessage, Hand, Verdict, hand::BEST};

use super::{
    rules::{ACE_ONE, ASKED_AGAIN, ASKED_AT_21, NATURAL},
    seat::Heard,
};
use crate::{judge::Judge, rule::Rule};

/// What chance brings to some hands and not to others. Dealers that are right for most hands are often wrong for one of these.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Event {
    /// The first two cards make 21.
    Dealt21,
    /// A card that was asked for makes 21.
    Drawn21,
    /// An ace counts 1.
    LowAce,
    /// A hand of 21 got its RESULT.
    Best,
    Ended(Verdict),
}

/// How many kinds of events there are, with one for each verdict.
pub(super) const EVENTS: usize = 8;

/// What came in the rounds played so far.
pub(super) type Seen = HashSet<Event>;

/// What is special about a hand that is due to be asked.
#[derive(Clone, Copy)]
pub(super) struct Question {
    is_dealt: bool,
    is_best: bool,
    /// An ace counts 1, since 11 would be too much.
    has_low_ace: bool,
}

impl Question {
    pub(super) fn of(hand: &Hand) -> Self {
        let (cards, total) = (hand.cards(), hand.points().total());
        let with_high_aces: u32 = cards.iter().map(|card| u32::from(Card::value(*card))).sum();
        Self { is_dealt: cards.len() == 2, is_best: total == BEST, has_low_ace: with_high_aces > u32::from(total) }
    }

    /// Notes that the question came.
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

    /// The rule that is broken when this came instead of the question: the `usual` one, unless the hand explains it.
    pub(super) fn missed(self, heard: Heard, usual: &'static Rule) -> &'static Rule {
        match heard {
            Heard::Message(DealerMessage::Result(Verdict::Bust)) if self.has_low_ace => &ACE_ONE,
            Heard::Message(DealerMessage::Result(_)) if self.is_best && self.is_dealt => &NATURAL,
            Heard::Message(DealerMessage::Result(_)) if self.is_best => &ASKED_AT_21,
            _ => usual,
        }
    }
}
