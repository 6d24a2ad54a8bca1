//! The messages between the tester and a guard, and the arguments of guards.

use std::process::Command;

/// The first argument of a guard.
pub(super) const INSIDE: &str = "--inside";
/// This executable, even if the file was replaced.
pub(super) const MYSELF: &str = "/proc/self/exe";
/// The argument of a process that tries whether it can leave the network.
pub(super) const NETWORK: &str = "network";
/// The argument of a process whose exit shows that one can be started.
pub(super) const NOTHING: &str = "nothing";
/// The third argument of a guard for a program at a terminal.
pub(super) const TERMINAL: &str = "terminal";
/// Precedes bytes to be typed. Two bytes with their number follow, and then the bytes.
pub(super) const TYPED: u8 = b'T';
pub(super) const INPUT_ENDS: u8 = b'E';

/// The command that starts this executable as a guard with these arguments.
pub(super) fn myself(words: &[&str]) -> Command {
    let mut command = Command::new(MYSELF);
    command.arg(INSIDE).args(words);
    command
}
