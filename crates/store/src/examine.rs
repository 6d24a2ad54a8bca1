//! Whether the database can be used, for an operator who asks before the hub does.

use std::time::{Duration, SystemTime};

use crate::{
    Store, StoreError,
    connection::{Connection, Place, Role},
};

impl Store {
    /// Connects, and makes a table that it takes back at once: what a hub does when it starts. Gives by how many milliseconds the clock
    /// of the server is ahead of that of this machine; a file has no clock.
    ///
    /// # Errors
    /// [`StoreError`] when the database is away, or cannot be written.
    pub async fn examine(&self) -> Result<Option<i64>, StoreError> {
        let mut connection = Connection::open(&self.place, Role::Write).await?;
        let ahead = match *self.place {
            Place::File(_) => None,
            Place::Server(_) => {
                let before = SystemTime::now();
                let text = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";
                let there = connection.row(text, &[]).await?.map(|row| row.integer(0)).transpose()?;
                // The server has looked at its clock about half way.
                let here = before + before.elapsed().unwrap_or_default() / 2;
                let here = here.duration_since(SystemTime::UNIX_EPOCH).as_ref().map_or(0, Duration::as_millis);
                there.map(|there| there.saturating_sub(i64::try_from(here).unwrap_or(i64::MAX)))
            }
        };
        connection.begin().await?;
        connection.execute("CREATE TABLE arcade_doctor (probe BIGINT)", &[]).await?;
        connection.execute("ROLLBACK", &[]).await?;
        connection.close().await;
        Ok(ahead)
    }
}
