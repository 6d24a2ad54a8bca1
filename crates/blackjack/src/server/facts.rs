//! What a digest covers: a set of facts, of which each is the fingerprint of one thing that is so.

use netcore::Fingerprint;

/// A fingerprint of a set, updated as elements are added and removed: the exclusive or of the fingerprints of all elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SetFingerprint(pub(crate) u64);

impl SetFingerprint {
    /// Adds an element, or removes one that is in the set.
    pub(crate) const fn toggle(&mut self, thing: Fingerprint) {
        self.0 ^= thing.value();
    }

    pub(crate) const fn value(self) -> u64 {
        self.0
    }
}
