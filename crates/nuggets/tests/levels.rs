//! Bots against the real engine: they complete every map of this project, and each level beats a human player as often
//! as `docs/nuggets.md` states.
//!
//! The person is a script with human limits. It presses a key every 160 to 200 ms, and pauses 350 ms longer for each
//! decision. It walks to the nearest gold in sight, otherwise to the nearest unvisited spot next to an unknown cell. It
//! runs where its way is straight for three spots or more and the run ends where its way ends or bends.

use std::{
    collections::{BTreeSet, VecDeque},
    fs,
    path::Path,
    sync::Arc,
    time::Duration,
};

use netcore::{Client as _, Engine, Framing, Input, Level, Link, Outbox, Output, PeerId, Protocol, Role, Time, To};
use nuggets::{
    Bot, Client, Command, Config, Direction, Grid, Name, Nuggets, Participant, Rules, Server, visibility::Vision,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const LONGEST: Duration = Duration::from_secs(3_600);

enum Steers {
    Person(Person),
    Bot(Box<Bot>),
}

#[derive(Default)]
struct Person {
    way: VecDeque<u8>,
    // The target of the last key, and whether the way leads to gold.
    expected: usize,
    fetches: bool,
    been: BTreeSet<usize>,
    looked: bool,
}

impl Person {
    fn next_key(&mut self, client: &Client) -> Option<u8> {
        let width = usize::from(client.size()?.1) + 1;
        let display = client.display();
        let here = display.iter().position(|&byte| byte == b'@')?;
        self.been.insert(here);
        let has_news = !self.fetches && display.contains(&b'*');
        self.looked = self.way.is_empty() || self.expected != here || has_news;
        if self.looked {
            (self.fetches, self.way) = decide(display, width, here, &self.been)?;
        }
        let key = self.way.pop_front()?;
        self.fetches &= !self.way.is_empty();
        let passed = lands(display, width, here, key);
        self.expected = passed.last().copied().unwrap_or(here);
        self.been.extend(passed);
        Some(key)
    }

    fn pause(&self, rng: &mut Pcg64) -> Duration {
        Duration::from_millis(rng.random_range(160..=200) + if self.looked { 350 } else { 0 })
    }
}

fn step(width: usize, at: usize, direction: Direction) -> usize {
    let cols = u16::try_from(width - 1).expect("a map's width");
    at.wrapping_add_signed(isize::try_from(direction.offset(cols)).expect("a small number"))
}

fn is_spot(display: &[u8], at: usize) -> bool {
    display.get(at).is_some_and(|byte| b".#*@".contains(byte) || byte.is_ascii_uppercase())
}

fn lands(display: &[u8], width: usize, from: usize, key: u8) -> Vec<usize> {
    let direction = Direction::from_key(key.to_ascii_lowercase()).expect("a key that moves");
    let spots = std::iter::successors(Some(from), |&at| {
        Some(step(width, at, direction)).filter(|&next| is_spot(display, next))
    });
    spots.skip(1).take(if key.is_ascii_lowercase() { 1 } else { usize::MAX }).collect()
}

// Returns the keys, and whether they lead to gold.
fn decide(display: &[u8], width: usize, here: usize, been: &BTreeSet<usize>) -> Option<(bool, VecDeque<u8>)> {
    let mut before: Vec<Option<(usize, Direction)>> = vec![None; display.len()];
    let mut queue = VecDeque::from([here]);
    let (mut gold, mut edge, mut seen) = (None, None, vec![here]);
    while let (Some(at), None) = (queue.pop_front(), gold) {
        if display[at] == b'*' {
            gold = Some(at);
        }
        let unknown = |direction| display.get(step(width, at, direction)) == Some(&b' ');
        if edge.is_none() && !been.contains(&at) && Direction::ALL.into_iter().any(unknown) {
            edge = Some(at);
        }
        for direction in Direction::ALL {
            let next = step(width, at, direction);
            if is_spot(display, next) && before[next].is_none() && next != here {
                before[next] = Some((at, direction));
                seen.push(next);
                queue.push_back(next);
            }
        }
    }
    let goal = gold.or(edge).or_else(|| seen.last().copied().filter(|&last| last != here))?;
    let (mut spots, mut at) = (vec![], goal);
    while let Some((from, direction)) = before[at] {
        spots.push((from, direction));
        at = from;
    }
    spots.reverse();
    let mut keys = VecDeque::new();
    let mut next = 0;
    while let Some(&(from, direction)) = spots.get(next) {
        let straight = spots[next..].iter().take_while(|spot| spot.1 == direction).count();
        let end = spots.get(next + straight).map_or(goal, |spot| spot.0);
        let run = direction.key().to_ascii_uppercase();
        if straight >= 3 && lands(display, width, from, run).last() == Some(&end) {
            keys.push_back(run);
            next += straight;
        } else {
            keys.push_back(direction.key());
            next += 1;
        }
    }
    Some((gold.is_some(), keys))
}

struct Player {
    client: Client,
    steers: Steers,
    due: Time,
}

fn bot(level: Level) -> Steers {
    Steers::Bot(Box::new(Bot::new(level)))
}

// Returns the purses in order of joining, and the number of turns.
fn game(grid: &Arc<Grid>, config: Config, players: Vec<Steers>) -> (Vec<u32>, usize) {
    let mut server = Server::new(Arc::clone(grid), config).expect("rules that a game can have");
    let mut rng = Pcg64::seed_from_u64(config.seed.try_into().expect("a small seed"));
    let mut out = Outbox::new();
    let mut players: Vec<Player> = (0..)
        .zip(players)
        .map(|(number, steers)| {
            let (peer, address) = (PeerId(number), format!("192.0.2.1:{number}"));
            let connected =
                Input::Connected { peer, role: Role::Player, link: Link::Message, address: (&address).into() };
            server.input(Time::ZERO, connected, &mut out);
            let name = Name::new(format!("{number}").as_bytes()).expect("a name");
            let client = Client::with_link(Link::Message, Participant::Player(name), Time::ZERO);
            Player { client, steers, due: Time::from_millis(500) }
        })
        .collect();
    // All players join before any of them moves.
    let mut now = Time::ZERO;
    let mut turn = 0;
    loop {
        for at in 0..players.len() {
            while let Some(message) = players[at].client.take_outgoing() {
                let message = Nuggets::decode(&mut (), &message, Framing::Whole).expect("a message");
                let peer = PeerId(u64::try_from(at).expect("few bots"));
                server.input(now, Input::Message { peer, message }, &mut out);
                for output in out.drain() {
                    if let Output::Send { to: To::Peer(PeerId(to)), frame } = output {
                        let to = usize::try_from(to).expect("few bots");
                        players[to].client.receive(now, &frame).expect("a message is never unreadable");
                    }
                }
            }
        }
        if let Some(scores) = players[0].client.scores() {
            return (scores.rows.iter().map(|row| row.purse).collect(), turn);
        }
        // Ties rotate, so that no player is always first.
        turn += 1;
        let count = players.len();
        let at = (0..count).map(|at| (at + turn) % count).min_by_key(|&at| players[at].due).expect("a player at least");
        let Player { client, steers, due } = &mut players[at];
        now = *due;
        assert!(now.since(Time::ZERO) < LONGEST, "nobody finds the rest of {} nuggets", client.remaining());
        let (key, pause) = match steers {
            Steers::Person(person) => (person.next_key(client), person.pause(&mut rng)),
            Steers::Bot(bot) => (bot.next_key(client, &mut rng), bot.pause(&mut rng)),
        };
        *due = now.plus(pause);
        if let Some(key) = key {
            client.act(now, Command::Key(key));
        }
    }
}

fn map(name: &str) -> Arc<Grid> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../maps").join(name).with_extension("txt");
    Arc::new(Grid::parse(&fs::read(path).expect("a map")).expect("a map that can be played").0)
}

