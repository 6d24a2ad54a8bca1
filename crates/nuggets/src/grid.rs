//! The map and its topology.

use alloc::{boxed::Box, collections::VecDeque, string::String, vec, vec::Vec};
use core::{fmt, iter, mem};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::protocol::{DISPLAY_HEADER, MAX_DATAGRAM};

/// Solid rock or an unknown cell: impassable and opaque.
pub const ROCK: u8 = b' ';
pub(crate) const HORIZONTAL: u8 = b'-';
pub(crate) const VERTICAL: u8 = b'|';
/// A corner of a room: impassable and opaque.
pub const CORNER: u8 = b'+';
/// A room spot: passable and transparent; may hold gold.
pub const ROOM: u8 = b'.';
/// A passage spot: passable and opaque; holds no gold.
pub const PASSAGE: u8 = b'#';

/// A map: `rows` rows of exactly `cols` map characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    rows: u16,
    cols: u16,
    text: Box<[u8]>,
    room_spots: Box<[Cell]>,
}

/// Why a text is not a playable map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ParseGridError {
    /// All lines are empty.
    #[error("the map is empty")]
    Empty,
    /// A character that is not a map character.
    #[error("{at}: '{}' is not a map character; expected ' ' '-' '|' '+' '.' '#'", .byte.escape_ascii())]
    Foreign {
        /// Its position.
        at: Position,
        /// The character.
        byte: u8,
    },
    /// A DISPLAY of the map does not fit one datagram.
    #[error(
        "the map is too large: {rows} rows of {cols} columns make a DISPLAY of {} bytes, at most {MAX_DATAGRAM} fit a datagram",
        display_bytes(*.rows, *.cols)
    )]
    TooLarge {
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
    },
    /// No room spot.
    #[error("the map has no room spot ('.'), so neither gold nor players have a place")]
    NoRoomSpot,
}

/// A repair of a map's text by [`Grid::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Repair {
    /// Carriage returns were dropped.
    #[error("{count} carriage returns were dropped; the first is in row {}", .first_row + 1)]
    CarriageReturns {
        /// Their number.
        count: usize,
        /// The row of the first, counted from 0.
        first_row: usize,
    },
    /// A short row was padded with rock.
    #[error("row {} is {cols} columns wide, expected {expected}; it was filled up with spaces", .row + 1)]
    Ragged {
        /// The row, counted from 0.
        row: usize,
        /// Its width.
        cols: usize,
        /// That of the widest row.
        expected: usize,
    },
    /// The last row had no newline.
    #[error("row {}, the last one, does not end in a newline", .row + 1)]
    NoLastNewline {
        /// The row, counted from 0.
        row: usize,
    },
}

const fn display_bytes(rows: usize, cols: usize) -> usize {
    rows.saturating_mul(cols.saturating_add(1)).saturating_add(DISPLAY_HEADER.len())
}

/// The limit for reading a map file, in bytes: more than any valid map has, even with carriage returns.
pub const MAX_MAP_FILE: usize = 2 * MAX_DATAGRAM;

