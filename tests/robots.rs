//! The robots programs.

/// The client, between a scripted server and a scripted GUI, and with the real server.
mod client;
/// Clients that nobody would want, and what is left for the others.
mod hostile;
/// Servers that are killed in the middle of a game.
mod kills;
/// A client that comes back to a server that was away.
mod retry;
/// What the server's command line accepts and refuses, where it listens, and what it says.
mod server;
/// Games as they go over the wire.
mod wire;

use std::{
    io::Write,
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream},
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

/// A robots server that runs.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) port: u16,
}

impl Server {
    /// Starts a server with these arguments, separated by blanks, that is open to this machine only.
    pub(crate) fn start(arguments: &str) -> Self {
        let mut command = program("robots-server");
        command.args(["--bind", "127.0.0.1", "-p", "0"]).args(arguments.split_whitespace());
        Self::of(&mut command)
    }

    /// Starts a server by this command.
    fn of(command: &mut Command) -> Self {
        let process = Process::start(command);
        let port = process.port();
        Self { process, port }
    }

    fn v4(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Connects and reads the Hello.
    fn client(&self) -> Client {
        let mut client = Client::connect(self.v4());
        client.hello();
        client
    }
}

/// One end of a connection to a robots server.
struct Client {
    stream: TcpStream,
    decoder: ServerDecoder,
    buffer: BytesMut,
}

impl Client {
    fn connect(server: SocketAddr) -> Self {
        Self::over(connect(server))
    }

    fn over(stream: TcpStream) -> Self {
        Self { stream, decoder: ServerDecoder::default(), buffer: BytesMut::new() }
    }

    /// The address that the server sees.
    fn address(&self) -> String {
        self.stream.local_addr().unwrap().to_string()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    fn send(&mut self, message: &ClientMessage) {
        let mut bytes = BytesMut::new();
        encode(message, &mut bytes);
        self.write(&bytes);
    }

    fn join(&mut self, name: &str) {
        self.send(&ClientMessage::Join { name: text(name) });
    }

    fn act(&mut self, action: Action) {
        self.send(&ClientMessage::Action(action));
    }

    /// The next message; none at the end of the stream, however it ends.
    fn read(&mut self) -> Option<ServerMessage> {
        let Self { stream, decoder, buffer, .. } = self;
        read_message(stream, buffer, |buffer| decoder.decode(buffer).unwrap())
    }

    /// The next message, which must be there.
    fn next(&mut self) -> ServerMessage {
        self.read().expect("the server goes on")
    }

    fn hello(&mut self) -> Parameters {
        match self.next() {
            ServerMessage::Hello(parameters) => parameters,
            other => panic!("first comes Hello, not {other:?}"),
        }
    }

    /// Reads on to the message that `find` looks for.
    fn await_message<T>(&mut self, mut find: impl FnMut(&ServerMessage) -> Option<T>) -> T {
        loop {
            let message = self.next();
            if let Some(found) = find(&message) {
                return found;
            }
        }
    }

    /// Reads on to this turn.
    fn await_turn(&mut self, number: u16) {
        self.await_message(|message| {
            matches!(message, ServerMessage::Turn { turn, .. } if *turn == number).then_some(())
        });
    }

    /// Reads on to the end of the game.
    fn await_end(&mut self) {
        self.await_message(|message| matches!(message, ServerMessage::GameEnded { .. }).then_some(()));
    }

    /// Everything up to the end of the stream.
    fn rest(mut self) -> Vec<ServerMessage> {
        std::iter::from_fn(|| self.read()).collect()
    }

    fn leave(self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
