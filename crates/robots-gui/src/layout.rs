//! Where things are in the window of a game.

use ratatui::layout::{Margin, Rect, Size};
use robots::GamePicture;

use crate::looks::FIRST_LONG_LABEL;

/// A lower window has no line for hints.
pub(crate) const HINTS_FROM: u16 = 6;
/// A narrower window has no score board.
const SCORES_FROM: u16 = 36;
/// The width of the score board beside a large board: this part of the window, within these bounds.
const SCORES_PART: u16 = 4;
const SCORES_LEAST: u16 = 20;
const SCORES_LARGE: u16 = 32;
/// The width of a score board without the numbers of the players, where a board fits only beside that.
const SCORES_NARROW: u16 = 17;
/// The greatest width of the score board where the board leaves room, and the gap before it.
const SCORES_MOST: u16 = 44;
const GAP: u16 = 1;
/// Sizes of a field in columns and rows, the best first: as square as characters allow, and no larger than is pleasant.
const FIELDS: [Size; 7] = [
    Size::new(12, 6),
    Size::new(10, 5),
    Size::new(8, 4),
    Size::new(6, 3),
    Size::new(4, 2),
    Size::new(3, 1),
    Size::new(2, 1),
];
/// A label of two characters leaves room for a bomb only in a field of at least so many columns.
const LONG_LABEL: u16 = 3;
/// Columns and rows of a frame.
const FRAME: u16 = 2;

/// The number of fields on the board.
pub(crate) const fn size(game: &GamePicture) -> Size {
    Size::new(game.size_x, game.size_y)
}

/// Where things are in a window, counted from its top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The board with its frame, if it has one.
    pub(crate) board: Rect,
    pub(crate) framed: bool,
    /// Columns and rows of a field.
    pub(crate) field: Size,
    pub(crate) scores: Option<Rect>,
    pub(crate) hints: Option<Rect>,
}

impl Layout {
    /// Fields are as large as the window allows, and the board with its scores stands in the middle.
    pub(crate) fn of(game: &GamePicture, window: Size) -> Self {
        let hints = (window.height >= HINTS_FROM).then(|| Rect::new(0, window.height - 1, window.width, 1));
        let height = window.height.saturating_sub(1 + u16::from(hints.is_some()));
        let with_scores = window.width >= SCORES_FROM && !game.players.is_empty();
        let long = game.players.keys().chain(game.player_positions.keys()).any(|&id| id >= FIRST_LONG_LABEL);
        let least = if long { LONG_LABEL } else { 0 };
        let largest = |room: u16| {
            FIELDS.into_iter().filter(|field| field.width >= least).find(|field| {
                u32::from(game.size_x) * u32::from(field.width) + u32::from(FRAME) <= u32::from(room)
                    && u32::from(game.size_y) * u32::from(field.height) + u32::from(FRAME) <= u32::from(height)
            })
        };
        let usual = (window.width / SCORES_PART).clamp(SCORES_LEAST, SCORES_LARGE);
        let beside = |scores: u16| window.width.saturating_sub(scores + GAP);
        // Seeing the whole board is worth more than the scores.
        let mut whole = largest(window.width).map(|field| (field, false));
        if with_scores {
            let field = largest(beside(usual)).or_else(|| largest(beside(SCORES_NARROW)));
            whole = field.map(|field| (field, true)).or(whole);
        }
        let (field, with_scores, across, down) = if let Some((field, scores)) = whole {
            (field, scores, game.size_x * field.width + FRAME, game.size_y * field.height + FRAME)
        } else {
            let room = if with_scores { beside(usual) } else { window.width };
            // A board that is too high may still fit across in wide fields.
            let wide = long || u32::from(game.size_x) * 3 + u32::from(FRAME) <= u32::from(room);
            let field = Size::new(if wide { 3 } else { 2 }, 1);
            (field, with_scores, game.size_x.min(room / field.width) * field.width, game.size_y.min(height))
        };
        let beside = window.width.saturating_sub(across + GAP).min(SCORES_MOST);
        let used = if with_scores { across + GAP + beside } else { across };
        let (x, y) = (window.width.saturating_sub(used) / 2, 1 + height.saturating_sub(down) / 2);
        // Level with the board, or higher if that leaves too little room for all players and the line above them.
        let lines = u16::try_from(game.players.len() + 1).unwrap_or(u16::MAX).min(height);
        let level = y.min(1 + height - lines);
        let scores = with_scores.then(|| Rect::new(x + across + GAP, level, beside, height + 1 - level));
        Self { board: Rect::new(x, y, across, down), framed: whole.is_some(), field, scores, hints }
    }

    /// The part of the board that fits, in fields.
    pub(crate) fn fields(self) -> Size {
        let inner = self.inner();
        Size::new(inner.width / self.field.width, inner.height / self.field.height)
    }

    /// The board without its frame.
    pub(crate) fn inner(self) -> Rect {
        if self.framed { self.board.inner(Margin::new(1, 1)) } else { self.board }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::game;

    #[test]
    fn fields_grow_with_the_window_and_the_board_is_in_the_middle() {
        let game = game(10, 10, &[("A", 0, 0)]);
        for (window, field, board) in [
            (Size::new(40, 14), Size::new(2, 1), Rect::new(0, 1, 22, 12)),
            (Size::new(38, 14), Size::new(3, 1), Rect::new(3, 1, 32, 12)),
            (Size::new(80, 24), Size::new(4, 2), Rect::new(0, 1, 42, 22)),
            (Size::new(120, 40), Size::new(6, 3), Rect::new(6, 4, 62, 32)),
            (Size::new(200, 60), Size::new(10, 5), Rect::new(26, 4, 102, 52)),
            (Size::new(300, 90), Size::new(12, 6), Rect::new(66, 14, 122, 62)),
        ] {
            let layout = Layout::of(&game, window);
            assert_eq!((layout.field, layout.board), (field, board), "{window}");
            assert_eq!(layout.fields(), Size::new(10, 10));
        }
    }

    #[test]
    fn nothing_is_outside_the_window() {
        for (x, y) in [(0, 0), (1, 1), (10, 10), (60, 3), (3, 60), (65_535, 65_535)] {
            let game = game(x, y, &[("A", 0, 0)]);
            for (width, height) in (12..210).step_by(7).flat_map(|width| (3..70).map(move |height| (width, height))) {
                let layout = Layout::of(&game, Size::new(width, height));
                let window = Rect::new(0, 0, width, height);
                for part in [Some(layout.board), layout.scores, layout.hints].into_iter().flatten() {
                    assert_eq!(part.intersection(window), part, "{x} {y} {width} {height}: {layout:?}");
                }
                assert!(layout.fields().width <= x && layout.fields().height <= y);
            }
        }
    }
}
