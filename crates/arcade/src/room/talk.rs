//! What people in a room say to each other: one of a few phrases, shown on pages and never on the wire of the game. Nothing is kept.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use netcore::{HostId, Rate, Time, TokenBucket};

/// The phrases that there are: six, and a thumb that is up. Pages have the words.
pub(crate) const PHRASES: u8 = 7;
/// How often one host says something in a room, [`PHRASE`] each: four at once, and then one in three seconds.
pub(crate) const SPEECH: Rate = Rate { per_second: 1, burst: 4 * PHRASE };
/// The cost of a phrase.
const PHRASE: u32 = 3;
/// Hosts that have said something and may not say all of it again yet. Above that, nobody else says anything for a moment.
pub(crate) const MAX_SPEAKING: usize = 1_024;

/// How often hosts have said something.
#[derive(Debug)]
pub(crate) struct Speech {
    start: Instant,
    hosts: Mutex<BTreeMap<HostId, TokenBucket>>,
}

impl Default for Speech {
    fn default() -> Self {
        Self { start: Instant::now(), hosts: Mutex::default() }
    }
}

impl Speech {
    /// Whether somebody of this host may say something now.
    pub(super) fn may(&self, host: HostId) -> bool {
        self.may_at(Time::ZERO.plus(self.start.elapsed()), host)
    }

    fn may_at(&self, now: Time, host: HostId) -> bool {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= MAX_SPEAKING && !hosts.contains_key(&host) {
            hosts.retain(|_, bucket| !bucket.is_full(now));
            if hosts.len() >= MAX_SPEAKING {
                return false;
            }
        }
        hosts.entry(host).or_insert_with(|| TokenBucket::new(SPEECH, now)).take(now, PHRASE)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_host_says_only_so_much_and_hosts_are_bounded() {
        let speech = Speech::default();
        let at = |seconds| Time::ZERO.plus(Duration::from_secs(seconds));
        let eve = HostId::of("10.0.0.9:1");
        assert_eq!((0..100).filter(|_| speech.may_at(at(0), eve)).count(), 4);
        assert!(!speech.may_at(at(2), eve) && speech.may_at(at(3), eve) && !speech.may_at(at(3), eve));
        for network in 0..2 * MAX_SPEAKING as u64 {
            speech.may_at(at(3), HostId::V6Network(network));
        }
        assert_eq!(speech.hosts.lock().unwrap().len(), MAX_SPEAKING);
        assert!(
            !speech.may_at(at(3), HostId::V6Network(u64::MAX)) && speech.may_at(at(60), HostId::V6Network(u64::MAX))
        );
    }
}
