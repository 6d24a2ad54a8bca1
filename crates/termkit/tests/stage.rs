//! Each test runs a part of this program in its own terminal.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{env, time::Duration};

use ratatui::widgets::Widget;
use termkit::{Key, Source, Stage, StageEvent, StatusLine};
use testkit::terminal::Terminal;

const DAY: Duration = Duration::from_secs(86_400);

fn start(part: &str) -> Terminal {
    let program = env::current_exe().unwrap();
    let arguments = ["--exact", part, "--ignored", "--nocapture", "--test-threads", "1"];
    Terminal::start(program.to_str().unwrap(), &arguments, 80, 24)
}

#[test]
fn ignored_keys_select_no_action() {
    let mut terminal = start("part_that_ignores_keys");
    terminal.wait_for("ignores keys, heard ''");
    terminal.press(b"abc\x1b[A");
    // Ctrl-L is handled, and makes this program accept keys again.
    terminal.press(b"\x0c");
    terminal.wait_for("hears keys, heard ''");
    terminal.press(b"x");
    terminal.wait_for("hears keys, heard 'x'");
    terminal.press(b"\x03");
    assert_eq!(terminal.end(), 0);
}

#[test]
#[ignore = "run by another test, in a terminal"]
fn part_that_ignores_keys() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut stage = Stage::enter(true, Source::Terminal).unwrap();
        stage.ignore_keys(DAY);
        let mut heard = String::new();
        loop {
            let now = if stage.ignores_keys() { "ignores" } else { "hears" };
            let text = format!("{now} keys, heard '{heard}'");
            stage.draw(|frame| StatusLine::new(&text).render(frame.area(), frame.buffer_mut()));
            match stage.next(true).await {
                StageEvent::Key(Key::Redraw) => stage.ignore_keys(Duration::ZERO),
                StageEvent::Key(Key::Byte(byte)) => {
                    heard.push(byte.into());
                    stage.change();
                }
                StageEvent::Key(Key::Interrupt) => return,
                _ => {}
            }
        }
    });
}
