//! What is known of journals and seats besides what is in them.

use std::{
    collections::{HashMap, HashSet},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{Kind, Store, StoreError, database::twice, names::note_use};

/// Seats of a room of which something is kept: those that were noted last.
pub const MAX_SEATS: i64 = 4_096;
/// Journals that are read with one query.
const PAGE: i64 = 1_000;

/// What is known of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalNote {
    /// The room.
    pub room: String,
    /// What the room was called.
    pub title: String,
    /// The position in it up to which its results are stored.
    pub examined: u64,
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
    /// Notes which room a journal is of.
    pub async fn note_journal(&self, file: &str, room: &str, title: &str) -> Result<(), StoreError> {
        let text = "INSERT INTO journals (file, room, title, examined) VALUES ($1, $2, $3, 0) \
                    ON CONFLICT (file) DO UPDATE SET room = excluded.room, title = excluded.title";
        self.execute(text, &[file.into(), room.into(), title.into()]).await.map(drop)
    }

    /// Notes that all results of a journal up to this position are stored.
    pub async fn note_examined(&self, file: &str, position: u64, known: Known) -> Result<(), StoreError> {
        let text = "INSERT INTO journals (file, room, title, examined, known, zero) VALUES ($1, '', '', $2, $3, $4) \
                    ON CONFLICT (file) DO UPDATE SET examined = excluded.examined, known = excluded.known, zero = excluded.zero";
        let values = [file.into(), position.into(), known.until.into(), known.zero.into()];
        self.execute(text, &values).await.map(drop)
    }

    /// Notes how much of a journal is known.
    pub async fn note_known(&self, file: &str, known: Known) -> Result<(), StoreError> {
        let text = "UPDATE journals SET known = $2, zero = $3 WHERE file = $1";
        self.execute(text, &[file.into(), known.until.into(), known.zero.into()]).await.map(drop)
    }

    /// How much of a journal is known; nothing of one that was never noted.
    pub async fn known(&self, file: &str) -> Result<Known, StoreError> {
        let row = self.row("SELECT known, zero FROM journals WHERE file = $1", &[file.into()]).await?;
        row.map_or(Ok(Known::default()), |row| Ok(Known { until: row.number(0)?, zero: row.number(1)? }))
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
            let text = "SELECT file, room, title, examined FROM journals WHERE file > $1 ORDER BY file LIMIT $2";
            let rows = self.rows(text, &[(&last).into(), PAGE.into()]).await?;
            let Some(end) = rows.last() else { return Ok(journals) };
            last = end.text(0)?;
            for row in &rows {
                let note = JournalNote { room: row.text(1)?, title: row.text(2)?, examined: row.number(3)? };
                journals.insert(row.text(0)?, note);
            }
        }
    }

    /// Forgets a journal that was removed, and the seats of its room if that has no other. Its matches stay.
    pub async fn forget_journal(&self, file: &str, room: &str) -> Result<(), StoreError> {
        self.execute("DELETE FROM journals WHERE file = $1", &[file.into()]).await?;
        let text = "DELETE FROM seats WHERE room = $1 AND NOT EXISTS (SELECT 1 FROM journals WHERE room = $1)";
        self.execute(text, &[room.into()]).await.map(drop)
    }

    /// Notes that whoever has the seat at this address may use this name, or is a bot of this name. Of a room only the newest
    /// [`MAX_SEATS`] are kept: each bot and each browser comes from an address of its own.
    pub async fn note_seat(&self, room: &str, address: &str, name: &str, kind: Kind) -> Result<(), StoreError> {
        twice!(self.writer, self.try_note_seat(room, address, name, kind))
    }

    async fn try_note_seat(&self, room: &str, address: &str, name: &str, kind: Kind) -> Result<(), StoreError> {
        let mut writer = self.writer.lease().await?;
        let text = "INSERT INTO seats (room, address, name, kind, noted) VALUES ($1, $2, $3, $4, $5) \
                    ON CONFLICT (room, address, name) DO UPDATE SET kind = excluded.kind, noted = excluded.noted";
        let values = [room.into(), address.into(), name.into(), kind.number().into(), unix_now().into()];
        writer.execute(text, &values).await?;
        let text = "DELETE FROM seats WHERE room = $1 AND noted <= \
                    (SELECT noted FROM seats WHERE room = $1 ORDER BY noted DESC LIMIT 1 OFFSET $2)";
        writer.execute(text, &[room.into(), MAX_SEATS.into()]).await?;
        if kind == Kind::Proven {
            note_use(&mut writer, name).await?;
        }
        writer.done();
        Ok(())
    }

    /// The kinds that are known of the seats of a room, by their addresses and names.
    pub async fn seats(&self, room: &str) -> Result<HashMap<(String, String), Kind>, StoreError> {
        let rows = self.rows("SELECT address, name, kind FROM seats WHERE room = $1", &[room.into()]).await?;
        let seat =
            |row: &crate::connection::Row| Ok(((row.text(0)?, row.text(1)?), Kind::from_number(row.integer(2)?)));
        rows.iter().map(seat).collect()
    }
}

/// Milliseconds since the Unix epoch.
pub fn unix_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
