//! Peers that come, go and are removed.

use std::net::SocketAddr;

use netcore::{Gone, Input, Link, PeerId, Role, Time};

use super::{Host, Route, budgets::Account};
use crate::{ConnectionId, Removal, address::canonical};

impl Host {
    // Makes a connection a peer.
    pub(super) fn connect(
        &mut self,
        now: Time,
        peer: PeerId,
        (endpoint, connection): (usize, ConnectionId),
        (role, link): (Role, Link),
        address: SocketAddr,
    ) {
        let account = Account::new(now, address.into());
        let address = canonical(address).to_string();
        self.observer.connected(now, peer, role, &address);
        self.room.input(now, Input::Connected { peer, role, link, address: (&address).into() }, &mut self.out);
        self.peers.insert(peer, Route { endpoint, connection, link, address, account });
        self.charge(now, peer);
        self.deliver(now);
    }

    pub(super) fn disconnect(&mut self, now: Time, peer: PeerId, why: Gone) {
        if let Some(route) = self.peers.get(&peer) {
            self.observer.gone(now, peer, &route.address, why);
        }
        self.input_of(now, peer, Input::Disconnected { peer, why });
        // A peer that has only shut down its sending half can still receive until the room closes it.
        if why != Gone::Left {
            // Through the outbox, so that it happens after outputs that are held back.
            self.out.close(peer);
            self.deliver(now);
        }
    }

    // Disconnects peers that the operator does not want in the room.
    pub(super) fn remove(&mut self, now: Time, removal: Removal) {
        let (peers, farewell): (Vec<PeerId>, _) = match removal {
            Removal::Peer(peer, farewell) => {
                (self.peers.contains_key(&peer).then_some(peer).into_iter().collect(), farewell)
            }
            Removal::Host(host, farewell) => {
                let of_host = self.peers.iter().filter(|(_, route)| route.account.host() == host);
                (of_host.map(|(&peer, _)| peer).collect(), farewell)
            }
        };
        for peer in peers {
            if let (Some(farewell), Some(route)) = (&farewell, self.peers.get(&peer)) {
                // Through the outbox, so that it is sent after outputs that are held back.
                self.out.send(peer, farewell.on(route.link.framing()).clone());
            }
            self.disconnect(now, peer, Gone::Broken);
        }
    }

    // Removes a peer and returns its route.
    pub(super) fn forget(&mut self, peer: PeerId) -> Option<Route> {
        let route = self.peers.remove(&peer)?;
        self.endpoints[route.endpoint].peers.remove(&route.connection);
        self.closed.insert(peer, route.address.clone());
        Some(route)
    }
}
