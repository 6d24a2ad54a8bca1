//! What a terminal tells a program.

use crate::Key;

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

/// A mouse event at a cell of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    /// What the mouse did.
    pub gesture: Gesture,
    /// The column, counted from 0 at the left.
    pub column: u16,
    /// The row, counted from 0 at the top.
    pub row: u16,
}

/// The kind of a mouse event. Other buttons, movements and releases are not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// The left button is pressed.
    Press,
    /// The wheel is turned away from the user.
    WheelUp,
    /// The wheel is turned towards the user.
    WheelDown,
}
