//! Hosts at the door of a match of nuggets.

use bytes::BytesMut;
use netcore::Hosted;
use tokio::time::advance;

use super::*;
use crate::room::{costs::MAX_HINTS_OF_HOST, holds::Whom};

const MAP: &[u8] = b"+---------+\n|.........|\n|.........|\n|.........|\n|.........|\n+---------+\n";

/// A room of nuggets with a doorkeeper, at a time that goes on.
struct Hall {
    room: Door<Hosted<nuggets::Server>>,
    now: Time,
    next: u64,
    known: Arc<Seats>,
}

impl Hall {
    fn new() -> Self {
        let (grid, _) = nuggets::Grid::parse(MAP).unwrap();
        let config = nuggets::Config {
            rules: nuggets::Rules { gold: 250, min_piles: 2, max_piles: 3, ..Default::default() },
            rematch: true,
            seed: 1,
            ..nuggets::Config::default()
        };
        let server = nuggets::Server::new(Arc::new(grid), config).unwrap();
        let known = Arc::<Seats>::default();
        let keeper = Doorkeeper::new(
            Game::Nuggets,
            Mask::new([7; 32]),
            (Arc::clone(&known), Arc::default(), Arc::default()),
            Arc::default(),
        );
        Self { room: Door::new(Hosted::new(server), keeper), now: Time::ZERO, next: 0, known }
    }

    fn say(&mut self, peer: PeerId, text: &str) -> Vec<Output> {
        self.now = self.now.plus(Duration::from_secs(1));
        let mut out = Outbox::new();
        self.room.receive(self.now, peer, &mut BytesMut::from(text), &mut out);
        out.drain().collect()
    }

    /// Gives the peer, and the first word of what it is told.
    fn play(&mut self, address: &str, link: Link) -> (PeerId, String) {
        let peer = PeerId(self.next);
        self.next += 1;
        let address: SocketAddr = address.parse().unwrap();
        if link == Link::Message {
            self.known.open(address);
        }
        let text = address.to_string();
        let connected = Input::Connected { peer, role: Role::Player, link, address: text.into() };
        self.room.input(self.now, connected, &mut Outbox::new());
        let told = self.say(peer, &format!("PLAY P{}", peer.0)).into_iter().find_map(|output| match output {
            Output::Send { frame, .. } => Some(String::from_utf8_lossy(&frame).into_owned()),
            _ => None,
        });
        (peer, told.unwrap_or_default().split(' ').next().unwrap_or_default().to_owned())
    }
}

#[test]
fn a_host_that_comes_and_goes_spends_half_of_the_letters_over_any_link() {
    let mut hall = Hall::new();
    let mask = Mask::new([7; 32]);
    let seat = |port: u16| {
        let mut seat = mask.seat(HostId::of("10.0.0.9:1")).unwrap();
        seat.set_port(port);
        seat.to_string()
    };
    let (_, ann) = hall.play("10.0.0.1:1", Link::Datagram);
    assert_eq!(ann, "OK");
    for port in 1..=13 {
        // By turns as a browser and as a native client.
        let (eve, told) = if port % 2 == 0 {
            hall.play(&seat(port), Link::Message)
        } else {
            hall.play(&format!("10.0.0.9:{port}"), Link::Datagram)
        };
        assert_eq!(told, "OK", "port {port}");
        hall.say(eve, "KEY Q");
    }
    let (address, status) = (seat(99), hall.room.status());
    assert_eq!((status.taken, status.seats), (1, 13));
    let (eve, told) = hall.play(&address, Link::Message);
    assert!(told == "QUIT" && hall.known.ending(address.parse().unwrap()) == Ending::Refused);
    assert_eq!(hall.say(eve, "PLAY Eve"), [], "it is not connected any more");
    assert_eq!(hall.play("10.0.0.9:99", Link::Datagram).1, "QUIT");
    // Nothing of this has reached the game.
    assert_eq!(hall.room.status(), status);
    for port in 1..=12 {
        assert_eq!(hall.play(&format!("10.0.1.{port}:1"), Link::Datagram).1, "OK");
    }
}

#[test]
fn those_who_are_there_do_not_count_and_the_next_match_begins_afresh() {
    let mut hall = Hall::new();
    let class: Vec<PeerId> = (0..26)
        .map(|port| {
            let (pupil, told) = hall.play(&format!("10.0.0.9:{}", 1_000 + port), Link::Datagram);
            assert_eq!(told, "OK", "pupil {port}");
            pupil
        })
        .collect();
    for pupil in class {
        hall.say(pupil, "KEY Q");
    }
    // All have left, so another match has begun.
    assert_eq!((hall.room.status().taken, hall.room.status().seats), (0, 26));
    assert_eq!(hall.play("10.0.0.9:2", Link::Datagram).1, "OK");
    // What was left in the match before does not add to what is left in this one.
    let (pupil, told) = hall.play("10.0.0.9:3", Link::Datagram);
    assert_eq!(told, "OK");
    hall.say(pupil, "KEY Q");
    assert_eq!(hall.play("10.0.0.9:4", Link::Datagram).1, "OK");
}

