//! Guards: processes of this executable between the tester and a program under test. A guard sets the limits, starts
//! the program, counts its resources, and ends all of its remaining processes in any group or session.
//!
//! The guard's standard input is a socket. The tester sends the bytes to be typed (see `words`). If the socket is
//! closed, the guard ends all processes. The guard answers in lines: `begun`, or `cannot ERROR`; then `code N` or
//! `signal N` when the program ends, and `limit NAME` when it was ended for a limit.

mod inside;
mod mode;
mod network;
mod orphans;
mod outside;
mod trial;
mod watch;
mod words;

use std::sync::OnceLock;

pub(crate) use self::{
    mode::Mode,
    network::{Namespace, confine_network},
    outside::{Guard, Refusal},
    trial::mode,
};

/// Whether this executable can be started as a guard.
static HAS_GUARDS: OnceLock<()> = OnceLock::new();

/// The `main` function of each executable that tests programs must call this first. If the process was started as a
/// guard, it works as one and does not return. Otherwise, this executable is used for guards from now on. Without this
/// call, programs have no limits.
///
/// If a program kills its guard, this process becomes the parent of the program's remaining processes and ends them.
/// While programs run, it must not start any other children by other means.
pub fn guard() {
    inside::work_if_asked();
    // The function may be called twice.
    let _ = HAS_GUARDS.set(());
}

pub(crate) fn has_guards() -> bool {
    HAS_GUARDS.get().is_some()
}
