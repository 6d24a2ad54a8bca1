use crate::{ChallengeScore, PlayerKind, Store, StoreError, connection::Row};

pub const MAX_PAGE: u32 = 100;

/// A finished match. Hubs of different versions exchange it as JSON, so every added field needs a default.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Match {
    /// Permanent; derived from the journal.
    pub id: String,
    pub game: String,
    pub title: String,
    pub room: String,
    pub journal: String,
    /// The number of the match in its journal.
    pub number: u32,
    /// In microseconds of room time, like `ends`.
    pub begins: u64,
    pub ends: u64,
    /// In milliseconds since the Unix epoch, like `ended`.
    pub started: u64,
    pub ended: u64,
    pub complete: bool,
    /// The class of the boards on which the match counts.
    #[serde(default)]
    pub class: String,
    /// Why the match does not count; empty if it counts.
    #[serde(default)]
    pub casual: String,
    /// Used to count the match, but not stored with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub challenge: Option<ChallengeScore>,
    /// Best first. A match without players is not stored.
    pub players: Vec<MatchPlayer>,
}

/// `won`, `host` and `level` are only used to count the match: the database does not store them, and returns their
/// defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct MatchPlayer {
    /// From 1; players with equal scores may share a rank.
    pub rank: u32,
    pub name: String,
    pub kind: PlayerKind,
    pub seat: String,
    /// In the game's own unit.
    pub score: i64,
    pub won: bool,
    /// The player left before the end, which counts as the last rank.
    pub quit: bool,
    /// The displayed rating after the match, set when the match is counted, if it is rated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<i64>,
    /// The code of the player's host on that day; empty if unknown.
    #[serde(default)]
    pub host: String,
    /// The level of a bot, as in the name of its rating; empty for other players, and if unknown.
    #[serde(default)]
    pub level: String,
}

/// The columns in the order that [`collect`] expects.
macro_rules! columns {
    () => {
        "m.id, m.game, m.title, m.room, m.journal, m.number, m.begins, m.ends, m.started, m.ended, m.complete, \
         p.standing, p.name, p.kind, p.seat, p.score, p.rating, p.quit, m.class, m.casual"
    };
}
pub(crate) use columns;

impl Store {
    pub async fn find(&self, id: &str) -> Result<Option<Match>, StoreError> {
        let text = concat!(
            "SELECT ",
            columns!(),
            " FROM matches m JOIN players p ON p.match_id = m.id WHERE m.id = $1 ORDER BY p.place"
        );
        Ok(collect(&self.rows(text, &[id.into()]).await?)?.pop())
    }
}

/// The rows of a match must be adjacent.
pub(crate) fn collect(rows: &[Row]) -> Result<Vec<Match>, StoreError> {
    let mut matches: Vec<Match> = vec![];
    for row in rows {
        let id = row.text(0)?;
        if matches.last().is_none_or(|last| last.id != id) {
            matches.push(match_of(row, id)?);
        }
        let rating = row.integer(16)?;
        let player = MatchPlayer {
            rank: small(row.integer(11)?),
            name: row.text(12)?,
            kind: PlayerKind::from_number(row.integer(13)?),
            seat: row.text(14)?,
            score: row.integer(15)?,
            rating: (rating != 0).then_some(rating),
            quit: row.integer(17)? == 1,
            ..MatchPlayer::default()
        };
        if let Some(last) = matches.last_mut() {
            last.players.push(player);
        }
    }
    Ok(matches)
}

fn match_of(row: &Row, id: String) -> Result<Match, StoreError> {
    Ok(Match {
        id,
        game: row.text(1)?,
        title: row.text(2)?,
        room: row.text(3)?,
        journal: row.text(4)?,
        number: small(row.integer(5)?),
        begins: row.number(6)?,
        ends: row.number(7)?,
        started: row.number(8)?,
        ended: row.number(9)?,
        complete: row.integer(10)? == 1,
        class: row.text(18)?,
        casual: row.text(19)?,
        challenge: None,
        players: vec![],
    })
}

fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}
