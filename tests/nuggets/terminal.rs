// In a terminal that is not the program's controlling terminal.
#[cfg(target_os = "linux")]
mod foreign;
// Keys from a pipe, final output to a pipe, bots, wrong usage.
mod pipes;
// The screen after a game, and its keys.
mod results;
// The screen during a game, and the restored terminal.
mod screen;
pub(super) mod support;
