//! How often a person would beat each level of bot.
//!
//! The person is a script with a human's pace and sight. It sees the board one turn late, decides in every other turn,
//! holds its key down in between, and sometimes presses a wrong one. It sees only bombs near its robot, avoids their
//! lines, walks towards the nearest robot, and places a bomb that reaches a robot and leaves an escape. A good player
//! decides in every turn, presses no wrong key, and sees all bombs and their timers.

use std::collections::{BTreeSet, VecDeque};

use netcore::Level;
use robots::{Action, Blast, Board, Client, Config, Direction, MinStd, Position};

use crate::{
    bot::{self, Brain, bot},
    table::config,
};

/// The person notices bombs up to this distance along either axis.
const SIGHT: u16 = 5;
/// Turns between two decisions: 2.5 decisions per second at 200 ms a turn.
const PACE: u16 = 2;
/// One key in this many is wrong.
const SLIPS: u32 = 20;
/// A good player ignores bombs with more turns left.
const URGENT: u16 = 4;
const SEARCH: usize = 60;

#[derive(Debug, Clone)]
struct Glance {
    board: Board,
    blasts: Vec<Blast>,
    others: Vec<Position>,
    reach: u16,
}

struct Person {
    dice: MinStd,
    // The last two, the newest last.
    glances: VecDeque<Glance>,
    held: Option<Action>,
    good: bool,
}

impl Person {
    fn new(seed: u32) -> Self {
        Self { dice: MinStd::new(seed), glances: VecDeque::new(), held: None, good: false }
    }

    fn good(seed: u32) -> Self {
        Self { good: true, ..Self::new(seed) }
    }

    fn next(&mut self, client: &Client) -> Option<Action> {
        let (game, own) = (client.game()?, client.own_player()?);
        let here = *game.positions().get(&own)?;
        let near = |position: Position| position.x.abs_diff(here.x) <= SIGHT && position.y.abs_diff(here.y) <= SIGHT;
        let bombs = game.bombs().filter(|bomb| if self.good { bomb.timer <= URGENT } else { near(bomb.position) });
        let blasts = bombs.map(|bomb| Blast::new(game.board(), bomb.position, game.explosion_radius())).collect();
        let others = game.positions().iter().filter(|&(&id, _)| id != own).map(|(_, &position)| position).collect();
        let board = game.board().clone();
        self.glances.push_back(Glance { board, blasts, others, reach: game.explosion_radius() });
        if self.glances.len() > 2 {
            self.glances.pop_front();
        }
        if self.good || game.turn() % PACE == 0 {
            // The position of the person's robot is current; the rest is a turn old.
            let glance = self.glances[0].clone();
            self.held = self.decide(&glance, here);
            return self.held;
        }
        // The person does not hold the bomb key.
        self.held.filter(|action| matches!(action, Action::Move(_)))
    }

    fn decide(&mut self, glance: &Glance, here: Position) -> Option<Action> {
        if !self.good && self.roll(SLIPS) == 0 {
            return Some(Action::Move(Direction::ALL[self.roll(4) as usize]));
        }
        let safe = |position: Position| !glance.blasts.iter().any(|blast| blast.contains(position));
        if !safe(here) {
            return way(&glance.board, here, safe).map(Action::Move);
        }
        let bomb = Blast::new(&glance.board, here, glance.reach);
        let escapes = way(&glance.board, here, |position| safe(position) && !bomb.contains(position)).is_some();
        if glance.others.iter().any(|&other| bomb.contains(other)) && escapes && self.roll(3) > 0 {
            return Some(Action::PlaceBomb);
        }
        let others: BTreeSet<Position> = glance.others.iter().copied().filter(|&other| other != here).collect();
        let towards = way(&glance.board, here, |position| others.contains(&position));
        let Some(towards) = towards else {
            return (escapes && self.roll(4) == 0).then_some(Action::PlaceBomb);
        };
        glance.board.step(here, towards).filter(|&next| safe(next)).map(|_| Action::Move(towards))
    }

    fn roll(&mut self, sides: u32) -> u32 {
        self.dice.draw() / 64 % sides
    }
}

fn way(board: &Board, here: Position, wanted: impl Fn(Position) -> bool) -> Option<Direction> {
    let mut met = BTreeSet::from([here]);
    let mut reached: Vec<(Position, Option<Direction>)> = vec![(here, None)];
    let mut at = 0;
    while at < reached.len().min(SEARCH) {
        let (field, first) = reached[at];
        if first.is_some() && wanted(field) {
            return first;
        }
        for direction in Direction::ALL {
            if let Some(next) = board.step(field, direction).filter(|&next| !board.is_block(next))
                && met.insert(next)
            {
                reached.push((next, first.or(Some(direction))));
            }
        }
        at += 1;
    }
    None
}

