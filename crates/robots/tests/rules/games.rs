//! The lobby, and the start and the end of a game.

use robots::{Config, ConfigError};

use crate::table::{Table, alone, config, with};

transcripts! {
    accepted_players_are_sent_in_id_order:
        Table::joined(with(config(), |config| config.parameters.players_count = 4), &["zoe", "bob", "ann"]) => "
        eve comes
            eve << AcceptedPlayer 0 zoe 10.0.0.1:4000
            eve << AcceptedPlayer 1 bob 10.0.0.1:4001
            eve << AcceptedPlayer 2 ann 10.0.0.1:4002
    ";
}

#[test]
fn ids_follow_the_order_of_the_joins_and_names_may_be_equal_or_empty() {
    let mut table = Table::new(with(config(), |config| config.parameters.players_count = 4));
    for name in ["ann", "bob", "cat"] {
        table.connect(name, netcore::Role::Player, None);
    }
    table.check(
        "
        cat > Join Same
            all < AcceptedPlayer 0 Same 10.0.0.1:4002
        ann > Join Same
            all < AcceptedPlayer 1 Same 10.0.0.1:4000
        bob > bytes 00 00
            all < AcceptedPlayer 2  10.0.0.1:4001
        ",
    );
}

transcripts! {
    addresses_are_forwarded_unchanged: Table::new(config()) => "
        ann comes from [::1]:9
        ann > Join Ann
            all < AcceptedPlayer 0 Ann [::1]:9
    ";

    second_join_of_an_accepted_player_is_ignored: Table::joined(config(), &["ann"]) => "
        ann > Join Ann
        ann > Join Other
    ";

    actions_in_the_lobby_are_ignored: Table::joined(alone(), &[]) => "
        ann comes
        ann > PlaceBomb
        ann > PlaceBlock
        ann > Move Up
        ann > Join Ann
            all < AcceptedPlayer 0 Ann 10.0.0.1:4000
            all < GameStarted 0 Ann
            all < Turn 0; robot 0 (0,0)
        turn
            all < Turn 1
    ";

    departed_player_stays_in_the_lobby_and_may_join_again:
        Table::joined(with(config(), |config| config.seed = 0), &["ann"]) => "
        ann leaves
        ann comes
            ann << AcceptedPlayer 0 ann 10.0.0.1:4000
        ann > Join Ann
            all < AcceptedPlayer 1 Ann 10.0.0.1:4001
            all < GameStarted 0 ann, 1 Ann
            all < Turn 0; robot 0 (0,0); robot 1 (0,0)
        ann > Move Right
        turn
            all < Turn 1; robot 1 (1,0)
    ";
}

transcripts! {
    // The generator draws 59566414 1997250508, 148423250 533254358, 982122076 165739424.
    robots_come_first_by_id_and_x_is_drawn_before_y: {
        let mut config = config();
        (config.parameters.players_count, config.initial_blocks) = (2, 1);
        Table::joined(config, &["ann"])
    } => "
        bob comes
            bob << AcceptedPlayer 0 ann 10.0.0.1:4000
        bob > Join Bob
            all < AcceptedPlayer 1 Bob 10.0.0.1:4001
            all < GameStarted 0 ann, 1 Bob
            all < Turn 0; robot 0 (4,8); robot 1 (0,8); block (6,4)
    ";
}

#[test]
fn repeated_block_uses_two_draws_without_an_event() {
    // With a single column, only every second draw is visible, as y.
    let mut config = config();
    (config.parameters.players_count, config.initial_blocks) = (1, 4);
    (config.parameters.size_x, config.parameters.size_y) = (1, 3);
    let second = |at: usize| {
        let mut draws = robots::MinStd::new(1234);
        (0..at).map(|_| draws.draw()).last().unwrap() % 3
    };
    assert_eq!([second(2), second(4), second(6), second(8), second(10)], [1, 2, 2, 0, 0]);
    let mut table = Table::new(config);
    table.check(
        "
        ann comes
        ann > Join Ann
            all < AcceptedPlayer 0 Ann 10.0.0.1:4000
            all < GameStarted 0 Ann
            all < Turn 0; robot 0 (0,1); block (0,2); block (0,0)
        ",
    );
}

transcripts! {
    seed_of_zero_places_everything_in_the_corner:
        Table::joined(with(config(), |config| (config.seed, config.initial_blocks) = (2_147_483_647, 9)), &["ann"]) => "
        bob comes
            bob << AcceptedPlayer 0 ann 10.0.0.1:4000
        bob > Join Bob
            all < AcceptedPlayer 1 Bob 10.0.0.1:4001
            all < GameStarted 0 ann, 1 Bob
            all < Turn 0; robot 0 (0,0); robot 1 (0,0); block (0,0)
    ";
}

