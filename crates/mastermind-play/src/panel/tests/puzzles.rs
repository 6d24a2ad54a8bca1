use anyhow::anyhow;

use super::{super::state::State, *};

#[test]
fn the_puzzle_of_the_day_is_shared_without_its_digits() {
    let (mut table, code) = daily(20_000);
    assert!(screen(&table, 90, 26)[15].contains("The puzzle of 2024-10-04"));
    let mut record = Record::default();
    play(&mut table, &mut record, "\n");
    assert_eq!(table.state, State::Edit, "nothing is asked");
    play(&mut table, &mut record, &format!("{code}\n"));
    let share = table.share.as_ref().unwrap();
    assert!(share.starts_with("Mastermind 2024-10-04") && share.ends_with("●●●●") && !share.contains(&code), "{share}");
    assert!(says(&table, "●●●●"));
    assert_eq!((record.played(), record.streak()), (1, 1));
}

const SEEN: &str = "You have seen this puzzle before";
const AGAIN: &str = "1/10, played again";

#[test]
fn repeated_puzzle_is_reported_marked_and_not_counted() {
    let (mut table, code) = daily(20_000);
    let mut record = Record::default();
    // Started and left, so its answers are already known.
    play(&mut table, &mut record, "\n1122\n!!\n");
    assert!(says(&table, SEEN), "{:#?}", log(&table));
    play(&mut table, &mut record, &format!("{code}\n"));
    assert!(table.share.as_ref().unwrap().lines().next().unwrap().ends_with(AGAIN));
    assert!(says(&table, "You have seen this puzzle before: this game is not counted."));
    assert_eq!((record.played(), record.streak()), (0, 0));
    // Another program has played the puzzle meanwhile.
    for keys in ["1122\n", ""] {
        let (mut table, code) = daily(20_001);
        let mut record = Record::default();
        play(&mut table, &mut record, "\n");
        record.begin(table.round.as_ref().unwrap().puzzle().unwrap());
        play(&mut table, &mut record, keys);
        assert_eq!(says(&table, SEEN), !keys.is_empty());
        play(&mut table, &mut record, &format!("{code}\n"));
        assert!(table.share.unwrap().lines().next().unwrap().ends_with("/10, played again"));
        assert_eq!(record.played(), 0);
    }
}

#[test]
fn repeated_puzzle_is_marked_without_statistics() {
    let (mut table, code) = daily(20_000);
    assert_eq!(request(&mut table, "\n1122\n"), Request::Begin);
    table.begun(Err(anyhow!("no statistics")));
    press(&mut table, "!!\n");
    assert_eq!(request(&mut table, &format!("{code}\n")), Request::Count);
    table.counted(Err(anyhow!("no statistics")));
    assert!(table.share.as_ref().unwrap().contains(AGAIN), "{:?}", table.share);
    assert!(says(&table, "This game is not counted: no statistics"));
}

#[test]
fn a_seed_played_again_is_not_counted() {
    let mut record = Record::default();
    play(&mut table(), &mut record, &format!("\n{}", "1234\n".repeat(10)));
    let mut table = table();
    table.statistics(Ok(record.clone()));
    play(&mut table, &mut record, "\n7423\n");
    assert!(says(&table, SEEN), "{:#?}", log(&table));
    assert_eq!((record.played(), record.lost()), (1, 1));
}

#[test]
fn a_new_day_begins_between_two_games() {
    let (mut table, code) = daily(20_000);
    let mut record = Record::default();
    play(&mut table, &mut record, "\n1122\n");
    table.turn_page(Day(20_001));
    play(&mut table, &mut record, &format!("{code}\n"));
    assert!(table.share.as_ref().unwrap().starts_with("Mastermind 2024-10-04,"), "it was begun on that day");
    assert_eq!(record.played(), 1);
    press(&mut table, "!");
    table.turn_page(Day(20_001));
    assert!(screen(&table, 90, 26)[15].contains("The puzzle of 2024-10-05"));
    play(&mut table, &mut record, "\n");
    assert!(!says(&table, SEEN), "{:#?}", log(&table));
}

#[test]
fn a_duel() {
    let mut table = duel();
    assert!(screen(&table, 90, 26)[15].contains("A duel: each player sets a code for the other"));
    press(&mut table, "\n\n>\n");
    assert_eq!(left(&table)[0], "┌── Player 1 ───┐");
    assert!(says(&table, "Player 1, set a code for player 2"), "{:#?}", log(&table));
    press(&mut table, "1123\n");
    assert_eq!(last(&table), "That is not a code: type 4 digits from 1 to 8, none of them twice.");
    for (keys, shown) in [("[>^[vv", "│7│2│2│3▏* * * *│"), ("5678", "│5│6│7│8▏* * * *│"), ("\n", "│1│1│1│1▏* * * *│")]
    {
        press(&mut table, keys);
        assert_eq!(left(&table)[2], shown);
    }
    let text = screen(&table, 90, 26).join("\n");
    assert!(left(&table)[0].contains("Player 2") && !text.contains("5│6│7│8") && !text.contains("5678"), "{text}");
    assert_eq!(request(&mut table, "1234\n"), Request::Nothing, "duels are not counted");
    press(&mut table, "9999\n2\n");
    assert_eq!(request(&mut table, "5678\n"), Request::Nothing);
    assert_eq!(table.state, State::Between);
    assert!(says(&table, "It took you 4 turns of ten."), "{:#?}", log(&table));
    press(&mut table, "\n");
    assert!(left(&table)[0].contains("Player 2") && left(&table)[6].starts_with("│* *"), "{:#?}", left(&table));
    assert!(log(&table)[0].starts_with("Player 2, set a code for player 1"), "{:#?}", log(&table));
    press(&mut table, "1234\n");
    assert!(left(&table)[0].contains("Player 1"), "{:#?}", left(&table));
    press(&mut table, "5678\n1234\n");
    assert_eq!(table.state, State::Over);
    let log = log(&table);
    assert!(
        log.ends_with(&[
            "Player 1 needed 2, player 2 needed 4.".into(),
            "Player 1 wins the duel.".into(),
            "ENTER plays again, ESC opens the menu, Q quits.".into()
        ]),
        "{log:#?}"
    );
    press(&mut table, "!\n");
    assert_eq!((table.state, table.player()), (State::Length(4), None), "a new duel begins");
}

#[test]
fn the_lifelines_of_two_duels_draw_from_different_seeds() {
    let told = |seed| {
        let table = with(Some(8), Some(true), None, Setter::People, seed);
        after(table, "\n12345678\n99999999\n2\n").rows()
    };
    let first = told(0);
    assert!((1..20).any(|seed| told(seed) != first));
}
