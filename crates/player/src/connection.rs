//! The way to the dealer.

use std::{
    io::{self, ErrorKind},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, bail};
use cmdkit::{Directory, HostPort};
use netshell::tune_stream;

/// How long one address has to accept a connection while a dealer is looked for that was lost.
const ACCEPTS: Duration = Duration::from_secs(4);

/// Where the dealer is, as far as one knows.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    place: Option<HostPort>,
    directory: Option<Arc<Directory>>,
}

impl Way {
    /// The way to a dealer at this address, or where the directory says.
    pub(crate) fn new(place: Option<HostPort>, directory: Option<Directory>) -> Self {
        Self { place, directory: directory.map(Arc::new) }
    }

    /// Whether a dealer that is lost is looked for elsewhere.
    pub(crate) const fn follows(&self) -> bool {
        self.directory.is_some()
    }

    /// Where the dealer is, in words.
    pub(crate) fn in_words(&self) -> String {
        self.place.as_ref().map_or_else(|| "the dealer".to_owned(), |at| format!("{} port {}", at.host, at.port))
    }

    /// Connects for the first time. The directory is asked only if there is no address.
    pub(crate) fn open(&mut self) -> anyhow::Result<(TcpStream, Vec<SocketAddr>)> {
        if let (None, Some(directory)) = (&self.place, &self.directory) {
            self.place = Some(directory.find_first("player")?);
        }
        let place = self.place.as_ref().context("no address of a dealer")?;
        open(&place.host, place.port)
    }

    /// Connects once, to where the directory says that the dealer is now, or without an answer to where it was.
    pub(crate) fn again(&mut self) -> anyhow::Result<TcpStream> {
        let found = self.directory.as_ref().map(|directory| directory.find());
        let untold = match found {
            Some(Ok(place)) => {
                self.place = Some(place);
                None
            }
            Some(Err(why)) => Some(why),
            None => None,
        };
        let place = self.place.as_ref().context("no address of a dealer")?;
        let mut refusal = None;
        for address in place.resolve()? {
            match TcpStream::connect_timeout(&address, ACCEPTS) {
                Ok(stream) => {
                    tune_stream(&stream);
                    return Ok(stream);
                }
                Err(error) => refusal = Some(error),
            }
        }
        let refusal = refusal.map_or_else(String::new, |error| format!(": {error}"));
        let at = self.in_words();
        match untold {
            Some(why) => bail!("cannot reach {at}{refusal}; the directory does not tell where the room is: {why}"),
            None => bail!("cannot reach {at}{refusal}"),
        }
    }
}

/// Connects to the first of the addresses of `host` where somebody listens. Gives the addresses, too.
fn open(host: &str, port: u16) -> anyhow::Result<(TcpStream, Vec<SocketAddr>)> {
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
