//! A cache of sights. Sights depend on the map alone, so entries never become stale.

use alloc::{sync::Arc, vec, vec::Vec};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::{
    grid::{Cell, Grid},
    visibility::{Sight, Sighter, Vision},
};

/// Computes sights on first use, and caches them up to a memory limit.
///
/// Players walk in rounds and visit all other spots before they return to one, so the oldest entry is the worst one to
/// evict. A full cache inserts only one in `ONE_IN` new sights and evicts random entries, so that cyclic access hits
/// about as many entries as fit.
#[derive(Debug, Clone)]
pub(crate) struct SightCache {
    vision: Vision,
    sighter: Sighter,
    kept: Vec<Option<Arc<Sight>>>,
    spots: Vec<Cell>,
    bytes: usize,
    max_bytes: usize,
    // Decide which sights are cached; they never affect a result.
    lots: Pcg32,
}

impl SightCache {
    /// The default memory limit in bytes: all spots of any sensible map fit.
    pub(crate) const MAX_BYTES: usize = 16 << 20;

    const ONE_IN: u32 = 16;

    pub(crate) fn new(vision: Vision, max_bytes: usize) -> Self {
        let lots = Pcg32::seed_from_u64(0);
        Self { vision, sighter: Sighter::default(), kept: vec![], spots: vec![], bytes: 0, max_bytes, lots }
    }

    /// `grid` must be the same at each call.
    pub(crate) fn sight(&mut self, grid: &Grid, from: Cell) -> Arc<Sight> {
        if self.kept.is_empty() {
            self.kept.resize(grid.text().len(), None);
            self.sighter.prepare(grid.into());
        }
        if let Some(Some(sight)) = self.kept.get(from.index()) {
            return Arc::clone(sight);
        }
        let sight = Arc::new(self.sighter.compute(from, self.vision));
        self.keep(from, &sight);
        sight
    }

    fn keep(&mut self, from: Cell, sight: &Arc<Sight>) {
        let bytes = sight.bytes();
        let is_full = self.bytes + bytes > self.max_bytes;
        if bytes > self.max_bytes || (is_full && self.lots.random_range(0..Self::ONE_IN) > 0) {
            return;
        }
        while self.bytes + bytes > self.max_bytes && !self.spots.is_empty() {
            let spot = self.spots.swap_remove(self.lots.random_range(0..self.spots.len()));
            self.bytes -= self.kept[spot.index()].take().map_or(0, |gone| gone.bytes());
        }
        if let Some(slot) = self.kept.get_mut(from.index()) {
            *slot = Some(Arc::clone(sight));
            self.spots.push(from);
            self.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(row: &str, rows: usize) -> Grid {
        Grid::parse([row, "\n"].concat().repeat(rows).as_bytes()).unwrap().0
    }

    #[test]
    fn cache_stays_within_its_bound_and_returns_correct_sights() {
        let grid = grid("..+.......|..", 12);
        // Limits for no sight, very few, some, and all.
        for max_bytes in [0, 200, 2_000, 1 << 20] {
            let mut small = SightCache::new(Vision::default(), max_bytes);
            let mut plain = Sighter::default();
            for round in 0..3 {
                for &spot in grid.room_spots() {
                    let kept = small.sight(&grid, spot);
                    assert_eq!(*kept, plain.sight((&grid).into(), spot, Vision::default()), "round {round}, {spot:?}");
                    let sights = || small.kept.iter().flatten();
                    assert_eq!(sights().map(|sight| sight.bytes()).sum::<usize>(), small.bytes);
                    assert_eq!(sights().count(), small.spots.len());
                    assert!(small.bytes <= max_bytes);
                }
            }
            assert_eq!(small.spots.is_empty(), max_bytes == 0);
        }
    }

    #[test]
    fn cache_serves_a_share_of_sights_used_in_turn() {
        let grid = grid(".+..+...", 40);
        let mut all = SightCache::new(Vision::default(), usize::MAX);
        grid.room_spots().iter().for_each(|&spot| drop(all.sight(&grid, spot)));
        let mut half = SightCache::new(Vision::default(), all.bytes / 2);
        let mut found = 0;
        for round in 0..40 {
            for &spot in grid.room_spots() {
                found += usize::from(round >= 20 && half.kept.get(spot.index()).is_some_and(Option::is_some));
                half.sight(&grid, spot);
            }
        }
        let share = found * 100 / (20 * grid.room_spots().len());
        assert!(share >= 35, "{share} % are found of the 50 % that fit");
    }

    #[test]
    fn frequently_used_spot_is_cached() {
        let grid = grid(".+..+...", 40);
        let mut cache = SightCache::new(Vision::default(), 4_000);
        grid.room_spots().iter().for_each(|&spot| drop(cache.sight(&grid, spot)));
        let spot = *grid.room_spots().iter().find(|spot| cache.kept[spot.index()].is_none()).unwrap();
        let visits = (1..1_000).find(|_| {
            cache.sight(&grid, spot);
            cache.kept[spot.index()].is_some()
        });
        assert!(visits.is_some_and(|visits| visits <= 8 * SightCache::ONE_IN), "{visits:?}");
    }
}
