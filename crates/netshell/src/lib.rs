//! What connects a room to the world, and knows nothing of any game.
//!
//! - [`Host`] is one room and the transports by which it is reached: it gives peers their numbers, hands the room what
//!   arrives and routes what follows. It has no clock and no socket, so a simulation drives the same code.
//! - [`serve`] is the one server loop: it wakes for a signal, a deadline or a transport, and lets the host work.
//! - [`Udp`] is the transport for games that speak datagrams, [`Ports`] the same over anything that takes datagrams in.
//!   [`Datagrams`] knows who is who, what strangers may cost and whose turn it is; what the system cannot take yet waits in a
//!   bounded backlog.
//! - [`Tcp`] is the transport for games that speak over connections, [`Streams`] the same over anything that carries bytes:
//!   what everybody is sent is kept once for all who lag, and whoever lags too far is dropped.
//! - An [`Observer`] is told what happens, a [`Hold`] keeps outputs back until a journal is on disk.
//! - [`bind_udp`] and [`bind_tcp`] open the sockets, [`shutdown`] waits for a signal that asks the program to end, [`raise_open_files`] lifts the
//!   soft limit on descriptors, [`LogLimit`] keeps a log readable.
//!
//! ```text
//! socket -> Udp --\                                                      /--> Udp -> socket
//! socket -> Tcp ---- ConnectionEvent -> Host -> Room -> Outbox -> Host ------> Tcp -> socket
//!                                         ^ serve: deadline, signal    \--> Observer
//! ```

mod alarm;
mod bind;
mod clock;
mod datagrams;
mod fair;
mod hold;
mod host;
mod log_limit;
mod observer;
mod open_files;
mod serve;
mod shutdown;
mod strangers;
mod streams;
mod transport;
mod udp;

pub use bind::{BindError, bind_tcp, bind_udp};
pub use clock::Clock;
pub use datagrams::{Arrival, Datagrams, MAX_WAITING, MAX_WAITING_BYTES, PEER_RATE, PIECE, is_answerable};
pub use hold::{Hold, MAX_HOLD};
pub use host::{Host, MAX_HELD};
pub use log_limit::LogLimit;
pub use observer::Observer;
pub use open_files::raise_open_files;
pub use serve::serve;
pub use shutdown::shutdown;
pub use strangers::{ANSWER_RATE, HOST_RATE, STRANGERS_RATE};
pub use streams::{
    ByteStream, Limits, Listen, MAX_CATCH_UP, MAX_CONNECTIONS, MAX_LAG, MAX_OWN, MAX_OWN_TOTAL, MAX_STALL, OVERHEAD,
    PROGRESS, SEND_BUFFER, Streams, Tcp,
};
pub use transport::{ConnectionEvent, ConnectionId, Transport};
pub use udp::{DatagramPort, Port, Ports, Udp};
