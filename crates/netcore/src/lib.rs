//! What every wire program of this workspace shares and what needs no operating system.
//!
//! - [`Engine`]: the shape of a server. One closed list of inputs ([`Input`]), one of outputs ([`Output`]); time and
//!   randomness come in from outside, so the same inputs always give the same bytes.
//! - [`Room`]: the same in bytes, and object safe, for shells, journals and simulations; [`Hosted`] makes one of any engine.
//!   [`GameEvent`] and [`Status`] tell what happens in one in the same words for all games.
//! - [`Recorded`]: an engine whose matches can be written down and gone on with.
//! - [`Client`]: the shape of a client.
//! - [`wire`]: a bounded reader and writer for big-endian binary messages.
//! - [`framing`]: incremental decoders that cut a byte stream into NUL-ended or length-prefixed frames.
//! - [`LogWriter`] and [`Log`]: a history that is kept once and told to every newcomer.
//! - [`TokenBucket`]: a rate limit that takes the time as an argument.
//! - [`MinStd`]: the generator that the robots protocol prescribes.
//!
//! Sockets, clocks, files and threads are absent on purpose: the crate is `no_std`, so the compiler refuses them.
//!
//! ```
//! use netcore::{framing::NulDecoder, DecodeError};
//! use bytes::BytesMut;
//!
//! // A stream may be cut anywhere: the decoder answers `None` until a frame is whole.
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

mod bucket;
mod client;
mod digest;
mod engine;
mod error;
mod event;
mod fingerprint;
pub mod framing;
mod hosted;
mod log;
mod minstd;
mod outbox;
mod peer;
mod recorded;
mod room;
mod time;
pub mod wire;

pub use bucket::{Rate, TokenBucket};
pub use client::Client;
pub use digest::Digest;
pub use engine::{Admission, Engine, Input, Leave, Outcome, Protocol, RequestOf};
pub use error::DecodeError;
pub use event::{Departure, GameEvent, Phase, Severity, Standing, Status};
pub use fingerprint::Fingerprint;
pub use hosted::{DecoderOf, Hosted, HostedState};
pub use log::{Log, LogWriter};
pub use minstd::MinStd;
pub use outbox::{Outbox, OutboxMark, Output, To};
pub use peer::{Framing, Gone, HostId, Link, PeerId, Role};
pub use recorded::{Recorded, StateError};
pub use room::{Progress, Room, RoomInput};
pub use time::Time;
