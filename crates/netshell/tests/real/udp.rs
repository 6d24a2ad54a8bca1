//! Over UDP.

use std::{
    net::{IpAddr, Ipv4Addr, UdpSocket},
    time::Duration,
};

use netcore::{Link, Outcome};
use netshell::{Udp, bind_udp};

use super::support::{PATIENCE, Running};

fn start() -> Running {
    let sockets = bind_udp(&[IpAddr::V4(Ipv4Addr::LOCALHOST)], 0).unwrap();
    let address = sockets[0].local_addr().unwrap();
    Running::over(Link::Datagram, address, move || Udp::new(sockets).unwrap())
}

fn client(server: &Running) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
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
    // No datagram is processed before the hello: otherwise the echo would precede the welcome.
    ann.send(b"anybody there?").unwrap();
    assert_eq!(ask(&ann, b"hello"), "welcome");
    assert_eq!(ask(&bob, b"hello"), "welcome");
    assert_eq!(ask(&ann, b"good evening"), "good evening");
    assert_eq!(hear(&bob), "good evening");
    assert_eq!(ask(&bob, b"bye"), "farewell");
    bob.send(b"still here").unwrap();
    assert_eq!(ask(&ann, b"where is bob?"), "where is bob?");
    // New peers with the same address: the engine closes a peer that sends an invalid message.
    assert_eq!(ask(&bob, b"\xff\xff"), "malformed: byte 0: the string is not UTF-8");
    assert_eq!(ask(&bob, b"hello"), "welcome");
    assert_eq!(ask(&ann, b"end"), "the end");
    assert_eq!(hear(&bob), "the end");
    let (outcome, summaries, events) = server.join();
    assert_eq!((outcome, summaries), (Outcome::Finished, vec!["it was nice".to_owned()]));
    let came: Vec<&String> = events.iter().filter(|event| event.contains(" from ")).collect();
    let of = |peer: u64, socket: &UdpSocket| format!("peer {peer} by Datagram from {}", socket.local_addr().unwrap());
    assert_eq!(came, [&of(0, &ann), &of(1, &bob), &of(2, &bob), &of(3, &bob)]);
}

#[test]
fn a_flood_does_not_delay_deadlines() {
    let server = start();
    let (ann, bob) = (client(&server), client(&server));
    assert_eq!(ask(&ann, b"hello"), "welcome");
    assert_eq!(ask(&ann, b"tick"), "tock");
    let flood = std::thread::spawn(move || {
        // Datagrams from an address without a connection, as fast as possible.
        for _ in 0..200_000 {
            let _ = bob.send(b"flood");
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
    server.join();
}
