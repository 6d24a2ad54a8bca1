//! What connects an engine to the world, and knows nothing of any game.
//!
//! - [`serve`] is the one server loop: it wakes for a signal, a deadline or a peer, hands the engine one input and
//!   carries out what the engine wants.
//! - [`Udp`] is the transport for games that speak datagrams: who is who, what strangers may cost, and a bounded backlog
//!   of what the system could not take yet.
//! - [`bind_udp`] opens the sockets, [`shutdown`] waits for SIGINT or SIGTERM, [`raise_open_files`] lifts the soft limit
//!   on descriptors.
//!
//! ```text
//! socket -> Udp -> Protocol::decode -> Input -> Engine -> Outbox -> Udp -> socket
//!                                      ^ serve: deadline, signal
//! ```

mod bind;
mod clock;
mod limits;
mod serve;
mod shutdown;
mod udp;

pub use bind::{BindError, bind_udp};
pub use clock::Clock;
pub use limits::{HOST_RATE, LogLimit, PEER_RATE, STRANGERS_RATE, Strangers, raise_open_files};
pub use serve::{Transport, serve};
pub use shutdown::shutdown;
pub use udp::Udp;
