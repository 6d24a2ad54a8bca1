/// Between a scripted server and a scripted GUI, and with the real server.
mod client;
mod gui;
/// Misbehaving clients, and their effect on others.
mod scripted;
/// Command lines, addresses and output.
mod server;
mod verify;

use std::{
    io::Write,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    process::Command,
};

use bytes::BytesMut;
use netcore::wire::ShortText;
use robots::{
    Action, ClientMessage, Parameters, ServerMessage,
    protocol::{ServerDecoder, encode},
};
use testkit::{
    process::Process,
    stream::{connect, read_message},
};

use crate::programs::program;

fn text(text: &str) -> ShortText {
    ShortText::try_from(text).unwrap()
}

pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) port: u16,
}

impl Server {
    /// On the loopback address.
    pub(crate) fn start(arguments: &str) -> Self {
        let mut command = program("robots-server");
        command.args(["--bind", "127.0.0.1", "-p", "0"]).args(arguments.split_whitespace());
        Self::of(&mut command)
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        let process = Process::start(command);
        let port = process.port();
        Self { process, port }
    }

    pub(crate) fn v4(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    pub(crate) fn client(&self) -> Client {
        let mut client = Client::connect(self.v4());
        client.hello();
        client
    }
}

pub(crate) struct Client {
    stream: TcpStream,
    decoder: ServerDecoder,
    buffer: BytesMut,
}

impl Client {
    pub(crate) fn connect(server: SocketAddr) -> Self {
        Self::over(connect(server))
    }

    fn over(stream: TcpStream) -> Self {
        Self { stream, decoder: ServerDecoder::default(), buffer: BytesMut::new() }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    fn send(&mut self, message: &ClientMessage) {
        let mut bytes = BytesMut::new();
        encode(message, &mut bytes);
        self.write(&bytes);
    }

    pub(crate) fn join(&mut self, name: &str) {
        self.send(&ClientMessage::Join { name: text(name) });
    }

    fn act(&mut self, action: Action) {
        self.send(&ClientMessage::Action(action));
    }

    /// `None` at the end of the stream or after a reset.
    fn read(&mut self) -> Option<ServerMessage> {
        let Self { stream, decoder, buffer, .. } = self;
        read_message(stream, buffer, |buffer| decoder.decode(buffer).unwrap())
    }

    pub(crate) fn next(&mut self) -> ServerMessage {
        self.read().expect("the server sends a message")
    }

    fn hello(&mut self) -> Parameters {
        match self.next() {
            ServerMessage::Hello(parameters) => parameters,
            other => panic!("the first message is Hello, not {other:?}"),
        }
    }

    fn await_message<T>(&mut self, mut find: impl FnMut(&ServerMessage) -> Option<T>) -> T {
        loop {
            let message = self.next();
            if let Some(found) = find(&message) {
                return found;
            }
        }
    }

    fn await_turn(&mut self, number: u16) {
        self.await_message(|message| {
            matches!(message, ServerMessage::Turn { turn, .. } if *turn == number).then_some(())
        });
    }

    fn await_end(&mut self) {
        self.await_message(|message| matches!(message, ServerMessage::GameEnded { .. }).then_some(()));
    }

    fn rest(mut self) -> Vec<ServerMessage> {
        std::iter::from_fn(|| self.read()).collect()
    }
}
