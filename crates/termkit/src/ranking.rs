use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Rect, Size},
    style::{Modifier, Style},
    text::{Line, Span},
    widgets::{Block, Clear, Paragraph, Widget},
};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::printable::wrap;

/// Columns of a row besides rank, name and score: the user's mark and a blank, the full stop and a blank after the
/// rank, the gap before the score, and the winner's mark and a blank.
const MARKS: usize = 2 + 2 + GAP + 2;
const GAP: usize = 2;
/// In columns. Names are not cut below this.
const SHORTEST_NAME: usize = 3;
/// In the standing, in columns.
const LONGEST_NAME: usize = 16;
/// Two columns on either side, and two lines.
const FRAME: Size = Size::new(4, 2);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rank {
    /// From 1. Equal results share a rank.
    pub rank: usize,
    pub name: String,
    pub score: String,
    /// Determines the rank, and by differences the distance.
    pub value: u32,
    pub own: bool,
}

/// A table of ranks, best first, in a box in the middle of its area.
///
/// A star marks rows with rank 1, and `>` the user's row. Without room, the last rows are omitted, but never the user's
/// row; names are cut before scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranking<'a> {
    title: &'a str,
    ranks: &'a [Rank],
    footer: &'a [&'a str],
}

impl<'a> Ranking<'a> {
    pub const fn new(title: &'a str, ranks: &'a [Rank], footer: &'a [&'a str]) -> Self {
        Self { title, ranks, footer }
    }

    pub fn size(&self) -> Size {
        self.size_below(&self.standing())
    }

    // The user's place, and the distance to the leader or from the next participant.
    fn standing(&self) -> Vec<String> {
        let Some(own) = self.ranks.iter().find(|row| row.own).filter(|_| self.ranks.len() > 1) else { return vec![] };
        let place = format!("{}{} of {}", own.rank, ordinal(own.rank), self.ranks.len());
        let (other, word) = match own.rank {
            1 if self.ranks.iter().filter(|row| row.rank == 1).count() > 1 => return vec![place + ", shared"],
            1 => (self.ranks.iter().find(|row| row.rank > 1), "ahead of"),
            _ => (self.ranks.first(), "behind"),
        };
        let distance =
            |other: &Rank| format!("{} {word} {}", own.value.abs_diff(other.value), fit(&other.name, LONGEST_NAME));
        std::iter::once(place).chain(other.map(distance)).collect()
    }

    // A blank line follows the standing.
    fn size_below(&self, standing: &[String]) -> Size {
        let row = self.columns().total();
        let widest = |lines: &mut dyn Iterator<Item = usize>| lines.max().unwrap_or(0);
        let footer = widest(&mut self.footer.iter().map(|line| line.width()));
        let above = widest(&mut standing.iter().map(|line| line.width()));
        let width = row.max(footer).max(self.title.width() + 2).max(above);
        let above = if standing.is_empty() { 0 } else { standing.len() + 1 };
        let height = self.ranks.len() + self.footer_height() + above;
        Size::new(narrow(width).saturating_add(FRAME.width), narrow(height).saturating_add(FRAME.height))
    }

    const fn footer_height(&self) -> usize {
        let blank = !self.footer.is_empty() && !self.ranks.is_empty();
        self.footer.len() + if blank { 1 } else { 0 }
    }

    fn columns(&self) -> Columns {
        let widest = |width: fn(&Rank) -> usize| self.ranks.iter().map(width).max().unwrap_or(0);
        Columns {
            rank: widest(|row| row.rank.to_string().len()),
            name: widest(|row| row.name.width()),
            score: widest(|row| row.score.width()),
        }
    }

    /// The rows that fit without a frame.
    pub fn rows(&self, width: usize, height: usize) -> Vec<Line<'a>> {
        let mut columns = self.columns();
        let excess = columns.total().saturating_sub(width);
        columns.name = columns.name.saturating_sub(excess).max(SHORTEST_NAME.min(columns.name));
        let own = self.ranks.iter().position(|row| row.own);
        let shown = height.min(self.ranks.len());
        let mut rows: Vec<&Rank> = self.ranks.iter().take(shown).collect();
        if let (Some(own), Some(last)) = (own.filter(|&own| own >= shown), rows.last_mut()) {
            *last = &self.ranks[own];
        }
        rows.into_iter().map(|row| columns.line(row)).collect()
    }

    fn lines(&self, width: usize, height: usize) -> Vec<Line<'a>> {
        let room = height.saturating_sub(self.footer_height());
        // Without room for both, the keys are more important than a second row.
        let mut lines = self.rows(width, room.max(1.min(height)));
        let footer = self.footer.iter().map(|&line| Line::raw(line));
        let room_for_blank = lines.len() + self.footer.len() < height;
        let blank = (room_for_blank && !self.footer.is_empty() && !lines.is_empty()).then(Line::default);
        lines.extend(blank.into_iter().chain(footer));
        lines.truncate(height);
        lines
    }
}

