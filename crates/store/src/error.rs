use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use sqlx::{error::DatabaseError, migrate::MigrateError, postgres::PgConnectOptions, sqlite::SqliteError};
use thiserror::Error;

use crate::place::DatabaseLocation;

/// The messages may contain paths, statements and addresses, so they are for the log only.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("invalid database address '{0}': expected postgres://user:password@host/database")]
    Address(String),
    #[error("invalid path of a database '{0}': expected valid UTF-8")]
    Path(PathBuf),
    #[error("the owner of the database '{path}' cannot write it (mode {mode:04o}); run `chmod u+rw '{path}'`")]
    ReadOnly { path: PathBuf, mode: u32 },
    #[error("the database '{path}' cannot be opened")]
    File {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error(
        "the tables of the database have version {found}, but this program supports versions up to {known}; run the \
         newer program, or restore an older copy of the database"
    )]
    Newer { found: i64, known: i64 },
    #[error("cannot upgrade the tables of the database: {0}")]
    Migrate(MigrateError),
    #[error("unexpected response of the database: {}", words(.0))]
    Database(sqlx::Error),
    /// The text contains advice.
    #[error("{text}")]
    Unusable { text: String, trouble: Trouble },
    #[error(
        "the target has {rows} rows in its table '{table}' that the source does not have, so it is not a copy of \
         the source; give an empty database, or copy in the other direction"
    )]
    Foreign { table: String, rows: u64 },
    #[error(
        "after copying, the table '{table}' has {to} rows, not {from}: another program writes to the database; stop \
         its hub, and copy again"
    )]
    Differs { table: String, from: u64, to: u64 },
    #[error("a statement took longer than {0:?} and was cancelled")]
    Slow(Duration),
    #[error("all connections to the database were in use for {0:?}")]
    Busy(Duration),
    #[error("the database is closed")]
    Closed,
    #[error("a PostgreSQL database is copied with pg_dump")]
    NotAFile,
}

/// The messages contain no details of the machine, so they may be public.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Trouble {
    #[error("the database cannot store data: no space left")]
    NoSpace,
    #[error("the database cannot store data: its disk fails")]
    Disk,
    #[error("the database cannot be reached")]
    Away,
    #[error("the database is too slow")]
    Slow,
    #[error("the database is busy with other clients")]
    Busy,
    #[error("the files of the database cannot be opened")]
    Files,
    #[error("the database cannot store data: it is read-only")]
    ReadOnly,
    #[error("the database is damaged")]
    Damaged,
    #[error("the database does not accept the login")]
    Login,
    #[error("the tables of the database are of another version")]
    Version,
    /// A retry would fail too.
    #[error("the database rejects a result")]
    Refused,
    #[error("the database failed")]
    Other,
}

