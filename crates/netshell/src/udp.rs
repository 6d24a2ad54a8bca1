mod backlog;

use std::{
    io,
    net::{self, IpAddr, SocketAddr},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use netcore::{Admission, Link, Role, Time};
use rustix::io::Errno;
use socket2::SockRef;
use tokio::{io::Interest, net::UdpSocket};
use tracing::{debug, error, warn};

use self::backlog::{Backlog, Share};
use crate::{
    Answer, BytesTicket, ConnectionEvent, ConnectionId, Delivery, LogLimit, Transport, UnknownPeerTicket,
    datagrams::{Arrival, Datagrams, is_answerable},
    sockets::canonical,
};

/// Datagrams read from the sockets before a queued one has its turn.
const RECEIVES: usize = 64;
/// Larger than any datagram, so that none is truncated unnoticed.
const DATAGRAM: usize = 1 << 16;
/// Interval of attempts to send the backlog: the system does not always report free space.
const RETRY: Duration = Duration::from_millis(5);

type Remote = (usize, SocketAddr);

/// A transport over one or more UDP sockets.
pub type Udp = Ports<UdpSocket>;

/// A transport over any sockets for datagrams.
#[derive(Debug)]
pub struct Ports<S> {
    all: Vec<Port<S>>,
    datagrams: Datagrams<Remote>,
    turn: usize,
    // Datagrams read since the last turn of a queued one.
    reads: usize,
    // When to poll the ports even if none is ready.
    wake: Option<Time>,
    // A datagram from a socket or from the queue.
    buffer: BytesMut,
    waited: BytesMut,
    admission: AdmissionState,
    handed: Time,
    refused_log: LogLimit,
    ignored_log: LogLimit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AdmissionState {
    Idle,
    UnknownPeer(Remote),
    // Report the connection first, then the bytes.
    Opened(ConnectionId, Remote),
    Admitted(ConnectionId),
}

impl Udp {
    /// Creates a transport over non-blocking `sockets`. Must be called within a tokio runtime.
    pub fn new(sockets: Vec<net::UdpSocket>) -> io::Result<Self> {
        Ok(Self::over(sockets.into_iter().map(UdpSocket::from_std).collect::<io::Result<_>>()?))
    }
}

impl<S: DatagramSocket> Ports<S> {
    /// Creates a transport over `sockets`.
    pub fn over(sockets: Vec<S>) -> Self {
        let now = Time::ZERO;
        Self {
            all: sockets.into_iter().map(|socket| Port::new(now, socket)).collect(),
            datagrams: Datagrams::new(now),
            turn: 0,
            reads: 0,
            wake: None,
            buffer: BytesMut::with_capacity(DATAGRAM),
            waited: BytesMut::new(),
            admission: AdmissionState::Idle,
            handed: now,
            refused_log: LogLimit::new(now),
            ignored_log: LogLimit::new(now),
        }
    }

    // Reads datagrams until one should be processed now, or a queued one has its turn.
    fn receive(&mut self, now: Time) -> io::Result<Received> {
        while self.reads < RECEIVES {
            let Some(remote) = self.receive_one(now)? else { return Ok(Received::Nothing) };
            self.reads += 1;
            if !is_answerable(remote.1) {
                if let Some(held_back) = self.ignored_log.admit(now) {
                    debug!(address = %canonical(remote.1), held_back, "ignored a datagram from an address without a \
                        route back");
                }
                continue;
            }
            match self.datagrams.arrive(now, remote, &self.buffer) {
                Arrival::Ready(id) => return Ok(Received::Connection(id)),
                Arrival::Unknown => return Ok(Received::UnknownPeer(remote)),
                Arrival::Queued => {}
                Arrival::Dropped => self.refuse(now, remote.1),
            }
        }
        Ok(Received::LimitReached)
    }

    fn receive_one(&mut self, now: Time) -> io::Result<Option<Remote>> {
        for _ in 0..self.all.len() {
            let index = self.turn;
            // One per turn, so that a flood on one socket does not delay the others.
            self.turn = (index + 1) % self.all.len();
            self.buffer.clear();
            self.buffer.reserve(DATAGRAM);
            if let Some(from) = self.all[index].receive(now, &mut self.buffer)? {
                return Ok(Some((index, from)));
            }
        }
        Ok(None)
    }

    fn refuse(&mut self, now: Time, address: SocketAddr) {
        if let Some(held_back) = self.refused_log.admit(now) {
            warn!(address = %canonical(address), held_back, "dropped a datagram, since too many are queued");
        }
    }

    fn set_wake(&mut self, now: Time) {
        let retry = self.all.iter().any(|port| !port.backlog.is_empty()).then(|| now.plus(RETRY));
        let resume = self.all.iter().filter_map(|port| port.receiver.resume).min();
        self.wake = retry.into_iter().chain(resume).chain(self.wake).min();
    }
}

enum Received {
    Connection(ConnectionId),
    UnknownPeer(Remote),
    LimitReached,
    Nothing,
}

impl<S: DatagramSocket> Transport for Ports<S> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.admission != AdmissionState::Idle || !self.datagrams.fair.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let ready = self.all.iter().map(|port| port.poll_ready(context)).find(Poll::is_ready);
        ready.unwrap_or(Poll::Pending)
    }

    fn wake_at(&self) -> Option<Time> {
        self.wake
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        self.handed = now;
        match self.admission {
            AdmissionState::Idle => {}
            AdmissionState::UnknownPeer((_, address)) => {
                return Ok(Some(ConnectionEvent::UnknownPeer {
                    ticket: UnknownPeerTicket::new(),
                    address,
                    datagram: &self.buffer,
                }));
            }
            AdmissionState::Opened(id, (_, address)) => {
                self.admission = AdmissionState::Admitted(id);
                let (role, link) = (Role::Player, Link::Datagram);
                return Ok(Some(ConnectionEvent::Opened { id, role, link, address }));
            }
            AdmissionState::Admitted(id) => {
                self.admission = AdmissionState::Idle;
                return Ok(Some(ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.buffer }));
            }
        }
        self.wake = None;
        self.all.iter_mut().for_each(|port| port.drain(now));
        let received = self.receive(now)?;
        self.set_wake(now);
        match received {
            Received::Connection(id) => {
                Ok(Some(ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.buffer }))
            }
            Received::UnknownPeer(remote) => {
                self.admission = AdmissionState::UnknownPeer(remote);
                Ok(Some(ConnectionEvent::UnknownPeer {
                    ticket: UnknownPeerTicket::new(),
                    address: remote.1,
                    datagram: &self.buffer,
                }))
            }
            Received::LimitReached | Received::Nothing => {
                self.reads = 0;
                match self.datagrams.next_waiting() {
                    Some((id, datagram)) => {
                        self.waited = datagram;
                        Ok(Some(ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.waited }))
                    }
                    None => Ok(matches!(received, Received::LimitReached).then_some(ConnectionEvent::Internal)),
                }
            }
        }
    }

    // The port of the earlier run is unknown, so all that can reach the address are registered. The first is used until
    // a datagram arrives on another.
    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        if link != Link::Datagram || !is_answerable(address) {
            return None;
        }
        let ports = self.all.iter().enumerate();
        let remotes = ports.filter_map(|(index, port)| Some((index, port.map_address(address)?))).collect();
        self.datagrams.adopt(now, remotes)
    }

    fn answer(&mut self, now: Time, answer: Answer) {
        match answer {
            Answer::Processed(ticket, _) => self.datagrams.fair.charge(now, ticket.id(), now.since(self.handed)),
            Answer::Paused(ticket, until) => self.pause(now, ticket.id(), until),
            Answer::UnknownPeer(_, admission) => self.admit(now, admission),
        }
    }

    fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        match delivery {
            Delivery::Frame(to, frame) => self.send(now, to, frame),
            Delivery::Everyone(frame) => {
                for ((index, address), last_received) in self.datagrams.remotes() {
                    self.all[index].send(now, (address, last_received), frame.clone());
                }
            }
            Delivery::History(to, history) => history.frames().for_each(|frame| self.send(now, to, frame)),
            Delivery::Close(id) => self.datagrams.close(id),
        }
    }

    fn flush(&mut self, now: Time) {
        self.set_wake(now);
    }

    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        for port in &mut self.all {
            port.drain(now);
        }
        if self.all.iter().all(|port| port.backlog.is_empty()) {
            return Poll::Ready(());
        }
        // The system reports space only when half of its buffer is free, so the caller also retries periodically.
        if self.all.iter().any(|port| port.poll_room(context).is_ready()) {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl<S: DatagramSocket> Ports<S> {
    fn admit(&mut self, now: Time, admission: Option<Admission>) {
        let AdmissionState::UnknownPeer(remote) = self.admission else { return };
        self.admission = AdmissionState::Idle;
        let Some(admission) = admission else { return self.refuse(now, remote.1) };
        if admission == Admission::Ignored {
            if let Some(held_back) = self.ignored_log.admit(now) {
                debug!(address = %canonical(remote.1), held_back, "ignored a message from an address without a seat");
            }
            return;
        }
        match self.datagrams.admit(now, remote, remote.1, admission) {
            Some(id) => self.admission = AdmissionState::Opened(id, remote),
            None => self.refuse(now, remote.1),
        }
    }

    fn pause(&mut self, now: Time, id: ConnectionId, until: Time) {
        self.datagrams.fair.charge(now, id, now.since(self.handed));
        self.datagrams.pause(id, until);
        if let Some(((_, address), _)) = self.datagrams.remote(id) {
            self.refuse(now, address);
        }
    }

    fn send(&mut self, now: Time, to: ConnectionId, frame: Bytes) {
        if let Some(((index, address), last_received)) = self.datagrams.remote(to) {
            self.all[index].send(now, (address, last_received), frame);
        }
    }
}

#[derive(Debug)]
struct Port<S> {
    socket: S,
    backlog: Backlog,
    receiver: Receiver,
}

impl<S: DatagramSocket> Port<S> {
    fn new(now: Time, socket: S) -> Self {
        Self { socket, backlog: Backlog::new(now), receiver: Receiver::new(now) }
    }

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.receiver.resume.is_none()
            && let Poll::Ready(ready) = self.socket.poll_readable(context)
        {
            return Poll::Ready(ready);
        }
        self.poll_room(context)
    }

    /// Ready if the backlog may be sent: the system reports space only when half of its buffer is free.
    fn poll_room(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.backlog.is_empty() { Poll::Pending } else { self.socket.poll_writable(context) }
    }

    /// Receives one datagram into `buffer`, which has space for the largest; `None` if none has arrived.
    ///
    /// # Errors
    /// If the socket can never receive again.
    fn receive(&mut self, now: Time, buffer: &mut BytesMut) -> io::Result<Option<SocketAddr>> {
        let Self { socket, backlog, receiver } = self;
        let Some(from) = receiver.take(now, || socket.try_receive(buffer))? else { return Ok(None) };
        if backlog.record_arrival(now, from) {
            self.drain(now);
        }
        Ok(Some(from))
    }

    /// The form of `address` for this socket; `None` if the socket cannot reach it.
    fn map_address(&self, address: SocketAddr) -> Option<SocketAddr> {
        let own = self.socket.local_ip()?;
        let ip = address.ip().to_canonical();
        if !own.is_unspecified() && own.to_canonical().is_loopback() != ip.is_loopback() {
            return None;
        }
        let ip = match (own, ip) {
            (IpAddr::V4(_), IpAddr::V4(_)) => ip,
            (IpAddr::V6(_), IpAddr::V6(_)) => return Some(address),
            // A dual-stack socket receives from both families.
            (IpAddr::V6(own), IpAddr::V4(ip)) if own.is_unspecified() => ip.to_ipv6_mapped().into(),
            _ => return None,
        };
        Some(SocketAddr::new(ip, address.port()))
    }

    fn send(&mut self, now: Time, (to, last_received): (SocketAddr, Time), frame: Bytes) {
        let socket = &self.socket;
        self.backlog.send(now, (to, last_received), frame, |share, to, frame| try_send(socket, share, to, frame));
    }

    fn drain(&mut self, now: Time) {
        let socket = &self.socket;
        self.backlog.drain(now, |share, to, frame| try_send(socket, share, to, frame));
    }
}

