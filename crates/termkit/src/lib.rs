//! What the terminal programs share.
//!
//! - [`Screen`] takes the terminal over and gives it back on every way out, a panic included.
//! - [`events::listen`] hands key presses ([`Key`]), what the mouse does ([`Mouse`]) and changes of the window's size to whatever channel a program
//!   uses, and says when the terminal is gone.
//! - `stops::listen` tells of the signal that stops a program, so that the terminal is given back before it stops.
//! - With the feature `tokio`, `Stage` is all of that for an async program: screen, keys and signals, at most sixty frames
//!   a second.
//! - [`GridView`] draws a grid of characters of which a [`Camera`] shows the part around a focus.
//! - [`Ranking`] is the result of a game, [`StatusLine`], [`Overlay`] and [`TooSmall`] are the other widgets.
//! - [`Palette`] decides about colours: `NO_COLOR` is obeyed, and modifiers tell the same without them. [`Depth`] says how
//!   many colours a terminal has.
//!
//! Widgets are drawn by reference and change nothing, so a test draws them into a buffer and compares lines:
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
#[cfg(any(target_os = "linux", test))]
mod decode;
pub mod events;
mod grid;
#[cfg(feature = "tokio")]
mod inputs;
mod keys;
mod mouse;
mod overlay;
mod palette;
mod ranking;
mod screen;
#[cfg(feature = "tokio")]
mod signals;
#[cfg(feature = "tokio")]
mod stage;
mod status;
#[cfg(unix)]
pub mod stops;

pub use camera::Camera;
pub use events::Event;
pub use grid::GridView;
pub use keys::{Key, Pad};
pub use mouse::{Gesture, Mouse};
pub use overlay::{Overlay, TooSmall, wrap};
pub use palette::{Depth, Palette};
pub use ranking::{Rank, Ranking, fit};
pub use screen::{Keyboard, Screen};
#[cfg(feature = "tokio")]
pub use signals::{Signal, Signals};
#[cfg(feature = "tokio")]
pub use stage::{Source, Stage, StageEvent};
pub use status::StatusLine;