// The number of games won by the person. A shared first place counts half.
fn won(grid: &Arc<Grid>, level: Level, bots: usize, seeds: u64) -> f64 {
    let won = |purses: Vec<u32>| {
        let best = *purses.iter().max().expect("a purse");
        let first = purses.iter().filter(|&&purse| purse == best).count();
        if purses[0] == best { if first > 1 { 0.5 } else { 1.0 } } else { 0.0 }
    };
    let table = |seed: u64| {
        let others = (0..bots).map(|_| bot(level));
        let players = [Steers::Person(Person::default())].into_iter().chain(others).collect();
        game(grid, Config { seed: seed.into(), ..Config::default() }, players).0
    };
    (1..=seeds).map(|seed| won(table(seed))).sum()
}

#[test]
#[cfg_attr(debug_assertions, ignore = "plays every map by several rules; .ci/run --release runs it")]
fn every_map_is_finished_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../maps");
    let names = fs::read_dir(folder).expect("the maps").map(|entry| entry.expect("an entry").path());
    let names = names.filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
    let names: Vec<String> = names.map(|path| path.file_stem().expect("a name").display().to_string()).collect();
    assert!(names.len() >= 8);
    let rules = Rules::default();
    let extras = [
        Rules { vision: Vision { radius: Some(5) }, ..rules },
        Rules { vision: Vision { radius: Some(1) }, ..rules },
        Rules { run_stop: true, ..rules },
        Rules { min_piles: 1, max_piles: 1, ..rules },
    ];
    for name in names {
        let grid = map(&name);
        let mut most = 0;
        for seed in 1..=20 {
            let extras = extras.iter().filter(|_| name != "continent" && seed <= 2);
            for &rules in [rules].iter().chain(extras) {
                let (purses, keys) = game(&grid, Config { rules, seed, ..Config::default() }, vec![bot(Level::Hard)]);
                assert_eq!(purses, [250], "{name}, seed {seed}, {rules:?}");
                most = if rules == Rules::default() { most.max(keys) } else { most };
            }
        }
        println!("{name}: at most {most} keys");
    }
}

#[test]
fn an_easier_bot_loses_more_often() {
    let main = map("main");
    let won = [Level::Easy, Level::Normal, Level::Hard].map(|level| won(&main, level, 1, 40));
    assert!(won[0] > won[1] && won[1] > won[2], "{won:?}");
}

#[test]
#[ignore = "prints the figures of docs/nuggets.md: just measure-bots"]
fn measure() {
    const SEEDS: u32 = 200;
    println!("games of {SEEDS} that the person wins");
    for name in ["main", "brawl", "gold", "warren"] {
        let grid = map(name);
        for bots in [1, 3, 5] {
            let rates = [Level::Easy, Level::Normal, Level::Hard].map(|level| {
                format!("{level:?} {:>3.0} %", won(&grid, level, bots, SEEDS.into()) * 100.0 / f64::from(SEEDS))
            });
            println!("{name:<8} {bots} bots: {}", rates.join(", "));
        }
    }
}
