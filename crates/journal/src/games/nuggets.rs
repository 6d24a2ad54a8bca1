//! Nuggets: the map as a spectator or a player saw it.

use bytes::Bytes;
use journal_core::Replay;
use netcore::{Client as _, Link, Time};
use nuggets::{Client, Config, Direction, Letter, Name, Participant, Server, Setup};
use nuggets_client::View;
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    widgets::{Paragraph, Widget},
};
use serde::Deserialize;
use termkit::Palette;

use super::{Game, GameDisplay, PeerIdentity, snapshot_frames};
use crate::format::plain;

impl Game for Server {
    type Display = NuggetsDisplay;

    fn describe_setup(setup: &Setup, _: bool) -> Vec<(&'static str, String)> {
        let Some(SetupFields { map, config }) = fields(setup) else { return vec![] };
        let (rows, columns) = (map.lines().count(), map.lines().next().map_or(0, str::len));
        let Config { rules, idle_timeout, rematch, wait_for, countdown, seed, spectators } = config;
        let mut words = vec![
            ("map", format!("{columns} columns, {rows} rows")),
            ("gold", format!("{} nuggets in {} to {} piles", rules.gold, rules.min_piles, rules.max_piles)),
            ("seed", seed.to_string()),
        ];
        if let Some(radius) = rules.vision.radius {
            words.push(("vision", format!("{radius} spots")));
        }
        if rules.steal_percent > 0 {
            words.push(("steal", format!("{} percent of a purse", rules.steal_percent)));
        }
        if rules.run_stop {
            words.push(("runs", "stop on gold and after a swap".into()));
        }
        if rules.drop_on_quit {
            words.push(("quitters", "drop their gold".into()));
        }
        if spectators > 1 {
            words.push(("spectators", format!("up to {spectators}")));
        }
        if let Some(limit) = idle_timeout {
            words.push(("idle", format!("a seat is lost after {} s without a key", limit.as_secs())));
        }
        if wait_for > 1 {
            words.push(("start", format!("when {wait_for} have joined")));
        }
        if let Some(countdown) = countdown {
            words.push(("countdown", format!("{} s", countdown.as_secs())));
        }
        if rematch {
            words.push(("rematch", "each game is followed by another".into()));
        }
        words
    }

    fn is_seat(seat: &str, typed: &str) -> bool {
        // A number counts from 1.
        let numbered = typed.parse::<usize>().ok().and_then(|number| Letter::from_index(number.checked_sub(1)?));
        seat.eq_ignore_ascii_case(typed) || numbered.is_some_and(|letter| letter.to_string() == seat)
    }
}

// The fields of the setup are private, so they are read from its serialization.
#[derive(Deserialize)]
struct SetupFields {
    map: String,
    config: Config,
}

fn fields(setup: &Setup) -> Option<SetupFields> {
    serde_json::from_value(serde_json::to_value(setup).ok()?).ok()
}

#[derive(Debug, Clone)]
pub(crate) struct NuggetsDisplay {
    seat: bool,
    client: Option<Client>,
    // When the spectator's display was drawn: the position in the match.
    drawn_at: Option<(u64, Time)>,
    name: String,
}

impl GameDisplay<Server> for NuggetsDisplay {
    type View = (View, Palette);

    fn new(seat: bool) -> Self {
        Self { seat, client: None, drawn_at: None, name: String::new() }
    }

    fn take_seat(&mut self, identity: &PeerIdentity, link: Link, time: Time) {
        self.name.clone_from(&identity.name);
        let part = Name::new(identity.name.as_bytes()).map_or(Participant::Spectator, Participant::Player);
        self.client = Some(Client::with_link(link, part, time));
    }

    fn receive(&mut self, _: bool, frame: &Bytes, time: Time) {
        if let Some(client) = &mut self.client
            && self.seat
        {
            // The client reports errors itself.
            let _ = client.receive(time, frame);
        }
    }

    fn view(palette: Palette) -> Self::View {
        (View::new(palette, false), palette)
    }

    fn scroll(&self, (view, _): &mut Self::View, columns: i32, rows: i32) {
        let Some(client) = &self.client else { return };
        let direction = match (columns.signum(), rows.signum()) {
            (-1, _) => Direction::Left,
            (1, _) => Direction::Right,
            (_, -1) => Direction::Up,
            _ => Direction::Down,
        };
        view.scroll(client, direction);
    }

    fn discard_later(&self, (view, palette): &mut Self::View) {
        // The player does not know later discoveries yet.
        if self.seat {
            *view = View::new(*palette, false);
        }
    }

    fn draw(&mut self, (view, _): &mut Self::View, replay: &Replay<Server>, area: Rect, buffer: &mut Buffer) {
        let now = (replay.arrivals(), replay.time());
        if !self.seat && self.drawn_at != Some(now) {
            self.drawn_at = Some(now);
            let mut client = Client::with_link(Link::Message, Participant::Spectator, now.1);
            for frame in snapshot_frames(replay) {
                let _ = client.receive(now.1, &frame);
            }
            self.client = Some(client);
        }
        let Some(client) = &self.client else {
            return Paragraph::new("This seat has not been taken.").render(area, buffer);
        };
        view.prepare(client, area.as_size());
        // Time stands still for the client.
        view.picture(client, Time::ZERO).render(area, buffer);
        if let Some(nuggets::End::Quit(text)) = client.end() {
            let lines: Vec<&str> = text.lines().collect();
            let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(area.height.saturating_sub(1));
            let bottom = Rect { y: area.bottom().saturating_sub(rows), height: rows, ..area };
            ratatui::widgets::Clear.render(bottom, buffer);
            let text: Vec<_> = lines.iter().map(|line| ratatui::text::Line::from(plain(line))).collect();
            Paragraph::new(text).render(bottom, buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use journal_core::Head;
    use nuggets::Grid;

    use super::*;

    #[test]
    fn setup_from_before_the_spectators_option_allows_one_spectator() {
        let (grid, _) = Grid::parse(b"+---+\n|...|\n+---+\n").unwrap();
        let server = Server::new(Arc::new(grid), Config { spectators: 3, ..Config::default() }).unwrap();
        let spectators = |head: &Head| fields(&head.setup::<Server>().unwrap()).unwrap().config.spectators;
        let head = Head::new(&server, "test", vec![], 0);
        assert_eq!(spectators(&head), 3);
        let mut earlier = serde_json::to_value(&head).unwrap();
        assert_eq!(earlier["setup"].as_array_mut().unwrap().pop(), Some(3.into()));
        assert_eq!(spectators(&serde_json::from_value(earlier).unwrap()), 1);
    }
}
