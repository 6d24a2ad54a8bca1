mod memory;

use alloc::{collections::BTreeMap, vec::Vec};

use self::memory::{Lure, Memory};
use crate::{client::Client, grid::Direction};

// Failed keys at one place before another way is tried, and failed ways before another goal is tried.
const TRIES: u8 = 3;
const WAYS: u8 = 3;

/// Chooses the keys of an automatic player.
///
/// It heads for remembered gold, or else for the edge of the known map, by the way with the fewest keys; a run is one
/// key. If a fully explored game continues, it explores everything again.
///
/// It is deterministic. It uses only the state of the client, so it tolerates lost datagrams, other players, and moves
/// outside the rules.
///
/// ```
/// use netcore::{Client as _, Time};
/// use nuggets::{Client, Explorer, Name, Participant};
///
/// let mut client = Client::new(Participant::Player(Name::new(b"Ann").unwrap()), Time::ZERO);
/// let mut explorer = Explorer::new();
/// assert_eq!(explorer.next_key(&client), None, "the server has not answered yet");
/// for datagram in ["OK A", "GRID 3 6", "GOLD 0 0 250", "DISPLAY\n+----+\n|@..*|\n+----+\n"] {
///     client.receive(Time::ZERO, datagram.as_bytes()).unwrap();
/// }
/// assert_eq!(explorer.next_key(&client), Some(b'L'));
/// ```
#[derive(Debug, Default)]
pub struct Explorer {
    habits: Habits,
    size: Option<(u16, u16)>,
    memory: Memory,
    search: Search,
    way: Vec<Move>,
    goal: usize,
    sent: Option<Move>,
    walked: Vec<usize>,
    // The number of DISPLAYs at the last key, and of keys since the last DISPLAY.
    displays: u64,
    silence: usize,
    // Since a goal was reached: unexpected results by place and key, banned keys, and the number of bans by goal.
    failures: BTreeMap<(usize, u8), u8>,
    banned: Vec<(usize, u8)>,
    vain: BTreeMap<usize, u8>,
    rounds: usize,
}

