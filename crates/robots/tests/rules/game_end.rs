use crate::table::{Table, alone, config, with};

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
