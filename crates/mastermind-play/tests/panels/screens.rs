use mastermind::{Peg, game::Entry};
use mastermind_play::panel::{Asked, Look, Role, State, Table, Target, View};
use ratatui::{
    buffer::Buffer,
    layout::{Rect, Size},
    widgets::Widget,
};
use termkit::{Depth, Gesture, Mouse};

use super::{asked, asking, drawn, left, log, press, screen, table};

#[test]
fn the_menu() {
    let rows = screen(&asking(), 90, 26);
    assert_eq!(rows[8], format!("{:40}MASTERMIND", ""));
    assert_eq!(rows[10], format!("{:43}Play", ""));
    assert_eq!(rows[12], format!("{:43}Quit", ""));
    assert!(rows[20].contains(" Helpful Tip! ") && rows[25].starts_with('└'), "{rows:#?}");
    assert!(rows[22].starts_with(&format!("│{:17}There is no help", "")), "{rows:#?}");
    let style = |row: u16| drawn(&asking(), Depth::True, 90, 26)[(43, row)].style();
    let look = Look::new(Depth::True);
    assert_eq!(style(10).bg, look.style(Role::ChosenPlay).bg);
    assert_eq!(style(12).bg, look.style(Role::Plain).bg);
    let mut table = asking();
    press(&mut table, "v");
    let buffer = drawn(&table, Depth::True, 90, 26);
    assert_eq!(buffer[(43, 10)].style().bg, look.style(Role::Plain).bg);
    assert_eq!(buffer[(43, 12)].style().bg, look.style(Role::Chosen).bg);
}

#[test]
fn the_set_up_and_its_stripes() {
    let mut table = asking();
    press(&mut table, "\n>");
    let rows = screen(&table, 90, 26);
    assert!(rows[1][17 + 4..].contains("How long"), "{rows:#?}");
    assert!(rows[4].contains("│4 5 6 7 8"), "{rows:#?}");
    let panels = left(&table);
    assert_eq!(panels[6], "│1 2 3 4 5 * * *│");
    assert_eq!(panels[8], "│2 3 4 5 1 * * *│");
    assert_eq!(panels[24], "│5 1 2 3 4 * * *│");
    let buffer = drawn(&table, Depth::True, 90, 26);
    let look = Look::new(Depth::True);
    assert_eq!(buffer[(20, 4)].style().bg, look.style(Role::Chosen).bg);
    assert_eq!(buffer[(18, 4)].style().bg, look.style(Role::Plain).bg);
    assert_eq!(buffer[(3, 8)].style().bg, look.style(Role::Peg(Peg::new(2).unwrap())).bg);
    press(&mut table, "\n");
    let rows = screen(&table, 90, 26);
    let at = |row: &str, column: usize, text: &str| row.chars().skip(column).collect::<String>().starts_with(text);
    assert!(at(&rows[3], 18, "Yes") && at(&rows[3], 23, "No"), "{rows:#?}");
}

#[test]
fn the_question_about_leaving_can_be_seen_in_the_set_up() {
    for keys in ["\n!", "\n\n!"] {
        let mut table = asking();
        press(&mut table, keys);
        assert!(log(&table).iter().any(|row| row.contains("ESC once more")), "{keys:?}");
    }
}

#[test]
fn a_game_as_it_begins() {
    let mut table = table();
    press(&mut table, "\n");
    let panels = left(&table);
    assert_eq!(
        panels[..7],
        [
            "┌─ Your Guess ──┐",
            "│^ ^ ^ ^ ^ ^ ^ ^│",
            "│1 1 1 1 * * * *│",
            "│v v v v v v v v│",
            "└──── ENTER ────┘",
            "┌───────────────┐",
            "│* * * * * * * *│",
        ]
    );
    let rows = screen(&table, 90, 26);
    assert!(rows[0].contains(" row 1/10 ") && rows[0].contains(" THE MASTERMIND ") && rows[0].contains(" code **** "));
    assert!(rows[25].contains(" lifelines: #1 AVAILABLE, 1 row; #2 AVAILABLE, 2 rows "), "{}", rows[25]);
    assert!(log(&table).iter().any(|row| row.starts_with("Tip: LEFT and RIGHT")));
    // The tip comes once.
    press(&mut table, "!!\n");
    assert!(!log(&table).iter().any(|row| row.starts_with("Tip:")));
}

