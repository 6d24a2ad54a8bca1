/// Command lines, start-up output, standings, unread output, and exit status.
mod dealer;
mod follow;
/// In a terminal and line by line, against a dealer and in practice.
mod person;
/// With a table, and learning.
mod player;
use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    process::Command,
};

use blackjack::{DealerMessage, Dialect, Name, PlayerMessage, protocol::DealerDecoder};
use bytes::BytesMut;
use testkit::{
    process::Process,
    stream::{connect, read_message},
};

use crate::programs::program;

pub(crate) struct Dealer {
    process: Process,
    pub(crate) port: u16,
}

impl Dealer {
    /// The arguments follow the port.
    pub(crate) fn start(arguments: &str) -> Self {
        Self::of(program("dealer").args(["--bind", "127.0.0.1", "0"]).args(arguments.split_whitespace()))
    }

    fn of(command: &mut Command) -> Self {
        let process = Process::start(command);
        let port = process.port();
        Self { process, port }
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    fn text(&self, name: &str) -> Client {
        Client::join(self.address(), Dialect::Text, name)
    }

    fn player(&self, arguments: &[&str]) -> Command {
        let mut command = program("player");
        command.args(["Ann", "127.0.0.1", &self.port.to_string()]).args(arguments);
        command
    }
}

struct Client {
    stream: TcpStream,
    dialect: Dialect,
    decoder: DealerDecoder,
    buffer: BytesMut,
}

impl Client {
    fn new(stream: TcpStream, dialect: Dialect) -> Self {
        Self { stream, dialect, decoder: DealerDecoder::new(dialect), buffer: BytesMut::new() }
    }

    fn join(dealer: SocketAddr, dialect: Dialect, name: &str) -> Self {
        let mut client = Self::new(connect(dealer), dialect);
        client.send(&PlayerMessage::Join(Name::new(name.as_bytes()).unwrap()));
        client
    }

    fn send(&mut self, message: &PlayerMessage) {
        self.stream.write_all(&message.to_bytes(self.dialect)).unwrap();
    }

    fn stand(&mut self) {
        self.send(&PlayerMessage::Stand);
    }

    /// `None` at the end of the stream or after a reset.
    fn read(&mut self) -> Option<DealerMessage> {
        let Self { stream, decoder, buffer, .. } = self;
        read_message(stream, buffer, |buffer| decoder.decode(buffer).unwrap())
    }

    /// In the text dialect, up to the next decision or the end.
    fn read_to_decision(&mut self) -> String {
        let mut texts = vec![];
        while let Some(message) = self.read() {
            let text = message.to_bytes(Dialect::Text);
            texts.push(String::from_utf8_lossy(&text[..text.len() - 1]).into_owned());
            if message == DealerMessage::Decision {
                break;
            }
        }
        texts.join(", ")
    }

    fn stand_to_the_end(&mut self) -> Vec<String> {
        let mut told = vec![];
        loop {
            let texts = self.read_to_decision();
            let asked = texts.ends_with("DECISION");
            told.extend(texts.split(", ").map(str::to_owned));
            if !asked {
                return told;
            }
            self.stand();
        }
    }

    fn rest(mut self) -> Vec<u8> {
        let mut bytes = self.buffer.to_vec();
        if let Err(error) = self.stream.read_to_end(&mut bytes) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "it is closed in time");
        }
        bytes
    }
}
