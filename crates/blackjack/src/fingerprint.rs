//! Fingerprints of small states, made anew when they change.

use netcore::{HostId, Time};

/// A 64-bit fingerprint of numbers in their order. Lists of different numbers have different ones, but for a chance of 2^-64;
/// lists of one length that differ in one number always have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) const fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    /// Takes in the next number.
    #[inline]
    pub(crate) const fn add(&mut self, number: u64) {
        // Each step is one to one in the number as well as in what came before.
        let bits = (self.0 ^ number).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        self.0 = (bits ^ (bits >> 32)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        self.0 ^= self.0 >> 29;
    }

    /// Takes in the number of things of a list.
    pub(crate) fn add_count(&mut self, count: usize) {
        self.add(u64::try_from(count).unwrap_or(u64::MAX));
    }

    pub(crate) fn add_time(&mut self, time: Option<Time>) {
        self.add(u64::from(time.is_some()));
        self.add(time.map_or(0, Time::as_nanos));
    }

    /// Takes in bytes, and how many they are.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) {
        self.add_count(bytes.len());
        for piece in bytes.chunks(8) {
            self.add(piece.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        }
    }

    pub(crate) fn add_host(&mut self, host: HostId) {
        let (kind, number) = match host {
            HostId::V4(bytes) => (0, u64::from(u32::from_be_bytes(bytes))),
            HostId::V6Network(network) => (1, network),
            HostId::Other => (2, 0),
        };
        self.add(kind);
        self.add(number);
    }

    pub(crate) const fn value(self) -> u64 {
        self.0
    }
}

/// A fingerprint of a set, kept while things come and go: exclusive or of theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SetFingerprint(pub(crate) u64);

impl SetFingerprint {
    /// Puts a thing in, or takes it out when it is there.
    pub(crate) const fn toggle(&mut self, thing: Fingerprint) {
        self.0 ^= thing.value();
    }

    pub(crate) const fn value(self) -> u64 {
        self.0
    }
}
