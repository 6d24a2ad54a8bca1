//! The way to the dealer.

use std::{
    io::{self, ErrorKind},
    net::{SocketAddr, TcpStream},
};

use anyhow::Context;
use netshell::tune_stream;

/// Connects to the first of the addresses of `host` where somebody listens. Gives the addresses, too.
pub(crate) fn open(host: &str, port: u16) -> anyhow::Result<(TcpStream, Vec<SocketAddr>)> {
    let addresses = cmdkit::resolve(host, port)?;
    let stream = TcpStream::connect(&addresses[..]).with_context(|| format!("cannot reach {host} port {port}"));
    let stream = stream.map_err(|error| match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(ErrorKind::ConnectionRefused) => {
            anyhow::anyhow!(
                "nobody listens at {host} port {port}; is that the dealer's port? A dealer ends when its table is over, \
                 unless it runs with --forever"
            )
        }
        _ => error,
    })?;
    tune_stream(&stream);
    Ok((stream, addresses))
}

/// Acknowledges what has come so far, now and not some 40 ms later as systems do to save packets.
///
/// A dealer without `TCP_NODELAY` keeps its next small message back until the last one is acknowledged. If that message is
/// its question, the time to answer runs while the question has not left yet.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn acknowledge(stream: &TcpStream) {
    // Where that cannot be, the answer is late and no worse.
    let _ = socket2::SockRef::from(stream).set_tcp_quickack(true);
}

/// Nothing: this system does not let a program do that.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn acknowledge(_: &TcpStream) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        net::{Ipv4Addr, TcpListener},
        time::Instant,
    };
    use testkit::PATIENCE;

    #[test]
    fn what_has_come_is_acknowledged_at_once_after_any_number_of_answers() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (mut stream, _) = open("127.0.0.1", listener.local_addr().unwrap().port()).unwrap();
        let (mut dealer, _) = listener.accept().unwrap();
        let quick = |stream: &TcpStream| socket2::SockRef::from(stream).tcp_quickack().unwrap();
        let end = Instant::now() + PATIENCE;
        // After quick answers the system switches to delayed acknowledgements, which it sends with the answers.
        while quick(&stream) {
            assert!(Instant::now() < end, "the system always acknowledges at once");
            dealer.write_all(b"?").unwrap();
            stream.read_exact(&mut [0]).unwrap();
            stream.write_all(b"!").unwrap();
            dealer.read_exact(&mut [0]).unwrap();
        }
        dealer.write_all(b".").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        acknowledge(&stream);
        assert!(quick(&stream));
    }
}
