//! The network of programs under test, and the limits that this system enforces.

use std::{io, sync::OnceLock};

use crate::limits::Limits;

/// The error explains why programs still have the network.
static NETWORK: OnceLock<Result<(), String>> = OnceLock::new();

/// Disconnects this process and all programs under test from all networks but loopback, if possible. Must be called
/// before any other thread starts.
pub fn confine() {
    NETWORK.get_or_init(confined);
}

#[cfg(target_os = "linux")]
fn confined() -> Result<(), String> {
    if crate::guard::has_guards() {
        crate::guard::confine_network()
    } else {
        Err("no guard process is available".to_owned())
    }
}

#[cfg(not(target_os = "linux"))]
fn confined() -> Result<(), String> {
    Err("only supported on Linux".to_owned())
}

#[derive(Debug, Default)]
pub struct Network {
    // `None` represents the network of this process.
    #[cfg(target_os = "linux")]
    own: Option<crate::guard::Namespace>,
}

impl Network {
    /// Creates a network with only loopback, which isolates its programs from all others. Without [`confine`], returns
    /// the network of this process.
    pub fn new() -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if matches!(NETWORK.get(), Some(Ok(()))) {
            return Ok(Self { own: Some(crate::guard::Namespace::new()?) });
        }
        Ok(Self::default())
    }

    pub const fn is_shared(&self) -> bool {
        #[cfg(target_os = "linux")]
        {
            self.own.is_none()
        }
        #[cfg(not(target_os = "linux"))]
        true
    }

    /// Runs `work` in this network, in a separate thread unless it is the network of this process. Sockets, threads and
    /// programs that `work` creates belong to the network.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        #[cfg(target_os = "linux")]
        if let Some(own) = &self.own {
            return own.enter(work);
        }
        Ok(work())
    }
}

fn network_report() -> String {
    match NETWORK.get() {
        Some(Ok(())) => "network: only loopback".to_owned(),
        Some(Err(error)) => format!("network: not limited (the system does not support it: {error})"),
        None => "network: not limited".to_owned(),
    }
}

pub(crate) fn report(limits: &Limits) -> Vec<String> {
    let mut lines = vec![network_report()];
    lines.extend(enforcement(limits));
    lines
}

#[cfg(target_os = "linux")]
fn enforcement(limits: &Limits) -> Vec<String> {
    use crate::guard::{self, Mode, has_guards};

    if !has_guards() {
        return vec!["all other limits: not enforced".to_owned()];
    }
    let mode = guard::mode();
    let end = match mode {
        Mode::Root | Mode::User => "end of the program: all its processes end with it (PID namespace)",
        Mode::Plain => {
            "end of the program: the tester finds and kills its remaining processes (the system supports no PID namespace)"
        }
    };
    let processes =
        if mode == Mode::User { "the system refuses to start more" } else { "the program is ended if it exceeds this" };
    let how = |name| match name {
        "memory" => "for all processes together; they are ended if they exceed this",
        "processes" => processes,
        "files" => "open at the same time, for each process",
        "file-size" => "for each file",
        _ => "the program is ended if it exceeds this",
    };
    let rows = limits.rows().into_iter().map(|(name, value)| format!("{name}: {value} ({})", how(name)));
    let mut lines: Vec<String> = rows.collect();
    lines.push(end.to_owned());
    if rustix::process::geteuid().is_root() {
        lines.push("user: root (run the tester as another user to protect files)".to_owned());
    }
    lines
}

#[cfg(not(target_os = "linux"))]
fn enforcement(limits: &Limits) -> Vec<String> {
    vec![
        format!("output: {} (the program is ended if it exceeds this)", limits.value("output")),
        "all other limits: not enforced (only supported on Linux)".to_owned(),
    ]
}
