use std::cmp::Reverse;

use skillratings::weng_lin::WengLinRating;

use crate::{
    MAX_PAGE, PlayerKind, Store, StoreError,
    connection::Row,
    rating::{drifted, fixed, rounded, sure, uncertainty},
};

const MAX_HISTORY: i64 = 200;
const MAX_BOARDS: i64 = 200;
/// A query reads this many times the requested number of rows, because the stored order ignores inactivity.
const MARGIN: u32 = 2;
/// 50 years.
const MAX_SEASONS: usize = 200;

/// The matches of a class of a game in a season.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board<'a> {
    pub game: &'a str,
    /// As in [`Match::class`](crate::Match::class).
    pub class: &'a str,
    /// Such as `2026-4`, or [`ALL_TIME`](crate::ALL_TIME).
    pub season: &'a str,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Leader {
    /// From 1; equal players share a rank.
    pub rank: u32,
    pub name: String,
    pub kind: PlayerKind,
    pub score: Score,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    pub rating: i64,
    pub uncertainty: i64,
    /// Whether the player has [`RANKED_AFTER`](crate::RANKED_AFTER) matches.
    pub ranked: bool,
    /// Excludes casual matches.
    pub matches: u64,
    pub wins: u64,
    /// In the game's own unit.
    pub mean_score: f64,
    /// The ends of the newest rated matches, in milliseconds since the Unix epoch, with the rating after each, oldest
    /// first.
    pub history: Vec<(u64, i64)>,
    // The sort key of boards.
    sure: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Highest first.
    Rating,
    /// Lowest first: for single-player games, where the score is the effort.
    LowestScore,
}

/// The columns in the order that [`score`] expects.
macro_rules! columns {
    () => {
        "name, kind, mean, deviation, last, ranked, matches, wins, score"
    };
}

impl Store {
    /// The ranked or the provisional players as of `now`, in milliseconds since the Unix epoch, best first.
    pub async fn leaders(
        &self,
        board: Board<'_>,
        (order, ranked): (Order, bool),
        limit: u32,
        now: u64,
    ) -> Result<Vec<Leader>, StoreError> {
        let text = match order {
            Order::Rating => concat!(
                "SELECT ",
                columns!(),
                " FROM standings WHERE game = $1 AND class = $2 AND season = $3 AND ranked = $4 \
                 ORDER BY sure DESC, matches DESC, name, kind LIMIT $5"
            ),
            Order::LowestScore => concat!(
                "SELECT ",
                columns!(),
                " FROM standings WHERE game = $1 AND class = $2 AND season = $3 AND ranked = $4 \
                 ORDER BY average, matches DESC, name, kind LIMIT $5"
            ),
        };
        let limit = limit.min(MAX_PAGE);
        let Board { game, class, season } = board;
        let most = i64::from(limit.saturating_mul(MARGIN));
        let values = [game.into(), class.into(), season.into(), i64::from(ranked).into(), most.into()];
        let mut leaders: Vec<Leader> = vec![];
        for row in self.rows(text, &values).await? {
            let (name, kind) = (row.text(0)?, PlayerKind::from_number(row.integer(1)?));
            let score = score(&row, class, now)?;
            leaders.push(Leader { rank: 0, name, kind, score });
        }
        if order == Order::Rating {
            // The sort is stable: equal players keep their order.
            leaders.sort_by_key(|leader| Reverse(leader.score.sure));
        }
        leaders.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let is_tied = |one: &Score, other: &Score| match order {
            Order::Rating => one.sure == other.sure,
            Order::LowestScore => one.mean_score.total_cmp(&other.mean_score).is_eq(),
        };
        for (at, place) in (0..leaders.len()).zip(1..) {
            let tied = at.checked_sub(1).map(|before| &leaders[before]);
            let tied = tied.filter(|before| is_tied(&before.score, &leaders[at].score)).map(|before| before.rank);
            leaders[at].rank = tied.unwrap_or(place);
        }
        Ok(leaders)
    }

    /// The displayed rating as of `now`, and its uncertainty; `None` if the player is not on the board.
    pub async fn rating(
        &self,
        Board { game, class, season }: Board<'_>,
        (name, kind): (&str, PlayerKind),
        now: u64,
    ) -> Result<Option<(i64, i64)>, StoreError> {
        let text = concat!(
            "SELECT ",
            columns!(),
            " FROM standings WHERE game = $1 AND class = $2 AND season = $3 AND name = $4 AND kind = $5"
        );
        let values = [game.into(), class.into(), season.into(), name.into(), kind.number().into()];
        let row = self.row(text, &values).await?;
        row.map(|row| score(&row, class, now).map(|score| (score.rating, score.uncertainty))).transpose()
    }