#[test]
fn invalid_configurations_are_refused() {
    let wrong = |change: fn(&mut Config)| {
        let mut config = config();
        change(&mut config);
        config.check().err()
    };
    assert_eq!(wrong(|_| ()), None);
    assert_eq!(wrong(|config| config.parameters.size_x = 0), Some(ConfigError::NoFields { size_x: 0, size_y: 10 }));
    assert_eq!(wrong(|config| config.parameters.size_y = 0), Some(ConfigError::NoFields { size_x: 10, size_y: 0 }));
    assert_eq!(wrong(|config| config.parameters.players_count = 0), Some(ConfigError::NoPlayers));
    assert_eq!(wrong(|config| config.parameters.bomb_timer = 0), Some(ConfigError::NoTimer));
    let extremes = wrong(|config| {
        let parameters = &mut config.parameters;
        (parameters.game_length, parameters.explosion_radius) = (0, 0);
        (config.initial_blocks, config.seed, config.turn_duration) = (0, 0, std::time::Duration::ZERO);
    });
    assert_eq!(extremes, None);
}

transcripts! {
    last_turn_is_played_and_joins_before_its_end_are_ignored:
        Table::joined(with(alone(), |config| config.parameters.game_length = 1), &["ann"]) => "
        ann > PlaceBlock
        ann > Join Ann
        turn
            all < Turn 1; block (0,0)
            all < GameEnded 0: 0
    ";

    game_of_no_turns_ends_after_turn_0:
        Table::new(with(alone(), |config| config.parameters.game_length = 0)) => "
        ann comes
        ann > Join Ann
            all < AcceptedPlayer 0 Ann 10.0.0.1:4000
            all < GameStarted 0 Ann
            all < Turn 0; robot 0 (0,0)
            all < GameEnded 0: 0
        ann > Join Ann
            all < AcceptedPlayer 0 Ann 10.0.0.1:4000
            all < GameStarted 0 Ann
            all < Turn 0; robot 0 (0,0)
            all < GameEnded 0: 0
    ";

    lobby_after_a_game_is_empty_and_keeps_connections: Table::joined(config(), &["ann", "bob"]) => "
        wait 300 ms
            all < Turn 1
            all < Turn 2
            all < Turn 3
            all < GameEnded 0: 0, 1: 0
        cat comes
        bob > Join Bob
            all < AcceptedPlayer 0 Bob 10.0.0.1:4001
        ann > Move Up
        wait 1000 ms
    ";

    // After the first two, the generator draws 148423250 533254358 982122076 165739424.
    generator_continues_and_bomb_ids_restart_in_the_next_game: {
        let mut config = config();
        (config.parameters.players_count, config.parameters.game_length, config.parameters.bomb_timer) = (1, 1, 1);
        Table::joined(config, &["ann"])
    } => "
        ann > PlaceBomb
        turn
            all < Turn 1; bomb 0 (4,8)
            all < GameEnded 0: 0
        ann > Join Ann
            all < AcceptedPlayer 0 Ann 10.0.0.1:4000
            all < GameStarted 0 Ann
            all < Turn 0; robot 0 (0,8)
        ann > PlaceBomb
        turn
            all < Turn 1; bomb 0 (0,8)
            all < GameEnded 0: 0
        ann > Join Ann
            all < AcceptedPlayer 0 Ann 10.0.0.1:4000
            all < GameStarted 0 Ann
            all < Turn 0; robot 0 (6,4)
    ";

    short_game_of_the_task_text: {
        let mut config = alone();
        (config.parameters.bomb_timer, config.parameters.size_x) = (1, 2);
        config.seed = 0;
        Table::new(config)
    } => "
        ann comes
        ann > Join Ann
            all < AcceptedPlayer 0 Ann 10.0.0.1:4000
            all < GameStarted 0 Ann
            all < Turn 0; robot 0 (0,0)
        ann > PlaceBomb
        turn
            all < Turn 1; bomb 0 (0,0)
        eve comes
            eve << GameStarted 0 Ann
            eve << Turn 0; robot 0 (0,0)
            eve << Turn 1; bomb 0 (0,0)
        ann > Move Right
        turn
            all < Turn 2; boom 0 robot 0; robot 0 (0,0)
        ann > Move Right
        turn
            all < Turn 3; robot 0 (1,0)
            all < GameEnded 0: 1
    ";
}
