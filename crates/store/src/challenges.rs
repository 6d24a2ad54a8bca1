//! The attempts at daily challenges: the first of each browser on a day counts.

use crate::{
    KEY_HASH_LENGTH, Store, StoreError,
    connection::{Connection, Row},
    database::transaction,
    names::digits,
};

/// How long attempts are stored, in days.
const STORED: u32 = 3;
/// Scores of a distribution. The games have fewer.
const MAX_SCORES: i64 = 1_000;

type KeyHash = [u8; KEY_HASH_LENGTH];

/// The challenge of a game on a day, in days since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Challenge<'a> {
    pub game: &'a str,
    pub day: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub room: String,
    /// `None` until the match is over.
    pub score: Option<i64>,
    pub match_id: Option<String>,
}

/// The score of a match in a daily challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ChallengeScore {
    /// In days since 1970.
    pub day: u32,
    pub score: i64,
}

impl Store {
    /// Registers an attempt in this room. If the key, or another key of one of its names, has an attempt already, returns
    /// that one instead.
    pub async fn begin_challenge(
        &self,
        challenge: Challenge<'_>,
        key: &KeyHash,
        room: &str,
    ) -> Result<Option<Attempt>, StoreError> {
        transaction!(self, writer => begin(writer, challenge, key, room))
    }

    /// Removes an attempt whose room has not opened.
    pub async fn cancel_challenge(&self, challenge: Challenge<'_>, key: &KeyHash) -> Result<(), StoreError> {
        let Challenge { game, day } = challenge;
        let text = "DELETE FROM challenges WHERE game = $1 AND day = $2 AND key_hash = $3 AND match_id IS NULL";
        self.execute(text, &[game.into(), i64::from(day).into(), (&digits(key)).into()]).await.map(drop)
    }

    pub async fn attempt(&self, challenge: Challenge<'_>, key: &KeyHash) -> Result<Option<Attempt>, StoreError> {
        let mut reader = self.readers.acquire().await?;
        let found = find(&mut reader, challenge, &digits(key)).await?;
        reader.done();
        Ok(found)
    }

    /// Each score with its number of players, in ascending order.
    pub async fn challenge_scores(
        &self,
        Challenge { game, day }: Challenge<'_>,
    ) -> Result<Vec<(i64, u64)>, StoreError> {
        let text = "SELECT score, COUNT(*) FROM challenges WHERE game = $1 AND day = $2 AND score IS NOT NULL \
                    GROUP BY score ORDER BY score LIMIT $3";
        let rows = self.rows(text, &[game.into(), i64::from(day).into(), MAX_SCORES.into()]).await?;
        rows.iter().map(|row| Ok((row.integer(0)?, row.number(1)?))).collect()
    }
}

/// Only the first match of the room of the attempt counts.
pub(crate) async fn score(
    writer: &mut Connection,
    game: &str,
    (room, id): (&str, &str),
    ChallengeScore { day, score }: ChallengeScore,
) -> Result<(), StoreError> {
    let text = "UPDATE challenges SET score = $1, match_id = $2 WHERE room = $3 AND game = $4 AND day = $5 AND match_id IS NULL";
    let values = [score.into(), id.into(), room.into(), game.into(), i64::from(day).into()];
    writer.execute(text, &values).await.map(drop)
}

async fn begin(
    writer: &mut Connection,
    challenge: Challenge<'_>,
    key: &KeyHash,
    room: &str,
) -> Result<Option<Attempt>, StoreError> {
    let Challenge { game, day } = challenge;
    let key = digits(key);
    // An attempt may begin a day before its match ends.
    writer.execute("DELETE FROM challenges WHERE day < $1", &[i64::from(day.saturating_sub(STORED)).into()]).await?;
    if let Some(earlier) = find(writer, challenge, &key).await? {
        return Ok(Some(earlier));
    }
    let text = "INSERT INTO challenges (game, day, key_hash, room) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
    let values = [game.into(), i64::from(day).into(), (&key).into(), room.into()];
    if writer.execute(text, &values).await? == 1 { Ok(None) } else { find(writer, challenge, &key).await }
}

// The attempt of the key, or else of another key of one of its names.
async fn find(
    connection: &mut Connection,
    Challenge { game, day }: Challenge<'_>,
    key: &str,
) -> Result<Option<Attempt>, StoreError> {
    let mut keys = vec![key.to_owned()];
    for text in [
        "SELECT k.key_hash FROM names n JOIN name_keys k ON k.name = n.name WHERE n.key_hash = $1",
        "SELECT n.key_hash FROM name_keys o JOIN names n ON n.name = o.name WHERE o.key_hash = $1",
        "SELECT k.key_hash FROM name_keys o JOIN name_keys k ON k.name = o.name WHERE o.key_hash = $1",
    ] {
        for row in connection.rows(text, &[key.into()]).await? {
            keys.push(row.text(0)?);
        }
    }
    for key in keys {
        let text = "SELECT room, score, match_id FROM challenges WHERE game = $1 AND day = $2 AND key_hash = $3";
        let rows = connection.rows(text, &[game.into(), i64::from(day).into(), (&key).into()]).await?;
        if let Some(row) = rows.first() {
            return attempt(row).map(Some);
        }
    }
    Ok(None)
}

fn attempt(row: &Row) -> Result<Attempt, StoreError> {
    Ok(Attempt { room: row.text(0)?, score: row.get(1)?, match_id: row.get(2)? })
}
