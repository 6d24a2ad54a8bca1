// In a terminal that is not the program's controlling terminal.
#[cfg(target_os = "linux")]
mod foreign;
// Without a terminal: keys from a pipe, final output to a pipe, bots, wrong usage.
mod pipes;
// In a terminal: the screen after a game, and its keys.
mod results;
// In a terminal: the screen during a game, and the restored terminal.
mod screen;
pub(super) mod support;
