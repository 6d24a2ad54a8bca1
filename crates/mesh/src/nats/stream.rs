use std::{fmt, time::Duration};

use async_nats::{
    HeaderMap,
    jetstream::{
        self, Context,
        consumer::{
            AckPolicy, Consumer, DeliverPolicy, PullConsumer, pull,
            push::{Ordered, OrderedConfig},
        },
        context::PublishErrorKind,
        message::{PublishMessage, StreamMessage},
        stream::{Info, LastRawMessageErrorKind},
    },
};
use bytes::Bytes;
use futures_util::TryStreamExt as _;

use crate::{ErrorKind, MeshError};

const OPERATION: &str = "KV-Operation";

pub(super) const PATIENCE: Duration = Duration::from_secs(3);
/// How long servers retain an inactive consumer.
const LEFT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Put {
    Stored(u64),
    /// The stream remembers this id; the message may be removed already.
    Known,
    WrongLast,
}

#[derive(Debug, Clone)]
pub(super) struct Stream {
    context: Context,
    inner: jetstream::stream::Stream,
    subjects: String,
    place: String,
}

impl Stream {
    pub(super) const fn new(
        context: Context,
        inner: jetstream::stream::Stream,
        subjects: String,
        place: String,
    ) -> Self {
        Self { context, inner, subjects, place }
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn subject(&self, key: impl fmt::Display) -> String {
        format!("{}.{key}", self.subjects)
    }

    pub(super) fn key<'a>(&self, subject: &'a str) -> Option<&'a str> {
        subject.strip_prefix(&self.subjects)?.strip_prefix('.')
    }

    pub(super) fn away(&self, what: &str, why: impl fmt::Display) -> MeshError {
        away(what, &self.place, why)
    }

    /// `None` as value marks a removal.
    pub(super) async fn put(
        &self,
        what: &str,
        subject: String,
        value: Option<Bytes>,
        (expected, id): (Option<u64>, Option<&str>),
    ) -> Result<Put, MeshError> {
        let mut message = PublishMessage::build();
        if value.is_none() {
            message = message.header(OPERATION, "DEL");
        }
        message = message.payload(value.unwrap_or_default());
        if let Some(expected) = expected {
            message = message.expected_last_subject_sequence(expected);
        }
        if let Some(id) = id {
            message = message.message_id(id);
        }
        let answer = match self.context.send_publish(subject, message).await {
            Ok(answer) => answer.await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(ack) if ack.duplicate => Ok(Put::Known),
            Ok(ack) => Ok(Put::Stored(ack.sequence)),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(Put::WrongLast),
            Err(error) => {
                let why = error.to_string();
                // Newer servers use another code for this error.
                if why.contains("wrong last sequence") {
                    return Ok(Put::WrongLast);
                }
                if ["maximum bytes", "maximum messages", "resource"].iter().any(|full| why.contains(full)) {
                    let advice = "raise the limits of the stream, or wait until old messages expire";
                    return Err(MeshError::new(ErrorKind::Full, what, &self.place, why, advice));
                }
                Err(self.away(what, why))
            }
        }
    }

    pub(super) async fn last(&self, what: &str, subject: &str) -> Result<Option<StreamMessage>, MeshError> {
        match self.inner.get_last_raw_message_by_subject(subject).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(self.away(what, error)),
        }
    }

    pub(super) async fn info(&self, what: &str) -> Result<Info, MeshError> {
        self.inner.get_info().await.map_err(|error| self.away(what, error))
    }

    pub(super) async fn read(&self, what: &str, subject: String, after: Option<u64>) -> Result<Ordered, MeshError> {
        let deliver_policy = match after {
            Some(after) => DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
            None => DeliverPolicy::All,
        };
        let config = OrderedConfig {
            deliver_subject: self.context.client().new_inbox(),
            filter_subject: subject,
            deliver_policy,
            ..OrderedConfig::default()
        };
        let consumer: Consumer<OrderedConfig> =
            self.inner.create_consumer(config).await.map_err(|error| self.away(what, error))?;
        consumer.messages().await.map_err(|error| self.away(what, error))
    }

    pub(super) async fn consumer(&self, what: &str, subject: String) -> Result<PullConsumer, MeshError> {
        let config = pull::Config {
            filter_subject: subject,
            ack_policy: AckPolicy::None,
            inactive_threshold: LEFT,
            num_replicas: 1,
            memory_storage: true,
            ..pull::Config::default()
        };
        self.inner.create_consumer(config).await.map_err(|error| self.away(what, error))
    }

    /// If that fails, its inactivity timeout removes it.
    pub(super) async fn remove_consumer(&self, consumer: &PullConsumer) {
        let _ = self.inner.delete_consumer(&consumer.cached_info().name).await;
    }

    /// Removes the messages of a subject before this one, or all of them.
    pub(super) async fn purge(&self, what: &str, subject: String, before: Option<u64>) -> Result<(), MeshError> {
        let purge = self.inner.purge().filter(subject);
        let purged = match before {
            Some(sequence) => purge.sequence(sequence).await,
            None => purge.await,
        };
        purged.map(drop).map_err(|error| self.away(what, error))
    }

    pub(super) async fn subjects(&self, what: &str) -> Result<Vec<(String, usize)>, MeshError> {
        let subjects =
            self.inner.info_with_subjects(self.subject("*")).await.map_err(|error| self.away(what, error))?;
        subjects.try_collect().await.map_err(|error| self.away(what, error))
    }

    pub(super) async fn request(&self, what: &str, subject: String, body: Bytes) -> Result<(), MeshError> {
        let answer = self.context.client().request(subject, body).await;
        answer.map(drop).map_err(|error| self.away(what, error))
    }
}

pub(super) fn is_removal(headers: Option<&HeaderMap>) -> bool {
    headers.and_then(|headers| headers.get(OPERATION)).is_some_and(|operation| operation.as_str() != "PUT")
}

pub(super) fn away(what: &str, place: &str, why: impl fmt::Display) -> MeshError {
    MeshError::new(
        ErrorKind::Away,
        what,
        place,
        why,
        "the hub retries automatically; check that most of the NATS servers are running and reachable",
    )
}
