//! Over UDP.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use netcore::{Admission, DecodeError, Engine, Framing, Input, Outbox, Outcome, PeerId, Phase, Protocol, Status, Time};
use netshell::{Udp, bind_udp};

use super::support::{self, Served};

/// Messages are lines of text; `hello` admits a peer.
struct Lines;

impl Protocol for Lines {
    type Request = Bytes;
    type Decoder = ();
    const MAX_MESSAGE: usize = 100;

    fn length((): &(), bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        Ok(Some(bytes.len()))
    }

    fn decode((): &mut (), line: &[u8], _: Framing) -> Result<Bytes, DecodeError> {
        if line.is_ascii() { Ok(Bytes::copy_from_slice(line)) } else { Err(DecodeError::NotUtf8 { at: 0 }) }
    }

    fn encode_request(request: &Bytes, out: &mut BytesMut) {
        out.extend_from_slice(request);
    }

    fn admits(message: Result<&Bytes, DecodeError>) -> Admission {
        match message {
            Ok(line) if line.starts_with(b"hello") => Admission::Admitted,
            Ok(_) => Admission::Ignored,
            Err(_) => Admission::Answered,
        }
    }
}

/// Answers `hello`, broadcasts what peers send, closes a peer that says `bye`, ticks on request, and ends at `end`.
#[derive(Default)]
struct Parrot {
    log: Arc<Mutex<Vec<String>>>,
    tick: Option<(PeerId, Time)>,
    outcome: Option<Outcome>,
}

impl Engine for Parrot {
    type Protocol = Lines;

