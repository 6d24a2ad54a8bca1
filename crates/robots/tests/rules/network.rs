//! Wrong bytes, leaving, histories, and the server's end.

use netcore::{Engine, Input, Link, PeerId, Time};
use netcore::{Outbox, Output, Role, wire::ShortText};
use robots::{ClientMessage, Server};

use crate::table::{Table, alone, config};

#[test]
fn wrong_bytes_close_their_sender_alone_and_what_came_before_them_counts() {
    let mut config = config();
    config.seed = 0;
    Table::joined(config, &["ann", "bob"]).check(
        "
        ann > bytes 03 01 03 04
            ann closed
        bob > Move Up
        turn
            all < Turn 1; robot 0 (1,0); robot 1 (0,1)
        ",
    );
}

#[test]
fn every_kind_of_wrong_bytes_closes() {
    for bytes in ["04", "ff", "03 04", "00 01 80", "00 02 c3 28"] {
        Table::joined(config(), &["ann"]).check(&format!("ann > bytes {bytes}\n ann closed"));
    }
}

#[test]
fn who_was_closed_in_the_lobby_stays_on_the_list() {
    Table::joined(config(), &["ann"]).check(
        "
        ann > bytes 09
            ann closed
        bob comes
            bob < Hello here: 2 players, 10 x 10, 3 turns, radius 2, timer 2
            bob << AcceptedPlayer 0 ann 10.0.0.1:4000
        ",
    );
}

#[test]
fn a_robot_whose_player_left_is_destroyed_and_reborn_until_the_end() {
    let mut config = alone();
    config.parameters.bomb_timer = 1;
    Table::joined(config, &["ann"]).check(
        "
        ann > PlaceBomb
        turn
            all < Turn 1; bomb 0 (0,0)
        ann leaves
        turn
            all < Turn 2; boom 0 robot 0; robot 0 (0,0)
        bob comes
            bob < Hello here: 1 players, 1 x 1, 3 turns, radius 2, timer 1
            bob << GameStarted 0 ann
            bob << Turn 0; robot 0 (0,0)
            bob << Turn 1; bomb 0 (0,0)
            bob << Turn 2; boom 0 robot 0; robot 0 (0,0)
        turn
            all < Turn 3
            all < GameEnded 0: 1
        ",
    );
}

#[test]
fn who_returns_during_the_game_is_a_new_client() {
    let mut config = config();
    config.seed = 0;
    Table::joined(config, &["ann", "bob"]).check(
        "
        ann leaves
        ann comes
            ann < Hello here: 2 players, 10 x 10, 3 turns, radius 2, timer 2
            ann << GameStarted 0 ann, 1 bob
            ann << Turn 0; robot 0 (0,0); robot 1 (0,0)
        ann > Move Up
        turn
            all < Turn 1
        ",
    );
}

#[test]
fn a_peer_that_lost_track_is_told_everything_anew() {
    let mut table = Table::joined(config(), &["ann", "bob"]);
    table.turn();
    table.check(
        "
        bob asks again
            bob < Hello here: 2 players, 10 x 10, 3 turns, radius 2, timer 2
            bob << GameStarted 0 ann, 1 bob
            bob << Turn 0; robot 0 (4,8); robot 1 (0,8)
            bob << Turn 1
        ",
    );
}

#[test]
fn stopping_closes_everybody() {
    let mut table = Table::joined(config(), &["ann", "bob"]);
    table.check("stop\n ann closed\n bob closed");
    assert_eq!(table.connect_silently(), 0, "nothing is done any more");
}

impl Table {
    // What a server says that has ended.
    fn connect_silently(&mut self) -> usize {
        let mut out = Outbox::new();
        let input =
            Input::Connected { peer: PeerId(99), role: Role::Player, link: Link::BinaryStream, address: "[::1]:1" };
        self.server.input(self.now, input, &mut out);
        out.drain().count()
    }
}

#[test]
fn a_long_history_is_shared_by_all_who_come_late() {
    let mut config = alone();
    config.parameters.game_length = 20_000;
    let mut server = Server::new(config).unwrap();
    let (mut out, mut live) = (Outbox::new(), vec![]);
    let mut logs = vec![];
    let connect = |server: &mut Server, out: &mut Outbox, now, peer| {
        let peer = PeerId(peer);
        server.input(now, Input::Connected { peer, role: Role::Player, link: Link::BinaryStream, address: "a" }, out);
        peer
    };
    let first = connect(&mut server, &mut out, Time::ZERO, 0);
    let request = ClientMessage::Join { name: ShortText::try_from("a").unwrap() };
    server.input(Time::ZERO, Input::Request { peer: first, request }, &mut out);
    // Turn 0.
    server.input(Time::ZERO, Input::Elapsed, &mut out);
    for turn in 0..20_000 {
        if turn == 19_998 || turn == 19_999 {
            for peer in 0..100 {
                connect(&mut server, &mut out, Time::ZERO, 1 + turn + 20_000 * peer);
            }
        }
        server.input(server.deadline().unwrap(), Input::Elapsed, &mut out);
        for output in out.drain() {
            match output {
                Output::Send { frame, .. } => live.push(frame),
                Output::Replay { log, .. } => logs.push((log, live.len())),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(logs.len(), 200);
    // Everybody hears what was heard live: behind the greetings and the AcceptedPlayer of the lobby, frame by frame.
    let is_history = |frame: &&bytes::Bytes| matches!(frame[0], 2 | 3);
    for (log, before) in [&logs[0], &logs[199]] {
        let heard: Vec<u8> = live[..*before].iter().filter(is_history).flatten().copied().collect();
        let told: Vec<u8> = log.segments().flatten().copied().collect();
        assert!(heard == told, "{} bytes were heard, {} told", heard.len(), told.len());
        assert!(log.segments().count() < 20, "a history is a few segments");
    }
    let addresses = |at: usize| logs[at].0.segments().map(|segment| segment.as_ptr()).collect::<Vec<_>>();
    assert_eq!(addresses(0), addresses(99), "those who come in the same turn share everything");
    assert_eq!(addresses(0)[0], addresses(199)[0], "and all share what is behind them");
}
