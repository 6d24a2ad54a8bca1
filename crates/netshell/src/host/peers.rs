use std::net::SocketAddr;

use netcore::{DisconnectReason, Framing, Input, Link, PeerId, Role, Time};

use super::{Host, Route};
use crate::quotas::Account;
use crate::{ConnectionId, Removal, address::canonical};

impl Host {
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
        self.generation += 1;
        let since = self.generation;
        self.peers.insert(peer, Route { endpoint, connection, since, link, address, account });
        self.charge(now, peer);
        self.deliver(now);
    }

    pub(super) fn disconnect(&mut self, now: Time, peer: PeerId, why: DisconnectReason) {
        if let Some(route) = self.peers.get(&peer) {
            self.observer.disconnected(now, peer, &route.address, why);
        }
        self.input_of(now, peer, Input::Disconnected { peer, why });
        // A peer that shut down its sending half can receive until the room closes it.
        if why != DisconnectReason::Left {
            // Closed through the outbox, so after outputs that are held back.
            self.out.close(peer);
            self.deliver(now);
        }
    }

    pub(super) fn remove(&mut self, now: Time, removal: &Removal) {
        let is_meant = |peer: PeerId, route: &Route| match removal {
            Removal::Peer(meant, _) => peer == *meant,
            Removal::Host(host, _) => route.account.host == *host,
        };
        let (Removal::Peer(_, why) | Removal::Host(_, why)) = removal;
        let meant = self.peers.iter().filter(|&(&peer, route)| is_meant(peer, route));
        let meant: Vec<(PeerId, Framing)> = meant.map(|(&peer, route)| (peer, route.link.framing())).collect();
        for (peer, framing) in meant {
            if let Some(farewell) = self.warden.as_ref().and_then(|warden| warden.farewell(why, framing)) {
                // Through the outbox for the same reason.
                self.out.send(peer, farewell);
            }
            self.disconnect(now, peer, DisconnectReason::Broken);
        }
    }

    pub(super) fn take_route(&mut self, peer: PeerId) -> Option<Route> {
        let route = self.peers.remove(&peer)?;
        self.endpoints[route.endpoint].peers.remove(&route.connection);
        self.closed.insert(peer, route.address.clone());
        Some(route)
    }
}
