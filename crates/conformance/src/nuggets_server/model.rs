//! The expected state of the game: a model that receives the same keys.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    io::{self, Write as _},
    iter,
};

use nuggets::{
    Grid, Letter,
    grid::{Cell, Direction, PASSAGE, ROCK, ROOM},
    visibility::{Field, Sight, Sighter, Vision},
};
use tempfile::{NamedTempFile, TempPath};

pub(super) fn cells(text: &[u8]) -> impl Iterator<Item = (Cell, u8)> {
    (0..=u16::MAX).map(Cell).zip(text.iter().copied())
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) steps: usize,
    pub(super) swaps: usize,
    pub(super) piles: u32,
    /// Of these, piles that were taken before and are on the map again.
    pub(super) again: u32,
}

/// A player's view of a cell. The last DISPLAY replaces it, so that a deviation is judged once.
#[derive(Clone, Copy)]
pub(super) struct Knowledge {
    pub(super) shown: u8,
    pub(super) is_new: bool,
    pub(super) was_shown: bool,
    /// Seen only from spots that were reached by a push.
    pub(super) is_by_push: bool,
}

impl Knowledge {
    const UNKNOWN: Self = Self { shown: ROCK, is_new: false, was_shown: false, is_by_push: false };

    /// Whether the next DISPLAY must show the cell.
    pub(super) const fn is_known(self) -> bool {
        self.is_new || self.shown != ROCK
    }
}

#[derive(Clone)]
struct ModelPlayer {
    cell: Cell,
    knowledge: Vec<Knowledge>,
    came_by_passage: bool,
    sight: Sight,
}

#[derive(Clone)]
pub(super) struct Model {
    pub(super) grid: Grid,
    pub(super) piles: BTreeSet<Cell>,
    // How often a pile was taken from each cell. The server may still show one there.
    takes: BTreeMap<Cell, u32>,
    players: BTreeMap<Letter, ModelPlayer>,
    sighter: Sighter,
}

impl Model {
    pub(super) fn new(grid: Grid, piles: BTreeSet<Cell>) -> Self {
        Self { grid, piles, takes: BTreeMap::new(), players: BTreeMap::new(), sighter: Sighter::default() }
    }

    pub(super) fn place(&mut self, letter: Letter, cell: Cell) {
        let knowledge = vec![Knowledge::UNKNOWN; self.grid.text().len()];
        self.players.insert(letter, ModelPlayer { cell, knowledge, came_by_passage: false, sight: Sight::default() });
        self.update_sight(letter, false);
    }

    pub(super) fn adopt(&mut self, letter: Letter, display: &[u8]) {
        let Some(player) = self.players.get_mut(&letter) else { return };
        player.came_by_passage = false;
        for (knowledge, &shown) in player.knowledge.iter_mut().zip(display) {
            *knowledge = Knowledge {
                shown,
                is_new: false,
                was_shown: knowledge.was_shown || shown != ROCK,
                is_by_push: knowledge.is_by_push && shown != ROCK,
            };
        }
    }

    pub(super) fn correct(&mut self, letter: Letter, cell: Cell) {
        if self.cell(letter) == Some(cell) {
            return;
        }
        if !self.players.contains_key(&letter) {
            self.place(letter, cell);
        }
        self.go(letter, cell, false);
    }

    pub(super) fn letters(&self) -> impl Iterator<Item = Letter> {
        self.players.keys().copied()
    }

    pub(super) fn remove(&mut self, letter: Letter) {
        self.players.remove(&letter);
    }

    pub(super) fn cell(&self, letter: Letter) -> Option<Cell> {
        self.players.get(&letter).map(|player| player.cell)
    }

