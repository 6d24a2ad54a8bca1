use testkit::{TempDir, terminal::Terminal};

use crate::{matches, path};

#[test]
fn keys_move_the_replay_and_the_terminal_is_restored() {
    let folder = TempDir::new();
    let file = matches::nuggets(folder.path(), 60, true);
    let mut terminal = Terminal::start(env!("CARGO_BIN_EXE_journal"), &["replay", path(&file)], 80, 24);
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
