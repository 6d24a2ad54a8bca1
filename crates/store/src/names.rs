//! Names that belong to somebody.

use sqlx::Row as _;

use crate::{Store, StoreError, database::hex, record::integer};

/// Bytes of the hash of an owner's key: SHA-256.
pub const KEY_HASH_LENGTH: usize = 32;

/// What came of claiming a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It belongs to this key, from now on or already.
    Own,
    /// It belongs to another.
    Taken,
}

impl Store {
    /// Claims a name at `now`, in milliseconds since the Unix epoch: it belongs to the key that claims it first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn claim(&self, name: &str, key_hash: &[u8; KEY_HASH_LENGTH], now: u64) -> Result<Claim, StoreError> {
        sqlx::query("INSERT INTO names (name, key_hash, claimed) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
            .bind(name)
            .bind(digits(key_hash))
            .bind(integer(now))
            .execute(&self.pool)
            .await?;
        Ok(if self.owns(name, key_hash).await? { Claim::Own } else { Claim::Taken })
    }

    /// Whether a name belongs to this key.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn owns(&self, name: &str, key_hash: &[u8; KEY_HASH_LENGTH]) -> Result<bool, StoreError> {
        let row =
            sqlx::query("SELECT key_hash FROM names WHERE name = $1").bind(name).fetch_optional(&self.pool).await?;
        let Some(row) = row else { return Ok(false) };
        // Hashes of random keys are compared, so the time that it takes tells nothing.
        Ok(row.try_get::<String, _>(0)? == digits(key_hash))
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|&byte| hex(byte)).map(char::from).collect()
}
