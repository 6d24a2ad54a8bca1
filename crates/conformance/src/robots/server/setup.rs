use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    thread,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use robots::{ClientMessage, Incoming, Parameters, ServerMessage, protocol};

use super::{HELLO, LATE, LISTENS, MANY_CLIENTS, WELL_FORMED};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    launch::{Run, Values},
    net::Connection,
    ports::free_tcp_port,
    robots::{context::Context, show},
    rule::Rule,
    sockets,
    tester::Options,
};

/// The interval of checks whether the server has read sent data, and the time to play it.
const POLL: Duration = Duration::from_millis(20);
/// The least time from Hello to Join. A user needs longer, and a server may greet a client and read from it in two
/// threads.
const BEFORE_JOIN: Duration = Duration::from_millis(100);

pub(super) struct Setup {
    pub(super) bomb_timer: u16,
    pub(super) players: u8,
    pub(super) duration: Duration,
    pub(super) radius: u16,
    pub(super) blocks: u16,
    pub(super) length: u16,
    pub(super) name: &'static str,
    pub(super) seed: u32,
    pub(super) size: (u16, u16),
    /// Required initial positions, if they matter.
    pub(super) robots: Vec<(u16, u16)>,
}

impl Setup {
    pub(super) fn values(&self, port: &str) -> Vec<(&'static str, String)> {
        vec![
            ("bomb-timer", self.bomb_timer.to_string()),
            ("players", self.players.to_string()),
            ("turn", self.duration.as_millis().to_string()),
            ("radius", self.radius.to_string()),
            ("blocks", self.blocks.to_string()),
            ("length", self.length.to_string()),
            ("name", self.name.to_owned()),
            ("port", port.to_owned()),
            ("seed", self.seed.to_string()),
            ("x", self.size.0.to_string()),
            ("y", self.size.1.to_string()),
        ]
    }

    pub(super) fn parameters(&self) -> anyhow::Result<Parameters> {
        Ok(Parameters {
            server_name: self.name.parse()?,
            players_count: self.players,
            size_x: self.size.0,
            size_y: self.size.1,
            game_length: self.length,
            explosion_radius: self.radius,
            bomb_timer: self.bomb_timer,
        })
    }
}

impl Context<'_> {
    /// Long enough that an immediate action arrives in time, and no longer than patience allows.
    pub(super) fn turn(&self) -> Duration {
        (self.options.patience / 20).clamp(Duration::from_millis(40), Duration::from_millis(250)) * self.slowness
    }

    pub(super) fn host(&self, judge: &mut Judge, setup: &Setup) -> ScenarioResult<Host> {
        let port = free_tcp_port()?;
        self.host_with(judge, setup, port, &setup.values(&port.to_string()))
    }

    /// `setup` describes the server that starts with these values.
    pub(super) fn host_with(
        &self,
        judge: &mut Judge,
        setup: &Setup,
        port: u16,
        values: Values<'_>,
    ) -> ScenarioResult<Host> {
        let run = self.start(judge, values)?;
        Ok(Host::new(run, SocketAddr::from((Ipv4Addr::LOCALHOST, port)), setup.parameters()?))
    }

    pub(super) fn host_at(&self, judge: &mut Judge, setup: &Setup, port: &str) -> ScenarioResult<Box<dyn Run>> {
        self.start(judge, &setup.values(port))
    }

    /// Checks Hello. Any other message counts as the next message.
    pub(super) fn connect(&self, judge: &mut Judge, host: &mut Host, label: &str) -> ScenarioResult<Client> {
        let general = host.missing_service(&HELLO);
        let mut client = self.connect_unchecked(judge, host, label)?;
        let rule = self.attributed(judge, general);
        let hello = client.expect(judge, rule, self.options.deadline(), "Hello after connecting")?;
        client.since = Instant::now();
        let right = ServerMessage::Hello(host.parameters.clone());
        let kept = hello == right;
        // The messages for a late joiner do not depend on a detail.
        let rule = if kept || host.is_playing { &HELLO } else { self.attributed(judge, &HELLO) };
        judge.check(rule, kept, || {
            let (received, right) = (show::message(&hello), show::message(&right));
            format!("{label}: expected {right} as the first message, received {received}")
        });
        if !matches!(hello, ServerMessage::Hello(_)) {
            client.put_back(hello);
        }
        Ok(client)
    }

    /// Does not check what the server sends.
    pub(super) fn connect_unchecked(&self, judge: &mut Judge, host: &mut Host, label: &str) -> ScenarioResult<Client> {
        let rule = self.attributed(judge, host.missing_service(&LISTENS));
        let opened = host.open(self.options);
        let opened = opened.map_err(|error| match host.run.exit(Instant::now()) {
            Some(exit) => format!("{label}: expected a connection, but the server ended with {exit}"),
            None => format!("{label}: expected a connection to {}, but connecting failed: {error}", host.address),
        });
        let (connection, is_usual) = opened.or_else(|wrong| judge.broken(rule, || wrong))?;
        self.check(judge, &LISTENS, is_usual, || {
            format!("expected connections on all addresses, but the server accepts only {}", host.address)
        });
        host.has_served = true;
        let connection = connection.recorded(judge.open_channel(label, &show::WITH_SERVER));
        let local = connection.stream.local_addr()?;
        let label = label.to_owned();
        Ok(Client {
            connection,
            incoming: Incoming::default(),
            ahead: None,
            label,
            local,
            seat: None,
            since: Instant::now(),
            reads: 0,
            is_lost: false,
        })
    }
}

