//! The position as text, as watchers or a player see it.

use std::fmt::Write as _;

use bytes::Bytes;
use journal_core::{Peer, Replay};
use netcore::{Client as _, Engine as _, Link, Time};
use ratatui::{buffer::Buffer, layout::Rect};
use termkit::Palette;
use turnbased::{Client, Name, Rules, ServerMessage, Setup, Table};

use super::{Game, GameDisplay, PeerIdentity, Scroll};

impl<R: Rules> Game for Table<R> {
    type Display = Position<R>;

    fn describe_setup(setup: &Setup<R::Options>, secrets: bool) -> Vec<(&'static str, String)> {
        let seed = if secrets { setup.seed().to_string() } else { "hidden (--secrets shows it)".to_owned() };
        let options = serde_json::to_string(setup.options()).unwrap_or_default();
        vec![("options", options), ("seed", seed)]
    }

    fn is_seat(seat: &str, typed: &str) -> bool {
        seat == typed
    }

    fn identity(&self, peer: &Peer) -> Option<PeerIdentity> {
        let found = self.roster().into_iter().find(|occupant| occupant.peer == peer.peer)?;
        Some(PeerIdentity { name: found.name, seat: found.seat })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Position<R: Rules> {
    seat: bool,
    player: Option<Client<R>>,
}

impl<R: Rules> GameDisplay<Table<R>> for Position<R> {
    type View = Scroll;

    fn new(seat: bool) -> Self {
        Self { seat, player: None }
    }

    fn take_seat(&mut self, identity: &PeerIdentity, link: Link, time: Time) {
        let is_same = |client: &Client<R>| client.seat().is_some_and(|seat| (seat + 1).to_string() == identity.seat);
        if self.player.as_ref().is_some_and(is_same) {
            return;
        }
        let mut client = Client::new(link, None);
        if let (Ok(seat), Ok(name)) = (identity.seat.parse(), Name::new(identity.name.as_bytes())) {
            // Sent before the event that reports the player.
            for message in [ServerMessage::Ok(seat), ServerMessage::Seat(seat, name.to_string())] {
                let _ = client.receive(time, &message.to_frame(link.framing()));
            }
        }
        self.player = Some(client);
    }

    fn receive(&mut self, _: bool, frame: &Bytes, time: Time) {
        if let Some(client) = &mut self.player {
            // Messages of a table are always valid.
            let _ = client.receive(time, frame);
        }
    }

    fn view(_: Palette) -> Scroll {
        Scroll::default()
    }

    fn scroll(&self, view: &mut Scroll, _: i32, rows: i32) {
        view.scroll(rows);
    }

    fn draw(&mut self, view: &mut Scroll, replay: &Replay<Table<R>>, area: Rect, buffer: &mut Buffer) {
        let table = replay.room().engine();
        let mut text = String::new();
        for occupant in table.roster() {
            let _ = writeln!(text, "{}: {}", occupant.seat, occupant.name);
        }
        let seen = self.player.as_ref().and_then(Client::view).cloned();
        match seen.or_else(|| table.view().filter(|_| !self.seat)) {
            Some(position) => {
                let _ = writeln!(text, "\n{}", R::text(&position));
            }
            None => text.push_str(if self.seat { "no player at this seat yet" } else { "no game yet" }),
        }
        if let Some(last) = table.last_move() {
            let _ = writeln!(text, "\nlast move: {} by {}", last.action, last.name);
        }
        view.draw(&text, area, buffer);
    }
}
