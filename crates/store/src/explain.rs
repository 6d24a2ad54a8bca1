//! What keeps a database from being used, in one sentence for its host, with what to do about it.

use std::{io, path::Path};

use sqlx::{migrate::MigrateError, postgres::PgConnectOptions};

use crate::{StoreError, Trouble, error::words, place::Place};

/// Says more of an error that came when a database was opened, or its tables were made.
pub(crate) fn explain(error: StoreError, place: &Place) -> StoreError {
    let trouble = error.trouble();
    let text = match (&error, place) {
        (StoreError::Slow(limit), Place::Server(server)) => Some(format!(
            "no PostgreSQL server answers at {} within {limit:?}; look at the host and the port of the address, and at the firewall",
            Named(server).at()
        )),
        _ => match (cause(&error), place) {
            (Some(cause), Place::Server(server)) => Some(Named(server).refusal(cause)),
            (Some(cause), Place::File(path)) => of_file(path, trouble, cause),
            (None, _) => None,
        },
    };
    text.map_or(error, |text| StoreError::Unusable { text, trouble })
}

impl Place {
    /// The user may not make the tables of an empty database.
    pub(crate) fn may_not_make_tables(&self) -> StoreError {
        let text = match self {
            Self::Server(server) => Named(server).forbids("permission denied"),
            Self::File(path) => format!("the tables of '{}' cannot be made", path.display()),
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
            Some(format!("'{path}' is damaged, or no database of SQLite; restore a backup, or move it away"))
        }
        Trouble::Busy => {
            Some(format!("another program holds the database '{path}' ({}); end that, and try again", words(cause)))
        }
        _ => None,
    }
}

/// A server and what is asked of it, as its address says.
struct Named<'a>(&'a PgConnectOptions);

impl Named<'_> {
    // Where it is. A directory of sockets is no host.
    fn at(&self) -> String {
        let (host, port) = (self.0.get_host(), self.0.get_port());
        match self.0.get_socket() {
            Some(socket) => format!("'{}/.s.PGSQL.{port}'", socket.display()),
            None if host.starts_with('/') => format!("'{host}/.s.PGSQL.{port}'"),
            None if host.contains(':') => format!("[{host}]:{port}"),
            None => format!("{host}:{port}"),
        }
    }

    // The options of the programs of PostgreSQL that lead to it, with a space before each.
    fn options(&self) -> String {
        let (host, port) = (self.0.get_host(), self.0.get_port());
        let host = self.0.get_socket().map_or_else(|| host.to_owned(), |socket| socket.display().to_string());
        format!(" -h {host} -p {port}")
    }

    // PostgreSQL takes the name of the user where none is given.
    fn database(&self) -> &str {
        self.0.get_database().unwrap_or_else(|| self.0.get_username())
    }

    fn forbids(&self, why: &str) -> String {
        let (at, user, database) = (self.at(), self.0.get_username().escape_debug(), self.database().escape_debug());
        format!(
            "the user '{user}' may not make tables in the database '{database}' of PostgreSQL at {at} ({why}); let its owner say \
             `ALTER DATABASE {database} OWNER TO {user}`"
        )
    }

    fn refusal(&self, cause: &sqlx::Error) -> String {
        let (at, options) = (self.at(), self.options());
        let (user, database) = (self.0.get_username().escape_debug(), self.database().escape_debug());
        let why = words(cause);
        if let sqlx::Error::Io(error) = cause {
            return match error.kind() {
                io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => {
                    format!(
                        "no PostgreSQL server listens at {at}; start it, or correct the host and the port of the address"
                    )
                }
                io::ErrorKind::PermissionDenied => format!("this user may not open the socket {at} of PostgreSQL"),
                // The standard library gives failures of names no kind of their own.
                _ if why.contains("lookup address") => {
                    format!("there is no host '{}'; correct the host of the address", self.0.get_host().escape_debug())
                }
                _ => format!(
                    "the PostgreSQL server at {at} cannot be reached: {why}; look at its log and at the firewall"
                ),
            };
        }
        let code = cause.as_database_error().and_then(sqlx::error::DatabaseError::code).unwrap_or_default();
        match &*code {
            "28P01" => format!(
                "PostgreSQL at {at} does not accept the password of the user '{user}'; set the right one in PGPASSWORD"
            ),
            "28000" => format!(
                "PostgreSQL at {at} does not let the user '{user}' in ({why}); make it by `createuser{options} {user}`, or let it in by \
                 pg_hba.conf"
            ),
            "3D000" => format!(
                "PostgreSQL at {at} has no database '{database}'; make it by `createuser{options} {user}`, if there is no such user \
                 yet, and `createdb{options} --owner={user} {database}`"
            ),
            "42501" => self.forbids(&why),
            "53300" => format!("PostgreSQL at {at} has no connection left; end others, or raise its max_connections"),
            "57P03" => format!("PostgreSQL at {at} starts or ends just now; try again in a moment"),
            _ => format!("PostgreSQL at {at} refuses: {why}"),
        }
    }
}
