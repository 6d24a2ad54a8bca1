use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use nuggets::{Client, Config, Grid, server::Server as Engine};
use testkit::{
    TempDir,
    hostile::{MALFORMED, Malformed},
    net::{Conditions, Net},
    peer::Peer,
};

use super::{HALL, Server};

const SEED: u128 = 12;

/// The server as a program and the server in the simulated network, with the same peers.
struct Twins {
    real: Server,
    pretend: Net<Engine, Client>,
    peers: BTreeMap<&'static str, Peer>,
}

impl Twins {
    fn new(names: &[&'static str]) -> Self {
        let maps = TempDir::new();
        let real = Server::start(&[&maps.file("hall.txt", HALL), &SEED.to_string()]);
        let (grid, _) = Grid::parse(HALL.as_bytes()).unwrap();
        let engine = Engine::new(Arc::new(grid), Config { seed: SEED, ..Config::default() }).unwrap();
        let peers = names.iter().map(|&name| (name, real.peer())).collect();
        Self { real, pretend: Net::new(engine, 1, Conditions::CALM), peers }
    }

    /// Sends a message to both servers. Each peer must receive the same bytes from both.
    fn send(&mut self, from: &str, message: &[u8]) {
        let sender = &self.peers[from];
        sender.send(message);
        self.pretend.send(sender.address(), message.to_vec());
        self.pretend.settle();
        let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
        for (name, peer) in &self.peers {
            let address: SocketAddr = peer.address();
            for expected in self.pretend.take_mail(address) {
                let after = text(&message[..message.len().min(40)]);
                assert_eq!(text(&peer.receive()), text(&expected), "to {name} after {after} from {from}");
            }
        }
    }
}

#[test]
fn simulated_and_real_network_deliver_the_same() {
    let mut twins = Twins::new(&["ann", "bob", "watcher", "stranger"]);
    twins.send("stranger", b"KEY h");
    twins.send("ann", b"PLAY Ann");
    twins.send("bob", b"PLAY Bob");
    twins.send("bob", b"PLAY Bob");
    twins.send("watcher", b"SPECTATE");
    twins.send("watcher", b"PLAY Wat");
    for key in b"hjklyubnHJ?KLYUBNhh" {
        twins.send("ann", &[b'K', b'E', b'Y', b' ', *key]);
        twins.send("bob", &[b'K', b'E', b'Y', b' ', key ^ 1]);
        twins.send("stranger", &[b'K', b'E', b'Y', b' ', *key]);
    }
    for Malformed { bytes, .. } in MALFORMED {
        twins.send("ann", bytes);
        twins.send("stranger", bytes);
    }
    twins.send("bob", b"PLAY Bob");
    twins.send("bob", b"KEY Q");
    twins.send("bob", b"KEY Q");
    twins.send("bob", b"PLAY Bob");
    twins.send("stranger", b"SPECTATE");
    twins.send("watcher", b"KEY Q");
    twins.send("stranger", b"KEY Q");
    twins.send("stranger", b"PLAY Late");
    for key in b"YHLjHjLjHjLjHjL" {
        twins.send("ann", &[b'K', b'E', b'Y', b' ', *key]);
    }
    // The real server has sent no other messages.
    for (name, peer) in &twins.peers {
        assert_eq!(peer.pending(), Vec::<Vec<u8>>::new(), "to {name}");
    }
    let finished = twins.real.process.wait();
    assert!(finished.stdout.ends_with(&format!("\n{}\n", twins.pretend.summaries()[0])), "{}", finished.stdout);
}
