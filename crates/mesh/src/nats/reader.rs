use std::time::Duration;

use async_nats::jetstream::{
    Message,
    consumer::{PullConsumer, push::Ordered},
};
use futures_util::StreamExt as _;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::stream::{PATIENCE, Stream};
use crate::MeshError;

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
pub(super) async fn read_to(
    stream: &Stream,
    what: &str,
    subject: String,
    last: u64,
) -> Result<Vec<(u64, Message)>, MeshError> {
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
