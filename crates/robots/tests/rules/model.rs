//! Long random games against a slow and obvious second implementation: arrays of the board's size and plain loops.

use std::collections::BTreeMap;

use netcore::Role;
use robots::{
    Action, BombId, ClientMessage, Config, Direction, Event, MinStd, Player, PlayerId, Position, ServerMessage,
};

use crate::table::{Said, Table, config, text};

struct Slow {
    state: u64,
    width: usize,
    height: usize,
    blocks: Vec<Vec<bool>>,
    robots: Vec<(usize, usize)>,
    scores: Vec<u32>,
    // Id, x, y and timer.
    bombs: Vec<(u32, usize, usize, u16)>,
    placed: u32,
}

fn position(x: usize, y: usize) -> Position {
    Position::new(u16::try_from(x).unwrap(), u16::try_from(y).unwrap())
}

fn player(number: usize) -> PlayerId {
    PlayerId(u8::try_from(number).unwrap())
}

impl Slow {
    fn draw(&mut self, size: usize) -> usize {
        self.state = self.state * 48_271 % 2_147_483_647;
        usize::try_from(self.state).unwrap() % size
    }

    fn draw_field(&mut self) -> (usize, usize) {
        let x = self.draw(self.width);
        (x, self.draw(self.height))
    }

    fn turn_0(&mut self, config: &Config) -> Vec<Event> {
        self.blocks = vec![vec![false; self.height]; self.width];
        self.robots.clear();
        self.bombs.clear();
        self.placed = 0;
        let players = usize::from(config.parameters.players_count);
        self.scores = vec![0; players];
        let mut events = vec![];
        for number in 0..players {
            let (x, y) = self.draw_field();
            self.robots.push((x, y));
            events.push(Event::PlayerMoved { id: player(number), position: position(x, y) });
        }
        for _ in 0..config.initial_blocks {
            let (x, y) = self.draw_field();
            if !self.blocks[x][y] {
                self.blocks[x][y] = true;
                events.push(Event::BlockPlaced { position: position(x, y) });
            }
        }
        events
    }

    // Whether a bomb covers each field, walked field by field.
    fn blast(&self, (x, y): (usize, usize), radius: u16) -> Vec<Vec<bool>> {
        let mut covered = vec![vec![false; self.height]; self.width];
        covered[x][y] = true;
        if self.blocks[x][y] {
            return covered;
        }
        for (dx, dy) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
            let (mut x, mut y) = (x, y);
            for _ in 0..radius {
                let (Some(next_x), Some(next_y)) = (x.checked_add_signed(dx), y.checked_add_signed(dy)) else { break };
                if next_x >= self.width || next_y >= self.height {
                    break;
                }
                (x, y) = (next_x, next_y);
                covered[x][y] = true;
                if self.blocks[x][y] {
                    break;
                }
            }
        }
        covered
    }

    fn turn(&mut self, config: &Config, actions: &BTreeMap<usize, Action>) -> Vec<Event> {
        let mut events = vec![];
        let mut any = vec![vec![false; self.height]; self.width];
        for bomb in &mut self.bombs {
            bomb.3 -= 1;
        }
        for &(id, x, y, timer) in &self.bombs {
            if timer > 0 {
                continue;
            }
            let covered = self.blast((x, y), config.parameters.explosion_radius);
            let mut robots_destroyed = vec![];
            for (number, &(x, y)) in self.robots.iter().enumerate() {
                if covered[x][y] {
                    robots_destroyed.push(player(number));
                }
            }
            let mut blocks_destroyed = vec![];
            for (x, (any, covered)) in any.iter_mut().zip(&covered).enumerate() {
                for (y, (any, &covered)) in any.iter_mut().zip(covered).enumerate() {
                    *any |= covered;
                    if covered && self.blocks[x][y] {
                        blocks_destroyed.push(position(x, y));
                    }
                }
            }
            events.push(Event::BombExploded { id: BombId(id), robots_destroyed, blocks_destroyed });
        }
        self.bombs.retain(|bomb| bomb.3 > 0);
        for (blocks, any) in self.blocks.iter_mut().zip(&any) {
            for (block, any) in blocks.iter_mut().zip(any) {
                *block &= !any;
            }
        }
        for number in 0..self.robots.len() {
            let (x, y) = self.robots[number];
            if any[x][y] {
                self.robots[number] = self.draw_field();
                self.scores[number] += 1;
                let (x, y) = self.robots[number];
                events.push(Event::PlayerMoved { id: player(number), position: position(x, y) });
                continue;
            }
            match actions.get(&number) {
                None => {}
                Some(Action::PlaceBomb) => {
                    events.push(Event::BombPlaced { id: BombId(self.placed), position: position(x, y) });
                    self.bombs.push((self.placed, x, y, config.parameters.bomb_timer));
                    self.placed += 1;
                }
                Some(Action::PlaceBlock) if self.blocks[x][y] => {}
                Some(Action::PlaceBlock) => {
                    self.blocks[x][y] = true;
                    events.push(Event::BlockPlaced { position: position(x, y) });
                }
                Some(Action::Move(way)) => {
                    let (dx, dy) = match way {
                        Direction::Up => (0, 1),
                        Direction::Right => (1, 0),
                        Direction::Down => (0, -1),
                        Direction::Left => (-1, 0),
                    };
                    let to = x.checked_add_signed(dx).zip(y.checked_add_signed(dy));
                    if let Some((x, y)) = to
                        && x < self.width
                        && y < self.height
                        && !self.blocks[x][y]
                    {
                        self.robots[number] = (x, y);
                        events.push(Event::PlayerMoved { id: player(number), position: position(x, y) });
                    }
                }
            }
        }
        events
    }

    fn scores(&self) -> BTreeMap<PlayerId, u32> {
        self.scores.iter().enumerate().map(|(number, &score)| (player(number), score)).collect()
    }
}

