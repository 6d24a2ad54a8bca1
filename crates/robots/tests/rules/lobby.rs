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
