//! Seats that are held for those who had them when the server was killed.

use alloc::collections::{BTreeMap, BTreeSet};
use netcore::{Digest, Fingerprint, HostId, Time};

use crate::name::Name;

/// A table and a seat there.
type Place = (u32, usize);

/// Seats for whom they are held and until when. No more than there are seats at tables.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    // Indexed by host and name, for the look-up when somebody joins.
    places: BTreeSet<(HostId, Name, Place)>,
    dues: BTreeMap<(Time, Place), (HostId, Name)>,
    by_place: BTreeMap<Place, (HostId, Time)>,
    pub(super) digest: Digest,
}

impl Held {
    /// Holds a seat until `due` for whoever comes from this host and has this name.
    pub(super) fn hold(&mut self, host: HostId, name: Name, place: Place, due: Time) {
        self.digest.toggle_fact(fact(host, &name, place, due));
        self.by_place.insert(place, (host, due));
        self.dues.insert((due, place), (host, name.clone()));
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
        let (&(_, place), _) = self.dues.first_key_value().filter(|((due, _), _)| *due <= now)?;
        self.remove(place);
        Some(place)
    }

    fn remove(&mut self, place: Place) {
        let Some((host, due)) = self.by_place.remove(&place) else { return };
        let Some((_, name)) = self.dues.remove(&(due, place)) else { return };
        self.digest.toggle_fact(fact(host, &name, place, due));
        self.places.remove(&(host, name, place));
    }

    /// When somebody's time is up.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.dues.first_key_value().map(|(&(due, _), _)| due)
    }

    /// For whom a seat is held, and until when.
    pub(super) fn at(&self, place: Place) -> Option<(HostId, Time)> {
        self.by_place.get(&place).copied()
    }
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
