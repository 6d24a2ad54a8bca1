//! What the mouse does, where a program asks for it.

/// Something done with the mouse at a cell of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    /// What was done.
    pub gesture: Gesture,
    /// The column, counted from 0 at the left.
    pub column: u16,
    /// The row, counted from 0 at the top.
    pub row: u16,
}

/// What is done with a mouse. Other buttons, moves and releases are not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// The left button is pressed.
    Press,
    /// The wheel is turned away from the user.
    WheelUp,
    /// The wheel is turned towards the user.
    WheelDown,
}
