//! Names that belong to a browser.
//!
//! A browser that is used first makes a random key and claims a name with it. The hub keeps a hash of the key only, so nobody who
//! reads the database can take a name.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use store::KEY_HASH_LENGTH;
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};
use tracing::debug;

use crate::{results::Results, room::Room};

/// Bytes of a key.
const KEY_LENGTH: usize = 32;
/// The longest name, in bytes: that of blackjack.
const MAX_NAME: usize = 64;
/// How long a socket waits for the database. Then its names are unproven until there is an answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long the database is asked on, and the pauses between: the first one, and the longest.
const PERSISTENCE: Duration = Duration::from_mins(10);
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Sockets for which the database is asked on at the same time.
const MAX_ASKING: usize = 1_024;

/// Places for those.
static ASKING: Semaphore = Semaphore::const_new(MAX_ASKING);

/// The hash of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyHash(pub(crate) [u8; KEY_HASH_LENGTH]);

impl KeyHash {
    /// The hash of the key that is written in this text.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let key: [u8; KEY_LENGTH] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        Some(Self(Sha256::digest(key).into()))
    }
}

/// Why a name cannot be claimed.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(format!("a name has 1 to {MAX_NAME} bytes"));
    }
    if name.chars().any(char::is_control) || name.trim() != name {
        return Err("a name has no control characters, and no spaces around it".into());
    }
    Ok(())
}

/// Notes which names the browser at this address may use in a room: those that its key owns. If the database is slow, it is asked on
/// until it answers, so that a name is only proven later.
pub(crate) async fn prove(results: &Arc<Results>, room: &Arc<Room>, address: SocketAddr, key: KeyHash) {
    let note = move |room: &Room, names: &[String]| {
        if !names.is_empty() {
            room.known.note(address, names);
            room.recognize();
        }
    };
    note(room, &results.store.recent_names_of(&key.0));
    match timeout(PATIENCE, results.store.names_of(&key.0)).await {
        Ok(Ok(names)) => return note(room, &names),
        Ok(Err(error)) => debug!(%error, "names cannot be looked up; they are proven later"),
        Err(_) => debug!("names cannot be looked up in time; they are proven later"),
    }
    let Ok(place) = ASKING.try_acquire() else { return };
    let (results, room) = (Arc::clone(results), Arc::downgrade(room));
    tokio::spawn(async move {
        let ask =
            || async { if room.strong_count() > 0 { results.store.names_of(&key.0).await.ok() } else { Some(vec![]) } };
        if let (Some(names), Some(room)) = (until_known(ask).await, room.upgrade()) {
            note(&room, &names);
        }
        drop(place);
    });
}

// Asks until there is an answer, for a while.
async fn until_known<F: Future<Output = Option<Vec<String>>>>(ask: impl Fn() -> F) -> Option<Vec<String>> {
    let asking = async {
        let mut pause = PAUSE;
        loop {
            sleep(pause).await;
            if let Some(names) = ask().await {
                return names;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    };
    timeout(PERSISTENCE, asking).await.ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::time::Instant;

    use super::*;

    #[test]
    fn a_key_is_32_bytes_and_only_its_hash_is_kept() {
        let key = URL_SAFE_NO_PAD.encode([7; KEY_LENGTH]);
        let hash = KeyHash::of(&key).unwrap();
        assert_ne!(hash.0, [7; KEY_LENGTH]);
        for wrong in ["", "x", &key[1..], &format!("{key}AAAA"), &format!("{key}=")] {
            assert_eq!(KeyHash::of(wrong), None, "{wrong}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_database_is_asked_until_it_answers_and_not_for_ever() {
        let asked = AtomicU32::new(0);
        let ask = || async { (asked.fetch_add(1, Ordering::Relaxed) == 5).then(|| vec!["Ann".to_owned()]) };
        assert_eq!(until_known(ask).await, Some(vec!["Ann".to_owned()]));
        assert_eq!(asked.load(Ordering::Relaxed), 6);
        let started = Instant::now();
        assert_eq!(until_known(|| async { None }).await, None);
        assert_eq!(started.elapsed(), PERSISTENCE);
    }

    #[test]
    fn names_are_short_and_printable() {
        for name in ["A", "Zoë with a hat", &"x".repeat(64)] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in ["", " A", "A ", "A\nB", "\u{7f}", &"x".repeat(65)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
