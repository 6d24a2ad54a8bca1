//! What every wire program of this workspace shares and what needs no operating system.
//!
//! - [`Engine`]: the shape of a server. One closed list of inputs ([`Input`]), one of outputs ([`Output`]); time and
//!   randomness come in from outside, so the same inputs always give the same bytes.
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

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bucket;
mod digest;
mod engine;
mod error;
pub mod framing;
mod log;
mod minstd;
mod peer;
mod time;
pub mod wire;

pub use bucket::{Rate, TokenBucket};
pub use digest::Digest;
pub use engine::{Engine, Input, Outbox, Outcome, Output, Protocol, RequestOf, To};
pub use error::DecodeError;
pub use log::{Log, LogWriter};
pub use minstd::MinStd;
pub use peer::{Framing, Gone, Link, PeerId, Role};
pub use time::Time;
