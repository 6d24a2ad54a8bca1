//! Fingerprints of sets, beside those of numbers in their order.

pub(crate) use netcore::Fingerprint;

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
