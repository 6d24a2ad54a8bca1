use super::*;
use crate::grid::Grid;
use alloc::format;

// A check of each cell would cost 65,000.
#[test]
fn sight_in_long_maps_takes_time_per_word() {
    const WORK: u64 = 5 * (u16::MAX as u64).div_ceil(WORD as u64) + 64;
    let wide = |rows: usize, cols: usize| format!("{}\n", ".".repeat(cols)).repeat(rows);
    for (rows, cols) in [(1, 65_498), (3, 21_002), (16_374, 3), (32_749, 1), (255, 255)] {
        let grid = Grid::parse(wide(rows, cols).as_bytes()).unwrap().0;
        let mut sighter = Sighter::default();
        for &spot in grid.room_spots().iter().step_by(997).chain(grid.room_spots().last()) {
            let sight = sighter.sight((&grid).into(), spot, Vision::default());
            assert!(sight.ranges().map(|range| range.len()).sum::<usize>() == rows * cols);
            assert!(sighter.work() <= WORK, "{rows} x {cols} from {spot:?}: {}", sighter.work());
            assert!(sight.bytes() < 200, "{rows} x {cols} from {spot:?}: {}", sight.bytes());
        }
    }
}
