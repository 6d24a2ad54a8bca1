//! Seats that are kept for players whose sockets are gone, shared out by host.

use std::collections::{BTreeMap, BTreeSet};

use netcore::{HostId, Time};
use netshell::ConnectionId;

/// Seats that are kept, by the time until when and by host.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    by_host: BTreeMap<HostId, BTreeSet<(Time, ConnectionId)>>,
    by_time: BTreeSet<(Time, ConnectionId)>,
}

impl Kept {
    /// The seat of somebody at `host` is kept until this time. If that is one more than `most` of this host, gives the oldest one of it,
    /// which is not kept any more.
    pub(crate) fn insert(&mut self, host: HostId, until: Time, id: ConnectionId, most: usize) -> Option<ConnectionId> {
        self.by_time.insert((until, id));
        let of_host = self.by_host.entry(host).or_default();
        of_host.insert((until, id));
        let (until, oldest) = *of_host.first().filter(|_| of_host.len() > most)?;
        self.remove(host, until, oldest);
        Some(oldest)
    }

    /// The seat is not kept any more: somebody is back, or it is given up.
    pub(crate) fn remove(&mut self, host: HostId, until: Time, id: ConnectionId) {
        self.by_time.remove(&(until, id));
        if let Some(of_host) = self.by_host.get_mut(&host) {
            of_host.remove(&(until, id));
            if of_host.is_empty() {
                self.by_host.remove(&host);
            }
        }
    }

    /// The first seat to give up when somebody else needs it: the oldest of the host that keeps most.
    pub(crate) fn first_to_go(&self) -> Option<ConnectionId> {
        let most = self.by_host.values().max_by_key(|seats| seats.len())?;
        most.first().map(|&(_, id)| id)
    }

    /// Until when the next seat is kept.
    pub(crate) fn next_due(&self) -> Option<Time> {
        self.by_time.first().map(|&(until, _)| until)
    }

    /// The seats that were kept until now.
    pub(crate) fn due(&self, now: Time) -> impl Iterator<Item = ConnectionId> {
        self.by_time.iter().take_while(move |(until, _)| *until <= now).map(|&(_, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_that_keeps_most_gives_its_oldest_seat_up_first() {
        let (ann, eve) = (HostId::of("10.0.0.1:1"), HostId::of("10.0.0.2:1"));
        let mut kept = Kept::default();
        let seat = |number: u64| (Time::from_millis(number), ConnectionId(number));
        for (host, number) in [(ann, 1), (eve, 2), (eve, 3), (ann, 5), (eve, 4)] {
            let (until, id) = seat(number);
            assert_eq!(kept.insert(host, until, id, 3), None);
        }
        assert_eq!((kept.first_to_go(), kept.next_due()), (Some(ConnectionId(2)), Some(Time::from_millis(1))));
        assert_eq!(kept.due(Time::from_millis(3)).count(), 3);
        // One more than a host may keep.
        let (until, id) = seat(6);
        assert_eq!(kept.insert(eve, until, id, 3), Some(ConnectionId(2)));
        let (until, id) = seat(3);
        kept.remove(eve, until, id);
        kept.remove(eve, seat(4).0, seat(4).1);
        assert_eq!(kept.first_to_go(), Some(ConnectionId(1)));
    }
}
