//! The last line of the screen: key hints, or the current problem.

use std::time::Duration;

use ratatui::style::Style;
use robots::{DrawMessage, GamePicture};
use termkit::{Footer, Palette, Tone};

use crate::{
    roster::label_text,
    sender::{Contact, Server},
    view::{Showing, UserRole, View},
};

type Keys = &'static [(&'static str, &'static str)];

const GENERAL: Keys = &[("?", "keys"), ("Q", "leave")];
const JOINING: Keys = &[("Space", "join"), ("?", "keys"), ("Q", "leave")];
const STEERING: Keys =
    &[("WASD", "move"), ("Space", "bomb"), ("K", "block"), ("B", "blasts"), ("?", "keys"), ("Q", "leave")];
const LOOKING: Keys =
    &[("Tab", "next robot"), ("Shift+arrow", "look around"), ("B", "blasts"), ("?", "keys"), ("Q", "leave")];

/// Forms of a note, longest first, and the available keys.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    pub(crate) notes: Vec<String>,
    pub(crate) keys: Vec<(&'static str, &'static str)>,
}

impl Hints {
    fn new<const N: usize>(notes: [&str; N], keys: Keys) -> Self {
        Self { notes: notes.map(str::to_owned).into(), keys: keys.into() }
    }

    pub(crate) fn line(&self, palette: Palette) -> Footer<'_> {
        let style = if self.keys.is_empty() { Tone::Bad.style(palette) } else { Style::new() };
        Footer::new(&self.keys).notes(self.notes.iter().map(String::as_str), style)
    }
}

pub(crate) fn lobby(view: &View, joined_already: bool, server: Server) -> Hints {
    let Some(role) = view.role else { return Hints::default() };
    if server == Server::Gone {
        return Hints::new(["The connection is closed.", "Closed."], GENERAL);
    }
    match (role, joined_already, view.has_asked()) {
        (UserRole::Player | UserRole::Remote, true, _) => {
            Hints::new(["You have joined. Waiting for other players.", "Joined."], GENERAL)
        }
        (UserRole::Player | UserRole::Remote, false, true) => {
            Hints::new(["You requested to join.", "Join requested."], GENERAL)
        }
        (UserRole::Player | UserRole::Remote, false, false) => Hints::new([], JOINING),
        (UserRole::Observer, ..) => Hints::new(["You are only watching.", "Watching."], GENERAL),
        (UserRole::Bot, true, _) => Hints::new(["The bot has joined."], GENERAL),
        (UserRole::Bot, false, _) => Hints::new(["The bot joins automatically.", "The bot joins."], GENERAL),
    }
}

pub(crate) fn game(view: &View, game: &GamePicture, turn: Option<Duration>) -> Hints {
    let Some(role) = view.role else { return Hints::default() };
    let own = view.own(&game.players).map(label_text);
    match (role, own) {
        (UserRole::Bot, Some(own)) => {
            Hints::new([&*format!("The bot plays {own}."), &*format!("The bot is {own}.")], LOOKING)
        }
        (_, Some(own)) => Hints::new([&*format!("You are {own}.")], STEERING),
        (UserRole::Player | UserRole::Remote, None) if view.looks_on(&game.players) => {
            let left = until_the_end(game, turn);
            let long = format!("You are watching; you can join after this game, in {left}.");
            Hints::new([&*long, &*format!("Watching; join in {left}.")], LOOKING)
        }
        (UserRole::Remote | UserRole::Player, None) => Hints::new([], STEERING),
        (UserRole::Observer, None) => Hints::new(["Watching."], LOOKING),
        (UserRole::Bot, None) => Hints::new(["The bot waits for the next game.", "The bot waits."], LOOKING),
    }
}

