//! The part of the game that each client may see, as DISPLAY messages.
//!
//! A picture contains the player's own place (`@`), the letters and piles in sight, and the bare map of the cells seen
//! before. Messages contain nothing else, so hidden information cannot leak.
//!
//! A picture is stored as its DISPLAY message and patched where cells change. A move costs the size of the mover's
//! sight plus a few cells for the other players, not the size of the map.

use alloc::{boxed::Box, collections::BTreeMap, sync::Arc, vec, vec::Vec};
use core::mem;

use bytes::{BufMut, Bytes, BytesMut};
use netcore::Framing;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};

use crate::{
    game::{Event, Game, PlayerId},
    grid::{Cell, Grid, PASSAGE, ROCK, ROOM},
    protocol::{DISPLAY_HEADER, LENGTH_PREFIX},
    visibility::{Sight, Sighter, Vision},
};

/// Computed sights between two checks for players who know the whole map.
const ROUND: u32 = 64;

/// A player in its own picture.
pub const SELF: u8 = b'@';

/// Offset of the first row in a message with a length prefix.
const TEXT: usize = LENGTH_PREFIX + DISPLAY_HEADER.len();

/// A DISPLAY message with the length prefix for streams, patched in place unless a pending send shares it.
#[derive(Debug, Clone)]
struct Picture {
    frame: Bytes,
}

impl Picture {
    fn of(text: &[u8]) -> Self {
        let mut frame = BytesMut::with_capacity(TEXT + text.len());
        frame.put_u32(u32::try_from(DISPLAY_HEADER.len() + text.len()).unwrap_or(u32::MAX));
        frame.put_slice(DISPLAY_HEADER);
        frame.put_slice(text);
        Self { frame: frame.freeze() }
    }

    fn blank(grid: &Grid) -> Self {
        let blank: Vec<u8> = grid.text().iter().map(|&byte| if byte == b'\n' { byte } else { ROCK }).collect();
        Self::of(&blank)
    }

    fn message(&self, framing: Framing) -> Bytes {
        match framing {
            Framing::Whole => self.frame.slice(LENGTH_PREFIX..),
            Framing::Stream => self.frame.clone(),
        }
    }

    fn text(&self) -> &[u8] {
        &self.frame[TEXT..]
    }

    fn edit(&mut self, change: impl FnOnce(&mut [u8])) {
        let mut frame = mem::take(&mut self.frame).try_into_mut().unwrap_or_else(|shared| BytesMut::from(&*shared));
        change(&mut frame[TEXT..]);
        self.frame = frame.freeze();
    }

    fn draw(&mut self, game: &Game, cells: impl IntoIterator<Item = Cell>) {
        self.edit(|text| cells.into_iter().for_each(|cell| text[cell.index()] = game.content(cell)));
    }
}

#[derive(Debug, Clone)]
struct Viewer {
    cell: Cell,
    picture: Picture,
    // The sight from `looked_from`, drawn in the picture.
    sight: Arc<Sight>,
    looked_from: Cell,
    visited: Spots,
    // Number of seen cells that are not rock, which looks like an unseen cell.
    known: usize,
}

