//! Pools of connections to either database, and the time limit of their statements.
//!
//! `PgBouncer` in transaction mode may execute each transaction in another session of PostgreSQL. So each statement
//! runs in a transaction with local settings, and no prepared statement outlives its transaction.

use std::{
    fmt,
    ops::{Deref, DerefMut},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{
    ConnectOptions, Connection as _, Database, Decode, Executor as _, PgPool, Postgres, Row as _, SqlSafeStr, SqlStr,
    Sqlite, SqlitePool, Type,
    migrate::Migrator,
    pool::{PoolConnection, PoolOptions},
    postgres::PgRow,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous},
};
use tokio::time::timeout;
use tracing::trace;

use crate::{
    StoreError, Trouble,
    error::explain,
    place::{DatabaseLocation, make_writable},
};

pub(crate) const STATEMENTS: &str = "store::statements";

/// The timeout for connecting, and for acquiring a connection of a pool.
const CONNECT: Duration = Duration::from_secs(3);
/// How long the database may take to abort a statement after its time limit, before the connection is closed.
const GRACE: Duration = Duration::from_secs(2);
/// How long SQLite waits for another writer.
const BUSY: Duration = Duration::from_secs(5);
/// Excludes other hubs until the end of the transaction. The number is arbitrary.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(4994031744)";
/// Instructions of SQLite's virtual machine between two checks of the time: a fraction of a millisecond.
const STEPS: i32 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Write,
    Read,
    /// Creates or copies whole tables.
    Whole,
}

impl Role {
    pub(crate) const fn limit(self) -> Duration {
        match self {
            Self::Write => Duration::from_secs(10),
            Self::Read => Duration::from_secs(2),
            Self::Whole => Duration::from_mins(10),
        }
    }

    fn sqlite(self, path: &Path) -> SqliteConnectOptions {
        let options = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY).disable_statement_logging();
        match self {
            Self::Read => options.pragma("query_only", "ON"),
            // With a write-ahead log, readers do not wait for the writer. `NORMAL` syncs only at checkpoints: a power
            // failure may undo the last results, which are then stored again from their journals.
            Self::Write | Self::Whole => {
                options.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Normal)
            }
        }
    }

    fn begin(self, mode: &str) -> SqlStr {
        let limit = self.limit().as_millis();
        sqlx::AssertSqlSafe(format!("BEGIN {mode}; SET LOCAL statement_timeout = {limit}")).into_sql_str()
    }
}

#[derive(Debug)]
pub(crate) struct Pool {
    place: Arc<DatabaseLocation>,
    role: Role,
    driver: PoolDriver,
}

#[derive(Debug)]
enum PoolDriver {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

// An idle connection does not survive a restart of its server, so connections are checked before use.
fn options<DB: Database>(size: u32) -> PoolOptions<DB> {
    let options = PoolOptions::new().max_connections(size).acquire_timeout(CONNECT).test_before_acquire(true);
    // The caller receives an error after `CONNECT`, so sqlx need not log slow acquisitions.
    options.acquire_slow_threshold(2 * CONNECT).idle_timeout(None).max_lifetime(None)
}

impl Pool {
    pub(crate) fn new(place: Arc<DatabaseLocation>, role: Role, size: u32) -> Self {
        let driver = match &*place {
            DatabaseLocation::File(path) => PoolDriver::Sqlite(options(size).connect_lazy_with(role.sqlite(path))),
            DatabaseLocation::Server(server) => {
                PoolDriver::Postgres(options(size).connect_lazy_with((**server).clone()))
            }
        };
        Self { place, role, driver }
    }

    pub(crate) async fn acquire(&self) -> Result<Connection, StoreError> {
        let driver = match &self.driver {
            PoolDriver::Sqlite(pool) => pool.acquire().await.map(|pooled| Driver::Sqlite(Owned::Pooled(pooled))),
            PoolDriver::Postgres(pool) => pool.acquire().await.map(|pooled| Driver::Postgres(Owned::Pooled(pooled))),
        };
        let driver = match driver {
            Ok(driver) => driver,
            Err(sqlx::Error::PoolClosed) => return Err(StoreError::Closed),
            Err(sqlx::Error::PoolTimedOut) if self.is_exhausted() => return Err(StoreError::Busy(CONNECT)),
            // The pool retries a refused connection until the timeout.
            Err(sqlx::Error::PoolTimedOut) => {
                return Err(match explain(StoreError::Slow(CONNECT), &self.place) {
                    StoreError::Unusable { text, .. } => StoreError::Unusable { text, trouble: Trouble::Away },
                    slow => slow,
                });
            }
            Err(error) => return Err(explain(error.into(), &self.place)),
        };
        Connection::new(driver, self.role).await
    }

