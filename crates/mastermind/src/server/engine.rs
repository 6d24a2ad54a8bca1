//! The server as an engine.

use alloc::{format, string::ToString, vec::Vec};
use netcore::{
    Departure, Engine, Fingerprint, HostId, Input, Leave, Link, Occupant, Outbox, Outcome, PeerId, Phase, RequestOf,
    Status, Time,
};

use super::{Peer, Server};
use crate::protocol::{Mastermind, ServerMessage};

const STOPPED: &str = "the server was stopped";

impl Engine for Server {
    type Protocol = Mastermind;

    fn input(&mut self, now: Time, input: Input<'_, RequestOf<Self>>, out: &mut Outbox) {
        match input {
            Input::Connected { peer, role, link, address } => {
                let known = Peer { role, link, host: HostId::of(&address), seat: None };
                self.toggle_peer(peer, &known);
                self.peers.insert(peer, known);
                self.welcome(peer, out);
            }
            Input::Message { peer, message: Ok(message) } => self.request(now, peer, message, out),
            Input::Message { peer, message: Err(why) } => self.refuse(peer, &format!("{why}"), out),
            Input::Malformed { peer, why } => {
                let link = self.peers.get(&peer).map(|peer| peer.link);
                let text = format!("malformed message: {why}");
                match link {
                    // Nothing behind it can be read.
                    Some(Link::Stream) => self.dismiss(peer, &text, Departure::Dismissed(text.clone()), out),
                    _ => self.refuse(peer, &text, out),
                }
            }
            Input::Refresh { peer } => self.welcome(peer, out),
            Input::Disconnected { peer, why } => self.remove(peer, Departure::Disconnected(why), out),
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop(leave) => self.stop(leave, out),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.due()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn digest(&self) -> u64 {
        let mut print = Fingerprint::new();
        print.add(self.digest.value());
        print.add(self.config.seed);
        print.add_bytes(format!("{:?}", self.config.mode).as_bytes());
        print.add(u64::from(self.config.length) << 1 | u64::from(self.config.repeats));
        print.add(u64::try_from(self.config.limit.as_nanos()).unwrap_or(u64::MAX));
        print.add(self.today.map_or(0, |(day, _)| u64::from(day.0) + 1));
        print.add_time(self.today.map(|(_, ends)| ends));
        print.add(self.games.into());
        print.add_bytes(format!("{:?}", self.hints).as_bytes());
        print.add(u64::from(self.outcome.is_some()));
        print.add_count(self.seats.len());
        for (&number, seat) in &self.seats {
            print.add(number.into());
            seat.add_to(&mut print);
        }
        for (&number, contest) in &self.contests {
            print.add(number.into());
            contest.add_to(&mut print);
        }
        print.value()
    }

    fn status(&self) -> Status {
        let phase = match self.outcome {
            Some(_) => Phase::Over,
            None if self.contests.is_empty() => Phase::Lobby,
            None => Phase::Playing,
        };
        let taken = u32::try_from(self.seats.len()).unwrap_or(u32::MAX);
        Status { phase, taken, seats: self.capacity().into() }
    }

    fn roster(&self) -> Vec<Occupant> {
        let occupant = |(number, seat): (&u8, &super::Seat)| Occupant {
            peer: seat.peer,
            name: seat.name.to_string(),
            seat: number.to_string(),
        };
        self.seats.iter().map(occupant).collect()
    }
}

impl Server {
    fn stop(&mut self, leave: Leave, out: &mut Outbox) {
        if leave == Leave::Over {
            for (number, contest) in core::mem::take(&mut self.contests) {
                contest.report(number, out);
            }
            self.send_all(&ServerMessage::Bye(STOPPED.into()), out);
            for (peer, gone) in core::mem::take(&mut self.peers) {
                self.toggle_peer(peer, &gone);
                out.close(peer);
            }
            self.seats.clear();
        }
        self.outcome = Some(Outcome::Stopped);
    }

    // Adds a peer to the digest, or takes it away.
    pub(super) fn toggle_peer(&mut self, peer: PeerId, known: &Peer) {
        let mut print = Fingerprint::new();
        print.add(peer.0);
        print.add_bytes(format!("{:?}{:?}{:?}", known.role, known.link, known.seat).as_bytes());
        print.add_host(known.host);
        self.digest.toggle(0, 0, print.value());
    }

    pub(super) fn change_peer(&mut self, peer: PeerId, change: impl FnOnce(&mut Peer)) {
        let Some(known) = self.peers.get_mut(&peer) else { return };
        let before = known.clone();
        change(known);
        let after = known.clone();
        self.toggle_peer(peer, &before);
        self.toggle_peer(peer, &after);
    }
}
