//! The last line of the screen: key hints, or the current problem.

use std::time::Duration;

use robots::{DrawMessage, GamePicture};
use unicode_width::UnicodeWidthStr;

use crate::{
    roster::label_text,
    sender::{Contact, Server},
    view::{Showing, UserRole, View},
};

const GENERAL: &str = "?: keys  Q: leave";
const STEERING: &str = "Move: WASD/arrows  Bomb: Space  Block: K";
const LOOKING: &str = "Tab: next robot  Shift+arrow: look around";

/// The first that fits into `width` columns, or else the last.
fn fitting(texts: impl IntoIterator<Item = String>, width: u16) -> String {
    let mut last = String::new();
    for text in texts {
        if text.width() <= usize::from(width) {
            return text;
        }
        last = text;
    }
    last
}

// The parts that are not empty, two blanks apart.
fn joined(parts: &[&str]) -> String {
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}

pub(crate) fn lobby(view: &View, joined_already: bool, server: Server, width: u16) -> String {
    let Some(role) = view.role else { return String::new() };
    if server == Server::Gone {
        return fitting(["The connection is closed.  Q: leave".to_owned(), "Q: leave".to_owned()], width);
    }
    let [long, short] = match (role, joined_already, view.has_asked()) {
        (UserRole::Player | UserRole::Remote, true, _) => ["You have joined. Waiting for other players.", "Joined."],
        (UserRole::Player | UserRole::Remote, false, true) => ["You requested to join.", "Join requested."],
        (UserRole::Player, false, false) => ["Press a game key to join, such as Space.", "Space: join"],
        (UserRole::Remote, false, false) => ["Press a game key to request to join, such as Space.", "Space: join"],
        (UserRole::Observer, ..) => ["You are only watching.", "Watching."],
        (UserRole::Bot, true, _) => ["The bot has joined.", "The bot has joined."],
        (UserRole::Bot, false, _) => ["The bot joins automatically.", "The bot joins."],
    };
    fitting([joined(&[long, GENERAL]), joined(&[short, GENERAL]), GENERAL.to_owned()], width)
}

pub(crate) fn game(view: &View, game: &GamePicture, turn: Option<Duration>, width: u16) -> String {
    let Some(role) = view.role else { return String::new() };
    let own = view.own(&game.players).map(label_text);
    let (who, brief, keys) = match (role, own) {
        (UserRole::Bot, Some(own)) => (format!("The bot plays {own}."), format!("The bot is {own}."), LOOKING),
        (_, Some(own)) => (format!("You are {own}."), format!("You are {own}."), STEERING),
        (UserRole::Player | UserRole::Remote, None) if view.looks_on(&game.players) => {
            let left = until_the_end(game, turn);
            let text = format!("You are watching; you can join after this game, in {left}.");
            (text, format!("Watching; join in {left}."), LOOKING)
        }
        (UserRole::Remote | UserRole::Player, None) => (String::new(), String::new(), STEERING),
        (UserRole::Observer, None) => ("Watching.".to_owned(), "Watching.".to_owned(), LOOKING),
        (UserRole::Bot, None) => ("The bot waits for the next game.".to_owned(), "The bot waits.".to_owned(), LOOKING),
    };
    let danger = "B: blasts";
    fitting(
        [
            joined(&[&who, keys, danger, GENERAL]),
            joined(&[&who, keys, GENERAL]),
            joined(&[&who, GENERAL]),
            joined(&[&brief, GENERAL]),
            GENERAL.to_owned(),
        ],
        width,
    )
}

pub(crate) fn result(view: &View, contact: &Contact) -> Vec<String> {
    if contact.keys_ignored {
        return vec!["Keys work again in a moment.".to_owned()];
    }
    let lobby = matches!(view.newest(), Some(DrawMessage::Lobby { .. }));
    let running = matches!(view.newest(), Some(DrawMessage::Game(game)) if !crate::results::is_last(game));
    let mut lines = vec![];
    let onwards = match contact.server {
        Server::Gone => {
            lines.push("The connection is closed.".to_owned());
            ""
        }
        Server::Lost => {
            lines.push("No connection to the server; reconnecting.".to_owned());
            ""
        }
        Server::There if running => {
            lines.push("The next game has started.".to_owned());
            "Enter: watch"
        }
        Server::There if lobby && view.steers() => "Enter: again  L: lobby",
        Server::There => "Enter: lobby",
    };
    let keys = if view.showing == Showing::FinalBoard { "Tab: table  Q: leave" } else { "Tab: board  Q: leave" };
    lines.extend([onwards, keys].iter().filter(|line| !line.is_empty()).map(|&line| line.to_owned()));
    lines
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
        // In the lobby a picture is sent only when a player joins, so a long silence is normal.
        (Some(DrawMessage::Lobby { .. }), Some(UserRole::Remote)) => {
            Some(format!("No picture for {seconds} s; the lobby sends one when a player joins"))
        }
        // A client sends its lobby when a player joins or when it receives a key.
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
