use mastermind::{Day, Record};
use mastermind_play::{
    Wanted,
    panel::{Asked, State, Table},
};

use super::{asked, duel, left, log, play, press, screen, table};

#[test]
fn the_puzzle_of_the_day_is_shared_without_its_digits() {
    let day = Day(20_000);
    let code = day.puzzle(Wanted::default().without_asking().unwrap()).to_string();
    let mut table = Table::new(Wanted::default(), 0, Some(day));
    assert!(screen(&table, 90, 26)[15].contains("The puzzle of 2024-10-04"));
    let mut record = Record::default();
    play(&mut table, &mut record, "\n");
    assert_eq!(table.state(), State::Edit, "nothing is asked");
    play(&mut table, &mut record, &format!("{code}\n"));
    let share = table.share().unwrap();
    assert!(share.starts_with("Mastermind 2024-10-04") && share.ends_with("●●●●") && !share.contains(&code), "{share}");
    assert!(log(&table).contains(&"●●●●".into()));
    assert_eq!((record.played(), record.streak()), (1, 1));
}

/// A table for the puzzle of a day, and its code.
fn daily(day: Day) -> (Table, String) {
    let code = day.puzzle(Wanted::default().without_asking().unwrap()).to_string();
    (Table::new(Wanted::default(), 0, Some(day)), code)
}

const SEEN: &str = "You have seen this puzzle before";

#[test]
fn a_puzzle_played_again_is_said_marked_and_not_counted() {
    let (mut table, code) = daily(Day(20_000));
    let mut record = Record::default();
    // Begun and left: what it answered is known.
    play(&mut table, &mut record, "\n1122\n!!\n");
    assert!(log(&table).iter().any(|row| row.starts_with(SEEN)), "{:#?}", log(&table));
    play(&mut table, &mut record, &format!("{code}\n"));
    assert_eq!(table.share().unwrap().lines().next().unwrap().split(": ").nth(1), Some("1/10, played again"));
    assert!(log(&table).contains(&"A puzzle that was seen before: this game is not counted.".into()));
    assert_eq!((record.played(), record.streak()), (0, 0));
    // Another program has played it meanwhile, which is found at the first answer, or at the last.
    for keys in ["1122\n", ""] {
        let (mut table, code) = daily(Day(20_001));
        let mut record = Record::default();
        play(&mut table, &mut record, "\n");
        record.begin(table.round().unwrap().puzzle().unwrap());
        play(&mut table, &mut record, keys);
        assert_eq!(log(&table).iter().any(|row| row.starts_with(SEEN)), !keys.is_empty());
        play(&mut table, &mut record, &format!("{code}\n"));
        assert!(table.share().unwrap().lines().next().unwrap().ends_with("/10, played again"));
        assert_eq!(record.played(), 0);
    }
}

#[test]
fn a_puzzle_played_again_is_marked_where_nothing_can_be_written_too() {
    let (mut table, code) = daily(Day(20_000));
    let refused = || mastermind_play::BookError::NoPlace;
    press(&mut table, "\n");
    assert_eq!(asked(&mut table, "1122\n"), Asked::Begin);
    table.begun(Err(refused()));
    press(&mut table, "!!\n");
    assert_eq!(asked(&mut table, &format!("{code}\n")), Asked::Count);
    table.counted(Err(refused()));
    assert!(table.share().unwrap().contains("1/10, played again"), "{:?}", table.share());
    assert!(log(&table).iter().any(|row| row.starts_with("This game is not counted: no statistics")));
}

#[test]
fn a_seed_played_again_is_not_counted() {
    let mut record = Record::default();
    play(&mut table(), &mut record, &format!("\n{}", "1234\n".repeat(10)));
    let mut table = table();
    table.statistics(Ok(record.clone()));
    play(&mut table, &mut record, "\n7423\n");
    assert!(log(&table).iter().any(|row| row.starts_with(SEEN)), "{:#?}", log(&table));
    assert_eq!((record.played(), record.lost()), (1, 1));
}

