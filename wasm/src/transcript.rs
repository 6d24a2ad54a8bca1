//! A hash of a sequence of bytes.

/// FNV-1a over everything that is added.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transcript(u64);

impl Transcript {
    /// The hash of the empty sequence.
    pub(crate) const fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    /// Adds bytes. The boundaries between calls do not matter.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    /// The hash.
    pub(crate) const fn value(self) -> u64 {
        self.0
    }
}
