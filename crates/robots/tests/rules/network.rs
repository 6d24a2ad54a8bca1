//! Wrong bytes, leaving, histories, and the server's end.

use netcore::{
    Admission, DecodeError, Engine, Framing, GameEvent, Hosted, Input, Leave, Link, Outbox, Outcome, Output, PeerId,
    Protocol, Role, Room, Time, wire::ShortText,
};
use robots::{Action, ClientMessage, Direction, Server, protocol::Robots};

use crate::table::{Table, alone, config, text, with};

transcripts! {
    wrong_bytes_close_their_sender_alone_and_what_came_before_them_counts:
        Table::joined(with(config(), |config| config.seed = 0), &["ann", "bob"]) => "
        ann > bytes 03 01 03 04
            ann closed
        bob > Move Up
        turn
            all < Turn 1; robot 0 (1,0); robot 1 (0,1)
    ";
}

#[test]
fn every_kind_of_wrong_bytes_closes() {
    for bytes in ["04", "ff", "03 04", "00 01 80", "00 02 c3 28"] {
        Table::joined(config(), &["ann"]).check(&format!("ann > bytes {bytes}\n ann closed"));
    }
}

transcripts! {
    who_was_closed_in_the_lobby_stays_on_the_list: Table::joined(config(), &["ann"]) => "
        ann > bytes 09
            ann closed
        bob comes
            bob < Hello here: 2 players, 10 x 10, 3 turns, radius 2, timer 2
            bob << AcceptedPlayer 0 ann 10.0.0.1:4000
    ";

    a_robot_whose_player_left_is_destroyed_and_reborn_until_the_end:
        Table::joined(with(alone(), |config| config.parameters.bomb_timer = 1), &["ann"]) => "
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
    ";

    who_returns_during_the_game_is_a_new_client:
        Table::joined(with(config(), |config| config.seed = 0), &["ann", "bob"]) => "
        ann leaves
        ann comes
            ann < Hello here: 2 players, 10 x 10, 3 turns, radius 2, timer 2
            ann << GameStarted 0 ann, 1 bob
            ann << Turn 0; robot 0 (0,0); robot 1 (0,0)
        ann > Move Up
        turn
            all < Turn 1
    ";
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
fn a_client_that_was_started_afresh_agrees_in_every_phase() {
    let mut config = config();
    (config.parameters.game_length, config.initial_blocks) = (12, 20);
    let mut table = Table::joined(config, &["ann"]);
    table.connect("eve", Role::Watcher, None);
    // What is told is compared with the server each time. In the lobby:
    assert_eq!(table.start_afresh("ann").len(), 2);
    assert_eq!(table.start_afresh("eve").len(), 2);
    table.connect("bob", Role::Player, None);
    // Between the start and turn 0.
    let joining = Input::Message { peer: PeerId(2), message: ClientMessage::Join { name: text("bob") } };
    table.input_alone(joining);
    let peer = table.forget("bob");
    assert_eq!(table.input_alone(Input::Refresh { peer }).len(), 2, "Hello and GameStarted");
    assert!(table.client("bob").game().is_some_and(|game| game.positions().is_empty()));
    table.turn();
    for turn in 1..12 {
        for (name, action) in [("ann", Action::PlaceBomb), ("bob", Action::Move(Direction::ALL[turn % 4]))] {
            table.send(name, &ClientMessage::Action(if turn % 3 == 0 { Action::PlaceBlock } else { action }));
        }
        for name in ["ann", "bob", "eve"] {
            assert_eq!(table.start_afresh(name).len(), 2 + turn, "Hello, GameStarted and the turns so far");
        }
        assert_eq!(table.turn().len(), 1);
    }
    assert_eq!(table.turn().len(), 2);
    assert_eq!(table.start_afresh("ann").len(), 1);
}

#[test]
fn one_who_asks_again_before_it_came_is_told_nothing() {
    let mut table = Table::new(config());
    assert_eq!(table.input(Input::Refresh { peer: PeerId(7) }), []);
}

#[test]
fn nobody_is_told_or_closed_when_the_server_comes_back() {
    let mut table = Table::joined(config(), &["ann", "bob"]);
    table.events.clear();
    assert_eq!(table.input(Input::Stop(Leave::Resumable)), []);
    assert_eq!((table.server.outcome(), table.server.deadline()), (Some(Outcome::Stopped), None));
    assert_eq!(table.events, []);
    assert_eq!(table.server.status().phase, netcore::Phase::Over);
}

#[test]
fn who_only_watches_sees_all_and_nothing_it_sends_has_an_effect() {
    let mut table = Table::joined(config(), &["ann"]);
    table.connect("eve", Role::Watcher, None);
    let silent = |table: &mut Table, bytes: &[u8]| {
        let (before, players) = (table.server.digest(), table.server.players().len());
        assert_eq!(table.send_bytes("eve", bytes), []);
        assert_eq!((table.server.digest(), table.server.players().len()), (before, players), "{bytes:?}");
    };
    let all: [&[u8]; 6] = [&[0, 0], &[1], &[2], &[3, 0], &[9], &[3, 77]];
    for bytes in all {
        silent(&mut table, bytes);
    }
    table.check(
        "
        bob comes
            bob < Hello here: 2 players, 10 x 10, 3 turns, radius 2, timer 2
            bob << AcceptedPlayer 0 ann 10.0.0.1:4000
        bob > Join bob
            all < AcceptedPlayer 1 bob 10.0.0.1:4002
            all < GameStarted 0 ann, 1 bob
            all < Turn 0; robot 0 (4,8); robot 1 (0,8)
        ",
    );
    for bytes in all {
        silent(&mut table, bytes);
    }
    table.check(
        "
        turn
            all < Turn 1
        eve asks again
            eve < Hello here: 2 players, 10 x 10, 3 turns, radius 2, timer 2
            eve << GameStarted 0 ann, 1 bob
            eve << Turn 0; robot 0 (4,8); robot 1 (0,8)
            eve << Turn 1
        eve leaves
        eve watches
            eve < Hello here: 2 players, 10 x 10, 3 turns, radius 2, timer 2
            eve << GameStarted 0 ann, 1 bob
            eve << Turn 0; robot 0 (4,8); robot 1 (0,8)
            eve << Turn 1
        ",
    );
    assert!(table.events.iter().all(|event| !matches!(event, GameEvent::Left { .. })), "it never had a seat");
}

#[test]
fn no_datagram_lets_anybody_in() {
    let room = Hosted::new(Server::new(config()).unwrap());
    for datagram in [&[][..], &[0, 2, b'h', b'i'], &[1], &[9], &[3, 9], &[0; 2_000]] {
        assert_eq!(room.admits(datagram), Admission::Ignored, "{datagram:?}");
    }
}

#[test]
fn a_whole_message_is_neither_more_nor_less() {
    let decode = |bytes: &[u8]| Robots::decode(&mut (), bytes, Framing::Whole);
    assert_eq!(decode(&[3, 0]), Ok(ClientMessage::Action(Action::Move(Direction::Up))));
    assert_eq!(decode(&[3, 0, 1]), Err(DecodeError::Trailing { at: 2, extra: 1 }));
    assert_eq!(decode(&[3]), Err(DecodeError::Incomplete));
    assert_eq!(decode(&[]), Err(DecodeError::Incomplete));
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
            Input::Connected { peer: PeerId(99), role: Role::Player, link: Link::Stream, address: "[::1]:1".into() };
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
        server.input(now, Input::Connected { peer, role: Role::Player, link: Link::Stream, address: "a".into() }, out);
        peer
    };
    let first = connect(&mut server, &mut out, Time::ZERO, 0);
    let request = ClientMessage::Join { name: ShortText::try_from("a").unwrap() };
    server.input(Time::ZERO, Input::Message { peer: first, message: request }, &mut out);
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
                Output::Replay { history, .. } => logs.push((history, live.len())),
                Output::Event(_) => {}
                Output::Close { peer } => panic!("{peer} is closed"),
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
