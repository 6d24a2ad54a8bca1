use netcore::{GameEvent, Output, PeerId, Time, To};

use super::{Host, held_outputs::Delivered};
use crate::Delivery;

impl Host {
    pub(super) fn deliver(&mut self, now: Time) {
        let status = self.room.status();
        let changed = (status != self.status).then_some(status);
        if self.out.is_empty() && changed.is_none() {
            return;
        }
        self.status = status;
        if let Some(held) = &mut self.held {
            let status = changed.into_iter().map(Delivered::Status);
            held.extend(now, status.chain(self.out.drain().map(Delivered::Output)), self.generation);
            self.release(now);
            return;
        }
        if let Some(status) = changed {
            self.observer.status(now, status);
        }
        let mut out = std::mem::take(&mut self.out);
        for output in out.drain() {
            self.route(now, output, self.generation);
        }
        self.out = out;
        self.flush(now);
    }

    pub(super) fn release(&mut self, now: Time) {
        let mut released = false;
        while let Some((delivered, generation)) = self.held.as_mut().and_then(|held| held.pop_reached(now)) {
            match delivered {
                Delivered::Status(status) => self.observer.status(now, status),
                Delivered::Output(output) => self.route(now, output, generation),
            }
            released = true;
        }
        if released {
            self.flush(now);
        }
    }

    fn flush(&mut self, now: Time) {
        self.closed.clear();
        for endpoint in &mut self.endpoints {
            endpoint.flush(now);
        }
    }

    fn route(&mut self, now: Time, output: Output, generation: u64) {
        let Self { endpoints, peers, closed, observer, .. } = self;
        let connection_of = |peer| {
            let route = peers.get(&peer).filter(|route| route.since <= generation)?;
            Some((route.endpoint, route.connection))
        };
        match output {
            Output::Send { to: To::Peer(peer), frame } => {
                if let Some((endpoint, connection)) = connection_of(peer) {
                    endpoints[endpoint].deliver(now, Delivery::Frame(connection, frame));
                }
            }
            Output::Send { to: To::Everyone, frame } if generation < self.generation => {
                for route in peers.values().filter(|route| route.since <= generation) {
                    endpoints[route.endpoint].deliver(now, Delivery::Frame(route.connection, frame.clone()));
                }
            }
            Output::Send { to: To::Everyone, frame } => {
                for endpoint in endpoints {
                    endpoint.deliver(now, Delivery::Everyone(&frame));
                }
            }
            Output::Replay { to, history } => {
                if let Some((endpoint, connection)) = connection_of(to) {
                    endpoints[endpoint].deliver(now, Delivery::History(connection, &history));
                }
            }
            Output::Close { peer } => {
                if let Some(route) = self.take_route(peer) {
                    self.endpoints[route.endpoint].deliver(now, Delivery::Close(route.connection));
                    self.observer.closed(now, peer);
                }
            }
            Output::Event(event) => {
                let address = |peer| peers.get(&peer).map(|route| &route.address).or_else(|| closed.get(&peer));
                observer.event(now, &event, about(&event).and_then(address).map(String::as_str));
            }
        }
    }
}

fn about(event: &GameEvent) -> Option<PeerId> {
    match *event {
        GameEvent::Waiting { peer, .. } | GameEvent::Joined { peer, .. } | GameEvent::Left { peer, .. } => Some(peer),
        GameEvent::Notice { peer, .. } => peer,
        GameEvent::Started { .. } | GameEvent::Progress { .. } | GameEvent::Ended { .. } | GameEvent::Summary(_) => {
            None
        }
    }
}
