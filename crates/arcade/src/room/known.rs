//! What is known of the seats of browsers in a room besides what they say: whether they take part in the match, and who owns which
//! names.
//!
//! An entry is made when the transport lets a seat in, and removed with the seat. So there are as many as seats, and nothing that
//! happens elsewhere removes one.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use netcore::HostId;
use store::Kind;

use super::{host_codes::HostCodes, mailbox::Ending};

/// The names that whoever has a seat owns, once that is known. It may be kept longer than the seat.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proof(Arc<OnceLock<Vec<String>>>);

impl Proof {
    /// How far this name is to be trusted.
    pub(crate) fn kind(&self, name: &str) -> Kind {
        let owns = self.0.get().is_some_and(|names| names.iter().any(|own| own == name));
        if owns { Kind::Proven } else { Kind::Unproven }
    }
}

/// What is known of a seat.
#[derive(Debug, Default)]
struct Seat {
    proof: Proof,
    // Where its browser really is.
    host: Option<HostId>,
    // Whether whoever sits there has joined, and would lose something with the seat.
    joined: bool,
    // Why the room is going to close it, if that is not the end of its game.
    ending: Option<Ending>,
    // The later it came, the higher.
    order: u64,
}

/// The seats of a room, by their addresses.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    by_address: Mutex<BTreeMap<SocketAddr, Seat>>,
    // Hosts that have had their share of this match.
    spent: Mutex<BTreeSet<HostId>>,
    // Seats that were let in so far.
    opened: AtomicU64,
    /// Which of them are at one host.
    pub(crate) host_codes: HostCodes,
}

impl Seats {
    fn seats(&self) -> MutexGuard<'_, BTreeMap<SocketAddr, Seat>> {
        self.by_address.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No seats yet; codes of hosts are made with this key.
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self { host_codes: HostCodes::new(key), ..Self::default() }
    }

    /// A seat is let in.
    pub(crate) fn open(&self, address: SocketAddr) {
        let order = self.opened.fetch_add(1, Ordering::Relaxed);
        self.seats().entry(address).or_insert_with(|| Seat { order, ..Seat::default() });
    }

    /// Whether this is the address of a seat of a browser.
    pub(crate) fn has(&self, address: SocketAddr) -> bool {
        self.seats().contains_key(&address)
    }

    /// The place of a seat in the order in which they came.
    pub(crate) fn order(&self, address: SocketAddr) -> Option<u64> {
        self.seats().get(&address).map(|seat| seat.order)
    }

    /// Notes from which host the browser of a seat really comes.
    pub(crate) fn note_host(&self, address: SocketAddr, host: HostId) {
        self.host_codes.note(address, host);
        if let Some(seat) = self.seats().get_mut(&address) {
            seat.host = Some(host);
        }
    }

    /// From which host the browser of a seat really comes, if there is such a seat and it came since the hub was started.
    pub(crate) fn host(&self, address: Option<&str>) -> Option<HostId> {
        let address: SocketAddr = address?.parse().ok()?;
        self.seats().get(&address)?.host
    }

    /// The seat is gone for good.
    pub(crate) fn close(&self, address: SocketAddr) {
        self.seats().remove(&address);
    }

    /// Notes which names whoever has this seat owns. Returns `false` if there is no such seat.
    pub(crate) fn note(&self, address: SocketAddr, names: &[String]) -> bool {
        // A seat has the key of its first socket that had one.
        self.seats().get(&address).map(|seat| seat.proof.0.set(names.to_vec())).is_some()
    }

    /// These names were given up: whoever has a seat does not own them any more.
    pub(crate) fn forget(&self, given_up: &[String]) {
        for seat in self.seats().values_mut() {
            let Some(names) = seat.proof.0.get() else { continue };
            if names.iter().any(|name| given_up.contains(name)) {
                let left = names.iter().filter(|name| !given_up.contains(name)).cloned().collect::<Vec<_>>();
                seat.proof = Proof(Arc::new(left.into()));
            }
        }
    }

    /// Whether whoever has this seat takes part in the match.
    pub(crate) fn set_joined(&self, address: SocketAddr, joined: bool) {
        if let Some(seat) = self.seats().get_mut(&address) {
            seat.joined = joined;
        }
    }

    /// Whether whoever has this seat takes part in the match.
    pub(crate) fn has_joined(&self, address: SocketAddr) -> bool {
        self.seats().get(&address).is_some_and(|seat| seat.joined)
    }

    /// Notes why the room is going to close this seat.
    pub(crate) fn end(&self, address: SocketAddr, why: Ending) {
        if let Some(seat) = self.seats().get_mut(&address) {
            seat.ending = Some(why);
        }
    }

    /// Notes why the room is going to close all seats of this host, as its pseudonyms have it.
    pub(crate) fn end_host(&self, host: HostId, why: Ending) {
        for (_, seat) in self.seats().iter_mut().filter(|(address, _)| HostId::from(**address) == host) {
            seat.ending = Some(why);
        }
    }

    /// Why the room closes this seat.
    pub(crate) fn ending(&self, address: SocketAddr) -> Ending {
        self.seats().get(&address).and_then(|seat| seat.ending).unwrap_or(Ending::Closed)
    }

    /// These hosts, as their pseudonyms have them, have had their share of this match.
    pub(crate) fn set_spent(&self, hosts: BTreeSet<HostId>) {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) = hosts;
    }

    /// Whether this host, as its pseudonyms have it, has had its share of this match.
    pub(crate) fn has_spent(&self, host: HostId) -> bool {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).contains(&host)
    }

    /// What is known of the names at this address, now and later. None if it is not a seat of a browser.
    pub(crate) fn proof(&self, address: Option<&str>) -> Option<Proof> {
        let address: SocketAddr = address?.parse().ok()?;
        self.seats().get(&address).map(|seat| seat.proof.clone())
    }

    /// Whether this name is proven at this address.
    pub(crate) fn is_proven(&self, address: Option<&str>, name: &str) -> bool {
        self.proof(address).is_some_and(|proof| proof.kind(name) == Kind::Proven)
    }
}

