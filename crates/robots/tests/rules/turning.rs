//! Turns: when they come, which actions count, and what they do.

use std::time::Duration;

use netcore::{Engine, Time};
use robots::Config;

use crate::table::{Said, Table, alone, config};

/// Two robots in the corner of a board without blocks.
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
    table.connect("ann", netcore::Role::Player, None);
    table.send("ann", &robots::ClientMessage::Join { name: crate::table::text("ann") });
    // However late the wake-ups come, the next turn is due when it is due.
    for (turn, late) in [(1, 0), (2, 60), (3, 99)] {
        let due = Time::from_millis(40 + 100 * turn);
        assert_eq!(table.server.deadline(), Some(due));
        table.now = due.plus(Duration::from_millis(late));
        assert!(!table.turn().is_empty());
    }
    assert_eq!(table.server.deadline(), None);
}

#[test]
fn turns_are_counted_from_when_turn_0_leaves_although_the_start_was_told_before() {
    let mut table = Table::new(alone());
    table.connect("ann", netcore::Role::Player, None);
    table.now = Time::from_millis(40);
    let join = robots::ClientMessage::Join { name: crate::table::text("ann") };
    let request = netcore::Input::Message { peer: netcore::PeerId(0), message: join };
    assert_eq!(table.input_alone(request).len(), 2, "AcceptedPlayer and GameStarted");
    assert_eq!(table.server.deadline(), Some(Time::from_millis(40)));
    table.now = Time::from_millis(47);
    assert_eq!(table.input_alone(netcore::Input::Elapsed).len(), 1, "turn 0");
    assert_eq!(table.server.deadline(), Some(Time::from_millis(147)));
}