impl Widget for &Ranking<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let room = usize::from(area.width.saturating_sub(FRAME.width)).max(1);
        let wrapped: Vec<&str> = self.footer.iter().flat_map(|line| wrap(line, room)).collect();
        let ranking = Ranking { footer: &wrapped, ..*self };
        // The standing is omitted first.
        let mut standing = ranking.standing();
        let size = ranking.size_below(&standing);
        if size.width > area.width || size.height > area.height {
            standing.clear();
        }
        let wanted = ranking.size_below(&standing);
        let (width, height) = (wanted.width.min(area.width), wanted.height.min(area.height));
        let place = area.centered(Constraint::Length(width), Constraint::Length(height));
        Clear.render(place, buffer);
        // The frame is omitted before any content.
        let columns = ranking.columns();
        let least = narrow(columns.total() - columns.name.saturating_sub(SHORTEST_NAME));
        let framed = width >= least.saturating_add(FRAME.width)
            && usize::from(height) >= usize::from(FRAME.height) + ranking.footer_height() + ranking.ranks.len().min(1);
        let inner = if framed {
            let block = Block::bordered().title(format!(" {} ", self.title));
            let inner = block.inner(place);
            block.render(place, buffer);
            Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner }
        } else {
            place
        };
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let mut top: Vec<Line<'_>> = standing.into_iter().map(|line| Line::styled(line, bold)).collect();
        if !top.is_empty() {
            top.push(Line::default());
        }
        let rest = usize::from(inner.height).saturating_sub(top.len());
        let lines: Vec<Line<'_>> = top.into_iter().chain(ranking.lines(usize::from(inner.width), rest)).collect();
        Paragraph::new(lines).render(inner, buffer);
    }
}

const fn ordinal(rank: usize) -> &'static str {
    match (rank % 10, rank % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

#[derive(Debug, Clone, Copy)]
struct Columns {
    rank: usize,
    name: usize,
    score: usize,
}

impl Columns {
    const fn total(self) -> usize {
        self.rank + self.name + self.score + MARKS
    }

    fn line(self, row: &Rank) -> Line<'static> {
        let name = fit(&row.name, self.name);
        let blanks = " ".repeat(self.name.saturating_sub(name.width()) + GAP + self.score - row.score.width());
        let own = if row.own { '>' } else { ' ' };
        let star = if row.rank == 1 { " ★" } else { "  " };
        let text = format!("{own} {:>rank$}. {name}{blanks}{}{star}", row.rank, row.score, rank = self.rank);
        let mut style = Style::new();
        if row.rank == 1 {
            style = style.add_modifier(Modifier::BOLD);
        }
        if row.own {
            style = style.add_modifier(Modifier::REVERSED);
        }
        Line::from(Span::styled(text, style))
    }
}

/// Cut text ends with `…`.
pub fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (mut fitting, mut used) = (String::new(), 1);
    for grapheme in text.graphemes(true) {
        used += grapheme.width();
        if used > width {
            break;
        }
        fitting.push_str(grapheme);
    }
    if width > 0 {
        fitting.push('…');
    }
    fitting
}

