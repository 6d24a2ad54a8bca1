use std::collections::BTreeMap;

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Modifier, Style},
    widgets::Widget,
};
use robots::{Parameters, Player, PlayerId};
use termkit::{Ranking, fit, printable};

use crate::{
    footer,
    picture::Picture,
    results::GameResult,
    roster::{Roster, Row},
    view::HINTS_FROM,
};

/// A lower window has the parameters in two lines.
const FACTS_FROM: u16 = 14;
/// A wider window has the last result at the right.
const BESIDE_FROM: u16 = 90;
/// Of the lobby and of the last result, in columns.
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
        let width = if beside { (area.width - GAP) / 2 } else { area.width }.min(WIDEST);
        let used = if beside { 2 * width + GAP } else { width };
        let x = area.x + if area.width > used { (area.width - used) / 2 } else { 0 };
        self.header(String::new()).fact(title).render(area, buffer);
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
            let usual = footer::lobby(view, own.is_some(), self.contact.server);
            self.hints(trouble, &usual, Rect { y: bottom, height: 1, ..area }, buffer);
        }
    }
}

// By number, with the address only if several players share a name.
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
    let joined = format!("{there} of {players_count}, waiting for {missing} more");
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

// Rows for the last result, with a blank line and the title: at most half of the room, unless the list leaves more.
fn below(last: &GameResult, room: u16, listed: usize) -> u16 {
    let lines = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    let wanted = lines(last.places.len() + 2);
    let spare = room.saturating_sub(lines(listed + 1));
    wanted.min(spare.max(room / 2))
}

// Draws the ranks that fit, always including the user's own.
fn last_game(last: &GameResult, area: Rect, buffer: &mut Buffer) {
    let ranks = last.ranks();
    // A blank line comes first, unless the area is too low.
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
