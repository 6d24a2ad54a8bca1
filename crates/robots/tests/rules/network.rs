use std::time::Duration;

use netcore::{
    Admission, Engine, EngineRoom, GameEvent, Input, Leave, Link, Outbox, Outcome, Output, PeerId, Recorded, Role,
    Room, Time,
};
use robots::{Action, ClientMessage, Direction, Server};

use crate::table::{Effect, Table, alone, config, text, with};

transcripts! {
    malformed_bytes_close_only_their_sender:
        Table::joined(with(config(), |config| config.seed = 0), &["ann", "bob"]) => "
        ann > bytes 03 01 03 04
            ann closed
        bob > Move Up
        turn
            all < Turn 1; robot 0 (1,0); robot 1 (0,1)
    ";
}

#[test]
fn malformed_bytes_of_each_kind_close_the_connection() {
    for bytes in ["04", "ff", "03 04", "00 01 80", "00 02 c3 28"] {
        Table::joined(config(), &["ann"]).check(&format!("ann > bytes {bytes}\n ann closed"));
    }
}

transcripts! {
    robot_of_a_departed_player_stays_in_the_game:
        Table::joined(with(alone(), |config| config.parameters.bomb_timer = 1), &["ann"]) => "
        ann > PlaceBomb
        turn
            all < Turn 1; bomb 0 (0,0)
        ann leaves
        turn
            all < Turn 2; boom 0 robot 0; robot 0 (0,0)
        bob comes
            bob << GameStarted 0 ann
            bob << Turn 0; robot 0 (0,0)
            bob << Turn 1; bomb 0 (0,0)
            bob << Turn 2; boom 0 robot 0; robot 0 (0,0)
        turn
            all < Turn 3
            all < GameEnded 0: 1
    ";
}

#[test]
fn restarted_client_agrees_in_every_phase() {
    let mut config = config();
    (config.parameters.game_length, config.initial_blocks) = (12, 20);
    let mut table = Table::joined(config, &["ann"]);
    table.connect("eve", Role::Watcher, None);
    // Each step compares the client with the server.
    assert_eq!(table.restart_client("ann").len(), 2);
    assert_eq!(table.restart_client("eve").len(), 2);
    table.connect("bob", Role::Player, None);
    // Between the start and turn 0.
    let joining = Input::Message { peer: PeerId(2), message: ClientMessage::Join { name: text("bob") } };
    table.input_alone(joining);
    let peer = table.reset_client("bob");
    assert_eq!(table.input_alone(Input::Refresh { peer }).len(), 2, "Hello and GameStarted");
    assert!(table.client("bob").game().is_some_and(|game| game.positions().is_empty()));
    table.turn();
    for turn in 1..12 {
        for (name, action) in [("ann", Action::PlaceBomb), ("bob", Action::Move(Direction::ALL[turn % 4]))] {
            table.send(name, &ClientMessage::Action(if turn % 3 == 0 { Action::PlaceBlock } else { action }));
        }
        for name in ["ann", "bob", "eve"] {
            assert_eq!(table.restart_client(name).len(), 2 + turn, "Hello, GameStarted and the turns so far");
        }
        assert_eq!(table.turn().len(), 1);
    }
    assert_eq!(table.turn().len(), 2);
    assert_eq!(table.restart_client("ann").len(), 1);
}

#[test]
fn refresh_of_an_unknown_peer_sends_nothing() {
    let mut table = Table::new(config());
    assert_eq!(table.input(Input::Refresh { peer: PeerId(7) }), []);
}

#[test]
fn resumable_stop_sends_and_closes_nothing() {
    let mut table = Table::joined(config(), &["ann", "bob"]);
    table.events.clear();
    assert_eq!(table.input(Input::Stop(Leave::Resumable)), []);
    assert_eq!((table.server.outcome(), table.server.deadline()), (Some(Outcome::Stopped), None));
    assert_eq!(table.events, []);
    assert_eq!(table.server.status().phase, netcore::Phase::Over);
}

#[test]
fn watcher_sees_all_and_its_messages_have_no_effect() {
    let mut table = Table::joined(config(), &["ann"]);
    table.connect("eve", Role::Watcher, None);
    let silent = |table: &mut Table, bytes: &[u8]| {
        let before = table.state();
        assert_eq!(table.send_bytes("eve", bytes), []);
        assert_eq!(table.state(), before, "{bytes:?}");
    };
    let all: [&[u8]; 6] = [&[0, 0], &[1], &[2], &[3, 0], &[9], &[3, 77]];
    for bytes in all {
        silent(&mut table, bytes);
    }
    table.check(
        "
        bob comes
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
            eve << GameStarted 0 ann, 1 bob
            eve << Turn 0; robot 0 (4,8); robot 1 (0,8)
            eve << Turn 1
        eve leaves
        eve watches
            eve << GameStarted 0 ann, 1 bob
            eve << Turn 0; robot 0 (4,8); robot 1 (0,8)
            eve << Turn 1
        ",
    );
    assert!(table.events.iter().all(|event| !matches!(event, GameEvent::Left { .. })), "it never had a seat");
}

#[test]
fn datagrams_are_ignored() {
    let room = EngineRoom::new(Server::new(config()).unwrap());
    for datagram in [&[][..], &[0, 2, b'h', b'i'], &[1], &[9], &[3, 9], &[0; 2_000]] {
        assert_eq!(room.admits(datagram), Admission::Ignored, "{datagram:?}");
    }
}

#[test]
fn stop_closes_all_connections() {
    let mut table = Table::joined(config(), &["ann", "bob"]);
    table.check("stop\n ann closed\n bob closed");
    let (peer, role, link) = (PeerId(99), Role::Player, Link::Stream);
    let late = Input::Connected { peer, role, link, address: "[::1]:1".into() };
    assert_eq!(table.input_alone(late), [], "nothing is done any more");
}

// The addresses of the history segments for a new client.
fn history_sent_to(server: &mut Server, peer: u64) -> Vec<*const u8> {
    let (mut out, link) = (Outbox::new(), Link::Stream);
    let newcomer = Input::Connected { peer: PeerId(peer), role: Role::Player, link, address: "a".into() };
    server.input(Time::ZERO, newcomer, &mut out);
    let outputs: Vec<_> = out.drain().collect();
    let [_, Output::Replay { history: log, .. }] = &outputs[..] else { panic!("{outputs:?}") };
    log.segments().map(|segment| segment.as_ptr()).collect()
}

#[test]
fn late_clients_and_states_share_a_long_history() {
    let mut config = alone();
    (config.turn_duration, config.parameters.game_length) = (Duration::ZERO, 65_535);
    let mut table = Table::joined(config, &["ann"]);
    let turns: Vec<Effect> = (0..9_000).flat_map(|_| table.turn()).collect();
    let effects = table.connect("bob", Role::Player, None);
    // Live, after Hello, GameStarted and turn 0.
    let live = effects[3..].iter().map(|effect| match effect {
        Effect::Replayed(_, message) => Effect::All(message.clone()),
        other => panic!("{other:?}"),
    });
    assert!(live.eq(turns));
    let mut again = Server::restore(table.server.setup(), table.server.state()).unwrap();
    let first = history_sent_to(&mut table.server, 7);
    assert!((4..20).contains(&first.len()), "a history is a few segments");
    assert_eq!(history_sent_to(&mut table.server, 8), first, "those who come in the same turn share everything");
    table.turn();
    let front = first.len() - 1;
    for later in [history_sent_to(&mut table.server, 9), history_sent_to(&mut again, 9)] {
        assert_eq!(later[..front], first[..front]);
    }
}
