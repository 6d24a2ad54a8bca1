//! A room of nuggets with a pretend browser at its gate.

use std::sync::Arc;

use bytes::BytesMut;
use futures_util::FutureExt as _;
use netcore::{Hosted, Progress, Role, Time};
use netshell::Host;

use super::*;
use crate::{
    games::Game,
    room::{
        door::{Door, Doorkeeper},
        mailbox::{MAX_OUTGOING, Next},
        mask::Mask,
    },
};

const MAP: &[u8] = b"+---------+\n|.........|\n|.........|\n+---------+\n";
const SECOND: Duration = Duration::from_secs(1);

fn room() -> (Gate, Host) {
    let (grid, _) = nuggets::Grid::parse(MAP).unwrap();
    let rules = nuggets::Rules { gold: 250, min_piles: 5, max_piles: 9, ..Default::default() };
    let config = nuggets::Config { rules, rematch: true, seed: 1, ..nuggets::Config::default() };
    let server = nuggets::server::Server::new(Arc::new(grid), config).unwrap();
    let (gate, web) = web();
    let keeper = Doorkeeper::new(
        Game::Nuggets,
        Mask::new([7; 32]),
        (Arc::clone(&gate.known), Arc::default(), Arc::default()),
        Arc::default(),
    );
    (gate, Host::new(Door::new(Hosted::new(server), keeper)).with_transport(web))
}

/// How long a seat is kept.
const GRACE: Duration = Duration::from_mins(1);

fn web() -> (Gate, WebSockets) {
    let directory = testkit::TempDir::new();
    let bans = Bans::open(directory.path().join("bans")).unwrap();
    WebSockets::new(Arc::new(bans), Arc::default(), GRACE)
}

fn enter(gate: &Gate, role: Role, port: u16, returns: bool) -> Arc<Mailbox> {
    enter_at(gate, role, SocketAddr::from(([127, 0, 0, 1], port)), returns)
}

fn enter_at(gate: &Gate, role: Role, address: SocketAddr, returns: bool) -> Arc<Mailbox> {
    let entered = gate.enter(role, address.into(), address, returns).now_or_never();
    entered.expect("there is room at the gate").expect("the room is open")
}

fn put(mailbox: &Mailbox, text: &str) {
    mailbox.put(BytesMut::from(text)).now_or_never().expect("there is room for a message");
}

fn work(host: &mut Host, now: Time) {
    while host.work(|| now).unwrap() {}
}

/// Ann plays in a browser.
fn ann(gate: &Gate, host: &mut Host) -> Arc<Mailbox> {
    let mailbox = enter(gate, Role::Player, 1, false);
    put(&mailbox, "PLAY Ann");
    work(host, Time::ZERO);
    mailbox
}

/// What has come, without what a display shows; and how it ended, if it has.
fn told(mailbox: &Mailbox) -> (Vec<String>, Option<Ending>) {
    let mut texts = vec![];
    loop {
        match mailbox.next().now_or_never() {
            Some(Next::Piece(Piece::Frame(frame))) => {
                texts.push(String::from_utf8_lossy(&frame).lines().next().unwrap_or("").to_owned());
            }
            Some(Next::Piece(Piece::History(_))) => texts.push("a history".into()),
            Some(Next::End(ending)) => return (texts, Some(ending)),
            None => return (texts, None),
        }
    }
}

#[test]
fn the_seat_of_a_player_who_leaves_for_good_is_free_at_once() {
    let (gate, mut host) = room();
    let mailbox = ann(&gate, &mut host);
    mailbox.give_up();
    mailbox.leave();
    work(&mut host, Time::ZERO);
    assert_eq!(host.peers(), 0);
}

