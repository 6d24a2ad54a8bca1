use std::time::{Duration, SystemTime};

use crate::{
    Store, StoreError, Trouble,
    connection::{Connection, Role},
    database::newest,
    error::explain,
    place::DatabaseLocation,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    pub matches: u64,
    pub names: u64,
}

impl Store {
    /// Checks that a hub can create its tables, by creating one in a transaction that is rolled back.
    ///
    /// Returns by how many milliseconds the clock of the server is ahead of the local one, or `None` for a file.
    ///
    /// # Errors
    /// [`StoreError`] if the database is unreachable or not writable.
    pub async fn examine(&self) -> Result<Option<i64>, StoreError> {
        let mut connection = Connection::open(&self.place, Role::Write).await?;
        let ahead = match *self.place {
            DatabaseLocation::File(_) => None,
            DatabaseLocation::Server(_) => {
                let before = SystemTime::now();
                let text = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";
                let there = connection.row(text, &[]).await?.map(|row| row.integer(0)).transpose()?;
                // The server read its clock about halfway through the query.
                let here = before + before.elapsed().unwrap_or_default() / 2;
                let here = here.duration_since(SystemTime::UNIX_EPOCH).as_ref().map_or(0, Duration::as_millis);
                there.map(|there| there.saturating_sub(i64::try_from(here).unwrap_or(i64::MAX)))
            }
        };
        connection.begin().await?;
        connection.execute("CREATE TABLE arcade_doctor (probe BIGINT)", &[]).await?;
        connection.roll_back().await?;
        connection.close().await;
        Ok(ahead)
    }

    /// Runs an integrity check if the database is a file. Returns the totals.
    ///
    /// # Errors
    /// If the file is damaged, or the database does not respond.
    pub async fn check(&self) -> Result<Totals, StoreError> {
        let mut connection = self.whole().await?;
        if let DatabaseLocation::File(path) = self.place() {
            let row = connection.row("PRAGMA integrity_check(1)", &[]).await?;
            let verdict = row.map_or(Ok(String::new()), |row| row.text(0))?;
            if verdict != "ok" {
                let text = format!("the database '{}' is damaged: {verdict}", path.display());
                return Err(StoreError::Unusable { text, trouble: Trouble::Damaged });
            }
        }
        let row = connection.row("SELECT (SELECT COUNT(*) FROM matches), (SELECT COUNT(*) FROM names)", &[]).await?;
        let totals = row.map_or(Ok((0, 0)), |row| Ok::<_, StoreError>((row.number(0)?, row.number(1)?)))?;
        connection.close().await;
        Ok(Totals { matches: totals.0, names: totals.1 })
    }

    /// Checks whether a hub could use the database, without changing it. Returns whether its tables exist.
    ///
    /// # Errors
    /// If the database is unreachable, has tables of a later version, or has none and the user may not create them.
    pub async fn probe(&self) -> Result<bool, StoreError> {
        let mut connection = Connection::open(self.place(), Role::Read).await?;
        let is_server = matches!(self.place(), DatabaseLocation::Server(_));
        let table = if is_server {
            "SELECT CAST(COUNT(to_regclass('_sqlx_migrations')) AS BIGINT)"
        } else {
            "SELECT COUNT(*) FROM sqlite_master WHERE name = '_sqlx_migrations'"
        };
        let count = async |connection: &mut Connection, text: &'static str| {
            let row = connection.row(text, &[]).await.map_err(|error| explain(error, self.place()))?;
            row.map_or(Ok(0), |row| row.integer(0))
        };
        let has_tables = count(&mut connection, table).await? > 0;
        if has_tables {
            let found = count(&mut connection, "SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations").await?;
            if found > newest() {
                return Err(StoreError::Newer { found, known: newest() });
            }
        } else if is_server {
            let text = "SELECT CAST(CAST(has_schema_privilege(current_schema(), 'CREATE') AS INT) AS BIGINT)";
            if count(&mut connection, text).await? == 0 {
                return Err(self.place().may_not_make_tables());
            }
        }
        connection.close().await;
        Ok(has_tables)
    }
}
