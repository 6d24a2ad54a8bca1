//! What the hubs of one arcade share.
//!
//! A hub is a *node*. Each room has one owner among them; moves never leave it. Shared is what the others need:
//!
//! - [`Directory`]: nodes, rooms and who owns them, codes and seats.
//! - [`Events`]: what watchers and lobbies are shown of rooms.
//! - [`Results`]: results on their way into the database.
//! - [`Journals`]: journals of matches, so that another node can go on with them.
//!
//! [`Local`] is all of it in one process. With the feature `nats`, `Nats` is the same over NATS `JetStream`. [`Node`] is what
//! a hub does with the directory, and [`Writer`] how it appends to a log: state machines without a clock or a
//! socket. `docs/fleet.md` says what is promised.

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
pub mod value;
mod writer;

use std::pin::Pin;

pub use directory::{
    Delta, Directory, Durability, ENTRY_AGE_SECONDS, Entry, HeartbeatValue, Holder, Key, MAX_ROW, NodeValue, Revision,
    RoomValue, Value, Watch, Written,
};
pub use error::{MeshError, Trouble};
pub use events::{EVENTS_AGE_SECONDS, Event, Events, Follow, MAX_CHANGES, MAX_CHANGES_BYTES};
pub use journals::{JOURNALS_AGE_SECONDS, Journals, MAX_PIECES, MAX_SEGMENT, MAX_SEGMENTS, Piece};
pub use local::{Local, MAX_ENTRIES, MAX_LOGS};
pub use log::{Append, Appended, Fence, Kind, MAX_APPEND, Sequence};
pub use name::{MAX_NAME, Name, NameError};
#[cfg(feature = "nats")]
pub use nats::{Limits, Nats, Place};
pub use node::{
    ASK_TIMEOUT, Ask, EXPIRY, HEARTBEAT, How, Input, LEASE, MAX_ROOMS, Node, OUTAGE, Opening, Output, Plea, Promise,
    Reply, Settings, Stays, Ticket,
};
pub use results::{
    Committed, Delivery, MAX_DELIVERIES, MAX_RESULTS, REMEMBERED_SECONDS, Receipt, Results, TAKEN_SECONDS, work_off,
};
pub use writer::{LogAsk, LogReply, MAX_WAITING, Writer};

/// An answer that is awaited.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
