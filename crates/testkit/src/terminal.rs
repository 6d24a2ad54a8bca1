//! Runs a program in a pseudo-terminal and inspects its screen.

use std::{
    io::{Read, Write},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

use crate::PATIENCE;
pub use crate::monitor::Monitor;

const AGAIN: Duration = Duration::from_secs(1);

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

pub struct Terminal {
    parser: Arc<Monitor<vt100::Parser<Bells>>>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    modes: String,
}

#[derive(Default)]
struct Bells(usize);

impl vt100::Callbacks for Bells {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.0 += 1;
    }
}

impl Terminal {
    pub fn start(program: &str, arguments: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_with(program, arguments, &[], columns, rows)
    }

    pub fn start_with(
        program: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
        columns: u16,
        rows: u16,
    ) -> Self {
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        Self::spawn(command, environment, columns, rows)
    }

    /// Starts the program as a job of a shell. When it stops, the shell prints a line and resumes it after Return.
    pub fn start_in_shell(program: &str, arguments: &[&str], columns: u16, rows: u16) -> Self {
        let mut command = CommandBuilder::new("sh");
        // With -m each job has its own process group, which can be stopped.
        command.args(["-c", "set -m; \"$0\" \"$@\"; echo It stopped.; read go; fg >/dev/null", program]);
        command.args(arguments);
        Self::spawn(command, &[], columns, rows)
    }

    fn spawn(mut command: CommandBuilder, environment: &[(&str, &str)], columns: u16, rows: u16) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).expect("the system has terminals");
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        command.env_remove("RUST_LOG");
        for (name, value) in environment {
            command.env(name, value);
        }
        let modes = modes(&*pair.master);
        let child = pair.slave.spawn_command(command).expect("the program can be started");
        let parser = Monitor::new(vt100::Parser::new_with_callbacks(rows, columns, 0, Bells::default()));
        let mut output = pair.master.try_clone_reader().expect("a terminal can be read");
        let seen = Arc::clone(&parser);
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            // At the end of the program, the read returns an error.
            while let Ok(count @ 1..) = output.read(&mut chunk) {
                seen.change(|parser| parser.process(&chunk[..count]));
            }
        });
        let keyboard = pair.master.take_writer().expect("a terminal has one writer, not taken yet");
        Self { parser, master: pair.master, keyboard, child, modes }
    }

    pub fn press(&mut self, bytes: &[u8]) {
        self.keyboard.write_all(bytes).expect("the terminal takes keys");
        self.keyboard.flush().expect("the terminal takes keys");
    }

    /// Presses the keys again until the text is shown: their messages or the answer may be lost.
    pub fn press_until(&mut self, bytes: &[u8], text: &str) {
        let begun = Instant::now();
        let is_there = |parser: &vt100::Parser<Bells>| parser.screen().contents().contains(text).then_some(());
        loop {
            self.press(bytes);
            if self.parser.find_within(AGAIN, is_there).is_some() {
                return;
            }
            let screen = self.with_screen(vt100::Screen::contents);
            assert!(begun.elapsed() < PATIENCE, "{text:?} does not come; the screen is\n{screen}");
        }
    }

    /// Clears the screen, so that all its content is drawn after this call.
    pub fn wipe(&self) {
        self.parser.change(|parser| parser.process(b"\x1b[2J"));
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.change(|parser| parser.screen_mut().set_size(rows, columns));
        self.master.resize(size(columns, rows)).expect("the window can be resized");
    }

    /// Signals the foreground process group.
    pub fn signal(&self, signal: Signal) {
        let id = self
            .master
            .process_group_leader()
            .and_then(Pid::from_raw)
            .expect("the terminal has a foreground process group");
        kill_process(id, signal).expect("the foreground process group accepts signals");
    }

    pub fn wait(&self, wanted: impl Fn(&vt100::Screen) -> bool) {
        self.parser.wait(|parser| wanted(parser.screen()), |parser| parser.screen().contents());
    }

    pub fn wait_for(&self, text: &str) {
        self.wait(|screen| screen.contents().contains(text));
    }

    pub fn wait_for_lines(&self, lines: &[&str]) {
        self.wait(|screen| {
            let contents = screen.contents();
            let mut shown = contents.lines();
            lines.iter().all(|line| shown.next().unwrap_or("").trim_end() == *line)
        });
    }

    pub fn with_screen<T>(&self, read: impl FnOnce(&vt100::Screen) -> T) -> T {
        read(self.parser.lock().screen())
    }

    pub fn bells(&self) -> usize {
        self.parser.lock().callbacks().0
    }

    /// Checks that the program restored the terminal. Returns its exit code.
    pub fn end(mut self) -> u32 {
        let status = self.wait_for_exit();
        self.wait_for_own_screen();
        status
    }

    /// Waits until the terminal is as before the program was started.
    pub fn wait_for_own_screen(&self) {
        self.wait(|screen| !screen.alternate_screen() && !screen.hide_cursor());
        assert_eq!(modes(&*self.master), self.modes, "the modes of the terminal");
    }

    fn wait_for_exit(&mut self) -> u32 {
        // A wait for a process has no deadline, so another thread kills it after the deadline.
        let mut killer = self.child.clone_killer();
        let ended = Monitor::new(false);
        let watch = Arc::clone(&ended);
        let watchdog = thread::spawn(move || {
            let is_late = watch.find(|ended| ended.then_some(())).is_none();
            if is_late {
                let _ = killer.kill();
            }
            is_late
        });
        let status = self.child.wait().expect("an own child can be waited for");
        ended.change(|ended| *ended = true);
        let is_late = watchdog.join().expect("the watchdog does not panic");
        assert!(!is_late, "the program did not end; the screen is\n{}", self.with_screen(vt100::Screen::contents));
        status.exit_code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // No effect on an ended process.
        let _ = self.child.kill();
    }
}

fn modes(master: &(dyn MasterPty + Send)) -> String {
    format!("{:?}", master.get_termios())
}
