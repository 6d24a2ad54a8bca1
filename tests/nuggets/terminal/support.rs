//! Servers that say what a test wants them to say.

use std::{
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    process::Command,
    sync::Arc,
    thread,
};

use testkit::{
    PATIENCE,
    terminal::{Terminal, Watched},
};

use crate::programs;

/// A hall with three players and a pile.
pub(crate) const MAP: &str = "\
+------------------+
|@..........*....B.|
|..................|
|..................|
|................C.|
+------------------+
";

/// A command that runs the client.
pub(crate) fn client() -> Command {
    programs::program("nuggets-client")
}

/// The path of the client.
pub(crate) fn path() -> String {
    programs::path("nuggets-client")
}

/// What a fake server heard, and from where.
type Heard = Vec<(SocketAddr, Vec<u8>)>;

/// A server that answers as it is told.
pub(crate) struct Server {
    socket: UdpSocket,
    heard: Arc<Watched<Heard>>,
}

impl Server {
    /// A server whose answers to each message `script` decides.
    pub(crate) fn start(script: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let listener = socket.try_clone().unwrap();
        let heard = Watched::new(vec![]);
        let log = Arc::clone(&heard);
        // Ends with the test program: nothing else would wake it.
        thread::spawn(move || {
            let mut buffer = [0; 1024];
            loop {
                // Errors are about clients that are gone.
                let Ok((count, from)) = listener.recv_from(&mut buffer) else { continue };
                let message = buffer[..count].to_vec();
                let replies = script(&message);
                log.change(|log| log.push((from, message)));
                for reply in replies {
                    let _ = listener.send_to(&reply, from);
                }
            }
        });
        Self { socket, heard }
    }

    /// A server with one player or spectator on this map, who is let in and may leave; keys change nothing.
    pub(crate) fn with_map(map: &'static str) -> Self {
        Self::start(move |message| match message {
            b"SPECTATE" => welcome(map, false),
            [b'P', b'L', b'A', b'Y', ..] => welcome(map, true),
            b"KEY Q" => vec![b"QUIT Thanks for playing!".to_vec()],
            _ => vec![],
        })
    }

    /// The port, as an argument.
    pub(crate) fn port(&self) -> String {
        self.socket.local_addr().unwrap().port().to_string()
    }

    /// Sends a datagram to the client that was heard last.
    pub(crate) fn say(&self, datagram: &[u8]) {
        self.socket.send_to(datagram, self.client()).unwrap();
    }

    /// Where the client that was heard last sits.
    pub(crate) fn client(&self) -> SocketAddr {
        self.heard.lock().last().unwrap().0
    }

    /// Waits until these are all the messages that came.
    pub(crate) fn wait_for(&self, messages: &[&str]) {
        let texts = |heard: &Heard| heard.iter().map(|(_, text)| text.escape_ascii().to_string()).collect::<Vec<_>>();
        self.heard.wait(|heard| texts(heard) == messages, |heard| texts(heard).join("\n"));
    }

    /// Waits until at least so many messages came that begin like this.
    pub(crate) fn wait_for_many(&self, start: &str, count: usize) {
        let matching = |heard: &Heard| heard.iter().filter(|(_, text)| text.starts_with(start.as_bytes())).count();
        self.heard.wait(|heard| matching(heard) >= count, |heard| format!("{} of {count}", matching(heard)));
    }
}

/// A server that can be killed: its port is closed, and it says nothing.
pub(crate) struct Mortal(UdpSocket);

impl Mortal {
    /// A server at a free port.
    pub(crate) fn start() -> Self {
        Self::at(0).unwrap()
    }

    /// A server at this port, if nobody else has it.
    pub(crate) fn at(port: u16) -> Option<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Some(Self(socket))
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    /// Answers the next message, which is this one.
    pub(crate) fn say(&self, heard: &[u8], answer: &[u8]) {
        self.0.send_to(answer, self.hear(heard)).unwrap();
    }

    /// Lets the next one in who asks.
    pub(crate) fn let_in(&self, first: &[u8], map: &str) {
        let from = self.hear(first);
        for message in welcome(map, true) {
            self.0.send_to(&message, from).unwrap();
        }
    }

    fn hear(&self, message: &[u8]) -> SocketAddr {
        let mut buffer = [0; 100];
        let (count, from) = self.0.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..count], message);
        from
    }
}

pub(crate) fn leave(mut terminal: Terminal) {
    terminal.press(b"Q");
    assert_eq!(terminal.end(), 0);
}

/// What a client hears when it is let in.
pub(crate) fn welcome(map: &str, as_player: bool) -> Vec<Vec<u8>> {
    let columns = map.lines().next().unwrap().len();
    let grid = format!("GRID {} {columns}", map.lines().count());
    let texts = ["OK A".to_owned(), grid, "GOLD 0 0 250".to_owned(), format!("DISPLAY\n{map}")];
    texts.into_iter().skip(usize::from(!as_player)).map(String::into_bytes).collect()
}