fn narrow(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(rank: usize, name: &str, score: u32, own: bool) -> Rank {
        Rank { rank, name: name.into(), score: score.to_string(), value: score, own }
    }

    fn ranks() -> Vec<Rank> {
        vec![rank(1, "Ann", 130, false), rank(2, "Bob the builder", 80, false), rank(3, "日本", 40, true)]
    }

    fn drawn(ranking: Ranking<'_>, width: u16, height: u16) -> (Vec<String>, Buffer) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        ranking.render(buffer.area, &mut buffer);
        let mut lines = vec![];
        for y in 0..height {
            let (mut line, mut skip) = (String::new(), 0);
            for x in 0..width {
                let symbol = buffer[(x, y)].symbol();
                if skip == 0 {
                    line.push_str(symbol);
                }
                skip = symbol.width().max(skip).saturating_sub(1);
            }
            lines.push(line.trim_end().to_owned());
        }
        (lines, buffer)
    }

    #[test]
    fn winner_and_user_are_marked() {
        let ranks = ranks();
        let ranking = Ranking::new("Game over", &ranks, &["Q leave"]);
        assert_eq!(ranking.size(), Size::new(31, 10));
        let (lines, buffer) = drawn(ranking, 31, 10);
        assert_eq!(
            lines,
            [
                "┌ Game over ──────────────────┐",
                "│ 3rd of 3                    │",
                "│ 90 behind Ann               │",
                "│                             │",
                "│   1. Ann              130 ★ │",
                "│   2. Bob the builder   80   │",
                "│ > 3. 日本              40   │",
                "│                             │",
                "│ Q leave                     │",
                "└─────────────────────────────┘",
            ]
        );
        assert!(buffer[(4, 4)].modifier.contains(Modifier::BOLD));
        assert!(buffer[(4, 6)].modifier.contains(Modifier::REVERSED));
        assert!(!buffer[(4, 5)].modifier.intersects(Modifier::BOLD | Modifier::REVERSED));
    }

    #[test]
    fn standing_is_the_place_and_the_distance() {
        let standing = |scores: [u32; 3], own: usize| {
            let place = |score| 1 + scores.iter().filter(|&&other| other > score).count();
            let row = |(at, &score): (usize, &u32)| rank(place(score), ["Ann", "Bob", "Cid"][at], score, at == own);
            let ranks: Vec<Rank> = scores.iter().enumerate().map(row).collect();
            Ranking::new("", &ranks, &[]).standing().join(", ")
        };
        assert_eq!(standing([9, 7, 2], 0), "1st of 3, 2 ahead of Bob");
        assert_eq!(standing([9, 9, 2], 1), "1st of 3, shared");
        assert_eq!(standing([9, 7, 2], 2), "3rd of 3, 7 behind Ann");
        assert_eq!(standing([9, 7, 2], 3), "");
    }

    #[test]
    fn names_are_cut_and_the_own_row_stays() {
        let ranks = ranks();
        let ranking = Ranking::new("Game over", &ranks, &["Q leave"]);
        assert_eq!(
            drawn(ranking, 22, 6).0,
            [
                "┌ Game over ─────────┐",
                "│   1. Ann     130 ★ │",
                "│ > 3. 日本     40   │",
                "│                    │",
                "│ Q leave            │",
                "└────────────────────┘",
            ]
        );
        assert_eq!(drawn(ranking, 18, 3).0, ["> 3. 日本     40", "", "Q leave"]);
        assert_eq!(drawn(ranking, 18, 1).0, ["> 3. 日本     40"]);
        for (width, height) in [(0, 0), (1, 1), (3, 2), (80, 1), (1, 80)] {
            drawn(ranking, width, height);
        }
        drawn(Ranking::new("", &[], &[]), 10, 5);
    }

    #[test]
    fn lines_at_the_bottom_are_wrapped_at_words() {
        let ranking = Ranking::new("The end", &[], &["You have been replaced by a new spectator.", "Q leave"]);
        assert_eq!(
            drawn(ranking, 30, 7).0,
            [
                "",
                " ┌ The end ──────────────────┐",
                " │ You have been replaced by │",
                " │ a new spectator.          │",
                " │ Q leave                   │",
                " └───────────────────────────┘",
                "",
            ]
        );
    }

    #[test]
    fn text_is_cut_by_columns_not_by_characters() {
        assert_eq!(fit("Bob", 3), "Bob");
        assert_eq!(fit("Bobby", 3), "Bo…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("日本語", 3), "日…");
        assert_eq!(fit("👨‍👩‍👧🚀", 3), "👨‍👩‍👧…", "between characters as one sees them");
        assert_eq!(fit("Bob", 0), "");
    }
}