#[test]
fn a_guess_has_its_answer_below_it_and_in_the_messages() {
    let mut table = table();
    press(&mut table, "\n1234\n");
    assert_eq!(left(&table)[6..8], ["│1 2 3 4 * * * *│", "│RED 0  WHITE 3 │"]);
    assert_eq!(log(&table).last().unwrap(), "RED: 0  WHITE: 3  for 1234 in row 1");
    let buffer = drawn(&table, Depth::True, 90, 26);
    assert_eq!(buffer[(5, 6)].style().bg, Look::new(Depth::True).style(Role::Peg(Peg::new(2).unwrap())).bg);
    // The black digit has an outline, also beside another one.
    assert_eq!((buffer[(2, 6)].symbol(), buffer[(4, 6)].symbol()), ("▕", "▏"));
    press(&mut table, "2222\n");
    let buffer = drawn(&table, Depth::True, 90, 26);
    let row: String = (0..9).map(|column| buffer[(column, 8)].symbol()).collect();
    assert_eq!(row, "│2│2│2│2▏");
    assert_eq!(screen(&table, 90, 26)[8].chars().take(9).collect::<String>(), "│2 2 2 2 ");
}

#[test]
fn the_whole_word_is_shown_when_all_are_on_the_ninth_symbol() {
    let mut table = table();
    press(&mut table, "\n999");
    assert_eq!(left(&table)[2], "│L I F 1 * * * *│");
    press(&mut table, "9");
    assert_eq!(left(&table)[2], "│L I F E L I N E│");
    press(&mut table, "\n");
    assert_eq!(left(&table)[1..4], ["│^ ^ ^ ^ ^ ^ ^ ^│", "│1 * * * * * * *│", "│v v v v v v v v│"]);
    press(&mut table, "^");
    assert_eq!(left(&table)[2], "│2 * * * * * * *│");
}

#[test]
fn a_lifeline_fills_rows_and_tells_the_truth() {
    let mut table = table();
    press(&mut table, "\n5555\n9999\n2\n");
    let panels = left(&table);
    assert_eq!(
        panels[6..12],
        [
            "│5 5 5 5 * * * *│",
            "│RED 0  WHITE 0 │",
            "│L I F E * * * *│",
            "│               │",
            "│L I F E * * * *│",
            "│               │"
        ]
    );
    // The code is 7423.
    let told = log(&table).last().unwrap().clone();
    let true_facts = ["a 7 at position 1", "a 4 at position 2", "a 2 at position 3", "a 3 at position 4"]
        .map(|fact| format!("The code has {fact}."));
    assert!(true_facts.contains(&told), "{told}");
    let rows = screen(&table, 90, 26);
    assert!(rows[0].contains(" row 4/10 ") && !rows[0].contains("code ****"), "{}", rows[0]);
    assert!(rows[25].contains("#1 CLOSED, 1 row; #2 USED UP, 2 rows"), "{}", rows[25]);
    press(&mut table, "9999\n");
    assert_eq!(table.state(), State::Edit);
    assert!(log(&table).last().unwrap().contains("you have had yours"));
}

