//! Events and journals: each log is a subject of a stream.

use std::{
    collections::HashMap,
    slice,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_nats::jetstream::{
    Message,
    consumer::{PullConsumer, push::Ordered},
};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::stream::{PATIENCE, Put, Stream};
use crate::{
    Answer, Append, Appended, ErrorKind, Event, Events, Fence, Follow, Journals, MAX_APPEND, MAX_ROOMS, MeshError,
    Name, Nats, Piece, Placement, RecordKind, Sequence,
    journals::stream_of,
    log::{self, Bounds, Chain, Head, ReadStep, Record, Verdict},
    value,
};

/// Attempts of an append that competes with other writers.
const ATTEMPTS: usize = 8;

pub(super) struct Logs {
    stream: Stream,
    bounds: Bounds,
    // The last records of logs that this node appends to, without bodies.
    last: Mutex<HashMap<Name, Record>>,
}

fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Logs {
    pub(super) fn new(stream: Stream, bounds: Bounds) -> Self {
        Self { stream, bounds, last: Mutex::default() }
    }

    pub(super) fn away(&self, what: &str, why: impl std::fmt::Display) -> MeshError {
        self.stream.away(what, why)
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<Name, Record>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cache_record(&self, record: Record) {
        let mut cache = self.cache();
        // Records of closed rooms accumulate. A missing record is read again.
        if cache.len() >= 2 * MAX_ROOMS {
            cache.clear();
        }
        cache.insert(record.head.name.clone(), Record { body: Bytes::new(), ..record });
    }

    async fn last(&self, what: &str, name: &Name) -> Result<Option<Record>, MeshError> {
        let Some(message) = self.stream.last(what, &self.stream.subject(name)).await? else { return Ok(None) };
        if let Ok((head, body)) = value::read::<Head>(&message.payload) {
            return Ok(Some(Record { sequence: Sequence(message.sequence), head, body }));
        }
        let advice = "upgrade this node, or wait until the nodes of the later version release it";
        let why = "a later version wrote it, or it is damaged";
        Err(MeshError::new(ErrorKind::Setup, what, self.stream.place(), why, advice))
    }

    // Returns `None` if `last` is no longer the last record.
    async fn store(
        &self,
        what: &str,
        last: Option<&Record>,
        head: Head,
        body: &Bytes,
    ) -> Result<Option<Sequence>, MeshError> {
        let place = self.stream.place();
        let too_long = || MeshError::new(ErrorKind::Full, what, place, "its head is too long", "report this bug");
        let bytes = value::write(&head, body).ok_or_else(too_long)?;
        let expected = last.map_or(0, |last| last.sequence.0);
        let put = self.stream.put(what, self.stream.subject(&head.name), Some(bytes), (Some(expected), None)).await;
        match put {
            Ok(Put::Stored(sequence)) => {
                let sequence = Sequence(sequence);
                self.cache_record(Record { sequence, head, body: Bytes::new() });
                Ok(Some(sequence))
            }
            Ok(Put::Known | Put::WrongLast) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn append(&self, name: &Name, append: &Append) -> Result<Appended, MeshError> {
        let what = format!("append to {}.{name}", self.bounds.name);
        if append.body.len() > MAX_APPEND {
            let why = format!("it has {} bytes, but at most {MAX_APPEND} are allowed", append.body.len());
            return Err(MeshError::new(ErrorKind::Full, what, self.stream.place(), why, "append it in parts"));
        }
        // After an error the record stays removed, so that it is read again.
        let mut cached = self.cache().remove(name).filter(|last| append.after == Some(last.sequence));
        for _ in 0..ATTEMPTS {
            let last = match cached.take() {
                Some(last) => Some(last),
                None => self.last(&what, name).await?,
            };
            match log::judge(name, last.as_ref(), append, self.bounds, unix_now()) {
                Verdict::Refuse(why) => return Ok(why),
                Verdict::Store(head, unneeded) => {
                    let Some(sequence) = self.store(&what, last.as_ref(), head, &append.body).await? else { continue };
                    if let Some(first) = unneeded {
                        self.stream.purge(&what, self.stream.subject(name), Some(first.0)).await?;
                    }
                    return Ok(Appended::Stored(sequence));
                }
            }
        }
        Err(self.stream.away(&what, "other nodes keep appending to it"))
    }

    // Raises the fence. If `removes` is set, earlier records become unreadable.
    async fn open(&self, name: &Name, fence: Fence, removes: bool) -> Result<Appended, MeshError> {
        let what = format!("open {}.{name}", self.bounds.name);
        for _ in 0..ATTEMPTS {
            let last = self.last(&what, name).await?;
            match log::open(name, last.as_ref(), fence) {
                Err(fence) => return Ok(Appended::Fenced(fence)),
                Ok(mut head) => {
                    if removes {
                        head.anchors.clear();
                    }
                    if let Some(sequence) = self.store(&what, last.as_ref(), head, &Bytes::new()).await? {
                        return Ok(Appended::Stored(sequence));
                    }
                }
            }
        }
        Err(self.stream.away(&what, "other nodes keep opening it"))
    }

    // The last anchor, or the last record if no anchor is retained.
    async fn anchor(&self, what: &str, name: &Name) -> Result<Option<Sequence>, MeshError> {
        Ok(self.last(what, name).await?.map(|last| match last.head.kind {
            RecordKind::Anchor => last.sequence,
            RecordKind::Entry | RecordKind::Opened => last.head.anchors.last().copied().unwrap_or(last.sequence),
        }))
    }

    async fn read(&self, what: &str, name: &Name, after: Option<Sequence>) -> Result<Reader, MeshError> {
        Reader::begin(&self.stream, what.to_owned(), self.stream.subject(name), after.map(|after| after.0)).await
    }

    async fn read_anchored(&self, what: &str, name: &Name) -> Result<Reader, MeshError> {
        let anchor = self.anchor(what, name).await?;
        self.read(what, name, anchor.map(|anchor| Sequence(anchor.0.saturating_sub(1)))).await
    }
}

impl Nats {
    fn record(&self, (sequence, message): &(u64, Message)) -> Option<Record> {
        let record = value::read(&message.payload);
        // An unreadable record appears as a gap.
        let record = record.inspect_err(|_| self.skip()).ok();
        record.map(|(head, body)| Record { sequence: Sequence(*sequence), head, body })
    }

    async fn read_journal(&self, logs: &Logs, journal: &Name) -> Result<Vec<Piece>, MeshError> {
        let what = format!("read journals.{journal}");
        let Some(last) = logs.last(&what, journal).await? else { return Ok(vec![]) };
        let (mut chain, mut pieces) = (Chain::after(None), vec![]);
        for message in read_to(&logs.stream, &what, logs.stream.subject(journal), last.sequence.0).await? {
            let Some(record) = self.record(&message) else { continue };
            match chain.take(&record) {
                ReadStep::Deliver => {
                    let is_start = record.head.kind == RecordKind::Anchor;
                    pieces.push(Piece { is_start, body: record.body });
                }
                ReadStep::Skip => {}
                ReadStep::Gap => pieces.clear(),
            }
        }
        Ok(pieces)
    }
}

impl Events for Nats {
    fn publish<'a>(&'a self, room: &'a Name, event: &'a Append) -> Answer<'a, Result<Appended, MeshError>> {
        Box::pin(self.0.events.append(room, event))
    }

    fn follow<'a>(&'a self, room: &'a Name, after: Option<Sequence>) -> Answer<'a, Result<Box<dyn Follow>, MeshError>> {
        Box::pin(async move {
            let what = format!("follow events.{room}");
            let logs = &self.0.events;
            let messages = match after {
                Some(_) => logs.read(&what, room, after).await?,
                None => logs.read_anchored(&what, room).await?,
            };
            let follow: Box<dyn Follow> = Box::new(Following {
                nats: self.clone(),
                room: room.clone(),
                what,
                messages,
                chain: Chain::after(after),
                is_cut: false,
            });
            Ok(follow)
        })
    }
}

struct Following {
    nats: Nats,
    room: Name,
    what: String,
    messages: Reader,
    chain: Chain,
    // A record is missing: the next read starts with the last snapshot.
    is_cut: bool,
}

impl Follow for Following {
    fn next(&mut self) -> Answer<'_, Result<Event, MeshError>> {
        Box::pin(async move {
            let logs = &self.nats.0.events;
            loop {
                if self.is_cut {
                    self.messages = logs.read_anchored(&self.what, &self.room).await?;
                    self.is_cut = false;
                }
                let Some(record) = self.nats.record(&self.messages.next().await?) else { continue };
                match self.chain.take(&record) {
                    ReadStep::Deliver => {
                        let is_snapshot = record.head.kind == RecordKind::Anchor;
                        return Ok(Event { sequence: record.sequence, is_snapshot, body: record.body });
                    }
                    ReadStep::Skip => {}
                    ReadStep::Gap => self.is_cut = true,
                }
            }
        })
    }
}

pub(super) struct NatsJournals {
    nats: Nats,
    placement: Placement,
}

impl NatsJournals {
    pub(super) const fn new(nats: Nats, placement: Placement) -> Self {
        Self { nats, placement }
    }

    async fn all(&self) -> Result<&[Logs], MeshError> {
        match self.placement {
            Placement::Single => Ok(slice::from_ref(self.nats.single().await?)),
            Placement::Hashed => Ok(self.nats.hashed()),
        }
    }

    async fn of(&self, journal: &Name) -> Result<&Logs, MeshError> {
        let all = self.all().await?;
        match all.get(stream_of(journal, all.len().max(1))) {
            Some(logs) => Ok(logs),
            // An entry of the directory that no node of this arcade writes.
            None => self.nats.single().await,
        }
    }
}

impl Journals for NatsJournals {
    fn open<'a>(&'a self, journal: &'a Name, fence: Fence) -> Answer<'a, Result<Appended, MeshError>> {
        Box::pin(async move { self.of(journal).await?.open(journal, fence, false).await })
    }

    fn append<'a>(&'a self, journal: &'a Name, piece: &'a Append) -> Answer<'a, Result<Appended, MeshError>> {
        Box::pin(async move { self.of(journal).await?.append(journal, piece).await })
    }

    fn read<'a>(&'a self, journal: &'a Name) -> Answer<'a, Result<Vec<Piece>, MeshError>> {
        Box::pin(async move { self.nats.read_journal(self.of(journal).await?, journal).await })
    }

    fn remove<'a>(&'a self, journal: &'a Name, fence: Fence) -> Answer<'a, Result<bool, MeshError>> {
        Box::pin(async move {
            let logs = self.of(journal).await?;
            // Raise the fence first, so that no node appends under a smaller one in between.
            let Appended::Stored(last) = logs.open(journal, fence, true).await? else { return Ok(false) };
            let what = format!("remove journals.{journal}");
            logs.cache().remove(journal);
            // Keeps the marker, so that an earlier owner cannot recreate the log, and the records of a later claim.
            logs.stream.purge(&what, logs.stream.subject(journal), Some(last.0)).await?;
            Ok(true)
        })
    }

    fn trim<'a>(&'a self, journal: &'a Name, before: Sequence) -> Answer<'a, Result<(), MeshError>> {
        Box::pin(async move {
            let stream = &self.of(journal).await?.stream;
            stream.purge(&format!("trim journals.{journal}"), stream.subject(journal), Some(before.0)).await
        })
    }

    fn names(&self) -> Answer<'_, Result<Vec<Name>, MeshError>> {
        Box::pin(async move {
            let mut names = vec![];
            if self.placement == Placement::Single && !self.nats.has_single().await? {
                return Ok(names);
            }
            for Logs { stream, .. } in self.all().await? {
                let subjects = stream.subjects("list the journals").await?;
                let long = subjects.iter().filter(|(_, count)| *count > 1);
                names.extend(long.filter_map(|(subject, _)| stream.key(subject)?.parse::<Name>().ok()));
            }
            Ok(names)
        })
    }

    fn fence<'a>(&'a self, journal: &'a Name) -> Answer<'a, Result<Option<Fence>, MeshError>> {
        Box::pin(async move {
            let logs = self.of(journal).await?;
            let last = logs.last(&format!("read the fence of journals.{journal}"), journal).await?;
            Ok(last.map(|last| last.head.fence))
        })
    }
}

