use std::{path::Path, str::FromStr as _, sync::Arc, time::Duration};

use sqlx::{
    ConnectOptions as _, SqlSafeStr,
    migrate::{Migration, MigrationType, Migrator},
    postgres::{PgConnectOptions, PgSslMode},
};
use tokio::time::sleep;

use crate::{
    StoreError,
    connection::{Connection, Pool, Role, Row, Value},
    error::explain,
    names::NameCache,
    place::DatabaseLocation,
};

pub const READERS: u32 = 4;

/// In order. A published migration never changes: a database records its migrations.
pub(crate) const MIGRATIONS: [(i64, &str, &str); 9] = [
    (1, "results", include_str!("../migrations/0001_results.sql")),
    (2, "journals", include_str!("../migrations/0002_journals.sql")),
    (3, "bounds", include_str!("../migrations/0003_bounds.sql")),
    (4, "names", include_str!("../migrations/0004_names.sql")),
    (5, "boards", include_str!("../migrations/0005_boards.sql")),
    (6, "keys", include_str!("../migrations/0006_keys.sql")),
    (7, "name codes", include_str!("../migrations/0007_name_codes.sql")),
    (8, "outside", include_str!("../migrations/0008_outside.sql")),
    (9, "challenges", include_str!("../migrations/0009_challenges.sql")),
];

/// A database of results. Clones share the connections.
///
/// One connection writes and others read, so writes do not wait for queries. Each statement has a timeout. An error
/// closes the connection, and the next statement gets another one. All calls can be repeated after an error.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) writer: Arc<Pool>,
    pub(crate) readers: Arc<Pool>,
    // So that names of joining players do not wait for queries of web pages.
    pub(crate) keys: Arc<Pool>,
    pub(crate) recent: Arc<NameCache>,
    pub(crate) place: Arc<DatabaseLocation>,
}

/// More statements than a migration prepares, which closes the cached ones.
const CACHED: usize = 100;
/// Attempts of a transaction that conflicts with those of other hubs.
const CONFLICTS: u32 = 20;
/// The exponent of the longest pause: 2⁶ ms.
const LONGEST_PAUSE: u32 = 6;

/// The pause grows, so that one of the transactions succeeds.
pub(crate) async fn pause_after_conflict(attempts: u32) {
    sleep(Duration::from_millis(1 << attempts.min(LONGEST_PAUSE))).await;
}

pub(crate) const fn may_repeat(attempts: u32) -> bool {
    attempts < CONFLICTS
}

// Repeats a transaction that was rolled back because of a conflict with another hub. Any other error closes the
// connection, which rolls the transaction back.
macro_rules! transaction {
    ($store:expr, $writer:ident => $work:expr) => {{
        let mut attempts = 0;
        loop {
            let attempt = async {
                let mut writer = $store.writer.acquire().await?;
                writer.begin().await?;
                let $writer = &mut writer;
                let done = $work.await?;
                writer.commit().await?;
                writer.done();
                Ok::<_, $crate::StoreError>(done)
            };
            match attempt.await {
                Err(error) if error.is_conflict() && $crate::database::may_repeat(attempts) => {
                    $crate::database::pause_after_conflict(attempts).await;
                    attempts += 1;
                }
                done => break done,
            }
        }
    }};
}
pub(crate) use transaction;

impl Store {
    /// The SQLite database in this file, which [`prepare`](Self::prepare) creates.
    ///
    /// # Errors
    /// [`StoreError::Path`] if the path is not valid UTF-8.
    pub fn file(path: &Path) -> Result<Self, StoreError> {
        if path.to_str().is_none() {
            return Err(StoreError::Path(path.to_owned()));
        }
        // An absolute path cannot be mistaken for an address.
        let path = std::path::absolute(path).map_err(|error| StoreError::File { path: path.to_owned(), error })?;
        Ok(Self::at(DatabaseLocation::File(path)))
    }

    /// The PostgreSQL database at this address, such as `postgres://user@host/database`.
    ///
    /// # Errors
    /// [`StoreError::Address`] if the address is invalid.
    pub fn server(address: &str) -> Result<Self, StoreError> {
        let wrong = || StoreError::Address(address.escape_debug().to_string());
        if !address.starts_with("postgres://") && !address.starts_with("postgresql://") {
            return Err(wrong());
        }
        let options = PgConnectOptions::from_str(address).map_err(|_| wrong())?;
        // PgBouncer rejects this startup parameter, which only affects the text form of numbers.
        let options = options.extra_float_digits(None).statement_cache_capacity(CACHED).disable_statement_logging();
        Ok(Self::at(DatabaseLocation::Server(Box::new(with_tls_mode_of_libpq(options)))))
    }

