//! Labels and colours of players, and lists with a line for each.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Modifier, Style},
    text::Span,
    widgets::Widget,
};
use robots::PlayerId;
use termkit::{PLAYERS, Palette, Shade, printable};

const LETTERS: u8 = 26;
pub(crate) const FIRST_LONG_LABEL: PlayerId = PlayerId(2 * LETTERS);

/// `A` to `Z`, `a` to `z`, then `A1`, `B1` and so on.
pub(crate) fn label(id: PlayerId) -> (u8, Option<u8>) {
    let letter = id.0 % LETTERS;
    match id.0 / LETTERS {
        0 => (b'A' + letter, None),
        1 => (b'a' + letter, None),
        round => (b'A' + letter, Some(b'0' + round - 1)),
    }
}

pub(crate) fn colour(id: PlayerId) -> Shade {
    PLAYERS[usize::from(id.0) % PLAYERS.len()]
}

pub(crate) fn style(palette: Palette, id: PlayerId, in_view: bool) -> Style {
    let own = if in_view { Modifier::REVERSED | Modifier::UNDERLINED } else { Modifier::empty() };
    palette.style(colour(id), Modifier::BOLD | own)
}

pub(crate) fn label_text(id: PlayerId) -> String {
    let (letter, number) = label(id);
    [Some(letter), number].into_iter().flatten().map(char::from).collect()
}

/// The name, or the label if it is empty.
pub(crate) fn called(id: PlayerId, name: &str) -> String {
    if name.trim().is_empty() { label_text(id) } else { printable(name) }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: PlayerId,
    /// With unprintable characters escaped.
    pub(crate) name: String,
    pub(crate) last: String,
}

/// The last line counts players who do not fit. The player in view is always shown.
#[derive(Debug)]
pub(crate) struct Roster<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) last: &'a str,
    pub(crate) at_right: bool,
    pub(crate) in_view: Option<PlayerId>,
    pub(crate) palette: Palette,
}

/// For the mark, the label and a blank, in columns.
const LABEL: usize = 4;
/// The least width of the name column, before the last column gets any room.
const NAME: usize = 6;

impl Roster<'_> {
    fn cut(&self, room: usize) -> (Vec<&Row>, usize) {
        if self.rows.len() <= room {
            return (self.rows.iter().collect(), 0);
        }
        let room = room.saturating_sub(1);
        let mut shown: Vec<&Row> = self.rows.iter().take(room).collect();
        let in_view = self.rows.iter().skip(room).find(|row| Some(row.id) == self.in_view);
        if let (Some(last), Some(in_view)) = (shown.last_mut(), in_view) {
            *last = in_view;
        }
        (shown, self.rows.len() - room)
    }
}

