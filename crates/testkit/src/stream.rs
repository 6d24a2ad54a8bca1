//! One end of a connection over a real stream.

use std::{
    io::{ErrorKind, Read},
    net::{SocketAddr, TcpStream},
};

use bytes::BytesMut;

use crate::PATIENCE;

/// Connects to a server that is there. Nothing that is written waits, and nothing is waited for without an end.
pub fn connect(server: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(server).expect("the server listens");
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
