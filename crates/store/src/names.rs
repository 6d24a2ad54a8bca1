use std::{
    collections::HashMap,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use unicode_security::skeleton;

use crate::{
    Store, StoreError,
    connection::{Connection, Row},
    place::DatabaseLocation,
};

/// The length of a SHA-256 hash of an owner's key, in bytes.
pub const KEY_HASH_LENGTH: usize = 32;

pub const MAX_NAMES: i64 = 16;

pub(crate) const PAGE: i64 = 1_000;

const MAX_RECENT: usize = 4_096;
/// How long the cache is valid after the changes of other hubs were read.
const RECENT: Duration = Duration::from_secs(5);
/// How often names are read again if some were removed meanwhile.
const MAX_READS: u32 = 3;

type KeyHash = [u8; KEY_HASH_LENGTH];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The name belongs to this key, from now on or already.
    Own,
    Taken,
    /// The taken name that this one resembles; `None` if it is not public yet, because it has not been used in a match.
    Resembles(Option<String>),
    /// The key owns [`MAX_NAMES`] already.
    TooMany,
}

#[derive(Debug, Default)]
pub(crate) struct NameCache(Mutex<Cache>);

#[derive(Debug, Default)]
struct Cache {
    names: HashMap<KeyHash, Vec<String>>,
    // Counts calls that removed names: a result from before such a call is not cached.
    generation: u64,
    // When the changes of other hubs with the same database were last read.
    followed: Option<Instant>,
}

impl NameCache {
    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn generation(&self) -> u64 {
        self.cache().generation
    }

    // Returns `false` if names were removed since this generation. Keys without names are not cached, since any client
    // can invent them.
    fn keep(&self, generation: u64, key: &KeyHash, names: &[String]) -> bool {
        let cache = &mut *self.cache();
        let is_current = cache.generation == generation;
        if is_current && !names.is_empty() {
            if cache.names.len() >= MAX_RECENT && !cache.names.contains_key(key) {
                let any = cache.names.keys().next().copied();
                any.and_then(|any| cache.names.remove(&any));
            }
            cache.names.insert(*key, names.to_vec());
        }
        is_current
    }

    pub(crate) fn invalidate_key(&self, key: &KeyHash) {
        let mut cache = self.cache();
        cache.generation += 1;
        cache.names.remove(key);
    }

    pub(crate) fn invalidate(&self, removed: &[String]) {
        if removed.is_empty() {
            return;
        }
        let mut cache = self.cache();
        cache.generation += 1;
        cache.names.retain(|_, names| {
            names.retain(|name| !removed.contains(name));
            !names.is_empty()
        });
    }

    pub(crate) fn follow(&self, time: Instant) {
        self.cache().followed = Some(time);
    }

    fn names(&self, key: &KeyHash, is_shared: bool, now: Instant) -> Vec<String> {
        let cache = self.cache();
        let is_valid = !is_shared || cache.followed.is_some_and(|followed| now < followed + RECENT);
        cache.names.get(key).filter(|_| is_valid).cloned().unwrap_or_default()
    }
}

