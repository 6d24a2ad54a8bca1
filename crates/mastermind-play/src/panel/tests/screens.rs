use mastermind::game::Entry;
use ratatui::style::Color;

use super::{
    super::{
        look::{Role, style},
        state::State,
    },
    *,
};

fn background(role: Role) -> Option<Color> {
    style(Depth::True, role).bg
}

/// The background at these columns and rows, in all colours.
fn backgrounds<const N: usize>(table: &Table, places: [(u16, u16); N]) -> [Option<Color>; N] {
    let buffer = drawn(table, Depth::True, 90, 26);
    places.map(|place| buffer[place].style().bg)
}

#[test]
fn the_menu() {
    let rows = screen(&asking(), 90, 26);
    assert_eq!(rows[8], format!("{:40}MASTERMIND", ""));
    assert_eq!(rows[10], format!("{:43}Play", ""));
    assert_eq!(rows[12], format!("{:43}Quit", ""));
    assert!(rows[20].contains(" Helpful Tip! ") && rows[25].starts_with('└'), "{rows:#?}");
    assert!(rows[22].starts_with(&format!("│{:17}There is no help", "")), "{rows:#?}");
    let choices = [(43, 10), (43, 12)];
    let [play, plain, quit] = [Role::ChosenPlay, Role::Plain, Role::Chosen].map(background);
    assert_eq!(backgrounds(&asking(), choices), [play, plain]);
    assert_eq!(backgrounds(&after(asking(), "v"), choices), [plain, quit]);
}

#[test]
fn the_set_up_and_its_stripes() {
    let mut table = after(asking(), "\n>");
    let rows = screen(&table, 90, 26);
    assert!(rows[6].contains("││How long"), "{rows:#?}");
    assert!(rows[9].contains("│4 5 6 7 8"), "{rows:#?}");
    let panels = left(&table);
    for (row, stripes) in [(6, "│1│2│3│4│5▏* * *│"), (8, "│2│3│4│5│1▏* * *│"), (24, "│5│1│2│3│4▏* * *│")]
    {
        assert_eq!(panels[row], stripes);
    }
    let expected = [background(Role::Chosen), background(Role::Plain), red_peg()];
    assert_eq!(backgrounds(&table, [(20, 9), (18, 9), (3, 8)]), expected);
    press(&mut table, "\n");
    let rows = screen(&table, 90, 26);
    assert_eq!(rows[8].chars().skip(18).take(7).collect::<String>(), "Yes  No", "{rows:#?}");
}

#[test]
fn the_question_about_leaving_can_be_seen_in_the_set_up() {
    for keys in ["\n!", "\n\n!"] {
        assert!(log(&after(asking(), keys)).iter().any(|row| row.contains("ESC once more")), "{keys:?}");
    }
}

#[test]
fn a_game_as_it_begins() {
    let mut table = after(table(), "\n");
    assert_eq!(
        left(&table)[..7],
        [
            "┌─ Your Guess ──┐",
            "│^ ^ ^ ^ ^ ^ ^ ^│",
            "│1│1│1│1▏* * * *│",
            "│v v v v v v v v│",
            "└──── ENTER ────┘",
            "┌───────────────┐",
            "│* * * * * * * *│",
        ]
    );
    let rows = screen(&table, 90, 26);
    assert!(rows[5].contains(" row 1/10 ") && rows[5].contains(" THE MASTERMIND ") && rows[5].contains(" code **** "));
    assert!(rows[25].contains(" lifelines: #1 AVAILABLE, 1 row; #2 AVAILABLE, 2 rows "), "{}", rows[25]);
    assert!(says(&table, "Tip: LEFT and RIGHT"));
    // The tip comes once.
    press(&mut table, "!!\n");
    assert!(!says(&table, "Tip:"));
}

#[test]
fn a_guess_has_its_answer_below_it_and_in_the_messages() {
    let mut table = after(table(), "\n1234\n");
    assert_eq!(left(&table)[6..8], ["│1│2│3│4▏* * * *│", "│RED 0  WHITE 3 │"]);
    assert_eq!(last(&table), "RED: 0  WHITE: 3  for 1234 in row 1");
    assert_eq!(backgrounds(&table, [(5, 6)]), [red_peg()]);
    // The black digit has an outline, also beside another one.
    let row = |table: &Table, row| -> String {
        let buffer = drawn(table, Depth::True, 90, 26);
        (0..9).map(|column| buffer[(column, row)].symbol().to_owned()).collect()
    };
    assert_eq!(row(&table, 6), "│1▕2▏3 4 ");
    press(&mut table, "2222\n");
    assert_eq!(row(&table, 8), "│2│2│2│2▏");
    assert_eq!(left(&table)[8], "│2│2│2│2▏* * * *│");
}

