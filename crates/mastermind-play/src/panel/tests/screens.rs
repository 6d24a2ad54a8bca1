use mastermind::game::Entry;
use ratatui::style::Color;

use crate::panel::{
    look::{Role, style},
    state::State,
    tests::*,
};

fn background(role: Role) -> Option<Color> {
    style(Depth::True, role).bg
}

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
fn leave_prompt_is_visible_during_setup() {
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
    press(&mut table, "!!\n");
    assert!(!says(&table, "Tip:"));
}

#[test]
fn a_guess_has_its_answer_below_it_and_in_the_messages() {
    let mut table = after(table(), "\n1234\n");
    assert_eq!(left(&table)[6..8], ["│1│2│3│4▏* * * *│", "│RED 0  WHITE 3 │"]);
    assert_eq!(last(&table), "RED: 0  WHITE: 3  for 1234 in row 1");
    assert_eq!(backgrounds(&table, [(5, 6)]), [red_peg()]);
    // The black digit has an outline, even beside another.
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
fn lifeline_fills_rows_and_reveals_correct_facts() {
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
    assert!(last(&table).contains("you have used yours"));
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
            press(&mut table, "b");
            let left = 10 - table.rows().len();
            assert!(left >= 1);
            press(&mut table, &"[1234\n".repeat(left));
            assert_eq!(table.state, State::Over, "{lifeline} after {guesses}");
        }
    }
}

#[test]
fn game_is_lost_after_ten_answered_rows() {
    let mut table = after(table(), &format!("\n{}", "1234\n".repeat(9)));
    assert_eq!(request(&mut table, "1234\n"), Request::Count);
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
    assert!(bottom(false).contains(" ENTER plays again   ESC menu   Q quits "), "{}", bottom(false));
    assert!(!bottom(true).contains("ENTER plays again"));
    press(&mut table, "\n");
    assert_eq!((table.state, table.rows().len()), (State::Edit, 0));
    assert!(!says(&table, "So you found it. Congratulations"), "{:#?}", log(&table));
    assert_eq!(request(&mut table, "q"), Request::Nothing);
    press(&mut table, &"1234\n".repeat(10));
    assert_eq!(request(&mut table, "q"), Request::Leave);
}

#[test]
fn win_counts_lifeline_rows_and_is_possible_in_the_last_row() {
    let tenth = "1234\n".repeat(9);
    for (keys, rows) in [("1234\n9999\n2\n", 4), (&*tenth, 10)] {
        let mut table = after(table(), &format!("\n{keys}"));
        assert_eq!(request(&mut table, "7423\n"), Request::Count);
        assert!(says(&table, &format!("It took you {rows} turns of ten.")), "{:#?}", log(&table));
        assert_eq!(table.rows().len(), rows);
        assert!(matches!(table.rows()[rows - 1], Entry::Guess(..)));
    }
}

#[test]
fn refused_guess_stays_and_each_refusal_is_shown() {
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
    // The question takes the last two rows.
    assert_eq!(rows[18], "you here.");
    assert_eq!(rows[16], "You stay. How brave, and how unwise.");
    assert!(!says(&table, "I have a code"));
    let tall = screen(&table, 90, 60);
    assert!(tall[57].contains("you here."), "{tall:#?}");
    let shown = |rows: &[String]| rows.iter().filter(|row| row.contains("You stay.")).count();
    assert!(shown(&tall) > shown(&rows), "a taller window shows more");
}

#[test]
fn hints_explain_themselves_and_mark_the_game() {
    let mut table = after(table(), "\n1234\nh");
    let rows = log(&table);
    assert!(rows.iter().any(|row| row.starts_with("Hint: ") && row.contains("codes are possible")), "{rows:#?}");
    assert!(rows.iter().any(|row| row.contains("I would guess") && row.contains("bits")), "{rows:#?}");
    assert!(screen(&table, 90, 26)[5].contains(" row 2/10, 1 hint "));
    press(&mut table, "7423\n");
    assert!(says(&table, "Played with a hint."));
}

