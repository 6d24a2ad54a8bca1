//! The parts that the terminal programs share.
//!
//! - [`Screen`] takes control of the terminal and restores it on every way out, panics included.
//! - [`events::listen`] delivers key presses ([`Key`]), mouse events ([`Mouse`]), resizes and the hang-up of the terminal through
//!   any kind of channel.
//! - `stops::listen` reports the signal that stops a program, so that the terminal is restored before it stops.
//! - With the feature `tokio`, `Stage` combines all of these for an async program, at up to sixty frames per second.
//! - [`GridView`] draws the part of a grid of characters that a [`Camera`] shows around a focus.
//! - [`Ranking`] shows the result of a game; [`StatusLine`], [`Overlay`] and [`TooSmall`] are the other widgets.
//! - [`printable`] escapes what a name or another text from a peer must not do on a terminal.
//! - [`Palette`] decides about colours: it obeys `NO_COLOR`, and modifiers carry the same information. [`Depth`] is the number
//!   of colours of a terminal.
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

mod camera;
#[cfg(any(all(unix, not(target_vendor = "apple")), test))]
mod decode;
mod event;
pub mod events;
mod grid;
#[cfg(feature = "tokio")]
mod inputs;
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
mod status;
#[cfg(unix)]
pub mod stops;
mod wrap;

pub use camera::Camera;
pub use event::{Event, Gesture, Mouse};
pub use grid::GridView;
pub use keys::{Key, Pad};
pub use overlay::{Overlay, TooSmall};
pub use palette::{Depth, Palette};
pub use printable::printable;
pub use ranking::{Rank, Ranking, fit};
pub use screen::{Keyboard, Screen};
#[cfg(feature = "tokio")]
pub use signals::{Signal, Signals};
#[cfg(feature = "tokio")]
pub use stage::{Source, Stage, StageEvent};
pub use status::StatusLine;
pub use wrap::wrap;
