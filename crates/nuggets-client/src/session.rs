//! One client on the wire: its state, its socket and its clock.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use cmdkit::{Directory, FOLLOW};
use netcore::{Client as _, Gone, Time};
use netshell::Clock;
use nuggets::{Client, ClientMessage, Command, End, Participant, ServerMessage, protocol::printable};
use tokio::{select, time::sleep};
use tracing::{debug, info, warn};

use crate::{
    follow::{self, Follow},
    link::{BUFFER, Link, Received},
};

/// How many datagrams are taken in before the rest of the program has its turn.
const BURST: usize = 256;
/// How many bytes of a datagram that cannot be read are logged.
const LOGGED: usize = 100;
/// How often the first message goes to one of several addresses before the next one is tried.
const TRIES: u32 = 2;
/// How long to wait after the system could not receive, so that lasting trouble costs no processor time.
const TROUBLE: Duration = Duration::from_millis(20);
/// How long after a move a player waits until it asks for a seat: the server there does not know its address, or the answer is lost.
const UNKNOWN: Duration = Duration::from_secs(2);

/// A client that talks to its server.
#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
    link: Link,
    clock: Clock,
    buffer: Box<[u8]>,
    // How often the first message went to the address that is tried now, and how many addresses refused it.
    tries: u32,
    refusals: usize,
    heard: bool,
    // When the server was heard last, or its address changed.
    last: Time,
    // When a player asks for a seat at an address to which the server has moved.
    asks_again: Option<Time>,
    follow: Option<Follow>,
    // Whether the log has the deviation of this server's DISPLAYs.
    adjusted: bool,
}

impl Session {
    /// Sends the first message. With a directory it follows the server to other addresses.
    pub(crate) fn start(part: Participant, link: Link, directory: Option<Arc<Directory>>) -> Self {
        let mut session = Self {
            client: Client::new(part, Time::ZERO),
            link,
            clock: Clock::start(),
            buffer: vec![0; BUFFER].into_boxed_slice(),
            tries: 0,
            refusals: 0,
            heard: false,
            last: Time::ZERO,
            asks_again: None,
            follow: directory.map(Follow::new),
            adjusted: false,
        };
        session.flush();
        session
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    /// How it ended, once it has.
    pub(crate) const fn end(&self) -> Option<&End> {
        self.client.end()
    }

    /// Whether nothing came but the word that nobody listens there.
    pub(crate) const fn is_refused(&self) -> bool {
        !self.heard && self.refusals > 0
    }

    /// Where the server may be.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        self.link.addresses()
    }

    /// How long a server is waited for whose port is closed.
    pub(crate) const fn patience(&self) -> Duration {
        follow::patience(self.follow.is_some())
    }

    /// Whether it looks for the server at other addresses.
    pub(crate) const fn follows(&self) -> bool {
        self.follow.is_some()
    }

    /// Why the directory does not tell where the server is.
    pub(crate) fn untold(&self) -> Option<&str> {
        self.follow.as_ref()?.trouble()
    }

    /// The moment, counted from the start of the session.
    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Waits until `moment`; for ever without one.
    pub(crate) fn until(&self, moment: Option<Time>) -> impl Future<Output = ()> + use<> {
        let clock = self.clock;
        async move { clock.until(moment).await }
    }

    pub(crate) fn key(&mut self, key: u8) {
        self.client.act(self.now(), Command::Key(key));
        self.flush();
    }

    /// Tells the server goodbye.
    pub(crate) fn leave(&mut self) {
        self.client.act(self.now(), Command::Leave);
        self.flush();
    }

    /// Waits for the server or for the clock and takes in what came. Dropping it before it is done loses nothing.
    pub(crate) async fn turn(&mut self) {
        let now = self.now();
        let deadline = self.until(self.client.deadline(now).into_iter().chain(self.asks_again).min());
        let asks = self.until(self.ask_at(now));
        let first = select! {
            addresses = follow::answer(self.follow.as_mut()) => {
                self.directed(addresses);
                Received::Nothing
            }
            () = asks => {
                if let Some(follow) = &mut self.follow {
                    follow.ask(self.clock.now());
                }
                Received::Nothing
            }
            received = self.link.receive(&mut self.buffer) => {
                if received == Received::Nothing {
                    sleep(TROUBLE).await;
                }
                received
            }
            () = self.link.until_writable() => Received::Nothing,
            () = deadline => {
                self.client.elapsed(self.now());
                self.go_on();
                Received::Nothing
            }
        };
        self.take_in(first);
        for _ in 0..BURST {
            if self.client.end().is_some() {
                break;
            }
            match self.link.receive_now(&mut self.buffer) {
                Received::Nothing => break,
                received => self.take_in(received),
            }
        }
        self.flush();
    }

    fn take_in(&mut self, received: Received) {
        match received {
            Received::Datagram(bytes) => {
                (self.heard, self.last, self.asks_again) = (true, self.now(), None);
                if let Some(follow) = &mut self.follow {
                    follow.heard();
                }
                let (now, datagram) = (self.now(), &self.buffer[..bytes]);
                let displays = self.client.displays();
                // What cannot be read leaves a note on the screen, and the next datagram may be better.
                let _ = self.client.receive(now, datagram);
                log(datagram, self.client.displays() > displays);
                if self.client.is_adjusted() && !std::mem::replace(&mut self.adjusted, true) {
                    let (rows, cols) = self.client.size().unwrap_or_default();
                    warn!(
                        rows,
                        cols, "the DISPLAY of this server does not have the shape of its GRID: rows are padded or cut"
                    );
                }
            }
            Received::Refused => self.refused(),
            Received::Nothing => {}
        }
    }