impl Widget for &Roster<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if area.is_empty() || self.rows.is_empty() {
            return;
        }
        let width = usize::from(area.width);
        let digits = self.rows.iter().map(|row| row.id.0.to_string().len()).max().unwrap_or(1).max(2);
        let widths = self.rows.iter().map(|row| Span::raw(&*row.last).width());
        let wanted = widths.max().unwrap_or(0).max(self.last.len());
        // The label already identifies a player, so the number is omitted first.
        let with_number = LABEL + digits + 1 + NAME + 1 + wanted <= width || LABEL + NAME + 1 + wanted > width;
        let digits = if with_number { digits } else { 0 };
        let name_at = if with_number { LABEL + digits + 1 } else { LABEL };
        // Never truncated, only omitted.
        let last_width = if name_at + NAME + 1 + wanted <= width { wanted } else { 0 };
        let name_width = width.saturating_sub(name_at + if last_width > 0 { last_width + 1 } else { 0 });
        let longest = self.rows.iter().map(|row| Span::raw(&*row.name).width()).max().unwrap_or(0);
        // Texts are next to the names, numbers at the right edge.
        let name_width = if self.at_right { name_width } else { name_width.min(longest.max(NAME)) };
        let mut line = |y: u16, start: &str, name: &str, last: &str, style: Style| {
            let mut put = |at: usize, text: &str, room: usize, style: Style| {
                if let (Ok(at), true) = (u16::try_from(at), at < width) {
                    buffer.set_stringn(area.x + at, y, text, room.min(width - usize::from(at)), style);
                }
            };
            put(0, start, width, style);
            put(name_at, name, name_width, style);
            if last_width > 0 {
                let indent = if self.at_right { last_width.saturating_sub(Span::raw(last).width()) } else { 0 };
                // Numbers are the purpose of the list. A text only supplements the name.
                let style = if self.at_right { style } else { style.add_modifier(Modifier::DIM) };
                put(name_at + name_width + 1 + indent, last, last_width - indent, style);
            }
        };
        let header = area.height > 2;
        if header {
            line(
                area.y,
                &if with_number { format!("{:>name$}", "id", name = LABEL + digits) } else { String::new() },
                "name",
                self.last,
                Style::new().add_modifier(Modifier::UNDERLINED),
            );
        }
        let top = area.y + u16::from(header);
        let (shown, more) = self.cut(usize::from(area.bottom() - top));
        let mut y = top;
        for row in shown {
            let in_view = Some(row.id) == self.in_view;
            let (letter, number) = label(row.id);
            let mark = if in_view { '>' } else { ' ' };
            let number = number.map_or(' ', char::from);
            let id = if with_number { format!("{:>digits$}", row.id.0) } else { String::new() };
            let start = format!("{mark}{}{number} {id}", char::from(letter));
            // Reversed letters are only on the board. The list has the mark.
            line(y, &start, &row.name, &row.last, style(self.palette, row.id, false));
            y += 1;
        }
        if more > 0 {
            buffer.set_stringn(area.x, y, format!(" and {more} more"), width, Style::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::lines;

    fn rows(count: u8) -> Vec<Row> {
        let row = |id| Row { id: PlayerId(id), name: format!("p{id}"), last: (u16::from(id) * 5).to_string() };
        (0..count).map(row).collect()
    }

    fn drawn(rows: &[Row], in_view: Option<PlayerId>, width: u16, height: u16) -> Vec<String> {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let roster = Roster { rows, last: "deaths", at_right: true, in_view, palette: Palette::MONO };
        roster.render(buffer.area, &mut buffer);
        lines(&buffer)
    }

    #[test]
    fn columns_are_under_their_names() {
        assert_eq!(
            drawn(&rows(3), Some(PlayerId(1)), 22, 5),
            [
                "    id name     deaths",
                " A   0 p0            0",
                ">B   1 p1            5",
                " C   2 p2           10",
                ""
            ]
        );
    }

    #[test]
    fn hidden_players_are_counted_and_the_followed_one_is_shown() {
        assert_eq!(
            drawn(&rows(255), Some(PlayerId(200)), 22, 4),
            ["     id name    deaths", " A    0 p0           0", ">S6 200 p200      1000", " and 253 more"]
        );
        assert_eq!(drawn(&rows(9), None, 22, 1), [" and 9 more"]);
    }

    #[test]
    fn a_list_without_room_for_numbers_keeps_the_last_column() {
        assert_eq!(drawn(&rows(1), None, 17, 3), ["    name   deaths", " A  p0          0", ""]);
    }

    #[test]
    fn a_narrow_list_keeps_the_names() {
        assert_eq!(drawn(&rows(1), None, 12, 2), [" A   0 p0", ""]);
        for (width, height) in [(0, 0), (1, 1), (3, 9), (8, 3)] {
            drawn(&rows(9), Some(PlayerId(3)), width, height);
        }
    }

    #[test]
    fn wide_names_are_cut_between_characters() {
        let row = Row { id: PlayerId(0), name: "日本語日本語".into(), last: "7".into() };
        assert_eq!(drawn(&[row], None, 21, 1), [" A   0 日 本 語        7"]);
    }

    #[test]
    fn each_of_256_players_has_a_label_of_its_own() {
        let labels: BTreeSet<_> = PlayerId::all().map(label).collect();
        assert_eq!(labels.len(), 256);
        let shown = |id| label(PlayerId(id));
        assert_eq!(
            [shown(0), shown(25), shown(26), shown(51)],
            [(b'A', None), (b'Z', None), (b'a', None), (b'z', None)]
        );
        assert_eq!([shown(52), shown(255)], [(b'A', Some(b'1')), (b'V', Some(b'8'))]);
        assert!(PlayerId::all().all(|id| label(id).1.is_some() == (id >= FIRST_LONG_LABEL)));
    }

    #[test]
    fn a_player_without_a_name_is_called_by_its_label() {
        assert_eq!(called(PlayerId(53), "Ann\n"), "Ann\\n");
        assert_eq!(called(PlayerId(53), " "), "B1");
    }

    #[test]
    fn players_differ_in_colour_and_the_followed_one_in_style() {
        for palette in [Palette::COLOUR, Palette::MONO] {
            let [plain, in_view] = [false, true].map(|in_view| style(palette, PlayerId(0), in_view));
            assert_ne!(plain, in_view);
        }
        assert_ne!(style(Palette::COLOUR, PlayerId(0), false).fg, style(Palette::COLOUR, PlayerId(1), false).fg);
        assert_eq!(style(Palette::MONO, PlayerId(7), true).fg, None);
    }
}
