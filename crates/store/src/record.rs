//! Stores a match and rates its players.

use std::collections::BTreeMap;

use crate::{
    Kind, Match, Store, StoreError,
    connection::Connection,
    database::twice,
    leaders::average,
    names::note_use,
    rating::{rate, shown},
};
use skillratings::weng_lin::WengLinRating;

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
        twice!(self.writer, self.try_record(new))
    }

    // Any error, also one in between, closes the connection: then nothing of the transaction is stored.
    async fn try_record(&self, new: &NewMatch) -> Result<bool, StoreError> {
        let mut writer = self.writer.lease().await?;
        writer.begin().await?;
        let text = "INSERT INTO matches (id, game, title, room, journal, number, begins, ends, started, ended, complete) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING";
        let values = [
            (&new.id).into(),
            (&new.game).into(),
            (&new.title).into(),
            (&new.room).into(),
            (&new.journal).into(),
            i64::from(new.number).into(),
            new.begins.into(),
            new.ends.into(),
            new.started.into(),
            new.ended.into(),
            i64::from(new.complete).into(),
        ];
        let is_new = writer.execute(text, &values).await? == 1;
        if is_new {
            store_players(&mut writer, new).await?;
        }
        writer.execute("COMMIT", &[]).await?;
        writer.done();
        Ok(is_new)
    }
}

async fn store_players(writer: &mut Connection, new: &NewMatch) -> Result<(), StoreError> {
    let ratings = if new.complete { rate_players(writer, new).await? } else { BTreeMap::new() };
    for (place, player) in (0_i64..).zip(&new.players) {
        let rating = ratings.get(&(player.name.as_str(), player.kind)).copied().unwrap_or(0);
        let text = "INSERT INTO players (match_id, place, standing, name, kind, seat, score, rating, game, ended) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let values = [
            (&new.id).into(),
            place.into(),
            i64::from(player.rank).into(),
            (&player.name).into(),
            player.kind.number().into(),
            (&player.seat).into(),
            player.score.into(),
            rating.into(),
            (&new.game).into(),
            new.ended.into(),
        ];
        writer.execute(text, &values).await?;
        if player.kind == Kind::Proven {
            note_use(writer, &player.name).await?;
        }
    }
    if new.players.iter().any(|player| player.kind != Kind::Bot) {
        let text = "INSERT INTO journals (file, room, title, examined, people) VALUES ($1, $2, $3, 0, 1) \
                    ON CONFLICT (file) DO UPDATE SET people = 1";
        writer.execute(text, &[(&new.journal).into(), (&new.room).into(), (&new.title).into()]).await?;
    }
    Ok(())
}

// Updates what is known of each person in the match; returns the ratings that are shown. A person with several seats counts
// with the best of them, so nobody gains by playing against itself.
async fn rate_players<'a>(writer: &mut Connection, new: &'a NewMatch) -> Result<BTreeMap<Person<'a>, i64>, StoreError> {
    let mut persons: Vec<(Person<'a>, &Entry)> = vec![];
    for player in &new.players {
        let person = (player.name.as_str(), player.kind);
        if !persons.iter().any(|(known, _)| *known == person) {
            persons.push((person, player));
        }
    }
    let mut records = vec![];
    for &((name, kind), entry) in &persons {
        records.push((known(writer, &new.game, name, kind).await?, entry.rank));
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
        let (matches, score) = (record.matches.saturating_add(1), record.score.saturating_add(entry.score));
        let text = "INSERT INTO ratings (game, name, kind, mean, deviation, rating, matches, wins, score, average) \
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
                    ON CONFLICT (game, name, kind) DO UPDATE SET mean = excluded.mean, deviation = excluded.deviation, \
                    rating = excluded.rating, matches = excluded.matches, wins = excluded.wins, score = excluded.score, \
                    average = excluded.average";
        let values = [
            (&new.game).into(),
            person.0.into(),
            person.1.number().into(),
            record.rating.rating.into(),
            record.rating.uncertainty.into(),
            rating.into(),
            matches.into(),
            record.wins.saturating_add(i64::from(entry.won)).into(),
            score.into(),
            average(score, matches).into(),
        ];
        writer.execute(text, &values).await?;
    }
    Ok(ratings)
}

async fn known(writer: &mut Connection, game: &str, name: &str, kind: Kind) -> Result<Record, StoreError> {
    let text = "SELECT mean, deviation, matches, wins, score FROM ratings WHERE game = $1 AND name = $2 AND kind = $3";
    let row = writer.row(text, &[game.into(), name.into(), kind.number().into()]).await?;
    let Some(row) = row else { return Ok(Record::default()) };
    Ok(Record {
        rating: WengLinRating { rating: row.real(0)?, uncertainty: row.real(1)? },
        matches: row.integer(2)?,
        wins: row.integer(3)?,
        score: row.integer(4)?,
    })
}
