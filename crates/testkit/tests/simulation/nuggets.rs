//! Bots over datagrams that never notice a restart, spectators, and a client that sends garbage.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use netcore::{Link, Role, Time};
use nuggets::{Cell, Client, Command, Config, Explorer, Grid, Letter, Name, Participant, Rules, Server, game};
use testkit::{net::Net, simulation::Game};

use super::{Bot, Strategy, address};

const MAP: &str = "
+--------------+      +----------+      +---------+
|..............|      |..........|      |.........|
|..............########..........########.........|
|..............|      |..........|      |.........|
|..............|      +----#-----+      |.........|
|..............|           #            +----#----+
+------#-------+           #                 #
       #             +-----#--------------+  #
       ###############....................####
                     |....................|
                     |....................|
                     +--------------------+
";
/// The players with their purses and places, and the piles.
type Position = (Vec<game::Player>, BTreeMap<Cell, u32>);

const PAUSE: Duration = Duration::from_millis(150);
const AWAY: Duration = Duration::from_millis(300);
/// The latest arrival of a datagram.
const LATE: Duration = Duration::from_secs(5);
/// A game without an event for this long sends no messages.
const STILL: Duration = Duration::from_secs(4);
const BOTS: u8 = 3;
const SPECTATOR: u8 = 8;
/// The interval of floods of keys, and the number of keys.
const FLOOD: (Duration, u32) = (Duration::from_millis(200), 350);
/// Quits and requests a seat again, at this interval.
const QUITTER: u8 = 9;
const QUITTER_EVERY: Duration = Duration::from_millis(350);
/// The interval of garbage, and its length.
const NONSENSE: (Duration, usize) = (Duration::from_millis(200), 6_000);

/// Explores while it plays; a spectator sends no messages on its own.
pub(super) type Player = Bot<Client, (Link, Explorer)>;

impl Strategy<Client> for (Link, Explorer) {
    fn next_action(&mut self, client: &Client) -> Option<Command> {
        self.1.next_key(client).map(Command::Key)
    }
}

fn player(link: Link, participant: Participant, now: Time) -> Player {
    let plays = matches!(participant, Participant::Player(_));
    Bot::new(Client::with_link(link, participant, now), plays, (link, Explorer::new()), now, PAUSE)
}

#[derive(Default)]
pub(super) struct Nuggets {
    rules: Rules,
    letters: BTreeMap<SocketAddr, Letter>,
    // The purse and the remaining gold last reported to a bot.
    reported: BTreeMap<SocketAddr, (u32, u32)>,
    // A GOLD message to the predecessor at the address may arrive late.
    joined: BTreeMap<SocketAddr, Time>,
    // Purses that may be the predecessor's, until a newer one arrives.
    stale: BTreeMap<SocketAddr, u32>,
    // Whether another game follows, and when the players join it.
    rematch: bool,
    again_at: Option<Time>,
    games: u32,
    watcher: u8,
    back_at: Option<Time>,
    nonsense_at: Option<Time>,
    // When the next flood of keys is sent, more than a human can press.
    flood_at: Option<Time>,
    // The next message of the client that quits and returns.
    quitter_at: Time,
    quitter_messages: u32,
    // The players and the piles, and the time of their last change.
    changed: (Position, Time),
    // Messages were delivered that the server lost.
    forked: bool,
}

impl Game for Nuggets {
    type Server = Server;
    type Client = Player;

    fn begin(seed: u64) -> (Self, Server) {
        let (grid, _) = Grid::parse(MAP.trim_start().as_bytes()).unwrap();
        let steal_percent = if seed.is_multiple_of(3) { 50 } else { 0 };
        let (gold, piles) = if seed.is_multiple_of(2) { (60, 10) } else { (1_000, 120) };
        let rules = Rules { steal_percent, gold, min_piles: piles, max_piles: piles, ..Rules::default() };
        let rematch = seed % 3 != 1;
        let server =
            Server::new(Arc::new(grid), Config { seed: seed.into(), rules, rematch, ..Config::default() }).unwrap();
        let nonsense_at = seed.is_multiple_of(4).then_some(Time::ZERO.plus(NONSENSE.0));
        let flood_at = (seed % 8 == 5).then_some(Time::ZERO.plus(FLOOD.0));
        let quitter_at = Time::ZERO.plus(AWAY);
        (Self { rules, rematch, watcher: 100, nonsense_at, flood_at, quitter_at, ..Self::default() }, server)
    }

    fn enter(&mut self, net: &mut Net<Server, Player>) {
        self.add_players(net);
        let watcher = player(Link::Stream, Participant::Spectator, Time::ZERO);
        net.add_stream(address(self.watcher), Role::Watcher, watcher);
    }