#[test]
fn the_whole_word_is_shown_when_all_are_on_the_ninth_symbol() {
    for (keys, shown) in [
        ("999", "│L I F▕1▏* * * *│"),
        ("9999", "│L I F E L I N E│"),
        ("9999\n", "│1 * * * * * * *│"),
        ("9999\n^", "│2 * * * * * * *│"),
    ] {
        let panels = left(&after(table(), &format!("\n{keys}")));
        assert_eq!(panels[1..4], ["│^ ^ ^ ^ ^ ^ ^ ^│", shown, "│v v v v v v v v│"]);
    }
}

#[test]
fn a_lifeline_fills_rows_and_tells_the_truth() {
    let mut table = after(table(), "\n5555\n9999\n2\n");
    assert_eq!(
        left(&table)[6..12],
        [
            "│5│5│5│5▏* * * *│",
            "│RED 0  WHITE 0 │",
            "│L I F E * * * *│",
            "│               │",
            "│L I F E * * * *│",
            "│               │"
        ]
    );
    // The code is 7423.
    let told = last(&table);
    let true_facts = ["a 7 at position 1", "a 4 at position 2", "a 2 at position 3", "a 3 at position 4"]
        .map(|fact| format!("The code has {fact}."));
    assert!(true_facts.contains(&told), "{told}");
    let rows = screen(&table, 90, 26);
    assert!(rows[5].contains(" row 4/10 ") && !rows[5].contains("code ****"), "{}", rows[5]);
    assert!(rows[25].contains("#1 CLOSED, 1 row; #2 USED UP, 2 rows"), "{}", rows[25]);
    press(&mut table, "9999\n");
    assert_eq!(table.state, State::Edit);
    assert!(last(&table).contains("you have had yours"));
}

#[test]
fn lifelines_with_three_two_and_one_rows_left() {
    for (guesses, first, second) in [(7, true, true), (8, true, false), (9, false, false)] {
        for (lifeline, granted, rows) in [("1", first, 1), ("2", second, 2)] {
            let mut table = after(table(), &format!("\n{}", "1234\n".repeat(guesses)));
            let status = screen(&table, 90, 26)[25].clone();
            assert_eq!(["#1", "#2"].map(|which| status.contains(&format!("{which} AVAILABLE"))), [first, second]);
            press(&mut table, "9999\n");
            assert_eq!(matches!(table.state, State::Pick(_)), first, "after {guesses}");
            let before = log(&table);
            press(&mut table, &format!("{lifeline}\n"));
            assert_eq!(table.rows().len(), guesses + if granted { rows } else { 0 }, "{lifeline} after {guesses}");
            if !granted && first {
                assert!(matches!(table.state, State::Pick(_)));
                assert_ne!(log(&table), before, "a refusal leaves a trace");
                assert!(log(&table).join(" ").contains("it takes 2 rows and you have 2 rows"), "{:#?}", log(&table));
            }
            // There is always a row for a guess, and with the last one the game is over.
            press(&mut table, "b");
            let left = 10 - table.rows().len();
            assert!(left >= 1);
            press(&mut table, &"[1234\n".repeat(left));
            assert_eq!(table.state, State::Over, "{lifeline} after {guesses}");
        }
    }
}

#[test]
fn ten_rows_lose_and_the_tenth_is_answered() {
    let mut table = after(table(), &format!("\n{}", "1234\n".repeat(9)));
    assert_eq!(asked(&mut table, "1234\n"), Asked::Count);
    assert_eq!(left(&table)[24..], ["│1│2│3│4▏* * * *│", "└RED 0  WHITE 3─┘"]);
    for said in ["RED: 0  WHITE: 3  for 1234 in row 10", "Code: 7423", "Seed: 7."] {
        assert!(says(&table, said), "{:#?}", log(&table));
    }
    press(&mut table, "1^");
    assert_eq!(table.state, State::Over);
    press(&mut table, "!");
    assert!(matches!(table.state, State::Menu(_)));
}

