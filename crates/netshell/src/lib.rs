//! What connects an engine to the world, and knows nothing of any game.
//!
//! - [`serve`] is the one server loop: it wakes for a signal, a deadline or a peer, hands the engine one input and
//!   carries out what the engine wants.
//! - [`Udp`] is the transport for games that speak datagrams. [`Peers`] knows who is who and what strangers may cost; what
//!   the system cannot take yet waits in a bounded backlog, and whoever has fallen silent waits behind those who speak.
//! - [`Tcp`] is the transport for games that speak over connections: what everybody is sent is kept once for all who lag, and
//!   whoever lags too far is dropped.
//! - [`bind_udp`] and [`bind_tcp`] open the sockets, [`shutdown`] waits for a signal that asks the program to end, [`raise_open_files`] lifts
//!   the soft limit on descriptors, [`LogLimit`] keeps a log readable.
//!
//! ```text
//! socket -> Udp -> Peers -> Protocol::decode -> Input -> Engine -> Outbox -> Peers -> Udp -> socket
//! socket -> Tcp ----------> Protocol::decode -> Input -> Engine -> Outbox ----------> Tcp -> socket
//!                                      ^ serve: deadline, signal
//! ```

mod alarm;
mod backlog;
mod bind;
mod clock;
mod intake;
mod limits;
mod peers;
mod port;
mod serve;
mod shutdown;
mod tcp;
mod udp;

pub use bind::{BindError, bind_tcp, bind_udp};
pub use clock::Clock;
pub use limits::{HOST_RATE, LogLimit, PEER_RATE, STRANGERS_RATE, raise_open_files};
pub use peers::{Delivery, Peers, Taken};
pub use serve::{Transport, serve};
pub use shutdown::shutdown;
pub use tcp::{MAX_CATCH_UP, MAX_CONNECTIONS, MAX_FROM_A_HOST, MAX_LAG, MAX_OWN, MAX_STALL, OVERHEAD, PROGRESS, Tcp};
pub use udp::Udp;
