//! A server that is killed continues from its state.

use std::collections::{BTreeMap, BTreeSet};

use netcore::{Departure, GameEvent, Gone, Hosted, Input, Leave, Output, PeerId, Phase, Progress, Recorded, Role};
use robots::{ClientMessage, Config, MinStd, Server};
use serde_json::{Value, json};

use crate::{
    recorder::{Entry, Recorder, enter, room, varied},
    table::{Table, config, text},
};

fn written(room: &Hosted<Server>) -> String {
    serde_json::to_string(&room.state()).unwrap()
}

fn restored(config: &Config, state: &str) -> Hosted<Server> {
    Hosted::restore(config.clone(), serde_json::from_str(state).unwrap()).unwrap()
}

#[test]
fn recorded_inputs_lead_to_the_same_bytes_and_states_in_a_room_that_is_restored_again_and_again() {
    let mut seen = BTreeMap::<&str, u32>::new();
    let (mut games, mut malformed, mut told, mut lost, mut states) = (0, 0, 0, 0, BTreeSet::new());
    for seed in 1..=40_u32 {
        let config = varied(seed);
        let mut recorder = Recorder::new(room(&config), seed, 0);
        (0..1_500).for_each(|_| recorder.step());
        recorder.enter(Entry::Stop([Leave::Over, Leave::Resumable][seed as usize % 2]));
        let (log, mut dice) = (recorder.log, MinStd::new(seed + 1_000));
        // One room is restored from the previous one repeatedly, the other never.
        let (mut chain, mut plain) = (room(&config), room(&config));
        for (at, (now, entry, expected)) in log.iter().enumerate() {
            assert_eq!(&enter(&mut chain, *now, entry).0, expected, "{seed}: {entry:?}");
            enter(&mut plain, *now, entry);
            // Turn 0 is sent soon after a game has started.
            let started = |output: &Output| matches!(output, Output::Event(GameEvent::Started { .. }));
            if dice.draw() / 64 % 60 != 0 && !expected.outputs.iter().any(started) && at + 1 < log.len() {
                continue;
            }
            let state = written(&chain);
            chain = restored(&config, &state);
            assert_eq!(written(&chain), state);
            assert_eq!(written(&plain), state);
            let what = match expected.status.phase {
                Phase::Lobby => "in the lobby",
                Phase::Playing if state.contains("Opening") => "before turn 0",
                Phase::Playing if state.contains("\"history\":null") => "with a lost history",
                Phase::Playing => "within a game",
                Phase::Over => "stopped",
            };
            *seen.entry(what).or_default() += 1;
            states.insert(state);
        }
        let outputs = || log.iter().flat_map(|(_, _, seen)| &seen.outputs);
        let count = |wanted: fn(&Output) -> bool| outputs().filter(|&output| wanted(output)).count();
        games += count(|output| matches!(output, Output::Event(GameEvent::Started { .. })));
        told += count(|output| matches!(output, Output::Replay { .. }));
        lost += count(|output| matches!(output, Output::Event(GameEvent::Notice { .. })));
        malformed += log.iter().filter(|(_, _, seen)| matches!(seen.progress, Progress::Malformed(_))).count();
    }
    println!("{seen:?}");
    println!("{games} games, {told} histories told and {lost} lost, {malformed} malformed, {} states", states.len());
    assert!(games > 100 && told > 500 && lost > 15 && malformed > 50 && states.len() > 500, "too little happened");
    assert_eq!(seen.len(), 5, "{seen:?}");
    assert!(seen.values().all(|&times| times >= 20), "{seen:?}");
}

