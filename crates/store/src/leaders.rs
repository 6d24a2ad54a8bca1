//! Leaderboards, and what is known of a player.

use crate::{Kind, MAX_PAGE, Store, StoreError, connection::Row};

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
    pub async fn leaders(&self, game: &str, order: Order, limit: u32) -> Result<Vec<Leader>, StoreError> {
        let text = match order {
            Order::Rating => {
                "SELECT name, kind, rating, matches, wins, score FROM ratings WHERE game = $1 \
                 ORDER BY rating DESC, matches DESC, name, kind LIMIT $2"
            }
            Order::LowestScore => {
                "SELECT name, kind, rating, matches, wins, score FROM ratings WHERE game = $1 \
                 ORDER BY average, matches DESC, name, kind LIMIT $2"
            }
        };
        let rows = self.rows(text, &[game.into(), i64::from(limit.min(MAX_PAGE)).into()]).await?;
        let mut leaders: Vec<Leader> = vec![];
        for (row, place) in rows.iter().zip(1..) {
            let score = score(row)?;
            let is_tied = |last: &Leader| match order {
                Order::Rating => last.score.rating == score.rating,
                Order::LowestScore => last.score.mean_score.total_cmp(&score.mean_score).is_eq(),
            };
            let rank = leaders.last().filter(|last| is_tied(last)).map_or(place, |last| last.rank);
            leaders.push(Leader { rank, name: row.text(0)?, kind: Kind::from_number(row.integer(1)?), score });
        }
        Ok(leaders)
    }

    /// The kinds in which a name has played, best known first: proven, unproven, bot.
    pub async fn kinds(&self, name: &str) -> Result<Vec<Kind>, StoreError> {
        // Best known first. One look for each, since somebody may have played any number of matches.
        let mut kinds = vec![];
        for kind in [Kind::Proven, Kind::Unproven, Kind::Bot] {
            let text = "SELECT match_id FROM players WHERE name = $1 AND kind = $2 LIMIT 1";
            if self.row(text, &[name.into(), kind.number().into()]).await?.is_some() {
                kinds.push(kind);
            }
        }
        Ok(kinds)
    }

    /// What is known of a player, game by game.
    pub async fn scores(&self, name: &str, kind: Kind) -> Result<Vec<(String, Score)>, StoreError> {
        let text = "SELECT name, kind, rating, matches, wins, score, game FROM ratings \
                    WHERE name = $1 AND kind = $2 ORDER BY game";
        let rows = self.rows(text, &[name.into(), kind.number().into()]).await?;
        let mut scores = vec![];
        for row in &rows {
            let game = row.text(6)?;
            let history = self.history(&game, name, kind).await?;
            scores.push((game, Score { history, ..score(row)? }));
        }
        Ok(scores)
    }

    async fn history(&self, game: &str, name: &str, kind: Kind) -> Result<Vec<(u64, i64)>, StoreError> {
        // Somebody with several seats in a match has several rows.
        let text = "SELECT ended, MAX(rating) FROM players \
                    WHERE name = $1 AND kind = $2 AND game = $3 AND rating > 0 \
                    GROUP BY ended, match_id ORDER BY ended DESC, match_id DESC LIMIT $4";
        let rows = self.rows(text, &[name.into(), kind.number().into(), game.into(), MAX_HISTORY.into()]).await?;
        rows.iter().rev().map(|row| Ok((row.number(0)?, row.integer(1)?))).collect()
    }
}

// The columns 2 to 5: rating, matches, wins and the sum of scores.
fn score(row: &Row) -> Result<Score, StoreError> {
    let matches = row.integer(3)?;
    let sum = row.integer(5)?;
    let mean_score = average(sum, matches);
    Ok(Score {
        rating: row.integer(2)?,
        matches: matches.unsigned_abs(),
        wins: row.integer(4)?.unsigned_abs(),
        mean_score,
        history: vec![],
    })
}

/// The mean score: what leaderboards are ordered by.
#[expect(clippy::cast_precision_loss, reason = "a mean that is shown with two digits")]
pub(crate) fn average(sum: i64, matches: i64) -> f64 {
    sum as f64 / matches.max(1) as f64
}
