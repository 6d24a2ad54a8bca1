//! The explorer in a small game of its own, with sight computed the slow and obvious way.

use alloc::{format, string::String, vec, vec::Vec};
use netcore::{Client as _, Time};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

use super::*;
use crate::{
    client::Participant,
    grid::{Cell, Grid, Position, ROCK, ROOM},
    protocol::Name,
};

const ROOMS: &str = "
+-----+      +-------+    +---+
|.....########.......|    |...|
|.....|      |.......######...|
+--#--+      +---#---+    |...|
   #             #        +-#-+
   #    #####    #          #
   #        #    #   ########
   ##########    #   #
   #             #   #  +----+
   #   +---------#-+ #  |....|
   #   |...........###  |....|
   #####...........|    +--#-+
   #   +-----------+       #
    ###### #################
         ###
";
const CROOKED: &str = "
+----+     +----+  +--------+
|....|     |....|  |........|
|....|     |....####...++...|
|....+-----+....|  |...++...|
|...............|  |........|
|...............|  |...+----+
+---------+.....|  |...|
          |.....|  |...+----+
 #####    +--#--+  |........|
 #   #       #     |........|
 #   #########     +--#-----+
 #           #        #
 #           ##########
 # ##
 ##
";
const EDGES: &str = "
....#   ####
....#####  #
....       #
  #      +-#-+
  #      |...|
  ########...|
         |...|
         +---+
";
const CORRIDOR: &str = "
+---+                       +---+
|...#########################...|
+---+                       +---+
";
// Steps that are possible only diagonally.
const STAIRS: &str = "
+--+
|..|
|..|
+--#+
    #
   #    +--+
    #   |..|
     ####..|
        +--+
";
const MAPS: [&str; 5] = [ROOMS, CROOKED, EDGES, CORRIDOR, STAIRS];

fn below(draws: &mut Pcg64, bound: usize) -> usize {
    draws.random_range(0..bound)
}

// A game for one explorer; the others walk about at random and take gold.
struct World {
    grid: Grid,
    gold: Vec<bool>,
    known: Vec<bool>,
    at: Cell,
    others: Vec<Cell>,
    // The square of the largest distance that is seen.
    reach: i64,
    run_stop: bool,
    // How many of 100 datagrams get lost.
    loss: usize,
    draws: Pcg64,
    client: Client,
    explorer: Explorer,
}

impl World {
    fn new(map: &str, seed: u32) -> Self {
        let (grid, _) = Grid::parse(map.trim_start_matches('\n').as_bytes()).unwrap();
        let mut draws = Pcg64::seed_from_u64(seed.into());
        let spots = grid.room_spots().to_vec();
        let mut pick = || spots[below(&mut draws, spots.len())];
        let (at, mut gold) = (pick(), vec![false; grid.text().len()]);
        for _ in 0..8 {
            gold[pick().index()] = true;
        }
        let mut world = Self {
            gold,
            known: vec![false; grid.text().len()],
            at,
            others: vec![],
            reach: i64::MAX,
            run_stop: false,
            loss: 0,
            draws,
            client: Client::new(Participant::Player(Name::new(b"Ann").unwrap()), Time::ZERO),
            explorer: Explorer::new(),
            grid,
        };
        world.go(at);
        world
    }

    fn put(&mut self, row: u16, col: u16) {
        self.known.fill(false);
        self.gold.fill(false);
        self.go(self.grid.cell(Position::new(row, col)).unwrap());
    }

    // Puts gold where nobody gets and which no picture shows.
    fn never_end(&mut self) {
        *self.gold.last_mut().unwrap() = true;
    }

    fn is_over(&self) -> bool {
        !self.gold.contains(&true)
    }

    fn join(&mut self) {
        while self.client.take_outgoing().is_some() {}
        let grid = format!("GRID {} {}", self.grid.rows(), self.grid.cols());
        for datagram in ["OK A", &grid, "GOLD 0 0 250"] {
            self.client.receive(Time::ZERO, datagram.as_bytes()).unwrap();
        }
        self.show();
    }

    fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        (0..u16::try_from(self.grid.text().len()).unwrap()).map(Cell)
    }

    fn sees(&self, to: Cell) -> bool {
        let place = |cell| {
            let Position { row, col } = self.grid.position(cell);
            (i64::from(row), i64::from(col))
        };
        let ((pr, pc), (r, c)) = (place(self.at), place(to));
        let is_room = |row: i64, col: i64| {
            let position = Position::new(u16::try_from(row).unwrap(), u16::try_from(col).unwrap());
            self.grid.cell(position).is_some_and(|cell| self.grid.at(cell) == ROOM)
        };
        let is_near = (r - pr).abs() <= 1 && (c - pc).abs() <= 1;
        let rows_are_open = ((pr.min(r) + 1)..pr.max(r)).all(|row| {
            let (over, whole) = ((c - pc) * (row - pr), r - pr);
            let (over, whole) = (over * whole.signum(), whole.abs());
            let col = pc + over.div_euclid(whole);
            is_room(row, col) || over.rem_euclid(whole) != 0 && is_room(row, col + 1)
        });
        let cols_are_open = ((pc.min(c) + 1)..pc.max(c)).all(|col| {
            let (over, whole) = ((r - pr) * (col - pc), c - pc);
            let (over, whole) = (over * whole.signum(), whole.abs());
            let row = pr + over.div_euclid(whole);
            is_room(row, col) || over.rem_euclid(whole) != 0 && is_room(row + 1, col)
        });
        (is_near || (r - pr).pow(2) + (c - pc).pow(2) <= self.reach) && rows_are_open && cols_are_open
    }

    fn go(&mut self, to: Cell) {
        self.at = to;
        self.gold[to.index()] = false;
        for cell in self.cells() {
            self.known[cell.index()] |= self.sees(cell);
        }
    }

    // What the explorer's key does, and a step of everybody else.
    fn press(&mut self, key: u8) {
        let direction = Direction::from_key(key.to_ascii_lowercase()).expect("a key that moves");
        while let Some(to) = self.grid.step(self.at, direction) {
            let (from, had_gold) = (self.at, self.gold[to.index()]);
            let met = self.others.iter_mut().find(|other| **other == to).map(|other| *other = from).is_some();
            self.go(to);
            if key.is_ascii_lowercase() || self.run_stop && (had_gold || met) {
                break;
            }
        }
        for other in 0..self.others.len() {
            let direction = Direction::ALL[below(&mut self.draws, 8)];
            let from = self.others[other];
            let Some(to) = self.grid.step(from, direction) else { continue };
            if to == self.at {
                self.go(from);
            }
            for met in self.others.iter_mut().filter(|met| **met == to) {
                *met = from;
            }
            self.others[other] = to;
            self.gold[to.index()] = false;
        }
    }

    fn picture(&self) -> String {
        let mut picture = String::from("DISPLAY\n");
        for cell in self.cells() {
            let base = self.grid.at(cell);
            let shown = if base == b'\n' {
                base
            } else if cell == self.at {
                b'@'
            } else if self.sees(cell) && self.others.contains(&cell) {
                b'B'
            } else if self.sees(cell) && self.gold[cell.index()] {
                b'*'
            } else if self.known[cell.index()] {
                base
            } else {
                ROCK
            };
            picture.push(char::from(shown));
        }
        picture
    }

    fn show(&mut self) {
        let picture = self.picture();
        self.client.receive(Time::ZERO, picture.as_bytes()).unwrap();
    }

    fn is_lost(&mut self) -> bool {
        self.loss > 0 && below(&mut self.draws, 100) < self.loss
    }

    // One key there and, if it had an effect, one picture back.
    fn turn(&mut self) -> u8 {
        let key = self.explorer.next_key(&self.client).expect("there is always something to do");
        if !self.is_lost() {
            let before = self.picture();
            self.press(key);
            if self.picture() != before && !self.is_lost() {
                self.show();
            }
        }
        key
    }

    // Plays to the end and returns the number of keys.
    fn play(&mut self, most: usize) -> usize {
        self.join();
        for keys in 0..=most {
            if self.is_over() {
                return keys;
            }
            self.turn();
        }
        panic!("gold is left after {most} keys:\n{}\n{}", self.grid, self.picture());
    }
}

#[test]
fn all_gold_is_found_on_every_kind_of_map() {
    for map in MAPS {
        let total: usize = (1..=40).map(|seed| World::new(map, seed).play(100)).sum();
        assert!(total <= 40 * 65, "{total} keys for 40 games:{map}");
    }
}

