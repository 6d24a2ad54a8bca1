//! Names on several devices, each of which has a key of its own.

use crate::{KEY_HASH_LENGTH, MAX_NAMES, Store, StoreError, connection::Connection, database::twice, names::digits};

/// Keys that prove one name.
pub const MAX_KEYS: i64 = 4;

type KeyHash = [u8; KEY_HASH_LENGTH];

/// The result of adding a key to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// The key proves the name, from now on or already.
    Own,
    /// The name has [`MAX_KEYS`] already.
    TooManyKeys,
    /// The key owns [`MAX_NAMES`] already.
    TooManyNames,
    /// Nobody owns the name any more.
    Gone,
}

impl Store {
    /// Lets one more key prove a name, from `now` on, in milliseconds since the Unix epoch.
    pub async fn add_key(&self, name: &str, key_hash: &KeyHash, now: u64) -> Result<Added, StoreError> {
        // Once more than the limit, when two come at the same time, is no harm.
        let names = self.names_of(key_hash).await?;
        if names.iter().any(|own| own == name) {
            return Ok(Added::Own);
        }
        if names.len() as u64 >= MAX_NAMES.unsigned_abs() {
            return Ok(Added::TooManyNames);
        }
        let text = "SELECT key_hash FROM name_keys WHERE name = $1 LIMIT $2";
        let others = self.rows(text, &[name.into(), MAX_KEYS.into()]).await?;
        // The first key stands with the name.
        if others.len() as u64 + 1 >= MAX_KEYS.unsigned_abs() {
            return Ok(Added::TooManyKeys);
        }
        let text = "INSERT INTO name_keys (name, key_hash, added) SELECT name, $2, $3 FROM names WHERE name = $1 \
                    ON CONFLICT DO NOTHING";
        let added = self.execute(text, &[name.into(), (&digits(key_hash)).into(), now.into()]).await?;
        self.recent.forget_key(key_hash);
        Ok(if added == 1 { Added::Own } else { Added::Gone })
    }

    /// Lets this key alone prove a name, and no other one that did.
    pub async fn replace_keys(&self, name: &str, key_hash: &KeyHash) -> Result<(), StoreError> {
        let digits = digits(key_hash);
        let replaced = twice!(self.writer, self.try_replace(name, &digits));
        self.recent.forget(&[name.to_owned()]);
        self.recent.forget_key(key_hash);
        replaced
    }

    async fn try_replace(&self, name: &str, digits: &str) -> Result<(), StoreError> {
        let mut writer = self.writer.lease().await?;
        writer.begin().await?;
        replace(&mut writer, name, digits).await?;
        writer.execute("COMMIT", &[]).await?;
        writer.done();
        Ok(())
    }

    /// Gives a name up: it is free at once.
    pub async fn release_name(&self, name: &str) -> Result<(), StoreError> {
        self.execute("DELETE FROM names WHERE name = $1", &[name.into()]).await?;
        self.recent.forget(&[name.to_owned()]);
        Ok(())
    }
}

async fn replace(writer: &mut Connection, name: &str, digits: &str) -> Result<(), StoreError> {
    writer.execute("DELETE FROM name_keys WHERE name = $1", &[name.into()]).await?;
    writer.execute("UPDATE names SET key_hash = $2 WHERE name = $1", &[name.into(), digits.into()]).await?;
    Ok(())
}
