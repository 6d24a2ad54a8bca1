//! Names on several devices, each with its own key.
//!
//! Every change checks in its transaction that the key of the caller proves the name, so a revoked key cannot change
//! anything.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use crate::{
    KEY_HASH_LENGTH, MAX_NAMES, Store, StoreError,
    connection::{Connection, Row},
    database::transaction,
    names::{PAGE, digits, note_change},
};

pub const MAX_KEYS: i64 = 4;

/// The maximum clock difference between two hubs, plus the longest transaction. Older changes were already read.
const OVERLAP: Duration = Duration::from_mins(3);
const CHANGES_KEPT: Duration = Duration::from_mins(15);

type KeyHash = [u8; KEY_HASH_LENGTH];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedeemOutcome {
    /// The code is consumed.
    Name(String),
    Unknown,
    /// The code stays valid.
    TooManyKeys,
    /// The key owns [`MAX_NAMES`] already. The code stays valid.
    TooManyNames,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaceOutcome {
    Done,
    NotOwner,
    /// The new key owns [`MAX_NAMES`] already.
    TooManyNames,
}

/// The changes of names that this hub has applied.
#[derive(Debug, Default)]
pub struct NameChanges {
    applied: HashSet<String>,
}

/// `$1` is the name, `$2` the key.
macro_rules! proves {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            " FROM names n WHERE n.name = $1 AND (n.key_hash = $2 OR EXISTS \
             (SELECT 1 FROM name_keys k WHERE k.name = n.name AND k.key_hash = $2))",
            $after
        )
    };
}

impl Store {
    /// Stores a code that is valid until `expires`, in milliseconds since the Unix epoch, in place of the previous code
    /// of the name. Returns `false` if `key_hash` does not prove the name.
    pub async fn issue_code(
        &self,
        name: &str,
        key_hash: &KeyHash,
        code_hash: &[u8],
        expires: u64,
    ) -> Result<bool, StoreError> {
        let text = proves!(
            "INSERT INTO name_codes (name, key_hash, code_hash, expires) SELECT n.name, $2, $3, $4",
            " ON CONFLICT (name) DO UPDATE SET key_hash = excluded.key_hash, code_hash = excluded.code_hash, \
             expires = excluded.expires"
        );
        let (key, code) = (digits(key_hash), digits(code_hash));
        let values = [name.into(), (&key).into(), (&code).into(), expires.into()];
        Ok(self.execute(text, &values).await? == 1)
    }

    /// Adds a key to the name of a code and consumes the code, in one transaction. `now` is in milliseconds since the
    /// Unix epoch. The code is void if the key that issued it no longer proves the name.
    pub async fn redeem_code(
        &self,
        code_hash: &[u8],
        key_hash: &KeyHash,
        now: u64,
    ) -> Result<RedeemOutcome, StoreError> {
        let (code, key) = (digits(code_hash), digits(key_hash));
        let redeemed = transaction!(self, writer => redeem(writer, &code, &key, now));
        self.recent.invalidate_key(key_hash);
        redeemed
    }

    /// Makes `new` the only key of a name, and voids its code. `key_hash` must prove the name.
    pub async fn replace_keys(
        &self,
        name: &str,
        key_hash: &KeyHash,
        new: &KeyHash,
        now: u64,
    ) -> Result<ReplaceOutcome, StoreError> {
        let (key, digits) = (digits(key_hash), digits(new));
        let replaced = transaction!(self, writer => replace(writer, name, (&key, &digits), now));
        self.recent.invalidate(&[name.to_owned()]);
        self.recent.invalidate_key(new);
        replaced
    }

    /// The name becomes available immediately. Returns `false` if `key_hash` does not prove it.
    pub async fn release_name(&self, name: &str, key_hash: &KeyHash, now: u64) -> Result<bool, StoreError> {
        let key = digits(key_hash);
        let released = transaction!(self, writer => release(writer, name, &key, now));
        self.recent.invalidate(&[name.to_owned()]);
        released
    }

    /// Releases up to 1,000 names that were claimed before `limit` and never used in a match, and deletes expired
    /// codes; times are in milliseconds since the Unix epoch. Returns the released names: repeat it until there are
    /// none.
    pub async fn release_unused_names(&self, limit: u64, now: u64) -> Result<Vec<String>, StoreError> {
        let released = transaction!(self, writer => release_unused(writer, limit, now))?;
        self.recent.invalidate(&released);
        self.prune_codes(now).await?;
        Ok(released)
    }

