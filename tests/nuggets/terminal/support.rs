use std::{
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    process::Command,
    sync::Arc,
    thread,
};

use testkit::{
    PATIENCE,
    terminal::{Monitor, Terminal},
};

use crate::programs;

pub(crate) const MAP: &str = "\
+------------------+
|@..........*....B.|
|..................|
|..................|
|................C.|
+------------------+
";

pub(crate) fn client() -> Command {
    programs::program("nuggets-client")
}

pub(crate) fn path() -> String {
    programs::path("nuggets-client")
}

type Received = Vec<(SocketAddr, Vec<u8>)>;

pub(crate) struct Server {
    socket: UdpSocket,
    received: Arc<Monitor<Received>>,
}

impl Server {
    /// Answers each message with the result of `script`.
    pub(crate) fn start(script: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let listener = socket.try_clone().unwrap();
        let received = Monitor::new(vec![]);
        let log = Arc::clone(&received);
        // The thread blocks in `recv_from` until the test program ends.
        thread::spawn(move || {
            let mut buffer = [0; 1024];
            loop {
                // Errors concern clients that have disconnected.
                let Ok((count, from)) = listener.recv_from(&mut buffer) else { continue };
                let message = buffer[..count].to_vec();
                let replies = script(&message);
                log.change(|log| log.push((from, message)));
                for reply in replies {
                    let _ = listener.send_to(&reply, from);
                }
            }
        });
        Self { socket, received }
    }

    /// Admits a player or spectator, and ignores all keys except `Q`.
    pub(crate) fn with_map(map: &'static str) -> Self {
        Self::start(move |message| match message {
            b"SPECTATE" => welcome(map, false),
            [b'P', b'L', b'A', b'Y', ..] => welcome(map, true),
            b"KEY Q" => vec![b"QUIT Thanks for playing!".to_vec()],
            _ => vec![],
        })
    }

    pub(crate) fn port(&self) -> String {
        self.socket.local_addr().unwrap().port().to_string()
    }

    /// To the sender of the last message.
    pub(crate) fn send(&self, datagram: &[u8]) {
        self.socket.send_to(datagram, self.client()).unwrap();
    }

    pub(crate) fn client(&self) -> SocketAddr {
        self.received.lock().last().unwrap().0
    }

    /// The received messages must become exactly these.
    pub(crate) fn wait_for(&self, messages: &[&str]) {
        let texts =
            |received: &Received| received.iter().map(|(_, text)| text.escape_ascii().to_string()).collect::<Vec<_>>();
        self.received.wait(|received| texts(received) == messages, |received| texts(received).join("\n"));
    }

    /// Waits for `count` messages that begin with `start`.
    pub(crate) fn wait_for_many(&self, start: &str, count: usize) {
        let matching =
            |received: &Received| received.iter().filter(|(_, text)| text.starts_with(start.as_bytes())).count();
        self.received
            .wait(|received| matching(received) >= count, |received| format!("{} of {count}", matching(received)));
    }
}

/// A kill closes its port without a message.
pub(crate) struct KillableServer(UdpSocket);

impl KillableServer {
    pub(crate) fn start() -> Self {
        Self::at(0).unwrap()
    }

    /// `None` if the port is in use.
    pub(crate) fn at(port: u16) -> Option<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Some(Self(socket))
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    pub(crate) fn answer(&self, message: &[u8], answer: &[u8]) {
        self.send(self.expect(message), &[answer]);
    }

    pub(crate) fn admit(&self, first: &[u8], map: &str) -> SocketAddr {
        let from = self.expect(first);
        self.send(from, &welcome(map, true).iter().map(Vec::as_slice).collect::<Vec<_>>());
        from
    }

    pub(crate) fn send(&self, to: SocketAddr, messages: &[&[u8]]) {
        for message in messages {
            self.0.send_to(message, to).unwrap();
        }
    }

    /// Ignores other messages. Returns the sender.
    pub(crate) fn expect(&self, message: &[u8]) -> SocketAddr {
        let mut buffer = [0; 200];
        loop {
            let (count, from) = self.0.recv_from(&mut buffer).unwrap();
            if &buffer[..count] == message {
                return from;
            }
        }
    }
}

pub(crate) fn leave(mut terminal: Terminal) {
    terminal.press(b"Q");
    assert_eq!(terminal.end(), 0);
}

pub(crate) fn welcome(map: &str, as_player: bool) -> Vec<Vec<u8>> {
    let columns = map.lines().next().unwrap().len();
    let grid = format!("GRID {} {columns}", map.lines().count());
    let texts = ["OK A".to_owned(), grid, "GOLD 0 0 250".to_owned(), format!("DISPLAY\n{map}")];
    texts.into_iter().skip(usize::from(!as_player)).map(String::into_bytes).collect()
}
