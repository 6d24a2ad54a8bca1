// Wrong usage, and ports in use.
mod arguments;
// The screen after each picture, and the datagram for each key.
mod screen;
mod support;
