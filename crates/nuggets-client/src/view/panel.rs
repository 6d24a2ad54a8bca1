//! The standings beside the map, as far as the messages contain them.

use nuggets::{Client, Participant};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
    widgets::Widget,
};
use termkit::{PLAYERS, Palette, Shade};

const GOLD: Shade = Shade(Color::Rgb(255, 201, 60), Color::Yellow);
const OTHERS: Shade = Shade(Color::Rgb(185, 174, 157), Color::Gray);
/// Columns before a bar.
const LABELS: u16 = 16;

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

    fn rows(&self) -> Vec<(String, u32, Shade)> {
        let Self { client, total, .. } = *self;
        let taken = total.saturating_sub(client.remaining());
        let mut rows = match client.participant() {
            Participant::Player(_) => {
                let letter = client.letter().map_or('?', |letter| char::from(letter.byte()));
                let own = (format!("You ({letter})"), client.purse(), PLAYERS[2]);
                let others = ("Others".to_owned(), taken.saturating_sub(client.purse()), OTHERS);
                vec![own, others]
            }
            Participant::Spectator => vec![("Players".to_owned(), taken, OTHERS)],
        };
        rows.sort_by_key(|&(_, gold, _)| std::cmp::Reverse(gold));
        rows.push(("Left".to_owned(), client.remaining(), GOLD));
        rows
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
        for (name, gold, shade) in self.rows() {
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