impl Explorer {
    /// An explorer that has received no picture yet.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn with_habits(habits: Habits) -> Self {
        Self { habits, ..Self::default() }
    }

    /// Discards the planned way, because another key was pressed.
    pub(crate) fn slip(&mut self) {
        self.sent = None;
        self.way.clear();
    }

    /// The next key to send; `None` while the client is not in the game or the player is walled in.
    pub fn next_key(&mut self, client: &Client) -> Option<u8> {
        let (rows, cols) = client.size().filter(|_| client.is_joined())?;
        let position = client.position()?;
        if self.size != Some((rows, cols)) {
            let (size, memory) = (Some((rows, cols)), Memory::new((rows, cols)));
            *self = Self { size, memory, ..Self::with_habits(self.habits) };
        }
        if client.display().len() != self.memory.picture_len() {
            return None;
        }
        let here = self.memory.cell(usize::from(position.row) * (usize::from(cols) + 1) + usize::from(position.col));
        self.judge_last_key(here);
        let news = self.memory.learn(client.display(), here, &self.walked);
        if self.memory.lure(self.goal).is_none() {
            self.failures.clear();
            self.banned.clear();
            self.vain.clear();
            self.way.clear();
        }
        if news || self.way.last().is_none_or(|next| next.from != here) {
            self.choose_way(here);
        }
        self.silence = if client.displays() == self.displays { self.silence + 1 } else { 0 };
        self.displays = client.displays();
        if self.silence > 1 {
            return Some(self.probe());
        }
        // Players that move in step could block each other forever, so each tries another direction first.
        let letter = client.letter().map_or(0, |letter| usize::from(letter.byte()));
        let next = self.way.pop().or_else(|| self.wander(here, letter))?;
        self.sent = Some(next);
        Some(next.key)
    }

    // Bans the last key at its place if it failed too often, because a single failure may be a lost datagram, but no
    // key may be repeated forever.
    fn judge_last_key(&mut self, here: usize) {
        self.walked.clear();
        let Some(sent) = self.sent.take() else { return };
        let mut at = sent.from;
        while at != here && self.memory.is_inside(at) {
            at = at.wrapping_add(sent.step);
            self.walked.push(at);
        }
        if at != here {
            // The player was swapped away, or a picture was lost.
            self.walked.clear();
        }
        if here != sent.from && sent.lands.is_none_or(|lands| lands == here) {
            return;
        }
        let place = (sent.from, sent.key);
        let failures = self.failures.entry(place).or_default();
        *failures += 1;
        if *failures < TRIES {
            return;
        }
        self.failures.remove(&place);
        self.banned.push(place);
        self.way.clear();
        let ways = self.vain.entry(self.goal).or_default();
        *ways += 1;
        if *ways >= WAYS {
            self.memory.give_up(self.goal);
        }
    }

    // Two keys had no response. The first may have moved the player although its picture was lost; the second may have
    // been an impossible step, which servers ignore. At any spot, one of the eight steps is possible.
    fn probe(&mut self) -> u8 {
        self.way.clear();
        Direction::ALL[self.silence % Direction::ALL.len()].key()
    }

    fn choose_way(&mut self, here: usize) {
        let mut is_found = self.find_way(here);
        if !is_found && !self.banned.is_empty() {
            self.banned.clear();
            is_found = self.find_way(here);
        }
        // Everything is explored. Every second round does not rely on the rules of sight.
        for _ in 0..2 {
            if !is_found {
                self.rounds += 1;
                self.memory.doubt_everything(here, self.rounds.is_multiple_of(2));
                is_found = self.find_way(here);
            }
        }
    }

    fn find_way(&mut self, here: usize) -> bool {
        let goal = self.search.find_way(&self.memory, here, (self.habits, &self.banned), &mut self.way);
        self.goal = goal.unwrap_or(here);
        goal.is_some()
    }

    // Everything is visible. A move makes the server resend a picture that may have been lost.
    fn wander(&self, from: usize, first: usize) -> Option<Move> {
        (first..first + Direction::ALL.len()).find_map(|turn| {
            let direction = Direction::ALL[turn % Direction::ALL.len()];
            let step = self.memory.step(direction);
            let next = from.wrapping_add(step);
            self.memory.is_spot(next).then_some(Move { from, step, key: direction.key(), lands: Some(next) })
        })
    }
}

/// The search for the way with the fewest keys to a lure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Habits {
    /// Gold is preferred to the nearest unexplored spot up to this many additional keys.
    pub(crate) patience: usize,
    pub(crate) runs: bool,
}

impl Habits {
    pub(crate) const BEST: Self = Self { patience: 8, runs: true };
}

