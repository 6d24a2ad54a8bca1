//! What a terminal tells a program.

use crate::{Key, Mouse};

/// An event of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A key was pressed.
    Key(Key),
    /// A mouse event; only if the screen was entered with [`crate::Keyboard::KeysAndMouse`].
    Mouse(Mouse),
    /// The window was resized.
    Resized,
    /// The terminal has hung up; this is the last event.
    Gone,
}
