//! A process under measurement: what it has cost so far. Linux only, like the figures.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

/// A child that is killed when it is not needed any more.
pub(crate) struct Process {
    child: Child,
    /// The port that it announced.
    pub(crate) port: u16,
}

impl Process {
    /// Starts `command` and reads its port from the last word of its first line.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let port = line.split_whitespace().last().and_then(|word| word.parse().ok()).expect("a port in the first line");
        Self { child, port }
    }

    /// Processor time used so far, by the kernel on its behalf too.
    pub(crate) fn cpu(&self) -> Duration {
        let text = fs::read_to_string(format!("/proc/{}/schedstat", self.child.id())).expect("Linux");
        let nanos = text.split_whitespace().next().and_then(|word| word.parse().ok()).expect("nanoseconds");
        Duration::from_nanos(nanos)
    }

    /// The most memory it has held so far, in megabytes.
    pub(crate) fn peak_memory_mb(&self) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("Linux");
        let line = text.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
        let kilobytes: f64 = line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("kilobytes");
        kilobytes / 1024.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
