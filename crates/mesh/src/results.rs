//! Results of matches on their way to the database.

use bytes::Bytes;

use crate::{Answer, MeshError, Name};

/// How long a consumer has exclusive access to a result before it is redelivered, in seconds.
pub const TAKEN_SECONDS: u64 = 30;
/// How long the queue detects a repeated submission of a result, in seconds.
pub const REMEMBERED_SECONDS: u64 = 60 * 60;
/// The maximum number of waiting results.
pub const MAX_RESULTS: u64 = 100_000;
/// The number of deliveries after which a message that no consumer could decode or store becomes a dead letter.
pub const MAX_DELIVERIES: u64 = 5;

/// A handle that acknowledges a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt(pub(crate) String);

/// A result delivered to a consumer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The match.
    pub id: Name,
    /// The result; `None` if this version cannot decode the message.
    pub body: Option<Bytes>,
    /// The number of deliveries, including this one.
    pub count: u64,
    /// The handle that acknowledges this delivery.
    pub receipt: Receipt,
    /// The message as stored in the queue.
    pub(crate) message: Bytes,
}

/// The outcome of storing a result in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// The database has stored it.
    Stored,
    /// It cannot be decoded, or the database will never accept it. Another node, perhaps of a later version, may be
    /// able to store it.
    Rejected,
}

/// A queue of results from all nodes. Any node can process it.
///
/// A result remains until it is acknowledged, and a consumer acknowledges it after the commit. No result is lost if a
/// consumer fails. A result may be delivered more than once: the consumer commits it under its match id, as
/// `store::Store::record` does, so each result counts once.
///
/// A message that was rejected [`MAX_DELIVERIES`] times moves to the *dead letters*. Otherwise a number of such
/// messages would keep the broker from delivering any other.
pub trait Results: Send + Sync {
    /// Adds a result. Returns `false` if the queue remembers one of this match.
    fn submit<'a>(&'a self, id: &'a Name, body: &'a Bytes) -> Answer<'a, Result<bool, MeshError>>;

    /// Returns the next result, if one is available. No other consumer receives it for [`TAKEN_SECONDS`].
    fn take(&self) -> Answer<'_, Result<Option<Delivery>, MeshError>>;

    /// Removes a committed result.
    fn acknowledge<'a>(&'a self, receipt: &'a Receipt) -> Answer<'a, Result<(), MeshError>>;

    /// Moves a message from the queue to the dead letters.
    fn give_up<'a>(&'a self, delivery: &'a Delivery) -> Answer<'a, Result<(), MeshError>>;

    /// Returns the number of messages that this process has moved to the dead letters.
    fn dead_letters(&self) -> u64;
}

/// Takes one result, commits it, and acknowledges it. A rejected message is redelivered, up to [`MAX_DELIVERIES`]
/// times. Returns `false` if there was no result.
///
/// # Errors
/// Returns the error of the queue or of `commit`. The result is redelivered, regardless of its delivery count.
pub async fn consume_result<E: From<MeshError>>(
    results: &dyn Results,
    commit: impl AsyncFnOnce(&Name, &Bytes) -> Result<Committed, E>,
) -> Result<bool, E> {
    let Some(delivery) = results.take().await? else { return Ok(false) };
    let committed = match &delivery.body {
        Some(body) => commit(&delivery.id, body).await?,
        None => Committed::Rejected,
    };
    match committed {
        Committed::Stored => results.acknowledge(&delivery.receipt).await?,
        Committed::Rejected if delivery.count >= MAX_DELIVERIES => results.give_up(&delivery).await?,
        // It is redelivered.
        Committed::Rejected => {}
    }
    Ok(true)
}
