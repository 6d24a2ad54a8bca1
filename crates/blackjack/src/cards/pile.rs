//! Mixing, whatever it is that lies in the pile.

use rand::Rng;

use super::{DECK, DeckEmpty};

// The pile lies in as many places, so that a place is found by its lower bits and never needs a check.
const PLACES: usize = 64;
const _: () = assert!(DECK <= PLACES && PLACES.is_power_of_two());

// Places that one random word mixes. 52 * 51 * .. * 47 is below 2^34, so a word is rejected once in 2^30 times.
const BATCH: usize = 6;

/// [`DECK`] things of which some are dealt and some of the others are mixed: what is said at [`Deck`](super::Deck).
#[derive(Debug, Clone)]
pub(crate) struct Pile<T> {
    // Nothing lies behind the first `DECK` places.
    places: [T; PLACES],
    dealt: usize,
    // At least as many as are dealt.
    mixed: usize,
}

impl<T: Copy> Pile<T> {
    /// A pile in this order, nothing dealt.
    pub(crate) const fn new(order: [T; DECK]) -> Self {
        let mut places = [order[0]; PLACES];
        let mut place = 0;
        while place < DECK {
            places[place] = order[place];
            place += 1;
        }
        Self { places, dealt: 0, mixed: 0 }
    }

    /// A pile in this order, nothing dealt and all of it mixed.
    pub(crate) const fn mixed(order: [T; DECK]) -> Self {
        let mut pile = Self::new(order);
        pile.mixed = DECK;
        pile
    }

    /// What is not dealt.
    pub(crate) const fn remaining(&self) -> usize {
        DECK - self.dealt
    }

    /// Everything in its order, dealt or not.
    pub(crate) fn order(&self) -> &[T] {
        &self.places[..DECK]
    }

    /// Takes everything back.
    pub(crate) const fn gather(&mut self) {
        self.dealt = 0;
        self.mixed = 0;
    }

    /// Takes everything back and mixes all of it.
    pub(crate) fn shuffle<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        self.gather();
        while self.mixed < DECK {
            self.mix(rng);
        }
    }

    /// Deals the next one, mixed or not; [`DeckEmpty`] when all are dealt.
    #[inline]
    pub(crate) fn deal(&mut self) -> Result<T, DeckEmpty> {
        if self.dealt >= DECK {
            return Err(DeckEmpty);
        }
        self.dealt += 1;
        Ok(self.places[(self.dealt - 1) % PLACES])
    }

    /// Deals the next one and mixes no more than that takes; [`DeckEmpty`] when all are dealt.
    #[inline]
    pub(crate) fn draw<R: Rng + ?Sized>(&mut self, rng: &mut R) -> Result<T, DeckEmpty> {
        if self.dealt == self.mixed {
            self.mix(rng);
        }
        self.deal()
    }

    /// Takes everything back and draws the first four.
    #[inline]
    pub(crate) fn draw_four<R: Rng + ?Sized>(&mut self, rng: &mut R) -> [T; 4] {
        self.gather();
        self.mix_places::<{ BATCH }, R>(rng);
        self.dealt = 4;
        [self.places[0], self.places[1], self.places[2], self.places[3]]
    }

    // Mixes the next places, as many as one random word is good for.
    #[inline]
    fn mix<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        if self.mixed + BATCH <= DECK {
            self.mix_places::<{ BATCH }, R>(rng);
        } else if self.mixed < DECK {
            self.mix_places::<{ DECK % BATCH }, R>(rng);
        }
    }

    // Mixes the next `N` places by one random word. `N` is known to the compiler, which halves the time.
    #[inline]
    fn mix_places<const N: usize, R: Rng + ?Sized>(&mut self, rng: &mut R) {
        let start = self.mixed;
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
            // Nearly always, and without knowing how many ways there are to fill the places: they are fewer than 2^35.
            if rest >> 35 != 0 {
                break;
            }
            // 2^64 is no multiple of the ways: the few words that are too many are drawn again.
            let ways: u64 = (0..N).map(|place| (left - place) as u64).product();
            if rest >= ways.wrapping_neg() % ways {
                break;
            }
        }
        for (place, pick) in (start..).zip(picks) {
            let (place, pick) = (place % PLACES, pick % PLACES);
            (self.places[place], self.places[pick]) = (self.places[pick], self.places[place]);
        }
        self.mixed = start + N;
    }
}
