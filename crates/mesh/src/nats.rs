//! Shared state over NATS `JetStream`.
//!
//! | what | where | limits |
//! |---|---|---|
//! | directory | bucket `PREFIX-directory`: `node.NAME`, `room.NAME`, `code.NAME`, `common.NAME` | newest value, a day |
//! | heartbeats | bucket `PREFIX-heartbeats`, keys `heartbeat.NAME` | the newest of each node, a day |
//! | values shared by all nodes | bucket `PREFIX-common`, keys `lasting.NAME` | does not expire |
//! | events | stream `PREFIX-events`, subjects `PREFIX.events.ROOM` | an hour |
//! | journals | streams `PREFIX-journals-K`, subjects `PREFIX.journals-K.MATCH` | a week |
//! | journals of earlier versions | stream `PREFIX-journals`, subjects `PREFIX.journals.MATCH` | a week |
//! | results | stream `PREFIX-results`, subjects `PREFIX.results.MATCH`, consumer `results` | a work queue, without an age |
//! | results that no node could store | stream `PREFIX-dead`, subjects `PREFIX.dead.MATCH` | 30 days |
//!
//! [Summaries](crate::Summaries) are plain messages with the subjects `PREFIX.summaries.NODE`.
//!
//! Each of the above has a limit in bytes: [`Limits`] sets those of the large ones. A fence is an expectation of `JetStream`:
//! the server stores a message only if the last message of its subject has the sequence that the writer names.

mod directory;
mod log;
mod setup;
mod stream;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_nats::{Subscriber, jetstream::consumer::PullConsumer};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use tokio::{
    sync::OnceCell,
    time::{Instant, sleep, timeout},
};

use self::{
    log::{Logs, NatsJournals},
    setup::Broker,
    stream::{PATIENCE, Put, Stream},
};
use crate::{
    Answer, Delivery, ErrorKind, FollowSummaries, JournalStreams, MAX_APPEND, MAX_DELIVERIES, MeshError, Name,
    Placement, Receipt, Results, Summaries, Summary, TAKEN_SECONDS, agree_on_streams, events, journals, value,
};

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
    /// The number of streams of journals; `None` for that of the arcade, or the default of a new one.
    pub streams: Option<u32>,
}

/// In bytes on each disk of the broker.
#[derive(Debug, Clone)]
pub struct Limits {
    pub directory_bytes: i64,
    /// When it is reached, the oldest events are dropped.
    pub events_bytes: i64,
    /// Of all streams of journals together. When the part of a stream is reached, it rejects appends.
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
            directory_bytes: 256 << 20,
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
    broker: Broker,
    journals_bytes: i64,
    directory: Stream,
    heartbeats: Stream,
    common: Stream,
    events: Logs,
    // One for each stream of the arcade; empty if it has only one.
    hashed: OnceLock<Vec<Logs>>,
    single: OnceCell<Logs>,
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
    /// If no server responds, if it is older than 2.10 or lacks `JetStream`, if existing streams have other limits, or if
    /// the arcade has another number of streams of journals.
    pub async fn connect(place: &BrokerSettings) -> Result<Self, MeshError> {
        let broker = setup::connect(place).await?;
        let since = Instant::now();
        loop {
            // Boxed because the future is large.
            match Box::pin(Self::create(place, broker.clone())).await {
                // Busy servers may take longer than the timeout of one request.
                Err(error) if error.kind() == ErrorKind::Away && since.elapsed() < SETTLING => sleep(PAUSE).await,
                created => return created,
            }
        }
    }

    async fn create(place: &BrokerSettings, broker: Broker) -> Result<Self, MeshError> {
        let directory = broker.directory(&place.limits).await?;
        let heartbeats = broker.heartbeats().await?;
        let common = broker.common().await?;
        let events = broker.logs(events::BOUNDS.name, events::BOUNDS, place.limits.events_bytes).await?;
        let (results, consumer) = broker.results(&place.limits).await?;
        let dead = broker.dead_letters().await?;
        let (dead_letters, skipped) = (AtomicU64::new(0), AtomicU64::new(0));
        let nats = Self(Arc::new(Inner {
            broker,
            journals_bytes: place.limits.journals_bytes,
            directory,
            heartbeats,
            common,
            events,
            hashed: OnceLock::new(),
            single: OnceCell::new(),
            results,
            consumer,
            dead,
            dead_letters,
            skipped,
        }));
        nats.create_journals(place.streams).await?;
        Ok(nats)
    }