#[test]
fn lifelines_with_three_two_and_one_rows_left() {
    for (guesses, first, second) in [(7, true, true), (8, true, false), (9, false, false)] {
        for (lifeline, granted, rows) in [("1", first, 1), ("2", second, 2)] {
            let mut table = table();
            press(&mut table, "\n");
            press(&mut table, &"1234\n".repeat(guesses));
            let status = screen(&table, 90, 26)[25].clone();
            assert_eq!(status.contains("#1 AVAILABLE"), first, "{status}");
            assert_eq!(status.contains("#2 AVAILABLE"), second, "{status}");
            press(&mut table, "9999\n");
            assert_eq!(matches!(table.state(), State::Pick(_)), first, "after {guesses}");
            let before = log(&table);
            press(&mut table, &format!("{lifeline}\n"));
            assert_eq!(table.rows().len(), guesses + if granted { rows } else { 0 }, "{lifeline} after {guesses}");
            if !granted && first {
                assert!(matches!(table.state(), State::Pick(_)));
                assert_ne!(log(&table), before, "a refusal leaves a trace");
                assert!(log(&table).join(" ").contains("it takes 2 rows and you have 2 rows"), "{:#?}", log(&table));
            }
            // There is always a row for a guess, and with the last one the game is over.
            press(&mut table, "b");
            let left = 10 - table.rows().len();
            assert!(left >= 1);
            press(&mut table, &"[1234\n".repeat(left));
            assert_eq!(table.state(), State::Over, "{lifeline} after {guesses}");
        }
    }
}

#[test]
fn ten_rows_lose_and_the_tenth_is_answered() {
    let mut table = table();
    press(&mut table, "\n");
    press(&mut table, &"1234\n".repeat(9));
    assert_eq!(asked(&mut table, "1234\n"), Asked::Count);
    assert_eq!(table.state(), State::Over);
    let panels = left(&table);
    assert_eq!(panels[24..], ["│1 2 3 4 * * * *│", "└RED 0  WHITE 3─┘"]);
    let log = log(&table);
    assert!(log.contains(&"RED: 0  WHITE: 3  for 1234 in row 10".into()), "{log:#?}");
    assert!(log.iter().any(|row| row.contains("Code: 7423")), "{log:#?}");
    assert!(log.iter().any(|row| row.starts_with("Seed: 7.")), "{log:#?}");
    press(&mut table, "1^");
    assert_eq!(table.state(), State::Over);
    press(&mut table, "!");
    assert!(matches!(table.state(), State::Menu(_)));
}

#[test]
fn after_a_game_enter_plays_again_and_q_leaves() {
    let mut table = table();
    press(&mut table, "\n7423\n");
    assert!(table.is_over());
    let bottom = |table: &Table, quiet| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 90, 26));
        View::new(table, Depth::None).quiet(quiet).render(buffer.area, &mut buffer);
        (0..90).map(|column| buffer[(column, 25)].symbol()).collect::<String>()
    };
    assert!(bottom(&table, false).contains(" ENTER plays again   ESC menu   Q leaves "), "{}", bottom(&table, false));
    // No key is offered while keys are ignored.
    assert!(!bottom(&table, true).contains("ENTER plays again"));
    press(&mut table, "\n");
    assert_eq!((table.state(), table.rows().len()), (State::Edit, 0));
    assert!(!log(&table).iter().any(|row| row.contains("Congratulations")), "{:#?}", log(&table));
    // In a game Q does nothing.
    assert_eq!(asked(&mut table, "q"), Asked::Nothing);
    press(&mut table, &"1234\n".repeat(10));
    assert_eq!(asked(&mut table, "q"), Asked::Leave);
}

#[test]
fn a_win_counts_the_rows_of_lifelines() {
    let mut table = table();
    press(&mut table, "\n1234\n9999\n2\n");
    assert_eq!(asked(&mut table, "7423\n"), Asked::Count);
    assert!(log(&table).contains(&"It took you 4 turns of ten.".into()), "{:#?}", log(&table));
    assert_eq!(table.rows().len(), 4);
    assert!(matches!(table.rows()[3], Entry::Guess { .. }));
}

#[test]
fn the_tenth_guess_may_win() {
    let mut table = table();
    press(&mut table, "\n");
    press(&mut table, &"1234\n".repeat(9));
    press(&mut table, "7423\n");
    assert!(log(&table).contains(&"It took you 10 turns of ten.".into()));
}

