//! Turns: their times, the actions that count, and their effects.

use std::time::Duration;

use netcore::{Engine, Input, PeerId, Role, Time};
use robots::ClientMessage;

use crate::table::{Table, alone, config, text};

/// Robots in the corner of a board without blocks.
fn corner() -> Table {
    let mut config = config();
    config.seed = 0;
    config.parameters.game_length = 9;
    Table::joined(config, &["ann", "bob"])
}

#[test]
fn turns_are_due_at_fixed_times_after_turn_0() {
    let mut table = Table::new(alone());
    table.wait(Duration::from_millis(40));
    table.connect("ann", Role::Player, None);
    table.send("ann", &ClientMessage::Join { name: text("ann") });
    // Late wake-ups do not delay the next turn.
    for (turn, late) in [(1, 0), (2, 60), (3, 99)] {
        let due = Time::from_millis(40 + 100 * turn);
        assert_eq!(table.server.deadline(), Some(due));
        table.now = due.plus(Duration::from_millis(late));
        assert!(!table.turn().is_empty());
    }
    assert_eq!(table.server.deadline(), None);
}

#[test]
fn turns_are_timed_from_turn_0() {
    let mut table = Table::new(alone());
    table.connect("ann", Role::Player, None);
    table.now = Time::from_millis(40);
    let join = ClientMessage::Join { name: text("ann") };
    let request = Input::Message { peer: PeerId(0), message: join };
    assert_eq!(table.input_alone(request).len(), 2, "AcceptedPlayer and GameStarted");
    assert_eq!(table.server.deadline(), Some(Time::from_millis(40)));
    table.now = Time::from_millis(47);
    assert_eq!(table.input_alone(Input::Elapsed).len(), 1, "turn 0");
    assert_eq!(table.server.deadline(), Some(Time::from_millis(147)));
}

#[test]
fn late_turns_follow_one_by_one() {
    let mut table = Table::joined(alone(), &["ann"]);
    table.now = Time::from_millis(250);
    table.check(
        "
        too early
            all < Turn 1
        too early
            all < Turn 2
        too early
        wait 50 ms
            all < Turn 3
            all < GameEnded 0: 0
        ",
    );
}

#[test]
fn turns_are_postponed_after_a_stall() {
    let mut table = Table::joined(alone(), &["ann"]);
    let late = Duration::from_secs(3_600);
    table.now = Time::from_millis(100).plus(late);
    assert_eq!(table.turn().len(), 1);
    assert_eq!(table.server.deadline(), Some(Time::from_millis(200).plus(late)));
}

#[test]
fn without_a_duration_each_wake_up_is_one_turn() {
    let mut config = alone();
    (config.turn_duration, config.parameters.game_length) = (Duration::ZERO, 1_000);
    let mut table = Table::joined(config, &["ann"]);
    for _ in 0..500 {
        assert_eq!(table.server.deadline(), Some(Time::ZERO));
        assert_eq!(table.turn().len(), 1);
    }
    table.check(
        "
        ann > PlaceBlock
        turn
            all < Turn 501; block (0,0)
        ",
    );
}

#[test]
fn the_longest_duration_does_not_overflow() {
    let mut config = alone();
    config.turn_duration = Duration::from_millis(u64::MAX);
    let table = Table::joined(config, &["ann"]);
    assert_eq!(table.server.deadline(), Some(Time::from_nanos(u64::MAX)));
}

transcripts! {
    early_wake_up_plays_no_turn: Table::joined(alone(), &["ann"]) => "
        wait 99 ms
        too early
        wait 1 ms
            all < Turn 1
        too early
    ";

    last_action_before_a_turn_counts: corner() => "
        ann > PlaceBomb
        ann > PlaceBlock
        ann > Move Up
        bob > Move Up
        bob > PlaceBomb
        turn
            all < Turn 1; robot 0 (0,1); bomb 0 (0,0)
    ";

    impossible_action_replaces_an_action_and_a_join_does_not: corner() => "
        ann > Move Up
        ann > Join Ann
        bob > Move Up
        bob > Move Left
        turn
            all < Turn 1; robot 0 (0,1)
    ";

    action_of_a_departed_player_counts: corner() => "
        ann > Move Up
        ann leaves
        turn
            all < Turn 1; robot 0 (0,1)
        turn
            all < Turn 2
    ";

    watchers_control_no_robot: corner() => "
        eve comes
            eve << GameStarted 0 ann, 1 bob
            eve << Turn 0; robot 0 (0,0); robot 1 (0,0)
        eve > PlaceBomb
        eve > Join Eve
        eve > Move Up
        turn
            all < Turn 1
    ";

    block_stops_robots_except_those_on_its_field: corner() => "
        ann > PlaceBlock
        turn
            all < Turn 1; block (0,0)
        ann > PlaceBlock
        bob > Move Right
        turn
            all < Turn 2; robot 1 (1,0)
        ann > Move Up
        bob > Move Left
        turn
            all < Turn 3; robot 0 (0,1)
        ann > Move Down
        turn
            all < Turn 4
    ";

    explosions_come_first_by_bomb_then_robots_by_id: corner() => "
        ann > PlaceBomb
        bob > PlaceBomb
        turn
            all < Turn 1; bomb 0 (0,0); bomb 1 (0,0)
        ann > Move Right
        turn
            all < Turn 2; robot 0 (1,0)
        ann > Move Right
        bob > PlaceBlock
        turn
            all < Turn 3; boom 0 robot 0 robot 1; boom 1 robot 0 robot 1; robot 0 (0,0); robot 1 (0,0)
    ";
}