#[test]
fn a_setup_is_enough_for_a_first_state_and_is_checked() {
    for seed in 1..=10 {
        let server = Server::new(varied(seed)).unwrap();
        let setup = serde_json::to_string(&server.setup()).unwrap();
        let again = Server::from_setup(serde_json::from_str(&setup).unwrap()).unwrap();
        assert_eq!(again.config(), server.config());
        assert_eq!(written(&Hosted::new(again)), written(&Hosted::new(server)));
    }
    let refused = |field: &str, value: Value| {
        let mut setup = serde_json::to_value(config()).unwrap();
        *setup.pointer_mut(field).unwrap() = value;
        serde_json::from_value(setup)
            .map_err(|_| ())
            .and_then(|setup| Server::from_setup(setup).map_err(|_| ()))
            .is_err()
    };
    for field in ["size_x", "size_y", "players_count", "bomb_timer"] {
        assert!(refused(&format!("/parameters/{field}"), json!(0)), "{field}");
        assert!(refused(&format!("/parameters/{field}"), json!(65_536)), "{field}");
    }
    assert!(refused("/parameters/server_name", json!("x".repeat(256))));
    assert!(refused("/turn_duration/nanos", json!(-1)));
    assert!(!refused("/max_history", json!(u64::MAX)) && !refused("/turn_duration/secs", json!(u64::MAX)));
}

#[test]
fn a_game_goes_on_when_the_server_was_killed_and_robots_of_those_who_are_gone_idle() {
    let mut config = config();
    (config.seed, config.parameters.game_length) = (0, 4);
    let mut table = Table::joined(config, &["ann", "bob"]);
    table.check(
        "
        bob > Move Up
        turn
            all < Turn 1; robot 1 (0,1)
        ann > PlaceBomb
        bob > Move Up
        killed
        wait 99 ms
        ann comes
            ann << GameStarted 0 ann, 1 bob
            ann << Turn 0; robot 0 (0,0); robot 1 (0,0)
            ann << Turn 1; robot 1 (0,1)
        wait 1 ms
            all < Turn 2; bomb 0 (0,0); robot 1 (0,2)
        ann > Move Right
        wait 99 ms
        killed
        dan watches
            dan << GameStarted 0 ann, 1 bob
            dan << Turn 0; robot 0 (0,0); robot 1 (0,0)
            dan << Turn 1; robot 1 (0,1)
            dan << Turn 2; bomb 0 (0,0); robot 1 (0,2)
        bob comes
            bob << GameStarted 0 ann, 1 bob
            bob << Turn 0; robot 0 (0,0); robot 1 (0,0)
            bob << Turn 1; robot 1 (0,1)
            bob << Turn 2; bomb 0 (0,0); robot 1 (0,2)
        bob > Join bob
        bob > Move Up
        wait 101 ms
            all < Turn 3
            all < Turn 4; boom 0 robot 0 robot 1; robot 0 (0,0); robot 1 (0,0)
            all < GameEnded 0: 1, 1: 1
        bob > Join bob
            all < AcceptedPlayer 0 bob 10.0.0.1:4004
        ",
    );
    let gone = |peer, name: &str, seat: &str| {
        let why = Departure::Disconnected(Gone::Interrupted);
        GameEvent::Left { peer: PeerId(peer), name: name.into(), seat: seat.into(), why }
    };
    let left: Vec<_> = table.events.iter().filter(|event| matches!(event, GameEvent::Left { .. })).collect();
    assert_eq!(left, [&gone(0, "ann", "0"), &gone(1, "bob", "1")]);
}

transcripts! {
    who_had_joined_stays_on_the_list_of_the_lobby_when_the_server_was_killed: Table::joined(config(), &["ann"]) => "
        killed
        ann comes
            ann << AcceptedPlayer 0 ann 10.0.0.1:4000
        ann > Join ann
            all < AcceptedPlayer 1 ann 10.0.0.1:4001
            all < GameStarted 0 ann, 1 ann
            all < Turn 0; robot 0 (4,8); robot 1 (0,8)
    ";
}

#[test]
fn who_is_killed_before_turn_0_draws_the_same_one() {
    let mut table = Table::joined(config(), &["ann"]);
    table.connect("bob", Role::Player, None);
    let message = ClientMessage::Join { name: text("bob") };
    table.input_alone(Input::Message { peer: PeerId(1), message });
    table.check(
        "
        killed
        turn
            all < Turn 0; robot 0 (4,8); robot 1 (0,8)
        cat comes
            cat << GameStarted 0 ann, 1 bob
            cat << Turn 0; robot 0 (4,8); robot 1 (0,8)
        ",
    );
}