#[test]
fn a_refused_guess_is_kept_and_each_refusal_is_seen() {
    let mut table = table();
    press(&mut table, "\n1295\n");
    let first = log(&table);
    assert!(first.last().unwrap().contains("This has both"), "{first:#?}");
    assert_eq!(left(&table)[2], "│1 2 F 5 * * * *│");
    press(&mut table, "\n");
    assert!(log(&table).last().unwrap().ends_with("(2 times)"), "{:#?}", log(&table));
    assert_eq!(table.rows(), []);
    press(&mut table, ">>3\n");
    assert_eq!(table.rows().len(), 1, "it could be corrected");
}

#[test]
fn more_messages_than_rows_show_the_last() {
    let mut table = table();
    press(&mut table, "\n");
    for _ in 0..30 {
        press(&mut table, "!<");
    }
    press(&mut table, "!");
    let rows = log(&table);
    assert_eq!(rows.len(), 24);
    // The question takes two rows, of which the second is the last one.
    assert_eq!(rows[23], "you here.");
    assert_eq!(rows[21], "You stay. How brave, and how unwise.");
    assert!(!rows.iter().any(|row| row.contains("I have a code")));
    let tall = screen(&table, 90, 40);
    assert!(tall[38].contains("you here."), "{tall:#?}");
    assert!(tall[1..39].iter().all(|row| row.chars().nth(18) != Some(' ')), "a taller window shows more");
}

#[test]
fn a_larger_window_has_the_answer_beside_the_guess() {
    let mut table = table();
    press(&mut table, "\n1234\n");
    let rows = screen(&table, 110, 30);
    assert!(rows[6].starts_with("│1 2 3 4 * * * *   RED 0  WHITE 3│"), "{rows:#?}");
    assert!(rows[29].starts_with('└') && rows[29].ends_with('┘'), "{rows:#?}");
    assert_eq!(rows[0].chars().count(), 110);
    // And back again.
    assert_eq!(left(&table)[7], "│RED 0  WHITE 3 │");
}

/// All that informs is in the compact layout too, and its text wraps at words.
#[test]
fn a_small_window_has_everything() {
    for (width, height) in [(80, 24), (89, 26), (76, 18)] {
        let mut table = asking();
        press(&mut table, "\n");
        let wrapped = screen(&table, width, height).join("\n");
        assert!(wrapped.contains("How long shall the code be?") && wrapped.contains("4 5 6 7 8"), "{wrapped}");
        press(&mut table, "]\n\n11223344\n99999999\n2\n1234");
        let rows = screen(&table, width, height);
        let text = rows.join("\n");
        assert!(rows[6].starts_with("│1 1 2 2 3 3 4 4   RED "), "{text}");
        assert!(rows[7].starts_with("│L I F E L I N E") && rows[8].starts_with("│L I F E L I N E"), "{text}");
        assert!(rows[0].contains(" row 4/10 ") && rows[0].contains(" code "), "{text}");
        assert!(rows[usize::from(height) - 1].contains("#1 CLOSED") && text.contains("? keys"), "{text}");
        assert!(rows.iter().all(|row| row.chars().count() <= usize::from(width)), "{text}");
        press(&mut table, &"[11223344\n".repeat(7));
        let over = screen(&table, width, height).join("\n");
        assert!(over.contains("Q leave"), "{over}");
        // The menu has its tip.
        press(&mut table, "!");
        let menu = screen(&table, width, height).join("\n");
        for part in ["MASTERMIND", "Play", "Quit", "as it should be.", "ENTER goes in.)", "? keys"] {
            assert!(menu.contains(part), "{part}: {menu}");
        }
    }
}