    /// Oldest first.
    pub async fn seasons(&self) -> Result<Vec<String>, StoreError> {
        let mut seasons: Vec<String> = vec![];
        while seasons.len() < MAX_SEASONS {
            // One query per season, since a season has any number of players.
            let last = seasons.last().map_or("", String::as_str);
            let text = "SELECT season FROM standings WHERE season > $1 ORDER BY season LIMIT 1";
            let Some(row) = self.row(text, &[last.into()]).await? else { break };
            seasons.push(row.text(0)?);
        }
        Ok(seasons)
    }

    /// The kinds with which a name has played: proven, unproven, bot.
    pub async fn kinds(&self, name: &str) -> Result<Vec<PlayerKind>, StoreError> {
        // One query per kind, since a player may have played any number of matches.
        let mut kinds = vec![];
        for kind in [PlayerKind::Proven, PlayerKind::Unproven, PlayerKind::Bot] {
            let values = [name.into(), kind.number().into()];
            let text = "SELECT match_id FROM players WHERE name = $1 AND kind = $2 LIMIT 1";
            // Bots are rated under another name.
            let rated = "SELECT class FROM standings WHERE name = $1 AND kind = $2 LIMIT 1";
            if self.row(text, &values).await?.is_some() || self.row(rated, &values).await?.is_some() {
                kinds.push(kind);
            }
        }
        Ok(kinds)
    }

    /// The scores of a player as of `now`, sorted by game and class.
    pub async fn scores(
        &self,
        (name, kind): (&str, PlayerKind),
        season: &str,
        now: u64,
    ) -> Result<Vec<(String, String, Score)>, StoreError> {
        let text = concat!(
            "SELECT ",
            columns!(),
            ", game, class FROM standings WHERE name = $1 AND kind = $2 AND season = $3 ORDER BY game, class LIMIT $4"
        );
        let values = [name.into(), kind.number().into(), season.into(), MAX_BOARDS.into()];
        let mut scores = vec![];
        for row in &self.rows(text, &values).await? {
            let (game, class) = (row.text(9)?, row.text(10)?);
            let history = self.history((&game, &class), (name, kind)).await?;
            let score = score(row, &class, now)?;
            scores.push((game, class, Score { history, ..score }));
        }
        Ok(scores)
    }

    async fn history(
        &self,
        (game, class): (&str, &str),
        (name, kind): (&str, PlayerKind),
    ) -> Result<Vec<(u64, i64)>, StoreError> {
        // A player with several seats in a match has several rows.
        let text = "SELECT ended, MAX(rating) FROM players \
                    WHERE name = $1 AND kind = $2 AND game = $3 AND class = $4 AND rating > 0 \
                    GROUP BY ended, match_id ORDER BY ended DESC, match_id DESC LIMIT $5";
        let values = [name.into(), kind.number().into(), game.into(), class.into(), MAX_HISTORY.into()];
        let rows = self.rows(text, &values).await?;
        rows.iter().rev().map(|row| Ok((row.number(0)?, row.integer(1)?))).collect()
    }
}

fn score(row: &Row, class: &str, now: u64) -> Result<Score, StoreError> {
    let rating = WengLinRating { rating: row.real(2)?, uncertainty: row.real(3)? };
    let drifted = drifted(rating, now.saturating_sub(row.number(4)?));
    let rating = fixed(class, (&row.text(0)?, PlayerKind::from_number(row.integer(1)?))).unwrap_or(drifted);
    let (matches, sum) = (row.integer(6)?, row.integer(8)?);
    Ok(Score {
        rating: rounded(rating),
        uncertainty: uncertainty(rating),
        ranked: row.integer(5)? == 1,
        matches: matches.unsigned_abs(),
        wins: row.integer(7)?.unsigned_abs(),
        mean_score: average(sum, matches),
        history: vec![],
        sure: sure(rating),
    })
}

/// The sort key of boards with [`Order::LowestScore`].
#[expect(clippy::cast_precision_loss, reason = "a mean that is shown with two digits")]
pub(crate) fn average(sum: i64, matches: i64) -> f64 {
    sum as f64 / matches.max(1) as f64
}