#[tokio::test(start_paused = true)]
async fn friend_waits_for_one_reservation_and_not_for_those_that_follow() {
    let holds = Arc::<Holds>::default();
    let parts = (Arc::default(), Arc::default(), Arc::clone(&holds));
    let mut keeper = Doorkeeper::new(Game::Blackjack, Mask::new([7; 32]), parts, Arc::default());
    // One of two seats is taken.
    let status = Status { phase: netcore::Phase::Lobby, taken: 1, seats: 2 };
    let mut come = |number: u64, address: &str| {
        let address = format!("{address}:{number}").parse().unwrap();
        keeper.enter(PeerId(number), Role::Player, Link::Stream, Some(address));
        keeper.refuses(Time::ZERO, PeerId(number), status).map(|(why, _)| why)
    };
    let press = |host: u8| {
        let whom = Whom::Host(HostId::V4([10, 0, 9, host]), 0);
        holds.lead(whom, Duration::from_secs(10), 1, None)
    };
    assert!(press(0));
    advance(Duration::from_secs(1)).await;
    assert_eq!(come(1, "10.0.0.1"), Some(HELD));
    // Another host reserves the same seat before the first reservation ends.
    advance(Duration::from_secs(8)).await;
    assert!(press(1));
    advance(Duration::from_secs(1)).await;
    assert_eq!(come(2, "10.0.0.1"), None, "it has waited before that");
    assert_eq!(come(3, "10.0.0.2"), Some(HELD), "it comes after that");
}

#[test]
fn hints_over_the_limit_of_a_host_are_refused_in_all_its_rooms() {
    let costs = Arc::<Costs>::default();
    let answer = |host: &str, message: &[u8]| {
        let mut keeper = Doorkeeper::new(Game::Mastermind, Mask::new([7; 32]), Default::default(), Arc::default())
            .with_costs(Arc::default(), Arc::clone(&costs));
        keeper.enter(PeerId(1), Role::Player, Link::Stream, Some(host.parse().unwrap()));
        keeper.postpones(PeerId(1), message)
    };
    for room in 0..MAX_HINTS_OF_HOST {
        assert_eq!(answer("10.0.0.1:1", b"HINT\r\n"), None, "room {room}");
    }
    let refusal: &[u8] = b"NO too many hints were asked for just now; try again in a second\n";
    assert_eq!(answer("10.0.0.1:1", b"hint\n").as_deref(), Some(refusal));
    assert_eq!(answer("10.0.0.1:1", b"GUESS 1234\n"), None, "that is cheap");
    assert_eq!(answer("10.0.0.2:1", b"HINT\n"), None, "another host");
}

#[test]
fn new_players_of_a_host_come_at_a_pace_and_others_at_once() {
    let mut keeper = Doorkeeper::new(Game::Robots, Mask::new([7; 32]), Default::default(), Arc::default());
    let eve: SocketAddr = ([10, 0, 0, 9], 1).into();
    let status = Status { phase: netcore::Phase::Playing, taken: 0, seats: 4 };
    let come = |keeper: &mut Doorkeeper, number: u64, address: SocketAddr, now: Time| {
        let peer = PeerId(number);
        keeper.enter(peer, Role::Player, Link::Stream, Some(address));
        let refused = keeper.refuses(now, peer, status).map(|(why, _)| why);
        if refused.is_none() {
            let joined = GameEvent::Joined { peer, name: "Eve".into(), seat: "0".into() };
            let left = GameEvent::Left { peer, name: "Eve".into(), seat: "0".into(), why: netcore::Departure::Quit };
            // Whoever joins again over the same connection is not new.
            let again = Output::Event(joined.clone());
            keeper.follow(now, status, &[Output::Event(joined), Output::Event(left), again, Output::Close { peer }]);
        }
        refused
    };
    let come_in = (0..500).take_while(|&number| come(&mut keeper, number, eve, Time::ZERO).is_none()).count();
    assert_eq!(come_in, JOINS.burst as usize);
    assert_eq!(come(&mut keeper, 900, ([10, 0, 0, 1], 1).into(), Time::ZERO), None);
    assert_eq!(come(&mut keeper, 901, eve, Time::from_millis(400)), Some(PACE));
    assert_eq!(come(&mut keeper, 902, eve, Time::from_millis(500)), None);
}
