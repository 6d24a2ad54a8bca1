//! The client as a process of its own, against a server that says what a test wants it to say.

// In a terminal that does not control the program.
#[cfg(target_os = "linux")]
mod foreign;
// Without a terminal: keys from a pipe, last words to a pipe, bots, wrong usage.
mod pipes;
// In a terminal: what is shown when a game is over, and what can be done then.
mod results;
// In a terminal: what is on the screen after which keys, and that the terminal is given back.
mod screen;
mod support;
