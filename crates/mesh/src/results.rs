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

/// What lets a delivery be acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt(pub(crate) String);

/// A result that a consumer has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The match.
    pub id: Name,
    /// The result.
    pub body: Bytes,
    /// To acknowledge it.
    pub receipt: Receipt,
}

/// A queue of results from all nodes. Any node works them off.
///
/// A result stays until it is acknowledged, and a consumer acknowledges it after it has committed it. So no result is
/// lost, whoever dies. One may be delivered more than once: the consumer commits it under its match id, as
/// `store::Store::record` does, and so each counts once.
pub trait Results: Send + Sync {
    /// Adds a result. `false` if the queue remembers one of this match.
    fn submit<'a>(&'a self, id: &'a Name, body: &'a Bytes) -> Answer<'a, Result<bool, MeshError>>;

    /// The next result, if there is one now. Nobody else is given it for [`TAKEN_SECONDS`].
    fn take(&self) -> Answer<'_, Result<Option<Delivery>, MeshError>>;

    /// Removes a result that is committed.
    fn acknowledge<'a>(&'a self, receipt: &'a Receipt) -> Answer<'a, Result<(), MeshError>>;
}

/// Takes one result, commits it, and acknowledges it. `false` if there was none.
///
/// # Errors
/// That of the queue, or of `commit`. The result comes again.
pub async fn work_off<E: From<MeshError>>(
    results: &dyn Results,
    commit: impl AsyncFnOnce(&Name, &Bytes) -> Result<(), E>,
) -> Result<bool, E> {
    let Some(delivery) = results.take().await? else { return Ok(false) };
    if probe::has(Planted::AcknowledgedBeforeCommit) {
        results.acknowledge(&delivery.receipt).await?;
    }
    commit(&delivery.id, &delivery.body).await?;
    results.acknowledge(&delivery.receipt).await?;
    Ok(true)
}
