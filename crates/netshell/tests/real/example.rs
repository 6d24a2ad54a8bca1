//! The server of `examples/chat.rs`, over a real socket.

#[allow(dead_code, reason = "the test has another `main`")]
#[path = "../../examples/chat.rs"]
mod chat;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, TcpStream},
    thread,
    time::Duration,
};

use netcore::Outcome;

const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn chat_delivers_every_line_until_bye() {
    let listeners = netshell::bind_tcp(&[Ipv4Addr::LOCALHOST.into()], 0).unwrap();
    let address = listeners[0].local_addr().unwrap();
    let server = thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(chat::host(listeners)).unwrap()
    });
    let mut peers = [(); 2].map(|()| {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        BufReader::new(stream)
    });
    let read = |peer: &mut BufReader<TcpStream>| {
        let mut line = String::new();
        peer.read_line(&mut line).unwrap();
        line
    };
    assert_eq!(peers.each_mut().map(read), ["hello\n"; 2]);
    peers[0].get_mut().write_all(b"good morning\n").unwrap();
    assert_eq!(peers.each_mut().map(read), ["good morning\n"; 2]);
    peers[1].get_mut().write_all(b"bye\n").unwrap();
    assert_eq!(server.join().unwrap(), Outcome::Finished);
}