impl Viewer {
    fn at(cell: Cell, grid: &Grid) -> Self {
        let (picture, visited) = (Picture::blank(grid), Spots::none(grid));
        Self { cell, picture, sight: Arc::default(), looked_from: cell, visited, known: 0 }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Spots(Box<[u64]>);

impl Spots {
    fn none(grid: &Grid) -> Self {
        Self(vec![0; grid.text().len().div_ceil(64)].into())
    }

    fn contains(&self, cell: Cell) -> bool {
        self.0.get(cell.index() / 64).is_some_and(|word| word >> (cell.0 % 64) & 1 != 0)
    }

    fn insert(&mut self, cell: Cell) -> bool {
        let bit = 1 << (cell.0 % 64);
        self.0.get_mut(cell.index() / 64).is_some_and(|word| mem::replace(word, *word | bit) & bit == 0)
    }
}

#[derive(Debug, Clone)]
struct Change {
    player: PlayerId,
    before: Arc<Sight>,
    // Whether another sight was drawn on the way, as bare map without gold and players.
    learned: bool,
}

/// The pictures of one game: one for each active player, and the whole map for spectators.
#[derive(Debug, Clone)]
pub struct Views {
    board: Picture,
    drawn: usize,
    viewers: BTreeMap<PlayerId, Viewer>,
    sights: SightCache,
    // Cells changed by the current input.
    touched: Vec<Cell>,
    changes: Vec<Change>,
}

impl Views {
    /// The pictures of a game without players.
    pub fn new(game: &Game) -> Self {
        let mut board = Picture::of(game.grid().text());
        board.draw(game, game.piles().keys().copied());
        Self {
            board,
            drawn: drawn(game.grid().text()),
            viewers: BTreeMap::new(),
            sights: SightCache::new(game.rules().vision, SightCache::MAX_BYTES),
            touched: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// The DISPLAY message of an active player.
    pub fn player(&self, player: PlayerId, framing: Framing) -> Option<Bytes> {
        self.viewers.get(&player).map(|viewer| viewer.picture.message(framing))
    }

    /// The DISPLAY message of a spectator.
    pub fn spectator(&self, framing: Framing) -> Bytes {
        self.board.message(framing)
    }

    pub(crate) fn is_seen(&self, cell: Cell) -> bool {
        self.viewers.values().any(|viewer| viewer.picture.text().get(cell.index()).is_some_and(|&byte| byte != ROCK))
    }

    /// Applies the changes of one input. `game` is the state after `events`.
    pub fn update(&mut self, game: &Game, events: &[Event]) {
        self.touched.clear();
        self.changes.clear();
        for event in events {
            match *event {
                Event::Joined(player, cell) => {
                    self.touched.push(cell);
                    self.viewers.insert(player, Viewer::at(cell, game.grid()));
                    self.move_to(game.grid(), player, cell);
                }
                Event::Moved { player, from, to } => {
                    self.touched.extend([from, to]);
                    self.move_to(game.grid(), player, to);
                }
                Event::Left(player, cell) => {
                    self.touched.push(cell);
                    self.viewers.remove(&player);
                }
                Event::Dropped(cell) => self.touched.push(cell),
                // The collector moved to that cell.
                Event::Collected(..) | Event::Stolen { .. } => {}
            }
        }
        self.touched.sort_unstable();
        self.touched.dedup();
        let Self { board, viewers, sights, touched, changes, .. } = self;
        board.draw(game, touched.iter().copied());
        let board = board.text();
        for (&player, viewer) in viewers {
            let Viewer { cell, picture, sight, looked_from, .. } = viewer;
            let change = changes.iter().find(|change| change.player == player);
            if change.is_some() && looked_from != cell {
                (*sight, *looked_from) = (sights.sight(game.grid(), *cell), *cell);
            }
            if let Some(Change { before, .. }) = change.filter(|change| change.learned || change.before != *sight) {
                picture.edit(|text| {
                    // Cells that left the sight become bare map; cells in sight show their content.
                    before.ranges().for_each(|range| text[range.clone()].copy_from_slice(&game.grid().text()[range]));
                    sight.ranges().for_each(|range| text[range.clone()].copy_from_slice(&board[range]));
                    text[cell.index()] = SELF;
                });
            } else if change.is_some() || touched.iter().any(|&touched| sight.contains(touched)) {
                picture.edit(|text| {
                    for &touched in touched.iter().filter(|&&touched| sight.contains(touched)) {
                        text[touched.index()] = board[touched.index()];
                    }
                    text[cell.index()] = SELF;
                });
            }
        }
    }

    fn move_to(&mut self, grid: &Grid, player: PlayerId, to: Cell) {
        let Some(viewer) = self.viewers.get_mut(&player) else { return };
        viewer.cell = to;
        let index = self.changes.iter().position(|change| change.player == player).unwrap_or_else(|| {
            self.changes.push(Change { player, before: Arc::clone(&viewer.sight), learned: false });
            self.changes.len() - 1
        });
        // A player that visited this spot already knows all cells visible from it.
        if !viewer.visited.insert(to) {
            return;
        }
        if viewer.known == self.drawn {
            return;
        }
        let sight = self.sights.sight(grid, to);
        // In an empty hall all spots have the same sight.
        if sight != viewer.sight {
            viewer.picture.edit(|text| {
                for range in sight.ranges() {
                    let (shown, bare) = (&mut text[range.clone()], &grid.text()[range]);
                    viewer.known += drawn(bare) - drawn(shown);
                    shown.copy_from_slice(bare);
                }
            });
            self.changes[index].learned = true;
        }
        (viewer.sight, viewer.looked_from) = (sight, to);
    }
}

// Players and gold count as the spots below them.
fn drawn(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte != ROCK && byte != b'\n').count()
}

/// The visited spots, one bit per cell, determine what a player knows. Restoring computes one sight per spot, about as
/// much work as the moves took.
impl Views {
    pub(crate) fn state(&self) -> Vec<Spots> {
        self.viewers.values().map(|viewer| viewer.visited.clone()).collect()
    }

    pub(crate) fn restore(game: &Game, visited: Vec<Spots>) -> Self {
        let grid = game.grid();
        let players: Vec<(PlayerId, Cell)> =
            game.active().filter_map(|(id, player)| Some((id, player.cell?))).collect();
        let mut views = Self::new(game);
        views.board.draw(game, players.iter().map(|&(_, cell)| cell));
        let known = known(grid, &visited, &mut views.sights);
        for (index, ((player, cell), visited)) in players.into_iter().zip(visited).enumerate() {
            let sight = views.sights.sight(grid, cell);
            let shown = |(&byte, known): (&u8, &u32)| {
                if byte == b'\n' || known >> index & 1 != 0 { byte } else { ROCK }
            };
            let text: Vec<u8> = grid.text().iter().zip(&known).map(shown).collect();
            let known = drawn(&text);
            let mut picture = Picture::of(&text);
            picture.edit(|text| {
                let board = views.board.text();
                sight.ranges().for_each(|range| text[range.clone()].copy_from_slice(&board[range]));
                text[cell.index()] = SELF;
            });
            views.viewers.insert(player, Viewer { cell, picture, sight, looked_from: cell, visited, known });
        }
        views
    }
}

// For each cell, bit `i` is set if the player with the visited spots `visited[i]` knows the cell.
//
// Each sight is computed once for all players, and not at all if all visitors know the whole map.
fn known(grid: &Grid, visited: &[Spots], sights: &mut SightCache) -> Vec<u32> {
    let mut known = vec![0_u32; grid.text().len()];
    let (mut complete, mut looked) = (0, 0);
    for (cell, &byte) in (0..).map(Cell).zip(grid.text()) {
        if !matches!(byte, ROOM | PASSAGE) {
            continue;
        }
        let who = visited.iter().zip(0..).fold(0, |who, (spots, bit)| who | u32::from(spots.contains(cell)) << bit);
        if who & !complete == 0 {
            continue;
        }
        for range in sights.sight(grid, cell).ranges() {
            known[range].iter_mut().for_each(|known| *known |= who);
        }
        looked += 1;
        if looked % ROUND == 0 {
            let cells = known.iter().zip(grid.text()).filter(|&(_, &byte)| byte != ROCK && byte != b'\n');
            complete = cells.fold(u32::MAX, |all, (known, _)| all & known);
        }
    }
    known
}

// A cache of sights. Sights depend on the map alone, so entries never become stale.

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
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;
    use crate::{config::Rules, game::Action, grid::Direction, protocol::Name};

    #[test]
    fn a_message_is_patched_in_place_once_it_is_sent() {
        let grid = Arc::new(Grid::parse(b"......................................\n").unwrap().0);
        let mut rng = Pcg64::seed_from_u64(5);
        let mut game = Game::new(grid, Rules::default(), &mut rng).unwrap();
        let mut views = Views::new(&game);
        let (id, event) = game.join(Name::new(b"Ann").unwrap(), &mut rng).unwrap();
        views.update(&game, &[event]);
        let place = views.player(id, Framing::Whole).unwrap().as_ptr();
        for way in [Direction::Left, Direction::Right, Direction::Left] {
            let events = game.apply(id, Action::Step(way)).unwrap();
            views.update(&game, &events);
            assert_eq!(views.player(id, Framing::Whole).unwrap().as_ptr(), place, "no new memory");
        }
        // A message that waits to be sent must not change.
        let held = views.player(id, Framing::Whole).unwrap();
        let before = held.to_vec();
        let events = game.apply(id, Action::Step(Direction::Right)).unwrap();
        views.update(&game, &events);
        assert_eq!(held, before);
        assert_ne!(views.player(id, Framing::Whole).unwrap(), held);
    }

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