    /// Returns the names that lost a key since the last call, at any hub with this database, and removes them from the
    /// cache. Must be called every few seconds; see [`recent_names_of`](Self::recent_names_of).
    pub async fn changed_names(&self, changes: &mut NameChanges, now: u64) -> Result<Vec<String>, StoreError> {
        let asked = Instant::now();
        let text = "SELECT name, id, changed FROM name_changes WHERE (changed, name) > ($1, $2) \
                    ORDER BY changed, name LIMIT $3";
        let mut cursor = (now.saturating_sub(millis(OVERLAP)), String::new());
        let (mut names, mut seen) = (vec![], HashSet::new());
        loop {
            let rows = Self::rows_on(&self.keys, text, &[cursor.0.into(), (&cursor.1).into(), PAGE.into()]).await?;
            for row in &rows {
                let (name, id): (String, String) = (row.text(0)?, row.text(1)?);
                cursor = (row.number(2)?, name.clone());
                if !changes.applied.contains(&id) {
                    names.push(name);
                }
                seen.insert(id);
            }
            if (rows.len() as u64) < PAGE.unsigned_abs() {
                break;
            }
        }
        self.recent.invalidate(&names);
        self.recent.follow(asked);
        changes.applied = seen;
        Ok(names)
    }

    async fn prune_codes(&self, now: u64) -> Result<(), StoreError> {
        self.execute("DELETE FROM name_codes WHERE expires < $1", &[now.into()]).await?;
        let limit = now.saturating_sub(millis(CHANGES_KEPT));
        self.execute("DELETE FROM name_changes WHERE changed < $1", &[limit.into()]).await.map(drop)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

async fn redeem(writer: &mut Connection, code: &str, key: &str, now: u64) -> Result<RedeemOutcome, StoreError> {
    let text = "SELECT name, key_hash FROM name_codes WHERE code_hash = $1 AND expires > $2";
    let Some(row) = writer.row(text, &[code.into(), now.into()]).await? else { return Ok(RedeemOutcome::Unknown) };
    let (name, issuer): (String, String) = (row.text(0)?, row.text(1)?);
    if !proves(writer, &name, &issuer).await? {
        return Ok(RedeemOutcome::Unknown);
    }
    if !proves(writer, &name, key).await? {
        if count_names(writer, key).await? >= MAX_NAMES {
            return Ok(RedeemOutcome::TooManyNames);
        }
        let text = "SELECT COUNT(*) FROM name_keys WHERE name = $1";
        let others = writer.row(text, &[(&name).into()]).await?.map_or(Ok(0), |row: Row| row.integer(0))?;
        // The first key is stored in `names`.
        if others + 1 >= MAX_KEYS {
            return Ok(RedeemOutcome::TooManyKeys);
        }
        let text = "INSERT INTO name_keys (name, key_hash, added) VALUES ($1, $2, $3)";
        writer.execute(text, &[(&name).into(), key.into(), now.into()]).await?;
    }
    writer.execute("DELETE FROM name_codes WHERE code_hash = $1", &[code.into()]).await?;
    Ok(RedeemOutcome::Name(name))
}

async fn replace(
    writer: &mut Connection,
    name: &str,
    (key, new): (&str, &str),
    now: u64,
) -> Result<ReplaceOutcome, StoreError> {
    if !proves(writer, name, key).await? {
        return Ok(ReplaceOutcome::NotOwner);
    }
    if !proves(writer, name, new).await? && count_names(writer, new).await? >= MAX_NAMES {
        return Ok(ReplaceOutcome::TooManyNames);
    }
    writer.execute("DELETE FROM name_codes WHERE name = $1", &[name.into()]).await?;
    writer.execute("DELETE FROM name_keys WHERE name = $1", &[name.into()]).await?;
    writer.execute("UPDATE names SET key_hash = $2 WHERE name = $1", &[name.into(), new.into()]).await?;
    note_change(writer, name, now).await?;
    Ok(ReplaceOutcome::Done)
}

async fn release(writer: &mut Connection, name: &str, key: &str, now: u64) -> Result<bool, StoreError> {
    let proven = proves(writer, name, key).await?;
    if proven {
        writer.execute("DELETE FROM names WHERE name = $1", &[name.into()]).await?;
        note_change(writer, name, now).await?;
    }
    Ok(proven)
}

async fn release_unused(writer: &mut Connection, limit: u64, now: u64) -> Result<Vec<String>, StoreError> {
    let text = "DELETE FROM names WHERE name IN \
                (SELECT name FROM names WHERE used = 0 AND claimed < $1 ORDER BY claimed LIMIT $2) RETURNING name";
    let rows = writer.rows(text, &[limit.into(), PAGE.into()]).await?;
    let released = rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>, _>>()?;
    for name in &released {
        note_change(writer, name, now).await?;
    }
    Ok(released)
}

async fn proves(connection: &mut Connection, name: &str, key: &str) -> Result<bool, StoreError> {
    Ok(connection.row(proves!("SELECT 1", ""), &[name.into(), key.into()]).await?.is_some())
}

async fn count_names(writer: &mut Connection, key: &str) -> Result<i64, StoreError> {
    let text = "SELECT (SELECT COUNT(*) FROM names WHERE key_hash = $1) + (SELECT COUNT(*) FROM name_keys WHERE key_hash = $1)";
    writer.row(text, &[key.into()]).await?.map_or(Ok(0), |row: Row| row.integer(0))
}
