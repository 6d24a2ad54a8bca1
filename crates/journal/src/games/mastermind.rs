//! Mastermind: the public views of the games of all seats, or the view of a player.

use std::fmt::Write as _;

use bytes::Bytes;
use journal_core::{Peer, Replay};
use mastermind::{
    Client, Config, Mode, Name, Server, ServerMessage,
    view::{Board, TurnRecord as Entry},
};
use netcore::{Client as _, Engine as _, Link, Time};
use ratatui::{buffer::Buffer, layout::Rect};
use termkit::Palette;

use super::{Game, GameDisplay, PeerIdentity, Scroll};

impl Game for Server {
    type Display = Boards;

    fn describe_setup(config: &Config, secrets: bool) -> Vec<(&'static str, String)> {
        let played = match config.mode {
            Mode::Solo => "each player alone".to_owned(),
            Mode::Race(players) => format!("a race of {players}, {} s at most", config.limit.as_secs()),
            Mode::Daily | Mode::Keyed(_) => "the puzzle of the day".to_owned(),
        };
        let repeats = if config.repeats { "with repeats" } else { "no repeats" };
        let mut words = vec![("played", played), ("codes", format!("{} pegs, {repeats}", config.length))];
        if let Some(first) = config.first_day {
            let lasts = first.lasts.as_secs();
            words.push(("day", format!("{} at first, for {lasts} s", mastermind::Day(first.day))));
        }
        let seed = if secrets {
            config.seed.to_string()
        } else {
            "hidden, because it determines the codes (--secrets shows it)".into()
        };
        words.push(("seed", seed));
        words
    }

    fn is_seat(seat: &str, typed: &str) -> bool {
        seat == typed
    }

    fn identity(&self, peer: &Peer) -> Option<PeerIdentity> {
        let found =
            self.roster().into_iter().find(|occupant| occupant.peer == peer.peer && !occupant.seat.is_empty())?;
        Some(PeerIdentity { name: found.name, seat: found.seat })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Boards {
    seat: bool,
    player: Option<(String, Client)>,
}

impl GameDisplay<Server> for Boards {
    type View = Scroll;

    fn new(seat: bool) -> Self {
        Self { seat, player: None }
    }

    fn take_seat(&mut self, identity: &PeerIdentity, link: Link, time: Time) {
        // A player who stays joins again after each game.
        let stays = |(name, client): &(String, Client)| {
            *name == identity.name && client.seat().is_some_and(|seat| seat.to_string() == identity.seat)
        };
        if self.player.as_ref().is_some_and(stays) {
            return;
        }
        let mut client = Client::new(link, None);
        if let (Ok(seat), Ok(name)) = (identity.seat.parse(), Name::new(identity.name.as_bytes())) {
            // Sent before the event that reports the player.
            for message in [ServerMessage::Ok(seat), ServerMessage::Seat(seat, name)] {
                let _ = client.receive(time, &message.to_frame(link.framing()));
            }
        }
        self.player = Some((identity.name.clone(), client));
    }

    fn receive(&mut self, _: bool, frame: &Bytes, time: Time) {
        if let Some((_, client)) = &mut self.player {
            // Messages of a server are always valid.
            let _ = client.receive(time, frame);
        }
    }

    fn view(_: Palette) -> Scroll {
        Scroll::default()
    }

    fn scroll(&self, view: &mut Scroll, _: i32, rows: i32) {
        view.scroll(rows.saturating_mul(4));
    }

    fn draw(&mut self, view: &mut Scroll, replay: &Replay<Server>, area: Rect, buffer: &mut Buffer) {
        let mut text = String::new();
        match &self.player {
            Some((name, client)) => {
                write_board(&mut text, name, client.board());
                let mut own = false;
                for (other, board) in replay.room().engine().boards() {
                    let other = other.to_string();
                    if own || other != *name {
                        write_board(&mut text, &other, board.as_ref());
                    } else {
                        own = true;
                    }
                }
            }
            None if self.seat => text.push_str("This seat has not been taken."),
            None => {
                for (name, board) in replay.room().engine().boards() {
                    write_board(&mut text, &name.to_string(), board.as_ref());
                }
                if text.is_empty() {
                    text.push_str("No players.");
                }
            }
        }
        view.draw(&text, area, buffer);
    }
}

fn write_board(text: &mut String, name: &str, board: Option<&Board>) {
    let Some(board) = board else {
        let _ = writeln!(text, "{name} waits for a game\n");
        return;
    };
    let _ = writeln!(text, "{name}, game {}: {}", board.number, board.rules);
    for line in &board.lines {
        let _ = match line {
            Entry::Row { turn, guess, feedback } => writeln!(text, "{turn:>3}  {guess}  {feedback}"),
            Entry::Lifeline { turn, revealed: Some(revealed), .. } => writeln!(text, "{turn:>3}  {revealed}"),
            Entry::Lifeline { turn, lifeline, revealed: None } => writeln!(text, "{turn:>3}  {lifeline}"),
        };
    }
    let _ = match &board.over {
        Some(over) => writeln!(text, "     {} in {} turns, code {}\n", over.how.word(), over.turns, over.code),
        None => writeln!(text),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::Describe;

    #[test]
    fn messages_are_described_on_every_link() {
        for (link, end) in [(Link::Stream, "\n"), (Link::Stream, "\r\n"), (Link::Message, "")] {
            let said = |text: &str| Server::describe(link, format!("{text}{end}").as_bytes());
            assert_eq!(said("play Ann").unwrap().name.as_deref(), Some("Ann"));
            assert_eq!(said("guess 1234").unwrap().action.as_deref(), Some(": GUESS 1234"));
            assert_eq!(said("QUIT").unwrap().action, None);
            assert_eq!(said("GUESS 12"), None);
        }
    }
}
