//! Each test runs a part of this program in its own terminal.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{env, io::Read};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use ratatui::widgets::Widget;
use termkit::{Keyboard, Screen, StatusLine};

const SIZE: PtySize = PtySize { rows: 40, cols: 100, pixel_width: 0, pixel_height: 0 };

/// The content at the end, and the last content of the alternate screen.
struct Captured {
    end: vt100::Screen,
    alternate: String,
}

/// Runs the ignored test `part` and checks that it leaves the modes unchanged.
fn run(part: &str) -> Captured {
    let pair = native_pty_system().openpty(SIZE).unwrap();
    let before = format!("{:?}", pair.master.get_termios());
    let mut command = CommandBuilder::new(env::current_exe().unwrap());
    command.args(["--exact", part, "--ignored", "--nocapture", "--test-threads", "1"]);
    command.env("TERM", "xterm-256color");
    command.env("RUST_BACKTRACE", "0");
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut output = pair.master.try_clone_reader().unwrap();
    let mut parser = vt100::Parser::new(SIZE.rows, SIZE.cols, 0);
    let (mut alternate, mut byte) = (String::new(), [0]);
    // The terminal reports the program's exit as an error.
    while let Ok(1) = output.read(&mut byte) {
        parser.process(&byte);
        if parser.screen().alternate_screen() {
            alternate = parser.screen().contents();
        }
    }
    child.wait().unwrap();
    assert_eq!(format!("{:?}", pair.master.get_termios()), before, "the modes of the terminal");
    Captured { end: parser.screen().clone(), alternate }
}

fn draw(screen: &mut Screen, text: &str) {
    screen.draw(|frame| StatusLine::new(text).render(frame.area(), frame.buffer_mut())).unwrap();
}

#[test]
fn dropped_screen_restores_the_terminal() {
    let seen = run("part_that_draws_and_ends");
    assert_eq!(seen.alternate, "drawn");
    assert!(!seen.end.alternate_screen() && !seen.end.hide_cursor());
    assert!(!seen.end.contents().contains("drawn"));
    assert!(seen.end.contents().contains("printed"));
}

#[test]
#[ignore = "run by another test, in a terminal"]
fn part_that_draws_and_ends() {
    let mut screen = Screen::enter(Keyboard::Keys).unwrap();
    draw(&mut screen, "drawn");
    drop(screen);
    println!("printed");
}

#[test]
fn panic_restores_the_terminal_before_its_message() {
    for part in ["part_that_panics_while_it_draws", "part_that_panics_in_another_thread"] {
        let seen = run(part);
        assert_eq!(seen.alternate, "first", "{part}");
        assert!(!seen.end.alternate_screen() && !seen.end.hide_cursor(), "{part}");
        assert!(seen.end.contents().contains("this went wrong"), "{part}: {}", seen.end.contents());
        assert!(!seen.end.contents().contains("half a frame"), "{part}: {}", seen.end.contents());
    }
}

#[test]
#[ignore = "run by another test, in a terminal"]
fn part_that_panics_while_it_draws() {
    let mut screen = Screen::enter(Keyboard::Keys).unwrap();
    draw(&mut screen, "first");
    let _ = screen.draw(|frame| {
        StatusLine::new("half a frame").render(frame.area(), frame.buffer_mut());
        panic!("this went wrong");
    });
}

#[test]
#[ignore = "run by another test, in a terminal"]
fn part_that_panics_in_another_thread() {
    let mut screen = Screen::enter(Keyboard::Keys).unwrap();
    draw(&mut screen, "first");
    let _ = std::thread::spawn(|| panic!("this went wrong")).join();
    draw(&mut screen, "half a frame");
}
