use std::time::Duration;

use blackjack::{
    Config, DealerMessage,
    config::{MAX_CLIENTS, MAX_CLIENTS_OF_HOST},
};
use netcore::{Departure, DisconnectReason, Engine, GameEvent, Phase, Role, Severity};

use crate::room::{Room, config};

fn join(room: &mut Room, host: &str, who: &str) {
    room.connect_from(host, Role::Player, who);
    room.send(who, format!("JOIN {who}\0").as_bytes());
}

#[test]
fn host_with_thousands_of_clients_does_not_delay_other_hosts() {
    for players in [1, 3] {
        let mut room = Room::new(Config { players, forever: true, ..config(1) });
        for number in 0..2_500 {
            join(&mut room, "192.0.2.66", &format!("m{number}"));
        }
        let closed = (0..2_500).filter(|number| room.is_closed(&format!("m{number}"))).count();
        assert_eq!(closed, 2_500 - MAX_CLIENTS_OF_HOST, "a host can have half of all places");
        join(&mut room, "192.0.2.1", "Ann");
        assert!(!room.is_closed("Ann"));
        assert_eq!(room.log().last().unwrap(), "Ann waits behind 0");
        for number in 0..players {
            room.send(&format!("m{number}"), b"STAND\0");
        }
        assert!(room.received("Ann").contains(&DealerMessage::Begin), "{players} at a table");
    }
}

#[test]
fn new_host_gets_a_place_after_many_hosts_took_their_shares() {
    let mut room = Room::new(Config { players: 2, ..config(1) });
    for host in 0..8 {
        for number in 0..=MAX_CLIENTS_OF_HOST {
            room.connect_from(&format!("198.51.100.{host}"), Role::Player, &format!("{host}-{number}"));
        }
    }
    room.connect("Ann");
    assert!(!room.is_closed("Ann"));
    assert!(room.is_closed(&format!("0-{MAX_CLIENTS_OF_HOST}")) && MAX_CLIENTS == 2 * MAX_CLIENTS_OF_HOST);
}

#[test]
fn queue_positions_alternate_between_hosts() {
    let mut room = Room::new(Config { forever: true, ..config(1) });
    for (host, who, before) in [
        ("192.0.2.1", "a0", None),
        ("192.0.2.1", "a1", Some(0)),
        ("192.0.2.1", "a2", Some(1)),
        ("192.0.2.2", "b0", Some(0)),
        ("192.0.2.2", "b1", Some(2)),
        ("192.0.2.3", "c0", Some(1)),
    ] {
        join(&mut room, host, who);
        let told = match room.events.last() {
            Some(GameEvent::Waiting { before, name, .. }) => Some(*before).filter(|_| name == who),
            _ => None,
        };
        assert_eq!(told, before, "{who}");
    }
    let mut order = vec![];
    for _ in 0..6 {
        let seated = ["a0", "a1", "a2", "b0", "b1", "c0"]
            .into_iter()
            .find(|who| !order.contains(who) && room.received(who).contains(&DealerMessage::Begin));
        order.extend(seated);
        room.send(seated.unwrap(), b"STAND\0");
    }
    assert_eq!(order, ["a0", "b0", "c0", "a1", "b1", "a2"]);
}

#[test]
fn standings_of_deserted_tables_are_rate_limited() {
    let leave = |room: &mut Room, number: u32| {
        let who = format!("m{number}");
        join(room, "192.0.2.66", &who);
        room.disconnect(&who, DisconnectReason::Broken);
    };
    for json in [false, true] {
        let mut room = Room::new(Config { forever: true, json, ..config(1) });
        (0..1_000).for_each(|number| leave(&mut room, number));
        assert_eq!(room.printed().len(), 10);
        room.wait(Duration::from_secs(1));
        leave(&mut room, 1_000);
        let told = if json { "\"left_out\":990}" } else { "\n990 tables that were deserted before are left out" };
        assert!(room.printed()[10].ends_with(told), "{}", room.printed()[10]);
        leave(&mut room, 1_001);
        join(&mut room, "192.0.2.1", "Ann");
        room.send("Ann", b"STAND\0");
        assert_eq!(room.printed().len(), 12);
        assert!(room.printed()[11].contains("Ann"));
        leave(&mut room, 1_002);
        room.stop();
        let told = if json { "{\"left_out\":1}" } else { "1 table that was deserted before are left out" };
        assert_eq!(room.printed().last().unwrap(), &told.replace("are", if json { "are" } else { "is" }));
    }
    let mut room = Room::new(Config { tables: 40, ..config(1) });
    (0..40).for_each(|number| leave(&mut room, number));
    assert_eq!(room.printed().len(), 40);
}

#[test]
fn each_seat_reports_one_departure_and_faults_are_warnings() {
    let mut room = Room::new(Config { players: 2, tables: 3, ..config(2) });
    for who in ["Ann", "Bob", "Cyd", "Dee", "Eve", "Fay"] {
        join(&mut room, "192.0.2.1", who);
    }
    room.send("Ann", b"JOIN Ann\0");
    room.disconnect("Cyd", DisconnectReason::Broken);
    for _ in 0..3 {
        for who in ["Bob", "Dee", "Eve", "Fay"] {
            room.send(who, b"STAND\0");
        }
    }
    for (who, why) in [
        ("Ann", Departure::Dismissed("JOIN Ann was not asked for".into())),
        ("Bob", Departure::GameOver),
        ("Cyd", Departure::Disconnected(DisconnectReason::Broken)),
        ("Dee", Departure::GameOver),
        ("Eve", Departure::GameOver),
        ("Fay", Departure::GameOver),
    ] {
        let log = room.log();
        let told = |what: &str| -> Vec<&str> {
            log.iter().filter_map(|line| line.strip_prefix(&format!("{who} {what} "))).collect()
        };
        let seats = told("sits at");
        assert_eq!((seats.len(), told("left")), (1, vec![&*format!("{}: {why}", seats[0])]), "{who}");
    }
    for event in &room.events {
        match event {
            GameEvent::Ended { complete, standings, .. } => {
                assert!(*complete && standings.len() == 2 && standings[0].rank == 1);
                assert!(standings[0].score >= standings[1].score);
            }
            GameEvent::Notice { severity, text, peer } => {
                let told = (*severity, text.as_str(), peer.is_some());
                assert_eq!(told, (Severity::Warning, "Ann is sent away: JOIN Ann was not asked for", true));
            }
            _ => {}
        }
    }
    assert_eq!(room.server().status().phase, Phase::Over);
}

#[test]
fn standings_are_logged_at_the_configured_interval() {
    let mut room = Room::new(Config { accounts: Some(Duration::from_secs(10)), ..config(1_000) });
    join(&mut room, "192.0.2.1", "Ann");
    (0..50).for_each(|_| room.send("Ann", b"STAND\0"));
    room.wait(Duration::from_secs(20));
    let notices: Vec<&str> = room
        .events
        .iter()
        .filter_map(|event| match event {
            GameEvent::Notice { severity: Severity::Requested, peer: None, text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(notices[..2], ["50 rounds so far, 5.0 a second", "table 1 after 50 rounds:"]);
    assert!(notices[2].starts_with("rank  seat  name") && notices[3].contains("Ann"));
    assert_eq!((notices[4], notices.len()), ("50 rounds so far, 0.0 a second", 8));
    let status = room.server().status();
    assert_eq!((status.phase, status.taken, status.seats), (Phase::Playing, 1, 1));
}
