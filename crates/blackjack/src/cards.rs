//! The 52 cards and the deck.
//!
//! A card is a number from 1 to 52: `13 * suit + rank`, suits in the order Clubs (0), Diamonds, Hearts, Spades, ranks
//! from Ace (1) to King (13).
//!
//! Source: the implementation page of the course's project, "Cards", whose formula is a sum (a product would make every
//! club a zero).

use alloc::vec::Vec;
use core::fmt;

use rand::Rng;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub(crate) const DECK: usize = 52;
/// The value of an ace unless it makes a hand bust.
pub const ACE: u8 = 11;

const RANKS: [&str; 13] =
    ["Ace", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Jack", "Queen", "King"];
const SUITS: [&str; 4] = ["Clubs", "Diamonds", "Hearts", "Spades"];

macro_rules! names {
    ($before:literal, $after:literal) => { names!($before, $after; "Clubs" "Diamonds" "Hearts" "Spades") };
    ($before:literal, $after:literal; $($suit:literal)*) => { [$(
        concat!($before, "Ace of ", $suit, $after), concat!($before, "Two of ", $suit, $after),
        concat!($before, "Three of ", $suit, $after), concat!($before, "Four of ", $suit, $after),
        concat!($before, "Five of ", $suit, $after), concat!($before, "Six of ", $suit, $after),
        concat!($before, "Seven of ", $suit, $after), concat!($before, "Eight of ", $suit, $after),
        concat!($before, "Nine of ", $suit, $after), concat!($before, "Ten of ", $suit, $after),
        concat!($before, "Jack of ", $suit, $after), concat!($before, "Queen of ", $suit, $after),
        concat!($before, "King of ", $suit, $after),
    )*] };
}
pub(crate) use names;

const NAMES: [&str; DECK] = names!("", "");

/// The suit of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suit {
    /// 1 to 13.
    Clubs,
    /// 14 to 26.
    Diamonds,
    /// 27 to 39.
    Hearts,
    /// 40 to 52.
    Spades,
}

/// One of the 52 cards.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Card(u8);

impl Card {
    /// The card with this number; `None` unless it is 1 to 52.
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number as usize <= DECK { Some(Self(number)) } else { None }
    }

    /// All cards, by number.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=52).map(Self)
    }

    /// The number of the card, 1 to 52.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The rank: 1 for an ace, 2 to 10, then 11 Jack, 12 Queen, 13 King.
    pub const fn rank(self) -> u8 {
        (self.0 - 1) % 13 + 1
    }

    /// The suit.
    pub const fn suit(self) -> Suit {
        match (self.0 - 1) / 13 {
            0 => Suit::Clubs,
            1 => Suit::Diamonds,
            2 => Suit::Hearts,
            _ => Suit::Spades,
        }
    }

    /// The value: 2 to 10, 10 for a picture, 11 for an ace.
    pub const fn value(self) -> u8 {
        match self.rank() {
            1 => ACE,
            rank @ 2..=9 => rank,
            _ => 10,
        }
    }

    /// The name on the wire, for instance `Queen of Diamonds`.
    pub const fn name(self) -> &'static str {
        NAMES[self.0 as usize - 1]
    }

    /// The card with exactly this name.
    ///
    /// ```
    /// use blackjack::Card;
    /// assert_eq!(Card::from_name(b"Ace of Spades"), Card::new(40));
    /// assert_eq!(Card::from_name(b"ace of spades"), None);
    /// ```
    pub fn from_name(name: &[u8]) -> Option<Self> {
        let at = name.iter().position(|&byte| byte == b' ')?;
        let suit = name[at..].strip_prefix(b" of ")?;
        let rank = RANKS.iter().position(|word| word.as_bytes() == &name[..at])?;
        let suit = SUITS.iter().position(|word| word.as_bytes() == suit)?;
        Self::new(u8::try_from(13 * suit + rank + 1).ok()?)
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Card> for u8 {
    fn from(card: Card) -> Self {
        card.0
    }
}

/// The number is not that of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("invalid card {0}: expected a number from 1 to 52")]
pub struct NoCard(pub u8);

impl TryFrom<u8> for Card {
    type Error = NoCard;

    fn try_from(number: u8) -> Result<Self, NoCard> {
        Self::new(number).ok_or(NoCard(number))
    }
}

/// All 52 cards are dealt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("all 52 cards are dealt, there is none left to draw")]
pub struct DeckEmpty;

/// A deck of 52 cards, including the dealt ones.
///
/// [`Deck::shuffle`] is a Fisher-Yates shuffle of several cards per random word; rejection makes every order equally
/// likely. Source: Brackett-Rozinsky and Lemire, "Batched Ranged Random Integer Generation", 2024.
#[derive(Debug, Clone)]
pub struct Deck(Pile<Card>);

impl Default for Deck {
    fn default() -> Self {
        Self::new()
    }
}

impl Deck {
    /// A deck in the order of the card numbers, none dealt.
    pub const fn new() -> Self {
        let mut cards = [Card(1); DECK];
        let mut number: u8 = 1;
        while number as usize <= DECK {
            cards[number as usize - 1] = Card(number);
            number += 1;
        }
        Self(Pile::new(cards))
    }

    /// Returns all cards to the deck and shuffles them.
    pub fn shuffle<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        self.0.shuffle(rng);
    }

    /// Deals the next card of a shuffled deck.
    pub fn deal(&mut self) -> Result<Card, DeckEmpty> {
        self.0.deal()
    }

    pub(crate) fn order(&self) -> &[Card] {
        self.0.order()
    }

    pub(crate) fn in_order(order: &[Card]) -> Option<Self> {
        let order: [Card; DECK] = order.try_into().ok()?;
        let mut sorted: Vec<Card> = order.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        (sorted.len() == DECK).then(|| Self(Pile::shuffled(order)))
    }
}

