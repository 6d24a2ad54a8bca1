//! How often hosts try codes and words in vain.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use netcore::{HostId, Rate, Time, TokenBucket};

/// What wrong codes and words of one host cost, [`TRY`] each: twenty at once, and then one in half a minute.
pub(crate) const TRIES: Rate = Rate { per_second: 1, burst: 20 * TRY };
/// The cost of a wrong code or word.
const TRY: u32 = 30;
/// Hosts whose wrong codes and words are counted. Above that, those that have all tries again are forgotten, and then new ones share one
/// limit.
pub(crate) const MAX_TRYING: usize = 4_096;

/// How often hosts have tried in vain.
#[derive(Debug)]
pub(crate) struct Tries {
    start: Instant,
    hosts: Mutex<BTreeMap<HostId, TokenBucket>>,
}

/// What has come of a try.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tried<T> {
    Right(T),
    Wrong,
    /// Not even looked at, for so long.
    TooMany(Duration),
}

impl Default for Tries {
    fn default() -> Self {
        Self { start: Instant::now(), hosts: Mutex::default() }
    }
}

impl Tries {
    /// Somebody at this host tries. Only what is wrong counts.
    pub(crate) fn attempt<T>(&self, host: HostId, look: impl FnOnce() -> Option<T>) -> Tried<T> {
        self.attempt_at(Time::ZERO.plus(self.start.elapsed()), host, look)
    }

    fn attempt_at<T>(&self, now: Time, host: HostId, look: impl FnOnce() -> Option<T>) -> Tried<T> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut host = host;
        if hosts.len() >= MAX_TRYING && !hosts.contains_key(&host) {
            hosts.retain(|_, tries| !tries.is_full(now));
            if hosts.len() >= MAX_TRYING {
                host = HostId::Other;
            }
        }
        if let Some(tries) = hosts.get_mut(&host)
            && let Some(at) = tries.ready_at(now, TRY).filter(|at| *at > now)
        {
            return Tried::TooMany(at.since(now));
        }
        if let Some(found) = look() {
            return Tried::Right(found);
        }
        hosts.entry(host).or_insert_with(|| TokenBucket::new(TRIES, now)).charge(now, TRY);
        Tried::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_guesses_has_to_wait_also_with_the_right_code_and_others_do_not() {
        let tries = Tries::default();
        let (eve, ann) = (HostId::of("10.0.0.9:1"), HostId::of("10.0.0.1:1"));
        let at = |seconds| Time::ZERO.plus(Duration::from_secs(seconds));
        for _ in 0..100 {
            assert_eq!(tries.attempt_at(at(0), eve, || Some(7)), Tried::Right(7));
        }
        for _ in 0..20 {
            assert_eq!(tries.attempt_at(at(0), eve, || None::<u32>), Tried::Wrong);
        }
        let Tried::TooMany(wait) = tries.attempt_at(at(0), eve, || Some(7)) else { panic!("it is looked at") };
        assert!(wait > Duration::from_secs(20) && wait <= Duration::from_secs(30), "{wait:?}");
        assert_eq!(tries.attempt_at(at(0), ann, || Some(7)), Tried::Right(7));
        assert_eq!(tries.attempt_at(at(30), eve, || None::<u32>), Tried::Wrong);
        assert!(matches!(tries.attempt_at(at(30), eve, || Some(7)), Tried::TooMany(_)));
    }

    #[test]
    fn hosts_that_guess_are_bounded() {
        let tries = Tries::default();
        for network in 0..MAX_TRYING as u64 + 1_000 {
            let _ = tries.attempt_at(Time::ZERO, HostId::V6Network(network), || None::<()>);
        }
        assert!(tries.hosts.lock().unwrap().len() <= MAX_TRYING + 1);
        // New ones share one limit.
        let found = tries.attempt_at(Time::ZERO, HostId::V6Network(u64::MAX), || Some(()));
        assert!(matches!(found, Tried::TooMany(_)), "{found:?}");
    }
}
