use std::net::SocketAddr;

use netcore::{DisconnectReason, Framing, Input, Link, PeerId, Role, Time};

use super::{Host, Route};
use crate::quotas::Account;
use crate::{ConnectionId, WardenRequest, address::canonical};

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

    /// Sends the full state to a peer that lost it. Earlier outputs are not sent.
    pub(super) fn refresh_peer(&mut self, now: Time, peer: PeerId) {
        let Some(route) = self.peers.get_mut(&peer) else { return };
        self.generation += 1;
        route.since = self.generation;
        self.input_of(now, peer, Input::Refresh { peer });
    }

    pub(super) fn carry_out(&mut self, now: Time, request: WardenRequest) {
        match request {
            WardenRequest::Remove(peer, why) => self.remove(now, &why, |meant, _| meant == peer),
            WardenRequest::RemoveHost(host, why) => self.remove(now, &why, |_, route| route.account.host == host),
            WardenRequest::Refresh(peer) => self.refresh_peer(now, peer),
        }
    }

    fn remove(&mut self, now: Time, why: &str, is_meant: impl Fn(PeerId, &Route) -> bool) {
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
