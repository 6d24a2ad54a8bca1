//! The bot's brain against the real engine: it finishes every map of the repository, alone, within a bound of keys.

use std::{fs, path::Path, sync::Arc, time::Duration};

use netcore::{Client as _, Engine, Framing, Input, Link, Outbox, Output, PeerId, Protocol, Role, Time};
use nuggets::{
    Client, Command, Config, Explorer, Grid, Name, Nuggets, Participant, Rules, Server, client::End, visibility::Vision,
};

/// Keys within which every map has to be finished.
const BOUND: u32 = 50_000;
const SEEDS: std::ops::RangeInclusive<u128> = 1..=20;
const PEER: PeerId = PeerId(0);

/// How long it takes to press a key: on the largest map, pictures that are asked for much faster have to wait.
const PRESSED: Duration = Duration::from_millis(10);

/// A client and a server that hear each other at once.
struct Table {
    now: Time,
    server: Server,
    client: Client,
    out: Outbox,
}

impl Table {
    fn new(grid: &Arc<Grid>, config: Config) -> Self {
        let server = Server::new(Arc::clone(grid), config).expect("rules that a game can have");
        let name = Name::new(b"bot").expect("a name");
        let mut table = Self {
            now: Time::ZERO,
            server,
            client: Client::new(Participant::Player(name), Time::ZERO),
            out: Outbox::new(),
        };
        let connected =
            Input::Connected { peer: PEER, role: Role::Player, link: Link::Datagram, address: "[::1]:9".into() };
        table.server.input(Time::ZERO, connected, &mut table.out);
        table.exchange();
        table
    }

    // Carries datagrams until nobody has anything to say.
    fn exchange(&mut self) {
        while let Some(datagram) = self.client.take_outgoing() {
            let message = Nuggets::decode(&mut (), &datagram, Framing::Whole).expect("a message");
            self.server.input(self.now, Input::Message { peer: PEER, message }, &mut self.out);
            for output in self.out.drain() {
                if let Output::Send { frame, .. } = output {
                    self.client.receive(self.now, &frame).expect("a datagram is never unreadable");
                }
            }
        }
    }

    // Plays to the end; gives the keys it took.
    fn play(mut self, what: &str) -> u32 {
        let mut explorer = Explorer::new();
        for keys in 0..BOUND {
            if let Some(End::Quit(text)) = self.client.end() {
                assert!(text.starts_with("GAME OVER:\n"), "{what}: {text}");
                return keys;
            }
            self.now = self.now.plus(PRESSED);
            let key = explorer.next_key(&self.client);
            let key = key.unwrap_or_else(|| panic!("{what}: no way on after {keys} keys"));
            self.client.act(self.now, Command::Key(key));
            self.exchange();
        }
        panic!("{what}: {} nuggets are left after {BOUND} keys", self.client.remaining());
    }
}

fn maps() -> Vec<(String, Arc<Grid>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../maps");
    let mut maps: Vec<_> = fs::read_dir(folder)
        .expect("the folder of maps")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, Arc::new(Grid::parse(&fs::read(path).expect("a map")).expect("a map that can be played").0))
        })
        .collect();
    maps.sort_by(|one, two| one.0.cmp(&two.0));
    assert!(maps.len() >= 8);
    maps
}

#[test]
fn every_map_is_finished_alone_for_twenty_seeds() {
    for (name, grid) in maps() {
        let keys: Vec<u32> = SEEDS
            .map(|seed| Table::new(&grid, Config { seed, ..Config::default() }).play(&format!("{name}, seed {seed}")))
            .collect();
        let most = keys.iter().max().expect("twenty games");
        println!("{name:<10} at most {most:>5} keys; seeds {SEEDS:?}: {keys:?}");
    }
}

#[test]
fn every_map_is_finished_under_extra_rules() {
    for (name, grid) in maps().into_iter().filter(|(name, _)| name != "continent") {
        for seed in [1, 2] {
            for (what, rules) in [
                ("short sight", Rules { vision: Vision { radius: Some(5) }, ..Rules::default() }),
                ("sight of neighbours only", Rules { vision: Vision { radius: Some(1) }, ..Rules::default() }),
                ("runs that stop", Rules { run_stop: true, ..Rules::default() }),
                ("one pile", Rules { min_piles: 1, max_piles: 1, ..Rules::default() }),
            ] {
                let config = Config { rules, seed, ..Config::default() };
                Table::new(&grid, config).play(&format!("{name}, {what}, seed {seed}"));
            }
        }
    }
}
