//! Resource usage of processes, for benches. Linux only.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, ChildStderr, ChildStdin, Command, Stdio},
    time::Duration,
};

/// Killed when dropped.
#[derive(Debug)]
pub struct Measured {
    child: Child,
    /// Announced by the server.
    pub port: u16,
}

impl Measured {
    /// The port is the last word of the first line of output. Standard input is a pipe.
    pub fn start(command: &mut Command) -> Self {
        Self::announced(command.stderr(Stdio::null()))
    }

    /// Also returns standard error, which must be read continuously.
    pub fn start_with_stderr(command: &mut Command) -> (Self, BufReader<ChildStderr>) {
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

    /// `None` after the first call.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Counts all threads, including time in the kernel.
    pub fn cpu(&self) -> Duration {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("Linux");
        let nanos = threads.map(|thread| {
            let text =
                fs::read_to_string(thread.expect("a thread").path().join("schedstat")).expect("a thread that lasts");
            text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).expect("nanoseconds")
        });
        Duration::from_nanos(nanos.sum())
    }

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