#[test]
fn turns_that_are_late_follow_at_once_one_by_one() {
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
fn after_a_long_stall_turns_keep_their_distance_again() {
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
    a_wake_up_too_early_is_no_turn: Table::joined(alone(), &["ann"]) => "
        wait 99 ms
        too early
        wait 1 ms
            all < Turn 1
        too early
    ";

    the_last_action_of_a_period_counts: corner() => "
        ann > PlaceBomb
        ann > PlaceBlock
        ann > Move Up
        bob > Move Up
        bob > PlaceBomb
        turn
            all < Turn 1; robot 0 (0,1); bomb 0 (0,0)
    ";

    a_join_does_not_displace_an_action_and_what_is_impossible_does: corner() => "
        ann > Move Up
        ann > Join Ann
        bob > Move Up
        bob > Move Left
        turn
            all < Turn 1; robot 0 (0,1)
    ";

    actions_are_not_carried_over: corner() => "
        ann > Move Up
        turn
            all < Turn 1; robot 0 (0,1)
        turn
            all < Turn 2
    ";

    an_action_of_somebody_who_left_since_counts: corner() => "
        ann > Move Up
        ann leaves
        turn
            all < Turn 1; robot 0 (0,1)
        turn
            all < Turn 2
    ";

    those_who_look_on_move_nobody: corner() => "
        eve comes
            eve < Hello here: 2 players, 10 x 10, 9 turns, radius 2, timer 2
            eve << GameStarted 0 ann, 1 bob
            eve << Turn 0; robot 0 (0,0); robot 1 (0,0)
        eve > PlaceBomb
        eve > Join Eve
        eve > Move Up
        turn
            all < Turn 1
    ";
}

#[test]
fn robots_stay_on_the_board() {
    let mut table = corner();
    table.check(
        "
        ann > Move Down
        bob > Move Left
        turn
            all < Turn 1
        ",
    );
    Table::joined(alone(), &["cat"]).check(
        "
        cat > Move Up
        turn
            all < Turn 1
        cat > Move Right
        turn
            all < Turn 2
        ",
    );
}

transcripts! {
    a_block_stops_robots_but_not_those_who_stand_on_it: corner() => "
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

    a_block_of_the_same_turn_stops_those_who_come_later: corner() => "
        bob > Move Right
        turn
            all < Turn 1; robot 1 (1,0)
        ann > PlaceBlock
        bob > Move Left
        turn
            all < Turn 2; block (0,0)
    ";

    and_a_robot_that_is_first_is_not_stopped_by_it: corner() => "
        ann > Move Up
        turn
            all < Turn 1; robot 0 (0,1)
        ann > Move Down
        bob > PlaceBlock
        turn
            all < Turn 2; robot 0 (0,0); block (0,0)
    ";

    bombs_can_be_put_on_blocks_and_on_bombs_and_have_ids_in_order: corner() => "
        ann > PlaceBlock
        bob > PlaceBomb
        turn
            all < Turn 1; block (0,0); bomb 0 (0,0)
        ann > PlaceBomb
        bob > PlaceBomb
        turn
            all < Turn 2; bomb 1 (0,0); bomb 2 (0,0)
    ";
}

#[test]
fn a_bomb_explodes_after_as_many_turns_as_its_timer_has() {
    for (timer, quiet) in [(1, 0), (2, 1), (5, 4)] {
        let mut config = alone();
        (config.parameters.bomb_timer, config.parameters.game_length) = (timer, 20);
        let mut table = Table::joined(config, &["ann"]);
        table.check("ann > PlaceBomb\n turn\n all < Turn 1; bomb 0 (0,0)");
        for turn in 0..quiet {
            table.check(&format!("turn\n all < Turn {}", turn + 2));
        }
        table.check(&format!("turn\n all < Turn {}; boom 0 robot 0; robot 0 (0,0)", quiet + 2));
    }
}

transcripts! {
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

    a_robot_hit_twice_in_a_turn_is_scored_once: {
        let mut config = config();
        (config.seed, config.parameters.game_length) = (0, 3);
        Table::joined(config, &["ann", "bob"])
    } => "
        ann > PlaceBomb
        bob > PlaceBomb
        turn
            all < Turn 1; bomb 0 (0,0); bomb 1 (0,0)
        turn
            all < Turn 2
        turn
            all < Turn 3; boom 0 robot 0 robot 1; boom 1 robot 0 robot 1; robot 0 (0,0); robot 1 (0,0)
            all < GameEnded 0: 1, 1: 1
    ";
}

#[test]
fn new_places_are_drawn_in_the_order_of_ids_mixed_with_moves() {
    // The numbers behind those of turn 0.
    let mut draws = robots::MinStd::new(533_254_358);
    assert_eq!([draws.draw(), draws.draw()], [982_122_076, 165_739_424]);
    let mut config = config();
    (config.parameters.bomb_timer, config.parameters.explosion_radius) = (1, 9);
    Table::joined(config, &["ann", "bob"]).check(
        "
        ann > PlaceBomb
        bob > Move Up
        turn
            all < Turn 1; bomb 0 (4,8); robot 1 (0,9)
        bob > Move Right
        turn
            all < Turn 2; boom 0 robot 0; robot 0 (6,4); robot 1 (1,9)
        ",
    );
}

transcripts! {
    a_robot_may_walk_onto_a_field_whose_block_is_destroyed_in_the_same_turn: corner() => "
        ann > PlaceBlock
        bob > Move Right
        turn
            all < Turn 1; block (0,0); robot 1 (1,0)
        ann > PlaceBomb
        bob > Move Up
        turn
            all < Turn 2; bomb 0 (0,0); robot 1 (1,1)
        ann > Move Up
        turn
            all < Turn 3; robot 0 (0,1)
        ann > Move Down
        turn
            all < Turn 4; boom 0 block (0,0); robot 0 (0,0)
    ";

    // There is a block in the corner, and everybody is born there.
    a_robot_may_be_reborn_on_a_block_and_leave_it: {
        let mut config = config();
        (config.seed, config.initial_blocks, config.parameters.bomb_timer) = (0, 1, 1);
        (config.parameters.players_count, config.parameters.game_length) = (1, 9);
        Table::joined(config, &["ann"])
    } => "
        ann > Move Right
        turn
            all < Turn 1; robot 0 (1,0)
        ann > PlaceBlock
        turn
            all < Turn 2; block (1,0)
        ann > PlaceBomb
        turn
            all < Turn 3; bomb 0 (1,0)
        turn
            all < Turn 4; boom 0 robot 0 block (1,0); robot 0 (0,0)
        ann > Move Up
        turn
            all < Turn 5; robot 0 (0,1)
    ";
}

#[test]
fn the_same_inputs_give_the_same_bytes_and_fingerprints() {
    let play = |config: Config| {
        let mut table = Table::joined(config, &["ann", "bob"]);
        let (mut digests, mut said) = (vec![table.server.digest()], Vec::<Said>::new());
        for (round, name) in ["ann", "bob", "ann", "ann"].iter().enumerate() {
            let action = [robots::Action::PlaceBomb, robots::Action::PlaceBlock][round % 2];
            said.extend(table.send(name, &robots::ClientMessage::Action(action)));
            digests.push(table.server.digest());
            if round < 3 {
                said.extend(table.turn());
                digests.push(table.server.digest());
            }
        }
        (digests, said)
    };
    let (digests, said) = play(config());
    assert_eq!((digests.clone(), said), play(config()));
    let different: std::collections::BTreeSet<_> = digests.iter().collect();
    // The last action comes in the lobby and changes nothing.
    assert_eq!(different.len(), digests.len() - 1);
    let other = Config { seed: 1, ..config() };
    assert_ne!(digests, play(other).0);
}
