use std::{
    io::{ErrorKind, Read, Write},
    net::{IpAddr, Ipv4Addr, Shutdown, TcpStream},
    thread,
    time::{Duration, Instant},
};

use netcore::{Link, Rate};
use netshell::{Limits, MAX_LAG, Tcp, bind_tcp};

use super::support::{PATIENCE, Running};

impl Running {
    fn tcp() -> Self {
        let listeners = bind_tcp(&[IpAddr::V4(Ipv4Addr::LOCALHOST)], 0).unwrap();
        let address = listeners[0].local_addr().unwrap();
        let rate = Rate { per_second: 1 << 30, burst: 1 << 30 };
        Self::over(Link::Stream, address, move || Tcp::new(listeners, rate, Limits::of(None)).unwrap())
    }

    fn peer(&self) -> Peer {
        let peer = Peer::over(TcpStream::connect(self.address).unwrap());
        self.await_event(" by Stream from ");
        peer
    }
}

struct Peer {
    stream: TcpStream,
}

impl Peer {
    fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut peer = Self { stream };
        assert_eq!(peer.read(), "hello");
        peer
    }

    fn send(&mut self, words: &[&str]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
        self.stream.write_all(&bytes).unwrap();
    }

    fn read(&mut self) -> String {
        let mut word = vec![];
        loop {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap();
            if byte == [0] {
                return String::from_utf8(word).unwrap();
            }
            word.push(byte[0]);
        }
    }

    fn rest(mut self) -> Vec<u8> {
        let mut rest = vec![];
        if let Err(error) = self.stream.read_to_end(&mut rest) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "the stream ends in time");
        }
        rest
    }
}

#[test]
fn half_close_and_reset_are_reported_differently() {
    let server = Running::tcp();
    let (ann, bob) = (server.peer(), server.peer());
    ann.stream.shutdown(Shutdown::Write).unwrap();
    server.await_event("peer 0 gone: Left");
    assert_eq!(ann.rest(), b"goodbye\0", "a half-closed peer still receives");
    // Closing with unread input resets the connection.
    let mut carol = server.peer();
    carol.send(&["heard by nobody"]);
    server.await_event("heard by nobody");
    bob.stream.peek(&mut [0]).unwrap();
    drop(bob);
    server.await_event("peer 1 gone: Broken");
}

#[test]
fn peer_that_does_not_read_is_dropped() {
    let server = Running::tcp();
    let (mut ann, bob) = (server.peer(), server.peer());
    let mut sent = 0;
    let gone = loop {
        ann.send(&["big"]);
        sent += 1;
        let mut frame = vec![0; 1 << 20];
        ann.stream.read_exact(&mut frame).unwrap();
        let event = server.await_event("");
        if event.contains("gone") {
            break event;
        }
        assert!(sent < 200, "what waits is bounded");
    };
    assert_eq!(gone, "peer 1 gone: Lagging");
    assert!(sent > MAX_LAG >> 20);
    let mut rest = vec![];
    let end = (&bob.stream).read_to_end(&mut rest).map_err(|error| error.kind());
    // The system discards Bob's queue, and Bob can detect that bytes are missing.
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
    assert!(rest.len() < sent << 20);
    ann.send(&["alone"]);
    assert_eq!(ann.read(), "alone");
}

#[test]
fn a_closed_peer_receives_earlier_messages_even_if_it_keeps_sending() {
    let server = Running::tcp();
    let mut ann = server.peer();
    ann.send(&["bye"]);
    for _ in 0..100 {
        ann.send(&["quiet now"]);
    }
    let rest = ann.rest();
    assert_eq!(rest.len(), (700 << 10) + 9);
    assert!(rest.ends_with(b"farewell\0"));
}

#[test]
fn peers_are_served_even_if_a_deadline_is_always_due() {
    let server = Running::tcp();
    let mut ann = server.peer();
    ann.send(&["rush", "one"]);
    assert_eq!(ann.read(), "one");
    let mut bob = server.peer();
    assert_eq!(bob.read(), "one");
    bob.send(&["halt", "two"]);
    assert_eq!((ann.read(), bob.read()), ("two".to_owned(), "two".to_owned()));
}

#[test]
fn messages_that_arrived_during_a_stall_are_processed_before_deadlines() {
    let server = Running::tcp();
    let (mut ann, mut bob) = (server.peer(), server.peer());
    for round in 0..5 {
        ann.send(&["tick", "stall"]);
        server.await_event(": stall");
        let late = format!("in time {round}");
        bob.send(&[&late]);
        // Longer than the deadline of 20 ms plus the time after which the server detects a stall.
        let stalled = Instant::now();
        while stalled.elapsed() < Duration::from_millis(200) {
            thread::yield_now();
        }
        server.go_on.send(()).unwrap();
        assert_eq!((ann.read(), ann.read()), (late, "tock".to_owned()));
        assert_eq!((bob.read().len(), bob.read().len()), (9, 4));
    }
}
