//! Who belongs to a room: those who have joined a match in it, and those whom its owner lets in no more.
//!
//! A seat of a browser is another one in each match of some games, so a page that comes anew says with its old token who it was; see
//! [`Members::follow`].

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use netcore::HostId;

use super::mailbox::Ending;

/// Seats of those who belong to a room. Of more the oldest are forgotten.
pub(crate) const MAX_MEMBERS: usize = 512;
/// Hosts that the owner of a room has removed from one match. Of more, the first ones may come again.
pub(crate) const MAX_BARRED: usize = 256;
/// What players are told who come to a room that is locked.
const LOCKED: &str = "The owner of this room has locked it: it takes no new players.";
/// What players are told whom the owner has removed.
const BARRED: &str = "The owner of this room has removed you; you may come again after this match.";

/// Somebody who belongs to a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// The seat in the last match.
    pub(crate) seat: String,
}

/// Those who belong to a room.
#[derive(Debug, Default)]
pub(crate) struct Members(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    members: BTreeMap<SocketAddr, Member>,
    // Their addresses, those first that came first.
    order: VecDeque<SocketAddr>,
    locked: bool,
    // As their pseudonyms have them.
    barred: BTreeSet<HostId>,
}

impl Members {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody at this address has joined a match.
    pub(crate) fn join(&self, address: SocketAddr, name: &str, seat: &str) {
        let mut state = self.state();
        if state.members.insert(address, Member { name: name.to_owned(), seat: seat.to_owned() }).is_none() {
            state.order.push_back(address);
        }
        if state.order.len() > MAX_MEMBERS {
            let oldest = state.order.pop_front();
            oldest.and_then(|oldest| state.members.remove(&oldest));
        }
    }

    /// Whoever was at one address is at another now. Gives whether that was a member.
    pub(crate) fn follow(&self, before: SocketAddr, now: SocketAddr) -> bool {
        let mut state = self.state();
        let Some(member) = state.members.remove(&before) else { return false };
        state.members.insert(now, member);
        for address in state.order.iter_mut().filter(|address| **address == before) {
            *address = now;
        }
        true
    }

    /// Who is at this address.
    pub(crate) fn at(&self, address: SocketAddr) -> Option<Member> {
        self.state().members.get(&address).cloned()
    }

    /// Whether only those may join who have joined before.
    pub(crate) fn set_locked(&self, locked: bool) {
        self.state().locked = locked;
    }

    /// Lets nobody of this host in, as its pseudonyms have it, until the match is over.
    pub(crate) fn bar(&self, host: HostId) {
        let mut state = self.state();
        if state.barred.len() >= MAX_BARRED {
            state.barred.pop_first();
        }
        state.barred.insert(host);
    }

    /// The hosts that are not let in.
    pub(crate) fn barred(&self) -> BTreeSet<HostId> {
        self.state().barred.clone()
    }

    /// The match is over.
    pub(crate) fn lift(&self) {
        self.state().barred.clear();
    }

    /// Whether nobody of this host is let in, as its pseudonyms have it.
    pub(crate) fn bars(&self, host: HostId) -> bool {
        self.state().barred.contains(&host)
    }

    /// Why somebody of this host, as its pseudonyms have it, may not join at this address; in words, and for browsers.
    pub(crate) fn refuses(&self, host: HostId, address: Option<SocketAddr>) -> Option<(&'static str, Ending)> {
        let state = self.state();
        if state.barred.contains(&host) {
            return Some((BARRED, Ending::RemovedByOwner));
        }
        let is_new = !address.is_some_and(|address| state.members.contains_key(&address));
        (state.locked && is_new).then_some((LOCKED, Ending::Locked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: usize) -> SocketAddr {
        SocketAddr::from(([10, 0, u8::try_from(number >> 8).unwrap(), u8::try_from(number & 255).unwrap()], 5))
    }

    #[test]
    fn a_locked_room_takes_those_who_were_there_and_nobody_else() {
        let members = Members::default();
        let host = HostId::of("10.0.0.1:1");
        members.join(at(1), "Ann", "A");
        assert_eq!(members.refuses(host, Some(at(2))), None);
        members.set_locked(true);
        assert_eq!(members.refuses(host, Some(at(1))), None);
        assert_eq!(members.refuses(host, Some(at(2))).unwrap().1, Ending::Locked);
        assert_eq!(members.refuses(host, None).unwrap().1, Ending::Locked);
        // Ann comes with her next seat.
        assert!(members.follow(at(1), at(2)) && !members.follow(at(1), at(3)));
        assert_eq!(members.refuses(host, Some(at(2))), None);
        assert!(members.refuses(host, Some(at(1))).is_some());
        assert_eq!(members.at(at(2)).unwrap().name, "Ann");
        members.bar(host);
        assert_eq!(members.refuses(host, Some(at(2))).unwrap().1, Ending::RemovedByOwner);
        members.lift();
        assert_eq!(members.refuses(host, Some(at(2))), None);
    }

    #[test]
    fn members_and_barred_hosts_are_bounded() {
        let members = Members::default();
        for number in 0..2 * MAX_MEMBERS {
            members.join(at(number), "x", "");
            members.bar(at(number).into());
        }
        let (count, order) = {
            let state = members.state();
            (state.members.len(), state.order.len())
        };
        assert_eq!((count, order), (MAX_MEMBERS, MAX_MEMBERS));
        assert_eq!(members.at(at(MAX_MEMBERS - 1)), None);
        assert_eq!(members.barred().len(), MAX_BARRED);
    }
}
