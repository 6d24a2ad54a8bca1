//! The points of cards and hands.
//!
//! Source: the requirements of the course's project, "Rules"; an ace counts 11 everywhere.

use alloc::vec::Vec;
use netcore::StateError;
use serde::{Deserialize, Serialize};

use crate::cards::{ACE, Card};

/// The best total; more is bust.
pub const BEST: u8 = 21;
/// The lowest total with which the dealer stands, soft or not.
pub const DEALER_STANDS: u8 = 17;

/// The points of a hand without its cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Points {
    // With every ace as 1.
    low: u8,
    ace: bool,
}

impl Points {
    /// The points of no cards: 0.
    pub const EMPTY: Self = Self { low: 0, ace: false };

    pub(crate) const fn of_low(low: u8, ace: bool) -> Self {
        Self { low, ace }
    }

    /// The points with one more card of this value, 2 to 11.
    #[inline]
    #[must_use]
    pub const fn with(self, value: u8) -> Self {
        let ace = value == ACE;
        Self { low: self.low.saturating_add(value).saturating_sub(if ace { 10 } else { 0 }), ace: self.ace | ace }
    }

    /// The total. At most one ace counts 11, unless that makes the hand bust.
    #[inline]
    pub const fn total(self) -> u8 {
        if self.is_soft() { self.low + 10 } else { self.low }
    }

    /// Whether an ace counts 11.
    #[inline]
    pub const fn is_soft(self) -> bool {
        self.ace && self.low <= BEST - 10
    }

    /// Whether the total is above 21.
    #[inline]
    pub const fn is_bust(self) -> bool {
        self.low > BEST
    }

    /// Whether a dealer with these points takes another card.
    #[inline]
    pub const fn dealer_hits(self) -> bool {
        self.total() < DEALER_STANDS
    }
}

/// The maximum number of cards in a hand: 21 aces, and one that makes it bust. One deck allows 12, but other dealers
/// may use more.
pub(crate) const MAX_HAND: usize = 22;

/// Cards in the order of the deal, and their points.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Card>", into = "Vec<Card>")]
pub struct Hand {
    cards: [Card; MAX_HAND],
    count: u8,
    points: Points,
}

impl Hand {
    /// A hand without cards.
    pub const fn new() -> Self {
        // Places from `count` on are unused, and equal in all hands.
        let Some(filler) = Card::new(1) else { unreachable!() };
        Self { cards: [filler; MAX_HAND], count: 0, points: Points::EMPTY }
    }

    /// Adds a card. Returns `false` without a change if the hand is already bust.
    pub fn push(&mut self, card: Card) -> bool {
        if self.points.is_bust() {
            return false;
        }
        let Some(place) = self.cards.get_mut(usize::from(self.count)) else { return false };
        *place = card;
        self.count += 1;
        self.points = self.points.with(card.value());
        true
    }

    /// The hand of these cards; `None` if it would be bust before the last card or too long.
    pub(crate) fn of(cards: &[Card]) -> Option<Self> {
        let mut hand = Self::new();
        cards.iter().all(|&card| hand.push(card)).then_some(hand)
    }

    /// The cards, first to last.
    pub fn cards(&self) -> &[Card] {
        &self.cards[..usize::from(self.count)]
    }

    /// The points of the cards.
    pub const fn points(&self) -> Points {
        self.points
    }

    /// The total.
    pub const fn total(&self) -> u8 {
        self.points.total()
    }
}

impl From<Hand> for Vec<Card> {
    fn from(hand: Hand) -> Self {
        hand.cards().to_vec()
    }
}

impl TryFrom<Vec<Card>> for Hand {
    type Error = StateError;

    fn try_from(cards: Vec<Card>) -> Result<Self, StateError> {
        Self::of(&cards).ok_or_else(|| "a hand that went on when it was bust".into())
    }
}

impl Default for Hand {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Hand {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.cards()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn points(values: &[u8]) -> Points {
        values.iter().fold(Points::EMPTY, |points, &value| points.with(value))
    }

    #[test]
    fn hands_count_as_the_rules_say() {
        for (values, total, soft) in [
            (&[][..], 0, false),
            (&[11], 11, true),
            (&[11, 11], 12, true),
            (&[11, 5], 16, true),
            (&[10, 6], 16, false),
            (&[11, 6], 17, true),
            (&[10, 7], 17, false),
            (&[11, 6, 10], 17, false),
            (&[11, 5, 10], 16, false),
            (&[11, 11, 9], 21, true),
            (&[11, 11, 10], 12, false),
            (&[10, 11], 21, true),
            (&[10, 9, 5], 24, false),
            (&[11, 11, 11, 11, 2, 2, 2, 2, 3, 3, 3], 21, false),
        ] {
            let points = points(values);
            assert_eq!((points.total(), points.is_soft(), points.is_bust()), (total, soft, total > 21), "{values:?}");
            assert_eq!(points.dealer_hits(), total < 17, "{values:?}: the dealer stands on every 17");
        }
    }

    #[test]
    fn points_agree_with_counting_aces_down_one_by_one() {
        // As specified: add all values, then subtract 10 per ace while the sum is above 21.
        fn expected(values: &[u8]) -> (u8, bool) {
            let mut sum: u8 = values.iter().sum();
            let mut aces = values.iter().filter(|&value| *value == 11).map(|_| ());
            let mut high = aces.next();
            while sum > 21 && high.is_some() {
                sum -= 10;
                high = aces.next();
            }
            (sum, high.is_some())
        }
        fn go(values: &mut Vec<u8>) {
            let points = points(values);
            assert_eq!((points.total(), points.is_soft()), expected(values), "{values:?}");
            if values.len() < 5 && !points.is_bust() {
                for value in 2..=11 {
                    values.push(value);
                    go(values);
                    values.pop();
                }
            }
        }
        go(&mut Vec::new());
    }

    #[test]
    fn hand_has_room_for_each_card_until_it_is_bust() {
        let ace = Card::new(1).unwrap();
        let mut hand = Hand::new();
        let taken = (0..100).filter(|_| hand.push(ace)).count();
        assert_eq!((taken, hand.total()), (MAX_HAND, 22));
    }
}
