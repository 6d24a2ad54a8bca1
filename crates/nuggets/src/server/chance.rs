//! The generator of random numbers, as one that can be found again.

use core::convert::Infallible;
use rand::{Rng, SeedableRng, TryRng};
use rand_pcg::Pcg64;

/// A generator that counts what is drawn from it: with the seed, that number says in which state it is.
#[derive(Debug, Clone)]
pub(super) struct Chance {
    generator: Pcg64,
    drawn: u64,
}

impl Chance {
    /// A generator that nothing was drawn from.
    pub(super) fn new(seed: u64) -> Self {
        Self { generator: Pcg64::seed_from_u64(seed), drawn: 0 }
    }

    /// The generator of that seed from which so many numbers were drawn.
    pub(super) fn after(seed: u64, drawn: u64) -> Self {
        let mut generator = Pcg64::seed_from_u64(seed);
        generator.advance(drawn.into());
        Self { generator, drawn }
    }

    /// How many numbers were drawn.
    pub(super) const fn drawn(&self) -> u64 {
        self.drawn
    }
}

impl TryRng for Chance {
    type Error = Infallible;

    // The generator makes its numbers 64 bits at a time and throws away what is not asked for.
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
    use rand::RngExt;

    #[test]
    fn a_generator_is_found_again_by_how_often_it_was_asked() {
        let (mut chance, mut plain) = (Chance::new(7), Pcg64::seed_from_u64(7));
        for round in 1..50 {
            assert_eq!(chance.random_range(0..round * 100), plain.random_range(0..round * 100));
            assert_eq!(chance.next_u64(), plain.next_u64());
            let mut bytes = [[0; 21]; 2];
            chance.fill_bytes(&mut bytes[0]);
            plain.fill_bytes(&mut bytes[1]);
            assert_eq!(bytes[0], bytes[1]);
            assert_eq!(Chance::after(7, chance.drawn()).next_u64(), chance.clone().next_u64());
        }
    }
}
