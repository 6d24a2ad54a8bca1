//! A random number generator whose position can be stored.

use core::convert::Infallible;
use rand::{Rng, SeedableRng, TryRng};
use rand_pcg::Pcg64;

/// The seed and the number of draws determine the state.
#[derive(Debug, Clone)]
pub(super) struct Chance {
    generator: Pcg64,
    pub(super) drawn: u64,
}

impl Chance {
    pub(super) fn new(seed: u128) -> Self {
        Self { generator: generator(seed), drawn: 0 }
    }

    pub(super) fn after(seed: u128, drawn: u64) -> Self {
        let mut generator = generator(seed);
        generator.advance(drawn.into());
        Self { generator, drawn }
    }
}

// Journals and transcripts contain seeds of up to 64 bits, so their sequences must not change. A longer seed is the
// initial state, and its halves also determine the increment, so that observed random numbers reveal no part of the
// generator.
fn generator(seed: u128) -> Pcg64 {
    if let Ok(short) = u64::try_from(seed) {
        return Pcg64::seed_from_u64(short);
    }
    let (high, low) = (seed >> 64, seed & u128::from(u64::MAX));
    let mut expanded = Pcg64::seed_from_u64(u64::try_from(high ^ low).unwrap_or_default());
    let stream = u128::from(expanded.next_u64()) << 64 | u128::from(expanded.next_u64());
    Pcg64::new(seed, stream)
}

impl TryRng for Chance {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.drawn = self.drawn.wrapping_add(1);
        Ok(self.generator.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.drawn = self.drawn.wrapping_add(1);
        Ok(self.generator.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for bytes in bytes.chunks_mut(size_of::<u64>()) {
            bytes.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use rand::RngExt;

    #[test]
    fn generator_is_restored_from_its_draw_count() {
        let (mut chance, mut plain) = (Chance::new(7), Pcg64::seed_from_u64(7));
        for round in 1..50 {
            assert_eq!(chance.random_range(0..round * 100), plain.random_range(0..round * 100));
            assert_eq!(chance.next_u64(), plain.next_u64());
            let mut bytes = [[0; 21]; 2];
            chance.fill_bytes(&mut bytes[0]);
            plain.fill_bytes(&mut bytes[1]);
            assert_eq!(bytes[0], bytes[1]);
            assert_eq!(Chance::after(7, chance.drawn).next_u64(), chance.clone().next_u64());
        }
    }

    #[test]
    fn long_seeds_extend_64_bit_seeds() {
        for seed in [0, 1, 2021, u64::MAX] {
            assert_eq!(Chance::new(seed.into()).next_u64(), Pcg64::seed_from_u64(seed).next_u64(), "{seed}");
        }
        let long = 0xFEDC_BA98_7654_3210_0123_4567_89AB_CDEF;
        let first = |seed| Chance::new(seed).next_u64();
        // Journals contain such seeds, so these values must not change.
        assert_eq!([first(long), first(1 << 64)], [8_362_208_296_750_236_629, 2_555_873_365_653_585_740]);
        let all: BTreeSet<u64> = (0..128).map(|bit| first(long ^ (1 << bit))).chain([first(long)]).collect();
        assert_eq!(all.len(), 129);
        let mut chance = Chance::new(long);
        for _ in 0..100 {
            let _: u64 = chance.next_u64();
        }
        assert_eq!(Chance::after(long, 100).next_u64(), chance.next_u64());
    }
}