fn try_send(socket: &impl DatagramSocket, share: Share, to: SocketAddr, frame: &[u8]) -> io::Result<()> {
    match share {
        Share::Whole => socket.try_send(to, frame),
        Share::Half => socket.try_send_in_half(to, frame),
    }
}

const BACK_OFF: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) resume: Option<Time>,
    log: LogLimit,
}

impl Receiver {
    pub(crate) fn new(now: Time) -> Self {
        Self { resume: None, log: LogLimit::new(now) }
    }

    /// Receives one datagram; `None` if there is none, and during the back-off after a system error (out of memory, or
    /// the network is down).
    ///
    /// # Errors
    /// If the descriptor is no longer a socket.
    pub(crate) fn take<T>(&mut self, now: Time, mut receive: impl FnMut() -> io::Result<T>) -> io::Result<Option<T>> {
        if self.resume.is_some_and(|resume| now < resume) {
            return Ok(None);
        }
        self.resume = None;
        loop {
            let error = match receive() {
                Ok(received) => return Ok(Some(received)),
                Err(error) => error,
            };
            match error.kind() {
                io::ErrorKind::WouldBlock => return Ok(None),
                // Some systems report here that an earlier datagram was sent to a closed port.
                io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted => {}
                _ if is_dead(&error) => return Err(error),
                _ => {
                    if let Some(held_back) = self.log.admit(now) {
                        error!(%error, held_back, "cannot receive; retrying");
                    }
                    self.resume = Some(now.plus(BACK_OFF));
                    return Ok(None);
                }
            }
        }
    }
}

