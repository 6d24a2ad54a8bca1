//! The top and bottom lines of a screen, alike in all programs.

use std::borrow::Cow;

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::Widget,
};

use crate::palette::{Palette, Shade};

const GAP: usize = 2;
const KEY_GAP: &str = "   ";

/// A game's name and its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Title(&'static str, Shade);

impl Title {
    pub const NUGGETS: Self = Self("NUGGETS", Shade(Color::Rgb(255, 180, 84), Color::LightYellow));
    pub const ROBOTS: Self = Self("ROBOTS", Shade(Color::Rgb(255, 132, 103), Color::LightRed));
    pub const BLACKJACK: Self = Self("GAME OF 21", Shade(Color::Rgb(83, 210, 154), Color::LightGreen));
    pub const MASTERMIND: Self = Self("MASTERMIND", Shade(Color::Rgb(182, 153, 255), Color::LightMagenta));
}

/// The urgency of a text, as its colour, without which it has the same meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Warning,
    Bad,
}

impl Tone {
    pub fn style(self, palette: Palette) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Good => palette.style(Shade(Color::Rgb(90, 209, 155), Color::LightGreen), Modifier::empty()),
            Self::Warning => palette.style(Shade(Color::Rgb(255, 201, 60), Color::LightYellow), Modifier::BOLD),
            Self::Bad => palette.style(Shade(Color::Rgb(255, 138, 128), Color::LightRed), Modifier::BOLD),
        }
    }
}

/// The top line: the game, facts about the match, and the state of the connection at the right edge.
///
/// A narrow window omits a good state, then the last facts, the game, and the texts at the right. The first fact is
/// cut.
#[derive(Debug, Clone)]
pub struct Header<'a> {
    palette: Palette,
    title: Option<Title>,
    facts: Vec<Cow<'a, str>>,
    right: Vec<(Cow<'a, str>, Tone)>,
}

impl<'a> Header<'a> {
    /// Without a title, a header begins with its first fact.
    pub const fn new(palette: Palette, title: Option<Title>) -> Self {
        Self { palette, title, facts: vec![], right: vec![] }
    }

    /// In order of importance. An empty text is omitted.
    #[must_use]
    pub fn fact(mut self, fact: impl Into<Cow<'a, str>>) -> Self {
        self.facts.extend(Some(fact.into()).filter(|fact| !fact.is_empty()));
        self
    }

    /// In order of importance, from the edge. An empty text is omitted.
    #[must_use]
    pub fn right(mut self, text: impl Into<Cow<'a, str>>, tone: Tone) -> Self {
        self.right.extend(Some((text.into(), tone)).filter(|(text, _)| !text.is_empty()));
        self
    }
}

fn width(text: &str) -> usize {
    Span::raw(text).width()
}

impl Widget for &Header<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let mut room = usize::from(area.width);
        let first = self.facts.first().map_or(0, |fact| width(fact));
        let all = self.facts.iter().map(|fact| width(fact) + GAP).sum::<usize>().saturating_sub(GAP);
        let title = self.title.map_or(0, |Title(name, _)| name.len() + 2 + GAP);
        let mut right: Vec<Span<'_>> = vec![];
        for (text, tone) in &self.right {
            let wanted = width(text) + GAP;
            if wanted + if *tone == Tone::Good { all.max(title + first) } else { first } > room {
                continue;
            }
            room -= wanted;
            if !right.is_empty() {
                right.insert(0, Span::raw("  "));
            }
            right.insert(0, Span::styled(&**text, tone.style(self.palette)));
        }
        let mut left: Vec<Span<'_>> = vec![];
        if let Some(Title(name, shade)) = self.title
            && title + first <= room
        {
            room -= title;
            let style = self.palette.style(shade, Modifier::BOLD | Modifier::REVERSED);
            left.extend([Span::styled(format!(" {name} "), style), Span::raw("  ")]);
        }
        for (number, fact) in self.facts.iter().enumerate() {
            let wanted = width(fact) + if number > 0 { GAP } else { 0 };
            if number > 0 && wanted > room {
                break;
            }
            room = room.saturating_sub(wanted);
            left.extend([Span::raw(if number > 0 { "  " } else { "" }), Span::raw(&**fact)]);
        }
        let line = Rect { height: area.height.min(1), ..area };
        Line::from(left).render(line, buffer);
        Line::from(right).right_aligned().render(line, buffer);
    }
}

/// The bottom line: a note, keys with their meanings, and a text at the right edge.
///
/// A narrow window shortens the note, then omits keys from the last, then the note. The last two keys, which show all
/// keys and leave, go last.
#[derive(Debug, Clone)]
pub struct Footer<'a> {
    keys: &'a [(&'a str, &'a str)],
    notes: Vec<Cow<'a, str>>,
    style: Style,
    right: Cow<'a, str>,
    right_style: Style,
}

impl<'a> Footer<'a> {
    pub const fn new(keys: &'a [(&'a str, &'a str)]) -> Self {
        Self { keys, notes: vec![], style: Style::new(), right: Cow::Borrowed(""), right_style: Style::new() }
    }

