//! One end of a connection over a real stream.

use std::{
    io::{ErrorKind, Read},
    net::{IpAddr, SocketAddr, TcpStream},
};

use bytes::BytesMut;
use socket2::{Domain, Socket, Type};

use crate::PATIENCE;

/// Connects to a server that is there. Nothing that is written waits, and nothing is waited for without an end.
pub fn connect(server: SocketAddr) -> TcpStream {
    ready(TcpStream::connect(server).expect("the server listens"))
}

/// As [`connect`], from this address of this machine: to the server it is another host.
pub fn connect_from(address: IpAddr, server: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::for_address(server), Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::new(address, 0).into()).unwrap_or_else(|error| panic!("cannot bind {address}: {error}"));
    socket.connect(&server.into()).expect("the server listens");
    ready(socket.into())
}

fn ready(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout that is not zero");
    stream.set_nodelay(true).expect("a connection");
    stream
}

/// The next message that `decode` finds in the buffer, which is filled from the stream until it does; none at the end of
/// the stream, however it ends.
pub fn read_message<M>(
    stream: &mut TcpStream,
    buffer: &mut BytesMut,
    mut decode: impl FnMut(&mut BytesMut) -> Option<M>,
) -> Option<M> {
    loop {
        if let Some(message) = decode(buffer) {
            return Some(message);
        }
        let mut bytes = [0; 4096];
        match stream.read(&mut bytes) {
            Ok(0) => return None,
            Ok(count) => buffer.extend_from_slice(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
            Err(error) => panic!("nothing more comes: {error}"),
        }
    }
}
