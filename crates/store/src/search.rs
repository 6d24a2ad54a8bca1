//! Searches for matches. A query contains only the given conditions, so that an index can answer it, and reads a
//! bounded number of rows.

use std::{cmp::Ordering, collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};
use sqlx::AssertSqlSafe;

use crate::{
    MAX_PAGE, Match, PlayerKind, Store, StoreError,
    connection::Value,
    matches::{collect, columns},
};

/// How many matches a search for two players examines: the newest ones of the player with fewer matches.
pub const MAX_MEETINGS: i64 = 2_048;

/// An empty text matches all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MatchFilter {
    pub game: String,
    pub player: String,
    pub kind: Option<PlayerKind>,
    /// An opponent, if a player is given.
    pub against: String,
    pub against_kind: Option<PlayerKind>,
    /// Only matches that ended before the one with this id.
    pub before: String,
    /// Up to [`MAX_PAGE`].
    pub limit: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ties {
    pub wins: u64,
    pub losses: u64,
    pub ties: u64,
}

/// `None` is any kind.
type Person<'a> = (&'a str, Option<PlayerKind>);

#[derive(Debug, Default)]
struct Statement<'a> {
    text: String,
    values: Vec<Value<'a>>,
}

impl<'a> Statement<'a> {
    fn add(&mut self, text: &str) -> &mut Self {
        self.text += text;
        self
    }

    fn value(&mut self, value: impl Into<Value<'a>>) -> &mut Self {
        self.values.push(value.into());
        let _ = write!(self.text, "${}", self.values.len());
        self
    }

    // Selects the newest matches before the given one: the newest of each kind, and of those the newest overall.
    fn newest(&mut self, (name, kind): Person<'a>, game: &'a str, (ended, id): (i64, &'a str), limit: i64) {
        let all = [PlayerKind::Unproven, PlayerKind::Proven, PlayerKind::Bot];
        let kinds = kind.as_ref().map_or(&all[..], std::slice::from_ref);
        self.add("SELECT DISTINCT ended, match_id FROM (");
        for (number, kind) in kinds.iter().enumerate() {
            self.add(if number == 0 { "" } else { " UNION ALL " });
            // A player with several seats in a match has several rows.
            self.add("SELECT ended, match_id FROM (SELECT ended, match_id FROM players WHERE name = ").value(name);
            self.add(" AND kind = ").value(kind.number());
            if !game.is_empty() {
                self.add(" AND game = ").value(game);
            }
            self.add(" AND (ended, match_id) < (").value(ended).add(", ").value(id);
            self.add(") GROUP BY ended, match_id ORDER BY ended DESC, match_id DESC LIMIT ").value(limit);
            let _ = write!(self.text, ") k{number}");
        }
        self.add(") own ORDER BY ended DESC, match_id DESC LIMIT ").value(limit);
    }

    // The condition that the row `a` of the players is a seat of this person in the match `w`.
    fn seat_of(&mut self, (name, kind): Person<'a>) -> &mut Self {
        let kinds = kind.map_or((0, 2), |kind| (kind.number(), kind.number()));
        self.add("a.name = ").value(name).add(" AND a.kind IN (").value(kinds.0);
        for kind in kinds.0 + 1..=kinds.1 {
            self.add(", ").value(kind);
        }
        self.add(") AND a.ended = w.ended AND a.match_id = w.match_id")
    }
}

const END: (i64, &str) = (i64::MAX, "");

impl Store {
    /// Searches the newest 10,000 matches of the game. Newest first.
    pub async fn newest_of_class(&self, game: &str, class: &str, count: usize) -> Result<Vec<Match>, StoreError> {
        let text = concat!(
            "SELECT ",
            columns!(),
            " FROM (SELECT id FROM (SELECT id, ended, class FROM matches WHERE game = $1 ORDER BY ended DESC, id DESC \
             LIMIT 10000) near WHERE class = $2 ORDER BY ended DESC, id DESC LIMIT $3) newest \
             JOIN matches m ON m.id = newest.id JOIN players p ON p.match_id = m.id ORDER BY m.ended DESC, m.id DESC, p.place"
        );
        let count = i64::try_from(count).unwrap_or(i64::MAX).min(MAX_PAGE.into());
        collect(&self.rows(text, &[game.into(), class.into(), count.into()]).await?)
    }

