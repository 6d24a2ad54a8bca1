//! Connects a room to the network, independently of the game.
//!
//! - [`Host`] connects one room with its transports, without a clock or socket, so that simulations drive the same
//!   code.
//! - [`serve`] is the server loop. A [`TimeSource`] is its clock: [`Clock`] in a program, virtual time in a simulation.
//! - [`Udp`] is the transport for datagrams, and [`Ports`] the same over any [`DatagramSocket`].
//! - [`Tcp`] is the transport for connections, and [`Streams`] the same over any [`ByteStream`]. A [`ConnectionBudget`]
//!   distributes connections over hosts; transports of a process can share one.
//! - A [`Warden`] refuses addresses, and removes peers at the request of the operator.
//! - An [`Observer`] receives the events of a room. A [`Hold`](netcore::Hold) delays outputs until their inputs are
//!   safe, for instance in a journal.
//! - [`bind_udp`] and [`bind_tcp`] open sockets, [`shutdown`] and [`request_to_end`] wait for a signal,
//!   [`raise_open_files`] raises the soft limit on open files, and [`LogLimit`] limits the rate of log lines.
//!
//! ```text
//! socket -> Udp --\                                                      /--> Udp -> socket
//! socket -> Tcp ---- ConnectionEvent -> Host -> Room -> Outbox -> Host ------> Tcp -> socket
//!                                         ^ serve: deadline, signal    \--> Observer
//! ```

mod clock;
mod datagrams;
mod fair_queue;
mod host;
mod log_limit;
mod quotas;
mod serve;
mod sockets;
mod streams;
mod transport;
mod udp;

pub use clock::{Clock, Precision, SystemTimer, TimeSource, Timer};
pub use datagrams::PEER_RATE;
pub use host::{Host, MAX_HELD, SLOW_HOLD};
pub use log_limit::LogLimit;
pub use quotas::{
    ConnectionBudget, ConnectionPermit, HOST_RATE, Limits, MAX_CONNECTIONS, RECORDED_RATE, UNKNOWN_PEERS_RATE,
};
pub use serve::{request_to_end, serve, shutdown};
pub use sockets::{BindError, MAX_UNACKNOWLEDGED, bind_tcp, bind_udp, raise_open_files, tune_accepted, tune_stream};
pub use streams::{ByteStream, Listen, MAX_LAG, Streams, Tcp};
pub use transport::{
    Answer, BytesTicket, ConnectionEvent, ConnectionId, Delivery, Observer, Transport, UnknownPeerTicket, Warden,
    WardenRequest,
};
pub use udp::{DatagramSocket, Ports, Udp};