impl Default for Habits {
    fn default() -> Self {
        Self::BEST
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Move {
    from: usize,
    step: usize,
    key: u8,
    /// `None` if a run leaves the known map or follows an earlier run.
    lands: Option<usize>,
}

/// A breadth-first search in which each edge is a key, with reusable memory.
#[derive(Debug, Default)]
struct Search {
    // By spot: the last key of the shortest way there, 0 if unreached, and where it is pressed.
    keys: Vec<u8>,
    before: Vec<usize>,
    // By spot: bits for the directions of the runs over it that were followed to their ends.
    swept: Vec<u8>,
    queue: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Find {
    rank: usize,
    worth: usize,
    goal: usize,
    last: Move,
}

#[derive(Clone, Copy, Default)]
struct Haul {
    worth: usize,
    goal: usize,
    gold: bool,
}

impl Haul {
    fn pass(&mut self, memory: &Memory, spot: usize) {
        let Some(lure) = memory.lure(spot) else { return };
        let gold = lure == Lure::Gold;
        if self.worth == 0 || gold && !self.gold {
            self.goal = spot;
        }
        self.gold |= gold;
        // One pile is worth more than all unexplored spots on the way.
        self.worth += if gold { 1_000 } else { 1 };
    }
}

impl Search {
    /// Writes the best way to `way`, last move first, and returns its goal.
    fn find_way(
        &mut self,
        memory: &Memory,
        start: usize,
        (habits, banned): (Habits, &[(usize, u8)]),
        way: &mut Vec<Move>,
    ) -> Option<usize> {
        way.clear();
        self.keys.clear();
        self.keys.resize(memory.len(), 0);
        self.swept.clear();
        self.swept.resize(memory.len(), 0);
        self.before.resize(memory.len(), 0);
        self.queue.clear();
        self.queue.push(start);
        // The start must not be reached again.
        self.keys[start] = b'.';
        let patience = if memory.has_gold() { habits.patience } else { 0 };
        let mut best: Option<Find> = None;
        let (mut level, mut length) = (0..1, 1);
        while !level.is_empty() && best.is_none_or(|best| length <= best.rank + patience) {
            for index in level.clone() {
                let from = self.queue[index];
                for (bit, direction) in Direction::ALL.into_iter().enumerate() {
                    let step = memory.step(direction);
                    let key = direction.key();
                    let next = from.wrapping_add(step);
                    if !memory.is_spot(next) {
                        continue;
                    }
                    let is_allowed = |key| banned.is_empty() || !banned.contains(&(from, key));
                    if is_allowed(key) {
                        let mut haul = Haul::default();
                        haul.pass(memory, next);
                        let last = Move { from, step, key, lands: Some(next) };
                        self.take(last, haul, (length, habits.patience), &mut best);
                    }
                    let key = key.to_ascii_uppercase();
                    if habits.runs && self.swept[next] & 1 << bit == 0 && is_allowed(key) {
                        let (haul, lands) = self.run(memory, from, step, 1 << bit);
                        self.take(Move { from, step, key, lands }, haul, (length, habits.patience), &mut best);
                    }
                }
            }
            level = level.end..self.queue.len();
            length += 1;
        }
        let best = best?;
        let mut next = best.last;
        loop {
            way.push(next);
            if next.from == start {
                return Some(best.goal);
            }
            let (from, key) = (self.before[next.from], self.keys[next.from]);
            let direction = Direction::from_key(key.to_ascii_lowercase())?;
            next = Move { from, step: memory.step(direction), key, lands: Some(next.from) };
        }
    }

    // After an earlier run over the same spot, the end is already reachable with as few keys.
    fn run(&mut self, memory: &Memory, from: usize, step: usize, bit: u8) -> (Haul, Option<usize>) {
        let (mut at, mut haul) = (from, Haul::default());
        loop {
            let next = at.wrapping_add(step);
            if memory.is_unknown(next) {
                return (haul, None);
            }
            if !memory.is_spot(next) {
                return (haul, Some(at));
            }
            if self.swept[next] & bit != 0 {
                return (haul, None);
            }
            self.swept[next] |= bit;
            haul.pass(memory, next);
            at = next;
        }
    }

    fn take(&mut self, last: Move, haul: Haul, (length, patience): (usize, usize), best: &mut Option<Find>) {
        if let Some(end) = last.lands.filter(|&end| self.keys[end] == 0) {
            self.keys[end] = last.key;
            self.before[end] = last.from;
            self.queue.push(end);
        }
        if haul.worth > 0 {
            let rank = if haul.gold { length.saturating_sub(patience) } else { length };
            let find = Find { rank, worth: haul.worth, goal: haul.goal, last };
            if best.is_none_or(|best| (rank, best.worth) < (best.rank, find.worth)) {
                *best = Some(find);
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
            let players: Vec<_> = (0..)
                .zip(&places)
                .map(|(purse, cell)| json!({ "name": "Ann", "purse": purse, "cell": cell }))
                .collect();
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
            panic!(
                "gold is left after {most} keys:\n{}\n{}",
                self.game.grid(),
                String::from_utf8_lossy(&self.picture())
            );
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
            let mut picture =
                b"DISPLAY\n+---+                       +---+\n|*@.*###                        |\n".to_vec();
            picture.resize(8 + 3 * 34 - 1, b' ');
            world.client.receive(Time::ZERO, &picture).unwrap();
            assert!(world.client.display().starts_with(&picture[8..]));
            keys.push(char::from(world.explorer.next_key(&world.client).unwrap()));
        }
        assert!(keys.contains(['h', 'H']) && keys.contains(['l', 'L']), "{keys}");
    }
}
