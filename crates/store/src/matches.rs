//! Matches that are stored.

use crate::{Kind, Store, StoreError, connection::Row};

/// Matches of one answer.
pub const MAX_PAGE: u32 = 100;

/// A match that is over, by default as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
    /// Whether it was played to its end.
    pub complete: bool,
    /// The board that it is for, of its game. Like every field that is added, it has a default: messages of earlier versions may wait to be
    /// stored.
    #[serde(default)]
    pub class: String,
    /// Why it does not count there; empty if it does.
    #[serde(default)]
    pub casual: String,
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
    /// Whether the player left before the end.
    pub quit: bool,
}

/// What is read of a match `m` and its players `p`, in the order in which [`collect`] takes it.
macro_rules! columns {
    () => {
        "m.id, m.game, m.title, m.room, m.journal, m.number, m.begins, m.ends, m.started, m.ended, m.complete, \
         p.standing, p.name, p.kind, p.seat, p.score, p.rating, p.quit, m.class, m.casual"
    };
}
pub(crate) use columns;

impl Store {
    /// The match with this id.
    pub async fn find(&self, id: &str) -> Result<Option<Match>, StoreError> {
        let text = concat!(
            "SELECT ",
            columns!(),
            " FROM matches m JOIN players p ON p.match_id = m.id WHERE m.id = $1 ORDER BY p.place"
        );
        Ok(collect(&self.rows(text, &[id.into()]).await?)?.pop())
    }
}

/// Puts matches together, whose players follow each other.
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
            kind: Kind::from_number(row.integer(13)?),
            seat: row.text(14)?,
            score: row.integer(15)?,
            rating: (rating != 0).then_some(rating),
            quit: row.integer(17)? == 1,
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
        players: vec![],
    })
}

fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}
