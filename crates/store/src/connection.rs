//! One connection to either database, and how long a statement may take on it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sqlx::{
    ConnectOptions as _, Connection as _, Decode, Executor as _, PgConnection, Postgres, Row as _, SqlSafeStr, SqlStr,
    Sqlite, SqliteConnection, Type,
    migrate::Migrator,
    postgres::PgRow,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous},
};
use tokio::time::timeout;

pub(crate) use crate::place::Place;
use crate::{StoreError, explain::explain, file::make_writable};

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(3);
/// After the end of its time a statement is to end by itself within this; then its connection is closed.
const GRACE: Duration = Duration::from_secs(2);
/// How long SQLite waits for another writer.
const BUSY: Duration = Duration::from_secs(5);
/// After how many steps of its machine SQLite looks at the clock: a fraction of a millisecond.
const STEPS: i32 = 1_000;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Changes what is stored.
    Write,
    /// Asks, and cannot change anything.
    Read,
    /// Makes or copies whole tables, which takes its time.
    Whole,
}

impl Role {
    /// How long a statement may take.
    pub(crate) const fn limit(self) -> Duration {
        match self {
            Self::Write => Duration::from_secs(10),
            Self::Read => Duration::from_secs(2),
            Self::Whole => Duration::from_mins(10),
        }
    }
}

#[derive(Debug)]
enum Driver {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

/// A connection. Whoever has an error on it drops it, and so closes it: after an error of SQLite it is open whether its transaction
/// goes on.
#[derive(Debug)]
pub(crate) struct Connection {
    driver: Driver,
    role: Role,
    clock: Arc<Clock>,
    #[cfg(test)]
    pub(crate) probe: Arc<crate::probe::Probe>,
}

/// When the running statement has to end.
#[derive(Debug)]
struct Clock {
    zero: Instant,
    // In microseconds since `zero`.
    deadline: AtomicU64,
    #[cfg(test)]
    looked: AtomicU64,
}

impl Clock {
    fn micros(duration: Duration) -> u64 {
        u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
    }

    fn allow(&self, limit: Duration) {
        self.deadline.store(Self::micros(self.zero.elapsed() + limit), Ordering::Relaxed);
    }

    fn is_early(&self) -> bool {
        #[cfg(test)]
        self.looked.fetch_add(1, Ordering::Relaxed);
        Self::micros(self.zero.elapsed()) < self.deadline.load(Ordering::Relaxed)
    }
}

/// A value in a statement.
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

/// The integers of both databases have a sign.
impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Integer(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

/// A row of an answer.
#[derive(Debug)]
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// What a column may be read as.
pub(crate) trait Readable:
    for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{
}

impl<T> Readable for T where T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{}

impl Row {
    /// A column; none as `Option`.
    pub(crate) fn get<T: Readable>(&self, column: usize) -> Result<T, StoreError> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    pub(crate) fn integer(&self, column: usize) -> Result<i64, StoreError> {
        self.get(column)
    }

    /// A number that was stored as [`u64`].
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
                bind!(text, values).fetch_all(connection).await?.into_iter().map(Row::Sqlite).collect()
            }
            Self::Postgres(connection) => {
                bind!(text, values).fetch_all(connection).await?.into_iter().map(Row::Postgres).collect()
            }
        })
    }
}

