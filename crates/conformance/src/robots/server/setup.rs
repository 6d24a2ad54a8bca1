//! The options of a server, the server started with them, and the connections of the tester.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use bytes::BytesMut;
use robots::{ClientMessage, Incoming, Parameters, ServerMessage, protocol};

use super::rules::{HELLO, LISTENS, WELL_FORMED};
use crate::{
    judge::{Halt, Judge, Played},
    launch::Run,
    net::Connection,
    ports::free_tcp_port,
    robots::{context::Context, show},
    rule::Rule,
};

pub(super) struct Setup {
    pub(super) bomb_timer: u16,
    pub(super) players: u8,
    /// Of a turn.
    pub(super) duration: Duration,
    pub(super) radius: u16,
    pub(super) blocks: u16,
    pub(super) length: u16,
    pub(super) name: &'static str,
    pub(super) seed: u32,
    pub(super) size: (u16, u16),
}

impl Setup {
    /// What the placeholders stand for, with a port as it is written.
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

    /// What Hello says.
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
    /// How long a turn lasts: long enough that an action sent at once arrives in time, and no longer than patience allows.
    pub(super) fn turn(&self) -> Duration {
        (self.options.patience / 20).clamp(Duration::from_millis(40), Duration::from_millis(250))
    }

    pub(super) fn host(&self, judge: &mut Judge, setup: &Setup) -> Played<Host> {
        let port = free_tcp_port()?;
        let run = self.host_at(judge, setup, &port.to_string())?;
        Ok(Host { run, address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), parameters: setup.parameters()? })
    }

    /// As [`Context::host`], without the option for the seed.
    pub(super) fn host_without_seed(&self, judge: &mut Judge, setup: &Setup) -> Played<Host> {
        let port = free_tcp_port()?;
        let mut values = setup.values(&port.to_string());
        values.retain(|(name, _)| *name != "seed");
        let run = self.start(judge, &values)?;
        Ok(Host { run, address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), parameters: setup.parameters()? })
    }

    /// Starts a server with these options on a port as it is written.
    pub(super) fn host_at(&self, judge: &mut Judge, setup: &Setup, port: &str) -> Played<Box<dyn Run>> {
        self.start(judge, &setup.values(port))
    }

    /// Connects to a server, and checks its Hello.
    pub(super) fn guest(&self, judge: &mut Judge, host: &mut Host, label: &str) -> Played<Guest> {
        let mut guest = self.stranger(judge, host, label)?;
        let hello = guest.expect(judge, &HELLO, self.options.deadline(), "a Hello right after the connection");
        let Ok(hello) = hello else {
            self.hopeless.store(true, Ordering::Relaxed);
            return Err(Halt::Broken);
        };
        let right = ServerMessage::Hello(host.parameters.clone());
        judge.require(&HELLO, hello == right, || {
            let (came, right) = (show::message(&hello), show::message(&right));
            format!("{label} got {came} as the first message; {right} would be right")
        })?;
        Ok(guest)
    }

    /// Connects to a server, whatever it says.
    pub(super) fn stranger(&self, judge: &mut Judge, host: &mut Host, label: &str) -> Played<Guest> {
        let opened = Connection::to_server(&mut *host.run, host.address, self.options.deadline());
        self.hopeless.store(opened.is_err(), Ordering::Relaxed);
        let opened = opened.map_err(|error| match host.run.exit(Instant::now()) {
            Some(exit) => format!("{label} could not connect: the server had ended with {exit}"),
            None => format!("{label} could not connect: connecting to {} failed: {error}", host.address),
        });
        let connection = judge.expect(&LISTENS, opened)?.recorded(judge.line(label, &show::WITH_SERVER));
        let local = connection.stream.local_addr()?;
        Ok(Guest { connection, incoming: Incoming::default(), label: label.to_owned(), local, seat: None, reads: 0 })
    }
}

/// A server under test.
pub(super) struct Host {
    pub(super) run: Box<dyn Run>,
    pub(super) address: SocketAddr,
    pub(super) parameters: Parameters,
}

/// What came from the server.
pub(super) enum Got {
    Message(ServerMessage),
    Wrong(String),
    Closed,
    Nothing,
}

/// A connection of the tester to the server.
pub(super) struct Guest {
    pub(super) connection: Connection,
    incoming: Incoming,
    /// How breaches call it.
    pub(super) label: String,
    pub(super) local: SocketAddr,
    /// Its number among the players.
    pub(super) seat: Option<u8>,
    /// How often bytes arrived.
    pub(super) reads: u64,
}

impl Guest {
    pub(super) fn next(&mut self, by: Instant) -> Got {
        loop {
            let bytes = self.connection.buffer.split();
            self.incoming.buffer().extend_from_slice(&bytes);
            match self.incoming.next_message() {
                Ok(Some(message)) => {
                    self.connection.took(1);
                    return Got::Message(message);
                }
                Err(wrong) => return Got::Wrong(wrong.to_string()),
                Ok(None) => {}
            }
            if !self.connection.more(by) {
                return if self.connection.closed { Got::Closed } else { Got::Nothing };
            }
            self.reads += 1;
        }
    }

    /// Waits for a message that the server must send. `what` says which, such as `a Turn`.
    pub(super) fn expect(
        &mut self,
        judge: &mut Judge,
        rule: &'static Rule,
        by: Instant,
        what: &str,
    ) -> Played<ServerMessage> {
        let label = self.label.clone();
        match self.next(by) {
            Got::Message(message) => {
                judge.check(&WELL_FORMED, true, String::new);
                Ok(message)
            }
            Got::Wrong(wrong) => {
                judge.broken(&WELL_FORMED, || format!("{label} got bytes that are no message: {wrong}"))
            }
            Got::Closed => judge.broken(rule, || {
                let part = if self.incoming.is_within_message() { " in the middle of a message" } else { "" };
                format!("the connection of {label} was closed{part}; {what} would be right")
            }),
            Got::Nothing => judge.broken(rule, || {
                let place = self.incoming.place();
                let part =
                    if self.incoming.is_within_message() { format!(" but a part of {place}") } else { String::new() };
                format!("{label} got nothing{part} in time; {what} would be right")
            }),
        }
    }

    pub(super) fn join(&mut self, name: &str) -> anyhow::Result<()> {
        self.send([ClientMessage::Join { name: name.parse()? }]);
        Ok(())
    }

    /// Sends messages all at once.
    pub(super) fn send(&mut self, messages: impl IntoIterator<Item = ClientMessage>) {
        let mut bytes = BytesMut::new();
        messages.into_iter().for_each(|message| protocol::encode(&message, &mut bytes));
        self.connection.send(&bytes);
    }
}
