//! Shared parts of the terminal programs.
//!
//! [`Screen`] takes control of the terminal, and [`events::listen`] delivers its events. With the feature `tokio`,
//! `Stage` combines both with signals for an async program, at up to sixty frames per second.
//!
//! Widgets are drawn by reference and have no state, so a test can draw them into a buffer and compare lines:
//!
//! ```
//! use ratatui::{buffer::Buffer, layout::{Rect, Size}, style::Style, widgets::Widget};
//! use termkit::{GridView, Camera};
//!
//! let map = ["abcde", "fghij", "klmno"];
//! let cell = |x: u16, y: u16| [(map[usize::from(y)].as_bytes()[usize::from(x)], Style::new())];
//! let (grid, window) = (Size::new(5, 3), Size::new(3, 2));
//! let mut camera = Camera::default();
//! camera.follow(grid, window, Some((4, 2).into()));
//!
//! let mut buffer = Buffer::empty(Rect::new(0, 0, 3, 2));
//! GridView::new(grid, camera, cell).render(buffer.area, &mut buffer);
//! assert_eq!(buffer, Buffer::with_lines(["hij", "mno"]));
//! ```

#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

#[cfg(any(all(unix, not(target_vendor = "apple")), test))]
mod decode;
pub mod events;
mod frame;
mod grid;
mod keys;
mod overlay;
mod palette;
mod printable;
mod ranking;
mod screen;
#[cfg(feature = "tokio")]
mod signals;
#[cfg(feature = "tokio")]
mod stage;
#[cfg(unix)]
pub mod stops;

pub use crate::{
    frame::{Footer, Header, Title, Tone},
    grid::{Camera, GridView},
    keys::{Event, Gesture, Key, Mouse, Pad},
    overlay::{Overlay, RETURN, StatusLine, TooSmall},
    palette::{Depth, PLAYERS, Palette, Shade},
    printable::{printable, wrap},
    ranking::{Rank, Ranking, fit},
    screen::{Keyboard, Screen},
};

#[cfg(feature = "tokio")]
pub use crate::{
    signals::{Signal, Signals},
    stage::{Source, Stage, StageEvent},
};
