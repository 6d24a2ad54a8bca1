//! Stores a match and rates its players.

use std::collections::BTreeMap;

use skillratings::weng_lin::WengLinRating;
use sqlx::{Any, Row as _, Transaction};

use crate::{
    Kind, Match, Store, StoreError,
    rating::{rate, shown},
};

/// A match that is to be stored.
pub type NewMatch = Match<Entry>;

/// A player in the result of a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The rank, from 1; equal scores may share one.
    pub rank: u32,
    /// The name.
    pub name: String,
    /// How far it is to be trusted.
    pub kind: Kind,
    /// The seat in the game's own terms.
    pub seat: String,
    /// The score in the game's own unit.
    pub score: i64,
    /// Whether it counts as won.
    pub won: bool,
}

/// A person: a name and how far it is to be trusted.
type Person<'a> = (&'a str, Kind);

/// A row of the table of ratings.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    rating: WengLinRating,
    matches: i64,
    wins: i64,
    score: i64,
}

impl Store {
    /// Stores a match and rates its players, all or nothing. Returns `false` if it is stored already.
    ///
    /// # Errors
    /// When the database does not take it. It can be tried again.
    pub async fn record(&self, new: &NewMatch) -> Result<bool, StoreError> {
        if new.players.is_empty() {
            return Ok(false);
        }
        let mut transaction = self.begin().await?;
        let inserted = sqlx::query(
            "INSERT INTO matches (id, game, title, room, journal, number, begins, ends, started, ended, complete) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
        )
        .bind(&new.id)
        .bind(&new.game)
        .bind(&new.title)
        .bind(&new.room)
        .bind(&new.journal)
        .bind(i64::from(new.number))
        .bind(integer(new.begins))
        .bind(integer(new.ends))
        .bind(integer(new.started))
        .bind(integer(new.ended))
        .bind(i64::from(new.complete))
        .execute(&mut *transaction)
        .await?;
        if inserted.rows_affected() == 0 {
            return Ok(false);
        }
        let ratings = if new.complete { rate_players(&mut transaction, new).await? } else { BTreeMap::new() };
        for (place, player) in (0_i64..).zip(&new.players) {
            let rating = ratings.get(&(player.name.as_str(), player.kind)).copied().unwrap_or(0);
            sqlx::query(
                "INSERT INTO players (match_id, place, standing, name, kind, seat, score, rating) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            )
            .bind(&new.id)
            .bind(place)
            .bind(i64::from(player.rank))
            .bind(&player.name)
            .bind(player.kind.number())
            .bind(&player.seat)
            .bind(player.score)
            .bind(rating)
            .execute(&mut *transaction)
            .await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
}

// Updates what is known of each person in the match; returns the ratings that are shown. A person with several seats counts
// with the best of them, so nobody gains by playing against itself.
async fn rate_players<'a>(
    transaction: &mut Transaction<'static, Any>,
    new: &'a NewMatch,
) -> Result<BTreeMap<Person<'a>, i64>, StoreError> {
    let mut persons: Vec<(Person<'a>, &Entry)> = vec![];
    for player in &new.players {
        let person = (player.name.as_str(), player.kind);
        if !persons.iter().any(|(known, _)| *known == person) {
            persons.push((person, player));
        }
    }
    let mut records = vec![];
    for &((name, kind), entry) in &persons {
        records.push((known(transaction, &new.game, name, kind).await?, entry.rank));
    }
    let is_rated = persons.len() > 1;
    if is_rated {
        let before: Vec<_> = records.iter().map(|(record, rank)| (record.rating, *rank)).collect();
        for ((record, _), rating) in records.iter_mut().zip(rate(&before)) {
            record.rating = rating;
        }
    }
    let mut ratings = BTreeMap::new();
    for ((person, entry), (record, _)) in persons.into_iter().zip(records) {
        let rating = shown(record.rating);
        if is_rated {
            ratings.insert(person, rating);
        }
        sqlx::query(
            "INSERT INTO ratings (game, name, kind, mean, deviation, rating, matches, wins, score) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
             ON CONFLICT (game, name, kind) DO UPDATE SET mean = excluded.mean, deviation = excluded.deviation, \
             rating = excluded.rating, matches = excluded.matches, wins = excluded.wins, score = excluded.score",
        )
        .bind(&new.game)
        .bind(person.0)
        .bind(person.1.number())
        .bind(record.rating.rating)
        .bind(record.rating.uncertainty)
        .bind(rating)
        .bind(record.matches.saturating_add(1))
        .bind(record.wins.saturating_add(i64::from(entry.won)))
        .bind(record.score.saturating_add(entry.score))
        .execute(&mut **transaction)
        .await?;
    }
    Ok(ratings)
}

async fn known(
    transaction: &mut Transaction<'static, Any>,
    game: &str,
    name: &str,
    kind: Kind,
) -> Result<Record, StoreError> {
    let row = sqlx::query(
        "SELECT mean, deviation, matches, wins, score FROM ratings WHERE game = $1 AND name = $2 AND kind = $3",
    )
    .bind(game)
    .bind(name)
    .bind(kind.number())
    .fetch_optional(&mut **transaction)
    .await?;
    let Some(row) = row else { return Ok(Record::default()) };
    Ok(Record {
        rating: WengLinRating { rating: row.try_get(0)?, uncertainty: row.try_get(1)? },
        matches: row.try_get(2)?,
        wins: row.try_get(3)?,
        score: row.try_get(4)?,
    })
}

/// A number for the database, whose integers have a sign.
pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
