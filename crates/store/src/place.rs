//! Where a database is.

use std::path::PathBuf;

use sqlx::postgres::PgConnectOptions;

/// Where the database is.
#[derive(Debug)]
pub(crate) enum Place {
    /// A file of SQLite.
    File(PathBuf),
    /// A server of PostgreSQL.
    Server(Box<PgConnectOptions>),
}
