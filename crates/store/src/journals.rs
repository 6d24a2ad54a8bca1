//! What is known of journals and seats besides what is in them.

use std::{
    collections::{HashMap, HashSet},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{Kind, Store, StoreError, connection::Row, database::twice, names::note_use};

/// Seats of a room of which something is kept: those that were noted last.
pub const MAX_SEATS: i64 = 4_096;
/// The class of matches of which nobody has noted what they count for, and why they do not.
pub const EARLIER: &str = "earlier";
/// Journals that are read with one query.
const PAGE: i64 = 1_000;

/// What is known of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalNote {
    /// The room.
    pub room: String,
    /// What the room was called.
    pub title: String,
    /// What its matches count for, as in [`Match::class`](crate::Match::class).
    pub class: String,
    /// Why they do not, as in [`Match::casual`](crate::Match::casual).
    pub casual: String,
    /// The position in it up to which its results are stored.
    pub examined: u64,
}

/// Nothing is known of a journal, so its matches do not count.
impl Default for JournalNote {
    fn default() -> Self {
        let (room, title) = (String::new(), String::new());
        Self { room, title, class: EARLIER.to_owned(), casual: EARLIER.to_owned(), examined: 0 }
    }
}

/// What is known of the player at a seat besides what it says.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Seated {
    /// How far its name is to be trusted.
    pub kind: Kind,
    /// As [`Entry::host`](crate::Entry::host).
    pub host: String,
    /// As [`Entry::level`](crate::Entry::level).
    pub level: String,
}

/// How much of a journal is known: from where on it has to be replayed to find further results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Known {
    /// All matches that began before this time of the room, in microseconds, are over and stored.
    pub until: u64,
    /// When the time of the room was zero, in milliseconds since the Unix epoch. The time stands still while the hub is away.
    pub zero: u64,
}

impl Store {
    /// Notes which room a journal is of, and what its matches count for.
    pub async fn note_journal(&self, file: &str, note: &JournalNote) -> Result<(), StoreError> {
        let JournalNote { room, title, class, casual, examined: _ } = note;
        let text = "INSERT INTO journals (file, room, title, examined, class, casual) VALUES ($1, $2, $3, 0, $4, $5) \
                    ON CONFLICT (file) DO UPDATE SET room = excluded.room, title = excluded.title, class = excluded.class, \
                    casual = excluded.casual";
        self.execute(text, &[file.into(), room.into(), title.into(), class.into(), casual.into()]).await.map(drop)
    }

    /// Notes that all results of a journal up to this position are stored.
    pub async fn note_examined(&self, file: &str, position: u64, known: Known) -> Result<(), StoreError> {
        let text = "INSERT INTO journals (file, room, title, examined, known, zero) VALUES ($1, '', '', $2, $3, $4) \
                    ON CONFLICT (file) DO UPDATE SET examined = excluded.examined, known = excluded.known, zero = excluded.zero";
        let values = [file.into(), position.into(), known.until.into(), known.zero.into()];
        self.execute(text, &values).await.map(drop)
    }

    /// Records how much of a journal is known.
    pub async fn note_known(&self, file: &str, known: Known) -> Result<(), StoreError> {
        let text = "INSERT INTO journals (file, room, title, examined, known, zero) VALUES ($1, '', '', 0, $2, $3) \
                    ON CONFLICT (file) DO UPDATE SET known = excluded.known, zero = excluded.zero";
        self.execute(text, &[file.into(), known.until.into(), known.zero.into()]).await.map(drop)
    }

    /// How much of a journal is known; nothing of one that was never noted.
    pub async fn known(&self, file: &str) -> Result<Known, StoreError> {
        let row = self.row("SELECT known, zero FROM journals WHERE file = $1", &[file.into()]).await?;
        row.map_or(Ok(Known::default()), |row| Ok(Known { until: row.number(0)?, zero: row.number(1)? }))
    }

    /// The record of a journal; an empty one if there is none.
    pub async fn journal(&self, file: &str) -> Result<JournalNote, StoreError> {
        let text = "SELECT file, room, title, examined, class, casual FROM journals WHERE file = $1";
        let row = self.row(text, &[file.into()]).await?;
        row.map_or_else(|| Ok(JournalNote::default()), |row| note_in(&row))
    }

