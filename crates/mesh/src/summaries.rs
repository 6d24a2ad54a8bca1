//! Summaries of rooms, for the lobbies of other nodes.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{Answer, MeshError, Name, Revision};

/// The minimum interval between summaries of a node.
pub const SUMMARY_PAUSE: Duration = Duration::from_millis(500);
/// Each row is published again after this time, for nodes that have missed a summary.
pub const SUMMARY_REPEAT: Duration = Duration::from_secs(30);
/// The maximum size of the rows of a summary, in bytes. Longer ones are divided.
pub const MAX_SUMMARY: usize = 256 << 10;

/// The rows of a node that have changed, and those that are due again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub node: Name,
    /// See [`Holder::life`](crate::Holder::life).
    pub life: Revision,
    /// The rows of rooms in lobbies. They replace those of earlier summaries and of the directory.
    #[serde(skip)]
    pub rows: BTreeMap<Name, String>,
}

/// The summaries of all nodes. Unlike entries of the directory, they are neither stored nor acknowledged: the node
/// repeats them.
pub trait Summaries: Send + Sync {
    /// Followers receive the summary at most once, and those of a node in order.
    fn publish<'a>(&'a self, summary: &'a Summary) -> Answer<'a, Result<(), MeshError>>;

    /// Returns the summaries that are published from now on.
    fn summaries(&self) -> Answer<'_, Result<Box<dyn FollowSummaries>, MeshError>>;
}

pub trait FollowSummaries: Send {
    /// Includes those of this node. An error ends the stream. Cancel safe.
    fn next(&mut self) -> Answer<'_, Result<Summary, MeshError>>;
}
