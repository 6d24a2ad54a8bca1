use testkit::{TempDir, terminal::Terminal};

use crate::{matches, path};

fn replay(arguments: &[&str], columns: u16, rows: u16) -> Terminal {
    Terminal::start(env!("CARGO_BIN_EXE_journal"), &[&["replay"], arguments].concat(), columns, rows)
}

#[test]
fn keys_move_the_replay_and_the_terminal_is_restored() {
    let folder = TempDir::new();
    let file = matches::nuggets(folder.path(), 60, true);
    let mut terminal = replay(&[path(&file)], 80, 24);
    terminal.wait_for("Spectator: 100000 nuggets unclaimed.");
    terminal.press(b" ");
    terminal.wait_for("|| 1x 0:0");
    terminal.press(b"g0:15\n");
    terminal.wait_for("|| 1x 0:15 / 0:26");
    terminal.press(b"\x1b[C");
    terminal.wait_for("arrival 40 of 69");
    terminal.resize(60, 12);
    terminal.wait_for("|| 1x 0:15 / 0:26 [#");
    terminal.press(b"\x1b[F");
    terminal.wait_for("[] 1x 0:26 / 0:26");
    terminal.press(b"Q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn a_seat_is_shown_and_ctrl_c_leaves() {
    let folder = TempDir::new();
    let file = matches::robots(folder.path());
    let mut terminal = replay(&[path(&file), "--seat", "Bob", "--speed", "64"], 80, 24);
    // Plays to its end.
    terminal.wait_for("[] 64x 0:14 / 0:14");
    terminal.press(b"\x1b[H");
    terminal.wait_for("0:00 / 0:14");
    terminal.press(b"g4\n");
    terminal.wait_for(">B   1 Bob");
    terminal.press(b"\x03");
    assert_eq!(terminal.end(), 0);
}
