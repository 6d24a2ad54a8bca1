use std::{collections::BTreeSet, net::SocketAddr, sync::Arc, time::Duration};

use netcore::{Client as _, Engine};
use nuggets::{
    Client, Command, Config, Direction, End, Grid, Name, Participant,
    game::{Game, Player},
    grid::{Cell, ROCK},
    server::Server,
    view::SELF,
    visibility::{Field, Sighter, Vision},
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use testkit::{
    net::{Conditions, Net, Traffic},
    seeds::for_each_seed,
};

const MAIN: &[u8] = include_bytes!("../../../maps/main.txt");
const PLAYERS: u8 = 6;
const GOLD: u32 = 250;

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 5_000))
}

fn part(host: u8) -> Participant {
    if host == 0 {
        Participant::Spectator
    } else {
        Participant::Player(Name::new(format!("P{host}").as_bytes()).unwrap())
    }
}

fn net(seed: u64, conditions: Conditions) -> Net<Server, Client> {
    let (grid, _) = Grid::parse(MAIN).unwrap();
    let server = Server::new(Arc::new(grid), Config { seed: seed.into(), ..Config::default() }).unwrap();
    Net::new(server, seed, conditions)
}

fn player(game: &Game, host: u8) -> Option<&Player> {
    let name = format!("P{host}");
    game.players().iter().find(|player| player.name.as_str() == name)
}

/// Invariants under all network conditions.
fn check_invariants(game: &Game) {
    let purses: u32 = game.players().iter().map(|player| player.purse).sum();
    let piled: u32 = game.piles().values().sum();
    assert_eq!(piled, game.remaining());
    assert_eq!(purses + piled, GOLD, "gold neither comes nor goes");
    assert!(game.piles().values().all(|&nuggets| nuggets > 0));
    let names: BTreeSet<&str> = game.players().iter().map(|player| player.name.as_str()).collect();
    assert_eq!(names.len(), game.players().len(), "nobody has two seats");
    let mut taken = BTreeSet::new();
    for cell in game.active().filter_map(|(_, player)| player.cell) {
        assert!(taken.insert(cell), "two players stand at {cell:?}");
        assert!(!game.piles().contains_key(&cell), "a player stands on a pile at {cell:?}");
    }
}

/// Compares the display of a client with the visibility rule.
fn check_picture(game: &Game, viewer: Option<&Player>, client: &Client) {
    let grid = game.grid();
    let own = viewer.and_then(|player| player.cell);
    let sight = own.map(|own| Sighter::default().sight(Field::from(&**grid), own, Vision::default()));
    assert_eq!(client.display().len(), grid.text().len());
    for row in 0..grid.rows() {
        for index in grid.row_range(row) {
            let cell = Cell(u16::try_from(index).unwrap());
            let shown = client.display()[index];
            let at = grid.position(cell);
            if own == Some(cell) {
                assert_eq!(shown, SELF, "{at}");
            } else if sight.as_ref().is_none_or(|sight| sight.contains(cell)) {
                assert_eq!(char::from(shown), char::from(game.content(cell)), "{at} is in sight");
            } else {
                let fits = shown == ROCK || shown == grid.at(cell);
                assert!(fits, "{at} is out of sight and shows {}", char::from(shown));
            }
        }
    }
}

/// Players that type at random.
struct Players {
    net: Net<Server, Client>,
    rng: Pcg64,
}

impl Players {
    fn new(seed: u64) -> Self {
        Self { net: net(seed, Conditions::STORM), rng: Pcg64::seed_from_u64(seed) }
    }

    /// Lets all clients join, one after the other.
    fn sit_down(&mut self) {
        for host in 0..=PLAYERS {
            self.net.add(address(host), Client::new(part(host), self.net.now()));
            self.pass(Duration::from_millis(300));
        }
        // A client repeats its PLAY after fifteen seconds; three losses in a row are improbable enough.
        let patience = self.net.now().plus(Duration::from_secs(50));
        while self.net.now() < patience && !self.net.clients().all(|(_, client)| client.is_joined()) {
            self.pass(Duration::from_millis(100));
            for host in 0..=PLAYERS {
                if self.net.client(address(host)).end() == Some(&End::NoAnswer) {
                    self.net.add(address(host), Client::new(part(host), self.net.now()));
                }
            }
        }
    }

