//! One client and its server: the socket, the clock, and the search for the server at other addresses.

use std::{future, mem, net::SocketAddr, sync::Arc, time::Duration};

use clientkit::{Received, ServerLocation, Wire};
use cmdkit::{Backoff, Directory, FOLLOW};
use netcore::{Client as _, DisconnectReason, Time};
use netshell::Clock;
use nuggets::{Client, ClientMessage, Command, End, Participant, ServerMessage, client::GIVE_UP, protocol::printable};
use tokio::{select, task::JoinHandle, time::sleep};
use tracing::{debug, info, warn};

/// Datagrams received before the rest of the program continues.
const BURST: usize = 256;
const LOGGED: usize = 100;
/// Attempts with one of several addresses before the next one.
const TRIES: u32 = 2;
/// After a receive error, so that a lasting error costs no processor time.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a player waits for a response after the server has moved, before it requests a seat. The server does not
/// know its address, or the response is lost.
const UNKNOWN: Duration = Duration::from_secs(2);
/// The silence before the directory is queried. It is no error: a server sends no messages while the game does not
/// change.
const QUIET: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
    wire: Wire,
    clock: Clock,
    // First messages sent to the current address, and addresses that refused one.
    tries: u32,
    refusals: usize,
    answered: bool,
    // When the server last sent something, or its address changed.
    last: Time,
    // When a player requests a seat after the server has moved.
    rejoins: Option<Time>,
    search: Option<Search>,
    // Whether the deviation of this server's DISPLAYs is logged.
    adjusted: bool,
}

/// The addresses from the directory, or why there are none.
type Located = Result<Vec<SocketAddr>, String>;

#[derive(Debug)]
struct Search {
    location: ServerLocation,
    request: Option<JoinHandle<(ServerLocation, Located)>>,
    backoff: Backoff,
    not_before: Time,
    error: Option<String>,
}

impl Session {
    /// Sends the first message to the first of `servers` that the system has a route to. With a directory, the session
    /// follows the server to other addresses.
    pub(crate) fn start(
        part: Participant,
        servers: Vec<SocketAddr>,
        directory: Option<Arc<Directory>>,
    ) -> anyhow::Result<Self> {
        let wire = Wire::datagrams_to(servers).map_err(|(server, error)| match server {
            Some(server) => anyhow::Error::from(error).context(format!("cannot reach {server}")),
            None => anyhow::anyhow!("no address to connect to"),
        })?;
        let search = directory.map(|directory| Search {
            location: ServerLocation::new(None, Some(directory), ""),
            request: None,
            backoff: Backoff::default(),
            not_before: Time::ZERO,
            error: None,
        });
        let mut session = Self {
            client: Client::new(part, Time::ZERO),
            wire,
            clock: Clock::start(),
            tries: 0,
            refusals: 0,
            answered: false,
            last: Time::ZERO,
            rejoins: None,
            search,
            adjusted: false,
        };
        session.flush();
        Ok(session)
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) const fn end(&self) -> Option<&End> {
        self.client.end()
    }

    /// The system reported a closed port, and no message from the server has arrived.
    pub(crate) const fn is_refused(&self) -> bool {
        !self.answered && self.refusals > 0
    }

    pub(crate) fn servers(&self) -> &[SocketAddr] {
        self.wire.servers()
    }

    pub(crate) const fn patience(&self) -> Duration {
        if self.follows() { FOLLOW } else { GIVE_UP }
    }

    pub(crate) const fn follows(&self) -> bool {
        self.search.is_some()
    }

