//! State that the hubs of one arcade share; `docs/fleet.md` states the guarantees.
//!
//! A hub is a *node*. Each room has one owner among the nodes, and moves are not shared. [`Local`] implements the
//! shared state in one process, and `Nats` (feature `nats`) over NATS `JetStream`. [`Node`] implements heartbeats and
//! claims of a hub, and [`Writer`] its appends to a log: both are state machines without a clock or a socket.

#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

mod directory;
mod error;
mod events;
mod journals;
mod local;
mod log;
mod name;
#[cfg(feature = "nats")]
mod nats;
mod node;
mod results;
mod summaries;
pub mod value;
mod writer;

use std::pin::Pin;

pub use directory::{
    Delta, Directory, Durability, ENTRY_AGE_SECONDS, Entry, HeartbeatValue, Holder, Key, LEVEL, MAX_ROW, NodeValue,
    Revision, RoomValue, Value, Watch, Written,
};
pub use error::{ErrorKind, MeshError};
pub use events::{EVENTS_AGE_SECONDS, Event, Events, Follow, MAX_CHANGES, MAX_CHANGES_BYTES};
pub use journals::{
    DEFAULT_STREAMS, JOURNALS_AGE_SECONDS, JournalStreams, Journals, MAX_PIECES, MAX_SEGMENT, MAX_SEGMENTS,
    MAX_STREAMS, Piece, Placement, agree_on_streams,
};
pub use local::{Local, LocalHashed, MAX_ENTRIES, MAX_LOGS};
pub use log::{Append, Appended, Fence, MAX_APPEND, RecordKind, Sequence};
pub use name::{MAX_NAME, Name, NameError};
#[cfg(feature = "nats")]
pub use nats::{BrokerSettings, Limits, Nats};
pub use node::{
    Acquisition, EXPIRY, HEARTBEAT, HandoverRefusal, Input, LEASE, LeaseGrant, LeaseRequest, MAX_ROOMS, Node, OUTAGE,
    Opening, Output, REQUEST_TIMEOUT, Reply, Settings, Ticket, WriteRequest,
};
pub use results::{
    Committed, Delivery, MAX_DELIVERIES, MAX_RESULTS, REMEMBERED_SECONDS, Receipt, Results, TAKEN_SECONDS,
    consume_result,
};
pub use summaries::{FollowSummaries, MAX_SUMMARY, SUMMARY_PAUSE, SUMMARY_REPEAT, Summaries, Summary};
pub use writer::{LogReply, LogRequest, MAX_WAITING, Writer};

/// FNV-1a, with the last bytes also mixed into the high bits. Equal for all versions.
fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