/// The configuration of `robots-server -c 2 -x 10 -y 10`.
fn usual(seed: u32) -> Config {
    let mut config = config();
    (config.seed, config.initial_blocks) = (seed * 48_611, 20);
    let parameters = &mut config.parameters;
    (parameters.explosion_radius, parameters.bomb_timer, parameters.game_length) = (4, 5, 300);
    config
}

// Returns the deaths of the person and the bot. They alternate as the first player.
fn play(seed: u32, level: Level) -> [u32; 2] {
    let mut person = Person::new(seed);
    let mut brains: Vec<Brain> = vec![Box::new(move |client| person.next(client)), bot(seed, level)];
    let is_second = !seed.is_multiple_of(2);
    brains.rotate_left(usize::from(is_second));
    let mut deaths = bot::play(usual(seed), brains);
    deaths.rotate_left(usize::from(is_second));
    [deaths[0], deaths[1]]
}

#[derive(Debug, Default)]
struct Record {
    won: u32,
    drawn: u32,
    lost: u32,
    deaths: [u32; 2],
}

impl Record {
    fn of(level: Level, games: u32) -> Self {
        let mut record = Self::default();
        for seed in 1..=games {
            let [person, bot] = play(seed, level);
            match person.cmp(&bot) {
                std::cmp::Ordering::Less => record.won += 1,
                std::cmp::Ordering::Equal => record.drawn += 1,
                std::cmp::Ordering::Greater => record.lost += 1,
            }
            record.deaths[0] += person;
            record.deaths[1] += bot;
        }
        record
    }

    // The share of games won by the person, in percent. Draws count half.
    fn percent(&self) -> u32 {
        (100 * self.won + 50 * self.drawn) / (self.won + self.drawn + self.lost)
    }
}

// Deaths of the player and of three bots in a default room of the hub.
fn in_a_room(seed: u32, player: Brain, level: Level) -> (u32, Vec<u32>) {
    let bots = [0, 1_000, 2_000].map(|number| bot(seed + number, level));
    let mut deaths = bot::play(Config::arena(seed * 48_611), [player].into_iter().chain(bots).collect());
    let rest = deaths.split_off(1);
    (deaths[0], rest)
}

fn is_last_if_idle(seed: u32) -> bool {
    let (idle, bots) = in_a_room(seed, Box::new(|_| None), Level::Easy);
    bots.iter().all(|&bot| bot < idle)
}

fn good_player_wins_against_hard_bots(seed: u32) -> bool {
    let mut person = Person::good(seed);
    let (person, bots) = in_a_room(seed, Box::new(move |client| person.next(client)), Level::Hard);
    bots.iter().all(|&bot| bot > person)
}

fn percent(games: u32, is_so: impl Fn(u32) -> bool) -> usize {
    (1..=games).filter(|&seed| is_so(seed)).count() * 100 / games as usize
}

#[test]
fn idle_player_comes_last_in_nine_of_ten_games_against_easy_bots() {
    let last = percent(60, is_last_if_idle);
    assert!(last >= 90, "{last}%");
}

#[test]
fn good_player_beats_three_hard_bots_in_one_game_of_five() {
    let won = percent(40, good_player_wins_against_hard_bots);
    assert!(won >= 20, "{won}%");
}

#[test]
fn a_person_beats_a_normal_bot_about_half_of_the_time() {
    let [easy, normal, hard] = [Level::Easy, Level::Normal, Level::Hard].map(|level| Record::of(level, 40).percent());
    assert!(easy >= 75 && (35..=65).contains(&normal) && hard <= 25, "easy {easy}, normal {normal}, hard {hard}");
}

/// `cargo test -p robots win_rates -- --ignored --nocapture` prints the table of docs/robots.md.
#[test]
#[ignore = "it measures"]
fn win_rates_of_a_person_against_each_level() {
    for level in [Level::Easy, Level::Normal, Level::Hard] {
        let record = Record::of(level, 1_000);
        let Record { won, drawn, lost, deaths: [person, bot] } = record;
        println!(
            "{level:?}: {won} won, {drawn} drawn, {lost} lost, {}%; deaths: person {person}, bot {bot}",
            record.percent()
        );
    }
    println!("idle player last against three easy bots: {}%", percent(1_000, is_last_if_idle));
    println!("good player wins against three hard bots: {}%", percent(1_000, good_player_wins_against_hard_bots));
}