    /// All players type random keys.
    fn type_keys(&mut self, keys: u32) {
        for _ in 0..keys {
            let host = self.rng.random_range(1..=PLAYERS);
            let typed = b"hjklyubnhjklyubnhjklyubnHJKLYUBN?";
            let key = typed[self.rng.random_range(0..typed.len())];
            let now = self.net.now();
            self.net.client_mut(address(host)).act(now, Command::Key(key));
            let pause = self.rng.random_range(5..50);
            self.pass(Duration::from_millis(pause));
        }
    }

    fn pass(&mut self, time: Duration) {
        let until = self.net.now().plus(time);
        loop {
            let more = self.net.step(until);
            check_invariants(self.net.engine().game());
            if !more {
                break;
            }
        }
    }

    /// Ends the bad conditions: all data in flight arrives.
    fn calm_down(&mut self) {
        self.net.set_conditions(Conditions::CALM);
        self.net.settle();
    }

    fn is_over(&self) -> bool {
        self.net.engine().outcome().is_some()
    }
}

#[test]
fn lossy_network_delivers_the_right_display_in_the_end() {
    for_each_seed(30, |seed| {
        let mut table = Players::new(seed);
        table.sit_down();
        for (address, client) in table.net.clients() {
            assert!(client.is_joined(), "{address}: {client:?}");
        }
        assert_eq!(table.net.engine().game().players().len(), usize::from(PLAYERS));
        table.type_keys(400);
        let Traffic { lost, doubled, overtaken, refused, .. } = table.net.traffic();
        assert!(lost > 100 && doubled > 50 && overtaken > 100 && refused == 0, "{:?}", table.net.traffic());

        table.calm_down();
        if table.is_over() {
            return assert!(table.net.summaries()[0].starts_with("GAME OVER:\n"));
        }
        for host in 1..=PLAYERS {
            let way = {
                let engine = table.net.engine();
                let game = engine.game();
                let cell = player(game, host).and_then(|player| player.cell).unwrap();
                Direction::ALL.into_iter().find(|&way| game.grid().step(cell, way).is_some()).unwrap()
            };
            let now = table.net.now();
            table.net.client_mut(address(host)).act(now, Command::Key(way.key()));
            table.net.settle();
            if table.is_over() {
                return;
            }
        }
        let engine = table.net.engine();
        let game = engine.game();
        for host in 0..=PLAYERS {
            let client = table.net.client(address(host));
            let own = player(game, host);
            check_picture(game, own, client);
            if let Some(own) = own {
                // After waiting a while for its welcome, a client plays with the data that has arrived.
                if client.size().is_some() {
                    assert_eq!(client.position(), own.cell.map(|cell| game.grid().position(cell)));
                }
                assert!(client.letter().is_none_or(|letter| letter == own.letter));
            }
        }
        drop(engine);
        // A refresh leaves the display unchanged. It corrects the gold, because messages about it may have been lost.
        let before: Vec<Vec<u8>> = table.net.clients().map(|(_, client)| client.display().to_vec()).collect();
        for host in 0..=PLAYERS {
            assert!(table.net.refresh(address(host)));
        }
        table.net.settle();
        for ((_, client), before) in table.net.clients().zip(before) {
            assert_eq!(client.display(), before);
            assert_eq!(client.size(), Some((21, 79)));
            assert_eq!(client.remaining(), table.net.engine().game().remaining());
        }
        for host in 1..=PLAYERS {
            let engine = table.net.engine();
            let own = player(engine.game(), host).unwrap();
            let client = table.net.client(address(host));
            assert_eq!((client.purse(), client.letter()), (own.purse, Some(own.letter)));
        }
    });
}

#[test]
fn an_address_is_a_peer_from_its_first_message_to_its_last() {
    let mut net = net(1, Conditions::CALM);
    let (stranger, watcher) = (address(1), address(2));
    for (message, answers) in [("KEY h", 0), ("KEY Q", 0), ("hello", 1)] {
        net.send(stranger, message);
        net.settle();
        assert_eq!((net.take_mail(stranger).len(), net.peers()), (answers, 0), "{message}");
    }
    net.send(watcher, "SPECTATE");
    net.settle();
    assert_eq!((net.take_mail(watcher).len(), net.peers()), (3, 1));
    net.send(stranger, "PLAY  ");
    net.settle();
    assert_eq!((net.take_mail(stranger).len(), net.peers()), (1, 1), "refused, told so and forgotten");
    net.send(watcher, "KEY Q");
    net.send(watcher, "KEY Q");
    net.settle();
    assert_eq!(net.take_mail(watcher), [&b"QUIT Thanks for watching!"[..]]);
    assert_eq!(net.peers(), 0);
}
