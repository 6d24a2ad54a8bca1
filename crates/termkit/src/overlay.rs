use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Rect, Size},
    style::{Modifier, Style},
    text::{Line, Span},
    widgets::{Block, Clear, Paragraph, Widget, Wrap},
};

use crate::printable::{wrap, wrap_after};

/// The text beside a key has at least this width, or is below the key.
const NARROWEST: usize = 16;

/// The last row of each list of keys.
pub const RETURN: (&str, &str) = ("", "Press any key to return.");

/// A centred box that lists keys and their meanings.
///
/// In a small window, it shows the lines that fit, always including the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlay<'a> {
    title: &'a str,
    rows: &'a [(&'a str, &'a str)],
}

impl<'a> Overlay<'a> {
    /// A row is a key and its meaning, or a text without a key.
    pub const fn new(title: &'a str, rows: &'a [(&'a str, &'a str)]) -> Self {
        Self { title, rows }
    }

    pub fn lines(&self, width: usize) -> Vec<Line<'a>> {
        self.rows(width).into_iter().flatten().collect()
    }

    fn rows(&self, width: usize) -> Vec<Vec<Line<'a>>> {
        let column = self.rows.iter().map(|(key, _)| key.len() + 2).max().unwrap_or(0);
        let row = |&(key, meaning): &(&'a str, &'a str)| {
            let (start, indent) = match key.len() {
                0 => (0, 0),
                _ if width >= column + NARROWEST => (column, column),
                length => (length + 2, 0),
            };
            let pieces = wrap_after(meaning, width.saturating_sub(start), width - indent);
            let lines = pieces.into_iter().enumerate().map(|(number, piece)| {
                let (key, width) = if number == 0 { (key, start) } else { ("", indent) };
                let key = Span::styled(format!("{key:width$}"), Style::new().add_modifier(Modifier::BOLD));
                Line::from(vec![key, Span::raw(piece)])
            });
            lines.collect()
        };
        self.rows.iter().map(row).collect()
    }

    fn cut(&self, window: Size) -> Vec<Line<'a>> {
        let mut rows = self.rows(usize::from(window.width));
        let last = rows.pop().unwrap_or_default();
        let room = usize::from(window.height).saturating_sub(last.len());
        let fits = rows.iter().map(Vec::len).sum::<usize>() <= room;
        // Blank lines are dropped first.
        rows.into_iter().flatten().filter(|line| fits || line.width() > 0).take(room).chain(last).collect()
    }
}

impl Widget for &Overlay<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let lines = self.lines(usize::MAX);
        let size = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let text_width = lines.iter().map(Line::width).max().unwrap_or(0).max(self.title.len());
        // Without room, the frame and the blank columns beside it are omitted.
        let (width, height) = (size(text_width).saturating_add(4), size(lines.len()).saturating_add(2));
        if width > area.width || height > area.height {
            Clear.render(area, buffer);
            Paragraph::new(self.cut(area.as_size())).render(area, buffer);
            return;
        }
        let frame = area.centered(Constraint::Length(width), Constraint::Length(height));
        let block = Block::bordered().title(format!(" {} ", self.title));
        let inner = block.inner(frame);
        Clear.render(frame, buffer);
        block.render(frame, buffer);
        Paragraph::new(lines).render(Rect { x: inner.x + 1, width: inner.width - 1, ..inner }, buffer);
    }
}

/// A message that the window is too small, with the required and the actual size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSmall {
    needed: Size,
    actual: Size,
}

impl TooSmall {
    pub const fn new(needed: Size, actual: Size) -> Self {
        Self { needed, actual }
    }
}

impl Widget for &TooSmall {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let TooSmall { needed, actual } = self;
        let long = format!(
            "Window too small: needs {} rows, {} columns; has {} rows, {} columns. Please enlarge it.",
            needed.height, needed.width, actual.height, actual.width
        );
        let medium =
            format!("Needs {} rows, {} cols; has {}, {}", needed.height, needed.width, actual.height, actual.width);
        // The shortest form gives both sizes as rows x columns.
        let short = format!("{}x{} > {}x{}", needed.height, needed.width, actual.height, actual.width);
        let fits = |text: &str| wrapped_lines(text, usize::from(area.width)) <= usize::from(area.height);
        let text = [long, medium].into_iter().find(|text| fits(text)).unwrap_or(short);
        Clear.render(area, buffer);
        Paragraph::new(text).wrap(Wrap { trim: true }).render(area, buffer);
    }
}

// If a word does not fit, larger than any window.
fn wrapped_lines(text: &str, width: usize) -> usize {
    let lines = wrap(text, width);
    if lines.iter().all(|line| line.len() <= width) { lines.len() } else { usize::MAX }
}

