//! The maps for a server under test.

use std::io::{self, Write as _};

use nuggets::Grid;
use tempfile::{NamedTempFile, TempPath};

/// A small map, so that a game takes few keys. It has rooms that are not rectangular, a pillar, passages that bend,
/// fork and lead nowhere, a spot at the edge, and a wall that sight passes only at an angle.
pub(super) const MAP: &str = "\
+-------+                 +----+
|.......|    +------+     |....|
|.......|    |......|     |....|
|..+-+..######......#######....|
|..+-+..|  # |......|  #  +-+..|
|.......|  # |...+--+  #    |..|
|.......|  # |...|     #    |..|
+----#--+    |...######## +-+..|
     #       +---+      # |....|
     #                  ###....|
     ####  +----------+   |....|
        #  |..........|   +----+
        ####..........|         
           |.......+--+         
           +-------+            
";

/// A hall with many pillars. It is so large that sight lines pass exactly through gridpoints which floating-point
/// numbers miss.
pub(super) const HALL: &str = "\
+--------------------------------------------------------------+
|..............................................................|
|......................+-+.....................................|
|......................+-+...............................+-+...|
|...........................+-+..+-+.....................+-+...|
|...........................+-+..+-+........+-+................|
|........+-+................................+-+....+-+.........|
|........+-+...........................+-+.........+-+.........|
|......................+-+.....+-+.....+-+.....................|
|..........+-+.........+-+.....+-+.............................|
|...+-+....+-+...........................................+-+...|
|...+-+..................................................+-+...|
|............+-+....+-+.................+-+....................|
|....+-+.....+-+....+-+.+-+.............+-+....................|
|....+-+................+-+.........................+-+..+-+...|
|.................+-+...............+-+....+-+.+-+..+-+..+-+...|
|.................+-+.......+-+.....+-+....+-+.+-+.............|
|........+-+............+-+.+-+................................|
|........+-+...+-+......+-+....................................|
|.+-+..........+-+..........+-+......+-+..........+-+..........|
|.+-+...................+-+.+-+......+-+..........+-+..+-+.....|
|.......................+-+............................+-+.....|
|..............................................................|
+--------------------------------------------------------------+
";

/// A spot as row and column, and other spots that a server wrongly sees or does not see from there if it computes
/// crossings as `slope * k + offset` with floating-point numbers of 32 or 64 bits.
type Telling = ((u16, u16), &'static [(u16, u16)]);

/// All spots of the hall that reveal errors with both sizes of numbers. A program has found them by exhaustive search.
pub(super) const TELLING: [Telling; 4] = [
    ((2, 58), &[(8, 12), (8, 30), (11, 16)]),
    ((19, 6), &[(1, 20), (13, 50)]),
    ((21, 29), &[(6, 56), (11, 47)]),
    ((22, 23), &[(4, 3)]),
];

/// One room, wide enough for runs and small enough for fast computation of sight.
pub(super) const YARD: &str = "\
+--------------------+
|....................|
|....................|
|....................|
|....................|
|....................|
|....................|
|....................|
|....................|
|....................|
+--------------------+
";

/// One room whose gold is visible from every spot, with just enough spots for all players and piles.
pub(super) const CLOSET: &str = "\
+----------+
|..........|
|..........|
|..........|
|..........|
|..........|
|..........|
+----------+
";

/// A map whose DISPLAY nearly fills a datagram.
pub(super) fn large() -> String {
    let wall = format!("+{}+\n", "-".repeat(398));
    let row = format!("|{}|\n", ".".repeat(398));
    [&*wall, &row.repeat(158), &wall].concat()
}

pub(super) struct MapFile {
    pub(super) grid: Grid,
    file: NamedTempFile,
}

impl MapFile {
    pub(super) fn new(map: &str) -> anyhow::Result<Self> {
        let (grid, _) = Grid::parse(map.as_bytes())?;
        let mut file = tempfile::Builder::new().prefix("map").suffix(".txt").tempfile()?;
        file.write_all(map.as_bytes())?;
        file.flush()?;
        Ok(Self { grid, file })
    }

    /// An empty file.
    pub(super) fn empty() -> io::Result<TempPath> {
        NamedTempFile::new().map(NamedTempFile::into_temp_path)
    }

    pub(super) fn path(&self) -> String {
        self.file.path().display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn map_is_valid() {
        for map in [MAP, HALL, YARD, CLOSET, &large()] {
            let report = nuggets::check_map(map.as_bytes());
            assert!(report.breaches.is_empty(), "{report}");
        }
        let map = MapFile::new(MAP).unwrap();
        assert!(map.grid.room_spots().len() >= 26 + 30, "{}", map.grid.room_spots().len());
    }
}
