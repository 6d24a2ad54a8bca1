use ratatui::layout::Size;
use termkit::{Gesture, Mouse};

use super::{
    super::state::{State, Target},
    *,
};

fn target(table: &Table, window: (u16, u16), column: u16, row: u16, gesture: Gesture) -> Option<Target> {
    View::new(table, Depth::None).target(Size::from(window), Mouse { gesture, column, row })
}

fn point(table: &mut Table, window: (u16, u16), column: u16, row: u16, gesture: Gesture) -> Asked {
    target(table, window, column, row, gesture).map_or(Asked::Nothing, |target| table.point(target, gesture))
}

#[test]
fn choices_can_be_clicked_where_they_are_drawn() {
    for window in [(76, 18), (80, 24), (90, 26), (200, 60)] {
        let mut table = after(asking(), "\n");
        for (text, state) in [("4 5 6 7 8", State::Repeats { length: 4, repeats: true }), ("Yes  No", State::Edit)] {
            let rows = screen(&table, window.0, window.1);
            let place = |(row, line): (u16, &String)| line.find(text).map(|at| (line[..at].chars().count(), row));
            let (column, row) = (0..).zip(&rows).find_map(place).unwrap_or_else(|| panic!("{text}: {rows:#?}"));
            let _ = point(&mut table, window, u16::try_from(column).unwrap(), row, Gesture::Press);
            assert_eq!(table.state, state, "{window:?}");
        }
    }
}

#[test]
fn the_mouse_does_what_keys_do() {
    let mut table = asking();
    let (small, large) = ((90, 26), (120, 40));
    // Beside everything, and in a window that shows nothing.
    assert_eq!(point(&mut table, small, 0, 0, Gesture::Press), Asked::Nothing);
    assert_eq!(point(&mut table, (60, 24), 44, 10, Gesture::Press), Asked::Nothing);
    assert!(matches!(table.state, State::Menu(_)));
    assert_eq!(point(&mut asking(), small, 44, 12, Gesture::Press), Asked::Leave);
    // Play, between two choices, five, No.
    for (window, column, row, state) in [
        (large, 44 + 15, 10 + 7, State::Length(4)),
        (small, 19, 9, State::Length(4)),
        (small, 20, 9, State::Repeats { length: 5, repeats: true }),
        (small, 24, 8, State::Edit),
    ] {
        let _ = point(&mut table, window, column, row, Gesture::Press);
        assert_eq!(table.state, state);
    }
    assert!(!table.round.as_ref().unwrap().game().rules().repeats());
    // Arrows above and below, the wheel, a digit; beyond the length there is nothing.
    for (column, row, gesture) in [
        (3, 1, Gesture::Press),
        (5, 3, Gesture::Press),
        (7, 2, Gesture::WheelUp),
        (9, 2, Gesture::Press),
        (15, 1, Gesture::Press),
    ] {
        let _ = point(&mut table, small, column, row, gesture);
    }
    assert_eq!(left(&table)[2], "│1│2▏F▕2│1▏* * *│");
    assert_eq!(table.cursor, 4);
    // What covers the panels goes, and whatever is below it stays as it is.
    for (column, row) in [(0, 0), (8, 4)] {
        press(&mut table, "?");
        let _ = point(&mut table, small, column, row, Gesture::Press);
        assert_eq!((table.overlaid, table.rows().len()), (None, 0));
    }
    press(&mut table, "[12345");
    assert_eq!(target(&table, small, 8, 4, Gesture::Press), Some(Target::Submit));
    let _ = point(&mut table, small, 8, 4, Gesture::Press);
    assert_eq!(table.rows().len(), 1);
}

#[test]
fn a_peg_beside_the_board_can_be_clicked() {
    for window in [(76, 18), (90, 26), (120, 40), (200, 60)] {
        let mut table = after(table(), "\n");
        for name in ["purple", "yellow", "black"] {
            let rows = screen(&table, window.0, window.1);
            let place = |(row, line): (u16, &String)| line.find(name).map(|at| (line[..at].chars().count(), row));
            let (column, row) = (0..).zip(&rows).find_map(place).unwrap_or_else(|| panic!("{name}: {rows:#?}"));
            let _ = point(&mut table, window, u16::try_from(column).unwrap(), row, Gesture::Press);
        }
        assert_eq!((left(&table)[2].as_str(), table.cursor), ("│7│4│2│1▏* * * *│", 3), "{window:?}");
    }
    // Neither a colour that the game does not have nor a choice of lifelines.
    let mut few = after(with(Some(4), Some(true), Some(3), Setter::Seed, 1), "\n");
    let window = (90, 26);
    assert!(!screen(&few, 90, 26).concat().contains("yellow"));
    assert_eq!(target(&few, window, 75, 1, Gesture::Press), None);
    press(&mut few, "9999\n");
    assert_eq!(point(&mut few, window, 25, 1, Gesture::Press), Asked::Nothing);
    assert!(matches!(few.state, State::Pick(_)));
}
