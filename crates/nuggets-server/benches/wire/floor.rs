//! The minimal loop with the network traffic of a move.

use std::{io::Write, net::UdpSocket};

use crate::CLIENTS;

/// Announces a port, and learns the clients from their first datagrams. Then responds to each datagram with `bytes`
/// bytes to each client, until it is killed.
pub(crate) fn run(bytes: usize) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    println!("floor at port {}", socket.local_addr().expect("bound").port());
    std::io::stdout().flush().expect("a reader");
    let mut buffer = vec![0; 1 << 16];
    let clients: Vec<_> = (0..CLIENTS).map(|_| socket.recv_from(&mut buffer).expect("a client").1).collect();
    // Each client has its own picture, as in the game.
    let frames = vec![vec![b'.'; bytes]; CLIENTS];
    loop {
        socket.recv_from(&mut buffer).expect("a key");
        for (client, frame) in clients.iter().zip(&frames) {
            // The server and the floor alike lose datagrams of a slow reader.
            let _ = socket.send_to(frame, client);
        }
    }
}
