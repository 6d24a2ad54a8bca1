//! Sends pictures to the GUI and receives its inputs, and never blocks.

use std::{
    future::poll_fn,
    io::{self, ErrorKind},
    net::{self, IpAddr, SocketAddr},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use netcore::{Time, wire::read_datagram};
use netshell::{Clock, LogLimit};
use robots::{DrawMessage, InputMessage, protocol::encode};
use socket2::SockRef;
use tokio::{net::UdpSocket, select, time::sleep_until};
use tracing::{debug, warn};

/// Datagrams received in a row before the server's stream is read again.
const BATCH: usize = 64;
/// Exceeds any input, so that a longer datagram is still malformed when truncated.
const ROOM: usize = 64;
/// After a receive error, so that a persistent one takes no processor time.
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Gui {
    sockets: Vec<UdpSocket>,
    // The GUI's addresses in the order of attempts, each with the socket that reaches it.
    aims: Vec<Aim>,
    aim: usize,
    waiting: Option<Bytes>,
    frame: BytesMut,
    clock: Clock,
    paused: Option<Time>,
    unreadable: LogLimit,
    trouble: LogLimit,
    too_large: LogLimit,
}

#[derive(Debug, Clone, Copy)]
struct Aim {
    address: SocketAddr,
    socket: usize,
    to: SocketAddr,
}

impl Gui {
    /// `sockets` must be non-blocking. Fails if none reaches any of `addresses`.
    pub(crate) fn new(sockets: Vec<net::UdpSocket>, addresses: &[SocketAddr]) -> anyhow::Result<Self> {
        let own = sockets.iter().map(LocalSocket::of).collect::<io::Result<Vec<_>>>()?;
        let aim = |&address: &SocketAddr| {
            let found = own.iter().enumerate().find_map(|(socket, own)| Some((socket, own.reaching(address)?)));
            found.map(|(socket, to)| Aim { address, socket, to })
        };
        let aims: Vec<Aim> = addresses.iter().filter_map(aim).collect();
        if aims.is_empty() {
            let list = |ips: Vec<IpAddr>| ips.iter().map(IpAddr::to_string).collect::<Vec<_>>().join(" or ");
            anyhow::bail!(
                "cannot send datagrams from {} to the GUI at {}: both must be IPv4, or both IPv6",
                list(own.iter().map(|own| own.address.ip()).collect()),
                list(addresses.iter().map(SocketAddr::ip).collect())
            );
        }
        let clock = Clock::start();
        let limit = || LogLimit::new(clock.now());
        Ok(Self {
            sockets: sockets.into_iter().map(UdpSocket::from_std).collect::<io::Result<_>>()?,
            aims,
            aim: 0,
            waiting: None,
            frame: BytesMut::new(),
            clock,
            paused: None,
            unreadable: limit(),
            trouble: limit(),
            too_large: limit(),
        })
    }

    /// Waits until a socket may be readable, or writable if a picture waits.
    pub(crate) async fn ready(&self) {
        let Some(paused) = self.paused else { return poll_fn(|context| self.poll(context, true)).await };
        select! {
            () = sleep_until(self.clock.instant(paused)) => {}
            () = poll_fn(|context| self.poll(context, false)) => {}
        }
    }

    // An error counts as ready, and the next operation returns it.
    fn poll(&self, context: &mut Context<'_>, receive: bool) -> Poll<()> {
        if receive && self.sockets.iter().any(|socket| socket.poll_recv_ready(context).is_ready()) {
            return Poll::Ready(());
        }
        if self.waiting.is_some() && self.sockets[self.aims[self.aim].socket].poll_send_ready(context).is_ready() {
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Ignores malformed datagrams.
    pub(crate) fn turn(&mut self, mut take: impl FnMut(InputMessage)) {
        if let Some(frame) = self.waiting.take() {
            self.send(&frame);
        }
        let now = self.clock.now();
        if self.paused.is_some_and(|until| now < until) {
            return;
        }
        self.paused = None;
        let mut buffer = [0; ROOM];
        for socket in 0..self.sockets.len() {
            for _ in 0..BATCH {
                match self.sockets[socket].try_recv_from(&mut buffer) {
                    Ok((length, from)) => match read_datagram(&buffer[..length], 0) {
                        Ok(input) => {
                            self.prefer_address(from);
                            take(input);
                        }
                        Err(error) => {
                            if let Some(held_back) = self.unreadable.admit(now) {
                                let bytes = buffer[..length].escape_ascii();
                                warn!(%from, %bytes, %error, held_back, "ignored a datagram that is not an input");
                            }
                        }
                    },
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    // Some systems report here that an earlier picture was refused.
                    Err(error) if is_refusal(&error) => {}
                    Err(error) => {
                        self.complain(&error, "cannot receive from the GUI");
                        self.paused = Some(now.plus(PAUSE));
                        break;
                    }
                }
            }
        }
    }

    // A name may have several addresses. The GUI is at the address that sends inputs.
    fn prefer_address(&mut self, from: SocketAddr) {
        let ip = from.ip().to_canonical();
        if self.aims[self.aim].address.ip().to_canonical() != ip
            && let Some(aim) = self.aims.iter().position(|aim| aim.address.ip().to_canonical() == ip)
        {
            debug!(address = %self.aims[aim].address, "the GUI uses this address");
            self.aim = aim;
        }
    }

    /// If the system has no room, the picture waits, unless a newer one replaces it.
    pub(crate) fn show(&mut self, picture: &DrawMessage) {
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        encode(picture, &mut frame);
        self.send(&frame);
        self.frame = frame;
    }

    pub(crate) fn leave_out(&mut self, why: robots::PictureTooLarge) {
        if let Some(held_back) = self.too_large.admit(self.clock.now()) {
            warn!(%why, held_back, "skipped a picture");
        }
    }

    fn send(&mut self, frame: &[u8]) {
        let Aim { socket, to, .. } = self.aims[self.aim];
        let socket = &self.sockets[socket];
        let sent = match socket.try_send_to(frame, to) {
            // The error is about an earlier datagram; this one was not sent.
            Err(error) if is_refusal(&error) => socket.try_send_to(frame, to),
            sent => sent,
        };
        self.waiting = None;
        match sent {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.waiting = Some(Bytes::copy_from_slice(frame)),
            Err(error) if is_refusal(&error) => {}
            Err(error) => self.complain(&error, "cannot send a picture to the GUI"),
        }
    }

    fn complain(&mut self, error: &io::Error, what: &str) {
        if let Some(held_back) = self.trouble.admit(self.clock.now()) {
            let gui = self.aims[self.aim].address;
            warn!(%error, %gui, held_back, "{what}");
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct LocalSocket {
    address: SocketAddr,
    // An IPv6 socket that also carries IPv4.
    both: bool,
}

impl LocalSocket {
    fn of(socket: &net::UdpSocket) -> io::Result<Self> {
        let address = socket.local_addr()?;
        Ok(Self { address, both: address.is_ipv6() && !SockRef::from(socket).only_v6()? })
    }

    // `None` if the socket cannot reach the address.
    fn reaching(&self, address: SocketAddr) -> Option<SocketAddr> {
        match address {
            SocketAddr::V4(address) if self.both => Some((address.ip().to_ipv6_mapped(), address.port()).into()),
            address => Some(address).filter(|_| address.is_ipv4() == self.address.is_ipv4()),
        }
    }
}

// Windows reports a refusal as a reset.
fn is_refusal(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netcore::wire::ShortText;
    use netshell::bind_udp;
    use robots::Parameters;
    use std::{net::Ipv4Addr, net::Ipv6Addr, net::UdpSocket as Peer};

    const LO: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn peer(ip: impl Into<IpAddr>) -> (Peer, SocketAddr) {
        let peer = Peer::bind((ip.into(), 0)).unwrap();
        peer.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let address = peer.local_addr().unwrap();
        (peer, address)
    }

    fn gui(bind: &[IpAddr], addresses: &[SocketAddr]) -> (Gui, u16) {
        let sockets = bind_udp(bind, 0).unwrap();
        let port = sockets[0].local_addr().unwrap().port();
        (Gui::new(sockets, addresses).unwrap(), port)
    }

    fn picture(players_count: u8) -> DrawMessage {
        let parameters = Parameters {
            server_name: ShortText::default(),
            players_count,
            size_x: 1,
            size_y: 1,
            game_length: 1,
            explosion_radius: 1,
            bomb_timer: 1,
        };
        DrawMessage::Lobby { parameters, players: [].into() }
    }

    fn received_turn(peer: &Peer) -> u8 {
        let mut buffer = [0; 100];
        assert_eq!(peer.recv(&mut buffer).unwrap(), 17);
        buffer[2]
    }

    async fn inputs(gui: &mut Gui, count: usize) -> Vec<InputMessage> {
        let mut inputs = vec![];
        while inputs.len() < count {
            gui.ready().await;
            gui.turn(|input| inputs.push(input));
        }
        inputs
    }

    #[tokio::test]
    async fn pictures_are_sent_in_order_from_the_input_port() {
        let (peer, address) = peer(LO);
        for bind in [&[][..], &[LO]] {
            let (mut gui, port) = gui(bind, &[address]);
            gui.sockets[0].writable().await.unwrap();
            for number in 0..50 {
                gui.show(&picture(number));
            }
            assert_eq!((0..50).map(|_| received_turn(&peer)).collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
            gui.show(&picture(1));
            assert_eq!(peer.recv_from(&mut [0; 99]).unwrap().1, (LO, port).into());
        }
    }

    #[tokio::test]
    async fn picture_without_room_is_replaced_by_the_next() {
        let (peer, address) = peer(LO);
        let (mut gui, _) = gui(&[LO], &[address]);
        // The runtime has not detected the room yet.
        for number in 1..=3 {
            gui.show(&picture(number));
        }
        assert!(gui.waiting.is_some());
        while gui.waiting.is_some() {
            gui.ready().await;
            gui.turn(|_| {});
        }
        gui.show(&picture(4));
        assert_eq!([received_turn(&peer), received_turn(&peer)], [3, 4]);
    }

    #[tokio::test]
    async fn pictures_follow_the_address_of_inputs() {
        let Ok(six) = Peer::bind((Ipv6Addr::LOCALHOST, 0)) else { return };
        let port = six.local_addr().unwrap().port();
        let Ok(four) = Peer::bind((LO, port)) else { return };
        let addresses = [(Ipv6Addr::LOCALHOST, port).into(), (Ipv4Addr::LOCALHOST, port).into()];
        let (mut gui, own) = gui(&[], &addresses);
        gui.sockets[0].writable().await.unwrap();
        gui.show(&picture(1));
        assert_eq!(received_turn(&six), 1);
        four.send_to(&[0], (LO, own)).unwrap();
        inputs(&mut gui, 1).await;
        gui.show(&picture(2));
        assert_eq!(received_turn(&four), 2);
    }

    #[tokio::test]
    async fn unreachable_gui_is_an_error() {
        let sockets = bind_udp(&[LO], 0).unwrap();
        let error = Gui::new(sockets, &["[::1]:7".parse().unwrap()]).unwrap_err().to_string();
        assert!(error.contains("127.0.0.1") && error.contains("::1") && error.contains("both IPv6"), "{error}");
    }
}
