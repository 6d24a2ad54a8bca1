//! Looks at each statement of a test, and breaks one of them.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use sqlx::{Connection as _, PgConnection};

use crate::{
    StoreError,
    connection::{Connection, Value},
};

/// How a statement is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The disk is full. SQLite undoes the transaction then; in PostgreSQL it has failed.
    Full,
    /// Before the statement the server at this address ends the connection.
    Killed(String),
    /// It is executed, and the connection ends before the answer comes.
    Unheard,
}

/// A statement and its values, which outlive it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) text: String,
    pub(crate) values: Vec<Value<'static>>,
}

#[derive(Debug, Default)]
struct State {
    seen: Vec<Seen>,
    // After how many statements which fault comes.
    next: Option<(usize, Fault)>,
    // How often SQLite has looked at the clock.
    looked: u64,
}

/// What happens to the statements of a lane.
#[derive(Debug, Default)]
pub(crate) struct Probe(Mutex<State>);

impl Probe {
    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Breaks the statement that comes after this many others.
    pub(crate) fn plan(&self, steps: usize, fault: Fault) {
        self.with(|state| state.next = Some((steps, fault)));
    }

    /// Whether a fault is still to come, which then does not.
    pub(crate) fn cancel(&self) -> bool {
        self.with(|state| state.next.take().is_some())
    }

    /// All statements since this was last asked.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.with(|state| std::mem::take(&mut state.seen))
    }

    /// Adds to how often SQLite has looked at the clock.
    pub(crate) fn worked(&self, looked: u64) {
        self.with(|state| state.looked += looked);
    }

    /// How often SQLite has looked at the clock since this was last asked.
    pub(crate) fn looked(&self) -> u64 {
        self.with(|state| std::mem::take(&mut state.looked))
    }

    /// Before a statement.
    pub(crate) async fn look(
        &self,
        connection: &mut Connection,
        text: &str,
        values: &[Value<'_>],
    ) -> Result<(), StoreError> {
        // The memory of the texts is not given back: these are a few in a test.
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
                // Nothing to undo if it is the beginning.
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
                // It waits until the backend is gone.
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
