use std::{
    io::{self, ErrorKind},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    time::{Duration, Instant},
};

use crate::PATIENCE;

/// The pause before a request is repeated: datagrams may be lost.
const AGAIN: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Peer {
    socket: UdpSocket,
    server: SocketAddr,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    pub letter: char,
    /// Rows and columns in `GRID`.
    pub size: (usize, usize),
    /// As in `GOLD`.
    pub gold: [u32; 3],
    /// Each row with its newline.
    pub display: String,
}

impl Peer {
    pub fn new(server: SocketAddr) -> Self {
        let ip = if server.is_ipv4() { IpAddr::from(Ipv4Addr::LOCALHOST) } else { Ipv6Addr::LOCALHOST.into() };
        Self::at(ip, server)
    }

    /// `ip` must be a local address.
    pub fn at(ip: IpAddr, server: SocketAddr) -> Self {
        let socket = UdpSocket::bind((ip, 0)).unwrap_or_else(|error| panic!("cannot bind {ip}: {error}"));
        socket.connect(server).unwrap_or_else(|error| panic!("cannot connect to {server}: {error}"));
        Self { socket, server }
    }

    pub fn address(&self) -> SocketAddr {
        self.socket.local_addr().expect("a bound socket has an address")
    }

    /// A closed port at the destination is not an error.
    pub fn send(&self, datagram: impl AsRef<[u8]>) {
        let datagram = datagram.as_ref();
        loop {
            match self.socket.send(datagram) {
                Ok(_) => return,
                // The error belongs to an earlier datagram; this one was not sent.
                Err(error) if is_refused(&error) => {
                    let _ = self.socket.send(datagram);
                    return;
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => panic!("cannot send {} bytes to {}: {error}", datagram.len(), self.server),
            }
        }
    }

    pub fn receive(&self) -> Vec<u8> {
        self.receive_by(Instant::now() + PATIENCE)
            .unwrap_or_else(|| panic!("nothing came from {} within {PATIENCE:?}", self.server))
    }

    pub fn receive_by(&self, until: Instant) -> Option<Vec<u8>> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return self.read_pending(1).pop();
            }
            self.socket.set_read_timeout(Some(left)).expect("a socket can be waited on");
            match self.socket.recv(&mut buffer) {
                Ok(length) => {
                    buffer.truncate(length);
                    return Some(buffer);
                }
                Err(error) if is_refused(&error) => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("cannot receive from {}: {error}", self.server),
            }
        }
    }

    pub fn pending(&self) -> Vec<Vec<u8>> {
        self.read_pending(usize::MAX)
    }

    fn read_pending(&self, most: usize) -> Vec<Vec<u8>> {
        self.socket.set_nonblocking(true).expect("a socket can be looked at");
        let mut all = vec![];
        let mut buffer = vec![0; 1 << 16];
        while all.len() < most {
            match self.socket.recv(&mut buffer) {
                Ok(length) => all.push(buffer[..length].to_vec()),
                Err(error) if is_refused(&error) => {}
                Err(_) => break,
            }
        }
        self.socket.set_nonblocking(false).expect("a socket can be waited on");
        all
    }

    pub fn expect(&self, front: &str) -> String {
        let until = Instant::now() + PATIENCE;
        let mut before = vec![];
        while let Some(datagram) = self.receive_by(until) {
            let datagram = text(&datagram);
            if datagram.starts_with(front) {
                return datagram;
            }
            before.push(datagram);
        }
        panic!("no datagram that begins with {front:?} came from {}, but {before:?}", self.server);
    }

    /// Repeats an idempotent `request` until an answer starts with `front`: the server may be too busy to receive it.
    pub fn request(&self, request: impl AsRef<[u8]>, front: &str) -> String {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            self.send(request.as_ref());
            let again = Instant::now() + AGAIN;
            while let Some(datagram) = self.receive_by(again) {
                let datagram = text(&datagram);
                if datagram.starts_with(front) {
                    return datagram;
                }
            }
        }
        panic!("{} gave no answer that begins with {front:?} within {PATIENCE:?}", self.server);
    }

    /// Checks that the welcome is complete and in order.
    pub fn play(&self, name: &str) -> Welcome {
        self.send(format!("PLAY {name}"));
        let letter = text(&self.receive());
        let Some(letter) = letter.strip_prefix("OK ").and_then(|letter| letter.parse().ok()) else {
            panic!("{name} was answered {letter:?}, not OK and a letter");
        };
        let (size, gold, display) = self.view();
        Welcome { letter, size, gold, display }
    }

    pub fn spectate(&self) -> ((usize, usize), [u32; 3], String) {
        self.send("SPECTATE");
        self.view()
    }

    fn view(&self) -> ((usize, usize), [u32; 3], String) {
        let [rows, cols] = numbers(&text(&self.receive()), "GRID");
        let gold = numbers(&text(&self.receive()), "GOLD");
        let display = text(&self.receive());
        let Some(display) = display.strip_prefix("DISPLAY\n") else { panic!("{display:?} is no DISPLAY") };
        ((rows as usize, cols as usize), gold, display.to_owned())
    }
}

pub fn numbers<const N: usize>(message: &str, kind: &str) -> [u32; N] {
    let words = message.strip_prefix(kind).and_then(|rest| rest.strip_prefix(' '));
    let numbers: Option<Vec<u32>> = words.and_then(|words| words.split(' ').map(|word| word.parse().ok()).collect());
    numbers.and_then(|numbers| numbers.try_into().ok()).unwrap_or_else(|| panic!("{message:?} is no {kind}"))
}

fn text(datagram: &[u8]) -> String {
    assert!(datagram.is_ascii(), "a server speaks ASCII, not {:?}", datagram.escape_ascii().to_string());
    String::from_utf8_lossy(datagram).into_owned()
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_datagrams_are_left_for_the_next_call() {
        let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = server.local_addr().unwrap();
        let peer = Peer::new(address);
        let own = peer.socket.local_addr().unwrap();
        for text in ["one", "two", "three"] {
            server.send_to(text.as_bytes(), own).unwrap();
        }
        // On loopback a datagram has arrived when the call that sent it returns.
        let past = Instant::now();
        assert_eq!(peer.receive_by(past).as_deref(), Some(&b"one"[..]));
        assert_eq!(peer.pending(), [&b"two"[..], b"three"]);
        assert_eq!(peer.receive_by(past), None);
    }
}
