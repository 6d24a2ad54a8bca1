//! Leaderboards, and what is known of a player.

use sqlx::{Row as _, any::AnyRow};

use crate::{Kind, MAX_PAGE, Store, StoreError};

/// Points of a player's history of one game.
const MAX_HISTORY: i64 = 200;

/// A row of a leaderboard.
#[derive(Debug, Clone, PartialEq)]
pub struct Leader {
    /// The place, from 1; equals share one.
    pub rank: u32,
    /// The name.
    pub name: String,
    /// How far it is to be trusted.
    pub kind: Kind,
    /// What is known of it.
    pub score: Score,
}

/// What is known of a player in one game.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The rating that is shown.
    pub rating: i64,
    /// Matches that were played to their end.
    pub matches: u64,
    /// Those in which it was first.
    pub wins: u64,
    /// The mean of its scores in the game's own unit.
    pub mean_score: f64,
    /// When a rated match ended, in milliseconds since the Unix epoch, and the rating after it. Oldest first, the newest only.
    pub history: Vec<(u64, i64)>,
}

/// What a leaderboard is ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The rating, highest first: games in which players meet.
    Rating,
    /// The mean score, lowest first: games that are played alone, where the score is what it took.
    LowestScore,
}

impl Store {
    /// The best players of a game.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn leaders(&self, game: &str, order: Order, limit: u32) -> Result<Vec<Leader>, StoreError> {
        let text = match order {
            Order::Rating => {
                "SELECT name, kind, rating, matches, wins, score FROM ratings WHERE game = $1 \
                 ORDER BY rating DESC, matches DESC, name, kind LIMIT $2"
            }
            Order::LowestScore => {
                "SELECT name, kind, rating, matches, wins, score FROM ratings WHERE game = $1 \
                 ORDER BY CAST(score AS DOUBLE PRECISION) / matches, matches DESC, name, kind LIMIT $2"
            }
        };
        let rows = sqlx::query(text).bind(game).bind(i64::from(limit.min(MAX_PAGE))).fetch_all(&self.pool).await?;
        let mut leaders: Vec<Leader> = vec![];
        for (row, place) in rows.iter().zip(1..) {
            let score = score(row)?;
            let is_tied = |last: &Leader| match order {
                Order::Rating => last.score.rating == score.rating,
                Order::LowestScore => last.score.mean_score.total_cmp(&score.mean_score).is_eq(),
            };
            let rank = leaders.last().filter(|last| is_tied(last)).map_or(place, |last| last.rank);
            leaders.push(Leader { rank, name: row.try_get(0)?, kind: Kind::from_number(row.try_get(1)?), score });
        }
        Ok(leaders)
    }

    /// The kinds in which a name has played, best known first: proven, unproven, bot.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn kinds(&self, name: &str) -> Result<Vec<Kind>, StoreError> {
        let rows =
            sqlx::query("SELECT DISTINCT kind FROM players WHERE name = $1").bind(name).fetch_all(&self.pool).await?;
        let mut kinds = vec![];
        for row in &rows {
            kinds.push(Kind::from_number(row.try_get(0)?));
        }
        kinds.sort_by_key(|kind| match kind {
            Kind::Proven => 0,
            Kind::Unproven => 1,
            Kind::Bot => 2,
        });
        Ok(kinds)
    }

    /// What is known of a player, game by game.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn scores(&self, name: &str, kind: Kind) -> Result<Vec<(String, Score)>, StoreError> {
        let rows = sqlx::query(
            "SELECT name, kind, rating, matches, wins, score, game FROM ratings WHERE name = $1 AND kind = $2 ORDER BY game",
        )
        .bind(name)
        .bind(kind.number())
        .fetch_all(&self.pool)
        .await?;
        let mut scores = vec![];
        for row in &rows {
            let game: String = row.try_get(6)?;
            let history = self.history(&game, name, kind).await?;
            scores.push((game, Score { history, ..score(row)? }));
        }
        Ok(scores)
    }

    async fn history(&self, game: &str, name: &str, kind: Kind) -> Result<Vec<(u64, i64)>, StoreError> {
        let rows = sqlx::query(
            "SELECT m.ended, MAX(p.rating) FROM players p JOIN matches m ON m.id = p.match_id \
             WHERE m.game = $1 AND p.name = $2 AND p.kind = $3 AND p.rating > 0 \
             GROUP BY m.id, m.ended ORDER BY m.ended DESC, m.id DESC LIMIT $4",
        )
        .bind(game)
        .bind(name)
        .bind(kind.number())
        .bind(MAX_HISTORY)
        .fetch_all(&self.pool)
        .await?;
        let point = |row: &AnyRow| {
            Ok::<_, StoreError>((u64::try_from(row.try_get::<i64, _>(0)?).unwrap_or(0), row.try_get(1)?))
        };
        rows.iter().rev().map(point).collect()
    }
}

// The columns 2 to 5: rating, matches, wins and the sum of scores.
fn score(row: &AnyRow) -> Result<Score, sqlx::Error> {
    let matches: i64 = row.try_get(3)?;
    let sum: i64 = row.try_get(5)?;
    #[expect(clippy::cast_precision_loss, reason = "a mean that is shown with two digits")]
    let mean_score = sum as f64 / matches.max(1) as f64;
    Ok(Score {
        rating: row.try_get(2)?,
        matches: matches.unsigned_abs(),
        wins: row.try_get::<i64, _>(4)?.unsigned_abs(),
        mean_score,
        history: vec![],
    })
}
