use netcore::{Departure, DisconnectReason, Engine, GameEvent, Leave, PeerId, Phase, Role, Standing, Status};

use crate::table::{Table, alone, config};

fn joined(peer: u64, name: &str, seat: &str) -> GameEvent {
    GameEvent::Joined { peer: PeerId(peer), name: name.into(), seat: seat.into() }
}

fn left(peer: u64, name: &str, seat: &str, why: Departure) -> GameEvent {
    GameEvent::Left { peer: PeerId(peer), name: name.into(), seat: seat.into(), why }
}

fn standing(rank: u32, seat: &str, name: &str, score: i64) -> Standing {
    Standing { rank, seat: seat.into(), name: name.into(), score }
}

#[test]
fn events_cover_a_game_from_start_to_result() {
    let mut config = config();
    (config.parameters.players_count, config.parameters.bomb_timer, config.parameters.explosion_radius) = (4, 1, 0);
    let mut table = Table::joined(config, &["ann", "b\u{1b}b", "cat"]);
    table.connect("eve", Role::Watcher, None);
    table.leave("eve");
    table.leave("cat");
    table.connect("dan", Role::Player, None);
    table.send_bytes("dan", &[0, 3, b'd', b'a', b'n']);
    table.send_bytes("ann", &[1]);
    table.turn();
    table.turn();
    table.send_bytes("dan", &[1, 4]);
    let of_four = |phase, taken| Status { phase, taken, seats: 4 };
    assert_eq!(table.server.status(), of_four(Phase::Playing, 4));
    table.turn();
    assert_eq!(table.server.status(), of_four(Phase::Lobby, 0));
    let wrong = "it sent what is no message: byte 0: 4 is no tag of ClientMessage".to_owned();
    let standings = vec![
        standing(1, "1", "b\u{1b}b", 0),
        standing(1, "2", "cat", 0),
        standing(1, "3", "dan", 0),
        standing(4, "0", "ann", 1),
    ];
    let summary = "Game 1 is over after 3 turns\n\
                   rank  destroyed  player  name\n   \
                   1          0       1  b\\u{1b}b\n   \
                   1          0       2  cat\n   \
                   1          0       3  dan\n   \
                   4          1       0  ann";
    let expected = [
        joined(0, "ann", "0"),
        joined(1, "b\u{1b}b", "1"),
        joined(2, "cat", "2"),
        left(2, "cat", "2", Departure::Disconnected(DisconnectReason::Left)),
        joined(4, "dan", "3"),
        GameEvent::Started { game: 1, players: 4 },
        left(4, "dan", "3", Departure::Dismissed(wrong)),
        GameEvent::Ended { game: 1, complete: true, standings },
        GameEvent::Summary(summary.into()),
    ];
    assert_eq!(table.events, expected);
}

#[test]
fn stopped_game_has_a_number_and_a_result() {
    let mut table = Table::joined(alone(), &["ann"]);
    (0..3).for_each(|_| drop(table.turn()));
    table.send_bytes("ann", &[0, 0]);
    table.turn();
    table.events.clear();
    assert_eq!(table.server.status(), Status { phase: Phase::Playing, taken: 1, seats: 1 });
    table.input(netcore::Input::Stop(Leave::Over));
    let summary = "Game 2 was stopped after 1 of 3 turns\nrank  destroyed  player  name\n   1          0       0  ";
    let expected = [
        GameEvent::Ended { game: 2, complete: false, standings: vec![standing(1, "0", "", 0)] },
        GameEvent::Summary(summary.into()),
    ];
    assert_eq!(table.events, expected);
    assert_eq!(table.server.status().phase, Phase::Over);
}

#[test]
fn stopped_lobby_has_no_result() {
    let mut table = Table::joined(config(), &["ann"]);
    assert_eq!(table.server.status(), Status { phase: Phase::Lobby, taken: 1, seats: 2 });
    table.events.clear();
    table.input(netcore::Input::Stop(Leave::Over));
    assert_eq!(table.events, []);
}