    // If all connections are in use, the database has not caused the timeout.
    fn is_exhausted(&self) -> bool {
        match &self.driver {
            PoolDriver::Sqlite(pool) => pool.size() >= pool.options().get_max_connections(),
            PoolDriver::Postgres(pool) => pool.size() >= pool.options().get_max_connections(),
        }
    }

    pub(crate) async fn close(&self) {
        match &self.driver {
            PoolDriver::Sqlite(pool) => pool.close().await,
            PoolDriver::Postgres(pool) => pool.close().await,
        }
    }
}

#[derive(Debug)]
enum Owned<DB: Database> {
    Pooled(PoolConnection<DB>),
    Single(DB::Connection),
}

impl<DB: Database> Owned<DB> {
    fn discard(&mut self) {
        if let Self::Pooled(pooled) = self {
            pooled.close_on_drop();
        }
    }

    async fn close(self) -> Result<(), sqlx::Error> {
        match self {
            Self::Pooled(pooled) => pooled.close().await,
            Self::Single(connection) => connection.close().await,
        }
    }
}

impl<DB: Database> Deref for Owned<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        match self {
            Self::Pooled(pooled) => pooled,
            Self::Single(connection) => connection,
        }
    }
}

impl<DB: Database> DerefMut for Owned<DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        match self {
            Self::Pooled(pooled) => pooled,
            Self::Single(connection) => connection,
        }
    }
}

#[derive(Debug)]
enum Driver {
    Sqlite(Owned<Sqlite>),
    Postgres(Owned<Postgres>),
}

/// Closes if it is dropped before it is [`done`](Self::done): after an error or a cancelled call, a statement or a
/// transaction may still run on it.
#[derive(Debug)]
pub(crate) struct Connection {
    // `None` after it was returned to the pool.
    driver: Option<Driver>,
    role: Role,
    in_transaction: bool,
    clock: Arc<Clock>,
}

#[derive(Debug)]
struct Clock {
    zero: Instant,
    // Of the running statement, in microseconds since `zero`.
    deadline: AtomicU64,
    // How often SQLite has checked the deadline: every `STEPS` instructions.
    checks: AtomicU64,
}

impl Clock {
    fn micros(duration: Duration) -> u64 {
        u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
    }

    fn allow(&self, limit: Duration) {
        self.deadline.store(Self::micros(self.zero.elapsed() + limit), Ordering::Relaxed);
        self.checks.store(0, Ordering::Relaxed);
    }

    fn is_early(&self) -> bool {
        self.checks.fetch_add(1, Ordering::Relaxed);
        Self::micros(self.zero.elapsed()) < self.deadline.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    Integer(Option<i64>),
    Real(Option<f64>),
    Text(Option<&'a str>),
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Self::Real(Some(number))
    }
}

impl<'a, T: AsRef<str> + ?Sized> From<&'a T> for Value<'a> {
    fn from(text: &'a T) -> Self {
        Self::Text(Some(text.as_ref()))
    }
}

