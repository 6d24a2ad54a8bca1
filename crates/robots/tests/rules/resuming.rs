//! A server that is killed goes on from its state, and damaged states are refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use netcore::{
    DecoderOf, Departure, Engine, GameEvent, Gone, Hosted, HostedState, Input, Leave, Output, PeerId, Phase, Progress,
    Recorded, Role, Room, StateError,
};
use robots::{ClientMessage, Config, MinStd, Server};
use serde_json::{Value, json};

use crate::{
    recorder::{Entry, Recorder, enter, room, varied},
    table::{Table, config, text},
};

type State = HostedState<<Server as Recorded>::State, DecoderOf<Server>>;

fn written(room: &Hosted<Server>) -> String {
    serde_json::to_string(&room.state()).unwrap()
}

fn restored(config: &Config, state: &str) -> Hosted<Server> {
    Hosted::restore(config.clone(), serde_json::from_str(state).unwrap()).unwrap()
}

#[test]
fn recorded_inputs_lead_to_the_same_bytes_and_digests_in_a_room_that_is_restored_again_and_again() {
    let mut seen = BTreeMap::<&str, u32>::new();
    let (mut games, mut malformed, mut told, mut lost, mut digests) = (0, 0, 0, 0, 0);
    for seed in 1..=40_u32 {
        let config = varied(seed);
        let mut recorder = Recorder::new(room(&config), seed, 0);
        (0..1_500).for_each(|_| recorder.step());
        recorder.enter(Entry::Stop([Leave::Over, Leave::Resumable][seed as usize % 2]));
        let (log, mut dice) = (recorder.log, MinStd::new(seed + 1_000));
        // Restored from the one before, again and again.
        let mut chain = room(&config);
        for (at, (now, entry, expected)) in log.iter().enumerate() {
            assert_eq!(&enter(&mut chain, *now, entry).0, expected, "{seed}: {entry:?}");
            // Turn 0 leaves soon after a game has started.
            let started = |output: &Output| matches!(output, Output::Event(GameEvent::Started { .. }));
            if dice.draw() / 64 % 60 != 0 && !expected.outputs.iter().any(started) && at + 1 < log.len() {
                continue;
            }
            let state = written(&chain);
            chain = restored(&config, &state);
            assert_eq!(chain.digest(), expected.digest, "{seed}");
            assert_eq!(written(&chain), state);
            let what = match expected.status.phase {
                Phase::Lobby => "in the lobby",
                Phase::Playing if state.contains("Opening") => "before turn 0",
                Phase::Playing if state.contains("\"history\":null") => "with a lost history",
                Phase::Playing => "within a game",
                Phase::Over => "stopped",
            };
            *seen.entry(what).or_default() += 1;
        }
        let outputs = || log.iter().flat_map(|(_, _, seen)| &seen.outputs);
        let count = |wanted: fn(&Output) -> bool| outputs().filter(|&output| wanted(output)).count();
        games += count(|output| matches!(output, Output::Event(GameEvent::Started { .. })));
        told += count(|output| matches!(output, Output::Replay { .. }));
        lost += count(|output| matches!(output, Output::Event(GameEvent::Notice { .. })));
        malformed += log.iter().filter(|(_, _, seen)| matches!(seen.progress, Progress::Malformed(_))).count();
        digests += log.iter().map(|(.., seen)| seen.digest).collect::<BTreeSet<_>>().len();
    }
    println!("{seen:?}");
    println!("{games} games, {told} histories told and {lost} lost, {malformed} malformed, {digests} states");
    assert!(games > 100 && told > 500 && lost > 15 && malformed > 50 && digests > 5_000, "too little happened");
    assert_eq!(seen.len(), 5, "{seen:?}");
    assert!(seen.values().all(|&times| times >= 20), "{seen:?}");
}

