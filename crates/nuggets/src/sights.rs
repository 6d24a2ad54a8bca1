//! Sights that are kept: what is visible from a spot depends on the map alone, so it is computed once.

use alloc::{collections::VecDeque, sync::Arc, vec, vec::Vec};

use crate::{
    grid::{Cell, Grid},
    visibility::{Sight, Sighter, Vision},
};

/// Sights by cell, computed at first need and kept within a bound of memory.
///
/// The sight of a spot depends on the map alone, so it never goes stale.
#[derive(Debug, Clone)]
pub struct SightCache {
    vision: Vision,
    sighter: Sighter,
    kept: Vec<Option<Arc<Sight>>>,
    // In order of first need; the first to go when room is needed.
    order: VecDeque<Cell>,
    bytes: usize,
    max_bytes: usize,
}

impl SightCache {
    /// Memory that sights are kept in, unless another bound is given: enough for all spots of any sensible map.
    pub const MAX_BYTES: usize = 16 << 20;

    /// An empty cache that keeps at most `max_bytes` of sights, and always the newest.
    pub fn new(vision: Vision, max_bytes: usize) -> Self {
        Self { vision, sighter: Sighter::default(), kept: vec![], order: VecDeque::new(), bytes: 0, max_bytes }
    }

    /// What is visible from `from` on `grid`, which must be the same at each call.
    pub fn sight(&mut self, grid: &Grid, from: Cell) -> Arc<Sight> {
        self.kept.resize(grid.text().len(), None);
        if let Some(Some(sight)) = self.kept.get(from.index()) {
            return Arc::clone(sight);
        }
        let sight = Arc::new(self.sighter.sight(grid.into(), from, self.vision));
        self.bytes += sight.bytes();
        while self.bytes > self.max_bytes {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(gone) = self.kept[oldest.index()].take() {
                self.bytes -= gone.bytes();
            }
        }
        if let Some(slot) = self.kept.get_mut(from.index()) {
            *slot = Some(Arc::clone(&sight));
            self.order.push_back(from);
        }
        sight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn the_cache_stays_within_its_bound_and_answers_the_same() {
        let text = format!("{}\n", "..+.......|..").repeat(12);
        let grid = Grid::parse(text.as_bytes()).unwrap().0;
        let mut small = SightCache::new(Vision::default(), 2_000);
        let mut plain = Sighter::default();
        for round in 0..3 {
            for &spot in grid.room_spots() {
                let kept = small.sight(&grid, spot);
                assert_eq!(*kept, plain.sight((&grid).into(), spot, Vision::default()), "round {round}, {spot:?}");
                assert!(small.bytes <= 2_000 || small.order.len() == 1);
                assert_eq!(small.kept.iter().flatten().count(), small.order.len());
            }
        }
    }
}
