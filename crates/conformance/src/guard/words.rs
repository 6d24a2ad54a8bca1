//! What the tester and a guard say to each other, and how a guard is started.

use std::process::Command;

/// The first argument of a guard.
pub(super) const INSIDE: &str = "--inside";
/// This executable, also when the file was replaced.
pub(super) const MYSELF: &str = "/proc/self/exe";
/// What a process is asked that tries whether it can leave the network.
pub(super) const NETWORK: &str = "network";
/// What a process is asked that shows by its end that one can be started.
pub(super) const NOTHING: &str = "nothing";
/// The third argument of a guard of a program at a terminal.
pub(super) const TERMINAL: &str = "terminal";
/// Begins bytes to be typed: two bytes with their number follow, and then they.
pub(super) const TYPED: u8 = b'T';
pub(super) const INPUT_ENDS: u8 = b'E';

/// This executable as a guard with these arguments.
pub(super) fn myself(words: &[&str]) -> Command {
    let mut command = Command::new(MYSELF);
    command.arg(INSIDE).args(words);
    command
}