fn is_dead(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::BADF | Errno::NOTSOCK))
}

/// A socket for datagrams. No method blocks.
pub trait DatagramSocket {
    /// The bound address; `None` if the system does not report it.
    fn local_ip(&self) -> Option<IpAddr>;

    /// Ready when there may be a datagram to receive.
    fn poll_readable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ready when there may be space to send. A waiting task is woken only when half of the send buffer is free.
    fn poll_writable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Appends a datagram to `buffer`, which has space for the largest, and returns its sender.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if there is none.
    fn try_receive(&self, buffer: &mut BytesMut) -> io::Result<SocketAddr>;

    /// Sends a datagram.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if the send buffer has no space.
    fn try_send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()>;

    /// As [`DatagramSocket::try_send`], but uses only the first half of the send buffer.
    fn try_send_in_half(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()>;
}

impl DatagramSocket for UdpSocket {
    fn local_ip(&self) -> Option<IpAddr> {
        self.local_addr().ok().map(|address| address.ip())
    }

    fn poll_readable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_recv_ready(context)
    }

    fn poll_writable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_send_ready(context)
    }

    fn try_receive(&self, buffer: &mut BytesMut) -> io::Result<SocketAddr> {
        self.try_recv_buf_from(buffer).map(|(_, from)| from)
    }

    fn try_send(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        // Through `try_io`: the runtime waits for space only after it returned `WouldBlock`.
        match self.try_io(Interest::WRITABLE, || send(self, to, datagram)) {
            // The system reports space only when half of the buffer is free, but there may be some before.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => send(self, to, datagram),
            sent => sent,
        }
    }

    fn try_send_in_half(&self, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
        self.try_io(Interest::WRITABLE, || {
            if is_half_free(self) { send(self, to, datagram) } else { Err(io::ErrorKind::WouldBlock.into()) }
        })
    }
}

