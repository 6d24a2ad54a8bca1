//! The standings beside or below the map, to the extent that the messages contain them.

use std::cmp::Reverse;

use nuggets::{Client, Participant};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::Widget,
};
use termkit::{PLAYERS, Palette, Shade};

const GOLD: Shade = Shade(Color::Rgb(255, 201, 60), Color::Yellow);
const OTHERS: Shade = Shade(Color::Rgb(185, 174, 157), Color::Gray);
const SEPARATOR: &str = " · ";
/// Columns before a bar.
const LABELS: u16 = 16;

#[derive(Debug, Clone)]
struct Entry {
    name: String,
    gold: u32,
    own: bool,
}

impl Entry {
    fn text(&self) -> String {
        format!("{} {}", self.name, self.gold)
    }

    fn span(&self) -> Span<'static> {
        let own = if self.own { Modifier::BOLD | Modifier::REVERSED } else { Modifier::empty() };
        Span::styled(self.text(), Style::new().add_modifier(own))
    }
}

fn separated(spans: impl Iterator<Item = Span<'static>>) -> Line<'static> {
    let mut line = Line::default();
    for span in spans {
        if !line.spans.is_empty() {
            line.push_span(Span::raw(SEPARATOR));
        }
        line.push_span(span);
    }
    line
}

/// The gold of the user, of the other players, and on the map. A server sends the other purses only at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panel<'a> {
    pub(super) palette: Palette,
    pub(super) client: &'a Client,
    /// The most gold that was unclaimed or the user's own.
    pub(super) total: u32,
}

impl Panel<'_> {
    pub(super) const WIDTH: u16 = 24;
    pub(super) const WIDEST: u16 = 40;

    // Best first.
    fn entries(&self) -> Vec<Entry> {
        let Self { client, total, .. } = *self;
        let taken = total.saturating_sub(client.remaining());
        let entry = |name: &str, gold| Entry { name: name.to_owned(), gold, own: false };
        let mut entries = match client.participant() {
            Participant::Player(_) => {
                let letter = client.letter().map_or('?', |letter| char::from(letter.byte()));
                let own = Entry { name: format!("You ({letter})"), gold: client.purse(), own: true };
                vec![own, entry("Others", taken.saturating_sub(client.purse()))]
            }
            Participant::Spectator => match client.purses() {
                (purses, 0) if purses.is_empty() => vec![entry("Players", taken)],
                (purses, unknown) => {
                    let known = purses.iter().map(|(letter, gold)| entry(&letter.to_string(), *gold));
                    known.chain((unknown > 0).then(|| entry("?", unknown))).collect()
                }
            },
        };
        entries.sort_by_key(|entry| Reverse(entry.gold));
        entries
    }

    /// The standings in one line of `width` columns. Entries that do not fit are counted, but the user's own is never
    /// omitted.
    pub(super) fn line(&self, width: usize) -> Line<'static> {
        let entries = self.entries();
        let own = entries.iter().position(|entry| entry.own);
        let first = |count: usize| {
            let mut shown: Vec<&Entry> = entries.iter().take(count).collect();
            if let (Some(own), Some(last)) = (own.filter(|&own| own >= count), shown.last_mut()) {
                *last = &entries[own];
            }
            let rest = entries.len() - count;
            let spans = shown.into_iter().map(Entry::span).chain((rest > 0).then(|| Span::raw(format!("+{rest}"))));
            separated(spans)
        };
        let mut fitting = (1..=entries.len()).rev().map(first).filter(|line| line.width() <= width);
        let mut line = fitting.next().unwrap_or_else(|| first(1));
        let in_sight = self.in_sight();
        let more = format!("{SEPARATOR}in sight{in_sight}");
        if !in_sight.is_empty() && line.width() + more.chars().count() <= width {
            line.push_span(Span::raw(more));
        }
        line
    }

    /// What the status line lacks, for windows without room for a line of standings.
    pub(super) fn fact(&self) -> String {
        let entries: Vec<String> = self.entries().iter().filter(|entry| !entry.own).map(Entry::text).collect();
        match self.client.participant() {
            Participant::Player(_) => entries.join(", "),
            Participant::Spectator if self.client.purses() == (vec![], 0) => String::new(),
            Participant::Spectator => format!("Seen: {}", entries.join(", ")),
        }
    }

    fn in_sight(&self) -> String {
        let mut letters: Vec<u8> = self.client.display().iter().copied().filter(u8::is_ascii_uppercase).collect();
        letters.sort_unstable();
        letters.into_iter().flat_map(|letter| [' ', char::from(letter)]).collect()
    }
}

impl Widget for &Panel<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let plain = Style::new();
        let mut y = area.y;
        let mut put = |x: u16, y: u16, text: &str, style: Style| {
            if y < area.bottom() && x < area.right() {
                buffer.set_stringn(x, y, text, usize::from(area.right() - x), style);
            }
        };
        put(area.x, y, "Gold", plain.add_modifier(Modifier::BOLD));
        let bar = u32::from(area.width.saturating_sub(LABELS));
        let shade = |entry: &Entry| if entry.own { PLAYERS[2] } else { OTHERS };
        let entries = self.entries().into_iter().map(|entry| (shade(&entry), entry));
        let left = (GOLD, Entry { name: "Left".to_owned(), gold: self.client.remaining(), own: false });
        for (shade, Entry { name, gold, .. }) in entries.chain([left]) {
            y += 1;
            put(area.x, y, &format!("{name:<9}{gold:>5}"), plain);
            let length = (u64::from(gold) * u64::from(bar)).div_ceil(u64::from(self.total.max(1)));
            let length = usize::try_from(length).unwrap_or(0);
            put(area.x + LABELS, y, &"█".repeat(length), self.palette.style(shade, Modifier::empty()));
        }
        let in_sight = self.in_sight();
        if !in_sight.is_empty() {
            put(area.x, y + 2, &format!("In sight{in_sight}"), plain);
        }
    }
}
