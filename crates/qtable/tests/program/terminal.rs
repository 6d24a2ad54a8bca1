use testkit::{TempDir, terminal::Terminal};

const PROGRAM: &str = env!("CARGO_BIN_EXE_qtable");

#[test]
fn curves_are_drawn_in_a_terminal() {
    let terminal = Terminal::start(PROGRAM, &["curve", "--rounds", "1e4", "--runs", "1"], 80, 24);
    for text in ["How many rounds it takes to learn 21", "-0.0515", "best table", "dealer's strategy", "10 k"] {
        terminal.wait_for(text);
    }
    for name in ["random -0.", "epsilon 0.1 -0.", "until-confident -0."] {
        terminal.wait_for(name);
    }
    assert_eq!(terminal.end(), 0);
}

#[test]
fn training_draws_its_curve_below_the_progress_line() {
    let folder = TempDir::new();
    let table = folder.path().join("table");
    let arguments = ["train", "--rounds", "200_000", "--seed", "1", "-o", table.to_str().unwrap()];
    let terminal = Terminal::start(PROGRAM, &arguments, 100, 40);
    for text in ["100 %", "best table", "epsilon 0.1 -0.", "200 k", "trained  200000 rounds", "saved"] {
        terminal.wait_for(text);
    }
    assert_eq!(terminal.end(), 0);
    let terminal = Terminal::start(PROGRAM, &arguments, 100, 12);
    terminal.wait_for("saved");
    assert!(!terminal.with_screen(|screen| screen.contents().contains("best table")));
    assert_eq!(terminal.end(), 0);
}
