//! A hash of a state that is updated as the state changes.

use crate::Fingerprint;

/// A 64-bit hash of a set of facts: each a (what, who, value), or the [`Fingerprint`] of more than that.
///
/// Facts are combined by exclusive or, so their order does not matter, and adding a fact twice removes it. Equal sets
/// of facts have equal digests; different sets differ, except with probability 2^-64. It does not resist somebody who
/// searches for collisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Digest(u64);

impl Digest {
    /// Adds the fact, or removes it if it is present.
    pub fn toggle(&mut self, what: u8, who: u32, value: u64) {
        // Two rounds of the splitmix64 finaliser spread each bit over all others.
        let key = (u64::from(what) << 32) | u64::from(who);
        self.0 ^= mix(mix(key.wrapping_add(0x9E37_79B9_7F4A_7C15)) ^ value.wrapping_mul(0xD6E8_FEB8_6659_FD93));
    }

    /// Adds the fact that was hashed, or removes it if it is present.
    pub const fn toggle_fact(&mut self, fact: Fingerprint) {
        self.0 ^= fact.value();
    }

    /// Replaces the value of a fact.
    pub fn change(&mut self, what: u8, who: u32, old: u64, new: u64) {
        self.toggle(what, who, old);
        self.toggle(what, who, new);
    }

    /// The hash.
    pub const fn value(self) -> u64 {
        self.0
    }
}

const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_and_adding_twice_removes() {
        let mut one = Digest::default();
        one.toggle(1, 2, 3);
        one.toggle(4, 5, 6);
        let mut two = Digest::default();
        two.toggle(4, 5, 6);
        two.toggle(1, 2, 3);
        assert_eq!(one, two);
        two.change(1, 2, 3, 4);
        assert_ne!(one, two);
        two.change(1, 2, 4, 3);
        one.toggle(4, 5, 6);
        one.toggle(4, 5, 6);
        assert_eq!(one, two);
        let mut fact = Fingerprint::new();
        fact.add(7);
        two.toggle_fact(fact);
        assert_ne!(one, two);
        two.toggle_fact(fact);
        assert_eq!(one, two);
    }
}
