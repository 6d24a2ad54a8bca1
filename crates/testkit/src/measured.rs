//! Processes under measurement: what they have cost so far. Linux only, like the figures of the benches.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, ChildStderr, ChildStdin, Command, Stdio},
    time::Duration,
};

/// A server under measurement, killed when it is not needed any more.
#[derive(Debug)]
pub struct Measured {
    child: Child,
    /// The port that it announced.
    pub port: u16,
}

impl Measured {
    /// Starts `command` and reads its port from the last word of its first line. Its standard input is a pipe.
    pub fn start(command: &mut Command) -> Self {
        Self::announced(command.stderr(Stdio::null()))
    }

    /// Starts `command` in the same way, and gives what it says on standard error, which has to be read as it comes.
    pub fn start_heard(command: &mut Command) -> (Self, BufReader<ChildStderr>) {
        let mut started = Self::announced(command.stderr(Stdio::piped()));
        let told = started.child.stderr.take().expect("piped");
        (started, BufReader::new(told))
    }

    fn announced(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let port = line.split_whitespace().last().and_then(|word| word.parse().ok()).expect("a port in the first line");
        Self { child, port }
    }

    /// Its standard input, once.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Processor time used so far by all of its threads, by the kernel on their behalf too.
    pub fn cpu(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("Linux");
        let nanos = threads.map(|thread| {
            let text =
                fs::read_to_string(thread.expect("a thread").path().join("schedstat")).expect("a thread that lasts");
            text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).expect("nanoseconds")
        });
        Duration::from_nanos(nanos.sum())
    }

    /// The most memory it has held so far, in megabytes.
    pub fn peak_memory_mb(&self) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("Linux");
        let line = text.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
        let kilobytes: f64 = line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("kilobytes");
        kilobytes / 1024.0
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
