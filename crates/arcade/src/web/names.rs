//! Names that a browser owns by a random key. The hub stores only the hash of the key, so a reader of the database
//! cannot take a name.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use netcore::{HostId, Network};
use sha2::{Digest as _, Sha256};
use store::KEY_HASH_LENGTH;
use tokio::time::sleep;
use tracing::debug;

use crate::{
    message::{Message, message},
    results::Results,
    room::Room,
    today::DAY,
};

/// In bytes.
const KEY_LENGTH: usize = 32;
/// The first and longest pauses between queries for names.
const RETRY: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyHash(pub(crate) [u8; KEY_HASH_LENGTH]);

impl KeyHash {
    pub(crate) fn of(text: &str) -> Option<Self> {
        let key: [u8; KEY_LENGTH] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        Some(Self(Sha256::digest(key).into()))
    }
}

/// Another browser has a name that looks the same.
pub(crate) fn resembles(other: Option<&str>) -> Message {
    match other {
        Some(other) => {
            message!("name_resembles", "this name looks like '{other}', which is taken; choose another", other = other)
        }
        None => message!("name_resembles_one", "this name looks like another one, which is taken; choose another"),
    }
}

pub(crate) fn too_many_claims() -> Message {
    message!(
        "too_many_claims",
        "your address has taken {count} names today; play as a guest, or try again tomorrow",
        count = CLAIMS
    )
}

pub(super) fn too_many_names() -> Message {
    message!("too_many_names", "you have {count} names already; use one of them", count = store::MAX_NAMES)
}

/// Names that a host may take per day.
pub(crate) const CLAIMS: u32 = 64;
/// Counted hosts and networks. Above that, those with the fewest names are dropped.
const MAX_HOSTS: usize = 16_384;

/// Counts what hosts take in a day.
#[derive(Debug)]
pub(crate) struct Claims {
    most: u32,
    today: Mutex<Today>,
}

#[derive(Debug, Default)]
struct Today {
    day: u64,
    taken: HashMap<Network, u32>,
}

impl Claims {
    pub(crate) fn new(most: u32) -> Self {
        Self { most, today: Mutex::default() }
    }

    /// `now` is in milliseconds since the Unix epoch. Returns `false` at the limit of the host.
    pub(crate) fn take(&self, host: HostId, now: u64) -> bool {
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        if today.day != now / DAY {
            *today = Today { day: now / DAY, taken: HashMap::new() };
        }
        let is_below =
            |network: Network| today.taken.get(&network).is_none_or(|&taken| taken < self.most * network.hosts());
        if !host.networks().all(is_below) {
            return false;
        }
        for network in host.networks() {
            if today.taken.len() >= MAX_HOSTS && !today.taken.contains_key(&network) {
                let fewest = today.taken.values().copied().min().unwrap_or(0);
                today.taken.retain(|_, taken| *taken > fewest);
            }
            *today.taken.entry(network).or_default() += 1;
        }
        true
    }

    /// Undoes `take` for a name that was not available.
    pub(crate) fn release(&self, host: HostId) {
        let mut today = self.today.lock().unwrap_or_else(PoisonError::into_inner);
        for network in host.networks() {
            if let Some(taken) = today.taken.get_mut(&network) {
                *taken = taken.saturating_sub(1);
            }
        }
    }
}

/// Looks up the names that the key owns. Retries until the database answers.
pub(crate) async fn prove(results: &Results, room: &Room, seat: SocketAddr, key: KeyHash) {
    note(results, room, seat, &results.store.recent_names_of(&key.0));
    let lookup = || async {
        results
            .store
            .names_of(&key.0)
            .await
            .inspect_err(|error| debug!(%error, "cannot look up names, which are unverified until then"))
            .ok()
    };
    note(results, room, seat, &until_known(lookup).await);
}

fn note(results: &Results, room: &Room, seat: SocketAddr, names: &[String]) {
    if !names.is_empty() && room.roster.set_names(seat, names) {
        room.prove_names().iter().for_each(|name| results.ledger.name_used(name));
    }
}

async fn until_known<F: Future<Output = Option<Vec<String>>>>(lookup: impl Fn() -> F) -> Vec<String> {
    let mut pause = RETRY.0;
    loop {
        if let Some(names) = lookup().await {
            return names;
        }
        sleep(pause).await;
        pause = (pause * 2).min(RETRY.1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::time::Instant;

    use super::*;

    #[test]
    fn key_is_32_bytes_and_only_its_hash_is_stored() {
        let key = URL_SAFE_NO_PAD.encode([7; KEY_LENGTH]);
        let hash = KeyHash::of(&key).unwrap();
        assert_ne!(hash.0, [7; KEY_LENGTH]);
        for wrong in ["", "x", &key[1..], &format!("{key}AAAA"), &format!("{key}=")] {
            assert_eq!(KeyHash::of(wrong), None, "{wrong}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_database_is_queried_until_it_answers() {
        let lookups = AtomicU32::new(0);
        let lookup = || async { (lookups.fetch_add(1, Ordering::Relaxed) == 20).then(|| vec!["Ann".to_owned()]) };
        let started = Instant::now();
        assert_eq!(until_known(lookup).await, ["Ann"]);
        assert_eq!(lookups.load(Ordering::Relaxed), 21);
        let waited = started.elapsed();
        assert!(waited > 10 * RETRY.1 && waited < 20 * RETRY.1, "{waited:?}");
    }

    #[test]
    fn host_takes_a_bounded_number_of_names_a_day() {
        let claims = Claims::new(CLAIMS);
        let (eve, ann) = (HostId::of("10.0.0.9:1"), HostId::of("10.0.0.1:1"));
        let taken = (0..900).filter(|_| claims.take(eve, DAY)).count();
        assert_eq!(taken, CLAIMS as usize);
        assert!(claims.take(ann, DAY));
        claims.release(eve);
        assert!(claims.take(eve, DAY) && !claims.take(eve, 2 * DAY - 1));
        let customer = (0..2_000).filter(|number| claims.take(HostId::V6Network((number % 250) << 8), DAY)).count();
        assert_eq!(customer, 16 * CLAIMS as usize, "a large network counts as a few hosts");
        for number in 1..MAX_HOSTS as u64 {
            assert!(claims.take(HostId::V6Network(number << 16), DAY));
            assert!(claims.today.lock().unwrap().taken.len() <= MAX_HOSTS);
        }
        assert!(!claims.take(eve, DAY), "whoever has had most is remembered");
        assert!(claims.take(eve, 2 * DAY));
    }
}
