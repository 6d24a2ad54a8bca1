//! The generator that the robots protocol prescribes.

use serde::{Deserialize, Serialize};

/// The "minimal standard" generator: each draw is the new state, `state * 48271 mod 2147483647`.
///
/// The draws appear on the wire, so the generator is frozen. A seed of 0 modulo 2147483647 yields only zeros, like the
/// published formula and the programs of the course, although the C++ class cited by the task text replaces such a seed
/// by 1.
///
/// ```
/// let mut draws = robots::MinStd::new(1234);
/// assert_eq!([draws.draw(), draws.draw(), draws.draw()], [59566414, 1997250508, 148423250]);
/// ```
///
/// Source: the task text of robots, section "Generator".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinStd(u32);

impl MinStd {
    const MULTIPLIER: u64 = 48_271;
    const MODULUS: u64 = 2_147_483_647;

    /// A generator whose first draw is `seed * 48271 mod 2147483647`.
    pub const fn new(seed: u32) -> Self {
        Self(seed)
    }

    /// The next number, 0 to 2147483646.
    pub const fn draw(&mut self) -> u32 {
        #[allow(clippy::cast_possible_truncation, reason = "a remainder of 2^31 - 1 fits 32 bits")]
        let next = (self.0 as u64 * Self::MULTIPLIER % Self::MODULUS) as u32;
        self.0 = next;
        next
    }

    /// The state. [`MinStd::new`] continues from it.
    pub const fn state(&self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_numbers_are_reproduced() {
        let mut draws = MinStd::new(1234);
        let got: [u32; 6] = core::array::from_fn(|_| draws.draw());
        assert_eq!(got, [59_566_414, 1_997_250_508, 148_423_250, 533_254_358, 982_122_076, 165_739_424]);
    }

    #[test]
    fn degenerate_seeds_follow_the_formula() {
        for seed in [0, 2_147_483_647] {
            let mut draws = MinStd::new(seed);
            assert_eq!([draws.draw(), draws.draw()], [0, 0]);
        }
        assert_eq!(MinStd::new(u32::MAX).draw(), 48_271);
    }

    #[test]
    fn generator_continues_from_its_state() {
        let mut draws = MinStd::new(7);
        draws.draw();
        let mut again = MinStd::new(draws.state());
        assert_eq!(draws.draw(), again.draw());
    }
}
