use super::*;

#[test]
fn a_larger_window_has_the_answer_beside_the_guess() {
    let table = after(table(), "\n1234\n");
    let rows = screen(&table, 110, 30);
    assert!(rows[6].starts_with("│1│2│3│4▏* * * *   RED 0  WHITE 3│"), "{rows:#?}");
    assert!(rows[29].starts_with('└') && rows[29].ends_with('┘'), "{rows:#?}");
    assert_eq!(rows[0].chars().count(), 110);
    // And back again.
    assert_eq!(left(&table)[7], "│RED 0  WHITE 3 │");
}

/// All that informs is in the compact layout too, and its text wraps at words.
#[test]
fn a_small_window_has_everything() {
    for (width, height) in [(80, 24), (89, 26), (76, 18)] {
        let mut table = after(asking(), "\n");
        let wrapped = screen(&table, width, height).join("\n");
        assert!(wrapped.contains("How long shall the code be?") && wrapped.contains("4 5 6 7 8"), "{wrapped}");
        press(&mut table, "]\n\n11223344\n99999999\n2\n1234");
        let rows = screen(&table, width, height);
        let text = rows.join("\n");
        assert!(rows[6].starts_with("│1│1│2│2│3│3│4│4▏  RED "), "{text}");
        assert!(rows[7..9].iter().all(|row| row.starts_with("│L I F E L I N E")), "{text}");
        assert!(rows.iter().any(|row| row.contains(" row 4/10 ") && row.contains(" code ")), "{text}");
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
fn a_window_is_used_from_edge_to_edge_and_pegs_grow_with_it() {
    let table = after(table(), "\n3456\n");
    for (width, height, columns, lines) in [(80, 24, 1, 1), (120, 40, 3, 1), (200, 60, 5, 3), (300, 90, 5, 3)] {
        let buffer = drawn(&table, Depth::True, width, height);
        let board = (0..height).flat_map(|y| (0..60.min(width / 2)).map(move |x| (x, y)));
        let cells: Vec<_> = board.map(|at| &buffer[at]).filter(|cell| cell.style().bg == red_peg()).collect();
        assert_eq!(cells.len(), columns * lines, "{width} x {height}");
        assert_eq!(cells[cells.len() / 2].symbol(), "3");
        let rows = screen(&table, width, height);
        for (row, [left, right]) in [(&rows[0], ['┌', '┐']), (&rows[usize::from(height) - 1], ['└', '┘'])] {
            assert!(row.starts_with(left) && row.ends_with(right), "{rows:#?}");
            assert_eq!(row.chars().count(), usize::from(width), "{rows:#?}");
        }
        assert!(rows.iter().any(|row| row.contains("RED 1  WHITE 1")), "{rows:#?}");
    }
}

/// Where a text stands: its column and its row.
fn place(rows: &[String], text: &str) -> Option<(usize, usize)> {
    (0..).zip(rows).find_map(|(y, row)| row.find(text).map(|at| (row[..at].chars().count(), y)))
}

#[test]
fn beside_the_board_are_the_pegs_in_four_columns_and_what_an_answer_means() {
    let table = after(table(), "\n1234\n");
    for (width, height) in [(76, 18), (80, 24), (90, 26), (120, 40), (160, 52), (200, 60), (200, 18)] {
        let rows = screen(&table, width, height);
        let at = |text| place(&rows, text).unwrap_or_else(|| panic!("{text}: {rows:#?}"));
        let (board, _) = at("┐┌");
        for (upper, lower) in [("white", "blue"), ("black", "green"), ("red", "purple"), ("yellow", "orange")] {
            let (column, row) = at(upper);
            assert_eq!((at(lower), row), ((column, 2), 1), "{rows:#?}");
            assert!(column > board, "{rows:#?}");
        }
        for (explained, answer) in
            [("RED: right digit, right place.", "RED 0"), ("WHITE: right digit, wrong place.", "WHITE 3")]
        {
            assert!(at(explained).1 <= 4 && at(answer).1 <= 9, "{rows:#?}");
        }
        // Messages lose no more than they can spare.
        assert!(rows.iter().any(|row| row.contains("for 1234 in row 1")), "{rows:#?}");
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

/// A code with the black peg `2` on the screen that has the fewest means to show it.
#[test]
fn a_black_peg_has_its_outline_its_digit_and_its_name_in_every_depth() {
    let table = after(table(), "\n1234\n");
    for depth in [Depth::None, Depth::Sixteen, Depth::Indexed, Depth::True] {
        for (width, height, peg) in [(76, 18, "2"), (80, 24, "2"), (90, 26, "2"), (120, 40, " 2 "), (200, 60, "  2  ")]
        {
            let buffer = drawn(&table, depth, width, height);
            let rows: Vec<String> = buffer.content.chunks(usize::from(width)).map(text).collect();
            let outlined = |left, right| rows.iter().any(|row| row.contains(&format!("{left}{peg}{right}")));
            // Without colour its neighbours have outlines too.
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
    for (width, height) in [(75, 24), (80, 17), (20, 5)] {
        let text = screen(&table, width, height).join(" ");
        assert!(text.contains("18") && text.contains("76"), "{text}");
    }
    for (width, height) in [(1, 1), (3, 2), (200, 1), (1, 100)] {
        screen(&table, width, height);
    }
    assert_eq!(left(&table)[2], "│1│2│1│1▏* * * *│", "nothing is lost");
}