    fn at(place: DatabaseLocation) -> Self {
        let place = Arc::new(place);
        let pool = |role, size| Arc::new(Pool::new(Arc::clone(&place), role, size));
        Self {
            writer: pool(Role::Write, 1),
            readers: pool(Role::Read, READERS),
            keys: pool(Role::Read, 1),
            recent: Arc::default(),
            place,
        }
    }

    /// Creates or migrates the tables. Must be called first.
    ///
    /// # Errors
    /// [`StoreError`] if the database is unreachable, or has tables of a later version.
    pub async fn prepare(&self) -> Result<(), StoreError> {
        self.migrate(&MIGRATIONS).await?;
        self.store_skeletons().await
    }

    pub(crate) async fn migrate(&self, migrations: &[(i64, &'static str, &'static str)]) -> Result<(), StoreError> {
        let newest = migrations.iter().map(|(version, ..)| *version).max().unwrap_or_default();
        let mut connection = Connection::open(&self.place, Role::Whole).await?;
        connection.migrate(migrator(migrations), newest).await.map_err(|error| explain(error, &self.place))?;
        connection.close().await;
        Ok(())
    }

    /// Whether other programs may share the database. Only one hub uses a file.
    pub fn is_server(&self) -> bool {
        matches!(*self.place, DatabaseLocation::Server(_))
    }

    pub(crate) fn place(&self) -> &DatabaseLocation {
        &self.place
    }

    pub(crate) async fn whole(&self) -> Result<Connection, StoreError> {
        Connection::open(&self.place, Role::Whole).await
    }

    /// Copies the database into a new file. The copy is consistent even during concurrent writes.
    ///
    /// # Errors
    /// [`StoreError::NotAFile`] for PostgreSQL, or if the file cannot be written.
    pub async fn backup(&self, path: &Path) -> Result<(), StoreError> {
        if self.is_server() {
            return Err(StoreError::NotAFile);
        }
        let text = path.to_str().ok_or_else(|| StoreError::Path(path.to_owned()))?;
        let mut connection = Connection::open(&self.place, Role::Whole).await?;
        connection.execute("VACUUM INTO $1", &[text.into()]).await?;
        connection.close().await;
        Ok(())
    }

    pub async fn close(&self) {
        self.readers.close().await;
        self.keys.close().await;
        self.writer.close().await;
    }

    pub(crate) async fn rows(
        &self,
        text: impl SqlSafeStr + Send,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        Self::rows_on(&self.readers, text, values).await
    }

    pub(crate) async fn rows_on(
        pool: &Pool,
        text: impl SqlSafeStr + Send,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let mut reader = pool.acquire().await?;
        let rows = reader.rows(text, values).await?;
        reader.done();
        Ok(rows)
    }

    pub(crate) async fn row(
        &self,
        text: impl SqlSafeStr + Send,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(text, values).await?.into_iter().next())
    }

    pub(crate) async fn execute(&self, text: impl SqlSafeStr + Send, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let mut writer = self.writer.acquire().await?;
        let changed = writer.execute(text, values).await?;
        writer.done();
        Ok(changed)
    }
}

// Corrects the differences between sqlx and libpq.
fn with_tls_mode_of_libpq(options: PgConnectOptions) -> PgConnectOptions {
    let is_socket = options.get_socket().is_some() || options.get_host().starts_with('/');
    let mode = match options.get_ssl_mode() {
        _ if is_socket => PgSslMode::Disable,
        // Both accept a server with and without TLS; sqlx does not try TLS with the first.
        PgSslMode::Allow => PgSslMode::Prefer,
        PgSslMode::Require if options.to_url_lossy().query_pairs().any(|(key, _)| key == "sslrootcert") => {
            PgSslMode::VerifyCa
        }
        mode => mode,
    };
    options.ssl_mode(mode)
}

pub(crate) fn newest() -> i64 {
    MIGRATIONS.iter().map(|(version, ..)| *version).max().unwrap_or_default()
}

pub(crate) fn migrator(migrations: &[(i64, &'static str, &'static str)]) -> Migrator {
    let migration = |&(version, name, text): &(i64, &'static str, &'static str)| {
        Migration::new(version, name.into(), MigrationType::Simple, text.into_sql_str(), false)
    };
    Migrator::with_migrations(migrations.iter().map(migration).collect())
}
