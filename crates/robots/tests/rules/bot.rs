use netcore::{Level, Role};
use robots::{Action, Bot, Client, ClientMessage, Config, Direction, MinStd};

use crate::table::{Table, config, text};

const GAMES: u32 = 200;

pub(crate) type Brain = Box<dyn FnMut(&Client) -> Option<Action>>;

pub(crate) fn bot(seed: u32, level: Level) -> Brain {
    let mut bot = Bot::with_level(seed, level);
    Box::new(move |client| bot.next_input(client))
}

// A random walker. With `bombs`, one action in four places a bomb.
fn wanderer(seed: u32, number: u32, bombs: bool) -> Brain {
    let mut dice = MinStd::new(seed * 1_000 + number);
    Box::new(move |_| {
        let bomb = bombs && (dice.draw() / 64).is_multiple_of(4);
        Some(if bomb { Action::PlaceBomb } else { Action::Move(Direction::ALL[dice.draw() as usize / 64 % 4]) })
    })
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

pub(crate) fn play(config: Config, mut brains: Vec<Brain>) -> Vec<u32> {
    let names = &["ann", "bob", "cat", "dan"][..brains.len()];
    let mut table = Table::joined(config, names);
    loop {
        let Some(game) = table.server.game() else { unreachable!("it is looked at before the last turn") };
        if game.turn() + 1 == table.server.config().parameters.game_length {
            return game.robots().iter().map(|robot| robot.score).collect();
        }
        for (name, brain) in names.iter().zip(&mut brains) {
            if let Some(action) = brain(table.client(name)) {
                table.send(name, &ClientMessage::Action(action));
            }
        }
        table.turn();
    }
}

fn games(brains: impl Fn(u32) -> Vec<Brain>) -> (u32, u32) {
    let (mut first, mut others) = (0, 0);
    for seed in 1..=GAMES {
        let scores = play(yard(seed), brains(seed));
        first += scores[0];
        others += scores[1..].iter().sum::<u32>();
    }
    (first, others)
}

#[test]
fn bot_is_destroyed_less_often_than_a_random_walker() {
    let among_bombers = |first: fn(u32) -> Brain| {
        move |seed| vec![first(seed), wanderer(seed, 1, true), wanderer(seed, 2, true), wanderer(seed, 3, true)]
    };
    let (bots, _) = games(among_bombers(|seed| bot(seed, Level::Hard)));
    let (walkers, _) = games(among_bombers(|seed| wanderer(seed, 0, false)));
    assert!(bots * 3 <= walkers * 2, "bot {bots}, walker {walkers}");
}

#[test]
fn bot_destroys_walkers_more_often_than_itself() {
    let walker = |seed, number| wanderer(seed, number, false);
    let (bots, walkers) = games(|seed| vec![bot(seed, Level::Hard), walker(seed, 1), walker(seed, 2), walker(seed, 3)]);
    assert!(walkers >= GAMES, "it should catch one in each game at least: {walkers}");
    assert!(bots * 5 <= walkers, "bot {bots}, walkers {walkers}");
}

#[test]
fn bots_hunt_each_other() {
    let (mut bots, mut walkers) = (0, 0);
    for seed in 1..=GAMES {
        let bot = |number| bot(seed * 2 + number, Level::Hard);
        let scores = play(yard(seed), vec![bot(0), wanderer(seed, 1, false), bot(1), wanderer(seed, 3, false)]);
        bots += scores[0] + scores[2];
        walkers += scores[1] + scores[3];
    }
    assert!(bots * 4 <= walkers * 3, "bots {bots}, walkers {walkers}");
}

#[test]
fn bot_joins_once_and_does_not_act_as_a_watcher() {
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
