//! Order-dependent hashes of numbers and bytes.

/// A non-cryptographic, order-dependent 64-bit hash of a sequence of numbers.
///
/// Sequences of equal length that differ in one number never collide; others with probability 2^-64.
///
/// ```
/// use netcore::Fingerprint;
///
/// let (mut one, mut other) = (Fingerprint::new(), Fingerprint::new());
/// one.add_bytes(b"Ann");
/// one.add(1);
/// other.add(1);
/// other.add_bytes(b"Ann");
/// assert_ne!(one.value(), other.value(), "order matters");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self::new()
    }
}

impl Fingerprint {
    /// The hash of the empty sequence.
    pub const fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    /// Adds a number.
    #[inline]
    pub const fn add(&mut self, number: u64) {
        // Each step is a bijection of both the number and the state.
        let bits = (self.0 ^ number).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        self.0 = (bits ^ (bits >> 32)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        self.0 ^= self.0 >> 29;
    }

    /// Adds the length and the bytes, eight at a time because there may be millions.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        self.add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let (words, rest) = bytes.as_chunks();
        for &word in words {
            self.add(u64::from_le_bytes(word));
        }
        if !rest.is_empty() {
            self.add(rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        }
    }

    /// The hash so far.
    pub const fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, vec};

    fn of(parts: &[&[u8]]) -> u64 {
        let mut fingerprint = Fingerprint::new();
        for part in parts {
            fingerprint.add_bytes(part);
        }
        fingerprint.value()
    }

    #[test]
    fn every_byte_its_position_and_the_length_change_the_hash() {
        let mut all = BTreeSet::new();
        for length in 0..40 {
            assert!(all.insert(of(&[&vec![0; length]])), "{length} zeros");
            for at in 0..length {
                for byte in [1, 2, 0x80, 0xff] {
                    let mut bytes = vec![0; length];
                    bytes[at] = byte;
                    assert!(all.insert(of(&[&bytes])), "{byte} at {at} of {length}");
                }
            }
        }
        assert!(all.insert(of(&[&[1], &[2]])) && all.insert(of(&[&[2], &[1]])), "the order counts");
    }
}
