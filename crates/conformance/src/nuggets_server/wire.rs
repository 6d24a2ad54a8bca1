//! Several UDP clients of one server.

use std::{
    io::{self, ErrorKind},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, SyncSender, TrySendError},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use nuggets::protocol::MAX_DATAGRAM;

/// The interval at which a reader checks whether it should stop.
const BREATH: Duration = Duration::from_millis(50);
/// The maximum number of datagrams in the queue. If a server sends more without a pause, some are lost, as on any
/// network.
const WAITING: usize = 4096;

pub(super) fn key_message(key: u8) -> [u8; 5] {
    [b'K', b'E', b'Y', b' ', key]
}

/// An event at a client.
pub(super) enum Arrival {
    Datagram(Vec<u8>),
    /// No program listens on the server's port.
    Refused,
}

struct End {
    socket: Arc<UdpSocket>,
    over: Arc<AtomicBool>,
    // The number of times that no datagram arrived for a while.
    pauses: Arc<AtomicU64>,
    reader: JoinHandle<()>,
}

/// A set of clients, each with its own socket. A thread reads each socket immediately, since unread datagrams are lost.
pub(super) struct Wire {
    server: SocketAddr,
    // `None` for closed clients.
    ends: Vec<Option<End>>,
    sender: SyncSender<(usize, Arrival)>,
    arrivals: Receiver<(usize, Arrival)>,
}

impl Wire {
    pub(super) fn new(server: SocketAddr) -> Self {
        let (sender, arrivals) = mpsc::sync_channel(WAITING);
        Self { server, ends: Vec::new(), sender, arrivals }
    }

    /// Opens a client and returns its number.
    pub(super) fn open(&mut self) -> io::Result<usize> {
        let any: SocketAddr = match self.server {
            SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
            SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = Arc::new(UdpSocket::bind(any)?);
        socket.connect(self.server)?;
        socket.set_read_timeout(Some(BREATH))?;
        let (over, pauses) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let number = self.ends.len();
        let reader = thread::spawn({
            let (socket, over, pauses) = (Arc::clone(&socket), Arc::clone(&over), Arc::clone(&pauses));
            let sender = self.sender.clone();
            move || read(number, &socket, &over, &pauses, &sender)
        });
        self.ends.push(Some(End { socket, over, pauses, reader }));
        Ok(number)
    }

    /// Sends a datagram. If the server has ended, the wait for its answer detects that.
    pub(super) fn send(&self, client: usize, datagram: &[u8]) {
        let Some(End { socket, .. }) = &self.ends[client] else { return };
        // The first attempt may only report that an earlier datagram had no receiver.
        if socket.send(datagram).is_err() {
            let _ = socket.send(datagram);
        }
    }

    pub(super) fn close(&mut self, client: usize) {
        if let Some(end) = self.ends[client].take() {
            end.over.store(true, Ordering::Relaxed);
            let _ = end.reader.join();
        }
    }

    /// The number of pauses of each client without a datagram. When all of these numbers have increased, all datagrams
    /// that had arrived before were read.
    pub(super) fn pauses(&self) -> Vec<u64> {
        self.ends.iter().flatten().map(|end| end.pauses.load(Ordering::SeqCst)).collect()
    }

    /// The next event, or `None` if there is none by then.
    pub(super) fn next(&self, by: Instant) -> Option<(usize, Arrival)> {
        self.arrivals.recv_timeout(by.saturating_duration_since(Instant::now())).ok()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for end in self.ends.iter().flatten() {
            end.over.store(true, Ordering::Relaxed);
        }
    }
}

fn read(
    number: usize,
    socket: &UdpSocket,
    over: &AtomicBool,
    pauses: &AtomicU64,
    sender: &SyncSender<(usize, Arrival)>,
) {
    let mut buffer = vec![0; MAX_DATAGRAM + 1];
    while !over.load(Ordering::Relaxed) {
        let arrival = match socket.recv(&mut buffer) {
            Ok(length) => Arrival::Datagram(buffer[..length].to_vec()),
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset) => {
                Arrival::Refused
            }
            Err(error) => {
                pauses.fetch_add(1, Ordering::SeqCst);
                // Any other error of the socket may be permanent.
                if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) {
                    thread::sleep(BREATH);
                }
                continue;
            }
        };
        // If the queue is full, this datagram is dropped.
        if let Err(TrySendError::Disconnected(_)) = sender.try_send((number, arrival)) {
            return;
        }
    }
}
