use super::*;
use alloc::vec;
use bytes::BytesMut;
use core::str;
use netcore::{EngineRoom, Output, Room as _, To};
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Sticks {
    left: u8,
    turn: u8,
}

impl Rules for Sticks {
    const NAME: &'static str = "sticks";
    const TITLE: &'static str = "Sticks";
    const VERSION: u32 = 1;
    type Options = u8;
    type Move = u8;
    type View = (u8, Option<u8>);

    fn setup(options: &u8, _: u64) -> Self {
        Self { left: 4 + options, turn: 0 }
    }

    fn turn(&self) -> Option<u8> {
        (self.left > 0).then_some(self.turn)
    }

    fn moves(&self) -> Vec<u8> {
        (1..=self.left.min(3)).collect()
    }

    fn play(&mut self, taken: &u8) {
        self.left -= taken;
        self.turn = 1 - self.turn;
    }

    fn view(&self, seat: Option<u8>) -> Self::View {
        (self.left, seat)
    }

    fn scores(&self) -> Vec<i64> {
        if self.left > 0 { vec![0, 0] } else { vec![i64::from(self.turn), 1 - i64::from(self.turn)] }
    }

    fn check(options: &u8) -> Result<(), String> {
        if *options < 100 { Ok(()) } else { Err("sticks are at most 99 more than four".to_owned()) }
    }
}

struct Hall {
    room: EngineRoom<Table<Sticks>>,
    now: Time,
    out: Outbox,
    events: Vec<GameEvent>,
    // The last connected peer.
    last: u64,
}

impl Hall {
    fn new() -> Self {
        let table = Table::new(0, 1).unwrap();
        Self { room: EngineRoom::new(table), now: Time::ZERO, out: Outbox::new(), events: vec![], last: 0 }
    }

    fn input(&mut self, input: Input<'_, &[u8]>) -> Vec<(u64, String)> {
        self.room.input(self.now, input, &mut self.out);
        let mut received = vec![];
        for output in self.out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } => {
                    received.push((peer.0, str::from_utf8(&frame).unwrap().trim_end().to_owned()));
                }
                Output::Close { peer } => received.push((peer.0, "(closed)".to_owned())),
                Output::Event(event) => self.events.push(event),
                other => panic!("{other:?}"),
            }
        }
        received
    }

    fn connect(&mut self, peer: u64, role: Role) -> Vec<(u64, String)> {
        self.input(Input::Connected { peer: PeerId(peer), role, link: Link::Stream, address: "192.0.2.1:5".into() })
    }

    fn send(&mut self, peer: u64, text: &str) -> Vec<(u64, String)> {
        let mut bytes = BytesMut::from(format!("{text}\n").as_bytes());
        self.input(Input::Message { peer: PeerId(peer), message: &bytes.split() })
    }

    fn lose(&mut self, peer: u64, why: DisconnectReason) -> Vec<(u64, String)> {
        self.input(Input::Disconnected { peer: PeerId(peer), why })
    }

    fn wait(&mut self, time: Duration) -> Vec<(u64, String)> {
        self.now = self.now.plus(time);
        if self.room.deadline().is_some_and(|due| due <= self.now) { self.input(Input::Elapsed) } else { vec![] }
    }

    fn step(&mut self, (peer, what, text): &(u64, u8, String)) -> Vec<(u64, String)> {
        let peer = self.last.saturating_sub(*peer);
        match what {
            0 => {
                self.last += 1;
                self.connect(self.last, if self.last.is_multiple_of(4) { Role::Watcher } else { Role::Player })
            }
            1 => self.lose(peer, [DisconnectReason::Left, DisconnectReason::Broken][text.len() % 2]),
            2 => self.wait(Duration::from_secs(text.len() as u64 * 10)),
            _ => self.send(peer, text),
        }
    }

    /// Two players in a game of four sticks.
    fn begun() -> Self {
        let mut hall = Self::new();
        for (peer, name) in [(1, "PLAY Ann"), (2, "PLAY Bob")] {
            hall.connect(peer, Role::Player);
            hall.send(peer, name);
        }
        hall
    }
}

fn to(peer: u64, received: &[(u64, String)]) -> Vec<&str> {
    received.iter().filter(|(other, _)| *other == peer).map(|(_, text)| &text[..]).collect()
}

fn ranks(hall: &Hall) -> Vec<(String, u32, i64)> {
    let ended = hall.events.iter().rev().find_map(|event| match event {
        GameEvent::Ended { standings, .. } => Some(standings),
        _ => None,
    });
    ended.unwrap().iter().map(|standing| (standing.name.clone(), standing.rank, standing.score)).collect()
}

