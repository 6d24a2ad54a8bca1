//! The program as a process of its own.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

// Through pipes: transcripts, junk, the end of input anywhere, two people.
mod pipes;
// In a terminal: prompts, keys, the mouse, signals, statistics.
mod screen;
// The codebreaker's lines.
mod solve;

use std::{fs::File, io::Write, path::Path, process::Command};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use testkit::{
    TempDir,
    process::{Finished, Process},
};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_mastermind-play");

/// The program with these arguments, whose statistics lie in this directory.
fn command(data: &TempDir, arguments: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments.split_whitespace()).env("XDG_DATA_HOME", data.path());
    command
}

/// Runs the program to its end with this input.
fn run_in(data: &TempDir, arguments: &str, input: impl AsRef<[u8]>) -> Finished {
    let mut process = Process::start_with_stdin(&mut command(data, arguments));
    process.write(input);
    process.wait()
}

fn run(arguments: &str, input: impl AsRef<[u8]>) -> Finished {
    run_in(&TempDir::new(), arguments, input)
}

/// Where a person types. What is printed does not go there.
struct Keyboard {
    typed: File,
    terminal: File,
    path: String,
}

impl Keyboard {
    fn new() -> Self {
        let typed = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&typed).unwrap();
        unlockpt(&typed).unwrap();
        let path = ptsname(&typed, vec![]).unwrap().into_string().unwrap();
        // Held open, so that what is typed before the program has begun is not lost.
        let terminal = File::options().read(true).write(true).open(&path).unwrap();
        Self { typed: typed.into(), terminal, path }
    }

    /// Starts the program, which reads what is typed here.
    fn start(&self, data: &Path, arguments: &str) -> Process {
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec \"$@\" <\"$0\"", &self.path, PROGRAM]).args(arguments.split_whitespace());
        Process::start(shell.env("XDG_DATA_HOME", data))
    }

    fn types(&mut self, text: &str) {
        self.typed.write_all(text.as_bytes()).unwrap();
    }

    /// Ctrl-D, and the end of the program.
    fn ends(mut self, process: Process) -> Finished {
        self.types("\x04");
        let finished = process.wait();
        drop(self.terminal);
        finished
    }
}

/// Runs the program to its end for a person who types this.
fn typed_in(data: &TempDir, arguments: &str, text: &str) -> Finished {
    let mut keyboard = Keyboard::new();
    let process = keyboard.start(data.path(), arguments);
    keyboard.types(text);
    keyboard.ends(process)
}
