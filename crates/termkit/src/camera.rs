//! The part of a grid that a window shows.

use ratatui::layout::{Position, Size};

/// The distance from an edge of the window at which the camera moves, if the grid continues beyond that edge.
const MARGIN: u16 = 6;

/// Selects the visible part of a grid in a window that may be smaller than the grid.
///
/// The focus is always visible. The camera moves only when the focus comes near an edge, and then by about half a window, so
/// that the picture does not shift with every step. It shows nothing outside the grid unless the grid is smaller than the
/// window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Camera {
    corner: Position,
}

impl Camera {
    /// The cell of the grid at the top left of the window.
    pub const fn corner(self) -> Position {
        self.corner
    }

    /// Moves, if necessary, until `focus` is visible. Without a focus it only stays within the grid.
    pub fn follow(&mut self, grid: Size, window: Size, focus: Option<Position>) {
        let (x, y) = (focus.map(|focus| focus.x), focus.map(|focus| focus.y));
        self.corner.x = follow(self.corner.x, grid.width, window.width, x);
        self.corner.y = follow(self.corner.y, grid.height, window.height, y);
    }

    /// Moves by this number of columns and rows, up to the edges of the grid.
    pub fn scroll(&mut self, grid: Size, window: Size, columns: i32, rows: i32) {
        self.corner.x = scroll(self.corner.x, grid.width, window.width, columns);
        self.corner.y = scroll(self.corner.y, grid.height, window.height, rows);
    }

    /// Marks for the sides on which the grid continues beyond the window: some of `<`, `>`, `^` and `v`.
    pub fn marks(self, grid: Size, window: Size) -> String {
        let beyond = |corner: u16, grid: u16, window: u16| u32::from(corner) + u32::from(window) < u32::from(grid);
        let sides = [
            ('<', self.corner.x > 0),
            ('>', beyond(self.corner.x, grid.width, window.width)),
            ('^', self.corner.y > 0),
            ('v', beyond(self.corner.y, grid.height, window.height)),
        ];
        sides.into_iter().filter(|&(_, more)| more).map(|(mark, _)| mark).collect()
    }
}

fn follow(corner: u16, grid: u16, window: u16, focus: Option<u16>) -> u16 {
    let last = grid.saturating_sub(window);
    let corner = corner.min(last);
    let Some(focus) = focus else { return corner };
    let margin = MARGIN.min(window / 4);
    let after_start = focus >= if corner == 0 { 0 } else { corner.saturating_add(margin) };
    let beyond_end = corner.saturating_add(if corner == last { window } else { window - margin });
    if after_start && focus < beyond_end { corner } else { focus.saturating_sub(window / 2).min(last) }
}

fn scroll(corner: u16, grid: u16, window: u16, by: i32) -> u16 {
    let last = grid.saturating_sub(window);
    u16::try_from(i32::from(corner).saturating_add(by).max(0)).unwrap_or(last).min(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Size = Size::new(100, 50);

    #[test]
    fn a_grid_that_fits_is_never_scrolled() {
        let mut camera = Camera::default();
        camera.follow(GRID, GRID, Some(Position::new(99, 49)));
        assert_eq!(camera.corner(), Position::ORIGIN);
        assert_eq!(camera.marks(GRID, GRID), "");
    }

    #[test]
    fn the_focus_is_in_view_in_every_window_and_the_view_never_leaves_the_grid() {
        for (width, height) in [(1, 1), (2, 3), (5, 4), (20, 10), (99, 49), (100, 10), (300, 60)] {
            let window = Size::new(width, height);
            let mut camera = Camera::default();
            // Back and forth over the whole grid.
            let there = (0..GRID.width).map(|x| Position::new(x, x / 2));
            let back = (0..GRID.width).rev().map(|x| Position::new(x, 49 - x / 2));
            for focus in there.chain(back) {
                camera.follow(GRID, window, Some(focus));
                let corner = camera.corner();
                assert!(corner.x <= focus.x && focus.x < corner.x + width, "{window} {focus} {corner}");
                assert!(corner.y <= focus.y && focus.y < corner.y + height, "{window} {focus} {corner}");
                assert!(corner.x <= GRID.width.saturating_sub(width), "{window} {focus} {corner}");
                assert!(corner.y <= GRID.height.saturating_sub(height), "{window} {focus} {corner}");
            }
        }
    }

    #[test]
    fn the_view_moves_seldom_and_by_half_a_window() {
        let window = Size::new(40, 50);
        let mut camera = Camera::default();
        let mut corners = vec![];
        for x in 0..GRID.width {
            camera.follow(GRID, window, Some(Position::new(x, 0)));
            if corners.last() != Some(&camera.corner().x) {
                corners.push(camera.corner().x);
            }
        }
        assert_eq!(corners, [0, 14, 28, 42, 56, 60]);
        // A step back does not move it back.
        camera.follow(GRID, window, Some(Position::new(90, 0)));
        assert_eq!(camera.corner().x, 60);
    }

    #[test]
    fn a_window_that_grows_or_a_grid_that_shrinks_pulls_the_view_back() {
        let mut camera = Camera::default();
        camera.follow(GRID, Size::new(10, 10), Some(Position::new(99, 49)));
        assert_eq!(camera.corner(), Position::new(90, 40));
        camera.follow(GRID, Size::new(60, 30), Some(Position::new(99, 49)));
        assert_eq!(camera.corner(), Position::new(40, 20));
        camera.follow(Size::new(5, 5), Size::new(60, 30), None);
        assert_eq!(camera.corner(), Position::ORIGIN);
    }

    #[test]
    fn scrolling_ends_at_the_edges_and_marks_say_what_is_beyond() {
        let window = Size::new(40, 20);
        let mut camera = Camera::default();
        assert_eq!(camera.marks(GRID, window), ">v");
        camera.scroll(GRID, window, 10, 10);
        assert_eq!((camera.corner(), camera.marks(GRID, window)), (Position::new(10, 10), "<>^v".into()));
        camera.scroll(GRID, window, i32::MAX, 1_000);
        assert_eq!((camera.corner(), camera.marks(GRID, window)), (Position::new(60, 30), "<^".into()));
        camera.scroll(GRID, window, -70_000, i32::MIN);
        assert_eq!(camera.corner(), Position::ORIGIN);
    }
}
