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

/// How often a reader looks whether it is still wanted.
const BREATH: Duration = Duration::from_millis(50);
/// How many datagrams wait at most. A server that sends more without a pause loses some, as on any network.
const WAITING: usize = 4096;

pub(super) fn key_message(key: u8) -> [u8; 5] {
    [b'K', b'E', b'Y', b' ', key]
}

/// What came to a client.
pub(super) enum Arrival {
    Datagram(Vec<u8>),
    /// Nobody listens at the server's port.
    Refused,
}

struct End {
    socket: Arc<UdpSocket>,
    over: Arc<AtomicBool>,
    // How often there was nothing to read for a while.
    pauses: Arc<AtomicU64>,
    reader: JoinHandle<()>,
}

/// Clients, each on a socket of its own that is read at once, since what is not read is lost.
pub(super) struct Wire {
    server: SocketAddr,
    // `None` for clients that are closed.
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

    /// Sends a datagram. A server that is gone is found when one waits for its answer.
    pub(super) fn send(&self, client: usize, datagram: &[u8]) {
        let Some(End { socket, .. }) = &self.ends[client] else { return };
        // The first attempt may only report that an earlier datagram found nobody.
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

    /// How often each client had nothing to read for a while. When all of these have grown, everything that had come before was read.
    pub(super) fn pauses(&self) -> Vec<u64> {
        self.ends.iter().flatten().map(|end| end.pauses.load(Ordering::SeqCst)).collect()
    }

    /// The next arrival, or `None` when there is none by then.
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
                // Whatever else is wrong with the socket may last.
                if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) {
                    thread::sleep(BREATH);
                }
                continue;
            }
        };
        // When too many wait, this one is lost.
        if let Err(TrySendError::Disconnected(_)) = sender.try_send((number, arrival)) {
            return;
        }
    }
}
