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

pub(super) struct MapFile {
    pub(super) grid: Grid,
    file: NamedTempFile,
}

impl MapFile {
    pub(super) fn new() -> anyhow::Result<Self> {
        let (grid, _) = Grid::parse(MAP.as_bytes())?;
        let mut file = tempfile::Builder::new().prefix("map").suffix(".txt").tempfile()?;
        file.write_all(MAP.as_bytes())?;
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
        let report = nuggets::check_map(MAP.as_bytes());
        assert!(report.breaches.is_empty(), "{report}");
        let map = MapFile::new().unwrap();
        assert!(map.grid.room_spots().len() >= 26 + 30, "{}", map.grid.room_spots().len());
    }
}