#[test]
fn choices_can_be_clicked_where_they_are_drawn() {
    for (width, height) in [(76, 18), (80, 24), (90, 26), (200, 60)] {
        let mut table = asking();
        press(&mut table, "\n");
        for (text, state) in [("4 5 6 7 8", State::Repeats { length: 4, repeats: true }), ("Yes  No", State::Edit)] {
            let rows = screen(&table, width, height);
            let place = |(row, line): (usize, &String)| line.find(text).map(|at| (line[..at].chars().count(), row));
            let (column, row) = rows.iter().enumerate().find_map(place).unwrap_or_else(|| panic!("{text}: {rows:#?}"));
            let mouse = Mouse {
                gesture: Gesture::Press,
                column: u16::try_from(column).unwrap(),
                row: u16::try_from(row).unwrap(),
            };
            let target = View::new(&table, Depth::None).target(Size::new(width, height), mouse).unwrap();
            let _ = table.point(target, Gesture::Press);
            assert_eq!(table.state(), state, "{width} x {height}");
        }
    }
}

#[test]
fn a_large_window_has_large_pegs_and_a_board_in_its_middle() {
    let mut table = table();
    press(&mut table, "\n3456\n");
    let red = Look::new(Depth::True).style(Role::Peg(Peg::new(2).unwrap())).bg;
    for (width, height, columns, lines) in [(120, 40, 3, 1), (200, 60, 5, 3)] {
        let buffer = drawn(&table, Depth::True, width, height);
        let is_red = |column: u16, row: u16| buffer[(column, row)].style().bg == red;
        let cells: Vec<(u16, u16)> = (0..height)
            .flat_map(|row| (0..width).map(move |column| (column, row)))
            .filter(|&(x, y)| is_red(x, y))
            .collect();
        assert_eq!(cells.len(), columns * lines, "{width} x {height}: {cells:?}");
        let (x, y) = cells[cells.len() / 2];
        assert_eq!(buffer[(x, y)].symbol(), "3");
        let rows = screen(&table, width, height);
        let (first, last) = (
            rows.iter().position(|row| row.contains('┌')).unwrap(),
            rows.iter().rposition(|row| row.contains('└')).unwrap(),
        );
        assert!(first.abs_diff(usize::from(height) - 1 - last) <= 1, "{first} {last} of {height}");
        assert!(rows.iter().any(|row| row.contains("RED 1  WHITE 1")), "{rows:#?}");
    }
}

#[test]
fn too_small_a_window_asks_to_be_enlarged() {
    let mut table = table();
    press(&mut table, "\n12");
    for (width, height) in [(75, 24), (80, 17), (20, 5)] {
        let text = screen(&table, width, height).join(" ");
        assert!(text.contains("18") && text.contains("76"), "{text}");
    }
    for (width, height) in [(1, 1), (3, 2), (200, 1), (1, 100)] {
        screen(&table, width, height);
    }
    assert_eq!(left(&table)[2], "│1 2 1 1 * * * *│", "nothing is lost");
}

#[test]
fn hints_say_why_and_mark_the_game() {
    let mut table = table();
    press(&mut table, "\n1234\nh");
    let rows = log(&table);
    assert!(rows.iter().any(|row| row.starts_with("Hint: ") && row.contains("codes are possible")), "{rows:#?}");
    assert!(rows.iter().any(|row| row.contains("I would guess") && row.contains("bits")), "{rows:#?}");
    assert!(screen(&table, 90, 26)[0].contains(" row 2/10, 1 hint "));
    press(&mut table, "7423\n");
    assert!(log(&table).contains(&"Played with a hint.".into()));
}

#[test]
fn a_hint_changes_nothing_of_what_a_lifeline_tells() {
    let told = |keys: &str| {
        let mut table = table();
        press(&mut table, keys);
        table.rows()
    };
    assert_eq!(told("\n9999\n2\n"), told("\nh9999\nh2\n"));
}

#[test]
fn a_hint_on_each_turn() {
    let mut table = table().with_hints();
    press(&mut table, "\n");
    let hints = |table: &Table| log(table).iter().filter(|row| row.starts_with("Hint: I would guess")).count();
    assert_eq!(hints(&table), 1, "{:#?}", log(&table));
    press(&mut table, "1234\n9999\n");
    assert_eq!(hints(&table), 2);
    press(&mut table, "1\n");
    assert_eq!(table.round().unwrap().game().hints(), 3);
    press(&mut table, "7423\n");
    assert!(log(&table).contains(&"Played with 3 hints.".into()));
}

