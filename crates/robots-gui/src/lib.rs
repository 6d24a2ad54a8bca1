//! The GUI of robots in a terminal, as a library so that a client can run it in the same program.
//!
//! The GUI stores no game state: a client sends whole pictures as datagrams ([`robots::DrawMessage`]), and the GUI
//! sends keys back ([`robots::InputMessage`]).
//!
//! - [`View`] draws a picture into a buffer, without sockets or clocks.
//! - [`Window`] combines the terminal, the sockets and the main loop.
//!
//! ```
//! use netcore::Time;
//! use ratatui::{buffer::Buffer, layout::Rect, widgets::Widget};
//! use robots::DrawMessage;
//! use robots_gui::{Contact, Follow, View};
//! use termkit::Palette;
//!
//! // A game on a board of 2 x 3: robot 0 at (1, 2), a block at (0, 0), a bomb at (1, 1).
//! let datagram = b"\x01\x01s\0\x02\0\x03\0\x04\0\x01\0\0\0\x01\0\x01a\x01b\0\0\0\x01\0\0\x01\0\x02\
//!                  \0\0\0\x01\0\0\0\0\0\0\0\x01\0\x01\0\x01\0\x06\0\0\0\0\0\0\0\x01\0\0\0\0\0";
//! let picture: DrawMessage = netcore::wire::read_datagram(datagram, robots::protocol::MAX_PICTURE_ITEMS)?;
//! let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 5));
//! let mut view = View::new(Palette::MONO, Follow::Nobody);
//! view.show(Time::ZERO, picture);
//! view.prepare(Time::ZERO, buffer.area.as_size());
//! view.picture(&Contact::default()).render(buffer.area, &mut buffer);
//! let rows: Vec<String> = buffer.content.chunks(12).map(|row| row.iter().map(|cell| cell.symbol()).collect()).collect();
//! assert_eq!(rows, ["1/4  s      ", "    . A     ", "    .  6    ", "    ██.     ", "            "]);
//! # Ok::<(), netcore::DecodeError>(())
//! ```

mod footer;
mod keys;
mod lobby;
mod picture;
mod results;
mod roster;
mod scene;
mod sender;
mod story;
#[cfg(test)]
mod testing;
mod view;
mod window;

pub use crate::sender::{Contact, Server};
pub use picture::Picture;
pub use view::{Follow, UserRole, View};
pub use window::{ClosedWindow, Window};