// Incremental Fisher-Yates over 52 values: after `n` steps the first `n` values are a uniform draw without
// replacement, whatever the previous order.

// A power of two, so that masking an index replaces the bounds check.
const PLACES: usize = 64;
const _: () = assert!(DECK <= PLACES && PLACES.is_power_of_two());

// Places shuffled by one random word. 52 * 51 * .. * 47 is below 2^34, so less than one word in 2^30 is rejected.
const BATCH: usize = 6;

/// The first `dealt` values are dealt, and the first `shuffled` are in their final, random places.
#[derive(Debug, Clone)]
pub(crate) struct Pile<T> {
    // Places from `DECK` on are unused.
    places: [T; PLACES],
    dealt: usize,
    // At least `dealt`.
    shuffled: usize,
}

impl<T: Copy> Pile<T> {
    pub(crate) const fn new(order: [T; DECK]) -> Self {
        let mut places = [order[0]; PLACES];
        let mut place = 0;
        while place < DECK {
            places[place] = order[place];
            place += 1;
        }
        Self { places, dealt: 0, shuffled: 0 }
    }

    pub(crate) const fn shuffled(order: [T; DECK]) -> Self {
        let mut pile = Self::new(order);
        pile.shuffled = DECK;
        pile
    }

    pub(crate) fn order(&self) -> &[T] {
        &self.places[..DECK]
    }

    pub(crate) const fn reset(&mut self) {
        self.dealt = 0;
        self.shuffled = 0;
    }