const BATCH: usize = 256;
/// The pause before a retry if the server does not know the consumer yet, because another server has it.
const SOON: Duration = Duration::from_millis(5);

/// The messages of a subject, in order and without gaps, across reconnects.
///
/// The underlying consumer reconnects forever without reporting it, so an outage looks like a silent subject. If no
/// message arrives for [`PATIENCE`], the reader queries the stream for the last one.
pub(super) struct Reader {
    stream: Stream,
    what: String,
    subject: String,
    messages: Ordered,
    // The last received message, and the last one of the subject at the previous query.
    seen: u64,
    due: u64,
    next_query: Instant,
}

impl Reader {
    pub(super) async fn begin(
        stream: &Stream,
        what: String,
        subject: String,
        after: Option<u64>,
    ) -> Result<Self, MeshError> {
        let messages = stream.read(&what, subject.clone(), after).await?;
        let (stream, next_query) = (stream.clone(), Instant::now() + PATIENCE);
        Ok(Self { stream, what, subject, messages, seen: after.unwrap_or(0), due: 0, next_query })
    }

    /// Dropping the future loses no message.
    ///
    /// # Errors
    ///
    /// If the servers are unreachable, or do not send stored messages. The reader cannot be used after that.
    pub(super) async fn next(&mut self) -> Result<(u64, Message), MeshError> {
        loop {
            if let Ok(message) = timeout_at(self.next_query, self.messages.next()).await {
                let message = message.ok_or_else(|| self.stream.away(&self.what, "it has ended"))?;
                let message = message.map_err(|error| self.stream.away(&self.what, error))?;
                let info = message.info().map_err(|error| self.stream.away(&self.what, error))?;
                self.seen = info.stream_sequence;
                self.next_query = Instant::now() + PATIENCE;
                return Ok((self.seen, message));
            }
            let last = self.stream.last(&self.what, &self.subject).await?.map_or(0, |last| last.sequence);
            // A message that was stored at the previous query is overdue; later ones may still be in transit.
            if self.due > self.seen {
                return Err(self.stream.away(&self.what, "no reply"));
            }
            self.due = last;
            self.next_query = Instant::now() + PATIENCE;
        }
    }
}

