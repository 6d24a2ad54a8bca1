//! Sights that are kept: what is visible from a spot depends on the map alone, so it is computed once.

use alloc::{sync::Arc, vec, vec::Vec};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::{
    grid::{Cell, Grid},
    visibility::{Sight, Sighter, Vision},
};

/// Sights by cell, computed at first need and kept within a bound of memory.
///
/// The sight of a spot depends on the map alone, so it never goes stale. Players go round: whoever comes back to a spot
/// has visited all the others meanwhile, so of more sights than there is room for, the oldest is the worst to give up. A
/// new sight takes the place of any others, by lot, and only once in a while. So of sights that are needed in turn about
/// as many are found as fit, and what is needed often gets in before long.
#[derive(Debug, Clone)]
pub(crate) struct SightCache {
    vision: Vision,
    sighter: Sighter,
    kept: Vec<Option<Arc<Sight>>>,
    // Those that are kept, in no order.
    spots: Vec<Cell>,
    bytes: usize,
    max_bytes: usize,
    // Lots decide what is kept and never what is answered; they are the same in each game.
    lots: Pcg32,
}

impl SightCache {
    /// Memory that sights are kept in, unless another bound is given: enough for all spots of any sensible map.
    pub(crate) const MAX_BYTES: usize = 16 << 20;

    /// Once there is no more room, one in so many new sights is kept.
    const ONE_IN: u32 = 16;

    /// An empty cache that keeps at most `max_bytes` of sights.
    pub(crate) fn new(vision: Vision, max_bytes: usize) -> Self {
        let lots = Pcg32::seed_from_u64(0);
        Self { vision, sighter: Sighter::default(), kept: vec![], spots: vec![], bytes: 0, max_bytes, lots }
    }

    /// What is visible from `from` on `grid`, which must be the same at each call.
    pub(crate) fn sight(&mut self, grid: &Grid, from: Cell) -> Arc<Sight> {
        if self.kept.is_empty() {
            self.kept.resize(grid.text().len(), None);
            self.sighter.prepare(grid.into());
        }
        if let Some(Some(sight)) = self.kept.get(from.index()) {
            return Arc::clone(sight);
        }
        let sight = Arc::new(self.sighter.look(from, self.vision));
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
    fn the_cache_stays_within_its_bound_and_answers_the_same() {
        let grid = grid("..+.......|..", 12);
        // Nothing fits, very little, some, all.
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
    fn of_sights_that_are_needed_in_turn_a_fair_share_is_found() {
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
    fn a_spot_that_is_needed_often_gets_in() {
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