#[test]
fn a_browser_plays_and_comes_back_to_its_seat() {
    let (gate, mut host) = room();
    let mailbox = ann(&gate, &mut host);
    assert_eq!(
        told(&mailbox),
        (vec!["OK A".into(), "GRID 4 11".into(), "GOLD 0 0 250".into(), "DISPLAY".into()], None)
    );

    mailbox.leave();
    work(&mut host, Time::ZERO);
    assert_eq!(host.peers(), 1, "the seat is kept");
    let again = enter(&gate, Role::Player, 1, true);
    work(&mut host, Time::ZERO.plus(GRACE / 2));
    let (texts, _) = told(&again);
    assert!(texts.contains(&"OK A".to_owned()) && texts.contains(&"DISPLAY".to_owned()), "{texts:?}");
    // Meanwhile it is played from elsewhere.
    let elsewhere = enter(&gate, Role::Player, 1, true);
    work(&mut host, Time::ZERO.plus(GRACE / 2));
    assert_eq!(told(&again).1, Some(Ending::Replaced));
    // The window that was replaced says nothing of the seat any more.
    again.leave();
    work(&mut host, Time::ZERO.plus(GRACE * 3));
    put(&elsewhere, "KEY Q");
    work(&mut host, Time::ZERO.plus(GRACE * 3));
    let (texts, ending) = told(&elsewhere);
    assert_eq!(texts.last().map(String::as_str), Some("QUIT Thanks for playing!"));
    assert_eq!((ending, host.peers()), (Some(Ending::Closed), 0));
}

#[test]
fn a_seat_is_kept_for_a_while_and_then_given_up() {
    let (gate, mut host) = room();
    let mailbox = ann(&gate, &mut host);
    mailbox.leave();
    work(&mut host, Time::ZERO);
    assert_eq!(host.wake_at(), Some(Time::ZERO.plus(GRACE)));
    work(&mut host, Time::ZERO.plus(GRACE));
    assert_eq!(host.peers(), 0);
    let late = enter(&gate, Role::Player, 1, true);
    work(&mut host, Time::ZERO.plus(GRACE));
    assert_eq!(told(&late), (vec![], Some(Ending::Expired)));
}

#[test]
fn a_watcher_who_leaves_is_gone_at_once() {
    let (gate, mut host) = room();
    let mailbox = enter(&gate, Role::Watcher, 1, false);
    work(&mut host, Time::ZERO);
    assert_eq!(told(&mailbox).0, ["GRID 4 11", "GOLD 0 0 250", "DISPLAY"]);
    mailbox.leave();
    work(&mut host, Time::ZERO);
    assert_eq!(host.peers(), 0);
}

#[test]
fn nobody_gets_a_seat_without_its_token() {
    let (gate, mut host) = room();
    let mailbox = enter(&gate, Role::Player, 1, false);
    put(&mailbox, "PLAY Ann");
    let other = enter(&gate, Role::Player, 1, false);
    work(&mut host, Time::ZERO);
    assert_eq!(told(&other), (vec![], Some(Ending::Full)));
    assert_eq!(told(&mailbox).0.len(), 4);
}

#[test]
fn a_slow_browser_misses_messages_and_is_told_the_newest_state() {
    let (gate, mut host) = room();
    let slow = enter(&gate, Role::Watcher, 1, false);
    let mailbox = enter(&gate, Role::Player, 2, false);
    put(&mailbox, "PLAY Ann");
    work(&mut host, Time::ZERO);
    let mut now = Time::ZERO;
    // Each move is a display of some 120 bytes with its costs.
    for _ in 0..MAX_OUTGOING / 200 {
        for key in ["KEY L", "KEY H"] {
            put(&mailbox, key);
            now = now.plus(SECOND);
            work(&mut host, now);
            told(&mailbox);
        }
    }
    let (old, _) = told(&slow);
    assert!(old.len() < MAX_OUTGOING / 100, "{} messages waited", old.len());
    work(&mut host, now);
    let (new, _) = told(&slow);
    assert_eq!(new.iter().filter(|text| *text == "DISPLAY").count(), 1, "{new:?}");
    assert!(new.iter().any(|text| text == "GRID 4 11"), "{new:?}");
    // And from then on everything again.
    put(&mailbox, "KEY l");
    work(&mut host, now.plus(SECOND));
    put(&mailbox, "KEY h");
    work(&mut host, now.plus(SECOND));
    assert!(!told(&slow).0.is_empty());
}

#[test]
fn a_paused_browser_is_heard_later_and_keeps_its_order() {
    let (gate, mut web) = web();
    let (eve, ann) = (enter(&gate, Role::Player, 1, false), enter(&gate, Role::Player, 2, false));
    let until = Time::from_millis(20);
    let (mut now, mut heard, mut paused) = (Time::ZERO, vec![], 0);
    for message in ["a", "b"] {
        put(&eve, message);
    }
    loop {
        while let Some(event) = web.next(now).unwrap() {
            let ConnectionEvent::Bytes { ticket, bytes } = event else { continue };
            if ticket.id() == ConnectionId(0) && now < until {
                paused += 1;
                assert_eq!(paused, 1, "it is not read before its time");
                web.answer(now, Answer::Paused(ticket, until));
                // More arrives, of both.
                put(&eve, "c");
                put(&ann, "x");
            } else {
                heard.push((now, String::from_utf8_lossy(bytes).into_owned()));
                web.answer(now, Answer::Processed(ticket, Progress::Decoded));
            }
        }
        match web.wake_at() {
            Some(wake) => now = wake,
            None => break,
        }
    }
    let expected = [(Time::ZERO, "x"), (until, "a"), (until, "b"), (until, "c")];
    assert_eq!(heard, expected.map(|(now, message)| (now, message.to_owned())));
}

