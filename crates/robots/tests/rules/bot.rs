//! A bot among others: it keeps out of blasts, and it hunts.

use netcore::Role;
use robots::{Action, Bot, Client, ClientMessage, Config, Direction, MinStd};

use crate::table::{Table, config, text, told};

const GAMES: u32 = 200;

/// How a player chooses its actions.
enum Brain {
    /// The one under test.
    Bot(Bot),
    /// Walks about at random.
    Walker(MinStd),
    /// Walks about at random, and one action in four is a bomb.
    Bomber(MinStd),
}

impl Brain {
    fn next(&mut self, client: &Client) -> Option<ClientMessage> {
        let walk = |dice: &mut MinStd| Action::Move(Direction::ALL[dice.draw() as usize / 64 % 4]);
        let action = match self {
            Self::Bot(bot) => bot.next_input(client)?,
            Self::Walker(dice) => walk(dice),
            Self::Bomber(dice) => {
                let bombs = dice.draw() / 64 % 4 == 0;
                if bombs { Action::PlaceBomb } else { walk(dice) }
            }
        };
        Some(told(&mut client.clone(), action))
    }
}

fn yard(seed: u32) -> Config {
    let mut config = config();
    config.seed = seed * 48_611;
    config.initial_blocks = 30;
    let parameters = &mut config.parameters;
    (parameters.players_count, parameters.size_x, parameters.size_y) = (4, 14, 12);
    (parameters.explosion_radius, parameters.bomb_timer, parameters.game_length) = (3, 5, 60);
    config
}

// Plays a game; gives how often each player was destroyed.
fn play(config: Config, mut brains: Vec<Brain>) -> Vec<u32> {
    let mut table = Table::new(config);
    let names = ["ann", "bob", "cat", "dan"];
    for name in names {
        table.connect(name, Role::Player, None);
        table.send(name, &ClientMessage::Join { name: text(name) });
    }
    loop {
        let Some(game) = table.server.game() else { unreachable!("it is looked at before the last turn") };
        if game.turn() + 1 == table.server.config().parameters.game_length {
            return game.robots().iter().map(|robot| robot.score).collect();
        }
        for (name, brain) in names.iter().zip(&mut brains) {
            if let Some(message) = brain.next(table.client(name)) {
                table.send(name, &message);
            }
        }
        table.turn();
    }
}

fn dice(seed: u32, number: u32) -> MinStd {
    MinStd::new(seed * 1_000 + number)
}

#[test]
fn it_is_destroyed_at_most_half_as_often_as_a_random_walker_in_its_place() {
    let (mut bots, mut walkers) = (0, 0);
    for seed in 1..=GAMES {
        let among_bombers = |first| vec![first, bomber(seed, 1), bomber(seed, 2), bomber(seed, 3)];
        bots += play(yard(seed), among_bombers(Brain::Bot(Bot::new(seed))))[0];
        walkers += play(yard(seed), among_bombers(Brain::Walker(dice(seed, 0))))[0];
    }
    println!("destroyed in {GAMES} games: bot {bots}, walker {walkers}");
    assert!(bots * 2 <= walkers, "bot {bots}, walker {walkers}");
}

fn bomber(seed: u32, number: u32) -> Brain {
    Brain::Bomber(dice(seed, number))
}

#[test]
fn it_destroys_walkers_and_not_itself() {
    let (mut bots, mut walkers) = (0, 0);
    for seed in 1..=GAMES {
        let brains = vec![
            Brain::Bot(Bot::new(seed)),
            Brain::Walker(dice(seed, 1)),
            Brain::Walker(dice(seed, 2)),
            Brain::Walker(dice(seed, 3)),
        ];
        let scores = play(yard(seed), brains);
        bots += scores[0];
        walkers += scores[1] + scores[2] + scores[3];
    }
    println!("destroyed in {GAMES} games: bot {bots}, three walkers {walkers}");
    // All bombs are its own.
    assert!(walkers >= GAMES, "it should catch one in each game at least: {walkers}");
    assert!(bots * 20 <= walkers, "bot {bots}, walkers {walkers}");
}

#[test]
fn bots_hunt_each_other() {
    let (mut bots, mut walkers) = (0, 0);
    for seed in 1..=GAMES {
        let bot = |number| Brain::Bot(Bot::new(seed * 2 + number));
        let scores = play(yard(seed), vec![bot(0), Brain::Walker(dice(seed, 1)), bot(1), Brain::Walker(dice(seed, 3))]);
        bots += scores[0] + scores[2];
        walkers += scores[1] + scores[3];
    }
    println!("destroyed in {GAMES} games: two bots {bots}, two walkers {walkers}");
    assert!(bots * 2 <= walkers, "bots {bots}, walkers {walkers}");
}

#[test]
fn it_joins_once_and_does_nothing_when_it_looks_on() {
    let mut table = Table::joined(config(), &["ann"]);
    let mut bot = Bot::new(1);
    assert_eq!(bot.next_input(table.client("ann")), None, "it has joined");
    for name in ["bob", "eve"] {
        table.connect(name, Role::Player, None);
        assert!(bot.next_input(table.client(name)).is_some());
    }
    table.send("bob", &ClientMessage::Join { name: text("bob") });
    assert_eq!(bot.next_input(table.client("eve")), None);
    assert_eq!(bot.next_input(&Client::new(text("new"), None)), None);
}
