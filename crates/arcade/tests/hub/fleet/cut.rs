use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Instant,
};

use testkit::{eventually, peer::Peer};

use super::{Arcade, is_silent, number, reconnect};
use crate::{
    admin::done,
    fleet::{brokers::Broker, lost::is_copied},
    support::native,
};

/// Between a node and its broker. While it is cut, data is delayed, as by TCP retransmission.
struct Network {
    address: SocketAddr,
    is_cut: Arc<(Mutex<bool>, Condvar)>,
}

impl Network {
    fn to(broker: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let network = Self { address: listener.local_addr().unwrap(), is_cut: Arc::default() };
        let is_cut = Arc::clone(&network.is_cut);
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let is_cut = Arc::clone(&is_cut);
                thread::spawn(move || {
                    await_network(&is_cut);
                    let Ok(far) = TcpStream::connect(broker) else { return };
                    let back = (far.try_clone().unwrap(), near.try_clone().unwrap(), Arc::clone(&is_cut));
                    thread::spawn(move || carry(back.0, back.1, &back.2));
                    carry(near, far, &is_cut);
                });
            }
        });
        network
    }

    fn set(&self, is_cut: bool) {
        *self.is_cut.0.lock().unwrap() = is_cut;
        self.is_cut.1.notify_all();
    }
}

fn await_network((is_cut, changed): &(Mutex<bool>, Condvar)) {
    drop(changed.wait_while(is_cut.lock().unwrap(), |is_cut| *is_cut).unwrap());
}

fn carry(mut from: TcpStream, mut to: TcpStream, is_cut: &(Mutex<bool>, Condvar)) {
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        await_network(is_cut);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// The arcade, the same as `ann` reaches it, and the network in between.
fn arcades(broker: &Broker) -> (Arcade, Arcade, Network) {
    let all = Arcade::at(&broker.address());
    let address = broker.address();
    let network = Network::to(address.strip_prefix("nats://").unwrap().parse().unwrap());
    let (name, database) = (all.name.clone(), all.database.clone());
    let of_ann = Arcade { name, database, servers: format!("nats://{}", network.address) };
    (all, of_ann, network)
}

#[test]
#[ignore = "needs NATS servers and PostgreSQL"]
fn isolated_node_stops_publishing_before_its_rooms_are_taken_over() {
    let broker = Broker::start(true);
    let (all, of_ann, network) = arcades(&broker);
    let options = ["--no-default-rooms"];
    let (ann, bob) = (of_ann.node("ann", &options), all.node("bob", &options));
    let room = ann.nuggets();
    let peer = Peer::new(native(&room));
    assert_eq!(peer.play("Dan").letter, 'A');
    let (mut browser, seat) = bob.enter(&bob.await_room(&room, |_| true));
    browser.send("PLAY Cid");
    assert_eq!(browser.until("OK"), "OK B");
    is_copied(&ann);
    network.set(true);
    // The other node reaches the broker, so its promise not to take the room is short.
    is_silent(&ann, true);
    let status = done(&ann, &["status"]);
    assert!(status.contains("the rooms of this hub are suspended"), "{status}");
    let ready = [&ann, &bob].map(|hub| hub.get("/readyz").0.split(' ').nth(1).unwrap().to_owned());
    assert_eq!(ready, ["503", "200"]);
    while peer.receive_by(Instant::now()).is_some() {}
    let found = bob.await_room(&room, |room| room["node"] == "bob");
    assert_ne!(found["port"], room["port"], "the other node has that port");
    peer.send("KEY x");
    peer.send("KEY l");
    let mut again = reconnect(&bob, &room, &seat);
    assert_eq!(again.until("OK"), "OK B");
    network.set(false);
    ann.process.wait_stderr("news", |text| text.contains("the room has moved to another hub").then_some(()));
    ann.await_room(&room, |room| room["node"] == "bob" && room["port"] == found["port"]);
    assert!((number(&ann, "arcade_fleet_rooms_fenced_total") - 1.0).abs() < f64::EPSILON);
    eventually("the port of the copy is free", || UdpSocket::bind(native(&room)).is_ok());
    assert_eq!(peer.receive_by(Instant::now()), None, "two nodes tell of one room");
    again.send("KEY h");
    again.send("KEY l");
    again.until("DISPLAY");
    assert_eq!(ann.reconnect(&room, &seat).until("OK"), "OK B");
    let players = ann.await_room(&room, |_| true)["players"].as_array().map(Vec::len);
    assert_eq!(players, Some(2));
}
