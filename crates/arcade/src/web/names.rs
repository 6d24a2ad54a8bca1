//! Names that belong to a browser.
//!
//! A browser that is used first makes a random key and claims a name with it. The hub keeps a hash of the key only, so nobody who
//! reads the database can take a name.

use std::{net::SocketAddr, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use store::{KEY_HASH_LENGTH, Kind};
use tokio::time::sleep;
use tracing::debug;

use crate::{results::Results, room::Room};

/// Bytes of a key.
const KEY_LENGTH: usize = 32;
/// The longest name, in bytes: that of blackjack.
const MAX_NAME: usize = 64;
/// The pause before the database is asked again whose names a key owns: at first, and at most.
const RETRY: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));

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

/// Finds out which names the browser at this seat may use in a room: those that its key owns. Tries again until the database answers.
pub(crate) async fn prove(results: &Results, room: &Room, seat: SocketAddr, key: KeyHash) {
    note(results, room, seat, &results.store.recent_names_of(&key.0));
    let ask = || async {
        results
            .store
            .names_of(&key.0)
            .await
            .inspect_err(|error| debug!(%error, "names cannot be looked up; they are unproven for now"))
            .ok()
    };
    note(results, room, seat, &until_known(ask).await);
}

fn note(results: &Results, room: &Room, seat: SocketAddr, names: &[String]) {
    if !names.is_empty() && room.known.note(seat, names) {
        for (address, name) in room.recognize() {
            results.note_kind(&room.file().id, &address, &name, Kind::Proven);
        }
    }
}

// Asks until there is an answer.
async fn until_known<F: Future<Output = Option<Vec<String>>>>(ask: impl Fn() -> F) -> Vec<String> {
    let mut pause = RETRY.0;
    loop {
        if let Some(names) = ask().await {
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
    fn a_key_is_32_bytes_and_only_its_hash_is_kept() {
        let key = URL_SAFE_NO_PAD.encode([7; KEY_LENGTH]);
        let hash = KeyHash::of(&key).unwrap();
        assert_ne!(hash.0, [7; KEY_LENGTH]);
        for wrong in ["", "x", &key[1..], &format!("{key}AAAA"), &format!("{key}=")] {
            assert_eq!(KeyHash::of(wrong), None, "{wrong}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_database_is_asked_until_it_answers() {
        let asked = AtomicU32::new(0);
        let ask = || async { (asked.fetch_add(1, Ordering::Relaxed) == 20).then(|| vec!["Ann".to_owned()]) };
        let started = Instant::now();
        assert_eq!(until_known(ask).await, ["Ann"]);
        assert_eq!(asked.load(Ordering::Relaxed), 21);
        let waited = started.elapsed();
        assert!(waited > 10 * RETRY.1 && waited < 20 * RETRY.1, "{waited:?}");
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