    /// Keys other than steps have no effect.
    pub(super) fn apply(&mut self, letter: Letter, key: u8) -> Effect {
        let mut effect = Effect::default();
        let Some(direction) = Direction::from_key(key.to_ascii_lowercase()) else { return effect };
        while let Some(from) = self.cell(letter)
            && let Some(to) = self.grid.step(from, direction)
        {
            effect.steps += 1;
            let other = self.players.iter().find(|(_, player)| player.cell == to).map(|(&letter, _)| letter);
            if let Some(other) = other {
                effect.swaps += 1;
                self.go(other, from, true);
            }
            self.go(letter, to, false);
            if self.piles.remove(&to) {
                effect.piles += 1;
                let takes = self.takes.entry(to).or_default();
                effect.again += u32::from(*takes > 0);
                *takes += 1;
            }
            if key.is_ascii_lowercase() {
                break;
            }
        }
        effect
    }

    pub(super) fn forecast(&self, letter: Letter, key: u8) -> (Self, Effect) {
        let mut model = self.clone();
        let effect = model.apply(letter, key);
        (model, effect)
    }

    fn go(&mut self, letter: Letter, to: Cell, is_pushed: bool) {
        if let Some(player) = self.players.get_mut(&letter) {
            player.cell = to;
            player.came_by_passage |= self.grid.at(to) == PASSAGE;
        }
        self.update_sight(letter, is_pushed);
    }

    fn update_sight(&mut self, letter: Letter, is_pushed: bool) {
        let Some(player) = self.players.get_mut(&letter) else { return };
        player.sight = self.sighter.sight(Field::from(&self.grid), player.cell, Vision::default());
        for range in player.sight.ranges() {
            for knowledge in &mut player.knowledge[range] {
                knowledge.is_by_push = is_pushed && (knowledge.is_by_push || !knowledge.is_known());
                knowledge.is_new |= !knowledge.is_known();
            }
        }
    }

    pub(super) fn board(&self) -> Vec<u8> {
        let piles = self.piles.iter().map(|&cell| (cell, b'*'));
        let players = self.players.iter().map(|(letter, player)| (player.cell, letter.byte()));
        let mut text = self.grid.text().to_vec();
        for (cell, byte) in piles.chain(players) {
            text[cell.index()] = byte;
        }
        text
    }

    pub(super) fn came_by_passage(&self, letter: Letter) -> bool {
        self.players.get(&letter).is_some_and(|player| player.came_by_passage || self.grid.at(player.cell) == PASSAGE)
    }

    pub(super) fn is_other_in_passage(&self, letter: Letter) -> bool {
        self.players.iter().any(|(of, other)| *of != letter && self.grid.at(other.cell) == PASSAGE)
    }

    pub(super) fn sees(&self, letter: Letter, cell: Cell) -> bool {
        self.players.get(&letter).is_some_and(|player| player.sight.contains(cell))
    }

    pub(super) fn knowledge(&self, letter: Letter, cell: Cell) -> Knowledge {
        self.players.get(&letter).map_or(Knowledge::UNKNOWN, |player| player.knowledge[cell.index()])
    }

    pub(super) fn knows(&self, letter: Letter, cell: Cell) -> bool {
        self.knowledge(letter, cell).is_known()
    }

    pub(super) fn remembers(&self, letter: Letter) -> bool {
        (0..=u16::MAX)
            .map(Cell)
            .take(self.grid.text().len())
            .any(|cell| self.knows(letter, cell) && !self.sees(letter, cell))
    }

    /// Whether the cell is in a passage, away from rooms.
    pub(super) fn is_deep(&self, cell: Cell) -> bool {
        let room = |direction| self.grid.step(cell, direction).is_some_and(|next| self.grid.at(next) == ROOM);
        self.grid.at(cell) == PASSAGE && !Direction::ALL.into_iter().any(room)
    }

    /// A shortest path with the steps in `keys`. Empty on a wanted spot.
    pub(super) fn path(&self, letter: Letter, keys: &[u8], wanted: impl Fn(Cell) -> bool) -> Option<Vec<u8>> {
        if wanted(self.cell(letter)?) {
            return Some(Vec::new());
        }
        self.search(letter, keys, |_, _| true, |from, key| self.passed(from, key).last().is_some_and(&wanted))
    }

