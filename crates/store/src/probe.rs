//! Records each statement of a test, and injects a fault into one of them.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use sqlx::{Connection as _, PgConnection};

use crate::{
    StoreError,
    connection::{Connection, Value},
};

/// The kind of an injected fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The disk is full. SQLite then rolls the transaction back; in PostgreSQL the transaction has failed.
    Full,
    /// The server at this address closes the connection before the statement.
    Killed(String),
    /// The statement is executed, and the connection is lost before its reply arrives.
    Unheard,
}

/// A statement and its values, with a static lifetime.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) text: String,
    pub(crate) values: Vec<Value<'static>>,
}

#[derive(Debug, Default)]
struct State {
    seen: Vec<Seen>,
    // The number of statements before the next fault, and the fault.
    next: Option<(usize, Fault)>,
    // How often SQLite has checked the time.
    looked: u64,
}

/// The probe of the statements of a pool.
#[derive(Debug, Default)]
pub(crate) struct Probe(Mutex<State>);

impl Probe {
    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Injects a fault after this many statements.
    pub(crate) fn plan(&self, steps: usize, fault: Fault) {
        self.with(|state| state.next = Some((steps, fault)));
    }

    /// Cancels the planned fault. Returns whether it was still pending.
    pub(crate) fn cancel(&self) -> bool {
        self.with(|state| state.next.take().is_some())
    }

    /// Returns all statements since the last call.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.with(|state| std::mem::take(&mut state.seen))
    }

    /// Adds to the number of time checks by SQLite.
    pub(crate) fn worked(&self, looked: u64) {
        self.with(|state| state.looked += looked);
    }

    /// Returns the number of time checks by SQLite since the last call.
    pub(crate) fn looked(&self) -> u64 {
        self.with(|state| std::mem::take(&mut state.looked))
    }

    /// Runs before each statement.
    pub(crate) async fn look(
        &self,
        connection: &mut Connection,
        text: &str,
        values: &[Value<'_>],
    ) -> Result<(), StoreError> {
        // This leaks the texts, but a test has only a few.
        let keep = |value: &Value<'_>| match *value {
            Value::Integer(number) => Value::Integer(number),
            Value::Real(number) => Value::Real(number),
            Value::Text(text) => Value::Text(text.map(|text| &*text.to_owned().leak())),
        };
        let seen = Seen { text: text.to_owned(), values: values.iter().map(keep).collect() };
        let fault = self.with(|state| {
            state.seen.push(seen.clone());
            match state.next.take() {
                Some((0, fault)) => Some(fault),
                Some((steps, fault)) => {
                    state.next = Some((steps - 1, fault));
                    None
                }
                None => None,
            }
        });
        match fault {
            None => Ok(()),
            Some(Fault::Full) if connection.is_sqlite() => {
                // This fails if no transaction has started, which is fine.
                let _ = connection.plain("ROLLBACK".into(), &[]).await;
                let error = io::Error::from(io::ErrorKind::StorageFull);
                Err(StoreError::File { path: "results.db".into(), error })
            }
            Some(Fault::Full) => {
                let text = "DO $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$";
                Err(connection.plain(text.into(), &[]).await.unwrap_err().into())
            }
            Some(Fault::Killed(address)) => {
                let rows = connection.plain("SELECT CAST(pg_backend_pid() AS BIGINT)".into(), &[]).await.unwrap();
                let process = rows[0].integer(0).unwrap();
                let mut other = PgConnection::connect(&address).await.unwrap();
                // Waits until the backend has exited.
                let text = "SELECT pg_terminate_backend(CAST($1 AS INT), 30000)";
                sqlx::query(text).bind(process).execute(&mut other).await.unwrap();
                Ok(())
            }
            Some(Fault::Unheard) => {
                connection.plain(seen.text, &seen.values).await.unwrap();
                Err(StoreError::Database(sqlx::Error::Io(io::ErrorKind::ConnectionReset.into())))
            }
        }
    }
}
