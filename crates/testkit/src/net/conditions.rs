use std::{ops::RangeInclusive, time::Duration};

use netcore::Time;
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::machine::draw;

const MILLISECOND: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditions {
    pub loss_percent: u32,
    pub double_percent: u32,
    /// Datagrams from peers of the server that arrive truncated.
    pub truncate_percent: u32,
    /// The delay of each copy. With a range, datagrams overtake each other.
    pub delay: RangeInclusive<Duration>,
    pub socket: SocketFaults,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketFaults {
    pub send_error_permille: u32,
    /// Datagrams at which the send buffer is full for a while.
    pub full_permille: u32,
    pub full: RangeInclusive<Duration>,
    /// One in ten of these is a system error and causes a back-off.
    pub receive_error_permille: u32,
}

impl SocketFaults {
    pub const NONE: Self = Self {
        send_error_permille: 0,
        full_permille: 0,
        full: Duration::ZERO..=Duration::ZERO,
        receive_error_permille: 0,
    };
    pub const SOME: Self = Self {
        send_error_permille: 5,
        full_permille: 5,
        full: MILLISECOND..=Duration::from_millis(300),
        receive_error_permille: 20,
    };
}

impl Conditions {
    /// All data arrives once, in order, after a millisecond.
    pub const CALM: Self = Self {
        loss_percent: 0,
        double_percent: 0,
        truncate_percent: 0,
        delay: MILLISECOND..=MILLISECOND,
        socket: SocketFaults::NONE,
    };
    /// 20 % lost, 10 % duplicated, all reordered within 200 ms, and errors of the socket.
    pub const STORM: Self = Self {
        loss_percent: 20,
        double_percent: 10,
        truncate_percent: 0,
        delay: Duration::from_millis(5)..=Duration::from_millis(200),
        socket: SocketFaults::SOME,
    };
}

/// Conditions for streams, which keep their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamConditions {
    /// In bytes.
    pub piece: RangeInclusive<usize>,
    /// A piece arrives after those before it.
    pub delay: RangeInclusive<Duration>,
    /// Pieces before which the connection stalls.
    pub stall_percent: u32,
    pub stall: RangeInclusive<Duration>,
    /// Bytes in flight or unread in each direction; beyond it the writer blocks.
    pub window: usize,
    /// Pieces at which the connection is reset.
    pub reset_permille: u32,
    /// Messages that a client holds back and sends with the following ones in one segment, which is split at most once.
    pub cork_percent: u32,
    pub cork: RangeInclusive<Duration>,
    /// Messages after which a client shuts down its sending half but keeps reading.
    pub half_close_permille: u32,
}

impl StreamConditions {
    pub const CALM: Self = Self {
        piece: 1_460..=65_536,
        delay: MILLISECOND..=MILLISECOND,
        stall_percent: 0,
        stall: Duration::ZERO..=Duration::ZERO,
        window: 64 << 10,
        reset_permille: 0,
        cork_percent: 0,
        cork: Duration::ZERO..=Duration::ZERO,
        half_close_permille: 0,
    };
    /// Small pieces, messages sent together, and stalls of up to two seconds.
    pub const ROUGH: Self = Self {
        piece: 1..=200,
        delay: Duration::ZERO..=Duration::from_millis(4),
        stall_percent: 1,
        stall: MILLISECOND..=Duration::from_secs(2),
        window: 16 << 10,
        reset_permille: 0,
        cork_percent: 5,
        cork: MILLISECOND..=Duration::from_millis(300),
        half_close_permille: 0,
    };

    pub(super) fn draw_delay(&self, rng: &mut Pcg64) -> Duration {
        let delay = draw(rng, &self.delay);
        if rng.random_range(0..100) < self.stall_percent { delay + draw(rng, &self.stall) } else { delay }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    pub lost: u64,
    pub doubled: u64,
    pub truncated: u64,
    pub socket_errors: u64,
    /// Datagrams that arrived after a later one.
    pub overtaken: u64,
    pub resets: u64,
    /// Connections that the client half-closed before it was finished.
    pub half_closed: u64,
    /// Segments with several messages, or with one that was held back.
    pub corked: u64,
}

#[derive(Debug)]
pub(super) struct Chance {
    pub(super) now: Time,
    pub(super) rng: Pcg64,
    pub(super) conditions: Conditions,
    pub(super) stream_conditions: StreamConditions,
    pub(super) traffic: Traffic,
}
