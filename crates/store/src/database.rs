//! The connection and the migrations.

use std::{
    path::{Path, PathBuf},
    sync::Once,
    time::Duration,
};

use sqlx::{
    Any, AnyPool, ConnectOptions as _, Executor as _, SqlSafeStr as _, Transaction,
    any::{AnyConnectOptions, AnyPoolOptions},
    migrate::{Migration, MigrationType, Migrator},
};
use thiserror::Error;

/// Connections at the same time. One of them writes.
const CONNECTIONS: u32 = 4;
/// How long a caller waits for a connection.
const ACQUIRE: Duration = Duration::from_secs(3);

/// Settings of each connection to SQLite.
///
/// With a write-ahead log, readers do not wait for the writer. `NORMAL` syncs at checkpoints only: a power cut may undo the last
/// results, and they are stored again from their journals.
const SQLITE: &str = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000; \
                      PRAGMA foreign_keys = ON";
/// What a connection to PostgreSQL may take, so that a server that hangs does not stop the results for ever.
const POSTGRES: &str = "SET statement_timeout = '10s'";

const MIGRATIONS: [(i64, &str, &str); 2] = [
    (1, "results", include_str!("../migrations/0001_results.sql")),
    (2, "journals", include_str!("../migrations/0002_journals.sql")),
];

/// Why the database cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The address is not one.
    #[error("'{0}' is not the address of a database; it looks like postgres://user:password@host/database")]
    Address(String),
    /// The path of the file is not text.
    #[error("the path '{0}' cannot be used for a database; use one that is valid UTF-8")]
    Path(PathBuf),
    /// The tables could not be made or brought up to date.
    #[error("the tables of the database cannot be brought up to date")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// A query failed.
    #[error("the database does not answer as it should")]
    Database(#[from] sqlx::Error),
    /// A copy was asked for, of a database that has its own tools.
    #[error("a PostgreSQL database is copied with pg_dump")]
    NotAFile,
}

/// The database of results. Clones share their connections. It is made and used within a tokio runtime.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) pool: AnyPool,
    is_sqlite: bool,
}

impl Store {
    /// The SQLite database in this file, which is made when it is first used.
    ///
    /// # Errors
    /// [`StoreError::Path`] when the path is not text.
    pub fn file(path: &Path) -> Result<Self, StoreError> {
        let text = path.to_str().ok_or_else(|| StoreError::Path(path.to_owned()))?;
        // What has a meaning in an address.
        let mut address = String::from("sqlite://");
        for byte in text.bytes() {
            if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
                address.push(char::from(byte));
            } else {
                address.push('%');
                address.extend(hex(byte).map(char::from));
            }
        }
        Self::new(&(address + "?mode=rwc"))
    }

    /// The PostgreSQL database at this address, such as `postgres://user@host/database`.
    ///
    /// # Errors
    /// [`StoreError::Address`] when it is not an address.
    pub fn server(address: &str) -> Result<Self, StoreError> {
        if !address.starts_with("postgres://") && !address.starts_with("postgresql://") {
            return Err(StoreError::Address(address.escape_debug().to_string()));
        }
        Self::new(address)
    }

    fn new(address: &str) -> Result<Self, StoreError> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        let is_sqlite = address.starts_with("sqlite:");
        let options: AnyConnectOptions =
            address.parse().map_err(|_| StoreError::Address(address.escape_debug().to_string()))?;
        let settings = if is_sqlite { SQLITE } else { POSTGRES };
        let pool = AnyPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(ACQUIRE)
            .after_connect(move |connection, _| Box::pin(async move { connection.execute(settings).await.map(drop) }))
            .connect_lazy_with(options.disable_statement_logging());
        Ok(Self { pool, is_sqlite })
    }

    /// Makes the tables, or brings them up to date. This comes before everything else.
    ///
    /// # Errors
    /// [`StoreError`] when the database is away, or has tables of a later version.
    pub async fn prepare(&self) -> Result<(), StoreError> {
        let migration = |&(version, name, text): &(i64, &'static str, &'static str)| {
            Migration::new(version, name.into(), MigrationType::Simple, text.into_sql_str(), false)
        };
        Migrator::with_migrations(MIGRATIONS.iter().map(migration).collect()).run(&self.pool).await?;
        Ok(())
    }

    /// Copies the database into a new file, consistent while others write.
    ///
    /// # Errors
    /// [`StoreError::NotAFile`] for PostgreSQL, or when it cannot be written.
    pub async fn backup(&self, path: &Path) -> Result<(), StoreError> {
        if !self.is_sqlite {
            return Err(StoreError::NotAFile);
        }
        let text = path.to_str().ok_or_else(|| StoreError::Path(path.to_owned()))?;
        sqlx::query("VACUUM INTO $1").bind(text).execute(&self.pool).await?;
        Ok(())
    }

    /// Ends all connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    // Begins a transaction that sees no changes of others, and is refused if it would overwrite them.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Any>, sqlx::Error> {
        let statement = if self.is_sqlite { "BEGIN IMMEDIATE" } else { "BEGIN ISOLATION LEVEL SERIALIZABLE" };
        self.pool.begin_with(statement).await
    }
}

/// A byte as two hexadecimal digits.
pub(crate) fn hex(byte: u8) -> [u8; 2] {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}
