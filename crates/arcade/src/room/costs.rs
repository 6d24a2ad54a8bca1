//! How many messages that take much processor time, such as hints of mastermind, rooms process. They are shared out over hosts.
//!
//! A room processes such a message in one piece, so many of them delay the rooms that share its threads. The limit is one for all rooms of
//! the hub: a host with many rooms has no larger share.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use netcore::{HostId, Shares};
use tokio::time::Instant;

/// Hints that all rooms compute in a second. One takes up to 8 ms of a processor, so that they take a quarter of one.
pub(crate) const MAX_HINTS: usize = 32;
/// Hints of one host in a second.
pub(crate) const MAX_HINTS_OF_HOST: usize = 8;
/// How long a message counts.
const PERIOD: Duration = Duration::from_secs(1);

/// The messages that rooms have processed within [`PERIOD`].
#[derive(Debug)]
pub(crate) struct Costs(Mutex<State>);

#[derive(Debug)]
struct State {
    shares: Shares,
    // The oldest first.
    processed: VecDeque<(Instant, HostId)>,
}

impl Default for Costs {
    fn default() -> Self {
        let shares = Shares::new(MAX_HINTS).with_cap(MAX_HINTS_OF_HOST);
        Self(Mutex::new(State { shares, processed: VecDeque::new() }))
    }
}

impl Costs {
    /// Whether a room may process one more message of a host now; it counts if so.
    pub(crate) fn take(&self, host: HostId) -> bool {
        let now = Instant::now();
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((_, host)) = state.processed.pop_front_if(|(at, _)| *at + PERIOD <= now) {
            state.shares.give_back(host);
        }
        let may = state.shares.take(host).is_ok();
        if may {
            state.processed.push_back((now, host));
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn hosts_with_many_rooms_leave_hints_for_another_one() {
        let costs = Costs::default();
        let host = |number: u8| HostId::V4([10, 0, 0, number]);
        let take_all = |number| (0..100).filter(|_| costs.take(host(number))).count();
        assert_eq!([1, 2, 3, 4].map(take_all), [8, 8, 8, 4]);
        assert!(costs.take(host(5)));
        advance(PERIOD).await;
        assert_eq!(take_all(1), MAX_HINTS_OF_HOST);
    }
}