    pub(crate) fn shuffle<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        self.reset();
        while self.shuffled < DECK {
            self.shuffle_more(rng);
        }
    }

    #[inline]
    pub(crate) fn deal(&mut self) -> Result<T, DeckEmpty> {
        if self.dealt >= DECK {
            return Err(DeckEmpty);
        }
        self.dealt += 1;
        Ok(self.places[(self.dealt - 1) % PLACES])
    }

    /// Shuffles only if necessary.
    #[inline]
    pub(crate) fn draw<R: Rng + ?Sized>(&mut self, rng: &mut R) -> Result<T, DeckEmpty> {
        if self.dealt == self.shuffled {
            self.shuffle_more(rng);
        }
        self.deal()
    }

    #[inline]
    pub(crate) fn draw_four<R: Rng + ?Sized>(&mut self, rng: &mut R) -> [T; 4] {
        self.reset();
        self.shuffle_places::<{ BATCH }, R>(rng);
        self.dealt = 4;
        [self.places[0], self.places[1], self.places[2], self.places[3]]
    }

    #[inline]
    fn shuffle_more<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        if self.shuffled + BATCH <= DECK {
            self.shuffle_places::<{ BATCH }, R>(rng);
        } else if self.shuffled < DECK {
            self.shuffle_places::<{ DECK % BATCH }, R>(rng);
        }
    }

    // A constant `N` unrolls the loops, which halves the time.
    #[inline]
    fn shuffle_places<const N: usize, R: Rng + ?Sized>(&mut self, rng: &mut R) {
        let start = self.shuffled;
        let left = DECK - start;
        let mut picks = [0; N];
        loop {
            let mut rest = rng.next_u64();
            for (place, pick) in picks.iter_mut().enumerate() {
                let wide = u128::from(rest) * (left - place) as u128;
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "the upper half is below 52, the lower is what is left"
                )]
                let (upper, lower) = ((wide >> 64) as usize, wide as u64);
                *pick = start + place + upper;
                rest = lower;
            }
            // There are fewer than 2^35 ways to fill the places, so most words are accepted without counting them.
            if rest >> 35 != 0 {
                break;
            }
            // 2^64 is not a multiple of the ways.
            let ways: u64 = (0..N).map(|place| (left - place) as u64).product();
            if rest >= ways.wrapping_neg() % ways {
                break;
            }
        }
        for (place, pick) in (start..).zip(picks) {
            let (place, pick) = (place % PLACES, pick % PLACES);
            (self.places[place], self.places[pick]) = (self.places[pick], self.places[place]);
        }
        self.shuffled = start + N;
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, string::ToString, vec::Vec};

    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn numbers_names_and_cards_are_one_to_one() {
        for card in Card::all() {
            assert_eq!(Card::new(card.number()), Some(card));
            assert_eq!(Card::from_name(card.name().as_bytes()), Some(card));
            assert_eq!(card.to_string(), card.name());
            assert_eq!(u8::try_from(card.suit() as usize).unwrap() * 13 + card.rank(), card.number());
        }
        assert_eq!(Card::all().map(Card::name).collect::<BTreeSet<_>>().len(), DECK);
        let named = |number| Card::new(number).map(Card::name);
        assert_eq!(named(1), Some("Ace of Clubs"));
        assert_eq!(named(13), Some("King of Clubs"));
        assert_eq!(named(14), Some("Ace of Diamonds"));
        assert_eq!(named(40), Some("Ace of Spades"));
        assert_eq!(named(52), Some("King of Spades"));
        assert_eq!([named(0), named(53)], [None, None]);
        assert_eq!(Card::all().map(|card| card.name().len()).max(), Some(17));
    }

    #[test]
    fn name_is_parsed_exactly() {
        let other =
            ["", "Ace", "Ace of", "Ace Spades", "Ace of Spades x", "One of Spades", "Ace of Stars", "Ace on Spades"];
        let otherwise =
            ["ace of spades", "Ace  of Spades", "Ace of Spades ", " Ace of Spades", "Ace Of Spades", "Ace of spades"];
        for text in other.into_iter().chain(otherwise) {
            assert_eq!(Card::from_name(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn values_are_those_of_the_rules() {
        let values: Vec<u8> = Card::all().take(13).map(Card::value).collect();
        assert_eq!(values, [11, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]);
        assert!(Card::all().all(|card| card.value() == values[usize::from(card.rank()) - 1]));
    }

    fn numbers() -> Pile<u8> {
        Pile::new(core::array::from_fn(|place| u8::try_from(place + 1).unwrap()))
    }

    #[test]
    fn drawn_values_have_the_order_of_a_whole_shuffle() {
        let (mut drawn, mut shuffled) = (numbers(), numbers());
        let (mut one, mut same) = (Pcg64::seed_from_u64(1), Pcg64::seed_from_u64(1));
        for _ in 0..1_000 {
            drawn.reset();
            let order: Vec<u8> = core::iter::from_fn(|| drawn.draw(&mut one).ok()).collect();
            shuffled.shuffle(&mut same);
            assert_eq!(order, shuffled.order());
            assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), DECK);
            assert_eq!(drawn.draw(&mut one), Err(DeckEmpty));
        }
    }

    struct Listed(Vec<u64>);

    impl rand::TryRng for Listed {
        type Error = core::convert::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            unreachable!("a deck takes whole words")
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Ok(self.0.remove(0))
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
            unreachable!("a deck takes whole words")
        }
    }

    #[test]
    fn biased_random_words_are_rejected() {
        // The word 0 leaves a rest of 0, below 2^64 mod (52 * 51 * 50 * 49 * 48 * 47).
        let ways: u64 = (47..=52).product();
        assert!(!ways.wrapping_neg().is_multiple_of(ways));
        let mut words = Listed(std::vec![0, u64::MAX]);
        assert_eq!(numbers().draw(&mut words), Ok(52));
        assert!(words.0.is_empty());
    }
}