#[test]
fn two_players_play_a_game_and_another() {
    let mut hall = Hall::new();
    assert_eq!(to(1, &hall.connect(1, Role::Player)), ["ROOM sticks 2", "WAIT 2"]);
    assert_eq!(to(1, &hall.send(1, "PLAY Ann")), ["OK 1", "SEAT 1 Ann", "WAIT 1"]);
    assert_eq!(to(2, &hall.connect(2, Role::Player)), ["ROOM sticks 2", "SEAT 1 Ann", "WAIT 1"]);
    let begun = hall.send(2, "PLAY Bob");
    assert_eq!(to(1, &begun), ["SEAT 2 Bob", "GAME 1", "VIEW [4,0]", "TURN 1 1 2 3"]);
    assert_eq!(to(2, &begun), ["OK 2", "SEAT 2 Bob", "GAME 1", "VIEW [4,1]", "TURN 1"]);
    assert_eq!(hall.send(2, "MOVE 1"), [(2, "NO it is not your turn".to_owned())]);
    assert_eq!(hall.send(1, "MOVE 4"), [(1, "NO that move is not possible".to_owned())]);
    assert_eq!(to(2, &hall.send(1, "MOVE 1")), ["MOVED 1 1", "VIEW [3,1]", "TURN 2 1 2 3"]);
    let watching = hall.connect(3, Role::Watcher);
    assert_eq!(to(3, &watching), ["ROOM sticks 2", "SEAT 1 Ann", "SEAT 2 Bob", "GAME 1", "VIEW [3,null]", "TURN 2"]);
    assert_eq!(hall.send(3, "PLAY Eve"), [(3, "NO you only watch here".to_owned())]);
    assert_eq!(to(3, &hall.send(2, "MOVE 3")), ["MOVED 2 3", "VIEW [0,null]", "OVER played 0 1"]);
    assert_eq!(ranks(&hall), [("Bob".to_owned(), 1, 1), ("Ann".to_owned(), 2, 0)]);
    let joined = hall.events.iter().rev().take(2);
    assert!(joined.into_iter().all(|event| matches!(event, GameEvent::Joined { .. })), "for the next game");
    assert_eq!(to(1, &hall.send(1, "AGAIN")), ["WAIT 1"]);
    assert_eq!(to(1, &hall.send(2, "AGAIN"))[..2], ["GAME 2", "VIEW [4,0]"]);
}

#[test]
fn player_who_resigns_or_leaves_or_exceeds_the_limit_loses() {
    for (how, word, complete) in [("RESIGN", "resigned", true), ("", "late", true), ("QUIT", "left", false)] {
        let mut hall = Hall::begun();
        let received = if how.is_empty() { hall.wait(Sticks::MOVE_LIMIT) } else { hall.send(1, how) };
        assert!(to(2, &received).contains(&&format!("OVER {word} -1 0")[..]), "{received:?}");
        assert_eq!(ranks(&hall), [("Bob".to_owned(), 1, 0), ("Ann".to_owned(), 2, -1)]);
        assert!(
            hall.events.iter().any(|event| matches!(event, GameEvent::Ended { complete: is, .. } if *is == complete))
        );
    }
}

#[test]
fn player_whose_connection_breaks_keeps_its_seat_for_a_minute() {
    for why in [DisconnectReason::Broken, DisconnectReason::Lagging, DisconnectReason::Interrupted] {
        let mut hall = Hall::begun();
        hall.send(1, "MOVE 1");
        hall.lose(2, why);
        hall.lose(1, why);
        assert_eq!(hall.wait(RETAINED / 2), []);
        hall.connect(3, Role::Player);
        assert_eq!(hall.send(3, "PLAY Eve"), [(3, "NO all seats are taken; try again later".to_owned())]);
        hall.connect(4, Role::Player);
        assert_eq!(to(4, &hall.send(4, "PLAY Bob"))[..2], ["ROOM sticks 2", "OK 2"]);
        assert_eq!(to(4, &hall.send(4, "MOVE 1")), ["MOVED 2 1", "VIEW [2,1]", "TURN 1"]);
        let gone = hall.wait(RETAINED / 2);
        assert!(to(4, &gone).contains(&"OVER left -1 0"), "Ann did not return: {gone:?}");
        assert!(to(4, &gone).contains(&"LEFT 1"));
    }
}

#[test]
fn options_are_checked() {
    assert_eq!(Table::<Sticks>::new(100, 1).unwrap_err(), "sticks are at most 99 more than four");
}

fn happening() -> impl Strategy<Value = (u64, u8, String)> {
    let text = prop_oneof!["PLAY (Ann|Bob|Eve)", "MOVE [0-4]", "AGAIN|RESIGN|QUIT", "[ -~]{0,9}",];
    (0..5u64, 0..8u8, text)
}

proptest! {
    /// No message is sent to an unknown peer, and standings have one row for each seat.
    #[test]
    fn state_is_complete(before in prop::collection::vec(happening(), 0..40), after in prop::collection::vec(happening(), 0..20)) {
        let mut hall = Hall::new();
        for happening in &before {
            hall.step(happening);
        }
        let (setup, state) = (hall.room.engine().setup(), hall.room.state());
        let state = serde_json::to_string(&state).unwrap();
        let copy = EngineRoom::restore(setup, serde_json::from_str(&state).unwrap()).unwrap();
        let mut restored = Hall { room: copy, now: hall.now, out: Outbox::new(), events: vec![], last: hall.last };
        for happening in &after {
            prop_assert_eq!(hall.step(happening), restored.step(happening));
        }
        for event in &hall.events {
            if let GameEvent::Ended { standings, .. } = event {
                prop_assert_eq!(standings.len(), 2);
            }
        }
    }
}
