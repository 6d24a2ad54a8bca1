//! A grid of characters.

use ratatui::{
    buffer::Buffer,
    layout::{Rect, Size},
    style::Style,
    widgets::Widget,
};

use crate::Viewport;

/// Draws the part of a grid that a [`Viewport`] shows.
///
/// `cell` tells what stands in a column and row of the grid: one character of ASCII and its style. It is asked only for
/// what is drawn. What is not printable is drawn as a blank.
#[derive(Debug, Clone, Copy)]
pub struct GridView<F> {
    grid: Size,
    viewport: Viewport,
    cell: F,
}

impl<F: Fn(u16, u16) -> (u8, Style)> GridView<F> {
    /// A view of a grid of this size.
    pub const fn new(grid: Size, viewport: Viewport, cell: F) -> Self {
        Self { grid, viewport, cell }
    }
}

impl<F: Fn(u16, u16) -> (u8, Style)> Widget for &GridView<F> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let corner = self.viewport.corner();
        for place in area.intersection(buffer.area).positions() {
            let x = corner.x.saturating_add(place.x - area.x);
            let y = corner.y.saturating_add(place.y - area.y);
            if x < self.grid.width && y < self.grid.height {
                let (byte, style) = (self.cell)(x, y);
                let shown = if matches!(byte, b' '..=b'~') { char::from(byte) } else { ' ' };
                buffer[place].set_char(shown).set_style(style);
            }
        }
    }
}

impl<F: Fn(u16, u16) -> (u8, Style)> Widget for GridView<F> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        Widget::render(&self, area, buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Modifier;

    const MAP: [&[u8; 5]; 4] = [b"abcde", b"fghij", b"klmno", b"pqrst"];
    const GRID: Size = Size::new(5, 4);

    fn cell(x: u16, y: u16) -> (u8, Style) {
        (MAP[usize::from(y)][usize::from(x)], Style::new())
    }

    fn drawn(area: Rect, columns: i32, rows: i32) -> Buffer {
        let mut viewport = Viewport::default();
        viewport.scroll(GRID, area.as_size(), columns, rows);
        let mut buffer = Buffer::with_lines(["~~~~~~~"; 5]);
        GridView::new(GRID, viewport, cell).render(area, &mut buffer);
        buffer
    }

    #[test]
    fn a_grid_that_fits_is_drawn_whole_and_nothing_beside_it() {
        let lines = ["~~~~~~~", "~abcde~", "~fghij~", "~klmno~", "~pqrst~"];
        assert_eq!(drawn(Rect::new(1, 1, 6, 4), 0, 0), Buffer::with_lines(lines));
    }

    #[test]
    fn a_part_is_drawn_where_the_viewport_is() {
        let lines = ["~~~~~~~", "~hij~~~", "~mno~~~", "~~~~~~~", "~~~~~~~"];
        assert_eq!(drawn(Rect::new(1, 1, 3, 2), 2, 1), Buffer::with_lines(lines));
    }

    #[test]
    fn an_area_that_lies_partly_or_wholly_off_screen_is_cut() {
        let lines = ["~~~~~~~", "~~~~~~~", "~~~~~~~", "~~~~~ab", "~~~~~fg"];
        assert_eq!(drawn(Rect::new(5, 3, 5, 4), 0, 0), Buffer::with_lines(lines));
        assert_eq!(drawn(Rect::new(7, 5, 5, 4), 0, 0), Buffer::with_lines(["~~~~~~~"; 5]));
        assert_eq!(drawn(Rect::new(0, 0, 0, 0), 0, 0), Buffer::with_lines(["~~~~~~~"; 5]));
    }

    #[test]
    fn styles_are_applied_and_control_bytes_are_not_drawn() {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let mut buffer = Buffer::empty(Rect::new(0, 0, 2, 1));
        let cell = |x, _| if x == 0 { (b'@', bold) } else { (0x1b, Style::new()) };
        GridView::new(Size::new(2, 1), Viewport::default(), cell).render(buffer.area, &mut buffer);
        let mut expected = Buffer::with_lines(["@ "]);
        expected[(0, 0)].set_style(bold);
        assert_eq!(buffer, expected);
    }
}
