//! Seats that are held for those who had them when the server was killed.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use netcore::{Digest, Fingerprint, HostId, Time};
use serde::{Deserialize, Serialize};

use crate::name::Name;

/// A table and a seat there.
type Place = (u32, usize);

/// Seats for whom they are held and until when. No more than there are seats at tables.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    // Indexed by host and name, for the look-up when somebody joins.
    places: BTreeSet<(HostId, Name, Place)>,
    dues: BTreeSet<(Time, Place)>,
    by_place: BTreeMap<Place, (HostId, Name, Time)>,
    pub(super) digest: Digest,
}

impl Held {
    /// Holds a seat until `due` for whoever comes from this host and has this name.
    pub(super) fn hold(&mut self, host: HostId, name: Name, place: Place, due: Time) {
        self.digest.toggle_fact(fact(host, &name, place, due));
        self.dues.insert((due, place));
        self.by_place.insert(place, (host, name.clone(), due));
        self.places.insert((host, name, place));
    }

    /// The first seat that is held for whoever comes from this host and has this name. It is held no more.
    pub(super) fn take(&mut self, host: HostId, name: &Name) -> Option<Place> {
        let from = (host, name.clone(), (0, 0));
        let place = self.places.range(from..).next().filter(|held| (held.0, &held.1) == (host, name))?.2;
        self.remove(place);
        Some(place)
    }

    /// A seat whose time is up. It is held no more.
    pub(super) fn late(&mut self, now: Time) -> Option<Place> {
        let &(_, place) = self.dues.first().filter(|(due, _)| *due <= now)?;
        self.remove(place);
        Some(place)
    }

    fn remove(&mut self, place: Place) {
        let Some((host, name, due)) = self.by_place.remove(&place) else { return };
        self.dues.remove(&(due, place));
        self.digest.toggle_fact(fact(host, &name, place, due));
        self.places.remove(&(host, name, place));
    }

    /// When somebody's time is up.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.dues.first().map(|&(due, _)| due)
    }

    /// Which seats are held for whom, and until when.
    pub(super) fn state(&self) -> Vec<HeldState> {
        let held = self.by_place.iter();
        held.map(|(&(table, seat), &(host, _, due))| HeldState { table, seat, host, due }).collect()
    }
}

/// A seat that is held as plain data. The name is in the game.
#[derive(Serialize, Deserialize)]
pub(super) struct HeldState {
    pub(super) table: u32,
    pub(super) seat: usize,
    pub(super) host: HostId,
    pub(super) due: Time,
}

fn fact(host: HostId, name: &Name, (table, seat): Place, due: Time) -> Fingerprint {
    let mut fact = Fingerprint::new();
    fact.add_host(host);
    fact.add_bytes(name.as_str().as_bytes());
    fact.add(u64::from(table));
    fact.add_count(seat);
    fact.add(due.as_nanos());
    fact
}