/// The integers of both databases are signed.
impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Integer(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(Some(number)) => write!(f, "{number}"),
            Self::Real(Some(number)) => write!(f, "{number:?}"),
            Self::Text(Some(text)) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Integer(None) | Self::Real(None) | Self::Text(None) => f.write_str("NULL"),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

pub(crate) trait Readable:
    for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{
}

impl<T> Readable for T where T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{}

impl Row {
    /// A nullable column requires an `Option`.
    pub(crate) fn get<T: Readable>(&self, column: usize) -> Result<T, StoreError> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    pub(crate) fn integer(&self, column: usize) -> Result<i64, StoreError> {
        self.get(column)
    }

    pub(crate) fn number(&self, column: usize) -> Result<u64, StoreError> {
        Ok(u64::try_from(self.integer(column)?).unwrap_or(0))
    }

    pub(crate) fn real(&self, column: usize) -> Result<f64, StoreError> {
        self.get(column)
    }

    pub(crate) fn text(&self, column: usize) -> Result<String, StoreError> {
        self.get(column)
    }
}

macro_rules! bind {
    ($text:expr, $values:expr) => {{
        let mut query = sqlx::query($text);
        for value in $values {
            query = match *value {
                Value::Integer(number) => query.bind(number),
                Value::Real(number) => query.bind(number),
                Value::Text(text) => query.bind(text),
            };
        }
        query
    }};
}

impl Driver {
    async fn rows(&mut self, text: SqlStr, values: &[Value<'_>]) -> Result<Vec<Row>, sqlx::Error> {
        Ok(match self {
            Self::Sqlite(connection) => {
                bind!(text, values).fetch_all(&mut **connection).await?.into_iter().map(Row::Sqlite).collect()
            }
            Self::Postgres(connection) => {
                let query = bind!(text, values).persistent(false);
                query.fetch_all(&mut **connection).await?.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    async fn execute(&mut self, text: SqlStr, values: &[Value<'_>]) -> Result<u64, sqlx::Error> {
        Ok(match self {
            Self::Sqlite(connection) => bind!(text, values).execute(&mut **connection).await?.rows_affected(),
            Self::Postgres(connection) => {
                bind!(text, values).persistent(false).execute(&mut **connection).await?.rows_affected()
            }
        })
    }

    // Without values and prepared statement.
    async fn plain(&mut self, text: SqlStr) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(connection) => (**connection).execute(text).await.map(drop),
            Self::Postgres(connection) => (**connection).execute(text).await.map(drop),
        }
    }
}

macro_rules! in_transaction {
    ($self:ident, $driver:ident => $statement:expr) => {{
        let begin = match &$self.driver {
            Some(Driver::Postgres(_)) if !$self.in_transaction => {
                Some($self.role.begin(if $self.role == Role::Read { "READ ONLY" } else { "READ WRITE" }))
            }
            _ => None,
        };
        let $driver = $self.driver()?;
        async {
            let is_single = begin.is_some();
            if let Some(begin) = begin {
                $driver.plain(begin).await?;
            }
            let done = $statement.await?;
            if is_single {
                $driver.plain("COMMIT".into_sql_str()).await?;
            }
            Ok::<_, sqlx::Error>(done)
        }
    }};
}

impl Connection {
    pub(crate) async fn open(place: &DatabaseLocation, role: Role) -> Result<Self, StoreError> {
        let connect = async {
            let driver = match place {
                DatabaseLocation::File(path) => {
                    if role != Role::Read {
                        make_writable(path)?;
                    }
                    Driver::Sqlite(Owned::Single(role.sqlite(path).connect().await?))
                }
                DatabaseLocation::Server(options) => Driver::Postgres(Owned::Single(options.connect().await?)),
            };
            Self::new(driver, role).await
        };
        let connected = timeout(CONNECT, connect).await.unwrap_or(Err(StoreError::Slow(CONNECT)));
        connected.map_err(|error| explain(error, place))
    }

    async fn new(mut driver: Driver, role: Role) -> Result<Self, StoreError> {
        let clock =
            Arc::new(Clock { zero: Instant::now(), deadline: AtomicU64::new(u64::MAX), checks: AtomicU64::new(0) });
        if let Driver::Sqlite(connection) = &mut driver {
            let clock = Arc::clone(&clock);
            connection.lock_handle().await?.set_progress_handler(STEPS, move || clock.is_early());
        }
        Ok(Self { driver: Some(driver), role, in_transaction: false, clock })
    }

    fn driver(&mut self) -> Result<&mut Driver, StoreError> {
        self.driver.as_mut().ok_or(StoreError::Closed)
    }

    pub(crate) async fn rows(
        &mut self,
        text: impl SqlSafeStr + Send,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let text = text.into_sql_str();
        let limit = self.begin_statement();
        let work = in_transaction!(self, driver => driver.rows(text.clone(), values));
        let rows = timeout(limit + GRACE, work).await;
        self.log(&text, values);
        Ok(rows.map_err(|_| StoreError::Slow(limit))??)
    }

    // `checks` is in thousands of instructions.
    fn log(&self, text: &SqlStr, values: &[Value<'_>]) {
        let literals = || values.iter().map(Value::to_string).collect::<Vec<_>>().join("\t");
        let checks = self.clock.checks.load(Ordering::Relaxed);
        trace!(target: STATEMENTS, text = text.as_str(), values = literals(), checks);
    }

    fn begin_statement(&self) -> Duration {
        let limit = self.role.limit();
        self.clock.allow(limit);
        limit
    }

    pub(crate) async fn row(
        &mut self,
        text: impl SqlSafeStr + Send,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(text, values).await?.into_iter().next())
    }

    pub(crate) async fn execute(
        &mut self,
        text: impl SqlSafeStr + Send,
        values: &[Value<'_>],
    ) -> Result<u64, StoreError> {
        let text = text.into_sql_str();
        let limit = self.begin_statement();
        let work = in_transaction!(self, driver => driver.execute(text.clone(), values));
        let changed = timeout(limit + GRACE, work).await;
        self.log(&text, values);
        Ok(changed.map_err(|_| StoreError::Slow(limit))??)
    }

    /// Begins a write transaction. PostgreSQL rejects it if it conflicts with a concurrent one; in SQLite it waits for
    /// other writers.
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        self.begin_as("BEGIN IMMEDIATE", "ISOLATION LEVEL SERIALIZABLE READ WRITE").await
    }

    pub(crate) async fn begin_reading(&mut self) -> Result<(), StoreError> {
        self.begin_as("BEGIN", "ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    async fn begin_as(&mut self, sqlite: &'static str, mode: &str) -> Result<(), StoreError> {
        let text = match self.driver()? {
            Driver::Sqlite(_) => sqlite.into_sql_str(),
            Driver::Postgres(_) => self.role.begin(mode),
        };
        self.set_transaction(text, true).await
    }

    pub(crate) async fn commit(&mut self) -> Result<(), StoreError> {
        self.set_transaction("COMMIT".into_sql_str(), false).await
    }

    pub(crate) async fn roll_back(&mut self) -> Result<(), StoreError> {
        self.set_transaction("ROLLBACK".into_sql_str(), false).await
    }

    async fn set_transaction(&mut self, text: SqlStr, in_transaction: bool) -> Result<(), StoreError> {
        let limit = self.begin_statement();
        timeout(limit + GRACE, self.driver()?.plain(text)).await.map_err(|_| StoreError::Slow(limit))??;
        self.in_transaction = in_transaction;
        Ok(())
    }

    pub(crate) async fn migrate(&mut self, mut migrator: Migrator, newest: i64) -> Result<(), StoreError> {
        let limit = self.begin_statement();
        let driver = self.driver()?;
        // The future of `run` cannot be sent to other threads.
        let work = async {
            match driver {
                Driver::Sqlite(connection) => migrator.run_direct(None, &mut **connection, false).await,
                Driver::Postgres(connection) => {
                    migrator.set_locking(false);
                    let mut transaction = connection.begin().await?;
                    let settings = format!("SET LOCAL statement_timeout = {}; {MIGRATION_LOCK}", limit.as_millis());
                    transaction.execute(sqlx::AssertSqlSafe(settings)).await?;
                    let done = migrator.run_direct(None, &mut *transaction, false).await;
                    // Closes the prepared statements of the migrator, also after a failed migration.
                    let cleared = transaction.clear_cached_statements().await;
                    done?;
                    cleared?;
                    Ok(transaction.commit().await?)
                }
            }
        };
        let result = timeout(limit, work).await.map_err(|_| StoreError::Slow(limit))?;
        result.map_err(|error| StoreError::migrate(error, newest))
    }

    pub(crate) fn done(mut self) {
        drop(self.driver.take());
    }

    /// Waits until the connection is closed. SQLite moves its log into the file when the last connection closes.
    pub(crate) async fn close(mut self) {
        let _ = match self.driver.take() {
            Some(Driver::Sqlite(connection)) => connection.close().await,
            Some(Driver::Postgres(connection)) => connection.close().await,
            None => Ok(()),
        };
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        match &mut self.driver {
            Some(Driver::Sqlite(connection)) => connection.discard(),
            Some(Driver::Postgres(connection)) => connection.discard(),
            None => {}
        }
    }
}

#[cfg(test)]
impl Connection {
    pub(crate) const fn is_sqlite(&self) -> bool {
        matches!(self.driver, Some(Driver::Sqlite(_)))
    }

    pub(crate) async fn plain(&mut self, text: String) -> Result<Vec<Row>, StoreError> {
        self.rows(sqlx::AssertSqlSafe(text), &[]).await
    }
}