    /// Newest first.
    pub async fn matches(&self, filter: &MatchFilter) -> Result<Vec<Match>, StoreError> {
        let limit = i64::from(filter.limit.min(MAX_PAGE));
        let mut before = END;
        if !filter.before.is_empty() {
            let row = self.row("SELECT ended FROM matches WHERE id = $1", &[(&filter.before).into()]).await?;
            let Some(row) = row else { return Ok(vec![]) };
            before = (row.integer(0)?, &filter.before);
        }
        let mut statement = Statement::default();
        statement.add(concat!("SELECT ", columns!(), " FROM ("));
        if filter.player.is_empty() {
            statement.add("SELECT id AS match_id FROM matches WHERE ");
            if !filter.game.is_empty() {
                statement.add("game = ").value(&filter.game).add(" AND ");
            }
            statement.add("(ended, id) < (").value(before.0).add(", ").value(before.1);
            statement.add(") ORDER BY ended DESC, id DESC LIMIT ").value(limit);
        } else if filter.against.is_empty() {
            statement.newest((&filter.player, filter.kind), &filter.game, before, limit);
        } else {
            let (one, other) = (&filter.player, filter.kind);
            let pair = self.rarer((one, other), (&filter.against, filter.against_kind)).await?;
            statement.add("SELECT ended, match_id FROM (");
            statement.newest(pair.0, &filter.game, before, MAX_MEETINGS);
            statement.add(") w WHERE EXISTS (SELECT 1 FROM players a WHERE ").seat_of(pair.1);
            statement.add(") ORDER BY ended DESC, match_id DESC LIMIT ");
            statement.value(limit);
        }
        statement.add(
            ") f JOIN matches m ON m.id = f.match_id JOIN players p ON p.match_id = m.id \
             ORDER BY m.ended DESC, m.id DESC, p.place",
        );
        let Statement { text, values } = statement;
        collect(&self.rows(AssertSqlSafe(text), &values).await?)
    }

    /// For each game, how often `one` ranked before, behind and equal to `other` in complete matches. Examines
    /// [`MAX_MEETINGS`] matches.
    pub async fn against(
        &self,
        one: (&str, PlayerKind),
        other: (&str, PlayerKind),
    ) -> Result<Vec<(String, Ties)>, StoreError> {
        let (first, second) = self.rarer((one.0, Some(one.1)), (other.0, Some(other.1))).await?;
        let is_swapped = first != (one.0, Some(one.1));
        let mut statement = Statement::default();
        statement.add("SELECT m.game");
        for person in [first, second] {
            // The best of several seats.
            statement.add(", (SELECT MIN(standing) FROM players a WHERE ").seat_of(person).add(")");
        }
        statement.add(" FROM (").newest(first, "", END, MAX_MEETINGS);
        statement.add(
            ") w JOIN matches m ON m.id = w.match_id WHERE m.complete = 1 AND EXISTS (SELECT 1 FROM players a WHERE ",
        );
        statement.seat_of(second).add(")");
        let Statement { text, values } = statement;
        let mut games: BTreeMap<String, Ties> = BTreeMap::new();
        for row in self.rows(AssertSqlSafe(text), &values).await? {
            let ties = games.entry(row.text(0)?).or_default();
            let (ours, theirs) = (row.integer(1)?, row.integer(2)?);
            let count = match if is_swapped { theirs.cmp(&ours) } else { ours.cmp(&theirs) } {
                Ordering::Less => &mut ties.wins,
                Ordering::Greater => &mut ties.losses,
                Ordering::Equal => &mut ties.ties,
            };
            *count += 1;
        }
        Ok(games.into_iter().collect())
    }

    // The person with fewer matches first, so that common matches are found even if the other has played very many.
    async fn rarer<'a>(&self, one: Person<'a>, other: Person<'a>) -> Result<(Person<'a>, Person<'a>), StoreError> {
        let counts = (self.count(one).await?, self.count(other).await?);
        // The order does not depend on the order of the arguments.
        let is_ordered = counts.0 < counts.1 || (counts.0 == counts.1 && one <= other);
        Ok(if is_ordered { (one, other) } else { (other, one) })
    }

    async fn count(&self, person: Person<'_>) -> Result<i64, StoreError> {
        let mut statement = Statement::default();
        statement.add("SELECT COUNT(*) FROM (");
        statement.newest(person, "", END, MAX_MEETINGS);
        statement.add(") c");
        let Statement { text, values } = statement;
        self.row(AssertSqlSafe(text), &values).await?.map_or(Ok(0), |row| row.integer(0))
    }
}