    // When the directory is asked.
    fn ask_at(&self, now: Time) -> Option<Time> {
        let follow = self.follow.as_ref().filter(|_| self.client.end().is_none())?;
        follow.due(now, self.last, self.client.closed_for(now).is_some())
    }

    // Takes in what the directory has said.
    fn directed(&mut self, addresses: Option<Vec<SocketAddr>>) {
        let (Some(addresses), now) = (addresses, self.now()) else { return };
        if self.link.is_to(&addresses) {
            // It is where it was, and may have nothing to say.
            self.last = now;
            return;
        }
        if self.client.end().is_some() || !self.link.move_to(addresses) {
            return;
        }
        info!(to = ?self.link.addresses(), "the room has moved");
        (self.heard, self.tries, self.refusals, self.last) = (false, 0, 0, now);
        let plays = self.client.is_joined() && matches!(self.client.participant(), Participant::Player(_));
        self.asks_again = plays.then(|| now.plus(UNKNOWN));
        self.client.moved(now);
    }

    // Asks for a seat where nobody knows this player; and instead of giving up a server that may come at another address, asks anew.
    fn go_on(&mut self) {
        let now = self.now();
        if self.asks_again.is_some_and(|due| due <= now) {
            self.asks_again = None;
            self.send_first_message();
        }
        if self.follow.is_some() && self.client.end() == Some(&End::NoAnswer) && now.since(Time::ZERO) < FOLLOW {
            self.client = Client::new(self.client.participant().clone(), now);
        }
    }

    fn refused(&mut self) {
        debug!("nobody listens at that port");
        self.refusals += 1;
        // A host's name may stand for an address at which the server does not listen, as `localhost` often does.
        if !self.heard && self.refusals < self.link.choices() && self.link.try_next() {
            self.tries = 0;
            self.send_first_message();
        } else {
            self.port_closed();
        }
    }

    fn port_closed(&mut self) {
        self.client.disconnected(self.now(), Gone::Broken);
    }

    fn send_first_message(&mut self) {
        self.tries += 1;
        if !self.link.send(self.client.first_message().to_bytes()) {
            self.refused();
        }
    }

    fn flush(&mut self) {
        if !self.link.send_unsent() {
            self.port_closed();
        }
        while let Some(datagram) = self.client.take_outgoing() {
            debug!(datagram = printable(&datagram, b""), "to the server");
            if !self.heard && datagram == self.client.first_message().to_bytes() {
                self.ask_again();
            } else if !self.link.send(datagram) {
                self.port_closed();
            }
        }
    }

    // Nobody has answered yet, so the first message may have to go to another address.
    fn ask_again(&mut self) {
        self.refusals = 0;
        if self.tries >= TRIES && self.link.choices() > 1 {
            // Should the server sit there after all, and its answers be lost, it shall not keep a seat for us.
            self.link.send(ClientMessage::Key(b'Q').to_bytes());
            if self.link.try_next() {
                self.tries = 0;
            }
        }
        self.send_first_message();
    }
}

fn log(datagram: &[u8], displayed: bool) {
    let shown = || printable(&datagram[..datagram.len().min(LOGGED)], b"");
    match ServerMessage::parse(datagram) {
        Ok(ServerMessage::Display(text)) if displayed => debug!(bytes = text.len(), "DISPLAY"),
        Ok(ServerMessage::Display(_)) => warn!(datagram = shown(), "a DISPLAY that does not fit the GRID"),
        Ok(ServerMessage::Quit(_)) => info!(datagram = shown(), "the server says goodbye"),
        Ok(_) => debug!(datagram = shown(), "from the server"),
        Err(error) => warn!(%error, datagram = shown(), "malformed message"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nuggets::Name;
    use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

    fn listener() -> (UdpSocket, SocketAddr) {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let address = socket.local_addr().unwrap();
        (socket, address)
    }

    fn heard(socket: &UdpSocket) -> String {
        let mut buffer = [0; 100];
        let count = socket.recv(&mut buffer).unwrap();
        buffer[..count].escape_ascii().to_string()
    }

    fn session(addresses: &[SocketAddr]) -> Session {
        let part = Participant::Player(Name::new(b"Ann").unwrap());
        Session::start(part, Link::open(addresses.to_vec()).unwrap(), None)
    }

    #[tokio::test]
    async fn an_address_that_refuses_gives_way_to_the_next() {
        let (gone, closed) = listener();
        drop(gone);
        let (server, open) = listener();
        let mut session = session(&[closed, open]);
        server.set_nonblocking(true).unwrap();
        let mut buffer = [0; 100];
        while server.recv(&mut buffer).is_err() {
            session.turn().await;
        }
        assert!(buffer.starts_with(b"PLAY Ann"));
        assert!(session.client().status(session.now()).ends_with("(attempt 1)."), "nothing is amiss");
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_is_silent_gives_way_and_keeps_no_seat() {
        let [(silent, first), (server, second)] = [listener(), listener()];
        let mut session = session(&[first, second]);
        while session.now() < Time::from_millis(3_500) {
            session.turn().await;
        }
        assert_eq!([heard(&silent), heard(&silent), heard(&silent)], ["PLAY Ann", "PLAY Ann", "KEY Q"]);
        assert_eq!(heard(&server), "PLAY Ann");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_waited_for_longer_than_15_seconds() {
        let (_silent, address) = listener();
        let mut session = session(&[address]);
        while session.end().is_none() {
            session.turn().await;
        }
        assert_eq!(session.end(), Some(&End::NoAnswer));
        assert_eq!(session.now().as_nanos() / 1_000_000_000, 15);
    }
}
