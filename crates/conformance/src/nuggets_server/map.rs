//! The map that a server under test is given.

use std::io::Write as _;

use nuggets::Grid;
use tempfile::NamedTempFile;

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

/// Spots of the hall, as row and column, from which a server sees too much or too little that computes crossings as `slope * k + offset`,
/// with numbers of 32 or 64 bits. A program that tried all spots has found them.
pub(super) const TELLING: [(u16, u16); 5] = [(2, 58), (4, 44), (19, 6), (21, 29), (22, 23)];

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

    pub(super) fn path(&self) -> String {
        self.file.path().display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_keeps_all_rules_for_maps() {
        for map in [MAP, HALL] {
            let report = nuggets::check_map(map.as_bytes());
            assert!(report.breaches.is_empty(), "{report}");
        }
        let map = MapFile::new(MAP).unwrap();
        assert!(map.grid.room_spots().len() >= 26 + 30, "{}", map.grid.room_spots().len());
    }
}
