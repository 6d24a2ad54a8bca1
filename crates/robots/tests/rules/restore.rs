use netcore::{Departure, DisconnectReason, EngineRoom, GameEvent, Input, PeerId, Recorded, Role};
use robots::{ClientMessage, Server};
use serde_json::{Value, json};

use crate::table::{Table, config, text};

fn written(room: &EngineRoom<Server>) -> String {
    serde_json::to_string(&room.state()).unwrap()
}

#[test]
fn setup_is_validated_and_restores_the_initial_state() {
    let server = Server::new(config()).unwrap();
    let setup = serde_json::to_string(&server.setup()).unwrap();
    let again = Server::from_setup(serde_json::from_str(&setup).unwrap()).unwrap();
    assert_eq!(again.config(), server.config());
    assert_eq!(written(&EngineRoom::new(again)), written(&EngineRoom::new(server)));
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
fn killed_game_continues_with_idle_robots() {
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
        let why = Departure::Disconnected(DisconnectReason::Interrupted);
        GameEvent::Left { peer: PeerId(peer), name: name.into(), seat: seat.into(), why }
    };
    let left: Vec<_> = table.events.iter().filter(|event| matches!(event, GameEvent::Left { .. })).collect();
    assert_eq!(left, [&gone(0, "ann", "0"), &gone(1, "bob", "1")]);
}

transcripts! {
    joined_players_stay_in_the_lobby_after_a_kill: Table::joined(config(), &["ann"]) => "
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
fn server_killed_before_turn_0_draws_the_same_turn() {
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
