//! The board, which all peers see. From a seat, its robot is kept in view.

use bytes::Bytes;
use journal_core::{Peer, Replay};
use netcore::{Client as _, Link, Time, wire::ShortText};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    widgets::{Paragraph, Widget},
};
use robots::{Client, Config, Direction, PlayerId, Server};
use robots_gui::{Contact, Follow, View};
use termkit::Palette;

use super::{Game, GameDisplay, PeerIdentity, Step, snapshot_frames};
use crate::format::plain;

impl Game for Server {
    type Display = Field;

    const STEP: Step = Step::Turn;

    fn describe_setup(config: &Config, _: bool) -> Vec<(&'static str, String)> {
        let parameters = &config.parameters;
        vec![
            ("server", plain(&parameters.server_name)),
            ("players", parameters.players_count.to_string()),
            ("board", format!("{} x {}", parameters.size_x, parameters.size_y)),
            ("length", format!("{} turns of {} ms", parameters.game_length, config.turn_duration.as_millis())),
            ("bombs", format!("{} turns, radius {}", parameters.bomb_timer, parameters.explosion_radius)),
            ("blocks", format!("{} drawn at the start", config.initial_blocks)),
            ("seed", config.seed.to_string()),
        ]
    }

    fn is_seat(seat: &str, typed: &str) -> bool {
        // A letter counts from A.
        let letter = seat.parse::<u8>().ok().filter(|&number| number < 26).map(|number| char::from(b'A' + number));
        seat == typed || letter.is_some_and(|letter| typed.eq_ignore_ascii_case(&letter.to_string()))
    }

    fn turn(&self) -> Option<u64> {
        self.game().map(|game| game.turn().into())
    }

    fn identity(&self, peer: &Peer) -> Option<PeerIdentity> {
        let found = self.players().iter().find(|(_, player)| *player.address == *peer.address)?;
        Some(PeerIdentity { name: found.1.name.to_string(), seat: found.0.0.to_string() })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    client: Client,
    followed: Option<PlayerId>,
}

impl GameDisplay<Server> for Field {
    type View = (View, Option<PlayerId>, Palette);

    const HINTS: bool = true;

    fn new(_: bool) -> Self {
        Self { client: Client::new(ShortText::default(), None), followed: None }
    }

    fn begin(&mut self, replay: &Replay<Server>) {
        for frame in snapshot_frames(replay) {
            self.receive(true, &frame, replay.time());
        }
    }

    fn take_seat(&mut self, identity: &PeerIdentity, _: Link, _: Time) {
        self.followed = identity.seat.parse().ok().map(PlayerId);
    }

    fn receive(&mut self, to_all: bool, frame: &Bytes, time: Time) {
        if to_all {
            // Messages of a server are always valid.
            let _ = self.client.receive(time, frame);
        }
    }

    fn view(palette: Palette) -> Self::View {
        (View::new(palette, Follow::Nobody), None, palette)
    }

    fn scroll(&self, (view, ..): &mut Self::View, columns: i32, rows: i32) {
        view.scroll(match (columns.signum(), rows.signum()) {
            (-1, _) => Direction::Left,
            (1, _) => Direction::Right,
            (_, -1) => Direction::Up,
            _ => Direction::Down,
        });
    }

    fn follow_next(&self, (view, ..): &mut Self::View) {
        view.follow_next();
    }

    fn draw(
        &mut self,
        (view, follows, palette): &mut Self::View,
        replay: &Replay<Server>,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        if *follows != self.followed {
            *follows = self.followed;
            *view = View::new(*palette, self.followed.map_or(Follow::Nobody, Follow::Id));
        }
        match self.client.picture() {
            Some(Ok(picture)) => {
                view.show(replay.time(), picture);
                view.prepare(replay.time(), area.as_size());
                view.picture(&Contact::default()).render(area, buffer);
            }
            Some(Err(error)) => Paragraph::new(error.to_string()).render(area, buffer),
            None => Paragraph::new("The match has not begun.").render(area, buffer),
        }
    }
}