    pub(crate) fn search_error(&self) -> Option<&str> {
        self.search.as_ref()?.error.as_deref()
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Never completes without a moment.
    pub(crate) fn until(&self, moment: Option<Time>) -> impl Future<Output = ()> + use<> {
        let clock = self.clock;
        async move { clock.until(moment).await }
    }

    pub(crate) fn key(&mut self, key: u8) {
        self.client.act(self.now(), Command::Key(key));
        self.flush();
    }

    pub(crate) fn leave(&mut self) {
        self.client.act(self.now(), Command::Leave);
        self.flush();
    }

    /// Cancellation safe.
    pub(crate) async fn turn(&mut self) {
        let now = self.now();
        let deadline = self.until(self.client.deadline(now).into_iter().chain(self.rejoins).min());
        let request = self.until(self.request_at(now));
        select! {
            () = self.wire.ready() => {}
            found = found(self.search.as_mut()) => self.move_to(found),
            () = request => self.request(),
            () = deadline => {
                self.client.elapsed(self.now());
                self.rejoin();
            }
        }
        for _ in 0..BURST {
            if self.client.end().is_some() {
                break;
            }
            match self.receive() {
                Received::Nothing | Received::Closed => break,
                Received::Bytes | Received::Refused => {}
                Received::Failed(error) => {
                    warn!(%error, "cannot receive");
                    sleep(PAUSE).await;
                    break;
                }
            }
        }
        self.flush();
    }

    fn receive(&mut self) -> Received {
        let now = self.now();
        let Self { wire, client, .. } = self;
        let received = wire.receive(|datagram| {
            let displays = client.displays();
            // The client notes a malformed datagram for the screen, and continues.
            let _ = client.receive(now, datagram);
            log(datagram, client.displays() > displays);
        });
        match received {
            Received::Bytes => {}
            Received::Refused => {
                self.refused();
                return received;
            }
            Received::Nothing | Received::Closed | Received::Failed(_) => return received,
        }
        (self.answered, self.last, self.rejoins) = (true, now, None);
        if let Some(search) = &mut self.search {
            (search.backoff, search.error) = (Backoff::default(), None);
        }
        if self.client.is_adjusted() && !mem::replace(&mut self.adjusted, true) {
            let (rows, cols) = self.client.size().unwrap_or_default();
            warn!(rows, cols, "the DISPLAY of this server does not have the shape of its GRID: rows are padded or cut");
        }
        received
    }

    // When to query the directory: after a silence, or immediately if the port is closed.
    fn request_at(&self, now: Time) -> Option<Time> {
        let search = self.search.as_ref().filter(|search| search.request.is_none() && self.client.end().is_none())?;
        let wanted = if self.client.closed_for(now).is_some() { now } else { self.last.plus(QUIET) };
        Some(wanted.max(search.not_before))
    }

    fn request(&mut self) {
        let now = self.now();
        let Some(search) = &mut self.search else { return };
        search.not_before = now.plus(search.backoff.next_wait());
        let mut location = search.location.clone();
        search.request = Some(tokio::spawn(async move {
            let found = match location.locate().await {
                Ok(()) => location.resolve().await.map_err(|error| format!("{error:#}")),
                Err(why) => Err(why),
            };
            (location, found)
        }));
    }

    fn move_to(&mut self, servers: Option<Vec<SocketAddr>>) {
        let (Some(servers), now) = (servers, self.now()) else { return };
        if servers.contains(&self.wire.server()) {
            // The address is unchanged, and the server may have no message to send.
            self.last = now;
            return;
        }
        if self.client.end().is_some() || !self.wire.move_to(servers) {
            return;
        }
        info!(to = ?self.wire.servers(), "the room has moved");
        (self.answered, self.tries, self.refusals, self.last) = (false, 0, 0, now);
        let plays = self.client.is_joined() && matches!(self.client.participant(), Participant::Player(_));
        self.rejoins = plays.then(|| now.plus(UNKNOWN));
        self.client.moved(now);
    }

    // Restarts instead of giving up, while the server may be found at another address.
    fn rejoin(&mut self) {
        let now = self.now();
        if self.rejoins.is_some_and(|due| due <= now) {
            self.rejoins = None;
            self.send_first_message();
        }
        if self.follows() && self.client.end() == Some(&End::NoAnswer) && now.since(Time::ZERO) < FOLLOW {
            self.client = Client::new(self.client.participant().clone(), now);
        }
    }

    fn refused(&mut self) {
        debug!("the port is closed");
        self.refusals += 1;
        // A hostname may have an address without the server, as is common for `localhost`.
        if !self.answered && self.refusals < self.wire.servers().len() && self.wire.try_next() {
            self.tries = 0;
            self.send_first_message();
        } else {
            self.client.disconnected(self.now(), DisconnectReason::Broken);
        }
    }

    fn send_first_message(&mut self) {
        self.tries += 1;
        self.wire.send(self.client.first_message().to_bytes());
    }

    fn flush(&mut self) {
        self.wire.flush();
        while let Some(datagram) = self.client.take_outgoing() {
            debug!(datagram = printable(&datagram, b""), "to the server");
            if self.answered || datagram != self.client.first_message().to_bytes() {
                self.wire.send(datagram);
                continue;
            }
            // Without a response, the first message may have to be sent to another address.
            self.refusals = 0;
            if self.tries >= TRIES && self.wire.servers().len() > 1 {
                // If only its responses are lost, the server must not keep a seat.
                self.wire.send(ClientMessage::Key(b'Q').to_bytes());
                if self.wire.try_next() {
                    self.tries = 0;
                }
            }
            self.send_first_message();
        }
    }
}

// `None` if the request failed. Never completes without a request.
async fn found(search: Option<&mut Search>) -> Option<Vec<SocketAddr>> {
    let Some(search) = search else { return future::pending().await };
    let Some(request) = &mut search.request else { return future::pending().await };
    let done = request.await;
    search.request = None;
    let found = done.map_err(|error| format!("the request failed: {error}")).and_then(|(location, found)| {
        search.location = location;
        found
    });
    search.error = found.as_ref().err().cloned();
    found.ok()
}

fn log(datagram: &[u8], displayed: bool) {
    let shown = || printable(&datagram[..datagram.len().min(LOGGED)], b"");
    match ServerMessage::parse(datagram) {
        Ok(ServerMessage::Display(text)) if displayed => debug!(bytes = text.len(), "DISPLAY"),
        Ok(ServerMessage::Display(_)) => warn!(datagram = shown(), "a DISPLAY that does not fit the GRID"),
        Ok(ServerMessage::Quit(_)) => info!(datagram = shown(), "the server ends the game"),
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

    fn received(socket: &UdpSocket) -> String {
        let mut buffer = [0; 100];
        let count = socket.recv(&mut buffer).unwrap();
        buffer[..count].escape_ascii().to_string()
    }

    fn session(addresses: &[SocketAddr]) -> Session {
        let part = Participant::Player(Name::new(b"Ann").unwrap());
        Session::start(part, addresses.to_vec(), None).unwrap()
    }

    #[tokio::test]
    async fn refused_first_message_goes_to_the_next_address() {
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
        assert!(session.client().status(session.now()).ends_with("(attempt 1)."), "no delay");
    }

    #[tokio::test(start_paused = true)]
    async fn silent_address_is_replaced_after_two_requests_and_key_q() {
        let [(silent, first), (server, second)] = [listener(), listener()];
        let mut session = session(&[first, second]);
        while session.now() < Time::from_millis(3_500) {
            session.turn().await;
        }
        assert_eq!([received(&silent), received(&silent), received(&silent)], ["PLAY Ann", "PLAY Ann", "KEY Q"]);
        assert_eq!(received(&server), "PLAY Ann");
    }

    #[tokio::test(start_paused = true)]
    async fn gives_up_a_silent_server_after_15_seconds() {
        let (_silent, address) = listener();
        let mut session = session(&[address]);
        while session.end().is_none() {
            session.turn().await;
        }
        assert_eq!(session.end(), Some(&End::NoAnswer));
        assert_eq!(session.now().as_nanos() / 1_000_000_000, 15);
    }
}
