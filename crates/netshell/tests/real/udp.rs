use std::net::{IpAddr, Ipv4Addr, UdpSocket};

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

fn request(socket: &UdpSocket, line: &[u8]) -> String {
    socket.send(line).unwrap();
    receive(socket)
}

fn receive(socket: &UdpSocket) -> String {
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
    assert_eq!(request(&ann, b"hello"), "welcome");
    assert_eq!(request(&bob, b"hello"), "welcome");
    assert_eq!(request(&ann, b"good evening"), "good evening");
    assert_eq!(receive(&bob), "good evening");
    assert_eq!(request(&bob, b"bye"), "farewell");
    bob.send(b"still here").unwrap();
    assert_eq!(request(&ann, b"where is bob?"), "where is bob?");
    // New peers with the same address: the engine closes a peer that sends an invalid message.
    assert_eq!(request(&bob, b"\xff\xff"), "malformed: byte 0: the string is not UTF-8");
    assert_eq!(request(&bob, b"hello"), "welcome");
    assert_eq!(request(&ann, b"end"), "the end");
    assert_eq!(receive(&bob), "the end");
    let (outcome, summaries, events) = server.join();
    assert_eq!((outcome, summaries), (Outcome::Finished, vec!["it was nice".to_owned()]));
    let came: Vec<&String> = events.iter().filter(|event| event.contains(" from ")).collect();
    let of = |peer: u64, socket: &UdpSocket| format!("peer {peer} by Datagram from {}", socket.local_addr().unwrap());
    assert_eq!(came, [&of(0, &ann), &of(1, &bob), &of(2, &bob), &of(3, &bob)]);
}
