use std::net::SocketAddr;

use bytes::Bytes;
use netcore::{DisconnectReason, Input, Link, PeerId, Time};

use super::{Account, Host, Route};
use crate::{ConnectionId, Delivery, address::canonical};

impl Host {
    /// Resumes a room whose server was killed while `peers` were connected. Peers over datagrams that a transport can
    /// adopt are sent the full state that they may see; others are disconnected.
    pub fn resume(&mut self, now: Time, peers: impl IntoIterator<Item = (PeerId, Link, SocketAddr)>) {
        let now = self.at(now);
        let mut inputs = vec![];
        for (peer, link, address) in peers {
            self.next_peer = self.next_peer.max(peer.0.saturating_add(1));
            match self.adopt(now, link, address) {
                Some((endpoint, connection)) => {
                    self.endpoints[endpoint].peers.insert(connection, peer);
                    let account = Account::new(now, address.into());
                    let address = canonical(address).to_string();
                    let since = self.generation;
                    self.peers.insert(peer, Route { endpoint, connection, since, link, address, account });
                    inputs.push(Input::Refresh { peer });
                }
                None => inputs.push(Input::Disconnected { peer, why: DisconnectReason::Interrupted }),
            }
        }
        // All peers are registered before, because the input of one may cause outputs to another.
        for input in inputs {
            let gone = if let Input::Disconnected { peer, .. } = input { Some(peer) } else { None };
            self.input(now, input);
            // It has no connection to close, but the observer may know it from the earlier run.
            if let Some(peer) = gone {
                self.observer.closed(now, peer);
            }
        }
    }

    /// Repeats the last messages to the `address` of a former peer, which may have been lost. Returns `false` if no
    /// transport can reach it.
    pub fn repeat_farewell(&mut self, now: Time, address: SocketAddr, frames: impl IntoIterator<Item = Bytes>) -> bool {
        let now = self.at(now);
        let Some((endpoint, connection)) = self.adopt(now, Link::Datagram, address) else { return false };
        let endpoint = &mut self.endpoints[endpoint];
        frames.into_iter().for_each(|frame| endpoint.deliver(now, Delivery::Frame(connection, frame)));
        endpoint.refuse(now, connection);
        true
    }

    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<(usize, ConnectionId)> {
        let mut endpoints = self.endpoints.iter_mut().enumerate();
        endpoints.find_map(|(endpoint, each)| Some((endpoint, each.transport.adopt(now, link, address)?)))
    }
}