pub(super) struct Host {
    pub(super) run: Box<dyn Run>,
    pub(super) address: SocketAddr,
    pub(super) parameters: Parameters,
    pub(super) is_playing: bool,
    /// The rule about an earlier action that may prevent further service.
    pub(super) suspect: Option<&'static Rule>,
    has_served: bool,
}

impl Host {
    pub(super) fn new(run: Box<dyn Run>, address: SocketAddr, parameters: Parameters) -> Self {
        Self { run, address, parameters, is_playing: false, suspect: None, has_served: false }
    }

    // Broken if a client receives nothing; `first` for the first client.
    fn missing_service(&self, first: &'static Rule) -> &'static Rule {
        match self.suspect {
            Some(suspect) => suspect,
            None if !self.has_served => first,
            None if self.is_playing => &LATE,
            None => &MANY_CLIENTS,
        }
    }

    /// Over IPv6 if the server does not accept IPv4. Also returns whether IPv4 worked.
    fn open(&mut self, options: &Options) -> io::Result<(Connection, bool)> {
        let by = if self.has_served { options.deadline() } else { options.start_deadline() };
        let opened = Connection::to_server(&mut *self.run, self.address, by);
        if opened.is_ok() || self.run.exit(Instant::now()).is_some() {
            return opened.map(|connection| (connection, true));
        }
        let six = SocketAddr::from((Ipv6Addr::LOCALHOST, self.address.port()));
        let connection = Connection::once(six, options.patience)?;
        self.address = six;
        Ok((connection, false))
    }
}

pub(super) enum Received {
    Message(ServerMessage),
    Invalid(String),
    Closed,
    Timeout,
}

pub(super) struct Client {
    pub(super) connection: Connection,
    incoming: Incoming,
    ahead: Option<ServerMessage>,
    pub(super) label: String,
    pub(super) local: SocketAddr,
    pub(super) seat: Option<u8>,
    // When the client connected or received Hello.
    since: Instant,
    pub(super) reads: u64,
    /// An expected message did not arrive, so no further ones are awaited.
    pub(super) is_lost: bool,
}

impl Client {
    pub(super) fn put_back(&mut self, message: ServerMessage) {
        self.ahead = Some(message);
    }

