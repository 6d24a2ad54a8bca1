//! Positions, cells and directions.

use core::fmt;
use serde::{Deserialize, Serialize};

/// A position in a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The row, counted from 0 at the top.
    pub row: u16,
    /// The column, counted from 0 at the left.
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

/// A cell, as its offset in the text of its grid: `row * (columns + 1) + column`.
///
/// Pictures have the same offsets. The size limit of a datagram keeps them within 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cell(pub u16);

impl Cell {
    /// The offset as an index into a text.
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
    /// All directions, in the order of their keys in the requirements.
    pub const ALL: [Self; 8] =
        [Self::Left, Self::Right, Self::Down, Self::Up, Self::UpLeft, Self::UpRight, Self::DownLeft, Self::DownRight];

    /// The change of (row, column).
    pub const fn delta(self) -> (i32, i32) {
        [(0, -1), (0, 1), (1, 0), (-1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)][self as usize]
    }

    /// The change of the offset into the text of a grid of `cols` columns.
    pub fn offset(self, cols: u16) -> i32 {
        let (rows, along) = self.delta();
        rows * (i32::from(cols) + 1) + along
    }

    /// The key of one step. Its capital is the key of a run.
    pub const fn key(self) -> u8 {
        b"hljkyubn"[self as usize]
    }

    /// The direction of a lowercase key.
    pub fn from_key(key: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.key() == key)
    }
}
