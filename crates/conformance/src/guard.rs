//! Guards: processes of this executable that stand between the tester and a program under test. A guard sets the limits, starts the
//! program, counts what it uses, and ends all that is left of it, whatever group or session that belongs to.
//!
//! The guard's standard input is a socket. The tester sends what is to be typed (see `words`); when the socket ends, the
//! guard ends everything. The guard answers in lines: `begun`, or `cannot ERROR`; then `code N` or `signal N` when the program ends, and
//! `limit NAME` when it was ended for a limit.

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

/// Must be called first by the `main` of each executable that tests programs. If the process was started as a guard, it works as one and
/// does not return. Otherwise this executable is used for guards from now on. Without it programs have no limits.
///
/// The process becomes the parent of what is left of a program that kills its guard, and ends it. It must have no other children that it
/// starts in any other way while programs run.
pub fn guard() {
    inside::work_if_asked();
    // It may be called twice.
    let _ = HAS_GUARDS.set(());
}

pub(crate) fn has_guards() -> bool {
    HAS_GUARDS.get().is_some()
}