    pub(super) fn next(&mut self, by: Instant) -> Received {
        if let Some(message) = self.ahead.take() {
            return Received::Message(message);
        }
        loop {
            let bytes = self.connection.buffer.split();
            self.incoming.buffer().extend_from_slice(&bytes);
            match self.incoming.next_message() {
                Ok(Some(message)) => {
                    self.connection.mark_read(1);
                    return Received::Message(message);
                }
                Err(wrong) => return Received::Invalid(wrong.to_string()),
                Ok(None) => {}
            }
            if !self.connection.more(by) {
                return if self.connection.closed { Received::Closed } else { Received::Timeout };
            }
            self.reads += 1;
        }
    }

    /// `what` names the expected message, such as `a Turn`.
    pub(super) fn expect(
        &mut self,
        judge: &mut Judge,
        rule: &'static Rule,
        by: Instant,
        what: &str,
    ) -> ScenarioResult<ServerMessage> {
        self.receive(judge, rule, by, what).ok_or(Halt::Broken)
    }

    /// Like [`Client::expect`]. Without the message, no further ones are awaited.
    pub(super) fn receive(
        &mut self,
        judge: &mut Judge,
        rule: &'static Rule,
        by: Instant,
        what: &str,
    ) -> Option<ServerMessage> {
        let label = self.label.clone();
        let received = self.next(by);
        self.is_lost = !matches!(received, Received::Message(_));
        match received {
            Received::Message(message) => {
                judge.check(&WELL_FORMED, true, String::new);
                return Some(message);
            }
            Received::Invalid(wrong) => judge.check(&WELL_FORMED, false, || {
                format!("{label}: expected a message of a server, received invalid bytes: {wrong}")
            }),
            Received::Closed => judge.check(rule, false, || {
                let part = if self.incoming.is_within_message() { " within a message" } else { "" };
                format!("{label}: expected {what}, received the end of the connection{part}")
            }),
            Received::Timeout => judge.check(rule, false, || {
                let place = self.incoming.place();
                let part = if self.incoming.is_within_message() {
                    format!(" except a part of {place}")
                } else {
                    String::new()
                };
                format!("{label}: expected {what}, received nothing{part} in time")
            }),
        };
        None
    }

    /// Takes the received data that was not read.
    pub(super) fn drop_rest(&mut self) -> BytesMut {
        let mut rest = std::mem::take(&mut self.incoming).buffer().split();
        rest.extend_from_slice(&self.connection.rest());
        rest
    }

    /// Returns a time at which the server cannot have read the Join yet.
    pub(super) fn join(&mut self, name: &str) -> anyhow::Result<Instant> {
        self.wait_to_join();
        let at = Instant::now();
        self.send([ClientMessage::Join { name: name.parse()? }]);
        Ok(at)
    }

    pub(super) fn send_bytes(&mut self, bytes: &[u8]) {
        self.wait_to_join();
        self.connection.send(bytes);
    }

    fn wait_to_join(&self) {
        thread::sleep(BEFORE_JOIN.saturating_sub(self.since.elapsed()));
    }

    /// Waits until the server has read all data, if the system reports that.
    pub(super) fn wait_until_read(&self, host: &Host, by: Instant) {
        while self.has_unread(host) && Instant::now() < by {
            thread::sleep(POLL);
        }
        thread::sleep(POLL);
    }

    pub(super) fn has_more(&mut self) -> bool {
        self.ahead.is_some() || !self.incoming.buffer().is_empty() || self.connection.has_more()
    }

    /// `false` if the system does not report it.
    pub(super) fn has_unread(&self, host: &Host) -> bool {
        sockets::unread(host.address, self.local).is_some_and(|bytes| bytes > 0)
    }

    pub(super) fn send(&mut self, messages: impl IntoIterator<Item = ClientMessage>) {
        let mut bytes = BytesMut::new();
        messages.into_iter().for_each(|message| protocol::encode(&message, &mut bytes));
        self.connection.send(&bytes);
    }
}
