use robots::{Config, ConfigError};

use crate::table::{Table, config, with};

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