    /// Forms of the note, longest first.
    #[must_use]
    pub fn notes(mut self, notes: impl IntoIterator<Item = impl Into<Cow<'a, str>>>, style: Style) -> Self {
        self.notes = notes.into_iter().map(Into::into).filter(|note: &Cow<'_, str>| !note.is_empty()).collect();
        self.style = style;
        self
    }

    #[must_use]
    pub fn right(mut self, text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        (self.right, self.right_style) = (text.into(), style);
        self
    }

    fn line(&self, room: usize) -> Line<'_> {
        let optional = self.keys.len().saturating_sub(LAST_KEYS);
        let shortest = self.notes.last().map(|note| &**note);
        let notes = self.notes.iter().map(|note| Some(&**note)).map(|note| (note, optional));
        let fewer = (0..optional).rev().filter(|_| shortest.is_some()).map(|count| (shortest, count));
        // Without keys, the note is cut.
        let bare = (0..=optional).rev().map(|count| (None, count)).filter(|_| !self.keys.is_empty());
        let forms = notes.chain(fewer).chain(bare).map(|(note, count)| self.form(note, count));
        let mut last = Line::default();
        for form in forms {
            last = form;
            if last.width() <= room {
                break;
            }
        }
        last
    }

    fn form<'b>(&'b self, note: Option<&'b str>, count: usize) -> Line<'b> {
        let last = self.keys.len().saturating_sub(LAST_KEYS).max(count);
        let keys = self.keys[..count].iter().chain(&self.keys[last..]);
        let mut spans: Vec<Span<'_>> = note.map(|note| Span::styled(note, self.style)).into_iter().collect();
        for (key, meaning) in keys {
            if !spans.is_empty() {
                spans.push(Span::raw(KEY_GAP));
            }
            let bold = Style::new().add_modifier(Modifier::BOLD);
            spans.extend([Span::styled(*key, bold), Span::raw(" "), Span::raw(*meaning)]);
        }
        Line::from(spans)
    }
}

const LAST_KEYS: usize = 2;

impl Widget for &Footer<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let (line, whole) = (Rect { height: area.height.min(1), ..area }, usize::from(area.width));
        let right = if self.right.is_empty() { 0 } else { width(&self.right) + GAP };
        let beside = self.line(whole.saturating_sub(right));
        if right > 0 && beside.width() + right <= whole {
            Line::styled(&*self.right, self.right_style).right_aligned().render(line, buffer);
            beside.render(line, buffer);
        } else {
            self.line(whole).render(line, buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(widget: impl Widget, width: u16) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, 1));
        widget.render(buffer.area, &mut buffer);
        buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned()
    }

    #[test]
    fn header_omits_facts_then_the_title_then_the_right() {
        let header = Header::new(Palette::MONO, Some(Title::ROBOTS)).fact("Turn 3 of 9").fact("").fact("here");
        let header = header.right("online", Tone::Good).right("<>", Tone::Plain);
        assert_eq!(drawn(&header, 40), " ROBOTS   Turn 3 of 9  here   <>  online");
        assert_eq!(drawn(&header, 36), " ROBOTS   Turn 3 of 9     <>  online");
        assert_eq!(drawn(&header, 30), "Turn 3 of 9  here   <>  online");
        assert_eq!(drawn(&header, 20), "Turn 3 of 9       <>");
        assert_eq!(drawn(&header, 12), "Turn 3 of 9");
        assert_eq!(drawn(&header, 6), "Turn 3");
        let one = Header::new(Palette::MONO, Some(Title::ROBOTS)).fact("Turn 3 of 9").right("online", Tone::Good);
        assert_eq!(drawn(&one, 28), " ROBOTS   Turn 3 of 9", "the title precedes a good state");
        let status = Header::new(Palette::MONO, None).fact("Player A has 3 nuggets (247 nuggets unclaimed).");
        assert_eq!(drawn(&status, 47), "Player A has 3 nuggets (247 nuggets unclaimed).");
        for width in 0..4 {
            drawn(&header, width);
        }
    }

    #[test]
    fn footer_keeps_the_last_two_keys() {
        let keys = [("Space", "bomb"), ("K", "block"), ("?", "keys"), ("Q", "leave")];
        let footer = Footer::new(&keys).notes(["You are watching.", "Watching."], Style::new());
        assert_eq!(drawn(&footer, 60), "You are watching.   Space bomb   K block   ? keys   Q leave");
        assert_eq!(drawn(&footer, 52), "Watching.   Space bomb   K block   ? keys   Q leave");
        assert_eq!(drawn(&footer, 44), "Watching.   Space bomb   ? keys   Q leave");
        assert_eq!(drawn(&footer, 30), "Watching.   ? keys   Q leave");
        assert_eq!(drawn(&footer, 20), "? keys   Q leave");
        let timed = Footer::new(&keys).right("9 s", Style::new());
        assert_eq!(drawn(&timed, 44), "Space bomb   K block   ? keys   Q leave  9 s");
        assert_eq!(drawn(&timed, 40), "Space bomb   ? keys   Q leave        9 s");
        assert_eq!(drawn(&timed, 17), "? keys   Q leave");
        for width in 0..4 {
            drawn(&timed, width);
        }
    }

    #[test]
    fn colours_of_tones_differ_and_are_absent_without_colour() {
        let tones = [Tone::Plain, Tone::Good, Tone::Warning, Tone::Bad];
        let colours = tones.map(|tone| tone.style(Palette::COLOUR).fg);
        assert!((0..4).all(|index| !colours[..index].contains(&colours[index])));
        assert!(tones.iter().all(|tone| tone.style(Palette::MONO).fg.is_none()));
    }
}