/// Reads a subject up to a message, and removes the consumer for it: a node may take over a thousand rooms in half a
/// minute, and consumers count against the limit of the stream until they time out.
///
/// # Errors
///
/// If the servers are unreachable, or do not send stored messages.
async fn read_to(stream: &Stream, what: &str, subject: String, last: u64) -> Result<Vec<(u64, Message)>, MeshError> {
    let consumer = stream.consumer(what, subject).await?;
    let read = timeout(PATIENCE, read_with(&consumer, stream, what, last)).await;
    stream.remove_consumer(&consumer).await;
    read.map_err(|_| stream.away(what, "it is incomplete"))?
}

async fn read_with(
    consumer: &PullConsumer,
    stream: &Stream,
    what: &str,
    last: u64,
) -> Result<Vec<(u64, Message)>, MeshError> {
    let mut messages = vec![];
    loop {
        let batch = consumer.batch().max_messages(BATCH).expires(PATIENCE).messages().await;
        let mut batch = batch.map_err(|error| stream.away(what, error))?;
        while let Some(message) = batch.next().await {
            let message = match message {
                Ok(message) => message,
                Err(_) if messages.is_empty() => {
                    sleep(SOON).await;
                    break;
                }
                Err(error) => return Err(stream.away(what, error)),
            };
            let info = message.info().map_err(|error| stream.away(what, error))?;
            let (sequence, is_next) = (info.stream_sequence, info.consumer_sequence == messages.len() as u64 + 1);
            // The consumer does not redeliver, so a gap means a lost message.
            if !is_next {
                return Err(stream.away(what, "a part of it was lost"));
            }
            messages.push((sequence, message));
            if sequence >= last {
                return Ok(messages);
            }
        }
    }
}
