//! A few connections of one kind, which are used in turn.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use crate::{
    StoreError,
    connection::{Connection, Place, Role},
};

/// How long somebody waits for a connection.
const WAIT: Duration = Duration::from_secs(3);

/// Connections of one kind, up to a number of them.
#[derive(Debug)]
pub(crate) struct Lane {
    place: Arc<Place>,
    role: Role,
    size: u32,
    places: Semaphore,
    idle: Mutex<Vec<Connection>>,
    #[cfg(test)]
    pub(crate) probe: Arc<crate::probe::Probe>,
}

impl Lane {
    pub(crate) fn new(place: Arc<Place>, role: Role, size: u32) -> Self {
        Self {
            place,
            role,
            size,
            places: Semaphore::new(size as usize),
            idle: Mutex::default(),
            #[cfg(test)]
            probe: Arc::default(),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection, when it is this one's turn.
    pub(crate) async fn lease(&self) -> Result<Lease<'_>, StoreError> {
        let place = timeout(WAIT, self.places.acquire()).await.map_err(|_| StoreError::Busy(WAIT))?;
        let place = place.map_err(|_| StoreError::Closed)?;
        let kept = self.idle().pop();
        let connection = match kept {
            Some(connection) => connection,
            None => self.open().await?,
        };
        Ok(Lease { connection, lane: self, place })
    }

    async fn open(&self) -> Result<Connection, StoreError> {
        #[cfg_attr(not(test), expect(unused_mut, reason = "tests look on"))]
        let mut connection = Connection::open(&self.place, self.role).await?;
        #[cfg(test)]
        {
            connection.probe = Arc::clone(&self.probe);
        }
        Ok(connection)
    }

    /// Closes the connections that nobody uses. Those to a server that was restarted are all gone.
    pub(crate) fn discard(&self) {
        self.idle().clear();
    }

    /// Ends all connections, as soon as they are not used.
    pub(crate) async fn close(&self) {
        let _all = self.places.acquire_many(self.size).await;
        self.places.close();
        let idle = std::mem::take(&mut *self.idle());
        for connection in idle {
            connection.close().await;
        }
    }
}

/// A connection that is used. It is closed when this is dropped, unless its work is done: nobody knows its state after an error, or
/// when somebody did not wait for the answer.
#[derive(Debug)]
pub(crate) struct Lease<'a> {
    connection: Connection,
    lane: &'a Lane,
    place: SemaphorePermit<'a>,
}

impl Deref for Lease<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Lease<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl Lease<'_> {
    /// Everything went well, and another may use the connection.
    pub(crate) fn done(self) {
        let Self { connection, lane, place } = self;
        lane.idle().push(connection);
        drop(place);
    }
}