#[test]
fn all_depths_show_the_same_digits() {
    let mut table = table();
    press(&mut table, "\n1345\n9999\n1\n67");
    let text = |depth| {
        let buffer = drawn(&table, depth, 90, 26);
        buffer.content.iter().map(|cell| cell.symbol().to_owned()).collect::<String>()
    };
    assert_eq!(text(Depth::None), text(Depth::Sixteen));
    assert_eq!(text(Depth::None), text(Depth::True));
    let plain = drawn(&table, Depth::None, 90, 26);
    let coloured = |cell: &ratatui::buffer::Cell| {
        cell.fg != ratatui::style::Color::Reset || cell.bg != ratatui::style::Color::Reset
    };
    assert!(!plain.content.iter().any(coloured), "no colour without colour");
    assert!(drawn(&table, Depth::True, 90, 26).content.iter().all(|cell| cell.bg != ratatui::style::Color::Reset));
}

#[test]
fn the_mouse_does_what_keys_do() {
    let mut table = asking();
    let click = |table: &mut Table, size: Size, column, row, gesture| {
        let target = View::new(table, Depth::None).target(size, Mouse { gesture, column, row });
        target.map_or(Asked::Nothing, |target| table.point(target, gesture))
    };
    let (small, large) = (Size::new(90, 26), Size::new(120, 40));
    // Beside everything, and in a window that shows nothing.
    assert_eq!(click(&mut table, small, 0, 0, Gesture::Press), Asked::Nothing);
    assert_eq!(click(&mut table, Size::new(60, 24), 44, 10, Gesture::Press), Asked::Nothing);
    assert!(matches!(table.state(), State::Menu(_)));
    assert_eq!(click(&mut asking(), small, 44, 12, Gesture::Press), Asked::Leave);
    let _ = click(&mut table, large, 44 + 15, 10 + 7, Gesture::Press);
    assert_eq!(table.state(), State::Length(4));
    let _ = click(&mut table, small, 19, 4, Gesture::Press);
    assert_eq!(table.state(), State::Length(4), "between two choices");
    let _ = click(&mut table, small, 20, 4, Gesture::Press);
    assert_eq!(table.state(), State::Repeats { length: 5, repeats: true });
    let _ = click(&mut table, small, 24, 3, Gesture::Press);
    assert_eq!(table.state(), State::Edit);
    assert!(!table.round().unwrap().game().rules().repeats());
    // Arrows above and below, the wheel, a digit.
    let _ = click(&mut table, small, 3, 1, Gesture::Press);
    let _ = click(&mut table, small, 5, 3, Gesture::Press);
    let _ = click(&mut table, small, 7, 2, Gesture::WheelUp);
    let _ = click(&mut table, small, 9, 2, Gesture::Press);
    assert_eq!(left(&table)[2], "│1 2 F 2 1 * * *│");
    assert_eq!(table.cursor(), 4);
    // Beyond the length there is nothing.
    let _ = click(&mut table, small, 15, 1, Gesture::Press);
    assert_eq!(table.cursor(), 4);
    // What covers the panels goes, and whatever is below it stays as it is.
    for (column, row) in [(0, 0), (8, 4)] {
        press(&mut table, "?");
        let _ = click(&mut table, small, column, row, Gesture::Press);
        assert_eq!((table.overlaid(), table.rows().len()), (None, 0));
    }
    press(&mut table, "[12345");
    let _ = click(&mut table, small, 8, 4, Gesture::Press);
    assert_eq!(table.rows().len(), 1);
    assert!(
        View::new(&table, Depth::None).target(small, Mouse { gesture: Gesture::Press, column: 8, row: 4 })
            == Some(Target::Submit)
    );
}
