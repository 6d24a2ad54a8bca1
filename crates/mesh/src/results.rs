use bytes::Bytes;

use crate::{Answer, MeshError, Name};

/// How long a consumer has exclusive access to a result, in seconds.
pub const TAKEN_SECONDS: u64 = 30;
/// How long the queue detects a repeated submission, in seconds.
pub const REMEMBERED_SECONDS: u64 = 60 * 60;
pub const MAX_RESULTS: u64 = 100_000;
/// Deliveries after which a message that no consumer could decode or store becomes a dead letter.
pub const MAX_DELIVERIES: u64 = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt(pub(crate) String);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub id: Name,
    /// `None` if this version cannot decode the message.
    pub body: Option<Bytes>,
    pub count: u64,
    pub receipt: Receipt,
    pub(crate) message: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    Stored,
    /// Undecodable, or never accepted by the database. Another node, perhaps of a later version, may be able to store
    /// it.
    Rejected,
}

/// A queue of results from all nodes, which any node can process.
///
/// A result remains until it is acknowledged after the commit, so none is lost if a consumer fails. It may be delivered
/// more than once: the consumer commits it under its match id, as `store::Store::record` does, so it counts once.
///
/// After [`MAX_DELIVERIES`] rejections a message moves to the *dead letters*, because it would block others.
pub trait Results: Send + Sync {
    /// Returns `false` if the queue remembers a result of this match.
    fn submit<'a>(&'a self, id: &'a Name, body: &'a Bytes) -> Answer<'a, Result<bool, MeshError>>;

    /// No other consumer receives it for [`TAKEN_SECONDS`].
    fn take(&self) -> Answer<'_, Result<Option<Delivery>, MeshError>>;

    fn acknowledge<'a>(&'a self, receipt: &'a Receipt) -> Answer<'a, Result<(), MeshError>>;

    fn give_up<'a>(&'a self, delivery: &'a Delivery) -> Answer<'a, Result<(), MeshError>>;

    /// Counts the messages that this process has moved.
    fn dead_letters(&self) -> u64;
}

/// Takes, commits and acknowledges one result. A rejected one is redelivered, up to [`MAX_DELIVERIES`] times. Returns
/// `false` if there was none.
///
/// # Errors
/// Returns the error of the queue or of `commit`. The result is redelivered, regardless of its count.
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
        Committed::Rejected => {}
    }
    Ok(true)
}
