//! Matches that are stored.

use serde::{Deserialize, Serialize};
use sqlx::{Row as _, any::AnyRow};

use crate::{Kind, Store, StoreError};

/// Matches of one answer.
pub const MAX_PAGE: u32 = 100;

/// A match that is over, by default as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match<P = MatchPlayer> {
    /// Its permanent id, which follows from the journal.
    pub id: String,
    /// The game, such as `nuggets`.
    pub game: String,
    /// What the room was called.
    pub title: String,
    /// The room.
    pub room: String,
    /// The name of the file of its journal.
    pub journal: String,
    /// Its number in the journal.
    pub number: u32,
    /// When it began and ended, in microseconds of the time of its room.
    pub begins: u64,
    /// See [`begins`](Self::begins).
    pub ends: u64,
    /// When it began and ended, in milliseconds since the Unix epoch.
    pub started: u64,
    /// See [`started`](Self::started).
    pub ended: u64,
    /// Whether it was played to its end. Only such matches are rated.
    pub complete: bool,
    /// The result, best first. A match without players is not stored.
    pub players: Vec<P>,
}

/// A player in a stored match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchPlayer {
    /// The rank, from 1.
    pub rank: u32,
    /// The name.
    pub name: String,
    /// How far it is to be trusted.
    pub kind: Kind,
    /// The seat in the game's own terms.
    pub seat: String,
    /// The score in the game's own unit.
    pub score: i64,
    /// The rating after the match, if it was rated.
    pub rating: Option<i64>,
}

/// Which matches are wanted. An empty text stands for any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MatchFilter {
    /// Of this game.
    pub game: String,
    /// With this player.
    pub player: String,
    /// Of this kind, if a player is given.
    pub kind: Option<Kind>,
    /// Against this one too.
    pub against: String,
    /// Of this kind.
    pub against_kind: Option<Kind>,
    /// That ended before the match with this id.
    pub before: String,
    /// How many, up to [`MAX_PAGE`].
    pub limit: u32,
}

/// How often one player of two was before the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ties {
    /// The first was before the second.
    pub wins: u64,
    /// The second was before the first.
    pub losses: u64,
    /// They had the same rank.
    pub ties: u64,
}

// What `match_of` reads, in its order.
macro_rules! columns {
    () => {
        "m.id, m.game, m.title, m.room, m.journal, m.number, m.begins, m.ends, m.started, m.ended, m.complete, \
         p.standing, p.name, p.kind, p.seat, p.score, p.rating"
    };
}

impl Store {
    /// The newest matches that fit, newest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn matches(&self, filter: &MatchFilter) -> Result<Vec<Match>, StoreError> {
        let rows = sqlx::query(concat!(
            "SELECT ",
            columns!(),
            " FROM (SELECT * FROM matches c WHERE ($1 = '' OR c.game = $1) \
             AND ($2 = '' OR EXISTS (SELECT 1 FROM players a WHERE a.match_id = c.id AND a.name = $2 AND ($3 < 0 OR a.kind = $3))) \
             AND ($4 = '' OR EXISTS (SELECT 1 FROM players b WHERE b.match_id = c.id AND b.name = $4 AND ($5 < 0 OR b.kind = $5))) \
             AND ($6 = '' OR EXISTS (SELECT 1 FROM matches d WHERE d.id = $6 \
             AND (c.ended < d.ended OR (c.ended = d.ended AND c.id < d.id)))) \
             ORDER BY c.ended DESC, c.id DESC LIMIT $7) m \
             JOIN players p ON p.match_id = m.id ORDER BY m.ended DESC, m.id DESC, p.place"
        ))
        .bind(&filter.game)
        .bind(&filter.player)
        .bind(filter.kind.map_or(-1, Kind::number))
        .bind(&filter.against)
        .bind(filter.against_kind.map_or(-1, Kind::number))
        .bind(&filter.before)
        .bind(i64::from(filter.limit.min(MAX_PAGE)))
        .fetch_all(&self.pool)
        .await?;
        collect(&rows)
    }

    /// The match with this id.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find(&self, id: &str) -> Result<Option<Match>, StoreError> {
        let rows = sqlx::query(concat!(
            "SELECT ",
            columns!(),
            " FROM matches m JOIN players p ON p.match_id = m.id WHERE m.id = $1 ORDER BY p.place"
        ))
        .bind(id)
        .fetch_all(&self.pool)
        .await?;
        Ok(collect(&rows)?.pop())
    }

    /// How often a player was before another, in each game that both played to its end.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn against(&self, one: (&str, Kind), other: (&str, Kind)) -> Result<Vec<(String, Ties)>, StoreError> {
        let rows = sqlx::query(
            "SELECT m.game, CAST(SUM(CASE WHEN a.standing < b.standing THEN 1 ELSE 0 END) AS BIGINT), \
             CAST(SUM(CASE WHEN a.standing > b.standing THEN 1 ELSE 0 END) AS BIGINT), \
             CAST(SUM(CASE WHEN a.standing = b.standing THEN 1 ELSE 0 END) AS BIGINT) \
             FROM matches m \
             JOIN (SELECT match_id, MIN(standing) AS standing FROM players WHERE name = $1 AND kind = $2 GROUP BY match_id) a \
             ON a.match_id = m.id \
             JOIN (SELECT match_id, MIN(standing) AS standing FROM players WHERE name = $3 AND kind = $4 GROUP BY match_id) b \
             ON b.match_id = m.id \
             WHERE m.complete = 1 GROUP BY m.game ORDER BY m.game",
        )
        .bind(one.0)
        .bind(one.1.number())
        .bind(other.0)
        .bind(other.1.number())
        .fetch_all(&self.pool)
        .await?;
        let count = |row: &AnyRow, column: usize| row.try_get::<i64, _>(column).map(i64::unsigned_abs);
        let game = |row: &AnyRow| {
            Ok::<_, StoreError>((
                row.try_get(0)?,
                Ties { wins: count(row, 1)?, losses: count(row, 2)?, ties: count(row, 3)? },
            ))
        };
        rows.iter().map(game).collect()
    }
}

fn collect(rows: &[AnyRow]) -> Result<Vec<Match>, StoreError> {
    let mut matches: Vec<Match> = vec![];
    for row in rows {
        let id: String = row.try_get(0)?;
        if matches.last().is_none_or(|last| last.id != id) {
            matches.push(match_of(row, id)?);
        }
        let rating: i64 = row.try_get(16)?;
        let player = MatchPlayer {
            rank: small(row.try_get(11)?),
            name: row.try_get(12)?,
            kind: Kind::from_number(row.try_get(13)?),
            seat: row.try_get(14)?,
            score: row.try_get(15)?,
            rating: (rating != 0).then_some(rating),
        };
        if let Some(last) = matches.last_mut() {
            last.players.push(player);
        }
    }
    Ok(matches)
}

fn match_of(row: &AnyRow, id: String) -> Result<Match, sqlx::Error> {
    let number = |column: usize| row.try_get::<i64, _>(column).map(|number| u64::try_from(number).unwrap_or(0));
    Ok(Match {
        id,
        game: row.try_get(1)?,
        title: row.try_get(2)?,
        room: row.try_get(3)?,
        journal: row.try_get(4)?,
        number: small(row.try_get(5)?),
        begins: number(6)?,
        ends: number(7)?,
        started: number(8)?,
        ended: number(9)?,
        complete: number(10)? == 1,
        players: vec![],
    })
}

fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}