impl Connection {
    /// Connects.
    pub(crate) async fn open(place: &Place, role: Role) -> Result<Self, StoreError> {
        let clock = Arc::new(Clock {
            zero: Instant::now(),
            deadline: AtomicU64::new(u64::MAX),
            #[cfg(test)]
            looked: AtomicU64::new(0),
        });
        let connect = async {
            Ok::<_, StoreError>(match place {
                Place::File(path) => {
                    let mut options = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY);
                    options = match role {
                        Role::Read => options.pragma("query_only", "ON"),
                        // With a write-ahead log, readers do not wait for the writer. `NORMAL` syncs at checkpoints only: a power
                        // cut may undo the last results, and they are stored again from their journals.
                        Role::Write | Role::Whole => {
                            make_writable(path)?;
                            options.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Normal)
                        }
                    };
                    let mut connection = options.disable_statement_logging().connect().await?;
                    let clock = Arc::clone(&clock);
                    connection.lock_handle().await?.set_progress_handler(STEPS, move || clock.is_early());
                    Driver::Sqlite(connection)
                }
                Place::Server(options) => {
                    let mut connection = options.connect().await?;
                    let read_only = if role == Role::Read { "on" } else { "off" };
                    let settings = format!(
                        "SET statement_timeout = {}; SET default_transaction_read_only = {read_only}",
                        role.limit().as_millis()
                    );
                    connection.execute(sqlx::AssertSqlSafe(settings)).await?;
                    Driver::Postgres(connection)
                }
            })
        };
        let connected = timeout(CONNECT, connect).await.unwrap_or(Err(StoreError::Slow(CONNECT)));
        let driver = connected.map_err(|error| explain(error, place))?;
        Ok(Self {
            driver,
            role,
            clock,
            #[cfg(test)]
            probe: Arc::default(),
        })
    }

    /// The rows that answer a query.
    pub(crate) async fn rows(
        &mut self,
        text: impl SqlSafeStr + Send,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let text = text.into_sql_str();
        #[cfg(test)]
        self.probe().look(self, text.as_str(), values).await?;
        let limit = self.begin_statement();
        let rows = timeout(limit + GRACE, self.driver.rows(text, values)).await.map_err(|_| StoreError::Slow(limit))?;
        #[cfg(test)]
        self.probe.worked(self.clock.looked.swap(0, Ordering::Relaxed));
        Ok(rows?)
    }

    // From now on the time of the next statement runs.
    fn begin_statement(&self) -> Duration {
        let limit = self.role.limit();
        self.clock.allow(limit);
        limit
    }

    /// The first row of an answer, if there is one.
    pub(crate) async fn row(
        &mut self,
        text: impl SqlSafeStr + Send,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(text, values).await?.into_iter().next())
    }

    /// Executes a statement; gives the number of rows that it has changed.
    pub(crate) async fn execute(
        &mut self,
        text: impl SqlSafeStr + Send,
        values: &[Value<'_>],
    ) -> Result<u64, StoreError> {
        let text = text.into_sql_str();
        #[cfg(test)]
        self.probe().look(self, text.as_str(), values).await?;
        let limit = self.begin_statement();
        let work = async {
            Ok::<_, sqlx::Error>(match &mut self.driver {
                Driver::Sqlite(connection) => bind!(text, values).execute(connection).await?.rows_affected(),
                Driver::Postgres(connection) => bind!(text, values).execute(connection).await?.rows_affected(),
            })
        };
        Ok(timeout(limit + GRACE, work).await.map_err(|_| StoreError::Slow(limit))??)
    }

    /// Begins a transaction that sees no changes of others, and is refused if it would overwrite them.
    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        let text = match self.driver {
            Driver::Sqlite(_) => "BEGIN IMMEDIATE",
            Driver::Postgres(_) => "BEGIN ISOLATION LEVEL SERIALIZABLE",
        };
        self.execute(text, &[]).await.map(drop)
    }

    /// Begins to read what does not change meanwhile.
    pub(crate) async fn begin_reading(&mut self) -> Result<(), StoreError> {
        let text = match self.driver {
            Driver::Sqlite(_) => "BEGIN",
            Driver::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        self.execute(text, &[]).await.map(drop)
    }

    /// Brings the tables up to date.
    pub(crate) async fn migrate(&mut self, migrator: &Migrator, newest: i64) -> Result<(), StoreError> {
        let limit = self.begin_statement();
        // The future of `run` cannot be sent to other threads.
        let work = async {
            match &mut self.driver {
                Driver::Sqlite(connection) => migrator.run_direct(None, connection, false).await,
                Driver::Postgres(connection) => migrator.run_direct(None, connection, false).await,
            }
        };
        let result = timeout(limit, work).await.map_err(|_| StoreError::Slow(limit))?;
        result.map_err(|error| StoreError::migrate(error, newest))
    }

    /// Ends the connection and waits for that. SQLite puts its log into the file when the last one ends.
    pub(crate) async fn close(self) {
        let _ = match self.driver {
            Driver::Sqlite(connection) => connection.close().await,
            Driver::Postgres(connection) => connection.close().await,
        };
    }
}

#[cfg(test)]
impl Connection {
    fn probe(&self) -> Arc<crate::probe::Probe> {
        Arc::clone(&self.probe)
    }

    pub(crate) const fn is_sqlite(&self) -> bool {
        matches!(self.driver, Driver::Sqlite(_))
    }

    /// Executes a statement that no probe sees.
    pub(crate) async fn plain(&mut self, text: String, values: &[Value<'_>]) -> Result<Vec<Row>, sqlx::Error> {
        self.driver.rows(sqlx::AssertSqlSafe(text).into_sql_str(), values).await
    }
}
