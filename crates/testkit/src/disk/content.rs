//! The content of a simulated file, and what a power cut may leave of it.

use std::collections::BTreeMap;

use rand::{Rng, RngExt};

/// Bytes of an atomic write.
const SECTOR: usize = 512;

type Sector = [u8; SECTOR];

#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) written: Vec<u8>,
    /// The content that certainly survives a power cut.
    pub(super) synced: Vec<u8>,
    // Versions of each sector since the last sync; a power cut may leave any of them.
    unsynced: BTreeMap<usize, Vec<Sector>>,
    // Since the last sync.
    lengths: Vec<usize>,
    // Sectors whose sync failed: the system considers them clean.
    forgotten: BTreeMap<usize, Vec<Sector>>,
}

impl Content {
    pub(super) fn synced(bytes: Vec<u8>) -> Self {
        Self { written: bytes.clone(), synced: bytes, ..Self::default() }
    }

    /// Forgotten sectors keep their content on the disk.
    pub(super) fn settle(&mut self) {
        self.synced.resize(self.written.len(), 0);
        for sector in std::mem::take(&mut self.unsynced).into_keys() {
            put(&mut self.synced, sector, &get(&self.written, sector));
            self.forgotten.remove(&sector);
        }
        self.lengths.clear();
    }

    /// The system reports a failed sync once, and then considers the data clean.
    pub(super) fn fail_to_settle(&mut self) {
        let lost = std::mem::take(&mut self.unsynced);
        self.forgotten.extend(lost);
    }

    pub(super) fn cut_power(&mut self, rng: &mut impl Rng) {
        let mut lengths = std::mem::take(&mut self.lengths);
        lengths.extend([self.written.len(), self.synced.len()]);
        let mut length = lengths[rng.random_range(0..lengths.len())];
        let most = lengths.iter().copied().max().unwrap_or(0).max(self.synced.len());
        if rng.random_range(0..4) == 0 && most > self.synced.len() {
            length = rng.random_range(self.synced.len()..=most);
        }
        // Loses most sectors, about half, or few.
        let survives = [5, 50, 95][rng.random_range(0..3)];
        let mut left = std::mem::take(&mut self.synced);
        left.resize(most, 0);
        for (&sector, versions) in self.forgotten.iter().chain(&self.unsynced) {
            // The first version is the content before the writes.
            if rng.random_range(0..100) < survives {
                let newest = rng.random_range(0..4) > 0;
                let version = if newest { versions.len() - 1 } else { rng.random_range(0..versions.len()) };
                put(&mut left, sector, &versions[version]);
            } else if rng.random_range(0..8) == 0 {
                let torn = rng.random_range(0..SECTOR);
                let mut mixed = versions[0];
                mixed[..torn].copy_from_slice(&versions[versions.len() - 1][..torn]);
                put(&mut left, sector, &mixed);
            }
        }
        left.truncate(length);
        *self = Self::synced(left);
    }

    pub(super) fn change(&mut self, offset: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let end = offset + bytes.len();
        let sectors = offset / SECTOR..=(end - 1) / SECTOR;
        self.remember_synced(sectors.clone());
        if self.written.len() < end {
            self.written.resize(end, 0);
            self.lengths.push(end);
        }
        self.written[offset..end].copy_from_slice(bytes);
        self.remember(sectors);
    }

    pub(super) fn truncate(&mut self, length: usize) {
        let before = self.written.len();
        if length == before {
            return;
        }
        let sectors = length.min(before) / SECTOR..length.max(before).div_ceil(SECTOR);
        self.remember_synced(sectors.clone());
        self.written.resize(length, 0);
        self.lengths.push(length);
        self.remember(sectors);
    }

    pub(super) fn rot(&mut self, offset: usize, bit: u32) {
        for bytes in [&mut self.written, &mut self.synced] {
            if let Some(byte) = bytes.get_mut(offset) {
                *byte ^= 1 << (bit % 8);
            }
        }
    }

    fn remember_synced(&mut self, sectors: impl Iterator<Item = usize>) {
        for sector in sectors {
            let before = get(&self.synced, sector);
            self.unsynced.entry(sector).or_insert_with(|| vec![before]);
        }
    }

    fn remember(&mut self, sectors: impl Iterator<Item = usize>) {
        for sector in sectors {
            let now = get(&self.written, sector);
            self.unsynced.entry(sector).or_default().push(now);
        }
    }
}

fn get(file: &[u8], sector: usize) -> Sector {
    let mut bytes = [0; SECTOR];
    let rest = file.get(sector * SECTOR..).unwrap_or_default();
    let length = rest.len().min(SECTOR);
    bytes[..length].copy_from_slice(&rest[..length]);
    bytes
}

// Does not extend the file.
fn put(file: &mut [u8], sector: usize, bytes: &Sector) {
    let rest = file.get_mut(sector * SECTOR..).unwrap_or_default();
    let length = rest.len().min(SECTOR);
    rest[..length].copy_from_slice(&bytes[..length]);
}
