//! What is known of the limits on this system.

use std::sync::OnceLock;

use crate::limits::Limits;

/// Whether programs have no network, or why they have.
static NETWORK: OnceLock<Result<(), String>> = OnceLock::new();

/// Takes this process, and with it all programs under test, off every network but loopback where the system allows it. No other thread may
/// run yet. Reports say whether it worked.
pub fn confine() {
    // Once it is done it stays so.
    NETWORK.get_or_init(confined);
}

#[cfg(target_os = "linux")]
fn confined() -> Result<(), String> {
    if crate::guard::has_guards() { crate::guard::confine_network() } else { Err("there are no guards".to_owned()) }
}

#[cfg(not(target_os = "linux"))]
fn confined() -> Result<(), String> {
    Err("only Linux can do that".to_owned())
}

fn network() -> String {
    match NETWORK.get() {
        Some(Ok(())) => "network: only loopback".to_owned(),
        Some(Err(error)) => format!("network: not limited, since this system does not allow it ({error})"),
        None => "network: not limited".to_owned(),
    }
}

/// Each limit with what keeps it here, for people.
pub(crate) fn told(limits: &Limits) -> Vec<String> {
    let mut lines = vec![network()];
    lines.extend(kept(limits));
    lines
}

#[cfg(target_os = "linux")]
fn kept(limits: &Limits) -> Vec<String> {
    use crate::guard::{self, Mode, has_guards};

    if !has_guards() {
        return vec!["all else: not limited".to_owned()];
    }
    let mode = guard::mode();
    let end = match mode {
        Mode::Root | Mode::User => "end of the program: all that it has started ends with it (namespace of processes)",
        Mode::Plain => {
            "end of the program: what it has started is looked for and killed; this system allows no namespace of processes"
        }
    };
    let processes = if mode == Mode::User { "the system refuses more" } else { "with more it is ended" };
    let how = |name| match name {
        "memory" => "a process gets no more; if all use more, they are ended",
        "processes" => processes,
        "files" => "open at a time, for each process",
        "file-size" => "for each file",
        _ => "with more it is ended",
    };
    let rows = limits.rows().into_iter().map(|(name, value)| format!("{name}: {value} ({})", how(name)));
    let mut lines: Vec<String> = rows.collect();
    lines.push(end.to_owned());
    if rustix::process::geteuid().is_root() {
        lines.push("user: root; start the tester as another user to keep programs off files".to_owned());
    }
    lines
}

#[cfg(not(target_os = "linux"))]
fn kept(limits: &Limits) -> Vec<String> {
    vec![
        format!("output: {} (with more it is ended)", limits.value("output")),
        "all else: not limited, which only Linux allows".to_owned(),
    ]
}