#[test]
fn a_set_up_is_enough_for_a_first_digest_and_is_checked() {
    for seed in 1..=10 {
        let server = Server::new(varied(seed)).unwrap();
        let setup = serde_json::to_string(&server.setup()).unwrap();
        let again = Server::from_setup(serde_json::from_str(&setup).unwrap()).unwrap();
        assert_eq!((again.digest(), again.config()), (server.digest(), server.config()));
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

// A room with a game of which there is something of everything, and its state.
fn busy(seed: u32) -> (Config, Value) {
    let mut config = varied(seed);
    (config.parameters.players_count, config.parameters.game_length, config.max_history) = (3, 60, 1 << 20);
    config.parameters.bomb_timer = 9;
    let mut recorder = Recorder::new(room(&config), seed, 0);
    for _ in 0..20_000 {
        recorder.step();
        let playing = recorder.room.engine().game().is_some_and(|game| game.turn() > 12 && game.bombs().len() > 1);
        if playing && recorder.room.engine().players().len() == 3 {
            let state = serde_json::to_value(recorder.room.state()).unwrap();
            let seated =
                state["engine"]["peers"].as_array().unwrap().iter().filter(|peer| !peer[1]["player"].is_null());
            if seated.count() > 1 && state["lines"].as_array().unwrap().len() > 4 {
                return (config, state);
            }
        }
    }
    panic!("nothing happens");
}

fn restore(config: &Config, state: Value) -> Result<Hosted<Server>, String> {
    let state: State = serde_json::from_value(state).map_err(|why| why.to_string())?;
    Hosted::restore(config.clone(), state).map_err(|StateError(why)| why.into_owned())
}

fn list(value: &mut Value) -> &mut Vec<Value> {
    value.as_array_mut().unwrap()
}

// The number of a peer of this role that has a seat, or has none.
fn peer(engine: &Value, role: &str, seated: bool) -> usize {
    let peers = engine["peers"].as_array().unwrap();
    peers.iter().position(|peer| peer[1]["role"] == role && peer[1]["player"].is_null() != seated).unwrap()
}

/// Where a state is changed, how, and what is said of it.
type Damage = (&'static str, fn(&mut Value), &'static str);

#[test]
fn what_no_game_can_be_in_is_refused() {
    let (config, state) = busy(3);
    assert_eq!(restore(&config, state.clone()).map(|_| ()), Ok(()));
    let of_game: [Damage; 17] = [
        ("/turn", |turn| *turn = json!(60), "turn 60 is over"),
        ("/turn", |turn| *turn = json!(12), ""),
        ("/robots", |robots| drop(list(robots).pop()), "2 robots for 3 players"),
        ("/robots/0/position/x", |x| *x = json!(10), "off the board"),
        ("/robots/2/position/y", |y| *y = json!(10), "off the board"),
        ("/robots/1/score", |score| *score = json!(59), "more than once a turn"),
        ("/blocks/0/x", |x| *x = json!(10), "a block"),
        ("/blocks", |blocks| blocks[0] = blocks[1].clone(), "a block"),
        ("/next_bomb", |next| *next = json!(u32::MAX), "bombs after"),
        ("", |game| game["next_bomb"] = game["bombs"][0]["id"].clone(), "a bomb that"),
        ("/bombs/0/position/y", |y| *y = json!(65_535), "a bomb that"),
        ("/bombs/0/explodes", |explodes| *explodes = json!(0), "a bomb that"),
        ("/bombs/0/explodes", |explodes| *explodes = json!(9), "a bomb that"),
        ("", |game| game["bombs"][0]["explodes"] = game["turn"].clone(), "a bomb that"),
        ("/bombs/0/explodes", |explodes| *explodes = json!(u32::MAX), "a bomb that"),
        ("/bombs", |bombs| bombs[0] = bombs[1].clone(), "in the order"),
        ("/bombs", |bombs| list(bombs).reverse(), "in the order"),
    ];
    let of_playing: [Damage; 9] = [
        ("/actions", |all| drop(list(all).pop()), "2 actions"),
        ("/actions", |all| list(all).push(json!(null)), "4 actions"),
        ("/history", |all| drop(list(all).pop()), "history"),
        ("/history", |all| drop(list(all).remove(0)), "history"),
        ("/history", |all| list(all).swap(3, 4), "history"),
        ("/history", |all| list(all).push(json!([3, 0, 9])), "history"),
        ("/history/5", |turn| *turn = json!([3, 0, 4, 0, 0, 0, 1]), "history"),
        ("/history/0", |start| *start = json!([2, 0, 0, 0, 0]), "history"),
        ("/history", |all| *all = json!([]), "history"),
    ];
    let of_engine: [Damage; 10] = [
        ("/phase", |phase| *phase = json!("Lobby"), "3 players of 3"),
        ("/players", |players| drop(list(players).pop()), "2 players of 3"),
        ("/players", |players| list(players).extend_from_within(..1), "4 players of 3"),
        ("/players/0/name", |name| *name = json!("x".repeat(256)), "at most 255"),
        ("/games", |games| *games = json!(0), "in game 0"),
        ("/peers", |peers| list(peers).extend_from_within(..1), ""),
        (
            "",
            |engine| {
                let watcher = peer(engine, "Player", false);
                list(&mut engine["peers"]).extend_from_within(watcher..=watcher);
            },
            "there twice",
        ),
        (
            "",
            |engine| {
                let seat = peer(engine, "Player", true);
                engine["peers"][seat][1]["role"] = json!("Watcher");
            },
            "a peer that cannot be player",
        ),
        (
            "",
            |engine| {
                let seat = peer(engine, "Player", true);
                engine["peers"][seat][1]["player"] = json!(3);
            },
            "a peer that cannot be player 3",
        ),
        (
            "",
            |engine| {
                let (seat, other) = (peer(engine, "Player", true), peer(engine, "Player", false));
                engine["peers"][other][1] = engine["peers"][seat][1].clone();
            },
            "a peer that cannot be player",
        ),
    ];
    let all =
        [("/engine/phase/Playing/game", &of_game[..]), ("/engine/phase/Playing", &of_playing), ("/engine", &of_engine)];
    for (place, changes) in all {
        for (pointer, change, why) in changes {
            let mut state = state.clone();
            change(state.pointer_mut(&format!("{place}{pointer}")).unwrap());
            let got = restore(&config, state).map(|_| ()).expect_err(pointer);
            assert!(got.contains(why), "{place}{pointer}: {got}, not {why}");
        }
    }
    let mut bounded = config;
    bounded.max_history = 100;
    assert_eq!(restore(&bounded, state).map(|_| ()), Err("a history that is longer than its bound".into()));
}

// Some value of the tree, at random.
fn pick<'a>(tree: &'a mut Value, roll: &mut impl FnMut(usize) -> usize) -> &'a mut Value {
    let children = match tree {
        Value::Array(list) => list.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    if children == 0 || roll(8) == 0 {
        return tree;
    }
    let at = roll(children);
    let child = match tree {
        Value::Array(list) => list.get_mut(at),
        Value::Object(map) => map.values_mut().nth(at),
        _ => None,
    };
    pick(child.unwrap(), roll)
}

fn damage(state: &mut Value, roll: &mut impl FnMut(usize) -> usize) {
    let other = pick(&mut state.clone(), roll).clone();
    let numbers = [0, 1, 2, 3, 9, 10, 59, 60, 255, 256, 65_535, 65_536, 1 << 31, (1 << 32) - 1, 1 << 32, u64::MAX];
    match (pick(state, roll), roll(6)) {
        (place, 0) => *place = other,
        (Value::Number(number), _) => {
            let (value, step) = (number.as_u64().unwrap(), u64::try_from(roll(3)).unwrap());
            let near = [value.wrapping_add(1 + step), value.saturating_sub(1 + step)][roll(2)];
            *number = [near, numbers[roll(numbers.len())]][roll(2)].into();
        }
        (Value::Array(list), what) if !list.is_empty() => {
            let (one, two) = (roll(list.len()), roll(list.len()));
            match what {
                1 => drop(list.remove(one)),
                2 => list.insert(one, list[two].clone()),
                3 => list.swap(one, two),
                4 => list.clear(),
                _ => list.extend(vec![list[one].clone(); 300]),
            }
        }
        (Value::String(text), _) => *text = text.repeat(roll(300)),
        (place, _) => *place = Value::Null,
    }
}

#[test]
fn whatever_a_damaged_state_says_no_later_game_breaks() {
    let (mut refused, mut taken) = (0, 0);
    for seed in 1..=6_u32 {
        let (config, state) = busy(seed);
        let mut lobby = Recorder::new(room(&config), seed, 0);
        (0..25).for_each(|_| lobby.step());
        let states = [state, serde_json::to_value(lobby.room.state()).unwrap()];
        let mut dice = MinStd::new(seed);
        let mut roll = |sides: usize| dice.draw() as usize / 64 % sides;
        for round in 0..600_u32 {
            let mut state = states[usize::from(roll(4) == 0)].clone();
            (0..=roll(2)).for_each(|_| damage(&mut state, &mut roll));
            let Ok(room) = restore(&config, state) else {
                refused += 1;
                continue;
            };
            taken += 1;
            let mut recorder = Recorder::new(room, seed * 1_000 + round, 1_000);
            (0..60).for_each(|_| recorder.step());
            for peer in 0..30 {
                recorder.enter(Entry::Refresh(PeerId(peer)));
                recorder.enter(Entry::Disconnected(PeerId(peer), Gone::Interrupted));
            }
            if let Some(due) = recorder.room.deadline() {
                recorder.now = recorder.now.max(due);
            }
            for _ in 0..100 {
                recorder.now = recorder.now.plus(Duration::from_millis(90));
                recorder.enter(Entry::Elapsed);
                recorder.step();
            }
            // What came of it can be written and read again.
            assert_eq!(restored(&config, &written(&recorder.room)).digest(), recorder.room.digest());
        }
    }
    println!("{refused} refused, {taken} taken");
    assert!(refused > 1_000 && taken > 500, "{refused} refused, {taken} taken");
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