    async fn create_journals(&self, wanted: Option<u32>) -> Result<(), MeshError> {
        let (broker, bytes) = (&self.0.broker, self.0.journals_bytes);
        let count = agree_on_streams(self, wanted).await?;
        let mut hashed = vec![];
        if count == 1 {
            self.single().await?;
        } else {
            for number in 0..count {
                let kind = format!("{}-{number}", journals::BOUNDS.name);
                hashed.push(broker.logs(&kind, journals::BOUNDS, bytes / i64::from(count)).await?);
            }
        }
        // Set once: each attempt to connect creates another value.
        let _ = self.0.hashed.set(hashed);
        Ok(())
    }

    // Created on first use: an arcade with several streams has it only if nodes of earlier versions have created it.
    async fn single(&self) -> Result<&Logs, MeshError> {
        let logs = || self.0.broker.logs(journals::BOUNDS.name, journals::BOUNDS, self.0.journals_bytes);
        self.0.single.get_or_try_init(logs).await
    }

    async fn has_single(&self) -> Result<bool, MeshError> {
        self.0.broker.has_stream(journals::BOUNDS.name).await
    }

    fn hashed(&self) -> &[Logs] {
        self.0.hashed.get().map_or(&[], |hashed| hashed)
    }

    /// Whether the arcade has several streams of journals.
    pub fn has_streams(&self) -> bool {
        !self.hashed().is_empty()
    }

    pub fn journals(&self) -> JournalStreams {
        let at = |placement| Arc::new(NatsJournals::new(self.clone(), placement));
        JournalStreams { single: at(Placement::Single), hashed: at(Placement::Hashed) }
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

/// How long a request waits: the server that responds may lag behind the one that stored the result.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Serialize, Deserialize)]
struct Head {
    id: Name,
}

impl Nats {
    async fn submit_result(&self, id: &Name, body: &Bytes) -> Result<bool, MeshError> {
        let what = format!("submit the result of {id}");
        let stream = &self.0.results;
        let bytes = value::write(&Head { id: id.clone() }, body).filter(|_| body.len() <= MAX_APPEND);
        let bytes = bytes.ok_or_else(|| {
            let why = format!("it has more than {MAX_APPEND} bytes");
            MeshError::new(ErrorKind::Full, what.clone(), stream.place(), why, "shorten it")
        })?;
        let put = stream.put(&what, stream.subject(id), Some(bytes), (None, Some(id.as_str()))).await?;
        Ok(matches!(put, Put::Stored(_)))
    }

    async fn take_result(&self) -> Result<Option<Delivery>, MeshError> {
        let what = "take a result";
        let stream = &self.0.results;
        loop {
            let batch = self.0.consumer.batch().max_messages(1).expires(LOOK).messages().await;
            let mut batch = batch.map_err(|error| stream.away(what, error))?;
            let Some(message) = batch.next().await else { return Ok(None) };
            let message = message.map_err(|error| stream.away(what, error))?;
            let Some(receipt) = message.reply.as_ref().map(|reply| Receipt(reply.to_string())) else { continue };
            let info = message.info().map_err(|error| stream.away(what, error))?;
            let (count, sequence) = (u64::try_from(info.delivered).unwrap_or(1), info.stream_sequence);
            let message = message.message;
            match value::read::<Head>(&message.payload) {
                Ok((Head { id }, body)) => {
                    return Ok(Some(Delivery { id, body: Some(body), count, receipt, message: message.payload }));
                }
                Err(_) => self.skip(),
            }
            // Damaged, or of a later version: skips the first deliveries, so that nodes of that version can take it.
            if count >= MAX_DELIVERIES {
                let id = stream.key(&message.subject).and_then(|id| id.parse().ok());
                let unnamed = || format!("unnamed-{sequence}").try_into().map_err(|error| stream.away(what, error));
                let id = id.map_or_else(unnamed, Ok)?;
                return Ok(Some(Delivery { id, body: None, count, receipt, message: message.payload }));
            }
        }
    }

    async fn give_up_result(&self, delivery: &Delivery) -> Result<(), MeshError> {
        let what = format!("move the result of {} to the dead letters", delivery.id);
        let dead = &self.0.dead;
        // After a lost reply, the next delivery stores it again, and the stream detects the duplicate by its id.
        let id = Some(delivery.id.as_str());
        dead.put(&what, dead.subject(&delivery.id), Some(delivery.message.clone()), (None, id)).await?;
        self.0.results.request(&what, delivery.receipt.0.clone(), Bytes::from_static(b"+TERM")).await?;
        self.0.dead_letters.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Results for Nats {
    fn submit<'a>(&'a self, id: &'a Name, body: &'a Bytes) -> Answer<'a, Result<bool, MeshError>> {
        Box::pin(self.submit_result(id, body))
    }

    fn take(&self) -> Answer<'_, Result<Option<Delivery>, MeshError>> {
        Box::pin(self.take_result())
    }

    fn acknowledge<'a>(&'a self, receipt: &'a Receipt) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            let what = "acknowledge a result";
            // A lost acknowledgement would cause a redelivery.
            self.0.results.request(what, receipt.0.clone(), Bytes::from_static(b"+ACK")).await
        })
    }

    fn give_up<'a>(&'a self, delivery: &'a Delivery) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(self.give_up_result(delivery))
    }

    fn dead_letters(&self) -> u64 {
        self.0.dead_letters.load(Ordering::Relaxed)
    }
}