    /// The journals of matches that people have played.
    pub async fn journals_with_people(&self) -> Result<HashSet<String>, StoreError> {
        let mut files = HashSet::new();
        let mut last = String::new();
        loop {
            let text = "SELECT file, people FROM journals WHERE file > $1 ORDER BY file LIMIT $2";
            let rows = self.rows(text, &[(&last).into(), PAGE.into()]).await?;
            let Some(end) = rows.last() else { return Ok(files) };
            last = end.text(0)?;
            for row in &rows {
                if row.integer(1)? == 1 {
                    files.insert(row.text(0)?);
                }
            }
        }
    }

    /// All journals that are known, by the names of their files.
    pub async fn journals(&self) -> Result<HashMap<String, JournalNote>, StoreError> {
        let mut journals = HashMap::new();
        let mut last = String::new();
        loop {
            let text = "SELECT file, room, title, examined, class, casual FROM journals WHERE file > $1 ORDER BY file LIMIT $2";
            let rows = self.rows(text, &[(&last).into(), PAGE.into()]).await?;
            let Some(end) = rows.last() else { return Ok(journals) };
            last = end.text(0)?;
            for row in &rows {
                journals.insert(row.text(0)?, note_in(row)?);
            }
        }
    }

    /// Forgets a journal that was removed, and the seats of its room if that has no other. Its matches stay.
    pub async fn forget_journal(&self, file: &str, room: &str) -> Result<(), StoreError> {
        self.execute("DELETE FROM journals WHERE file = $1", &[file.into()]).await?;
        let text = "DELETE FROM seats WHERE room = $1 AND NOT EXISTS (SELECT 1 FROM journals WHERE room = $1)";
        self.execute(text, &[room.into()]).await.map(drop)
    }

    /// Notes what is known of whoever has the seat at this address under this name. Of a room only the newest
    /// [`MAX_SEATS`] are kept: each bot and each browser comes from an address of its own.
    pub async fn note_seat(&self, room: &str, address: &str, name: &str, seated: &Seated) -> Result<(), StoreError> {
        twice!(self.writer, self.try_note_seat(room, address, name, seated))
    }

    async fn try_note_seat(&self, room: &str, address: &str, name: &str, seated: &Seated) -> Result<(), StoreError> {
        let mut writer = self.writer.lease().await?;
        let Seated { kind, host, level } = seated;
        let text = "INSERT INTO seats (room, address, name, kind, noted, host, level) VALUES ($1, $2, $3, $4, $5, $6, $7) \
                    ON CONFLICT (room, address, name) DO UPDATE SET kind = excluded.kind, noted = excluded.noted, \
                    host = excluded.host, level = excluded.level";
        let kind_number = kind.number().into();
        let values =
            [room.into(), address.into(), name.into(), kind_number, unix_now().into(), host.into(), level.into()];
        writer.execute(text, &values).await?;
        let text = "DELETE FROM seats WHERE room = $1 AND noted <= \
                    (SELECT noted FROM seats WHERE room = $1 ORDER BY noted DESC LIMIT 1 OFFSET $2)";
        writer.execute(text, &[room.into(), MAX_SEATS.into()]).await?;
        if *kind == Kind::Proven {
            note_use(&mut writer, name).await?;
        }
        writer.done();
        Ok(())
    }

    /// What is known of the seats of a room, by their addresses and names.
    pub async fn seats(&self, room: &str) -> Result<HashMap<(String, String), Seated>, StoreError> {
        let text = "SELECT address, name, kind, host, level FROM seats WHERE room = $1";
        let rows = self.rows(text, &[room.into()]).await?;
        let seat = |row: &Row| {
            let kind = Kind::from_number(row.integer(2)?);
            Ok(((row.text(0)?, row.text(1)?), Seated { kind, host: row.text(3)?, level: row.text(4)? }))
        };
        rows.iter().map(seat).collect()
    }
}

fn note_in(row: &Row) -> Result<JournalNote, StoreError> {
    let (room, title, examined) = (row.text(1)?, row.text(2)?, row.number(3)?);
    Ok(JournalNote { room, title, class: row.text(4)?, casual: row.text(5)?, examined })
}

/// Milliseconds since the Unix epoch.
pub fn unix_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
