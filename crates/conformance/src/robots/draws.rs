use robots::{Action, Board, Direction, MinStd, Position};

/// The generator of the protocol. Its state is the last drawn number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws(pub(super) u32);

impl Draws {
    /// `bound` is not 0.
    pub(super) fn below(&mut self, bound: u16) -> u16 {
        self.0 = MinStd::new(self.0).draw();
        u16::try_from(self.0 % u32::from(bound.max(1))).unwrap_or(0)
    }

    /// Draws x before y.
    pub(super) fn field(&mut self, board: &Board) -> Position {
        let x = self.below(board.size_x());
        Position { x, y: self.below(board.size_y()) }
    }

    /// Mostly bombs, with enough other actions that they hit something.
    pub(super) fn action(&mut self) -> Option<Action> {
        match self.below(20) {
            0..=7 => Some(Action::PlaceBomb),
            8..=10 => Some(Action::PlaceBlock),
            11..=18 => Some(Action::Move(Direction::ALL[usize::from(self.below(4))])),
            _ => None,
        }
    }
}
