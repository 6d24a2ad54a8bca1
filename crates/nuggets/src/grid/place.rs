//! Places on the map, and the steps between them.

use core::fmt;
use serde::{Deserialize, Serialize};

/// A position in a grid, counted down and to the right from 0 at the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The row, counted from the top.
    pub row: u16,
    /// The column, counted from the left.
    pub col: u16,
}

impl Position {
    /// The position in this row and column.
    pub const fn new(row: u16, col: u16) -> Self {
        Self { row, col }
    }
}

/// Counted from 1, as in editors: `row 3, column 14`.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}, column {}", u32::from(self.row) + 1, u32::from(self.col) + 1)
    }
}

/// A gridpoint, as its offset in the text of its grid: `row * (columns + 1) + column`.
///
/// The offset is also valid for every picture, because a DISPLAY has the same newlines. It fits 16 bits because of the
/// size limit of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cell(pub u16);

impl Cell {
    /// An index into a grid's or a picture's text.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One of the eight steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `h`
    Left,
    /// `l`
    Right,
    /// `j`
    Down,
    /// `k`
    Up,
    /// `y`
    UpLeft,
    /// `u`
    UpRight,
    /// `b`
    DownLeft,
    /// `n`
    DownRight,
}

impl Direction {
    /// In the order of their keys in the requirements.
    pub const ALL: [Self; 8] =
        [Self::Left, Self::Right, Self::Down, Self::Up, Self::UpLeft, Self::UpRight, Self::DownLeft, Self::DownRight];

    /// The change of (row, column).
    pub const fn delta(self) -> (i32, i32) {
        // In the order of the variants.
        [(0, -1), (0, 1), (1, 0), (-1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)][self as usize]
    }

    /// The change of the offset into the text of a grid of `cols` columns.
    pub fn offset(self, cols: u16) -> i32 {
        let (rows, along) = self.delta();
        rows * (i32::from(cols) + 1) + along
    }

    /// The key of one step; its capital is the key of a run.
    pub const fn key(self) -> u8 {
        b"hljkyubn"[self as usize]
    }

    /// The step of a lowercase key, if there is one.
    pub fn from_key(key: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.key() == key)
    }
}
