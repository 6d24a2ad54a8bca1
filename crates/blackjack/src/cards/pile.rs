//! Incremental Fisher-Yates over 52 values: after `n` steps the first `n` values are a uniform draw without
//! replacement, whatever the previous order.

use rand::Rng;

use super::{DECK, DeckEmpty};

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
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;
    use std::{collections::BTreeSet, vec::Vec};

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
