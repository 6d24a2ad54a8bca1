//! How far the results of journals are stored and, for journals of earlier versions, their rooms and seats.

use std::{
    collections::HashMap,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{PlayerKind, Store, StoreError, connection::Row};

/// For matches without a recorded class: their class, and the reason why they are casual.
pub const EARLIER: &str = "earlier";
const PAGE: i64 = 1_000;

/// Only earlier versions set `class` and `casual`. `room` and `title` may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalNote {
    pub room: String,
    pub title: String,
    /// As in [`Match::class`](crate::Match::class).
    pub class: String,
    /// As in [`Match::casual`](crate::Match::casual).
    pub casual: String,
    /// Results before this position in the journal are stored.
    pub examined: u64,
    /// Where a replay must start to find further results: all matches that started before are over and stored.
    pub known: RoomTime,
    /// People have played in its matches.
    pub people: bool,
}

impl Default for JournalNote {
    fn default() -> Self {
        let (room, title) = (String::new(), String::new());
        let (class, casual) = (EARLIER.to_owned(), EARLIER.to_owned());
        Self { room, title, class, casual, examined: 0, known: RoomTime::default(), people: false }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct SeatRecord {
    pub kind: PlayerKind,
    /// As [`MatchPlayer::host`](crate::MatchPlayer::host).
    pub host: String,
    /// As [`MatchPlayer::level`](crate::MatchPlayer::level).
    pub level: String,
}

/// A time of a room, and its relation to real time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoomTime {
    /// In microseconds.
    pub until: u64,
    /// When the time of the room was zero, in milliseconds since the Unix epoch. The room's time stops while the hub is
    /// down.
    pub zero: u64,
}

impl RoomTime {
    /// In milliseconds since the Unix epoch.
    #[must_use]
    pub const fn unix(self) -> u64 {
        self.zero.saturating_add(self.until / 1_000)
    }
}

impl Store {
    pub async fn note_examined(&self, file: &str, position: u64, known: RoomTime) -> Result<(), StoreError> {
        let text = "INSERT INTO journals (file, room, title, examined, known, zero) VALUES ($1, '', '', $2, $3, $4) \
                    ON CONFLICT (file) DO UPDATE SET examined = excluded.examined, known = excluded.known, zero = excluded.zero";
        let values = [file.into(), position.into(), known.until.into(), known.zero.into()];
        self.execute(text, &values).await.map(drop)
    }

    /// Returns the default if the journal is unknown.
    pub async fn journal(&self, file: &str) -> Result<JournalNote, StoreError> {
        let text =
            "SELECT file, room, title, examined, class, casual, known, zero, people FROM journals WHERE file = $1";
        let row = self.row(text, &[file.into()]).await?;
        row.map_or_else(|| Ok(JournalNote::default()), |row| note_of(&row))
    }

    /// Keyed by file name.
    pub async fn journals(&self) -> Result<HashMap<String, JournalNote>, StoreError> {
        let mut journals = HashMap::new();
        let mut last = String::new();
        loop {
            let text = "SELECT file, room, title, examined, class, casual, known, zero, people FROM journals WHERE file > $1 ORDER BY file LIMIT $2";
            let rows = self.rows(text, &[(&last).into(), PAGE.into()]).await?;
            let Some(end) = rows.last() else { return Ok(journals) };
            last = end.text(0)?;
            for row in &rows {
                journals.insert(row.text(0)?, note_of(row)?);
            }
        }
    }

    /// Deletes the record of a removed journal but not its matches, and the seats of its room if the room has no other
    /// journal.
    pub async fn delete_journal(&self, file: &str, room: &str) -> Result<(), StoreError> {
        self.execute("DELETE FROM journals WHERE file = $1", &[file.into()]).await?;
        let text = "DELETE FROM seats WHERE room = $1 AND NOT EXISTS (SELECT 1 FROM journals WHERE room = $1)";
        self.execute(text, &[room.into()]).await.map(drop)
    }

    /// The seats that earlier versions recorded, keyed by address and name.
    pub async fn seats(&self, room: &str) -> Result<HashMap<(String, String), SeatRecord>, StoreError> {
        let text = "SELECT address, name, kind, host, level FROM seats WHERE room = $1";
        let rows = self.rows(text, &[room.into()]).await?;
        let seat = |row: &Row| {
            let kind = PlayerKind::from_number(row.integer(2)?);
            Ok(((row.text(0)?, row.text(1)?), SeatRecord { kind, host: row.text(3)?, level: row.text(4)? }))
        };
        rows.iter().map(seat).collect()
    }
}

fn note_of(row: &Row) -> Result<JournalNote, StoreError> {
    let (room, title, examined) = (row.text(1)?, row.text(2)?, row.number(3)?);
    let known = RoomTime { until: row.number(6)?, zero: row.number(7)? };
    let (class, casual, people) = (row.text(4)?, row.text(5)?, row.integer(8)? == 1);
    Ok(JournalNote { room, title, class, casual, examined, known, people })
}

/// In milliseconds since the Unix epoch.
pub fn unix_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