pub(crate) fn result(view: &View, contact: &Contact) -> Hints {
    if contact.keys_ignored {
        return Hints::new(["Keys work again in a moment."], &[]);
    }
    let lobby = matches!(view.newest(), Some(DrawMessage::Lobby { .. }));
    let running = matches!(view.newest(), Some(DrawMessage::Game(game)) if !crate::results::is_last(game));
    let mut hints = match contact.server {
        Server::Gone => Hints::new(["The connection is closed."], &[]),
        Server::Lost => Hints::new(["No connection to the server; reconnecting."], &[]),
        Server::There if running => Hints::new(["The next game has started."], &[("Enter", "watch")]),
        Server::There if lobby && view.steers() => Hints::new([], &[("Enter", "again"), ("L", "lobby")]),
        Server::There => Hints::new([], &[("Enter", "lobby")]),
    };
    let tab = if view.showing == Showing::FinalBoard { "table" } else { "board" };
    hints.keys.extend([("Tab", tab), ("Q", "leave")]);
    hints
}

/// For the right end of the first line.
pub(crate) fn connection(view: &View, contact: &Contact) -> (&'static str, Tone) {
    match (view.role, contact.server) {
        (None, _) => ("", Tone::Plain),
        (_, Server::Lost) => ("reconnecting", Tone::Bad),
        (_, Server::Gone) => ("closed", Tone::Bad),
        _ if contact.refused => ("no client", Tone::Bad),
        _ if view.newest().is_none() => ("waiting", Tone::Warning),
        _ => ("online", Tone::Good),
    }
}

fn until_the_end(game: &GamePicture, turn: Option<Duration>) -> String {
    time_left(game, turn).map_or_else(
        || {
            let turns = game.game_length.saturating_sub(game.turn);
            if turns == 1 { "1 turn".to_owned() } else { format!("{turns} turns") }
        },
        |left| format!("about {left}"),
    )
}

pub(crate) fn time_left(game: &GamePicture, turn: Option<Duration>) -> Option<String> {
    let left = turn?.saturating_mul(u32::from(game.game_length.saturating_sub(game.turn)));
    let seconds = left.as_millis().div_ceil(1_000);
    Some(if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) })
}

pub(crate) fn trouble(view: &View, contact: &Contact) -> Option<String> {
    let Contact { client, port, silence, refused, server, .. } = contact;
    match server {
        Server::Lost => return Some("No connection to the server; reconnecting".to_owned()),
        // The key hints already report this.
        Server::Gone => return None,
        Server::There => {}
    }
    if *refused {
        return Some(format!("No client listens at {client}: is it running there?"));
    }
    let seconds = silence.as_ref()?.as_secs();
    match (view.newest(), view.role) {
        // The lobby sends a picture only when a player joins, so a long silence is normal.
        (Some(DrawMessage::Lobby { .. }), Some(UserRole::Remote)) => {
            Some(format!("No picture for {seconds} s; the lobby sends one when a player joins"))
        }
        // A client sends its lobby when a player joins or at a key.
        (None, Some(UserRole::Remote)) => Some(format!(
            "No picture for {seconds} s. Press Space to show the lobby of a waiting client, or start `robots-client \
             -s SERVER -d localhost:{port}`."
        )),
        (_, Some(UserRole::Remote)) => Some(format!("No picture for {seconds} s: is the client running at {client}?")),
        (Some(DrawMessage::Game(_)), Some(_)) => Some(format!("Nothing from the server for {seconds} s")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::game as board;

    #[test]
    fn remaining_game_is_shown_as_time_or_turns() {
        let mut game = board(3, 3, &[]);
        let second = Some(Duration::from_millis(200));
        assert_eq!(until_the_end(&game, None), "288 turns");
        assert_eq!(until_the_end(&game, second), "about 58 s");
        game.game_length = 3_000;
        assert_eq!(until_the_end(&game, second), "about 10 min");
        game.turn = 2_999;
        assert_eq!(until_the_end(&game, None), "1 turn");
        game.turn = 3_001;
        assert_eq!(until_the_end(&game, second), "about 0 s");
    }
}
