//! What each one may know of the game, as the text that goes out to it.
//!
//! A player's picture holds its own place (`@`); where it sees now, the letters and piles that are there; where it ever
//! saw, the map; and nothing else. Messages are made of pictures alone, so what a player may not know cannot leak.
//!
//! A picture is kept as the DISPLAY message that shows it, and patched where cells changed: a move costs what the mover
//! sees plus a few cells for the others, never the size of the map.

use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};
use bytes::{BufMut, Bytes, BytesMut};
use core::mem;

use crate::{
    game::{Event, Game, PlayerId},
    grid::{Cell, Grid, ROCK},
    protocol::DISPLAY_HEADER,
    sights::SightCache,
    visibility::Sight,
};

/// How a player sees itself.
pub const SELF: u8 = b'@';

/// A DISPLAY message that is kept and patched.
///
/// The message is shared with whoever still has to send it. While that is so, the next patch is made on a copy; else in
/// place.
#[derive(Debug, Clone)]
struct Picture {
    frame: Bytes,
}

impl Picture {
    fn of(text: &[u8]) -> Self {
        let mut frame = BytesMut::with_capacity(DISPLAY_HEADER.len() + text.len());
        frame.put_slice(DISPLAY_HEADER);
        frame.put_slice(text);
        Self { frame: frame.freeze() }
    }

    fn blank(grid: &Grid) -> Self {
        let blank: Vec<u8> = grid.text().iter().map(|&byte| if byte == b'\n' { byte } else { ROCK }).collect();
        Self::of(&blank)
    }

    // The rows of the grid, each followed by a newline.
    fn text(&self) -> &[u8] {
        &self.frame[DISPLAY_HEADER.len()..]
    }

    fn edit(&mut self, change: impl FnOnce(&mut [u8])) {
        let mut frame = mem::take(&mut self.frame).try_into_mut().unwrap_or_else(|shared| BytesMut::from(&*shared));
        change(&mut frame[DISPLAY_HEADER.len()..]);
        self.frame = frame.freeze();
    }
}

#[derive(Debug, Clone)]
struct Seat {
    cell: Cell,
    sight: Arc<Sight>,
    picture: Picture,
}

/// The pictures of one game: one for each who plays, and the whole map for a spectator.
#[derive(Debug, Clone)]
pub struct Views {
    board: Picture,
    seats: BTreeMap<PlayerId, Seat>,
    sights: SightCache,
    // Cells whose content changed in the input that is being taken in; kept to save the allocation.
    touched: Vec<Cell>,
    moved: Vec<(PlayerId, Arc<Sight>)>,
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
            seats: BTreeMap::new(),
            sights: SightCache::new(game.rules().vision, SightCache::MAX_BYTES),
            touched: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// The DISPLAY message of a player who plays.
    pub fn player(&self, player: PlayerId) -> Option<Bytes> {
        self.seats.get(&player).map(|seat| seat.picture.frame.clone())
    }

    /// The DISPLAY message of a spectator.
    pub fn spectator(&self) -> Bytes {
        self.board.frame.clone()
    }

