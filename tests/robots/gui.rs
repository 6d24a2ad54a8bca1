//! The GUI as a process of its own, against a client that sends what a test wants it to send.

// Without a terminal: wrong usage, ports that are taken.
mod arguments;
// In a terminal: what is on the screen after which pictures, and what is sent after which keys.
mod screen;
mod support;