#[test]
fn hints_do_not_change_lifelines() {
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

#[test]
fn a_larger_window_has_the_answer_beside_the_guess() {
    let table = after(table(), "\n1234\n");
    let rows = screen(&table, 110, 30);
    assert!(rows[7].starts_with("│ 1│ 2│ 3│ 4▏ *  *  *  *   RED 0  WHITE 3│"), "{rows:#?}");
    assert!(rows[0].starts_with(" MASTERMIND   Turn 2 of 10") && rows[29].contains("? keys   Esc Esc menu"));
    assert!(rows[28].starts_with('└') && rows[28].ends_with('┘'), "{rows:#?}");
    assert_eq!(rows[1].chars().count(), 110);
    assert_eq!(left(&table)[7], "│RED 0  WHITE 3 │");
}

#[test]
fn a_small_window_has_everything() {
    for (width, height) in [(80, 24), (89, 26), (76, 18), (60, 18), (66, 24)] {
        let mut table = after(asking(), "\n");
        let wrapped = screen(&table, width, height).join("\n");
        assert!(wrapped.contains("How long should the code") && wrapped.contains("4 5 6 7 8"), "{wrapped}");
        press(&mut table, "]\n\n11223344\n99999999\n2\n1234");
        let rows = screen(&table, width, height);
        let text = rows.join("\n");
        let top = usize::from(text.starts_with(" MASTERMIND"));
        assert_eq!(top, usize::from(height > 18), "{text}");
        let [guess, letters] = if width < 80 {
            ["│1│1│2│2│3│3│4│4▏  RED ", "│L I F E L I N E"]
        } else {
            ["│ 1│ 1│ 2│ 2│ 3│ 3│ 4│ 4▏  RED ", "│ L  I  F  E  L  I  N  E"]
        };
        assert!(rows[6 + top].starts_with(guess), "{text}");
        assert!(rows[7 + top..9 + top].iter().all(|row| row.starts_with(letters)), "{text}");
        assert!(rows.iter().any(|row| row.contains(" 4/10 ") && row.contains(" code ")), "{text}");
        assert!(rows[usize::from(height) - 1 - top].contains("#1 CLOSED") && text.contains("? keys"), "{text}");
        assert!(rows.iter().all(|row| row.chars().count() <= usize::from(width)), "{text}");
        press(&mut table, &"[11223344\n".repeat(7));
        let over = screen(&table, width, height).join("\n");
        assert!(over.contains("Q quit") || over.contains("Q leave"), "{over}");
        press(&mut table, "!");
        let menu = screen(&table, width, height).join("\n");
        for part in ["MASTERMIND", "Play", "Quit", "as it should", "ENTER opens.)", "? keys"] {
            assert!(menu.contains(part), "{part}: {menu}");
        }
    }
}

#[test]
fn panels_fill_the_window_and_pegs_grow_with_it() {
    let table = after(table(), "\n3456\n");
    for (width, height, columns, lines) in
        [(60, 20, 1, 1), (80, 24, 2, 1), (110, 30, 2, 1), (120, 40, 3, 1), (200, 60, 5, 3), (300, 90, 5, 3)]
    {
        let buffer = drawn(&table, Depth::True, width, height);
        let board = (0..height).flat_map(|y| (0..60.min(width / 2)).map(move |x| (x, y)));
        let cells: Vec<_> = board.map(|at| &buffer[at]).filter(|cell| cell.style().bg == red_peg()).collect();
        assert_eq!(cells.len(), columns * lines, "{width} x {height}");
        assert_eq!(cells[cells.len() / 2].symbol(), "3");
        let rows = screen(&table, width, height);
        assert!(rows[0].starts_with(" MASTERMIND   Turn 2 of 10"), "{rows:#?}");
        for (row, [left, right]) in [(&rows[1], ['┌', '┐']), (&rows[usize::from(height) - 2], ['└', '┘'])] {
            assert!(row.starts_with(left) && row.ends_with(right), "{rows:#?}");
            assert_eq!(row.chars().count(), usize::from(width), "{rows:#?}");
        }
        assert!(rows.iter().any(|row| row.contains("RED 1  WHITE 1")), "{rows:#?}");
    }
}

fn place(rows: &[String], text: &str) -> Option<(usize, usize)> {
    (0..).zip(rows).find_map(|(y, row)| row.find(text).map(|at| (row[..at].chars().count(), y)))
}

#[test]
fn panel_beside_the_board_lists_pegs_and_explains_answers() {
    let table = after(table(), "\n1234\n");
    for (width, height) in [(72, 18), (76, 18), (80, 24), (90, 26), (120, 40), (160, 52), (200, 60), (200, 18)] {
        let rows = screen(&table, width, height);
        let at = |text| place(&rows, text).unwrap_or_else(|| panic!("{text}: {rows:#?}"));
        let (board, _) = at("┐┌");
        let top = usize::from(rows[0].starts_with(" MASTERMIND"));
        for (upper, lower) in [("white", "blue"), ("black", "green"), ("red", "purple"), ("yellow", "orange")] {
            let (column, row) = at(upper);
            assert_eq!((at(lower), row), ((column, 2 + top), 1 + top), "{rows:#?}");
            assert!(column > board, "{rows:#?}");
        }
        for (explained, answer) in
            [("RED: right digit, right place.", "RED 0"), ("WHITE: right digit, wrong place.", "WHITE 3")]
        {
            assert!(at(explained).1 <= 4 + top && at(answer).1 <= 9 + top, "{rows:#?}");
        }
        assert!(rows.iter().any(|row| row.contains("for 1234 in row 1")), "{rows:#?}");
    }
}

// There is no connection.
#[test]
fn first_screen_has_the_common_header_and_footer() {
    for (width, height) in [(60, 20), (80, 24), (120, 40)] {
        let rows = screen(&asking(), width, height);
        assert!(rows[0].starts_with(" MASTERMIND"), "{rows:#?}");
        assert_eq!(rows[usize::from(height) - 1], "Enter choose   s statistics   ? keys   Q leave");
    }
}

#[test]
fn narrow_window_folds_the_explanations() {
    let table = after(table(), "\n1234\n");
    for (width, height) in [(60, 18), (60, 24), (71, 20)] {
        let rows = screen(&table, width, height);
        let at = |text| place(&rows, text).unwrap_or_else(|| panic!("{text}: {rows:#?}"));
        let (column, row) = at("white");
        for (number, name) in ["black", "red", "yellow", "blue", "green", "purple", "orange"].iter().enumerate() {
            let number = number + 1;
            assert_eq!(at(name).1, row + number / 2, "{name}: {rows:#?}");
            assert_eq!(at(name).0 == column, number % 2 == 0, "{name}: {rows:#?}");
        }
        at("RED: right place");
        at("WHITE: wrong place");
        at("#1 AVAILABLE  #2 AVAILABLE");
        at("1234 in row 1");
        assert!(rows.iter().all(|row| row.chars().count() <= usize::from(width)), "{rows:#?}");
    }
}

#[test]
fn result_of_a_match_is_shown_in_a_box() {
    for window in [(60, 18), (80, 24), (90, 26), (120, 40)] {
        let shown = |table: &Table| screen(table, window.0, window.1);
        let has = |rows: &[String], text: &str| assert!(place(rows, text).is_some(), "{text}: {rows:#?}");
        let running = after(table(), "\n1234\n");
        assert!(place(&shown(&running), "You win").is_none());
        let won = shown(&after(running, "h7423\n"));
        for text in ["┌ You win ─", "You found 7423 in 2", "1 hint", "RED 4", "won in 2/10"] {
            has(&won, text);
        }
        let lost = shown(&after(table(), &format!("\n{}", "1234\n".repeat(10))));
        for text in ["┌ You lose ─", "The code was 7423"] {
            has(&lost, text);
        }
        // Player 2 finds the code in one turn, player 1 in two.
        let duel = after(duel(), "\n\n\n1234\n1234\n\n1234\n5678\n1234\n");
        assert_eq!(duel.state, State::Over, "{:#?}", shown(&duel));
        let duel = shown(&duel);
        has(&duel, "┌ Turns needed ─");
        let at = |text| place(&duel, text).unwrap_or_else(|| panic!("{text}: {duel:#?}"));
        let (first, second) = (at("1. Player 2"), at("2. Player 1"));
        assert!(first.1 + 1 == second.1 && duel[first.1].contains('★'), "{duel:#?}");
    }
}

#[test]
fn keys_are_listed_where_there_is_room() {
    let table = after(table(), "\n");
    for (window, listed) in
        [((76, 18), false), ((90, 26), false), ((120, 40), true), ((200, 60), true), ((200, 18), true)]
    {
        let rows = screen(&table, window.0, window.1);
        for key in ["Backspace", "Esc Esc", "Ctrl-C at any"] {
            assert_eq!(place(&rows, key).is_some(), listed, "{key}: {rows:#?}");
        }
    }
}

#[test]
fn a_black_peg_has_its_outline_its_digit_and_its_name_in_every_depth() {
    let table = after(table(), "\n1234\n");
    for depth in [Depth::None, Depth::Sixteen, Depth::Indexed, Depth::True] {
        for (width, height, peg) in [(60, 18, "2"), (80, 24, " 2"), (90, 26, "2"), (120, 40, " 2 "), (200, 60, "  2  ")]
        {
            let buffer = drawn(&table, depth, width, height);
            let rows: Vec<String> = buffer.content.chunks(usize::from(width)).map(text).collect();
            let outlined = |left, right| rows.iter().any(|row| row.contains(&format!("{left}{peg}{right}")));
            // Without colour, its neighbours have outlines too.
            let seen = if depth == Depth::None { outlined('│', '│') } else { outlined('▕', '▏') };
            assert!(seen, "{depth:?}: {rows:#?}");
            let named = ["▕2▏black", "▕ 2 ▏black"].iter().any(|peg| place(&rows, peg).is_some());
            assert!(named, "{depth:?}: {rows:#?}");
            let last = if depth == Depth::Sixteen { "cyan" } else { "orange" };
            assert!(place(&rows, last).is_some(), "{depth:?}: {rows:#?}");
        }
    }
}

#[test]
fn too_small_a_window_asks_to_be_enlarged() {
    let table = after(table(), "\n12");
    for (width, height) in [(59, 24), (80, 17), (20, 5)] {
        let text = screen(&table, width, height).join(" ");
        assert!(text.contains("18") && text.contains("60"), "{text}");
    }
    assert!(!screen(&table, 60, 18).concat().contains("needs"));
    for (width, height) in [(1, 1), (3, 2), (200, 1), (1, 100)] {
        screen(&table, width, height);
    }
    assert_eq!(left(&table)[2], "│1│2│1│1▏* * * *│", "nothing is lost");
}