// The order of the fields within an explosion is unspecified.
fn sorted(said: Vec<Said>) -> Vec<Said> {
    said.into_iter()
        .map(|mut said| {
            if let Said::All(ServerMessage::Turn { events, .. }) = &mut said {
                for event in events {
                    if let Event::BombExploded { blocks_destroyed, .. } = event {
                        blocks_destroyed.sort_unstable();
                    }
                }
            }
            said
        })
        .collect()
}

// The actions of the players are drawn from a separate generator.
fn roll(dice: &mut MinStd, sides: usize) -> usize {
    dice.draw() as usize / 64 % sides
}

fn action(dice: &mut MinStd) -> Action {
    match roll(dice, 9) {
        0 | 1 => Action::PlaceBomb,
        2 => Action::PlaceBlock,
        way => Action::Move(Direction::ALL[way % 4]),
    }
}

fn play(config: &Config, dice: &mut MinStd, games: usize) -> u32 {
    let players = usize::from(config.parameters.players_count);
    let mut slow = Slow {
        state: config.seed.into(),
        width: config.parameters.size_x.into(),
        height: config.parameters.size_y.into(),
        blocks: vec![],
        robots: vec![],
        scores: vec![],
        bombs: vec![],
        placed: 0,
    };
    let mut table = Table::new(config.clone());
    let names: Vec<String> = (0..players).map(|number| format!("robot{number}")).collect();
    for name in &names {
        table.connect(name, Role::Player, None);
    }
    let mut destroyed = 0;
    for _ in 0..games {
        let mut list = BTreeMap::new();
        for (number, name) in names.iter().enumerate() {
            let joining = Player { name: text(name), address: text(&format!("10.0.0.1:{}", 4_000 + number)) };
            list.insert(player(number), joining.clone());
            let mut said = vec![Said::All(ServerMessage::AcceptedPlayer { id: player(number), player: joining })];
            if number + 1 == players {
                said.push(Said::All(ServerMessage::GameStarted { players: list.clone() }));
                said.push(Said::All(ServerMessage::Turn { turn: 0, events: slow.turn_0(config) }));
            }
            assert_eq!(table.send(name, &ClientMessage::Join { name: text(name) }), said);
        }
        for turn in 1..=config.parameters.game_length {
            let mut actions = BTreeMap::new();
            for _ in 0..players + players / 4 {
                let number = roll(dice, players);
                let action = action(dice);
                actions.insert(number, action);
                assert_eq!(table.send(&names[number], &ClientMessage::Action(action)), []);
            }
            let mut said = vec![Said::All(ServerMessage::Turn { turn, events: slow.turn(config, &actions) })];
            if turn == config.parameters.game_length {
                said.push(Said::All(ServerMessage::GameEnded { scores: slow.scores() }));
            }
            assert_eq!(sorted(table.turn()), said);
            // What a client draws is where a robot would have died.
            if let Some(game) = table.client(&names[0]).game() {
                let cells = robots::explosion::covered(game.blasts(), 1_000_000).unwrap();
                assert!(cells.iter().all(|&cell| game.board().contains(cell)));
            }
        }
        destroyed += slow.scores.iter().sum::<u32>();
    }
    destroyed
}

#[test]
fn random_games_are_those_of_the_obvious_rules() {
    let mut destroyed = 0;
    for seed in 1..=150 {
        let dice = &mut MinStd::new(seed);
        let mut random = |low: usize, high: usize| low + roll(dice, high - low + 1);
        let mut config = config();
        config.seed = seed * 7_919;
        let parameters = &mut config.parameters;
        let small = |number: usize| u16::try_from(number).unwrap();
        parameters.players_count = u8::try_from(random(1, 9)).unwrap();
        (parameters.size_x, parameters.size_y) = (small(random(1, 12)), small(random(1, 12)));
        parameters.game_length = small(random(1, 60));
        parameters.bomb_timer = small(random(1, 6));
        parameters.explosion_radius = [0, 1, 2, 3, 5, 65_535][random(0, 5)];
        config.initial_blocks = small(random(0, 60));
        destroyed += play(&config, dice, 3);
    }
    assert!(destroyed > 1_000, "games in which nobody is destroyed prove little: {destroyed}");
}

#[test]
fn a_crowd_on_a_small_board_as_well() {
    let mut config = config();
    let parameters = &mut config.parameters;
    (parameters.players_count, parameters.size_x, parameters.size_y) = (255, 25, 20);
    (parameters.bomb_timer, parameters.explosion_radius, parameters.game_length) = (4, 3, 12);
    config.initial_blocks = 200;
    assert!(play(&config, &mut MinStd::new(5), 1) > 100);
}
