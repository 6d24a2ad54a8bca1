//! Fingerprints of bytes, for digests.

/// The fingerprint of some bytes behind others whose fingerprint is `before`.
///
/// It takes eight bytes at a time: a turn of a full game has tens of thousands, and nobody should wait for them. Not meant
/// to withstand somebody who looks for collisions.
pub(crate) fn extend(before: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let hash = words.iter().fold(before, |hash, &word| step(hash, u64::from_le_bytes(word)));
    let mut last = [0; 8];
    for (to, &from) in last.iter_mut().zip(rest) {
        *to = from;
    }
    // With the length, so that zeros at the end count.
    step(step(hash, u64::from_le_bytes(last)), bytes.len() as u64)
}

const fn step(hash: u64, word: u64) -> u64 {
    let hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, vec};

    #[test]
    fn every_byte_its_place_and_the_length_count() {
        let mut all = BTreeSet::new();
        for length in 0..40 {
            assert!(all.insert(extend(0, &vec![0; length])), "{length} zeros");
            for at in 0..length {
                for byte in [1, 2, 0x80, 0xff] {
                    let mut bytes = vec![0; length];
                    bytes[at] = byte;
                    assert!(all.insert(extend(0, &bytes)), "{byte} at {at} of {length}");
                }
            }
        }
        assert!(all.insert(extend(1, &[])) && all.insert(extend(extend(0, &[1]), &[2])), "what came before counts");
    }
}
