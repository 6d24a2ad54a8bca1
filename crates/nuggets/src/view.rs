//! What each one may know of the game, as the text that goes out to it.
//!
//! A player's picture holds its own place (`@`); where it sees now, the letters and piles that are there; where it ever
//! saw, the map; and nothing else. Messages are made of pictures alone, so what a player may not know cannot leak.
//!
//! A picture is kept as the DISPLAY message that shows it, and patched where cells changed: a move costs what the mover
//! sees plus a few cells for the others, never the size of the map.

mod state;

use alloc::{boxed::Box, collections::BTreeMap, sync::Arc, vec, vec::Vec};
use bytes::{BufMut, Bytes, BytesMut};
use core::mem;
use netcore::{Digest, Framing};
use serde::{Deserialize, Serialize};

use crate::{
    game::{Event, Game, PlayerId},
    grid::{Cell, Grid, ROCK},
    protocol::{DISPLAY_HEADER, LENGTH_PREFIX},
    server::facts::VISITED,
    sights::SightCache,
    visibility::Sight,
};

/// How a player sees itself.
pub const SELF: u8 = b'@';

/// Where the rows begin in a message behind its length.
const TEXT: usize = LENGTH_PREFIX + DISPLAY_HEADER.len();

/// A DISPLAY message that is kept and patched, behind its length as streams want it.
///
/// The message is shared with whoever still has to send it. While that is so, the next patch is made on a copy; else in
/// place.
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

    // The rows of the grid, each followed by a newline.
    fn text(&self) -> &[u8] {
        &self.frame[TEXT..]
    }

    fn edit(&mut self, change: impl FnOnce(&mut [u8])) {
        let mut frame = mem::take(&mut self.frame).try_into_mut().unwrap_or_else(|shared| BytesMut::from(&*shared));
        change(&mut frame[TEXT..]);
        self.frame = frame.freeze();
    }
}

/// One who plays, and what it may know.
#[derive(Debug, Clone)]
struct Viewer {
    cell: Cell,
    picture: Picture,
    // What is visible from the spot that was looked around from last; all of it is in the picture.
    sight: Arc<Sight>,
    looked_from: Cell,
    visited: Spots,
    // Cells that it has seen and that are not rock, which looks as what was never seen does.
    known: usize,
}

impl Viewer {
    fn at(cell: Cell, grid: &Grid) -> Self {
        let (picture, visited) = (Picture::blank(grid), Spots::none(grid));
        Self { cell, picture, sight: Arc::default(), looked_from: cell, visited, known: 0 }
    }
}

/// A set of cells.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Spots(Box<[u64]>);

impl Spots {
    fn none(grid: &Grid) -> Self {
        Self(vec![0; grid.text().len().div_ceil(64)].into())
    }

    fn contains(&self, cell: Cell) -> bool {
        self.0.get(cell.index() / 64).is_some_and(|word| word >> (cell.0 % 64) & 1 != 0)
    }

    fn cells(&self) -> impl Iterator<Item = Cell> {
        (0..=u16::MAX).map(Cell).take(self.0.len() * 64).filter(|&cell| self.contains(cell))
    }

    // Whether the cell was not in the set before.
    fn insert(&mut self, cell: Cell) -> bool {
        let bit = 1 << (cell.0 % 64);
        self.0.get_mut(cell.index() / 64).is_some_and(|word| mem::replace(word, *word | bit) & bit == 0)
    }
}

/// What one input changed for somebody who moved.
#[derive(Debug, Clone)]
struct Change {
    player: PlayerId,
    // What was in sight before it.
    before: Arc<Sight>,
    // Whether something was learned on the way, which wipes gold and players off the picture.
    learned: bool,
}

/// The pictures of one game: one for each who plays, and the whole map for a spectator.
#[derive(Debug, Clone)]
pub struct Views {
    board: Picture,
    // Cells of the map that are not rock.
    drawn: usize,
    viewers: BTreeMap<PlayerId, Viewer>,
    sights: SightCache,
    // Cells whose content changed in the input that is being taken in; kept to save the allocation.
    touched: Vec<Cell>,
    changes: Vec<Change>,
    digest: Digest,
}

impl Views {
    /// The pictures of a game that nobody has joined yet.
    pub fn new(game: &Game) -> Self {
        let mut board = Picture::of(game.grid().text());
        board.edit(|text| {
            for &cell in game.piles().keys() {
                text[cell.index()] = game.content(cell);
            }
        });
        Self {
            board,
            drawn: drawn(game.grid().text()),
            viewers: BTreeMap::new(),
            sights: SightCache::new(game.rules().vision, SightCache::MAX_BYTES),
            touched: Vec::new(),
            changes: Vec::new(),
            digest: Digest::default(),
        }
    }

    /// The DISPLAY message of a player who plays, for a link whose messages are marked off like that.
    pub fn player(&self, player: PlayerId, framing: Framing) -> Option<Bytes> {
        self.viewers.get(&player).map(|viewer| viewer.picture.message(framing))
    }