    /// Prefers paths without other players. Piles that were taken before come last.
    pub(super) fn hunt(&self, letter: Letter, keys: &[u8]) -> Option<Vec<u8>> {
        let count = |cell: &Cell| self.takes.get(cell).copied().unwrap_or(0);
        let least = self.piles.iter().map(count).min();
        let is_wanted = |cell: Cell| self.piles.contains(&cell) && Some(count(&cell)) == least;
        let is_taking = |from, key| self.passed(from, key).any(is_wanted);
        let is_free = |from, key| {
            let mut others = self.players.iter().filter(|(other, _)| **other != letter).map(|(_, other)| other.cell);
            !others.any(|other| self.passed(from, key).any(|cell| cell == other))
        };
        self.search(letter, keys, is_free, is_taking).or_else(|| self.search(letter, keys, |_, _| true, is_taking))
    }

    pub(super) fn was_taken(&self, cell: Cell) -> bool {
        self.takes.contains_key(&cell)
    }

    /// Whether the run passes the other player and gold.
    pub(super) fn runs_through(&self, from: Cell, key: u8, other: Letter) -> bool {
        let place = self.cell(other);
        self.passed(from, key).any(|cell| Some(cell) == place)
            && self.passed(from, key).any(|cell| self.piles.contains(&cell))
    }

    pub(super) fn runs_over_gold(&self, from: Cell, key: u8) -> bool {
        let spots: Vec<Cell> = self.passed(from, key).collect();
        spots.split_last().is_some_and(|(_, before)| before.iter().any(|cell| self.piles.contains(cell)))
    }

    fn search(
        &self,
        letter: Letter,
        keys: &[u8],
        may: impl Fn(Cell, u8) -> bool,
        wanted: impl Fn(Cell, u8) -> bool,
    ) -> Option<Vec<u8>> {
        let start = self.cell(letter)?;
        let mut seen = BTreeSet::from([start]);
        let mut queue = VecDeque::from([(start, Vec::new())]);
        while let Some((cell, path)) = queue.pop_front() {
            for &key in keys.iter().filter(|key| may(cell, **key)) {
                let longer = [&path[..], &[key]].concat();
                if wanted(cell, key) {
                    return Some(longer);
                }
                if let Some(end) = self.passed(cell, key).last()
                    && seen.insert(end)
                {
                    queue.push_back((end, longer));
                }
            }
        }
        None
    }

    fn passed(&self, from: Cell, key: u8) -> impl Iterator<Item = Cell> {
        let direction = Direction::from_key(key.to_ascii_lowercase());
        let spots = iter::successors(Some(from), move |&at| self.grid.step(at, direction?)).skip(1);
        spots.take(if key.is_ascii_lowercase() { 1 } else { usize::MAX })
    }
}

/// Small, so that a game takes few keys. It has rooms that are not rectangular, a pillar, passages that bend, fork and
/// lead nowhere, a spot at the edge, and a wall that sight passes only at an angle.
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

/// Has many pillars. Sight lines pass exactly through gridpoints that floating-point numbers miss.
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

/// A spot (row, column), and the spots that a server wrongly sees or misses from it if it computes crossings as
/// `slope * k + offset` with floating-point numbers of 32 or 64 bits.
type Telling = ((u16, u16), &'static [(u16, u16)]);

/// By exhaustive search, all spots that reveal errors with both sizes of numbers.
pub(super) const TELLING: [Telling; 4] = [
    ((2, 58), &[(8, 12), (8, 30), (11, 16)]),
    ((19, 6), &[(1, 20), (13, 50)]),
    ((21, 29), &[(6, 56), (11, 47)]),
    ((22, 23), &[(4, 3)]),
];

/// One room, wide enough for runs, with fast sight.
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

/// All gold is visible from every spot, and the spots just suffice for all players and piles.
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
pub(super) fn large_map() -> String {
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
        for map in [MAP, HALL, YARD, CLOSET, &large_map()] {
            let report = nuggets::check_map(map.as_bytes());
            assert!(report.breaches.is_empty(), "{report}");
        }
        let map = MapFile::new(MAP).unwrap();
        assert!(map.grid.room_spots().len() >= 26 + 30, "{}", map.grid.room_spots().len());
    }
}
