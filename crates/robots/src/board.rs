//! The board: its fields and blocks.
//!
//! Source: the task text of robots, "Board".

use alloc::collections::BTreeSet;
use serde::{Deserialize, Serialize};

/// A field. (0, 0) is the lower left corner; x grows to the right, y upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The column.
    pub x: u16,
    /// The row.
    pub y: u16,
}

impl Position {
    /// The field in column `x` and row `y`.
    pub const fn new(x: u16, y: u16) -> Self {
        Self { x, y }
    }

    /// The field `distance` away in direction `way`, possibly off the board; `None` on overflow.
    pub fn offset(self, way: Direction, distance: u16) -> Option<Self> {
        let Self { x, y } = self;
        Some(match way {
            Direction::Up => Self { x, y: y.checked_add(distance)? },
            Direction::Right => Self { x: x.checked_add(distance)?, y },
            Direction::Down => Self { x, y: y.checked_sub(distance)? },
            Direction::Left => Self { x: x.checked_sub(distance)?, y },
        })
    }
}

/// A direction of movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Direction {
    /// y + 1.
    Up,
    /// x + 1.
    Right,
    /// y - 1.
    Down,
    /// x - 1.
    Left,
}

impl Direction {
    /// Clockwise from the top, in the order of their numbers on the wire.
    pub const ALL: [Self; 4] = [Self::Up, Self::Right, Self::Down, Self::Left];
}

/// A board and its blocks. Its memory grows with the blocks, not the fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    size_x: u16,
    size_y: u16,
    // The blocks by column and by row, to find the next one in any direction. Keys are (x, y) and (y, x), packed into
    // one number.
    columns: BTreeSet<u32>,
    rows: BTreeSet<u32>,
}

const fn key(major: u16, minor: u16) -> u32 {
    (major as u32) << 16 | minor as u32
}

impl Board {
    /// A board without blocks.
    pub const fn new(size_x: u16, size_y: u16) -> Self {
        Self { size_x, size_y, columns: BTreeSet::new(), rows: BTreeSet::new() }
    }

    /// The number of columns.
    pub const fn size_x(&self) -> u16 {
        self.size_x
    }

    /// The number of rows.
    pub const fn size_y(&self) -> u16 {
        self.size_y
    }

    /// Whether the field is on the board.
    pub const fn contains(&self, position: Position) -> bool {
        position.x < self.size_x && position.y < self.size_y
    }

    /// The neighbouring field; `None` beyond the edge.
    pub fn step(&self, from: Position, way: Direction) -> Option<Position> {
        from.offset(way, 1).filter(|&to| self.contains(to))
    }

    /// Whether the field has a block.
    pub fn is_block(&self, position: Position) -> bool {
        self.columns.contains(&key(position.x, position.y))
    }

    /// Adds a block. Returns `false` if there is one or the field is off the board.
    pub fn put_block(&mut self, position: Position) -> bool {
        self.contains(position)
            && self.columns.insert(key(position.x, position.y))
            && self.rows.insert(key(position.y, position.x))
    }

    /// Removes a block. Returns `false` if there is none.
    pub fn remove_block(&mut self, position: Position) -> bool {
        self.columns.remove(&key(position.x, position.y)) && self.rows.remove(&key(position.y, position.x))
    }

    /// All blocks, column by column from the left, each from bottom to top.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = Position> {
        #[allow(clippy::cast_possible_truncation, reason = "each half has 16 bits")]
        self.columns.iter().map(|&key| Position { x: (key >> 16) as u16, y: key as u16 })
    }

    pub(crate) const fn to_edge(&self, from: Position, way: Direction) -> u16 {
        match way {
            Direction::Up => self.size_y.saturating_sub(1).saturating_sub(from.y),
            Direction::Right => self.size_x.saturating_sub(1).saturating_sub(from.x),
            Direction::Down => from.y,
            Direction::Left => from.x,
        }
    }

    /// The distance to the next block, up to `reach`.
    pub(crate) fn to_block(&self, from: Position, way: Direction, reach: u16) -> Option<u16> {
        if reach == 0 {
            return None;
        }
        let Position { x, y } = from;
        let (index, at) = match way {
            Direction::Up | Direction::Down => (&self.columns, key(x, y)),
            Direction::Right | Direction::Left => (&self.rows, key(y, x)),
        };
        // The range ends within the column or row.
        #[allow(clippy::cast_possible_truncation, reason = "the lower half of a key has 16 bits")]
        let minor = at as u16;
        let distance = match way {
            Direction::Up | Direction::Right => {
                let room = reach.min(u16::MAX - minor);
                if room == 0 {
                    return None;
                }
                index.range(at + 1..=at + u32::from(room)).next()? - at
            }
            Direction::Down | Direction::Left => at - index.range(at - u32::from(reach.min(minor))..at).next_back()?,
        };
        u16::try_from(distance).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_match_the_task_text() {
        let from = Position::new(5, 7);
        let to = Direction::ALL.map(|way| from.offset(way, 1).unwrap());
        assert_eq!(to, [Position::new(5, 8), Position::new(6, 7), Position::new(5, 6), Position::new(4, 7)]);
        assert_eq!(Position::new(0, 65_535).offset(Direction::Up, 1), None);
        assert_eq!(Position::new(0, 65_535).offset(Direction::Left, 1), None);
    }

    #[test]
    fn a_field_holds_one_block_at_most() {
        let mut board = Board::new(65_535, 65_535);
        let corner = Position::new(65_534, 65_534);
        assert!(board.put_block(corner) && !board.put_block(corner) && board.is_block(corner));
        assert!(!board.put_block(Position::new(65_535, 0)), "there is no such field");
        assert!(board.remove_block(corner) && !board.remove_block(corner) && !board.is_block(corner));
        assert_eq!(board, Board::new(65_535, 65_535));
    }

    #[test]
    fn the_corners_of_the_largest_board_are_searched_without_overflow() {
        let mut board = Board::new(65_535, 65_535);
        let (low, high) = (Position::new(0, 0), Position::new(65_534, 65_534));
        assert!(board.put_block(Position::new(0, 65_534)) && board.put_block(Position::new(65_534, 0)));
        for (from, way) in
            [(low, Direction::Up), (low, Direction::Right), (high, Direction::Down), (high, Direction::Left)]
        {
            assert_eq!(board.to_block(from, way, 65_535), Some(65_534));
            assert_eq!(board.to_block(from, way, 65_533), None);
            assert_eq!(board.to_edge(from, way), 65_534);
        }
        // Positions from a peer may be off the board.
        let beyond = Position::new(65_535, 65_535);
        for way in Direction::ALL {
            assert_eq!(board.to_block(beyond, way, 65_535), None);
        }
        assert_eq!(board.to_edge(beyond, Direction::Up), 0);
    }
}