fn send(socket: &UdpSocket, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
    SockRef::from(socket).send_to(datagram, &to.into()).map(drop)
}

// Linux reports a datagram socket as writable while less than half of its send buffer is in use. On other systems
// datagrams do not stay in the buffer.
#[cfg(unix)]
fn is_half_free(socket: &UdpSocket) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut watched = [PollFd::new(socket, PollFlags::OUT)];
    // If the poll fails, try to send.
    poll(&mut watched, Some(&Timespec::default())) != Ok(0)
}

#[cfg(not(unix))]
fn is_half_free(_: &UdpSocket) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::{
        cell::{Cell, RefCell},
        collections::VecDeque,
        net::{IpAddr, Ipv4Addr},
        rc::Rc,
    };

    use super::*;

    #[derive(Debug, Clone, Default)]
    struct Scripted(Rc<Inner>);

    #[derive(Debug, Default)]
    struct Inner {
        inbox: RefCell<VecDeque<(SocketAddr, &'static [u8])>>,
        flood: Cell<Option<SocketAddr>>,
    }

    impl DatagramSocket for Scripted {
        fn local_ip(&self) -> Option<IpAddr> {
            Some(Ipv4Addr::UNSPECIFIED.into())
        }

        fn poll_readable(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_writable(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn try_receive(&self, buffer: &mut BytesMut) -> io::Result<SocketAddr> {
            let flood = self.0.flood.get().map(|from| (from, &b"flood"[..]));
            let next = self.0.inbox.borrow_mut().pop_front().or(flood);
            let (from, datagram) = next.ok_or(io::ErrorKind::WouldBlock)?;
            buffer.extend_from_slice(datagram);
            Ok(from)
        }

        fn try_send(&self, _: SocketAddr, _: &[u8]) -> io::Result<()> {
            Ok(())
        }

        fn try_send_in_half(&self, _: SocketAddr, _: &[u8]) -> io::Result<()> {
            Ok(())
        }
    }

    fn address(host: u8) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, host], 5_000))
    }

    const HEAVY: Duration = Duration::from_millis(30);
    const NOW: Time = Time::from_millis(1);

    /// Floods one socket with datagrams of Eve, and sends a key of Bob to the other. `eve` and `bob` are the work that they
    /// have caused before; if `eve` is `None`, Eve has no connection. Returns how many datagrams were read or processed
    /// before the key.
    fn work_until_key(flooded: usize, eve: Option<Duration>, bob: Duration) -> Option<usize> {
        let sockets = [Scripted::default(), Scripted::default()];
        let mut ports = Ports::over(sockets.to_vec());
        let other = 1 - flooded;
        let known = eve.map(|caused| ((flooded, address(1)), caused));
        for (remote, caused) in known.into_iter().chain([((other, address(2)), bob)]) {
            let id = ports.datagrams.admit(NOW, remote, remote.1, Admission::Admitted).unwrap();
            ports.datagrams.fair.charge(NOW, id, caused);
        }
        sockets[flooded].0.flood.set(Some(address(1)));
        sockets[other].0.inbox.borrow_mut().push_back((address(2), b"key"));
        (0..1_000).find(|_| match ports.next(NOW).unwrap() {
            Some(ConnectionEvent::Bytes { ticket, bytes }) => {
                let key = bytes[..] == b"key"[..];
                ports.datagrams.fair.charge(NOW, ticket.id(), Duration::from_micros(30));
                key
            }
            Some(ConnectionEvent::UnknownPeer { ticket, .. }) => {
                ports.answer(NOW, Answer::UnknownPeer(ticket, Some(Admission::Ignored)));
                false
            }
            _ => false,
        })
    }

    #[test]
    fn a_flood_on_one_socket_does_not_delay_another() {
        for flooded in [0, 1] {
            for eve in [None, Some(Duration::ZERO), Some(HEAVY)] {
                for bob in [Duration::ZERO, HEAVY] {
                    let before = work_until_key(flooded, eve, bob);
                    // Light peers are served immediately, heavy ones after a bounded number of datagrams.
                    let most = if bob == HEAVY { RECEIVES } else { 2 };
                    let few = before.is_some_and(|before| before <= most);
                    assert!(few, "a flood on socket {flooded} by {eve:?}, a key by {bob:?}: {before:?}");
                }
            }
        }
    }

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn take(receiver: &mut Receiver, now: u64, answers: &[Result<u32, Errno>]) -> io::Result<Option<u32>> {
        let mut answers = answers.iter();
        let result = receiver.take(at(now), || Ok((*answers.next().expect("not asked that often"))?));
        assert_eq!(answers.count(), 0, "not asked");
        result
    }

    #[test]
    fn errors_of_the_system_cause_a_back_off() {
        for trouble in [Errno::NOMEM, Errno::NOBUFS, Errno::NETDOWN] {
            let mut receiver = Receiver::new(at(0));
            assert_eq!(take(&mut receiver, 0, &[Ok(7)]).unwrap(), Some(7));
            assert_eq!(take(&mut receiver, 10, &[Err(trouble)]).unwrap(), None, "{trouble}");
            // Not read until then, which prevents a busy loop.
            assert_eq!(receiver.resume, Some(at(110)));
            assert_eq!(take(&mut receiver, 109, &[]).unwrap(), None);
            assert_eq!(take(&mut receiver, 110, &[Err(trouble)]).unwrap(), None);
            assert_eq!(take(&mut receiver, 210, &[Ok(8)]).unwrap(), Some(8));
            assert_eq!(receiver.resume, None);
        }
    }

    #[test]
    fn errors_of_earlier_datagrams_are_skipped() {
        let mut receiver = Receiver::new(at(0));
        let answers = [Err(Errno::CONNREFUSED), Err(Errno::INTR), Err(Errno::CONNRESET), Ok(7)];
        assert_eq!(take(&mut receiver, 0, &answers).unwrap(), Some(7));
        assert_eq!(take(&mut receiver, 0, &[Err(Errno::CONNREFUSED), Err(Errno::AGAIN)]).unwrap(), None);
        assert_eq!(receiver.resume, None);
    }

    #[test]
    fn a_descriptor_that_is_not_a_socket_is_an_error() {
        for dead in [Errno::BADF, Errno::NOTSOCK] {
            let error = take(&mut Receiver::new(at(0)), 0, &[Err(dead)]).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(dead.raw_os_error()));
        }
    }
}
