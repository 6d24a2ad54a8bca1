// Without a terminal: wrong usage, ports that are taken.
mod arguments;
// In a terminal: the screen after each picture, and the datagram for each key.
mod screen;
mod support;