const GAP: usize = 2;

/// A line of text, cut at the right edge, with a second text there if both fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusLine<'a> {
    text: &'a str,
    right: &'a str,
}

impl<'a> StatusLine<'a> {
    pub const fn new(text: &'a str) -> Self {
        Self { text, right: "" }
    }

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
    use ratatui::buffer::Cell;

    const KEYS: &[(&str, &str)] = &[("h", "left"), ("H", "run left"), ("", "Any key goes on.")];

    fn drawn(widget: impl Widget, width: u16, height: u16) -> Vec<String> {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        for cell in &mut buffer.content {
            cell.set_char('~');
        }
        widget.render(buffer.area, &mut buffer);
        let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).collect::<String>();
        buffer.content.chunks(usize::from(width.max(1))).map(row).collect()
    }

    #[test]
    fn an_overlay_stands_in_the_middle() {
        let overlay = Overlay::new("Keys", KEYS);
        assert_eq!(
            drawn(&overlay, 24, 7),
            [
                "~~~~~~~~~~~~~~~~~~~~~~~~",
                "~~┌ Keys ────────────┐~~",
                "~~│ h  left          │~~",
                "~~│ H  run left      │~~",
                "~~│ Any key goes on. │~~",
                "~~└──────────────────┘~~",
                "~~~~~~~~~~~~~~~~~~~~~~~~",
            ]
        );
    }

    #[test]
    fn an_overlay_without_room_for_its_frame_is_wrapped_and_cut() {
        let overlay = Overlay::new("Keys", KEYS);
        assert_eq!(drawn(&overlay, 11, 3), ["h  left    ", "Any key    ", "goes on.   "]);
        let long = [("h j k", "left, down, up; or the arrows"), ("", ""), ("Q", "leave"), ("", "Any key goes on.")];
        let overlay = Overlay::new("Keys", &long);
        assert_eq!(
            drawn(&overlay, 24, 4),
            [
                "h j k  left, down, up;  ",
                "       or the arrows    ",
                "Q      leave            ",
                "Any key goes on.        "
            ]
        );
        assert_eq!(
            drawn(&overlay, 18, 4),
            ["h j k  left, down,", "up; or the arrows ", "Q  leave          ", "Any key goes on.  "]
        );
        for (width, height) in [(0, 0), (1, 1), (80, 1), (1, 80)] {
            drawn(&overlay, width, height);
        }
    }

    #[test]
    fn small_window_message_names_both_sizes() {
        let said = |width, height| {
            let message = TooSmall::new(Size::new(16, 4), Size::new(width, height));
            let rows = drawn(&message, width, height);
            rows.iter().map(|row| row.trim_end()).collect::<Vec<_>>().join("/")
        };
        assert_eq!(
            said(90, 2),
            "Window too small: needs 4 rows, 16 columns; has 2 rows, 90 columns. Please enlarge it./"
        );
        assert_eq!(said(40, 1), "Needs 4 rows, 16 cols; has 1, 40");
        assert_eq!(said(10, 5), "Needs 4/rows, 16/cols; has/5, 10/");
        assert_eq!(said(12, 1), "4x16 > 1x12");
        for (width, height) in [(0, 0), (1, 1), (3, 2)] {
            said(width, height);
        }
    }

    fn status(line: &StatusLine<'_>, width: u16) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, 1));
        line.render(buffer.area, &mut buffer);
        buffer.content.iter().map(Cell::symbol).collect()
    }

    #[test]
    fn a_line_is_cut_at_the_right_edge() {
        assert_eq!(status(&StatusLine::new("Player A has 3"), 20), "Player A has 3      ");
        assert_eq!(status(&StatusLine::new("Player A has 3"), 10), "Player A h");
        assert_eq!(status(&StatusLine::new("Player A has 3"), 0), "");
    }

    #[test]
    fn text_at_the_right_edge_is_cut_first() {
        let line = StatusLine::new("Player A").right("<>");
        assert_eq!(status(&line, 12), "Player A  <>");
        assert_eq!(status(&line, 15), "Player A     <>");
        assert_eq!(status(&line, 11), "Player A   ");
        assert_eq!(status(&line, 4), "Play");
    }

    #[test]
    fn an_area_outside_the_buffer_is_left_alone() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        StatusLine::new("text").right("!").render(Rect::new(2, 0, 9, 1), &mut buffer);
        StatusLine::new("text").render(Rect::new(0, 7, 4, 1), &mut buffer);
        assert_eq!(buffer, Buffer::with_lines(["  te"]));
    }
}
