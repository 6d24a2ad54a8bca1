//! Explosions: the fields that a bomb covers.
//!
//! Source: the task text of robots, "Explosions".

use alloc::vec::Vec;

use crate::board::{Board, Direction, Position};

/// The cross of fields that one bomb covers: its own and four arms.
///
/// An arm ends after `explosion_radius` fields, at the board's edge, or with the first block, which it covers. If the
/// bomb's own field has a block, there are no arms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blast {
    center: Position,
    // The arm lengths in the order of `Direction::ALL`, without the bomb's own field.
    arms: [u16; 4],
    blocks: [Option<Position>; 4],
}

impl Blast {
    /// The blast of a bomb at `center`, which must be on the board.
    pub fn new(board: &Board, center: Position, radius: u16) -> Self {
        if board.is_block(center) {
            return Self { center, arms: [0; 4], blocks: [Some(center), None, None, None] };
        }
        let (mut arms, mut blocks) = ([0; 4], [None; 4]);
        for ((arm, block), way) in arms.iter_mut().zip(&mut blocks).zip(Direction::ALL) {
            let reach = radius.min(board.to_edge(center, way));
            let distance = board.to_block(center, way, reach);
            *arm = distance.unwrap_or(reach);
            *block = distance.and_then(|distance| center.offset(way, distance));
        }
        Self { center, arms, blocks }
    }

    /// Whether the blast covers a field and destroys a robot there.
    pub const fn contains(&self, position: Position) -> bool {
        let Position { x, y } = position;
        let (dx, dy) = (x.abs_diff(self.center.x), y.abs_diff(self.center.y));
        let [up, right, down, left] = self.arms;
        if dx == 0 {
            dy <= if y > self.center.y { up } else { down }
        } else {
            dy == 0 && dx <= if x > self.center.x { right } else { left }
        }
    }

    /// The destroyed blocks, at most four.
    pub fn blocks(&self) -> impl Iterator<Item = Position> {
        self.blocks.into_iter().flatten()
    }

    /// All covered fields, each once: the bomb's own, then arm by arm.
    pub fn cells(&self) -> impl Iterator<Item = Position> {
        let Self { center, arms, .. } = *self;
        let arm = move |(way, length)| (1..=length).filter_map(move |distance| center.offset(way, distance));
        core::iter::once(center).chain(Direction::ALL.into_iter().zip(arms).flat_map(arm))
    }

    const fn column(&self) -> Segment {
        let Position { x, y } = self.center;
        Segment { index: x, first: y - self.arms[2], last: y + self.arms[0] }
    }

    const fn row(&self) -> Segment {
        let Position { x, y } = self.center;
        Segment { index: y, first: x - self.arms[3], last: x + self.arms[1] }
    }
}

/// All fields covered by any of `blasts`, each once, in ascending order; `None` if they are more than `most`.
///
/// The work depends on the number of blasts and on `most`, not on the covered fields.
pub fn covered<'a>(blasts: impl IntoIterator<Item = &'a Blast>, most: usize) -> Option<Vec<Position>> {
    let (mut columns, mut rows): (Vec<Segment>, Vec<Segment>) =
        blasts.into_iter().map(|blast| (blast.column(), blast.row())).unzip();
    // Joined lines of one kind do not overlap, so their length is a lower bound.
    let columns_length = join(&mut columns);
    let rows_length = join(&mut rows);
    if columns_length.max(rows_length) > most {
        return None;
    }
    let mut cells = Vec::with_capacity(columns_length + rows_length);
    cells.extend(columns.iter().flat_map(|line| line.span().map(|y| Position::new(line.index, y))));
    cells.extend(rows.iter().flat_map(|line| line.span().map(|x| Position::new(x, line.index))));
    cells.sort_unstable();
    cells.dedup();
    (cells.len() <= most).then_some(cells)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Segment {
    index: u16,
    first: u16,
    last: u16,
}

impl Segment {
    fn span(self) -> impl Iterator<Item = u16> {
        self.first..=self.last
    }
}

// Returns the number of covered fields.
fn join(lines: &mut Vec<Segment>) -> usize {
    lines.sort_unstable();
    lines.dedup_by(|next, line| {
        let overlap = next.index == line.index && next.first <= line.last;
        if overlap {
            line.last = line.last.max(next.last);
        }
        overlap
    });
    lines.iter().map(|line| usize::from(line.last - line.first) + 1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, vec};

    #[test]
    fn huge_radius_covers_the_row_and_the_column() {
        let board = Board::new(65_535, 65_535);
        for (x, y) in [(0, 0), (65_534, 65_534), (3, 65_000)] {
            let blast = Blast::new(&board, Position::new(x, y), 65_535);
            assert_eq!(blast.cells().count(), 2 * 65_535 - 1);
            assert!(blast.contains(Position::new(x, 65_534)) && blast.contains(Position::new(0, y)));
            assert!(!blast.contains(Position::new(x ^ 1, y ^ 1)));
        }
    }

    #[test]
    fn covered_fields_are_the_union_of_all_blasts() {
        let mut board = Board::new(12, 12);
        for at in 0..20_u16 {
            board.put_block(Position::new(at * 5 % 12, at * 7 % 12));
        }
        let blasts: Vec<_> =
            (0..30_u16).map(|at| Blast::new(&board, Position::new(at * 3 % 12, at % 11), at % 5)).collect();
        for count in 0..blasts.len() {
            let slow: BTreeSet<_> = blasts[..count].iter().flat_map(Blast::cells).collect();
            assert_eq!(covered(&blasts[..count], slow.len()), Some(slow.iter().copied().collect()));
            if !slow.is_empty() {
                assert_eq!(covered(&blasts[..count], slow.len() - 1), None);
            }
        }
    }

    #[test]
    fn huge_length_is_detected_without_iteration() {
        let board = Board::new(65_535, 65_535);
        let diagonal: Vec<_> = (0..60_000).map(|at| Blast::new(&board, Position::new(at, at), 65_535)).collect();
        assert_eq!(covered(&diagonal, 16_000), None);
        let row = Board::new(16_000, 1);
        let all: Vec<_> = (0..16_000).map(|x| Blast::new(&row, Position::new(x, 0), 65_535)).collect();
        assert_eq!(covered(&all, 16_000).map(|cells| cells.len()), Some(16_000));
        assert_eq!(covered(&[], 0), Some(vec![]));
    }
}