impl Grid {
    /// Parses a map, and repairs short rows, carriage returns and a missing last newline.
    ///
    /// # Errors
    /// [`ParseGridError`] if the text is not a playable map. A playable map may still break rules: see
    /// [`check_map`](crate::check_map).
    pub fn parse(text: &[u8]) -> Result<(Self, Vec<Repair>), ParseGridError> {
        let mut repairs = vec![];
        let clean: Vec<u8> = text.iter().copied().filter(|&byte| byte != b'\r').collect();
        if let Some(first) = text.iter().position(|&byte| byte == b'\r') {
            let first_row = text[..first].split(|&byte| byte == b'\n').count() - 1;
            repairs.push(Repair::CarriageReturns { count: text.len() - clean.len(), first_row });
        }
        let body = clean.strip_suffix(b"\n").unwrap_or(&clean);
        let lines: Vec<&[u8]> = body.split(|&byte| byte == b'\n').collect();
        let cols = lines.iter().map(|line| line.len()).max().unwrap_or(0);
        let rows = lines.len();
        if cols == 0 {
            return Err(ParseGridError::Empty);
        }
        for (row, line) in lines.iter().enumerate() {
            if let Some(col) = line.iter().position(|byte| !b" -|+.#".contains(byte)) {
                let clamp = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
                return Err(ParseGridError::Foreign { at: Position::new(clamp(row), clamp(col)), byte: line[col] });
            }
        }
        let size = u16::try_from(rows).ok().zip(u16::try_from(cols).ok());
        let Some((rows16, cols16)) = size.filter(|_| display_bytes(rows, cols) <= MAX_DATAGRAM) else {
            return Err(ParseGridError::TooLarge { rows, cols });
        };
        let mut grid = Vec::with_capacity(rows * (cols + 1));
        for (row, line) in lines.iter().enumerate() {
            if line.len() < cols {
                repairs.push(Repair::Ragged { row, cols: line.len(), expected: cols });
            }
            grid.extend_from_slice(line);
            grid.resize(grid.len() + cols - line.len(), ROCK);
            grid.push(b'\n');
        }
        if body.len() == clean.len() {
            repairs.push(Repair::NoLastNewline { row: rows - 1 });
        }
        let room_spots: Box<[Cell]> =
            grid.iter().zip(0..).filter(|&(&byte, _)| byte == ROOM).map(|(_, offset)| Cell(offset)).collect();
        if room_spots.is_empty() {
            return Err(ParseGridError::NoRoomSpot);
        }
        Ok((Self { rows: rows16, cols: cols16, text: grid.into(), room_spots }, repairs))
    }

    /// Number of rows.
    pub const fn rows(&self) -> u16 {
        self.rows
    }

    /// Number of columns.
    pub const fn cols(&self) -> u16 {
        self.cols
    }

    /// The rows, each followed by a newline: `rows * (cols + 1)` bytes.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// All room spots, row by row.
    pub fn room_spots(&self) -> &[Cell] {
        &self.room_spots
    }

    /// The character at `cell`: a newline between two rows, [`ROCK`] beyond the text.
    pub fn at(&self, cell: Cell) -> u8 {
        self.text.get(cell.index()).copied().unwrap_or(ROCK)
    }

    /// The cell at `position`, if it is in the grid.
    pub fn cell(&self, position: Position) -> Option<Cell> {
        (position.row < self.rows && position.col < self.cols)
            .then(|| Cell(position.row * (self.cols + 1) + position.col))
    }

    /// The position of `cell`.
    pub const fn position(&self, cell: Cell) -> Position {
        Position::new(cell.0 / (self.cols + 1), cell.0 % (self.cols + 1))
    }

    /// The target of a step, if it is a room or passage spot. The two cells beside a diagonal step do not matter.
    pub fn step(&self, from: Cell, direction: Direction) -> Option<Cell> {
        // A step over the left or right edge lands on a newline, which is not a spot.
        let cell = Cell(u16::try_from(i32::from(from.0) + direction.offset(self.cols)).ok()?);
        matches!(*self.text.get(cell.index())?, ROOM | PASSAGE).then_some(cell)
    }

    /// The spots reachable from `from`, itself included, in order of distance. Skips cells marked in `met`, and marks
    /// those found.
    pub(crate) fn reach(&self, from: Cell, met: &mut [bool]) -> impl Iterator<Item = Cell> {
        met[from.index()] = true;
        let mut queue = VecDeque::from([from]);
        iter::from_fn(move || {
            let cell = queue.pop_front()?;
            for next in Direction::ALL.into_iter().filter_map(|way| self.step(cell, way)) {
                if !mem::replace(&mut met[next.index()], true) {
                    queue.push_back(next);
                }
            }
            Some(cell)
        })
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text))
    }
}

// Positions, cells and directions.

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