impl Nats {
    fn summary_subject(&self, node: &str) -> String {
        format!("{}.summaries.{node}", self.0.broker.prefix())
    }
}

impl Summaries for Nats {
    fn publish<'a>(&'a self, summary: &'a Summary) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            let what = "publish a summary of rooms";
            let events = &self.0.events;
            let rows = serde_json::to_vec(&summary.rows).map_err(|error| events.away(what, error))?;
            let Some(bytes) = value::write(summary, &rows) else { return Ok(()) };
            let client = self.0.broker.client();
            // Without a connection, the client queues a limited number of messages.
            let sent = client.publish(self.summary_subject(summary.node.as_str()), bytes);
            let sent = timeout(PATIENCE, sent).await.map_err(|error| events.away(what, error))?;
            sent.map_err(|error| events.away(what, error))
        })
    }

    fn summaries(&self) -> Answer<'_, Result<Box<dyn FollowSummaries>, MeshError>> {
        Box::pin(async move {
            let what = "follow the summaries of rooms";
            let (client, events) = (self.0.broker.client(), &self.0.events);
            let subscriber = client.subscribe(self.summary_subject("*")).await;
            let subscriber = subscriber.map_err(|error| events.away(what, error))?;
            // The server has the subscription before the node joins.
            client.flush().await.map_err(|error| events.away(what, error))?;
            let follow: Box<dyn FollowSummaries> = Box::new(Following { nats: self.clone(), subscriber });
            Ok(follow)
        })
    }
}

struct Following {
    nats: Nats,
    subscriber: Subscriber,
}

impl FollowSummaries for Following {
    fn next(&mut self) -> Answer<'_, Result<Summary, MeshError>> {
        Box::pin(async move {
            loop {
                let message = self.subscriber.next().await;
                let message = message.ok_or_else(|| {
                    self.nats.0.events.away("follow the summaries of rooms", "the connection has ended")
                })?;
                let read = value::read::<Summary>(&message.payload).ok().and_then(|(summary, body)| {
                    let rows = serde_json::from_slice::<BTreeMap<Name, String>>(&body).ok()?;
                    Some(Summary { rows, ..summary })
                });
                match read {
                    Some(summary) => return Ok(summary),
                    None => self.nats.skip(),
                }
            }
        })
    }
}
