//! A test client over TCP.

use std::{
    io::{ErrorKind, Read},
    net::{IpAddr, SocketAddr, TcpStream},
};

use bytes::BytesMut;
use socket2::{Domain, Socket, Type};

use crate::PATIENCE;

/// Writes are sent immediately, and reads time out.
pub fn connect(server: SocketAddr) -> TcpStream {
    ready(TcpStream::connect(server).expect("the server listens"))
}

/// The server sees this local address as another host.
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

/// `None` at the end of the stream or after a reset.
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
            // A read with a time limit is not repeated by the system after a signal.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("cannot read: {error}"),
        }
    }
}
