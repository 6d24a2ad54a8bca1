//! The map that a server under test is given.

use std::io::{self, Write as _};

use nuggets::Grid;
use tempfile::{NamedTempFile, TempPath};

/// Small, so that a game takes few keys. Rooms that are no boxes, a pillar, passages that bend, fork and end nowhere, a spot
/// at the edge, and a wall that sight only passes at a slant.
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

/// A hall with many pillars, so large that sight lines pass exactly through gridpoints which numbers with a fraction miss.
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

/// A spot as row and column, and others that a server sees from there, or does not see, against the rule, when it computes crossings as
/// `slope * k + offset` with numbers of 32 or 64 bits.
type Telling = ((u16, u16), &'static [(u16, u16)]);

/// All such spots of the hall that tell of both sizes. A program that tried all has found them.
pub(super) const TELLING: [Telling; 4] = [
    ((2, 58), &[(8, 12), (8, 30), (11, 16)]),
    ((19, 6), &[(1, 20), (13, 50)]),
    ((21, 29), &[(6, 56), (11, 47)]),
    ((22, 23), &[(4, 3)]),
];

/// One room, wide enough for runs and small enough that sight costs little.
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

/// One room in which a player sees all gold from everywhere, with just enough spots for all players and piles.
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

    /// A file without a byte in it.
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
    fn the_map_keeps_all_rules_for_maps() {
        for map in [MAP, HALL, YARD, CLOSET, &large()] {
            let report = nuggets::check_map(map.as_bytes());
            assert!(report.breaches.is_empty(), "{report}");
        }
        let map = MapFile::new(MAP).unwrap();
        assert!(map.grid.room_spots().len() >= 26 + 30, "{}", map.grid.room_spots().len());
    }
}