    /// The DISPLAY message of a spectator.
    pub fn spectator(&self, framing: Framing) -> Bytes {
        self.board.message(framing)
    }

    /// A fingerprint of what each who plays ever saw, kept as they look around.
    pub const fn digest(&self) -> u64 {
        self.digest.value()
    }

    /// Takes in what one input changed: `game` is the state after `events`, `self` was true before them.
    pub fn update(&mut self, game: &Game, events: &[Event]) {
        self.touched.clear();
        self.changes.clear();
        for event in events {
            match *event {
                Event::Joined { player, cell } => {
                    self.touched.push(cell);
                    self.viewers.insert(player, Viewer::at(cell, game.grid()));
                    self.go(game.grid(), player, cell);
                }
                Event::Moved { player, from, to } => {
                    self.touched.extend([from, to]);
                    self.go(game.grid(), player, to);
                }
                Event::Left { player, cell } => {
                    self.touched.push(cell);
                    self.remove(player);
                }
                Event::Dropped { cell, .. } => self.touched.push(cell),
                // Gold is collected where the collector went, so that cell is touched already.
                Event::Collected { .. } | Event::Stolen { .. } => {}
            }
        }
        self.touched.sort_unstable();
        self.touched.dedup();
        let Self { board, viewers, sights, touched, changes, .. } = self;
        board.edit(|text| {
            for &cell in &*touched {
                text[cell.index()] = game.content(cell);
            }
        });
        let board = board.text();
        for (&player, viewer) in viewers {
            let Viewer { cell, picture, sight, looked_from, .. } = viewer;
            let change = changes.iter().find(|change| change.player == player);
            if change.is_some() && looked_from != cell {
                (*sight, *looked_from) = (sights.sight(game.grid(), *cell), *cell);
            }
            if let Some(Change { before, .. }) = change.filter(|change| change.learned || change.before != *sight) {
                picture.edit(|text| {
                    // What was in sight is remembered as bare map; what is in sight shows what is there.
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

    fn remove(&mut self, player: PlayerId) {
        let Some(viewer) = self.viewers.remove(&player) else { return };
        for spot in viewer.visited.cells() {
            self.digest.toggle(VISITED, player.0.into(), spot.0.into());
        }
    }

    // Puts a player on a cell and lets it remember what it sees from there.
    fn go(&mut self, grid: &Grid, player: PlayerId, to: Cell) {
        let Some(viewer) = self.viewers.get_mut(&player) else { return };
        viewer.cell = to;
        let index = self.changes.iter().position(|change| change.player == player).unwrap_or_else(|| {
            self.changes.push(Change { player, before: Arc::clone(&viewer.sight), learned: false });
            self.changes.len() - 1
        });
        // Whoever was here before knows all that is visible from here.
        if !viewer.visited.insert(to) {
            return;
        }
        self.digest.toggle(VISITED, player.0.into(), to.0.into());
        if viewer.known == self.drawn {
            return;
        }
        let sight = self.sights.sight(grid, to);
        // In an empty hall the same is visible from everywhere.
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

// How much of a text is not rock. Players and gold are counted as the spots that they hide.
fn drawn(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte != ROCK && byte != b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Rules,
        game::Action,
        grid::Direction,
        protocol::Name,
        visibility::{Sighter, Vision},
    };
    use alloc::{string::String, vec, vec::Vec};
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    /// A player's picture made from scratch, as the rule says it.
    fn composed(game: &Game, player: PlayerId, known: &[bool]) -> Vec<u8> {
        let own = game.player(player).unwrap().cell.unwrap();
        let sight = Sighter::default().sight((&**game.grid()).into(), own, game.rules().vision);
        let cell = |(offset, &byte): (u16, &u8)| match Cell(offset) {
            _ if byte == b'\n' => byte,
            cell if cell == own => SELF,
            cell if sight.contains(cell) => game.content(cell),
            cell if known[cell.index()] => byte,
            _ => ROCK,
        };
        (0..).zip(game.grid().text()).map(cell).collect()
    }

    const MAP: &str = "+----+ +---+\n|....###...|\n|..+-+ |...|\n|..|   +-#-+\n+--+     #  \n    ######  \n";

    /// Most of it is seen from everywhere, and all of it before long.
    const HALL: &str = ".........\n....+....\n.........\n.........\n";

    proptest! {
        #[test]
        fn patched_pictures_are_those_made_from_scratch(
            map in prop::sample::select(&[MAP, HALL][..]),
            seed in any::<u64>(),
            keys in prop::collection::vec((0..4u8, prop::sample::select(&b"hjklyubnHJKLYUBNQ"[..])), 0..60),
            radius in prop::option::of(1..4u16),
            shared in any::<bool>(),
        ) {
            let grid = Arc::new(Grid::parse(map.as_bytes()).unwrap().0);
            let mut rng = Pcg64::seed_from_u64(seed);
            let rules = Rules { vision: Vision { radius }, min_piles: 3, max_piles: 6, drop_on_quit: true, ..Rules::default() };
            let mut game = Game::new(grid, rules, &mut rng).unwrap();
            let mut views = Views::new(&game);
            let mut known = vec![vec![false; game.grid().text().len()]; 4];
            let mut held = vec![];
            let mut events = vec![];
            for _ in 0..4 {
                let (_, event) = game.join(Name::new(b"Ann").unwrap(), &mut rng).unwrap();
                views.update(&game, &[event]);
                events.push(event);
            }
            for (who, key) in core::iter::once((0, b'?')).chain(keys) {
                if let Some(action) = Action::from_key(key) {
                    let Ok(done) = game.apply(PlayerId(who), action) else { continue };
                    views.update(&game, &done);
                    events = done;
                }
                for event in &events {
                    if let Event::Joined { player, cell } | Event::Moved { player, to: cell, .. } = *event {
                        let sight = Sighter::default().sight((&**game.grid()).into(), cell, rules.vision);
                        sight.cells().for_each(|cell| known[usize::from(player.0)][cell.index()] = true);
                    }
                }
                for (id, _) in game.active() {
                    let frame = views.player(id, Framing::Whole).unwrap();
                    let expected = composed(&game, id, &known[usize::from(id.0)]);
                    prop_assert_eq!(String::from_utf8_lossy(&frame[8..]), String::from_utf8_lossy(&expected));
                    // A frame that is still to be sent must not change under the sender.
                    if shared {
                        held.push((frame, expected));
                    }
                }
                let board: Vec<u8> = (0..).zip(game.grid().text()).map(|(at, &byte)| if byte == b'\n' { byte } else { game.content(Cell(at)) }).collect();
                let spectator = views.spectator(Framing::Whole);
                prop_assert_eq!(&spectator[8..], &board[..]);
            }
            for (frame, expected) in held {
                prop_assert_eq!(&frame[8..], &expected[..]);
            }
        }
    }

    #[test]
    fn gold_stays_in_sight_on_a_run_past_something_new() {
        // From both ends of the room the same is visible, and from the middle the gap below as well.
        let map = "+---------+\n|.........|\n|.........|\n+----.----+\n    |.|    \n    |.|    \n    +-+    \n";
        let grid = Arc::new(Grid::parse(map.as_bytes()).unwrap().0);
        let rules = Rules { min_piles: 12, max_piles: 12, ..Rules::default() };
        for seed in 0..60 {
            let mut rng = Pcg64::seed_from_u64(seed);
            let mut game = Game::new(Arc::clone(&grid), rules, &mut rng).unwrap();
            let mut views = Views::new(&game);
            let (id, event) = game.join(Name::new(b"Ann").unwrap(), &mut rng).unwrap();
            views.update(&game, &[event]);
            let mut known = vec![false; grid.text().len()];
            let mut events = vec![event];
            for key in *b"KHJLH" {
                for event in &events {
                    if let Event::Joined { cell, .. } | Event::Moved { to: cell, .. } = *event {
                        let sight = Sighter::default().sight((&*grid).into(), cell, rules.vision);
                        sight.cells().for_each(|cell| known[cell.index()] = true);
                    }
                }
                let frame = views.player(id, Framing::Whole).unwrap();
                assert_eq!(String::from_utf8_lossy(&frame[8..]), String::from_utf8_lossy(&composed(&game, id, &known)));
                events = game.apply(id, Action::from_key(key).unwrap()).unwrap();
                views.update(&game, &events);
            }
        }
    }

    #[test]
    fn the_digest_tells_from_where_somebody_has_looked() {
        let grid = Arc::new(Grid::parse(b"..........\n").unwrap().0);
        let mut rng = Pcg64::seed_from_u64(1);
        let rules = Rules { min_piles: 1, max_piles: 1, ..Rules::default() };
        let mut game = Game::new(grid, rules, &mut rng).unwrap();
        let mut views = Views::new(&game);
        let mut met = vec![views.digest()];
        for _ in 0..2 {
            let (_, event) = game.join(Name::new(b"Ann").unwrap(), &mut rng).unwrap();
            views.update(&game, &[event]);
            assert!(!met.contains(&views.digest()));
            met.push(views.digest());
        }
        let mut walk = |way| {
            let events = game.apply(PlayerId(0), Action::Run(way)).unwrap();
            views.update(&game, &events);
            views.digest()
        };
        let all = [Direction::Left, Direction::Right].map(&mut walk)[1];
        assert!(!met.contains(&all));
        assert_eq!([Direction::Left, Direction::Right].map(&mut walk), [all; 2], "nothing new is seen");
    }

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
        let held = views.player(id, Framing::Whole).unwrap();
        let events = game.apply(id, Action::Step(Direction::Right)).unwrap();
        views.update(&game, &events);
        assert_ne!(views.player(id, Framing::Whole).unwrap(), held);
    }
}
