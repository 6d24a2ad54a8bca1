//! Events and the status.

use std::time::Duration;

use netcore::{
    Departure, DisconnectReason, GameEvent, Leave, Link, Output, PeerId, Phase, Role, Room, Standing, Status,
};
use nuggets::{Config, Rules};

use crate::room::{RoomInput, TestRoom, events};

const WATCHED: Link = Link::Message;

fn room(rematch: bool) -> TestRoom {
    let rules = Rules { gold: 4, min_piles: 1, max_piles: 1, ..Rules::default() };
    TestRoom::new("....\n", Config { rules, rematch, idle_timeout: Some(Duration::from_secs(9)), ..Config::default() })
}

fn joined(peer: u64, name: &str, seat: &str) -> GameEvent {
    GameEvent::Joined { peer: PeerId(peer), name: name.into(), seat: seat.into() }
}

fn left(peer: u64, name: &str, seat: &str, why: Departure) -> GameEvent {
    GameEvent::Left { peer: PeerId(peer), name: name.into(), seat: seat.into(), why }
}

fn status(room: &TestRoom) -> (Phase, u32, u32) {
    let Status { phase, taken, seats } = room.engine_room.status();
    (phase, taken, seats)
}

fn send(room: &mut TestRoom, peer: u64, message: &str) -> Vec<GameEvent> {
    events(&room.send(peer, WATCHED, message.as_bytes()))
}

#[test]
fn join_and_leave_events_name_peer_and_reason() {
    let mut room = room(false);
    assert_eq!(status(&room), (Phase::Lobby, 0, 26));
    for peer in 1..=7 {
        assert_eq!(events(&room.connect(peer, WATCHED)), []);
    }
    // Seats follow the order of joining, not of connecting.
    assert_eq!(send(&mut room, 2, "PLAY Bob"), [joined(2, "Bob", "A"), GameEvent::Started { game: 1, players: 1 }]);
    assert_eq!(send(&mut room, 1, "PLAY Ann"), [joined(1, "Ann", "B")]);
    assert_eq!(send(&mut room, 3, "PLAY  "), []);
    assert_eq!(status(&room), (Phase::Playing, 2, 26));
    assert_eq!(send(&mut room, 4, "SPECTATE"), [joined(4, "", "spectator")]);
    let replaced = left(4, "", "spectator", Departure::Dismissed("replaced by a new spectator".into()));
    assert_eq!(send(&mut room, 5, "SPECTATE"), [replaced, joined(5, "", "spectator")]);
    assert_eq!(send(&mut room, 5, "KEY Q"), [left(5, "", "spectator", Departure::Quit)]);
    assert_eq!(events(&room.input(&RoomInput::Connected(8, Role::Watcher, WATCHED))), [joined(8, "", "watcher")]);
    let gone = left(8, "", "watcher", Departure::Disconnected(DisconnectReason::Lagging));
    assert_eq!(events(&room.input(&RoomInput::Gone(8, DisconnectReason::Lagging))), [gone]);
    assert_eq!(send(&mut room, 2, "KEY Q"), [left(2, "Bob", "A", Departure::Quit)]);
    assert_eq!(status(&room), (Phase::Playing, 1, 25), "the letter of somebody who left is not given again");
    assert_eq!(events(&room.input(&RoomInput::Gone(6, DisconnectReason::Broken))), [], "it had no seat");
    let idle = left(1, "Ann", "B", Departure::Dismissed("sent no key for 9 seconds".into()));
    assert_eq!(events(&room.elapse()), [idle]);
    assert_eq!(status(&room), (Phase::Playing, 0, 24));
    send(&mut room, 7, "PLAY Cy");
    let gone = left(7, "Cy", "C", Departure::Disconnected(DisconnectReason::Left));
    assert_eq!(events(&room.input(&RoomInput::Gone(7, DisconnectReason::Left))), [gone]);
}

#[test]
fn events_cover_each_game_from_start_to_end() {
    let mut room = room(true);
    let names = ["Ann", "Bob", "Cy"];
    for game in 1..=3 {
        let first = 10 * u64::from(game);
        for (peer, name) in (first..).zip(names) {
            room.connect(peer, WATCHED);
            let begun = send(&mut room, peer, &format!("PLAY {name}"));
            assert_eq!(begun.contains(&GameEvent::Started { game, players: 1 }), name == "Ann");
        }
        let mut reports = vec![];
        for turn in 0..2 {
            reports.extend(send(&mut room, first + 1, ["KEY H", "KEY L"][turn]));
        }
        let row = |rank, seat: &str, name: &str, score| Standing { rank, seat: seat.into(), name: name.into(), score };
        let standings = vec![row(1, "B", "Bob", 4), row(2, "A", "Ann", 0), row(2, "C", "Cy", 0)];
        assert_eq!(reports[0], GameEvent::Ended { game, complete: true, standings });
        for (number, (name, seat)) in (0..).zip(names.into_iter().zip(["A", "B", "C"])) {
            assert!(reports.contains(&left(first + number, name, seat, Departure::GameOver)), "{reports:?}");
        }
        assert!(matches!(&reports[4..], [GameEvent::Summary(text)] if text.starts_with("GAME OVER:\n")), "{reports:?}");
        assert_eq!(status(&room), (Phase::Lobby, 0, 26), "nobody has joined the next game yet");
    }
}

#[test]
fn stopped_game_is_reported_as_incomplete() {
    let mut room = room(true);
    room.connect(1, WATCHED);
    send(&mut room, 1, "PLAY Ann");
    let reports = room.input(&RoomInput::Stop(Leave::Over));
    assert!(matches!(
        &events(&reports)[..],
        [GameEvent::Ended { game: 1, complete: false, .. }, GameEvent::Left { .. }]
    ));
    assert!(reports.contains(&Output::Close { peer: PeerId(1) }));
    assert_eq!(status(&room), (Phase::Over, 1, 26));
    let mut nobody = self::room(true);
    assert_eq!(nobody.input(&RoomInput::Stop(Leave::Over)), [], "no game has begun");
}
