//! Names that belong to somebody.

use sqlx::Row as _;

use crate::{Store, StoreError, database::hex, record::integer};

/// Bytes of the hash of an owner's key: SHA-256.
pub const KEY_HASH_LENGTH: usize = 32;

/// Names that one key can own.
pub const MAX_NAMES: i64 = 16;

/// The result of claiming a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It belongs to this key, from now on or already.
    Own,
    /// It belongs to another.
    Taken,
    /// The key owns [`MAX_NAMES`] already.
    TooMany,
}

impl Store {
    /// Claims a name at `now`, in milliseconds since the Unix epoch: it belongs to the key that claims it first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn claim(&self, name: &str, key_hash: &[u8; KEY_HASH_LENGTH], now: u64) -> Result<Claim, StoreError> {
        // Once more than the limit, when two claims of one key come at the same time, is no harm.
        let names = self.names_of(key_hash).await?;
        if names.iter().any(|own| own == name) {
            return Ok(Claim::Own);
        }
        let is_full = names.len() as u64 >= MAX_NAMES.unsigned_abs();
        if !is_full {
            sqlx::query("INSERT INTO names (name, key_hash, claimed) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
                .bind(name)
                .bind(digits(key_hash))
                .bind(integer(now))
                .execute(&self.pool)
                .await?;
        }
        let owner =
            sqlx::query("SELECT key_hash FROM names WHERE name = $1").bind(name).fetch_optional(&self.pool).await?;
        Ok(match owner {
            Some(row) if row.try_get::<String, _>(0)? == digits(key_hash) => Claim::Own,
            Some(_) => Claim::Taken,
            None => Claim::TooMany,
        })
    }

    /// The names that belong to this key.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn names_of(&self, key_hash: &[u8; KEY_HASH_LENGTH]) -> Result<Vec<String>, StoreError> {
        // Hashes of random keys are compared, so the time that it takes tells nothing.
        let rows = sqlx::query("SELECT name FROM names WHERE key_hash = $1 ORDER BY claimed, name LIMIT $2")
            .bind(digits(key_hash))
            .bind(MAX_NAMES + 1)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|&byte| hex(byte)).map(char::from).collect()
}
