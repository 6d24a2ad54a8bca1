use std::time::Duration;

use netcore::{Departure, GameEvent, PeerId, Severity};
use robots::{Action, ClientMessage, Config, Direction, Game, MinStd, Player, PlayerId, ServerMessage};

use crate::{
    streams::bytes,
    table::{Table, config, text},
};

fn notices(table: &Table) -> Vec<&str> {
    let notice = |event| match event {
        &GameEvent::Notice { severity: Severity::Warning, peer: None, ref text } => Some(text.as_str()),
        _ => None,
    };
    table.events.iter().filter_map(notice).collect()
}

#[test]
fn client_is_rejected_while_the_history_is_too_long() {
    let mut config = config();
    (config.seed, config.parameters.game_length) = (0, 4);
    // GameStarted, turn 0, and an empty turn.
    config.max_history = 45 + 19 + 7;
    let mut table = Table::joined(config, &["ann", "bob"]);
    table.check(
        "
        turn
            all < Turn 1
        cat comes
            cat << GameStarted 0 ann, 1 bob
            cat << Turn 0; robot 0 (0,0); robot 1 (0,0)
            cat << Turn 1
        ",
    );
    assert_eq!(notices(&table), [""; 0]);
    table.check(
        "
        turn
            all < Turn 2
        dan comes
            dan closed
        eve watches
            eve closed
        bob > Move Up
        turn
            all < Turn 3; robot 1 (0,1)
        bob asks again
            bob closed
        turn
            all < Turn 4
            all < GameEnded 0: 0, 1: 0
        dan comes
        dan > Join dan
            all < AcceptedPlayer 0 dan 10.0.0.1:4005
        ann > Join ann
            all < AcceptedPlayer 1 ann 10.0.0.1:4000
            all < GameStarted 0 dan, 1 ann
            all < Turn 0; robot 0 (0,0); robot 1 (0,0)
        fay comes
            fay << GameStarted 0 dan, 1 ann
            fay << Turn 0; robot 0 (0,0); robot 1 (0,0)
        turn
            all < Turn 1
        turn
            all < Turn 2
        ",
    );
    let notice_text = |game| {
        format!(
            "the history of game {game} exceeds 71 bytes after turn 2: new clients are rejected until the game is over"
        )
    };
    assert_eq!(notices(&table), [notice_text(1), notice_text(2)]);
    let why = Departure::Dismissed("the game is too long to be told again".into());
    let bob = GameEvent::Left { peer: PeerId(1), name: "bob".into(), seat: "1".into(), why };
    assert!(table.events.contains(&bob), "{:?}", table.events);
}

#[test]
fn lobby_is_sent_despite_a_full_history() {
    let mut config = config();
    config.max_history = 0;
    let mut table = Table::joined(config, &["ann"]);
    table.check(
        "
        bob comes
            bob << AcceptedPlayer 0 ann 10.0.0.1:4000
        bob > Join bob
            all < AcceptedPlayer 1 bob 10.0.0.1:4001
            all < GameStarted 0 ann, 1 bob
            all < Turn 0; robot 0 (4,8); robot 1 (0,8)
        cat comes
            cat closed
        ",
    );
    assert_eq!(notices(&table).len(), 1);
}

#[test]
fn live_messages_do_not_depend_on_the_history() {
    let outputs = |max_history| {
        let names: Vec<String> = (0..9).map(|number| format!("robot{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut table = Table::joined(Config { max_history, ..crowd(9, (7, 6), (3, 3), 40) }, &names);
        let mut dice = MinStd::new(1);
        let turns = (0..40).map(|_| {
            for name in &names {
                table.send(name, &ClientMessage::Action(action(&mut dice, 6)));
            }
            table.turn()
        });
        turns.collect::<Vec<_>>()
    };
    assert!(outputs(0) == outputs(u64::MAX));
}

fn crowd(players: u8, (size_x, size_y): (u16, u16), (radius, timer): (u16, u16), length: u16) -> Config {
    let mut config = config();
    config.turn_duration = Duration::ZERO;
    let parameters = &mut config.parameters;
    (parameters.players_count, parameters.size_x, parameters.size_y) = (players, size_x, size_y);
    (parameters.explosion_radius, parameters.bomb_timer, parameters.game_length) = (radius, timer, length);
    config
}

fn action(dice: &mut MinStd, sides: u32) -> Action {
    match dice.draw() / 64 % sides {
        0 => Action::PlaceBomb,
        1 => Action::PlaceBlock,
        way => Action::Move(Direction::ALL[way as usize % 4]),
    }
}

// Plays a game in which all players act in each turn. Returns the bytes of its history.
fn play(config: &Config, seed: u32, sides: u32) -> u64 {
    let (mut draws, mut dice) = (MinStd::new(config.seed), MinStd::new(seed));
    let player = Player { name: text("robot"), address: text("10.0.0.1:4000") };
    let all = || PlayerId::all().take(config.parameters.players_count.into());
    let started = ServerMessage::GameStarted { players: all().map(|id| (id, player.clone())).collect() };
    let (mut game, events) = Game::new(config, &mut draws);
    let mut history = bytes(&started).len() + bytes(&ServerMessage::Turn { turn: 0, events }).len();
    while game.outcome().is_none() {
        let actions: Vec<_> = all().map(|_| Some(action(&mut dice, sides))).collect();
        let events = game.end_turn(&actions, &mut draws);
        history += bytes(&ServerMessage::Turn { turn: game.turn(), events }).len();
    }
    history as u64
}

#[test]
fn history_of_busy_games_is_at_least_a_tenth_of_the_estimate() {
    let (mut least, mut most) = (f64::MAX, 0.0_f64);
    for players in [1, 2, 5, 25, 255] {
        for size in [(1, 1), (1, 40), (10, 10), (60, 45), (65_535, 65_535)] {
            for (radius, timer) in [(0, 1), (4, 5), (65_535, 1), (65_535, 20), (3, 1_000)] {
                for (blocks, seed) in [(0, 1), (2_000, 2), (20, 0)] {
                    let mut config = crowd(players, size, (radius, timer), 60);
                    (config.initial_blocks, config.seed) = (blocks, seed);
                    let expected = config.expected_history();
                    let history = play(&config, seed + 1, 6);
                    assert!(history <= expected, "{history} bytes, {expected} expected: {config:?}");
                    assert!(10 * history >= expected, "{history} bytes, {expected} expected: {config:?}");
                    #[allow(clippy::cast_precision_loss, reason = "a ratio to look at")]
                    let ratio = expected as f64 / history as f64;
                    (least, most) = (least.min(ratio), most.max(ratio));
                }
            }
        }
    }
    println!("expected to real: {least:.1} to {most:.1}");
}

#[test]
fn histories_of_games_with_many_bombs_stay_below_the_estimate() {
    for (players, size, sides) in [(255, (200, 100), 4), (255, (20, 20), 3), (25, (20, 20), 2), (4, (10, 10), 2)] {
        let config = crowd(players, size, (4, 5), 200);
        let (expected, history) = (config.expected_history(), play(&config, 3, sides));
        assert!(history <= expected, "{history} bytes, {expected} expected: {players} players, {sides}");
    }
}

#[test]
fn estimate_for_the_longest_game_does_not_overflow() {
    let mut config = crowd(255, (1, 1), (65_535, 1), 65_535);
    (config.initial_blocks, config.seed) = (65_535, 0);
    assert!((1 << 31..1 << 32).contains(&config.expected_history()), "{}", config.expected_history());
    // Unplayable, but the function must not panic.
    (config.parameters.players_count, config.parameters.size_x) = (0, 0);
    assert!(config.expected_history() > 0);
}