#[test]
fn a_new_day_begins_between_two_games() {
    let (mut table, code) = daily(Day(20_000));
    let mut record = Record::default();
    play(&mut table, &mut record, "\n1122\n");
    table.turn_page(Day(20_001));
    play(&mut table, &mut record, &format!("{code}\n"));
    assert!(table.share().unwrap().starts_with("Mastermind 2024-10-04,"), "it was begun on that day");
    assert_eq!(record.played(), 1);
    press(&mut table, "!");
    table.turn_page(Day(20_001));
    assert!(screen(&table, 90, 26)[15].contains("The puzzle of 2024-10-05"));
    play(&mut table, &mut record, "\n");
    assert!(!log(&table).iter().any(|row| row.starts_with(SEEN)), "{:#?}", log(&table));
}

#[test]
fn a_duel() {
    let mut table = duel();
    assert!(screen(&table, 90, 26)[15].contains("A duel: each sets a code for the other"));
    // Four digits without repeats.
    press(&mut table, "\n\n>\n");
    let shown = left(&table);
    assert_eq!(shown[0], "┌── Player 1 ───┐");
    assert!(log(&table).iter().any(|row| row.starts_with("Player 1, set a code for player 2")), "{:#?}", log(&table));
    press(&mut table, "1123\n");
    assert_eq!(log(&table).last().unwrap(), "That is no code: type 4 digits from 1 to 8, none of them twice.");
    // There is no ninth symbol, and what is wrong can be corrected.
    press(&mut table, "[>^[vv");
    assert_eq!(left(&table)[2], "│7 2 2 3 * * * *│");
    press(&mut table, "5678");
    assert_eq!(left(&table)[2], "│5 6 7 8 * * * *│");
    press(&mut table, "\n");
    // Nothing is left of it.
    let text = screen(&table, 90, 26).join("\n");
    assert!(left(&table)[0].contains("Player 2") && !text.contains("5 6 7 8") && !text.contains("5678"), "{text}");
    assert_eq!(left(&table)[2], "│1 1 1 1 * * * *│");
    assert_eq!(asked(&mut table, "1234\n"), Asked::Nothing, "duels are not counted");
    press(&mut table, "9999\n2\n");
    assert_eq!(asked(&mut table, "5678\n"), Asked::Nothing);
    assert_eq!(table.state(), State::Between);
    assert!(log(&table).contains(&"It took you 4 turns of ten.".into()), "{:#?}", log(&table));
    press(&mut table, "\n");
    assert!(left(&table)[0].contains("Player 2") && left(&table)[6].starts_with("│* *"), "{:#?}", left(&table));
    assert!(log(&table)[0].starts_with("Player 2, set a code for player 1"), "{:#?}", log(&table));
    press(&mut table, "1234\n");
    assert!(left(&table)[0].contains("Player 1"), "{:#?}", left(&table));
    press(&mut table, "5678\n1234\n");
    assert_eq!(table.state(), State::Over);
    let log = log(&table);
    assert!(
        log.ends_with(&[
            "Player 1 needed 2, player 2 needed 4.".into(),
            "Player 1 wins the duel.".into(),
            "ENTER plays again, ESC goes back to the menu, Q leaves.".into()
        ]),
        "{log:#?}"
    );
    press(&mut table, "!\n");
    assert_eq!((table.state(), table.player()), (State::Length(4), None), "a new duel begins");
}

#[test]
fn the_lifelines_of_two_duels_draw_from_different_seeds() {
    let told = |seed| {
        let wanted = Wanted { length: Some(8), repeats: Some(true), colours: None };
        let mut table = Table::new(wanted, seed, None).for_two();
        press(&mut table, "\n12345678\n99999999\n2\n");
        table.rows()
    };
    let first = told(0);
    assert!((1..20).any(|seed| told(seed) != first));
}
