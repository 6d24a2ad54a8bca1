//! A grid of characters.

use ratatui::{
    buffer::Buffer,
    layout::{Rect, Size},
    style::Style,
    widgets::Widget,
};

use crate::Camera;

/// Draws the part of a grid that a [`Camera`] shows.
///
/// `cell` returns the content of the cell in a column and row of the grid: one ASCII character and its style for each of
/// the `W` columns of the window that a cell occupies. It is called only for visible cells. Unprintable characters are drawn
/// as blanks. A cell whose columns do not all fit is not drawn.
#[derive(Debug, Clone, Copy)]
pub struct GridView<F, const W: usize> {
    grid: Size,
    camera: Camera,
    cell: F,
}

impl<F: Fn(u16, u16) -> [(u8, Style); W], const W: usize> GridView<F, W> {
    /// Creates a view of a grid of this size.
    pub const fn new(grid: Size, camera: Camera, cell: F) -> Self {
        Self { grid, camera, cell }
    }
}

impl<F: Fn(u16, u16) -> [(u8, Style); W], const W: usize> Widget for &GridView<F, W> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let corner = self.camera.corner();
        let area = area.intersection(buffer.area);
        let cells = (0..area.height).flat_map(|row| (0..usize::from(area.width) / W).map(move |column| (column, row)));
        for (column, row) in cells {
            let x = usize::from(corner.x) + column;
            let (Ok(x), y) = (u16::try_from(x), corner.y.saturating_add(row)) else { continue };
            if x < self.grid.width && y < self.grid.height {
                let start = (area.y + row, usize::from(area.x) + column * W);
                for (offset, (byte, style)) in (self.cell)(x, y).into_iter().enumerate() {
                    let shown = if matches!(byte, b' '..=b'~') { char::from(byte) } else { ' ' };
                    if let Some(cell) = u16::try_from(start.1 + offset).ok().and_then(|x| buffer.cell_mut((x, start.0)))
                    {
                        cell.set_char(shown).set_style(style);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Modifier;

    const MAP: [&[u8; 5]; 4] = [b"abcde", b"fghij", b"klmno", b"pqrst"];
    const GRID: Size = Size::new(5, 4);

    fn cell(x: u16, y: u16) -> [(u8, Style); 1] {
        [(MAP[usize::from(y)][usize::from(x)], Style::new())]
    }

    fn drawn(area: Rect, columns: i32, rows: i32) -> Buffer {
        let mut camera = Camera::default();
        camera.scroll(GRID, area.as_size(), columns, rows);
        let mut buffer = Buffer::with_lines(["~~~~~~~"; 5]);
        GridView::new(GRID, camera, cell).render(area, &mut buffer);
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
        let cell = |x, _| [if x == 0 { (b'@', bold) } else { (0x1b, Style::new()) }];
        GridView::new(Size::new(2, 1), Camera::default(), cell).render(buffer.area, &mut buffer);
        let mut expected = Buffer::with_lines(["@ "]);
        expected[(0, 0)].set_style(bold);
        assert_eq!(buffer, expected);
    }

    #[test]
    fn a_cell_may_take_several_columns_and_is_drawn_whole_or_not() {
        let cell = |x, y| [cell(x, y)[0], (b'_', Style::new())];
        let mut buffer = Buffer::with_lines(["~~~~~~~"; 3]);
        let mut camera = Camera::default();
        camera.scroll(GRID, Size::new(2, 2), 1, 1);
        GridView::new(GRID, camera, cell).render(Rect::new(1, 1, 5, 2), &mut buffer);
        assert_eq!(buffer, Buffer::with_lines(["~~~~~~~", "~g_h_~~", "~l_m_~~"]));
    }
}