impl StoreError {
    #[must_use]
    pub fn trouble(&self) -> Trouble {
        match self {
            Self::Slow(_) => Trouble::Slow,
            Self::Busy(_) => Trouble::Busy,
            Self::ReadOnly { .. } => Trouble::ReadOnly,
            Self::File { error, .. } => of_files(error),
            Self::Database(error)
            | Self::Migrate(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => {
                of_driver(error)
            }
            Self::Unusable { trouble, .. } => *trouble,
            Self::Newer { .. } | Self::Migrate(_) => Trouble::Version,
            Self::Address(_)
            | Self::Path(_)
            | Self::Closed
            | Self::NotAFile
            | Self::Foreign { .. }
            | Self::Differs { .. } => Trouble::Other,
        }
    }

    /// Whether the transaction was rolled back because of a conflict, and can be repeated.
    pub(crate) fn is_conflict(&self) -> bool {
        let Self::Database(sqlx::Error::Database(error)) = self else { return false };
        // A serialization failure or a deadlock of PostgreSQL. SQLite makes writers wait.
        matches!(error.code().as_deref(), Some("40001" | "40P01"))
    }

    pub(crate) fn migrate(error: MigrateError, known: i64) -> Self {
        match error {
            MigrateError::VersionMissing(found) => Self::Newer { found, known },
            other => Self::Migrate(other),
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

fn words(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        error => error.to_string(),
    }
}

fn of_files(error: &io::Error) -> Trouble {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Trouble::NoSpace,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Trouble::ReadOnly,
        _ => Trouble::Disk,
    }
}

fn of_driver(error: &sqlx::Error) -> Trouble {
    match error {
        sqlx::Error::Database(error) => of_database(&**error),
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => {
            Trouble::Away
        }
        sqlx::Error::Encode(_) => Trouble::Refused,
        _ => Trouble::Other,
    }
}

fn of_database(error: &dyn DatabaseError) -> Trouble {
    let code = error.code().unwrap_or_default();
    if error.try_downcast_ref::<SqliteError>().is_some() {
        return code.parse().map_or(Trouble::Other, of_sqlite);
    }
    if requires_tls(&code, error.message()) { Trouble::Login } else { of_sqlstate(&code) }
}

// The lowest byte of an SQLite error code is its primary code.
fn of_sqlite(code: i32) -> Trouble {
    match code & 0xff {
        5 | 6 => Trouble::Busy,
        // Permission denied, and read-only.
        3 | 8 => Trouble::ReadOnly,
        14 => Trouble::Files,
        // Interrupted.
        9 => Trouble::Slow,
        10 => Trouble::Disk,
        // Corrupt, and not a database.
        11 | 26 => Trouble::Damaged,
        13 => Trouble::NoSpace,
        // Too large, a constraint violation, and a type mismatch.
        18..=20 => Trouble::Refused,
        _ => Trouble::Other,
    }
}

// Messages of PostgreSQL (before 14: "SSL off"), and of PgBouncer.
fn requires_tls(code: &str, message: &str) -> bool {
    match code {
        "28000" => message.ends_with("no encryption") || message.ends_with("SSL off"),
        "08P01" => message == "SSL required",
        _ => false,
    }
}

fn of_sqlstate(code: &str) -> Trouble {
    match code {
        "53100" => Trouble::NoSpace,
        "58030" => Trouble::Disk,
        "57014" => Trouble::Slow,
        "25006" | "42501" => Trouble::ReadOnly,
        // Serialization, deadlock and an unavailable lock; too many connections, which is temporary.
        "40001" | "40P01" | "55P03" | "53300" => Trouble::Busy,
        "3D000" => Trouble::Login,
        _ => match code.get(..2) {
            // Connection errors, and a server that shuts down or starts.
            Some("08" | "57") => Trouble::Away,
            Some("28") => Trouble::Login,
            Some("22" | "23") => Trouble::Refused,
            Some("XX") => Trouble::Damaged,
            _ => Trouble::Other,
        },
    }
}

pub(crate) fn explain(error: StoreError, place: &DatabaseLocation) -> StoreError {
    let trouble = error.trouble();
    let text = match (&error, place) {
        (StoreError::Slow(limit), DatabaseLocation::Server(server)) => Some(format!(
            "no PostgreSQL server responds at {} within {limit:?}; check the host and the port of the address, and \
             the firewall",
            Named(server).at()
        )),
        _ => match (cause(&error), place) {
            (Some(cause), DatabaseLocation::Server(server)) => Some(Named(server).refusal(cause)),
            (Some(cause), DatabaseLocation::File(path)) => of_file(path, trouble, cause),
            (None, _) => None,
        },
    };
    text.map_or(error, |text| StoreError::Unusable { text, trouble })
}

impl DatabaseLocation {
    /// The error for a user who may not create the tables.
    pub(crate) fn may_not_make_tables(&self) -> StoreError {
        let text = match self {
            Self::Server(server) => Named(server).forbids("permission denied"),
            Self::File(path) => format!("cannot create the tables of '{}'", path.display()),
        };
        StoreError::Unusable { text, trouble: Trouble::ReadOnly }
    }
}

fn cause(error: &StoreError) -> Option<&sqlx::Error> {
    match error {
        StoreError::Database(error)
        | StoreError::Migrate(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => Some(error),
        _ => None,
    }
}

fn of_file(path: &Path, trouble: Trouble, cause: &sqlx::Error) -> Option<String> {
    let path = path.display();
    match trouble {
        Trouble::Damaged => {
            Some(format!("'{path}' is damaged, or not a SQLite database; restore a backup, or move it away"))
        }
        Trouble::Busy => {
            Some(format!("another program has locked the database '{path}' ({}); stop it, and try again", words(cause)))
        }
        _ => None,
    }
}

struct Named<'a>(&'a PgConnectOptions);

impl Named<'_> {
    // A directory of sockets is not a host.
    fn at(&self) -> String {
        let (host, port) = (self.0.get_host(), self.0.get_port());
        match self.0.get_socket() {
            Some(socket) => format!("'{}/.s.PGSQL.{port}'", socket.display()),
            None if host.starts_with('/') => format!("'{host}/.s.PGSQL.{port}'"),
            None if host.contains(':') => format!("[{host}]:{port}"),
            None => format!("{host}:{port}"),
        }
    }

    // Command-line options of the PostgreSQL tools, each preceded by a space.
    fn options(&self) -> String {
        let (host, port) = (self.0.get_host(), self.0.get_port());
        let host = self.0.get_socket().map_or_else(|| host.to_owned(), |socket| socket.display().to_string());
        format!(" -h {host} -p {port}")
    }

    // Defaults to the name of the user, as in PostgreSQL.
    fn database(&self) -> &str {
        self.0.get_database().unwrap_or_else(|| self.0.get_username())
    }

    fn forbids(&self, why: &str) -> String {
        let (at, user, database) = (self.at(), self.0.get_username().escape_debug(), self.database().escape_debug());
        format!(
            "the user '{user}' may not create tables in the database '{database}' of PostgreSQL at {at} ({why}); \
             its owner can run `ALTER DATABASE {database} OWNER TO {user}`"
        )
    }

    fn refusal(&self, cause: &sqlx::Error) -> String {
        let (at, options) = (self.at(), self.options());
        let (user, database) = (self.0.get_username().escape_debug(), self.database().escape_debug());
        let why = words(cause);
        if let sqlx::Error::Tls(_) = cause {
            return if why.contains("does not support TLS") {
                format!(
                    "PostgreSQL at {at} has no TLS, which `sslmode` in the address requires; enable it at the server"
                )
            } else {
                format!(
                    "TLS with PostgreSQL at {at} fails: {why}; check sslrootcert, sslcert and sslkey in the address"
                )
            };
        }
        if let sqlx::Error::Io(error) = cause {
            return match error.kind() {
                // Only a socket in a directory may be missing.
                io::ErrorKind::NotFound if !at.starts_with('\'') => {
                    format!("no such file: check sslrootcert, sslcert and sslkey in the address of PostgreSQL at {at}")
                }
                io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => {
                    format!(
                        "no PostgreSQL server listens at {at}; start it, or correct the host and the port of the address"
                    )
                }
                io::ErrorKind::InvalidData if why.contains("certificate") => format!(
                    "cannot trust the PostgreSQL server at {at} ({why}); correct its certificate or the host of the \
                     address, or set sslrootcert in the address to the file of its authority"
                ),
                io::ErrorKind::PermissionDenied => format!("this user may not open the socket {at} of PostgreSQL"),
                // The standard library has no error kind for failed name lookups.
                _ if why.contains("lookup address") => {
                    format!("no host '{}'; correct the host of the address", self.0.get_host().escape_debug())
                }
                _ => format!("cannot reach the PostgreSQL server at {at}: {why}; check its log and the firewall"),
            };
        }
        let code = cause.as_database_error().and_then(DatabaseError::code).unwrap_or_default();
        match &*code {
            _ if requires_tls(&code, &why) => {
                format!(
                    "PostgreSQL at {at} requires TLS; remove `sslmode=disable` from the address, or set `require` ({why})"
                )
            }
            "28P01" => format!(
                "PostgreSQL at {at} rejects the password of the user '{user}'; set the correct one in PGPASSWORD"
            ),
            "28000" => format!(
                "PostgreSQL at {at} rejects the user '{user}' ({why}); create it with `createuser{options} {user}`, \
                 or allow it in pg_hba.conf"
            ),
            "3D000" => format!(
                "PostgreSQL at {at} has no database '{database}'; create it with `createuser{options} {user}`, if \
                 the user does not exist, and `createdb{options} --owner={user} {database}`"
            ),
            "42501" => self.forbids(&why),
            "53300" => format!(
                "PostgreSQL at {at} has no connection left; close other connections, or raise its max_connections"
            ),
            "57P03" => format!("PostgreSQL at {at} is starting or stopping; try again in a moment"),
            _ => format!("PostgreSQL at {at} reports an error: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Trouble::{Away, Busy, Disk, Login, NoSpace, Other, ReadOnly, Refused, Slow},
        *,
    };

    #[test]
    fn error_codes_map_to_kinds_of_trouble() {
        // SQLITE_FULL; SQLITE_IOERR_WRITE; SQLITE_BUSY_SNAPSHOT; SQLITE_READONLY_DBMOVED; SQLITE_CONSTRAINT_UNIQUE.
        let kinds = [13, 778, 517, 1_032, 2_067].map(of_sqlite);
        assert_eq!(kinds, [NoSpace, Disk, Busy, ReadOnly, Refused]);
        let states = ["53100", "57P01", "57014", "08006", "28P01", "22021", "42P01", ""].map(of_sqlstate);
        assert_eq!(states, [NoSpace, Away, Slow, Away, Login, Refused, Other, Other]);
    }

    #[test]
    fn public_messages_have_no_paths_and_statements() {
        let secret = "/srv/arcade/results.db";
        let errors = [
            StoreError::ReadOnly { path: secret.into(), mode: 0o444 },
            StoreError::File { path: secret.into(), error: io::ErrorKind::StorageFull.into() },
            StoreError::Database(sqlx::Error::Io(io::Error::other("db.example:5432"))),
            StoreError::Address("postgres://arcade:password@db.example".into()),
        ];
        for error in errors {
            let told = error.trouble().to_string();
            assert!(!told.contains(['/', '@', '.', '_']) && !told.contains("password"), "{told}");
        }
    }
}
