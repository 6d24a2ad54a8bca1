//! The screen of a lobby: the parameters, who has joined, and how the last game ended.

use std::collections::BTreeMap;

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Modifier, Style},
    text::Span,
    widgets::Widget,
};
use robots::{Parameters, Player, PlayerId};
use termkit::{Palette, Ranking, StatusLine, fit, printable};

use crate::{
    footer,
    picture::{Picture, label, style},
    results::GameResult,
    view::HINTS_FROM,
};

/// A lower window has the parameters in two lines.
const FACTS_FROM: u16 = 14;
/// A wider window has the last result at the right.
const BESIDE_FROM: u16 = 90;
/// What the lobby and the last result have at most, in columns, and what is between them.
const WIDEST: u16 = 60;
const GAP: u16 = 4;

impl Picture<'_> {
    pub(crate) fn lobby(
        &self,
        parameters: &Parameters,
        players: &BTreeMap<PlayerId, Player>,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let view = self.view;
        let hints = area.height >= HINTS_FROM;
        let trouble = footer::trouble(view, self.contact);
        let title = format!("Lobby of {}", printable(&parameters.server_name));
        let title = if hints { title } else { trouble.clone().unwrap_or(title) };
        let facts = facts(parameters, players.len(), area.height);
        let bottom = area.bottom() - u16::from(hints);
        let result = view.last.as_ref();
        let beside = result.is_some() && area.width >= BESIDE_FROM;
        // In the middle of a wide window.
        let width = if beside { (area.width - GAP) / 2 } else { area.width }.min(WIDEST);
        let used = if beside { 2 * width + GAP } else { width };
        let x = area.x + if area.width > used { (area.width - used) / 2 } else { 0 };
        let top = Rect { x, width: area.right() - x, ..area };
        StatusLine::new(&title).render(top, buffer);
        let mut y = area.y + 1;
        for fact in &facts {
            buffer.set_stringn(x, y, fact, usize::from(width), Style::new());
            y += 1;
        }
        let (rows, own) = (rows(players), view.own(players));
        let last = if rows.iter().all(|row| row.last.is_empty()) { "" } else { "address" };
        let roster = Roster { rows: &rows, last, at_right: false, in_view: own, palette: view.palette };
        let room = bottom.saturating_sub(y);
        let below = result.map_or(0, |last| below(last, room, rows.len())).min(if beside { 0 } else { room });
        roster.render(Rect { x, y, width, height: room - below }, buffer);
        if let Some(last) = result {
            let place = if beside {
                Rect { x: x + width + GAP, y: area.y + 1, width, height: bottom.saturating_sub(area.y + 1) }
            } else {
                Rect { x, y: bottom - below, width, height: below }
            };
            last_game(last, place, buffer);
        }
        if hints {
            let usual = footer::lobby(view, own.is_some(), self.contact.server, area.width);
            self.hints(trouble, &usual, Rect { y: bottom, height: 1, ..area }, buffer);
        }
    }
}

// Players by name. Only those who share a name are told apart by their addresses.
fn rows(players: &BTreeMap<PlayerId, Player>) -> Vec<Row> {
    let mut named = BTreeMap::<String, usize>::new();
    for player in players.values() {
        *named.entry(printable(&player.name)).or_default() += 1;
    }
    let row = |(&id, player): (&PlayerId, &Player)| {
        let name = printable(&player.name);
        let shared = named.get(&name).is_some_and(|&count| count > 1);
        let last = if shared { printable(&player.address) } else { String::new() };
        Row { id, name, last }
    };
    players.iter().map(row).collect()
}

fn facts(parameters: &Parameters, there: usize, height: u16) -> Vec<String> {
    let Parameters { players_count, size_x, size_y, game_length, explosion_radius, bomb_timer, .. } = parameters;
    let missing = usize::from(*players_count).saturating_sub(there);
    let joined = format!("{there} of {players_count}, {missing} more to come");
    if height >= FACTS_FROM {
        return vec![
            format!("Players           {joined}"),
            format!("Board             {size_x} x {size_y}"),
            format!("Length            {game_length} turns"),
            format!("Explosion radius  {explosion_radius}"),
            format!("Bomb timer        {bomb_timer} turns"),
            String::new(),
        ];
    }
    let rest = format!("{size_x} x {size_y}, {game_length} turns, radius {explosion_radius}, bombs {bomb_timer}");
    // The list needs a line or two as well.
    [format!("Players {joined}"), rest].into_iter().take(usize::from(height / 3)).collect()
}

// Lines of the last result below the list of players, with a blank one and the title: no more than half of the room unless
// the list leaves more.
fn below(last: &GameResult, room: u16, listed: usize) -> u16 {
    let lines = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    let wanted = lines(last.places.len() + 2);
    let spare = room.saturating_sub(lines(listed + 1));
    wanted.min(spare.max(room / 2))
}

// The title and the ranks, as many as there is room for, the own one in any case.
fn last_game(last: &GameResult, area: Rect, buffer: &mut Buffer) {
    let ranks = last.ranks();
    // The blank line comes first when they stand below something.
    let (mut y, bottom) = (area.y + u16::from(area.height > 2), area.bottom());
    if y >= bottom {
        return;
    }
    let width = usize::from(area.width);
    let title = fit(&format!("Last game: {}", last.title()), width);
    buffer.set_stringn(area.x, y, title, width, Style::new().add_modifier(Modifier::UNDERLINED));
    y += 1;
    let rows = Ranking::new("", &ranks, &[]).rows(width, usize::from(bottom - y));
    for (y, row) in (y..).zip(rows) {
        buffer.set_line(area.x, y, &row, area.width);
    }
}

/// A line about a player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: PlayerId,
    /// As it can be shown.
    pub(crate) name: String,
    /// What stands in the last column.
    pub(crate) last: String,
}

/// A list of players, one per line. Players beyond the last line are counted; the player in view is always shown.
#[derive(Debug)]
pub(crate) struct Roster<'a> {
    pub(crate) rows: &'a [Row],
    /// What the last column is called, if there is one.
    pub(crate) last: &'a str,
    /// Whether it stands at the right edge rather than at the left of its column.
    pub(crate) at_right: bool,
    pub(crate) in_view: Option<PlayerId>,
    pub(crate) palette: Palette,
}

/// Columns of the mark and the label with a blank behind it.
const LABEL: usize = 4;
/// A name keeps at least so many columns before the last column gets any.
const NAME: usize = 6;

impl Roster<'_> {
    // The rows that are shown, and how many are not.
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
        // The label identifies a player too, so the number is the first to be left out.
        let with_number = LABEL + digits + 1 + NAME + 1 + wanted <= width || LABEL + NAME + 1 + wanted > width;
        let digits = if with_number { digits } else { 0 };
        let name_at = if with_number { LABEL + digits + 1 } else { LABEL };
        // A score or an address is shown whole or not at all.
        let last_width = if name_at + NAME + 1 + wanted <= width { wanted } else { 0 };
        let name_width = width.saturating_sub(name_at + if last_width > 0 { last_width + 1 } else { 0 });
        let longest = self.rows.iter().map(|row| Span::raw(&*row.name).width()).max().unwrap_or(0);
        // Texts stand next to the names, numbers at the right edge.
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
                // Numbers are what the list is about; a text only adds to the name.
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
            // Reversed letters are for the board; here there is the mark.
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
    fn what_does_not_fit_is_counted_and_the_player_in_view_is_shown() {
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
}
