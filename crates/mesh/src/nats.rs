//! Shared state over NATS `JetStream`.
//!
//! | what | where | limits |
//! |---|---|---|
//! | directory | bucket `PREFIX-directory`: `node.NAME`, `room.NAME`, `code.NAME`, `common.NAME` | newest value, a day |
//! | heartbeats | bucket `PREFIX-heartbeats`, keys `heartbeat.NAME` | the newest of each node, a day |
//! | values shared by all nodes | bucket `PREFIX-common`, keys `lasting.NAME` | does not expire |
//! | events | stream `PREFIX-events`, subjects `PREFIX.events.ROOM` | an hour |
//! | journals | stream `PREFIX-journals`, subjects `PREFIX.journals.MATCH` | a week |
//! | results | stream `PREFIX-results`, subjects `PREFIX.results.MATCH`, consumer `results` | a work queue, without an age |
//! | results that no node could store | stream `PREFIX-dead`, subjects `PREFIX.dead.MATCH` | 30 days |
//!
//! Each also has a limit in bytes: [`Limits`] sets those of the large ones. A fence is an expectation of `JetStream`:
//! the server stores a message only if the last message of its subject has the sequence that the writer names.

mod directory;
mod log;
mod reader;
mod results;
mod setup;
mod stream;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_nats::jetstream::consumer::PullConsumer;
use tokio::time::{Instant, sleep};

use self::{log::Logs, setup::Broker, stream::Stream};

use crate::{ErrorKind, MeshError, Name, TAKEN_SECONDS, events, journals};

/// How long reachable servers may take to create the streams.
const SETTLING: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Debug, Clone)]
pub struct BrokerSettings {
    /// Servers of one cluster, of which one must be reachable: `nats://HOST:PORT`, or `nats://USER:PASSWORD@HOST:PORT`;
    /// `tls://` encrypts.
    pub servers: Vec<String>,
    /// Arcades with different prefixes share a broker without sharing data.
    pub prefix: Name,
    pub limits: Limits,
}

/// In bytes on each disk of the broker.
#[derive(Debug, Clone)]
pub struct Limits {
    pub directory_bytes: i64,
    /// When it is reached, the oldest events are dropped.
    pub events_bytes: i64,
    /// When it is reached, appends are rejected.
    pub journals_bytes: i64,
    /// When it is reached, new results are rejected.
    pub results_bytes: i64,
    /// Replicas: 1, or 3 with three servers or more. The default depends on the servers.
    pub copies: Option<usize>,
    /// How long a consumer has exclusive access to a result.
    pub taken_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            directory_bytes: 64 << 20,
            events_bytes: 256 << 20,
            journals_bytes: 4 << 30,
            results_bytes: 64 << 20,
            copies: None,
            taken_seconds: TAKEN_SECONDS,
        }
    }
}

/// Clones share the connection.
#[derive(Clone)]
pub struct Nats(Arc<Inner>);

struct Inner {
    directory: Stream,
    heartbeats: Stream,
    common: Stream,
    events: Logs,
    journals: Logs,
    results: Stream,
    consumer: PullConsumer,
    dead: Stream,
    dead_letters: AtomicU64,
    /// Values that are damaged or of a later version.
    skipped: AtomicU64,
}

impl Nats {
    /// Connects to one of the servers, and creates missing streams.
    ///
    /// # Errors
    /// If no server responds, if it is older than 2.10 or lacks `JetStream`, or if existing streams have other limits.
    pub async fn connect(place: &BrokerSettings) -> Result<Self, MeshError> {
        let broker = setup::connect(place).await?;
        let since = Instant::now();
        loop {
            // Boxed because the future is large.
            match Box::pin(Self::create(place, &broker)).await {
                // Busy servers may take longer than the timeout of one request.
                Err(error) if error.kind() == ErrorKind::Away && since.elapsed() < SETTLING => sleep(PAUSE).await,
                created => return created,
            }
        }
    }

    async fn create(place: &BrokerSettings, broker: &Broker) -> Result<Self, MeshError> {
        let directory = broker.directory(&place.limits).await?;
        let heartbeats = broker.heartbeats().await?;
        let common = broker.common().await?;
        let events = broker.logs(events::BOUNDS, place.limits.events_bytes).await?;
        let journals = broker.logs(journals::BOUNDS, place.limits.journals_bytes).await?;
        let (results, consumer) = broker.results(&place.limits).await?;
        let dead = broker.dead_letters().await?;
        let (dead_letters, skipped) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self(Arc::new(Inner {
            directory,
            heartbeats,
            common,
            events,
            journals,
            results,
            consumer,
            dead,
            dead_letters,
            skipped,
        })))
    }

    /// Returns the version of the servers if they are usable. Creates no streams.
    ///
    /// # Errors
    /// The errors of [`connect`](Self::connect), except for those about limits.
    pub async fn check(place: &BrokerSettings) -> Result<String, MeshError> {
        setup::connect(place).await?.version().await
    }

    pub fn skipped(&self) -> u64 {
        self.0.skipped.load(Ordering::Relaxed)
    }

    fn skip(&self) {
        self.0.skipped.fetch_add(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nats").field("place", &self.0.directory.place()).finish_non_exhaustive()
    }
}
