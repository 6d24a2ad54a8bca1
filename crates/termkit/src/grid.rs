use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect, Size},
    style::Style,
    widgets::Widget,
};

/// Draws the part of a grid that a [`Camera`] shows.
///
/// `cell` returns the content of a cell by its column and row in the grid: one ASCII character and its style for each
/// of the cell's `W` window columns. A cell whose columns do not all fit is not drawn.
#[derive(Debug, Clone, Copy)]
pub struct GridView<F, const W: usize> {
    grid: Size,
    camera: Camera,
    cell: F,
}

impl<F: Fn(u16, u16) -> [(u8, Style); W], const W: usize> GridView<F, W> {
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

/// The camera moves at this distance from an edge of the window.
const MARGIN: u16 = 6;

/// Selects the visible part of a grid that may be larger than the window.
///
/// The camera moves only when the focus comes near an edge, and then by about half a window, so that the picture does
/// not shift with every step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Camera {
    corner: Position,
}

impl Camera {
    pub const fn corner(self) -> Position {
        self.corner
    }

    /// Without a focus, the camera only stays within the grid.
    pub fn follow(&mut self, grid: Size, window: Size, focus: Option<Position>) {
        let (x, y) = (focus.map(|focus| focus.x), focus.map(|focus| focus.y));
        self.corner.x = follow(self.corner.x, grid.width, window.width, x);
        self.corner.y = follow(self.corner.y, grid.height, window.height, y);
    }

    /// Stops at the edges of the grid.
    pub fn scroll(&mut self, grid: Size, window: Size, columns: i32, rows: i32) {
        self.corner.x = scroll(self.corner.x, grid.width, window.width, columns);
        self.corner.y = scroll(self.corner.y, grid.height, window.height, rows);
    }

    /// Some of `<`, `>`, `^` and `v`: the sides on which the grid exceeds the window.
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
    use ratatui::style::Modifier;

    use super::*;

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
    fn camera_selects_the_drawn_part() {
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
    fn cell_of_several_columns_is_drawn_only_if_it_fits() {
        let cell = |x, y| [cell(x, y)[0], (b'_', Style::new())];
        let mut buffer = Buffer::with_lines(["~~~~~~~"; 3]);
        let mut camera = Camera::default();
        camera.scroll(GRID, Size::new(2, 2), 1, 1);
        GridView::new(GRID, camera, cell).render(Rect::new(1, 1, 5, 2), &mut buffer);
        assert_eq!(buffer, Buffer::with_lines(["~~~~~~~", "~g_h_~~", "~l_m_~~"]));
    }

    const LARGE: Size = Size::new(100, 50);

    #[test]
    fn a_grid_that_fits_is_never_scrolled() {
        let mut camera = Camera::default();
        camera.follow(LARGE, LARGE, Some(Position::new(99, 49)));
        assert_eq!(camera.corner(), Position::ORIGIN);
        assert_eq!(camera.marks(LARGE, LARGE), "");
    }

    #[test]
    fn the_focus_is_in_view_in_every_window_and_the_view_never_leaves_the_grid() {
        for (width, height) in [(1, 1), (2, 3), (5, 4), (20, 10), (99, 49), (100, 10), (300, 60)] {
            let window = Size::new(width, height);
            let mut camera = Camera::default();
            let there = (0..LARGE.width).map(|x| Position::new(x, x / 2));
            let back = (0..LARGE.width).rev().map(|x| Position::new(x, 49 - x / 2));
            for focus in there.chain(back) {
                camera.follow(LARGE, window, Some(focus));
                let corner = camera.corner();
                assert!(corner.x <= focus.x && focus.x < corner.x + width, "{window} {focus} {corner}");
                assert!(corner.y <= focus.y && focus.y < corner.y + height, "{window} {focus} {corner}");
                assert!(corner.x <= LARGE.width.saturating_sub(width), "{window} {focus} {corner}");
                assert!(corner.y <= LARGE.height.saturating_sub(height), "{window} {focus} {corner}");
            }
        }
    }

    #[test]
    fn camera_moves_rarely_and_by_half_a_window() {
        let window = Size::new(40, 50);
        let mut camera = Camera::default();
        let mut corners = vec![];
        for x in 0..LARGE.width {
            camera.follow(LARGE, window, Some(Position::new(x, 0)));
            if corners.last() != Some(&camera.corner().x) {
                corners.push(camera.corner().x);
            }
        }
        assert_eq!(corners, [0, 14, 28, 42, 56, 60]);
        camera.follow(LARGE, window, Some(Position::new(90, 0)));
        assert_eq!(camera.corner().x, 60);
    }

    #[test]
    fn camera_stays_within_the_grid_after_a_resize() {
        let mut camera = Camera::default();
        camera.follow(LARGE, Size::new(10, 10), Some(Position::new(99, 49)));
        assert_eq!(camera.corner(), Position::new(90, 40));
        camera.follow(LARGE, Size::new(60, 30), Some(Position::new(99, 49)));
        assert_eq!(camera.corner(), Position::new(40, 20));
        camera.follow(Size::new(5, 5), Size::new(60, 30), None);
        assert_eq!(camera.corner(), Position::ORIGIN);
    }

    #[test]
    fn scrolling_stops_at_the_edges_and_marks_show_hidden_sides() {
        let window = Size::new(40, 20);
        let mut camera = Camera::default();
        assert_eq!(camera.marks(LARGE, window), ">v");
        camera.scroll(LARGE, window, 10, 10);
        assert_eq!((camera.corner(), camera.marks(LARGE, window)), (Position::new(10, 10), "<>^v".into()));
        camera.scroll(LARGE, window, i32::MAX, 1_000);
        assert_eq!((camera.corner(), camera.marks(LARGE, window)), (Position::new(60, 30), "<^".into()));
        camera.scroll(LARGE, window, -70_000, i32::MIN);
        assert_eq!(camera.corner(), Position::ORIGIN);
    }
}
