//! The generator of the protocol.

use robots::{Board, MinStd, Position};

/// The generator of the protocol. Its state is the number drawn last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws(pub(super) u32);

impl Draws {
    /// The next number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: u16) -> u16 {
        self.0 = MinStd::new(self.0).draw();
        u16::try_from(self.0 % u32::from(bound.max(1))).unwrap_or(0)
    }

    /// A field of a board: first its x, then its y.
    pub(super) fn field(&mut self, board: &Board) -> Position {
        let x = self.below(board.size_x());
        Position { x, y: self.below(board.size_y()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_draws_the_published_numbers() {
        let mut draws = Draws(1234);
        let numbers: Vec<_> = (0..6)
            .map(|_| {
                draws.below(1);
                draws.0
            })
            .collect();
        assert_eq!(numbers, [59_566_414, 1_997_250_508, 148_423_250, 533_254_358, 982_122_076, 165_739_424]);
    }
}
