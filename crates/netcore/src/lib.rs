//! The part of the network programs that needs no operating system.
//!
//! - [`Engine`]: a game server as a deterministic state machine from [`Input`] to [`Output`].
//! - [`Room`]: the same server at the level of bytes, for shells, journals and simulations. [`EngineRoom`] turns any
//!   engine into a room. [`GameEvent`] and [`Status`] are reports in the same terms for all games.
//! - [`Recorded`]: an engine whose matches can be recorded, replayed and resumed.
//! - [`Hold`]: holds outputs back until their inputs are durable.
//! - [`Client`]: a game client as a state machine.
//! - [`wire`]: a bounded reader and writer for binary messages.
//! - [`framing`]: incremental decoders that split a byte stream into frames.
//! - [`MessageStream`]: a received stream of messages.
//! - [`HistoryWriter`] and [`History`]: a history that is stored once and sent to every late peer.
//! - [`Shares`], [`RateTable`] and [`HostQueue`]: quotas of hosts ([`HostId`]) and their networks for amounts, rates
//!   and waiting requests. [`TokenBucket`] is a rate limiter.
//! - [`Level`]: the strength of a bot; [`Name`]: a player's name by the rules of its game ([`Naming`]).
//!
//! The crate is `no_std`: the compiler rejects sockets, clocks, files and threads here.
//!
//! ```
//! use netcore::{framing::NulDecoder, DecodeError};
//! use bytes::BytesMut;
//!
//! // A stream may be cut anywhere: the decoder returns `None` until a frame is complete.
//! let mut decoder = NulDecoder::new(16);
//! let mut buffer = BytesMut::from(&b"HI"[..]);
//! assert_eq!(decoder.decode(&mut buffer)?, None);
//! buffer.extend_from_slice(b"T\0STAND\0");
//! assert_eq!(decoder.decode(&mut buffer)?.as_deref(), Some(&b"HIT"[..]));
//! assert_eq!(decoder.decode(&mut buffer)?.as_deref(), Some(&b"STAND"[..]));
//! # Ok::<(), DecodeError>(())
//! ```
#![no_std]
#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod client;
mod engine;
mod error;
mod event;
mod fingerprint;
pub mod framing;
mod history;
mod level;
mod name;
mod outbox;
mod peer;
mod quota;
mod recorded;
mod room;
mod time;
pub mod wire;

pub use client::Client;
pub use engine::{Admission, Engine, Input, Leave, Outcome, Protocol, RequestOf};
pub use error::DecodeError;
pub use event::{Departure, GameEvent, Occupant, Phase, Severity, Standing, Status};
pub use fingerprint::Fingerprint;
pub use framing::{MessageDecoder, MessageStream};
pub use history::{History, HistoryWriter};
pub use level::Level;
pub use name::{Name, Naming, NotAName, cleaned};
pub use outbox::{Hold, Outbox, OutboxPosition, Output, To};
pub use peer::{DisconnectReason, Framing, HostId, Link, PeerId, Role};
pub use quota::{Full, HostQueue, HostQueueState, Network, Rate, RateTable, Shares, TokenBucket};
pub use recorded::{Recorded, StateError};
pub use room::{DecoderOf, EngineRoom, EngineRoomState, Progress, Room, Split};
pub use time::Time;