#[test]
fn after_a_game_enter_plays_again_and_q_leaves() {
    let mut table = after(table(), "\n7423\n");
    assert!(table.is_over());
    let bottom = |quiet| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 90, 26));
        View::new(&table, Depth::None).quiet(quiet).render(buffer.area, &mut buffer);
        (0..90).map(|column| buffer[(column, 25)].symbol()).collect::<String>()
    };
    assert!(bottom(false).contains(" ENTER plays again   ESC menu   Q leaves "), "{}", bottom(false));
    // No key is offered while keys are ignored.
    assert!(!bottom(true).contains("ENTER plays again"));
    press(&mut table, "\n");
    assert_eq!((table.state, table.rows().len()), (State::Edit, 0));
    assert!(!says(&table, "So you found it. Congratulations"), "{:#?}", log(&table));
    // In a game Q does nothing.
    assert_eq!(asked(&mut table, "q"), Asked::Nothing);
    press(&mut table, &"1234\n".repeat(10));
    assert_eq!(asked(&mut table, "q"), Asked::Leave);
}

#[test]
fn a_win_counts_the_rows_of_lifelines_and_may_come_last() {
    let tenth = "1234\n".repeat(9);
    for (keys, rows) in [("1234\n9999\n2\n", 4), (&*tenth, 10)] {
        let mut table = after(table(), &format!("\n{keys}"));
        assert_eq!(asked(&mut table, "7423\n"), Asked::Count);
        assert!(says(&table, &format!("It took you {rows} turns of ten.")), "{:#?}", log(&table));
        assert_eq!(table.rows().len(), rows);
        assert!(matches!(table.rows()[rows - 1], Entry::Guess(..)));
    }
}

#[test]
fn a_refused_guess_is_kept_and_each_refusal_is_seen() {
    let mut table = after(table(), "\n1295\n");
    assert!(last(&table).contains("This has both"), "{:#?}", log(&table));
    assert_eq!(left(&table)[2], "│1│2▏F▕5▏* * * *│");
    press(&mut table, "\n");
    assert!(last(&table).ends_with("(2 times)"), "{:#?}", log(&table));
    assert_eq!(table.rows(), []);
    press(&mut table, ">>3\n");
    assert_eq!(table.rows().len(), 1, "it could be corrected");
}

#[test]
fn more_messages_than_rows_show_the_last() {
    let table = after(table(), &format!("\n{}!", "!<".repeat(30)));
    let rows = log(&table);
    assert_eq!(rows.len(), 19);
    // The question takes two rows, of which the second is the last one.
    assert_eq!(rows[18], "you here.");
    assert_eq!(rows[16], "You stay. How brave, and how unwise.");
    assert!(!says(&table, "I have a code"));
    let tall = screen(&table, 90, 60);
    assert!(tall[58].contains("you here."), "{tall:#?}");
    let shown = |rows: &[String]| rows.iter().filter(|row| row.contains("You stay.")).count();
    assert!(shown(&tall) > shown(&rows), "a taller window shows more");
}

#[test]
fn hints_say_why_and_mark_the_game() {
    let mut table = after(table(), "\n1234\nh");
    let rows = log(&table);
    assert!(rows.iter().any(|row| row.starts_with("Hint: ") && row.contains("codes are possible")), "{rows:#?}");
    assert!(rows.iter().any(|row| row.contains("I would guess") && row.contains("bits")), "{rows:#?}");
    assert!(screen(&table, 90, 26)[5].contains(" row 2/10, 1 hint "));
    press(&mut table, "7423\n");
    assert!(says(&table, "Played with a hint."));
}

#[test]
fn a_hint_changes_nothing_of_what_a_lifeline_tells() {
    assert_eq!(after(table(), "\n9999\n2\n").rows(), after(table(), "\nh9999\nh2\n").rows());
}

#[test]
fn a_hint_on_each_turn() {
    let mut table = table();
    table.settings.hints = true;
    let hints = |table: &Table| log(table).iter().filter(|row| row.starts_with("Hint: I would guess")).count();
    for (keys, shown) in [("\n", 1), ("1234\n9999\n", 2)] {
        press(&mut table, keys);
        assert_eq!(hints(&table), shown, "{:#?}", log(&table));
    }
    press(&mut table, "1\n7423\n");
    assert!(says(&table, "Played with 3 hints."));
}

#[test]
fn all_depths_show_the_same_digits() {
    let table = after(table(), "\n1345\n9999\n1\n67");
    // Outlines are only where the background does not tell, and one of sixteen colours has another name.
    let text = |depth| {
        let buffer = drawn(&table, depth, 90, 26);
        text(&buffer.content).replace(['▏', '▕', '│'], " ").replace("cyan  ", "orange")
    };
    assert_eq!(text(Depth::None), text(Depth::Sixteen));
    assert_eq!(text(Depth::None), text(Depth::True));
    let all = |depth, holds: fn(&Cell) -> bool| drawn(&table, depth, 90, 26).content.iter().all(holds);
    assert!(all(Depth::None, |cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset)), "no colour without colour");
    assert!(all(Depth::True, |cell| cell.bg != Color::Reset));
}