/// The Unicode skeleton of a name, which is equal for names that look alike.
fn skeleton_of(name: &str) -> String {
    // An emoji may look the same without its joiners and with another variation selector.
    let is_shown = |letter: &char| !matches!(letter, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
    skeleton(name).filter(is_shown).collect()
}

impl Store {
    /// The name belongs to the first key that claims it, and no name that looks the same can be claimed. `now` is in
    /// milliseconds since the Unix epoch.
    pub async fn claim(&self, name: &str, key_hash: &KeyHash, now: u64) -> Result<Claim, StoreError> {
        // Two simultaneous claims of one key may exceed the limit by one, which is harmless.
        let generation = self.recent.generation();
        let names = self.names_of(key_hash).await?;
        if names.iter().any(|own| own == name) {
            return Ok(Claim::Own);
        }
        let (digits, looks) = (digits(key_hash), skeleton_of(name));
        let is_full = names.len() as u64 >= MAX_NAMES.unsigned_abs();
        if !is_full {
            let text =
                "INSERT INTO names (name, key_hash, claimed, looks) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
            self.execute(text, &[name.into(), (&digits).into(), now.into(), (&looks).into()]).await?;
        }
        let owner = self.row("SELECT key_hash FROM names WHERE name = $1", &[name.into()]).await?;
        let owner = owner.map(|row: Row| row.text(0)).transpose()?;
        Ok(match owner {
            Some(owner) if owner == digits => {
                self.recent.keep(generation, key_hash, &[&names[..], &[name.to_owned()]].concat());
                Claim::Own
            }
            Some(_) => Claim::Taken,
            None if is_full => Claim::TooMany,
            None => {
                let text = "SELECT name FROM names WHERE looks = $1 AND used = 1";
                let other = self.row(text, &[(&looks).into()]).await?;
                Claim::Resembles(other.map(|row| row.text(0)).transpose()?)
            }
        })
    }

    pub async fn mark_name_used(&self, name: &str) -> Result<(), StoreError> {
        self.execute("UPDATE names SET used = 1 WHERE name = $1 AND used = 0", &[name.into()]).await.map(drop)
    }

    // Stores the skeletons of names from earlier versions.
    pub(crate) async fn store_skeletons(&self) -> Result<(), StoreError> {
        let mut last = String::new();
        loop {
            let text = "SELECT name FROM names WHERE looks IS NULL AND name > $1 ORDER BY name LIMIT $2";
            let rows = Self::rows_on(&self.writer, text, &[(&last).into(), PAGE.into()]).await?;
            let Some(end) = rows.last() else { return Ok(()) };
            last = end.text(0)?;
            for row in &rows {
                let name: String = row.text(0)?;
                let text = "UPDATE names SET looks = $1 WHERE name = $2 AND NOT EXISTS \
                            (SELECT 1 FROM names other WHERE other.looks = $1)";
                self.execute(text, &[(&skeleton_of(&name)).into(), (&name).into()]).await?;
            }
        }
    }

    pub async fn names_of(&self, key_hash: &KeyHash) -> Result<Vec<String>, StoreError> {
        let mut attempts = 0;
        loop {
            let generation = self.recent.generation();
            let names = self.read_names(key_hash).await?;
            // If names were removed meanwhile, the list may include one of them.
            if self.recent.keep(generation, key_hash, &names) || attempts == MAX_READS {
                return Ok(names);
            }
            attempts += 1;
        }
    }

    async fn read_names(&self, key_hash: &KeyHash) -> Result<Vec<String>, StoreError> {
        // The keys are random and compared as hashes, so the duration of the query does not help to guess a key.
        let digits = digits(key_hash);
        let values = &[(&digits).into(), (MAX_NAMES + 1).into()];
        let text = "SELECT name FROM names WHERE key_hash = $1 ORDER BY claimed, name LIMIT $2";
        let mut rows = Self::rows_on(&self.keys, text, values).await?;
        // Names to which this key was added as the key of another device.
        let text = "SELECT name FROM name_keys WHERE key_hash = $1 ORDER BY added, name LIMIT $2";
        rows.extend(Self::rows_on(&self.keys, text, values).await?);
        rows.iter().map(|row| row.text(0)).collect()
    }

    /// Cached names, without a query. The list may be complete, partial or empty.
    ///
    /// It is empty if the database is a server, which other hubs may use, and their changes were not read for 5 s: see
    /// [`changed_names`](Self::changed_names).
    #[must_use]
    pub fn recent_names_of(&self, key_hash: &KeyHash) -> Vec<String> {
        self.recent.names(key_hash, matches!(self.place(), DatabaseLocation::Server(_)), Instant::now())
    }
}

/// Notifies other hubs with the same database that the name has lost a key.
pub(crate) async fn note_change(writer: &mut Connection, name: &str, now: u64) -> Result<(), StoreError> {
    let id = format!("{:016x}", RandomState::new().build_hasher().finish());
    let text = "INSERT INTO name_changes (name, id, changed) VALUES ($1, $2, $3) \
                ON CONFLICT (name) DO UPDATE SET id = excluded.id, changed = excluded.changed";
    writer.execute(text, &[name.into(), (&id).into(), now.into()]).await.map(drop)
}

pub(crate) async fn note_use(writer: &mut Connection, name: &str) -> Result<(), StoreError> {
    writer.execute("UPDATE names SET used = 1 WHERE name = $1 AND used = 0", &[name.into()]).await.map(drop)
}

pub(crate) fn digits(bytes: &[u8]) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> KeyHash {
        let mut key = [0; KEY_HASH_LENGTH];
        key[..8].copy_from_slice(&number.to_le_bytes());
        key
    }

    #[test]
    fn names_that_look_alike_have_one_skeleton() {
        for (name, other) in [("Bill", "BiIl"), ("\u{2764}", "\u{2764}\u{fe0f}"), ("👩\u{200d}👧", "👩👧")] {
            assert_eq!(skeleton_of(name), skeleton_of(other), "{name}");
        }
        assert_ne!(skeleton_of("Łukasz"), skeleton_of("Lukasz"));
    }

    #[test]
    fn cache_of_names_is_bounded() {
        let recent = NameCache::default();
        for number in 0..2 * MAX_RECENT {
            recent.keep(0, &key(number), &[]);
            assert!(recent.cache().names.is_empty());
        }
        for number in 0..2 * MAX_RECENT {
            recent.keep(0, &key(number), &[number.to_string()]);
        }
        assert_eq!(recent.cache().names.len(), MAX_RECENT);
        let last = 2 * MAX_RECENT - 1;
        assert_eq!(recent.cache().names[&key(last)], [last.to_string()]);
        assert_eq!(digits(&[0x0f, 0xa0]), "0fa0");
    }

    #[test]
    fn name_that_was_read_before_its_removal_is_not_cached_after_it() {
        let recent = NameCache::default();
        let generation = recent.generation();
        recent.invalidate(&["Ann".to_owned()]);
        assert!(!recent.keep(generation, &key(1), &["Ann".to_owned()]));
        assert!(recent.cache().names.is_empty());
    }

    #[test]
    fn cache_of_a_shared_database_is_valid_for_five_seconds() {
        let recent = NameCache::default();
        let now = Instant::now();
        let names = |is_shared, after| recent.names(&key(1), is_shared, now + after);
        recent.keep(0, &key(1), &["Ann".to_owned()]);
        assert_eq!(names(false, RECENT), ["Ann"]);
        assert_eq!(names(true, Duration::ZERO), [] as [&str; 0], "nothing was read of other hubs");
        recent.follow(now);
        assert_eq!(names(true, RECENT / 2), ["Ann"]);
        assert_eq!(names(true, RECENT), [] as [&str; 0]);
    }
}