    fn input(&mut self, now: Time, input: Input<'_, Bytes>, out: &mut Outbox) {
        let mut log = self.log.lock().unwrap();
        match input {
            Input::Connected { peer, address, .. } => log.push(format!("{peer} from {address}")),
            Input::Message { peer, message: request } => match &request[..] {
                b"hello" => out.send(peer, "welcome".into()),
                b"bye" => {
                    out.send(peer, "farewell".into());
                    out.close(peer);
                }
                b"tick" => self.tick = Some((peer, now.plus(Duration::from_millis(20)))),
                b"end" => {
                    out.summary("it was nice".into());
                    out.send_everyone("the end".into());
                    self.outcome = Some(Outcome::Finished);
                }
                _ => out.send_everyone(request),
            },
            Input::Malformed { peer, why } => {
                out.send(peer, format!("malformed: {why}").into());
                log.push(format!("{peer} malformed"));
                if log.iter().filter(|line| line.starts_with(&peer.to_string())).count() == 2 {
                    out.close(peer);
                }
            }
            Input::Elapsed => {
                if let Some((peer, due)) = self.tick.take() {
                    assert!(now >= due, "never early");
                    out.send(peer, "tock".into());
                }
            }
            Input::Stop(_) => {
                out.send_everyone("stopped".into());
                self.outcome = Some(Outcome::Stopped);
            }
            Input::Refresh { .. } | Input::Disconnected { .. } => {}
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.tick.map(|(_, due)| due)
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn digest(&self) -> u64 {
        0
    }

    fn status(&self) -> Status {
        Status { phase: Phase::Playing, taken: 0, seats: 0 }
    }
}

struct Running {
    address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
    served: Served,
}

fn start() -> Running {
    let sockets = bind_udp(&[IpAddr::V4(Ipv4Addr::LOCALHOST)], 0).unwrap();
    let address = sockets[0].local_addr().unwrap();
    let parrot = Parrot::default();
    let log = Arc::clone(&parrot.log);
    let served = support::start(parrot, move || Udp::new(sockets).unwrap());
    Running { address, log, served }
}

fn client(server: &Running) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.connect(server.address).unwrap();
    socket
}

fn ask(socket: &UdpSocket, line: &[u8]) -> String {
    socket.send(line).unwrap();
    hear(socket)
}

fn hear(socket: &UdpSocket) -> String {
    let mut buffer = [0; 1_000];
    let length = socket.recv(&mut buffer).expect("an answer");
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

#[test]
fn peers_are_admitted_distinguished_and_closed() {
    let server = start();
    let (ann, bob) = (client(&server), client(&server));
    // Nothing is processed before the hello: otherwise the echo would precede the welcome.
    ann.send(b"anybody there?").unwrap();
    assert_eq!(ask(&ann, b"hello"), "welcome");
    assert_eq!(ask(&bob, b"hello"), "welcome");
    assert_eq!(ask(&ann, b"good evening"), "good evening");
    assert_eq!(hear(&bob), "good evening");
    assert_eq!(ask(&bob, b"bye"), "farewell");
    bob.send(b"still here").unwrap();
    assert_eq!(ask(&ann, b"where is bob?"), "where is bob?");
    // A new peer with the same address.
    assert_eq!(ask(&bob, b"hello"), "welcome");
    assert_eq!(ask(&ann, b"end"), "the end");
    assert_eq!(hear(&bob), "the end");
    assert_eq!(server.served.join(), (Outcome::Finished, vec!["it was nice".to_owned()]));
    let log = server.log.lock().unwrap();
    let address = |socket: &UdpSocket| socket.local_addr().unwrap();
    assert_eq!(
        log[..],
        [
            format!("peer 0 from {}", address(&ann)),
            format!("peer 1 from {}", address(&bob)),
            format!("peer 2 from {}", address(&bob)),
        ]
    );
}

#[test]
fn a_malformed_datagram_of_a_stranger_is_the_engine_s_to_answer() {
    let server = start();
    let stranger = client(&server);
    assert_eq!(ask(&stranger, b"\xff\xff"), "malformed: byte 0: the string is not UTF-8");
    assert_eq!(ask(&stranger, b"hello"), "welcome");
    assert_eq!(server.log.lock().unwrap().len(), 3, "closed by the engine, so connected a second time");
    stranger.send(b"end").unwrap();
    server.served.join();
}

#[test]
fn a_flood_does_not_delay_deadlines() {
    let mut server = start();
    let (ann, bob) = (client(&server), client(&server));
    assert_eq!(ask(&ann, b"hello"), "welcome");
    assert_eq!(ask(&ann, b"tick"), "tock");
    let flood = std::thread::spawn({
        let bob = bob.try_clone().unwrap();
        move || {
            // Datagrams of a stranger, as fast as possible.
            for _ in 0..200_000 {
                let _ = bob.send(b"flood");
            }
        }
    });
    for _ in 0..5 {
        // The system may drop datagrams under a flood, so repeat until one arrives.
        ann.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut buffer = [0; 100];
        let heard = (0..100).any(|_| {
            ann.send(b"tick").unwrap();
            ann.recv(&mut buffer).is_ok_and(|length| &buffer[..length] == b"tock")
        });
        assert!(heard);
    }
    flood.join().unwrap();
    server.served.stop();
    server.served.join();
}

#[test]
fn shutdown_reaches_the_engine_and_all_peers() {
    let mut server = start();
    let ann = client(&server);
    assert_eq!(ask(&ann, b"hello"), "welcome");
    server.served.stop();
    assert_eq!(hear(&ann), "stopped");
    assert_eq!(server.served.join(), (Outcome::Stopped, vec![]));
}

#[test]
fn a_closed_port_of_a_peer_does_not_affect_others() {
    let server = start();
    let (ann, bob) = (client(&server), client(&server));
    assert_eq!(ask(&ann, b"hello"), "welcome");
    assert_eq!(ask(&bob, b"hello"), "welcome");
    drop(bob);
    for line in ["one", "two", "three"] {
        assert_eq!(ask(&ann, line.as_bytes()), line);
    }
    ann.send(b"end").unwrap();
    assert_eq!(hear(&ann), "the end");
    server.served.join();
}
