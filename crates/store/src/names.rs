//! Names that belong to somebody.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use unicode_security::skeleton;

use crate::{
    Store, StoreError,
    connection::{Connection, Row},
};

/// Bytes of the hash of an owner's key: SHA-256.
pub const KEY_HASH_LENGTH: usize = 32;

/// Names that one key can own.
pub const MAX_NAMES: i64 = 16;

/// Names that one statement gives up or is told of.
const PAGE: i64 = 1_000;

/// Keys whose names are remembered.
const MAX_RECENT: usize = 4_096;

type KeyHash = [u8; KEY_HASH_LENGTH];

/// The result of claiming a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It belongs to this key, from now on or already.
    Own,
    /// It belongs to another.
    Taken,
    /// It looks like this name, which is taken. `None` if no match was joined with that name yet, because it is not public then.
    Resembles(Option<String>),
    /// The key owns [`MAX_NAMES`] already.
    TooMany,
}

/// The names of keys that were asked for. A name stays with its key until it is given up.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<HashMap<KeyHash, Vec<String>>>);

impl Recent {
    fn known(&self) -> MutexGuard<'_, HashMap<KeyHash, Vec<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Keys without names are anybody's, so they take no place.
    fn keep(&self, key: &KeyHash, names: &[String]) {
        if names.is_empty() {
            return;
        }
        let mut known = self.known();
        if known.len() >= MAX_RECENT && !known.contains_key(key) {
            let any = known.keys().next().copied();
            any.and_then(|any| known.remove(&any));
        }
        known.insert(*key, names.to_vec());
    }

    pub(crate) fn forget_key(&self, key: &KeyHash) {
        self.known().remove(key);
    }

    pub(crate) fn forget(&self, given_up: &[String]) {
        self.known().retain(|_, names| {
            names.retain(|name| !given_up.contains(name));
            !names.is_empty()
        });
    }
}

/// What a name looks like: equal for names that people take for each other.
fn looks(name: &str) -> String {
    skeleton(name).collect()
}

impl Store {
    /// Claims a name at `now`, in milliseconds since the Unix epoch: it belongs to the key that claims it first, and no other name that
    /// looks the same is given.
    pub async fn claim(&self, name: &str, key_hash: &KeyHash, now: u64) -> Result<Claim, StoreError> {
        // Once more than the limit, when two claims of one key come at the same time, is no harm.
        let names = self.names_of(key_hash).await?;
        if names.iter().any(|own| own == name) {
            return Ok(Claim::Own);
        }
        let (digits, looks) = (digits(key_hash), looks(name));
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
                self.recent.keep(key_hash, &[&names[..], &[name.to_owned()]].concat());
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

    /// Keeps a name with its key, also when no match is joined with it.
    pub async fn hold_name(&self, name: &str) -> Result<(), StoreError> {
        self.execute("UPDATE names SET used = 1 WHERE name = $1 AND used = 0", &[name.into()]).await.map(drop)
    }

    /// Gives up names that were claimed before `limit`, in milliseconds since the Unix epoch, and with which no match was joined. Returns
    /// some of them, and none when all are given up.
    pub async fn give_up_names(&self, limit: u64) -> Result<Vec<String>, StoreError> {
        let text = "DELETE FROM names WHERE name IN \
                    (SELECT name FROM names WHERE used = 0 AND claimed < $1 ORDER BY claimed LIMIT $2) RETURNING name";
        let rows = Self::rows_on(&self.writer, text, &[limit.into(), PAGE.into()]).await?;
        let given_up = rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>, _>>()?;
        self.recent.forget(&given_up);
        Ok(given_up)
    }

    // Notes what the names of earlier versions look like.
    pub(crate) async fn note_looks(&self) -> Result<(), StoreError> {
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
                self.execute(text, &[(&looks(&name)).into(), (&name).into()]).await?;
            }
        }
    }

    /// The names that belong to this key.
    pub async fn names_of(&self, key_hash: &KeyHash) -> Result<Vec<String>, StoreError> {
        // Hashes of random keys are compared, so the time that it takes tells nothing.
        let digits = digits(key_hash);
        let values = &[(&digits).into(), (MAX_NAMES + 1).into()];
        let text = "SELECT name FROM names WHERE key_hash = $1 ORDER BY claimed, name LIMIT $2";
        let mut rows = Self::rows_on(&self.keys, text, values).await?;
        // Those that it proves as the key of another device.
        let text = "SELECT name FROM name_keys WHERE key_hash = $1 ORDER BY added, name LIMIT $2";
        rows.extend(Self::rows_on(&self.keys, text, values).await?);
        let names = rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>, _>>()?;
        self.recent.keep(key_hash, &names);
        Ok(names)
    }

    /// The names that belonged to this key when it was last asked for, without asking the database: all or some of them, or none.
    #[must_use]
    pub fn recent_names_of(&self, key_hash: &KeyHash) -> Vec<String> {
        self.recent.known().get(key_hash).cloned().unwrap_or_default()
    }
}

/// A match was joined with this name: it stays with its key.
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

    #[test]
    fn the_names_of_a_bounded_number_of_keys_are_remembered() {
        let recent = Recent::default();
        let key = |number: usize| {
            let mut key = [0; KEY_HASH_LENGTH];
            key[..8].copy_from_slice(&number.to_le_bytes());
            key
        };
        for number in 0..2 * MAX_RECENT {
            recent.keep(&key(number), &[]);
            assert!(recent.known().is_empty());
        }
        for number in 0..2 * MAX_RECENT {
            recent.keep(&key(number), &[number.to_string()]);
        }
        assert_eq!(recent.known().len(), MAX_RECENT);
        let last = 2 * MAX_RECENT - 1;
        assert_eq!(recent.known()[&key(last)], [last.to_string()]);
        assert_eq!(digits(&[0x0f, 0xa0]), "0fa0");
    }
}
