//! A status line.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Modifier, Style},
    widgets::Widget,
};

/// The minimum number of blank columns between the two texts.
const GAP: usize = 2;

/// A line of text, cut at the right edge, with a second text at the right edge if both fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusLine<'a> {
    text: &'a str,
    right: &'a str,
}

impl<'a> StatusLine<'a> {
    /// Creates a line with `text` at the left.
    pub const fn new(text: &'a str) -> Self {
        Self { text, right: "" }
    }

    /// Adds `right` at the right edge. It is omitted if there is no room for it.
    #[must_use]
    pub const fn right(mut self, right: &'a str) -> Self {
        self.right = right;
        self
    }
}

impl Widget for &StatusLine<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let width = usize::from(area.width);
        let (end, _) = buffer.set_stringn(area.x, area.y, self.text, width, Style::new());
        let taken = usize::from(end - area.x);
        let right = self.right.chars().count();
        if right > 0 && taken + GAP + right <= width {
            let x = area.right() - u16::try_from(right).unwrap_or(area.width);
            buffer.set_stringn(x, area.y, self.right, right, Style::new().add_modifier(Modifier::BOLD));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(line: &StatusLine<'_>, width: u16) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, 1));
        line.render(buffer.area, &mut buffer);
        buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    #[test]
    fn a_line_is_cut_at_the_right_edge() {
        assert_eq!(drawn(&StatusLine::new("Player A has 3"), 20), "Player A has 3      ");
        assert_eq!(drawn(&StatusLine::new("Player A has 3"), 10), "Player A h");
        assert_eq!(drawn(&StatusLine::new("Player A has 3"), 0), "");
    }

    #[test]
    fn what_stands_at_the_right_edge_gives_way() {
        let line = StatusLine::new("Player A").right("<>");
        assert_eq!(drawn(&line, 12), "Player A  <>");
        assert_eq!(drawn(&line, 15), "Player A     <>");
        assert_eq!(drawn(&line, 11), "Player A   ");
        assert_eq!(drawn(&line, 4), "Play");
    }

    #[test]
    fn an_area_outside_the_buffer_is_left_alone() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        StatusLine::new("text").right("!").render(Rect::new(2, 0, 9, 1), &mut buffer);
        StatusLine::new("text").render(Rect::new(0, 7, 4, 1), &mut buffer);
        assert_eq!(buffer, Buffer::with_lines(["  te"]));
    }
}