#[test]
fn all_gold_is_found_where_sight_is_short() {
    for map in MAPS {
        for (seed, reach) in (1..=20).flat_map(|seed| [1, 2, 4, 9, 25].map(|reach| (seed, reach))) {
            let mut world = World::new(map, seed);
            world.reach = reach;
            let (start, gold) = (world.grid.position(world.at), world.gold.clone());
            world.put(start.row, start.col);
            world.gold = gold;
            world.play(150);
        }
    }
}

#[test]
fn all_gold_is_found_where_a_fifth_of_all_datagrams_is_lost() {
    for map in MAPS {
        for seed in 1..=40 {
            let mut world = World::new(map, seed);
            world.loss = 20;
            world.play(250);
        }
    }
}

#[test]
fn all_gold_is_found_among_others_who_take_it_and_push_the_explorer_about() {
    for map in MAPS {
        for (seed, run_stop) in (1..=20).flat_map(|seed| [(seed, false), (seed, true)]) {
            let mut world = World::new(map, seed);
            world.run_stop = run_stop;
            for _ in 0..6 {
                let spot = world.grid.room_spots()[below(&mut world.draws, world.grid.room_spots().len())];
                if spot != world.at && !world.others.contains(&spot) {
                    world.others.push(spot);
                    world.gold[spot.index()] = false;
                }
            }
            world.play(400);
        }
    }
}

#[test]
fn gold_that_is_put_down_where_nobody_looks_any_more_is_found() {
    let mut world = World::new(ROOMS, 1);
    world.put(1, 1);
    let behind = world.grid.cell(Position::new(10, 25)).unwrap();
    world.never_end();
    world.join();
    for _ in 0..200 {
        world.turn();
    }
    world.gold[behind.index()] = true;
    assert!((0..200).any(|_| {
        world.turn();
        !world.gold[behind.index()]
    }));
}

#[test]
fn dead_ends_without_space_for_a_room_are_left_alone() {
    let map = "
+---+ #     +---+
|...#########...|
+---+   #   +---+
        #
     ####
";
    let mut world = World::new(map, 1);
    world.put(1, 1);
    world.gold[world.grid.cell(Position::new(1, 15)).unwrap().index()] = true;
    assert_eq!(world.play(10), 1, "one run and it is there");
    world.never_end();
    world.show();
    let mut rows = vec![];
    for _ in 0..12 {
        world.turn();
        rows.push(world.grid.position(world.at).row);
    }
    assert!(rows.contains(&4), "there may be a room below: {rows:?}");
    assert!(!rows.contains(&0), "there is no place for a room above: {rows:?}");
}

#[test]
fn a_room_that_a_run_led_through_is_looked_at_again() {
    let map = "
+---+ +---+ +---+
|...| |...| |...|
|...###...###...|
|...| |...| |...|
+---+ +---+ +---+
";
    let mut world = World::new(map, 1);
    world.put(2, 1);
    world.gold[world.grid.cell(Position::new(3, 9)).unwrap().index()] = true;
    world.join();
    assert_eq!(world.turn(), b'L');
    assert_eq!(world.grid.position(world.at), Position::new(2, 15));
    assert!(!world.picture().contains('*'));
    world.play(10);
}

#[test]
fn after_two_unanswered_keys_the_others_are_tried_one_by_one() {
    let mut world = World::new(CORRIDOR, 1);
    world.put(1, 1);
    world.never_end();
    world.join();
    let mut next = || char::from(world.explorer.next_key(&world.client).unwrap());
    let keys: String = (0..10).map(|_| next()).collect();
    assert_eq!(keys[..2], *"LL");
    let mut rest: Vec<char> = keys[2..].chars().collect();
    rest.sort_unstable();
    assert_eq!(rest, ['b', 'h', 'j', 'k', 'l', 'n', 'u', 'y']);
}

#[test]
fn what_cannot_be_reached_is_given_up_for_something_else() {
    let mut world = World::new(CORRIDOR, 1);
    world.join();
    let mut keys = String::new();
    for _ in 0..20 {
        let mut picture = b"DISPLAY\n+---+                       +---+\n|*@.*###                        |\n".to_vec();
        picture.resize(8 + 3 * 34 - 1, b' ');
        world.client.receive(Time::ZERO, &picture).unwrap();
        assert!(world.client.display().starts_with(&picture[8..]));
        keys.push(char::from(world.explorer.next_key(&world.client).unwrap()));
    }
    assert!(keys.contains(['h', 'H']) && keys.contains(['l', 'L']), "{keys}");
}
