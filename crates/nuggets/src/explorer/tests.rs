use alloc::{format, string::String, sync::Arc, vec, vec::Vec};
use core::ops::RangeInclusive;
use netcore::{Client as _, Framing, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{from_value, json};

use super::*;
use crate::{
    Grid, Name, Participant, Position, Rules,
    game::{Action, Event, Game, PlayerId},
    view::Views,
    visibility::Vision,
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
const CORRIDOR: &str = "
+---+                       +---+
|...#########################...|
+---+                       +---+
";
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
const MAPS: [&str; 3] = [ROOMS, CORRIDOR, STAIRS];

/// The explorer's player. The others move at random.
const ANN: PlayerId = PlayerId(0);

fn grid(map: &str) -> Arc<Grid> {
    Arc::new(Grid::parse(map.trim_start_matches('\n').as_bytes()).unwrap().0)
}

struct World {
    game: Game,
    views: Views,
    // In percent.
    loss: u32,
    draws: Pcg64,
    client: Client,
    explorer: Explorer,
}

impl World {
    /// With up to `others` other players, as the map permits.
    fn new(map: &str, rules: Rules, others: usize, seed: u64) -> Self {
        let mut draws = Pcg64::seed_from_u64(seed);
        let rules = Rules { gold: 8, min_piles: 1, max_piles: 8, ..rules };
        let mut world = Self::of(Game::new(grid(map), rules, &mut draws).unwrap(), draws);
        for _ in 0..=others {
            let Some((_, event)) = world.game.join(Name::new(b"Ann").unwrap(), &mut world.draws) else { break };
            world.views.update(&world.game, &[event]);
        }
        world.joined()
    }

    /// A world with given positions. The optional other player has one nugget.
    fn drawn(map: &str, ann: (u16, u16), nuggets: &[(u16, u16)], other: Option<(u16, u16)>) -> Self {
        let grid = grid(map);
        let cell = |&(row, col): &(u16, u16)| grid.cell(Position::new(row, col)).unwrap();
        let places: Vec<_> = [ann].iter().chain(&other).map(cell).collect();
        let players: Vec<_> =
            (0..).zip(&places).map(|(purse, cell)| json!({ "name": "Ann", "purse": purse, "cell": cell })).collect();
        let piles: Vec<_> = nuggets.iter().map(|place| (cell(place), 1)).collect();
        let gold = u32::try_from(nuggets.len() + players.len() - 1).unwrap();
        let rules = Rules { gold, drop_on_quit: true, ..Rules::default() };
        let state = from_value(json!({ "players": players, "piles": piles })).unwrap();
        let mut world = Self::of(Game::restore(Arc::clone(&grid), rules, state).unwrap(), Pcg64::seed_from_u64(1));
        for (player, cell) in (0..).map(PlayerId).zip(places) {
            world.views.update(&world.game, &[Event::Joined(player, cell)]);
        }
        world.joined()
    }

    fn of(game: Game, draws: Pcg64) -> Self {
        let client = Client::new(Participant::Player(Name::new(b"Ann").unwrap()), Time::ZERO);
        Self { views: Views::new(&game), game, loss: 0, draws, client, explorer: Explorer::new() }
    }

    fn joined(mut self) -> Self {
        while self.client.take_outgoing().is_some() {}
        let grid = format!("GRID {} {}", self.game.grid().rows(), self.game.grid().cols());
        for datagram in ["OK A", &grid, "GOLD 0 0 250"] {
            self.client.receive(Time::ZERO, datagram.as_bytes()).unwrap();
        }
        self.client.receive(Time::ZERO, &self.picture()).unwrap();
        self
    }

    fn picture(&self) -> bytes::Bytes {
        self.views.player(ANN, Framing::Whole).unwrap()
    }

    fn place(&self) -> Position {
        self.game.grid().position(self.game.player(ANN).unwrap().cell.unwrap())
    }

    fn act(&mut self, player: PlayerId, action: Action) {
        let events = self.game.apply(player, action).unwrap();
        self.views.update(&self.game, &events);
    }

    fn is_lost(&mut self) -> bool {
        self.draws.random_range(0..100) < self.loss
    }

    fn turn(&mut self) -> u8 {
        let key = self.explorer.next_key(&self.client).expect("there is always something to do");
        let before = self.picture();
        if !self.is_lost() {
            self.act(ANN, Action::from_key(key).expect("a key that moves"));
        }
        let others: Vec<PlayerId> = self.game.active().map(|(player, _)| player).skip(1).collect();
        for other in others {
            let step = Direction::ALL[self.draws.random_range(0..8)];
            self.act(other, Action::Step(step));
        }
        if self.picture() != before && !self.is_lost() {
            self.client.receive(Time::ZERO, &self.picture()).unwrap();
        }
        key
    }

    fn play(&mut self, most: usize) -> usize {
        for keys in 0..=most {
            if self.game.is_over() {
                return keys;
            }
            self.turn();
        }
        panic!("gold is left after {most} keys:\n{}\n{}", self.game.grid(), String::from_utf8_lossy(&self.picture()));
    }
}

fn play_all(seeds: RangeInclusive<u64>, most: usize, world: impl Fn(&str, u64) -> World) -> [usize; 3] {
    MAPS.map(|map| seeds.clone().map(|seed| world(map, seed).play(most)).sum())
}

#[test]
fn all_gold_is_found_on_every_kind_of_map() {
    let totals = play_all(1..=40, 100, |map, seed| World::new(map, Rules::default(), 0, seed));
    assert!(totals.iter().all(|&total| total <= 40 * 65), "{totals:?} keys for 40 games");
}

#[test]
fn all_gold_is_found_where_sight_is_short() {
    for radius in [1, 2, 3, 5] {
        let rules = Rules { vision: Vision { radius: Some(radius) }, ..Rules::default() };
        play_all(1..=20, 150, |map, seed| World::new(map, rules, 0, seed));
    }
}

#[test]
fn all_gold_is_found_where_a_fifth_of_all_datagrams_is_lost() {
    play_all(1..=40, 250, |map, seed| World { loss: 20, ..World::new(map, Rules::default(), 0, seed) });
}

#[test]
fn all_gold_is_found_among_players_that_take_gold_and_swap_places() {
    for run_stop in [false, true] {
        let rules = Rules { run_stop, ..Rules::default() };
        play_all(1..=20, 400, |map, seed| World::new(map, rules, 6, seed));
    }
}

#[test]
fn dropped_gold_in_explored_rooms_is_found() {
    let mut world = World::drawn(ROOMS, (1, 1), &[], Some((10, 25)));
    for _ in 0..200 {
        world.turn();
    }
    world.act(PlayerId(1), Action::Quit);
    assert_eq!(world.game.remaining(), 1);
    world.play(200);
}

#[test]
fn dead_ends_without_space_for_a_room_are_not_visited() {
    let map = "
+---+ #     +---+
|...#########...|
+---+   #   +---+
        #
     ####
";
    let mut world = World::drawn(map, (1, 1), &[(1, 15)], None);
    assert_eq!(world.play(10), 1, "one run and it is there");
    let mut rows = vec![];
    for _ in 0..12 {
        world.turn();
        rows.push(world.place().row);
    }
    assert!(rows.contains(&4), "there may be a room below: {rows:?}");
    assert!(!rows.contains(&0), "there is no place for a room above: {rows:?}");
}

#[test]
fn rooms_crossed_by_a_run_are_explored_again() {
    let map = "
+---+ +---+ +---+
|...| |...| |...|
|...###...###...|
|...| |...| |...|
+---+ +---+ +---+
";
    let mut world = World::drawn(map, (2, 1), &[(3, 9)], None);
    assert_eq!(world.turn(), b'L');
    assert_eq!(world.place(), Position::new(2, 15));
    assert!(!world.picture().contains(&b'*'));
    world.play(10);
}

#[test]
fn two_unanswered_keys_are_followed_by_a_step_in_each_direction() {
    let mut world = World::drawn(CORRIDOR, (1, 1), &[], None);
    let mut next = || char::from(world.explorer.next_key(&world.client).unwrap());
    let keys: String = (0..10).map(|_| next()).collect();
    assert_eq!(keys[..2], *"LL");
    let mut rest: Vec<char> = keys[2..].chars().collect();
    rest.sort_unstable();
    assert_eq!(rest, ['b', 'h', 'j', 'k', 'l', 'n', 'u', 'y']);
}

#[test]
fn unreachable_target_is_given_up() {
    let mut world = World::drawn(CORRIDOR, (1, 1), &[], None);
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