#[test]
fn the_seat_of_a_paused_browser_can_be_closed() {
    let (gate, mut web) = web();
    let eve = enter(&gate, Role::Player, 1, false);
    put(&eve, "a");
    while let Some(event) = web.next(Time::ZERO).unwrap() {
        if let ConnectionEvent::Bytes { ticket, .. } = event {
            let id = ticket.id();
            web.answer(Time::ZERO, Answer::Paused(ticket, Time::from_millis(20)));
            web.deliver(Time::ZERO, Delivery::Close(id));
        }
    }
    assert_eq!(web.wake_at(), None);
    assert_eq!(told(&eve).1, Some(Ending::Closed));
}

/// Lets a socket in and takes what follows from it.
fn arrive(web: &mut WebSockets, gate: &Gate, address: SocketAddr, joins: bool) -> Arc<Mailbox> {
    let mailbox = enter_at(gate, Role::Player, address, false);
    settle(web, Time::ZERO);
    gate.known.set_joined(address, joins);
    mailbox
}

/// Has the transport do everything that it can, as a room that closes what is given up.
fn settle(web: &mut WebSockets, now: Time) -> usize {
    let mut gone = 0;
    while let Some(event) = web.next(now).unwrap() {
        if let ConnectionEvent::Closed { id, .. } = event {
            web.deliver(now, Delivery::Close(id));
            gone += 1;
        }
    }
    gone
}

fn at(host: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], port))
}

#[test]
fn sockets_that_come_and_go_keep_no_seats() {
    let (gate, mut web) = web();
    let ann = arrive(&mut web, &gate, at(1, 1), true);
    for port in 1..=3_000 {
        arrive(&mut web, &gate, at(9, port), false).leave();
        assert_eq!(settle(&mut web, Time::ZERO), 1);
    }
    assert_eq!((web.seats.len(), web.given_up, web.wake_at()), (1, 0, None));
    // Somebody else gets in, and Ann has noticed nothing.
    assert_eq!(told(&arrive(&mut web, &gate, at(2, 1), false)).1, None);
    assert_eq!(told(&ann).1, None);
}

#[test]
fn kept_seats_are_shared_out_by_host_and_go_when_somebody_needs_the_place() {
    let (gate, mut web) = web();
    let eves = u16::try_from(MAX_SEATS).unwrap();
    // A player of another host is kept first, so she is the oldest.
    arrive(&mut web, &gate, at(1, 1), true).leave();
    settle(&mut web, Time::ZERO);
    for port in 1..=eves {
        arrive(&mut web, &gate, at(9, port), true).leave();
        settle(&mut web, Time::ZERO);
    }
    assert_eq!(web.seats.len(), MAX_KEPT_PER_HOST + 1, "a host alone keeps half of the places");
    // All other places are taken by those who are there.
    let there: Vec<_> = (1..eves / 2)
        .map(|port| arrive(&mut web, &gate, at(u8::try_from(port % 7 + 20).unwrap(), port), false))
        .collect();
    assert_eq!(web.seats.len(), MAX_SEATS);
    // The next ones get the oldest kept places of the host that keeps most, and nobody else loses anything.
    for port in 1..=10 {
        let bob = arrive(&mut web, &gate, at(2, port), false);
        assert_eq!((told(&bob).1, web.seats.len()), (None, MAX_SEATS), "Bob {port}");
    }
    assert!(there.iter().all(|mailbox| told(mailbox).1.is_none()));
    let ann = enter_at(&gate, Role::Player, at(1, 1), true);
    let (first, last) =
        (enter_at(&gate, Role::Player, at(9, 1), true), enter_at(&gate, Role::Player, at(9, eves), true));
    settle(&mut web, Time::ZERO);
    assert_eq!([&ann, &first, &last].map(|mailbox| told(mailbox).1), [None, Some(Ending::Expired), None]);
}