    /// Takes in what one input changed: `game` is the state after `events`, `self` was true before them.
    pub fn update(&mut self, game: &Game, events: &[Event]) {
        self.touched.clear();
        self.moved.clear();
        for event in events {
            match *event {
                Event::Joined { player, cell } => {
                    self.touched.push(cell);
                    let seat = Seat { cell, sight: Arc::default(), picture: Picture::blank(game.grid()) };
                    self.seats.insert(player, seat);
                    self.go(game.grid(), player, cell);
                }
                Event::Moved { player, from, to } => {
                    self.touched.extend([from, to]);
                    self.go(game.grid(), player, to);
                }
                Event::Left { player, cell } => {
                    self.touched.push(cell);
                    self.seats.remove(&player);
                }
                Event::Dropped { cell, .. } => self.touched.push(cell),
                // Gold is collected where the collector went, so that cell is touched already.
                Event::Collected { .. } | Event::Stolen { .. } => {}
            }
        }
        self.touched.sort_unstable();
        self.touched.dedup();
        let Self { board, seats, touched, moved, .. } = self;
        board.edit(|text| {
            for &cell in &*touched {
                text[cell.index()] = game.content(cell);
            }
        });
        let board = board.text();
        for (&player, seat) in seats {
            let Seat { cell, sight, picture } = seat;
            if let Some((_, before)) = moved.iter().find(|(who, _)| *who == player) {
                picture.edit(|text| {
                    // What was in sight is remembered as bare map; what is in sight shows what is there.
                    before.ranges().for_each(|range| text[range.clone()].copy_from_slice(&game.grid().text()[range]));
                    sight.ranges().for_each(|range| text[range.clone()].copy_from_slice(&board[range]));
                    text[cell.index()] = SELF;
                });
            } else if touched.iter().any(|&touched| sight.contains(touched)) {
                picture.edit(|text| {
                    for &touched in touched.iter().filter(|&&touched| sight.contains(touched)) {
                        text[touched.index()] = board[touched.index()];
                    }
                });
            }
        }
    }

    // Puts a player on a cell and lets it remember what it sees from there.
    fn go(&mut self, grid: &Grid, player: PlayerId, to: Cell) {
        let Some(seat) = self.seats.get_mut(&player) else { return };
        let sight = self.sights.sight(grid, to);
        seat.picture.edit(|text| {
            sight.ranges().for_each(|range| text[range.clone()].copy_from_slice(&grid.text()[range]));
        });
        seat.cell = to;
        let before = mem::replace(&mut seat.sight, sight);
        if !self.moved.iter().any(|(who, _)| *who == player) {
            self.moved.push((player, before));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        game::{Action, Rules},
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

    proptest! {
        #[test]
        fn patched_pictures_are_those_made_from_scratch(
            seed in any::<u64>(),
            keys in prop::collection::vec((0..4u8, prop::sample::select(&b"hjklyubnHJKLYUBNQ"[..])), 0..60),
            radius in prop::option::of(1..4u16),
            shared in any::<bool>(),
        ) {
            let grid = Arc::new(Grid::parse(MAP.as_bytes()).unwrap().0);
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
                    let frame = views.player(id).unwrap();
                    let expected = composed(&game, id, &known[usize::from(id.0)]);
                    prop_assert_eq!(String::from_utf8_lossy(&frame[8..]), String::from_utf8_lossy(&expected));
                    // A frame that is still to be sent must not change under the sender.
                    if shared {
                        held.push((frame, expected));
                    }
                }
                let board: Vec<u8> = (0..).zip(game.grid().text()).map(|(at, &byte)| if byte == b'\n' { byte } else { game.content(Cell(at)) }).collect();
                let spectator = views.spectator();
                prop_assert_eq!(&spectator[8..], &board[..]);
            }
            for (frame, expected) in held {
                prop_assert_eq!(&frame[8..], &expected[..]);
            }
        }
    }

    #[test]
    fn a_message_is_patched_in_place_once_it_is_sent() {
        let grid = Arc::new(Grid::parse(b"......................................\n").unwrap().0);
        let mut rng = Pcg64::seed_from_u64(5);
        let mut game = Game::new(grid, Rules::default(), &mut rng).unwrap();
        let mut views = Views::new(&game);
        let (id, event) = game.join(Name::new(b"Ann").unwrap(), &mut rng).unwrap();
        views.update(&game, &[event]);
        let place = views.player(id).unwrap().as_ptr();
        for way in [Direction::Left, Direction::Right, Direction::Left] {
            let events = game.apply(id, Action::Step(way)).unwrap();
            views.update(&game, &events);
            assert_eq!(views.player(id).unwrap().as_ptr(), place, "no new memory");
        }
        let held = views.player(id).unwrap();
        let events = game.apply(id, Action::Step(Direction::Right)).unwrap();
        views.update(&game, &events);
        assert_ne!(views.player(id).unwrap(), held);
    }
}