    fn step(&mut self, net: &mut Net<Server, Player>) {
        self.check(net);
        let now = net.now();
        if self.nonsense_at.is_some_and(|at| at <= now) {
            self.nonsense_at = Some(now.plus(NONSENSE.0));
            net.send(address(SPECTATOR), vec![b'?'; NONSENSE.1]);
        }
        if self.flood_at.is_some_and(|at| at <= now) {
            self.flood_at = Some(now.plus(FLOOD.0));
            (0..FLOOD.1).for_each(|number| net.send(address(1), if number % 2 == 0 { "KEY h" } else { "KEY l" }));
        }
        if self.quitter_at <= now {
            self.quitter_at = now.plus(QUITTER_EVERY);
            self.quitter_messages += 1;
            let message = if self.quitter_messages.is_multiple_of(4) { "KEY Q" } else { "PLAY Quitter" };
            net.send(address(QUITTER), message);
        }
        if self.rematch {
            let left = (1..=BOTS).chain([SPECTATOR]).any(|number| net.client(address(number)).client.end().is_some());
            match self.again_at {
                None if left => self.again_at = Some(now.plus(AWAY)),
                Some(at) if at <= now => {
                    self.again_at = None;
                    self.add_players(net);
                }
                _ => {}
            }
        }
        if net.client(address(self.watcher)).gone {
            match self.back_at {
                None => self.back_at = Some(now.plus(AWAY)),
                Some(at) if at <= now => {
                    self.back_at = None;
                    net.remove(address(self.watcher));
                    self.watcher = self.watcher.checked_add(1).unwrap_or(100);
                    let watcher = player(Link::Stream, Participant::Spectator, now);
                    net.add_stream(address(self.watcher), Role::Watcher, watcher);
                }
                Some(_) => {}
            }
        }
    }

    fn wake(&self) -> Option<Time> {
        let times = [self.back_at, self.nonsense_at, self.again_at, self.flood_at, Some(self.quitter_at)];
        times.into_iter().flatten().min()
    }

    fn resumed(&mut self, _: &mut Net<Server, Player>, forked: bool) {
        self.forked |= forked;
    }

    fn is_current(&self, net: &Net<Server, Player>, Player { client, strategy: (link, _), .. }: &Player) -> bool {
        let engine = net.engine();
        let game = engine.game();
        // An earlier datagram may be lost, and the next is sent only after a change.
        let is_still = *link == Link::Datagram && self.changed.1.plus(STILL) < net.now();
        if client.end().is_some() || is_still {
            return true;
        }
        let Participant::Player(name) = client.participant() else { return client.remaining() == game.remaining() };
        match game.players().iter().find(|player| Some(player.letter) == client.letter() && player.name == *name) {
            Some(player) => {
                let position = player.cell.map(|cell| game.grid().position(cell));
                (client.purse(), client.remaining(), client.position()) == (player.purse, game.remaining(), position)
            }
            // The bot has its seat only in a state that the server has lost.
            None => self.forked,
        }
    }
}

impl Nuggets {
    fn add_players(&mut self, net: &mut Net<Server, Player>) {
        self.games += 1;
        for number in (1..=BOTS).chain([SPECTATOR]) {
            let at = address(number);
            if net.clients().any(|(other, player)| other == at && player.client.end().is_none()) {
                continue;
            }
            // No name is used in two games.
            let name = Name::new(format!("P{number}-{}", self.games).as_bytes()).unwrap();
            let participant = if number == SPECTATOR { Participant::Spectator } else { Participant::Player(name) };
            net.add(at, player(Link::Datagram, participant, net.now()));
            self.letters.remove(&at);
            self.reported.remove(&at);
            self.joined.insert(at, net.now());
        }
    }

    fn check(&mut self, net: &Net<Server, Player>) {
        let engine = net.engine();
        let game = engine.game();
        let position = (game.players().to_vec(), game.piles().clone());
        if self.changed.0 != position {
            self.changed = (position, net.now());
        }
        let found: u32 = game.players().iter().map(|player| player.purse).sum();
        assert_eq!(found + game.remaining(), self.rules.gold, "the amount of gold changed");
        assert_eq!(game.piles().values().sum::<u32>(), game.remaining());
        let again = game.players().iter().filter(|player| player.name.to_string() == "Quitter").count();
        assert!(again <= 1, "a client that had quit plays again");
        if self.forked {
            return;
        }
        let in_order = net.traffic().overtaken == 0;
        for (at, Player { client, .. }) in net.clients() {
            let Some(letter) = client.letter() else { continue };
            assert_eq!(*self.letters.entry(at).or_insert(letter), letter, "{at} became somebody else");
            let Participant::Player(name) = client.participant() else { continue };
            let player = game.players().iter().find(|player| player.letter == letter && player.name == *name);
            if self.rematch && player.is_none() {
                // The client does not know yet that another game has started.
                continue;
            }
            let now = (client.purse(), client.remaining());
            let is_new = self.joined.get(&at).is_some_and(|joined| net.now() < joined.plus(LATE));
            if is_new && self.games > 1 {
                self.reported.remove(&at);
                self.stale.insert(at, now.0);
                continue;
            }
            if self.stale.get(&at) == Some(&now.0) {
                continue;
            }
            self.stale.remove(&at);
            let purse = player.map(|player| player.purse);
            if self.rules.steal_percent == 0 {
                assert!(purse >= Some(now.0), "{at} received a purse of {} and has {purse:?}", now.0);
            }
            if let Some((purse, remaining)) = self.reported.insert(at, now)
                && in_order
            {
                assert!(purse <= now.0 || self.rules.steal_percent > 0, "{at}: {purse} and then {}", now.0);
                // Zero until it is known.
                assert!(remaining == 0 || remaining >= now.1, "{at}: {remaining} left, and then {}", now.1);
            }
        }
    }
}
