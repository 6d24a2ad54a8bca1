//! Results of matches on their way into the database.

use bytes::Bytes;
use netcore::probe::{self, Planted};

use crate::{Answer, MeshError, Name};

/// How long a result that was taken is left to its consumer before it is given to another one, in seconds.
pub const TAKEN_SECONDS: u64 = 30;
/// How long the queue remembers results, so that one that is submitted again is stored once, in seconds.
pub const REMEMBERED_SECONDS: u64 = 60 * 60;
/// Most results that wait.
pub const MAX_RESULTS: u64 = 100_000;
/// Deliveries after which a message that no consumer could read or store becomes a dead letter.
pub const MAX_DELIVERIES: u64 = 5;

/// What lets a delivery be acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt(pub(crate) String);

/// A result that a consumer has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The match.
    pub id: Name,
    /// The result; none if this version cannot read the message.
    pub body: Option<Bytes>,
    /// How often it was delivered, with this time.
    pub count: u64,
    /// To acknowledge it.
    pub receipt: Receipt,
    /// The message as it is in the queue.
    pub(crate) message: Bytes,
}

/// The outcome of storing a result in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// The database has it.
    Stored,
    /// It cannot be read, or the database will never accept it. Another node, perhaps of a later version, may be able to store it.
    Rejected,
}

/// A queue of results from all nodes. Any node works them off.
///
/// A result stays until it is acknowledged, and a consumer acknowledges it after it has committed it. So no result is
/// lost, whoever dies. One may be delivered more than once: the consumer commits it under its match id, as
/// `store::Store::record` does, and so each counts once.
///
/// A message that was rejected [`MAX_DELIVERIES`] times leaves the queue and is kept apart, as a *dead letter*: otherwise a number of them
/// would keep the broker from delivering anything else.
pub trait Results: Send + Sync {
    /// Adds a result. `false` if the queue remembers one of this match.
    fn submit<'a>(&'a self, id: &'a Name, body: &'a Bytes) -> Answer<'a, Result<bool, MeshError>>;

    /// The next result, if there is one now. Nobody else is given it for [`TAKEN_SECONDS`].
    fn take(&self) -> Answer<'_, Result<Option<Delivery>, MeshError>>;

    /// Removes a result that is committed.
    fn acknowledge<'a>(&'a self, receipt: &'a Receipt) -> Answer<'a, Result<(), MeshError>>;

    /// Moves a message from the queue to the dead letters.
    fn give_up<'a>(&'a self, delivery: &'a Delivery) -> Answer<'a, Result<(), MeshError>>;

    /// The number of messages that this process has moved to the dead letters.
    fn dead_letters(&self) -> u64;
}

/// Takes one result, commits it, and acknowledges it. A message that is rejected comes again, up to [`MAX_DELIVERIES`] times. `false` if
/// there was none.
///
/// # Errors
/// That of the queue, or of `commit`. The result comes again, however often it was delivered.
pub async fn work_off<E: From<MeshError>>(
    results: &dyn Results,
    commit: impl AsyncFnOnce(&Name, &Bytes) -> Result<Committed, E>,
) -> Result<bool, E> {
    let Some(delivery) = results.take().await? else { return Ok(false) };
    if probe::has(Planted::AcknowledgedBeforeCommit) {
        results.acknowledge(&delivery.receipt).await?;
    }
    let committed = match &delivery.body {
        Some(body) => commit(&delivery.id, body).await?,
        None => Committed::Rejected,
    };
    match committed {
        Committed::Stored => results.acknowledge(&delivery.receipt).await?,
        Committed::Rejected if delivery.count >= MAX_DELIVERIES => results.give_up(&delivery).await?,
        // Left to its next delivery.
        Committed::Rejected => {}
    }
    Ok(true)
}
