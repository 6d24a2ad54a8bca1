//! What is known of journals and seats besides what is in them.

use std::collections::{HashMap, HashSet};

use sqlx::Row as _;

use crate::{Kind, Store, StoreError, record::integer};

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
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn note_journal(&self, file: &str, room: &str, title: &str) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO journals (file, room, title, examined) VALUES ($1, $2, $3, 0) \
             ON CONFLICT (file) DO UPDATE SET room = excluded.room, title = excluded.title",
        )
        .bind(file)
        .bind(room)
        .bind(title)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Notes that all results of a journal up to this position are stored.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn note_examined(&self, file: &str, position: u64, known: Known) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO journals (file, room, title, examined, known, zero) VALUES ($1, '', '', $2, $3, $4) \
             ON CONFLICT (file) DO UPDATE SET examined = excluded.examined, known = excluded.known, zero = excluded.zero",
        )
        .bind(file)
        .bind(integer(position))
        .bind(integer(known.until))
        .bind(integer(known.zero))
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Notes how much of a journal is known.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn note_known(&self, file: &str, known: Known) -> Result<(), StoreError> {
        sqlx::query("UPDATE journals SET known = $2, zero = $3 WHERE file = $1")
            .bind(file)
            .bind(integer(known.until))
            .bind(integer(known.zero))
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// How much of a journal is known; nothing of one that was never noted.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn known(&self, file: &str) -> Result<Known, StoreError> {
        let row = sqlx::query("SELECT known, zero FROM journals WHERE file = $1")
            .bind(file)
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(Known::default()) };
        let number = |column: usize| row.try_get::<i64, _>(column).map(|number| u64::try_from(number).unwrap_or(0));
        Ok(Known { until: number(0)?, zero: number(1)? })
    }

    /// The journals of matches that people have played.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn journals_with_people(&self) -> Result<HashSet<String>, StoreError> {
        let rows = sqlx::query(
            "SELECT DISTINCT m.journal FROM matches m JOIN players p ON p.match_id = m.id WHERE p.kind <> $1",
        )
        .bind(Kind::Bot.number())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// All journals that are known, by the names of their files.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn journals(&self) -> Result<HashMap<String, JournalNote>, StoreError> {
        let rows = sqlx::query("SELECT file, room, title, examined FROM journals").fetch_all(&self.pool).await?;
        let mut journals = HashMap::new();
        for row in &rows {
            let note = JournalNote {
                room: row.try_get(1)?,
                title: row.try_get(2)?,
                examined: u64::try_from(row.try_get::<i64, _>(3)?).unwrap_or(0),
            };
            journals.insert(row.try_get(0)?, note);
        }
        Ok(journals)
    }

    /// Notes that whoever has the seat at this address may use this name, or is a bot of this name.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn note_seat(&self, room: &str, address: &str, name: &str, kind: Kind) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO seats (room, address, name, kind) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (room, address, name) DO UPDATE SET kind = excluded.kind",
        )
        .bind(room)
        .bind(address)
        .bind(name)
        .bind(kind.number())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// The kinds that are known of the seats of a room, by their addresses and names.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn seats(&self, room: &str) -> Result<HashMap<(String, String), Kind>, StoreError> {
        let rows = sqlx::query("SELECT address, name, kind FROM seats WHERE room = $1")
            .bind(room)
            .fetch_all(&self.pool)
            .await?;
        let mut seats = HashMap::new();
        for row in &rows {
            seats.insert((row.try_get(0)?, row.try_get(1)?), Kind::from_number(row.try_get(2)?));
        }
        Ok(seats)
    }
}
