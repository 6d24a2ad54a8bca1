//! How fast the server speaks to those whose addresses may be forged.

use core::time::Duration;
use netcore::{Digest, PeerId, Rate, Time, TokenBucket};
use serde::{Deserialize, Serialize};

use super::facts::{change, fold};

/// Bytes of DISPLAYs that an address may be sent before it has sent a KEY: a quarter of a megabyte a second, after as
/// much at once. Until then nothing shows that the address asked for them itself.
pub const UNPROVEN: Rate = Rate { per_second: 256 << 10, burst: 256 << 10 };
/// Bytes that an address can draw to itself by its own messages once it has sent a KEY: 8 MiB a second after 64 MiB at
/// once. A KEY of five bytes draws a DISPLAY of up to 65,507, and who forges the address of a PLAY can forge that of a
/// KEY.
pub const DRAWN: Rate = Rate { per_second: 8 << 20, burst: 64 << 20 };
/// How often an address without a KEY so far is sent its joining messages again, however often it asks: one that lost
/// them asks again after a second.
pub const WELCOMES: Rate = Rate { per_second: 1, burst: 2 };
/// How many moves of one player are shown to the others one by one: 200 a second, after 10,000 at once. Whoever moves
/// faster is seen every [`CATCH_UP`], so that a program that runs to and fro does not flood everybody's network.
pub const SHOWN: Rate = Rate { per_second: 200, burst: 10_000 };
/// After how long at most the others see the moves beyond [`SHOWN`].
pub const CATCH_UP: Duration = Duration::from_millis(5);
/// How often a SPECTATE is taken in: two a second, after eight at once. Each one sends a whole map somewhere.
pub const SPECTATES: Rate = Rate { per_second: 2, burst: 8 };

/// A token bucket with a fingerprint.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Allowance {
    bucket: TokenBucket,
    what: u8,
    // Made of all that was spent and when, from which the level of the bucket follows.
    spent: u64,
}

impl Allowance {
    /// A full bucket, whose fingerprint is a fact of kind `what`.
    pub(super) fn new(what: u8, rate: Rate, now: Time) -> Self {
        Self { bucket: TokenBucket::new(rate, now), what, spent: 0 }
    }

    /// Takes `tokens` if that many are there.
    pub(super) fn take(&mut self, now: Time, tokens: u32, (digest, peer): (&mut Digest, PeerId)) -> bool {
        let taken = self.bucket.take(now, tokens);
        if taken {
            self.note(now, tokens, (digest, peer));
        }
        taken
    }

    /// Takes `tokens` whether or not they are there.
    pub(super) fn charge(&mut self, now: Time, tokens: u32, (digest, peer): (&mut Digest, PeerId)) {
        self.bucket.charge(now, tokens);
        self.note(now, tokens, (digest, peer));
    }

    /// When `tokens` will be there.
    pub(super) fn ready_at(&mut self, now: Time, tokens: u32) -> Option<Time> {
        self.bucket.ready_at(now, tokens)
    }

    /// Whether it was made with that kind and that rate.
    pub(super) fn is(&self, what: u8, rate: Rate) -> bool {
        self.what == what && self.bucket.rate() == rate
    }

    /// Adds what a new bucket and this one differ by to a digest in which the new one stands.
    pub(super) fn restore_fact(&self, digest: &mut Digest, peer: PeerId) {
        change(digest, self.what, peer, 0, self.spent);
    }

    /// The fact that stands in a digest: its kind and its value.
    pub(super) const fn fact(&self) -> (u8, u64) {
        (self.what, self.spent)
    }

    fn note(&mut self, now: Time, tokens: u32, (digest, peer): (&mut Digest, PeerId)) {
        let spent = fold(fold(self.spent, now.as_nanos()), tokens.into()).wrapping_add(1);
        change(digest, self.what, peer, self.spent, spent);
        self.spent = spent;
    }
}
