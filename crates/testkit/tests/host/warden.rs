use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use netcore::{Framing, HostId, Link, PeerId, Time};
use netshell::{Host, Observer, Warden, WardenRequest};

use super::{Delivered, Parrot, Script, served, work};

const ANN: &str = "10.0.0.1:5000";
const BOB: &str = "10.0.0.2:5000";

/// Refuses one host, and removes the peers that the test names.
#[derive(Debug, Clone, Default)]
struct Porter(Arc<Mutex<(VecDeque<WardenRequest>, Option<Waker>)>>);

impl Porter {
    fn request(&self, request: WardenRequest) {
        let mut state = self.0.lock().unwrap();
        state.0.push_back(request);
        state.1.take().into_iter().for_each(Waker::wake);
    }
}

impl Warden for Porter {
    fn admits(&mut self, address: SocketAddr) -> bool {
        HostId::from(address) != HostId::of(BOB)
    }

    fn room_address(&mut self, _: Link, address: SocketAddr) -> SocketAddr {
        let HostId::V4([.., host]) = address.into() else { return address };
        SocketAddr::from(([192, 0, 2, host], address.port()))
    }

    fn farewell(&self, why: &str, framing: Framing) -> Option<Bytes> {
        let end = if framing == Framing::Stream { "\n" } else { "" };
        (!why.is_empty()).then(|| format!("{why}{end}").into())
    }

    fn poll_request(&mut self, context: &mut Context<'_>) -> Poll<WardenRequest> {
        let mut state = self.0.lock().unwrap();
        if let Some(request) = state.0.pop_front() {
            return Poll::Ready(request);
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

/// Connected peers, according to the calls of an observer.
#[derive(Debug, Clone, Default)]
struct Present(Arc<Mutex<Vec<PeerId>>>);

impl Observer for Present {
    fn connected(&mut self, _: Time, peer: PeerId, _: netcore::Role, address: &str) {
        assert!(address.starts_with("192.0.2."), "{address} is not what is shown");
        self.0.lock().unwrap().push(peer);
    }

    fn closed(&mut self, _: Time, peer: PeerId) {
        self.0.lock().unwrap().retain(|there| *there != peer);
    }
}

fn host() -> (Host, Script, Porter, Present) {
    let (script, porter, present) = (Script::default(), Porter::default(), Present::default());
    let host = Host::new(Parrot::default()).with_warden(porter.clone()).with_observer(present.clone());
    (host.with_transport(script.clone()), script, porter, present)
}

fn frame(id: u64, text: &str) -> (u64, Delivered) {
    (id, Delivered::Frame(text.into()))
}

#[test]
fn a_refused_address_never_reaches_the_room() {
    let (mut host, script, _, present) = host();
    script.open(1, BOB);
    script.send(1, "all");
    script.open(2, ANN);
    work(&mut host);
    // The first peer is the second connection.
    assert_eq!(script.take_delivered(), [(1, Delivered::Closed), frame(2, "hello 0")]);
    assert_eq!((host.peers(), present.0.lock().unwrap().as_slice()), (1, [PeerId(0)].as_slice()));
}

#[test]
fn a_removed_peer_receives_the_reason_and_leaves_the_room() {
    let (host, script, porter, present) = host();
    let mut server = served(host);
    for (id, address) in [(1, ANN), (2, "10.0.0.3:1"), (3, "10.0.0.1:5001")] {
        script.open(id, address);
    }
    while server.run() {}
    script.take_delivered();
    porter.request(WardenRequest::Remove(PeerId(1), "out".into()));
    porter.request(WardenRequest::Remove(PeerId(9), String::new()));
    while server.run() {}
    let told = script.take_delivered();
    let after = [frame(2, "out"), frame(1, "gone 1"), frame(2, "gone 1"), frame(3, "gone 1"), (2, Delivered::Closed)];
    assert_eq!(told, after);
    assert_eq!(*present.0.lock().unwrap(), [PeerId(0), PeerId(2)]);
    // Hosts are identified by the shown address.
    porter.request(WardenRequest::RemoveHost(HostId::of(ANN), String::new()));
    porter.request(WardenRequest::RemoveHost(HostId::of("192.0.2.1:1"), String::new()));
    while server.run() {}
    assert_eq!(script.take_delivered().iter().filter(|(_, told)| *told == Delivered::Closed).count(), 2);
    assert_eq!(*present.0.lock().unwrap(), []);
    server.check_sleepers();
}
