//! What happens to bytes on their way.

use std::{ops::RangeInclusive, time::Duration};

use rand::RngExt;
use rand_pcg::Pcg64;

const MILLISECOND: Duration = Duration::from_millis(1);

/// What happens to datagrams on their way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditions {
    /// How many of a hundred never arrive.
    pub loss_percent: u32,
    /// How many of a hundred arrive twice.
    pub double_percent: u32,
    /// How long each copy is under way. A range means that they overtake each other.
    pub delay: RangeInclusive<Duration>,
}

impl Conditions {
    /// Everything arrives once, in order, after a millisecond.
    pub const CALM: Self = Self { loss_percent: 0, double_percent: 0, delay: MILLISECOND..=MILLISECOND };
    /// One in five is lost, one in ten doubled, and all overtake each other within a fifth of a second.
    pub const STORM: Self =
        Self { loss_percent: 20, double_percent: 10, delay: Duration::from_millis(5)..=Duration::from_millis(200) };
}

/// What happens to streams and messages on their way. Their order never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rough {
    /// How long the pieces are into which a stream is cut, in bytes. Messages are not cut.
    pub piece: RangeInclusive<usize>,
    /// How long a piece is under way, and how long after the piece before it.
    pub delay: RangeInclusive<Duration>,
    /// Before how many of a hundred pieces the connection stalls.
    pub stall_percent: u32,
    /// How long it stalls.
    pub stall: RangeInclusive<Duration>,
    /// Bytes of a stream that are on their way or unread, in each direction. Beyond that the writer waits.
    pub window: usize,
    /// At how many of a thousand pieces the connection breaks.
    pub reset_permille: u32,
}

impl Rough {
    /// Large pieces arrive after a millisecond.
    pub const CALM: Self = Self {
        piece: 1_460..=65_536,
        delay: MILLISECOND..=MILLISECOND,
        stall_percent: 0,
        stall: Duration::ZERO..=Duration::ZERO,
        window: 64 << 10,
        reset_permille: 0,
    };
    /// Small pieces trickle in, and now and then nothing comes for up to two seconds.
    pub const ROUGH: Self = Self {
        piece: 1..=200,
        delay: Duration::ZERO..=Duration::from_millis(4),
        stall_percent: 1,
        stall: MILLISECOND..=Duration::from_secs(2),
        window: 16 << 10,
        reset_permille: 0,
    };

    // How long after the piece before it a piece comes.
    pub(super) fn draw_delay(&self, rng: &mut Pcg64) -> Duration {
        let delay = draw(rng, &self.delay);
        if rng.random_range(0..100) < self.stall_percent { delay + draw(rng, &self.stall) } else { delay }
    }
}

/// A duration within a range, both ends included.
pub(super) fn draw(rng: &mut Pcg64, range: &RangeInclusive<Duration>) -> Duration {
    let nanos = |delay: &Duration| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(rng.random_range(nanos(range.start())..=nanos(range.end())))
}

/// What has happened on the way so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Datagrams that were sent, by anybody.
    pub sent: u64,
    /// Datagrams that were lost on the way.
    pub lost: u64,
    /// Datagrams that arrived twice.
    pub doubled: u64,
    /// Datagrams that arrived after one that was sent later, between any two ends.
    pub overtaken: u64,
    /// Datagrams that were dropped by the limits on strangers and peers.
    pub refused: u64,
    /// Pieces of streams that were under way.
    pub pieces: u64,
    /// Times that a writer had to wait because the other end of its stream did not read.
    pub blocked: u64,
    /// Connections that broke in the middle.
    pub resets: u64,
    /// Messages that were under way, one a frame.
    pub messages: u64,
}