/// An address as rooms and journals write it.
pub(crate) fn address_text(address: SocketAddr) -> String {
    SocketAddr::new(address.ip().to_canonical(), address.port()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(number: u32) -> SocketAddr {
        SocketAddr::from(([10, 0, u8::try_from(number >> 16).unwrap(), 1], u16::try_from(number & 0xffff).unwrap()))
    }

    #[test]
    fn names_that_were_given_up_are_not_proven_any_more() {
        let seats = Seats::default();
        let (ann, address) = (seat(0), seat(0).to_string());
        seats.open(ann);
        seats.note(ann, &["Ann".into(), "Anna".into()]);
        seats.forget(&["Anna".into()]);
        assert!(seats.is_proven(Some(&address), "Ann") && !seats.is_proven(Some(&address), "Anna"));
    }

    #[test]
    fn sockets_that_come_and_go_make_nobody_unproven() {
        let seats = Seats::default();
        let (ann, address) = (seat(0), seat(0).to_string());
        seats.open(ann);
        assert!(seats.note(ann, &["Ann".into()]));
        for number in 1..20_000 {
            seats.open(seat(number));
            seats.note(seat(number), &["Eve".into()]);
            if number % 3 == 0 {
                seats.close(seat(number));
            }
        }
        assert!(seats.is_proven(Some(&address), "Ann") && !seats.is_proven(Some(&address), "Eve"));
        seats.close(ann);
        assert!(!seats.is_proven(Some(&address), "Ann"));
        // Whoever was never let in leaves nothing.
        assert!(!seats.note(ann, &["Ann".into()]) && !seats.is_proven(Some(&address), "Ann"));
    }
}
