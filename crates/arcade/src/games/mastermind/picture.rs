//! A picture of mastermind: the last rows of a game that goes on, or of the last one that did.

use ::mastermind::{
    Client, Revealed,
    view::{Board, Line},
};
use netcore::{Client as _, Link, Time};
use serde_json::{Value, json};

use crate::games::picture::{Painter, Picture};

/// Rows of a picture.
const ROWS: usize = 5;

/// The games of a room.
#[derive(Debug)]
pub(crate) struct Rows(Client);

impl Default for Rows {
    fn default() -> Self {
        Self(Client::new(Link::Message, None))
    }
}

impl Painter for Rows {
    fn receive(&mut self, message: &[u8]) {
        // What cannot be read leaves the rows as they were.
        let _ = self.0.receive(Time::ZERO, message);
    }

    fn picture(&self) -> Picture {
        let boards = || self.0.places().values().filter_map(|place| place.board.as_ref());
        let board = boards().find(|board| board.over.is_none()).or_else(|| boards().next());
        let Some(Board { rules, lines, .. }) = board else { return Picture::new() };
        let last = &lines[lines.len().saturating_sub(ROWS)..];
        let rows = last.iter().map(row).collect::<Vec<_>>();
        [("length".to_owned(), json!(rules.length())), ("rows".to_owned(), rows.into())].into()
    }
}

// A guess with its answer, or the place and the colour that a lifeline has told, as far as a watcher may know them.
fn row(line: &Line) -> Value {
    match line {
        Line::Row { guess, feedback, .. } => json!([guess.to_string(), feedback.red, feedback.white]),
        Line::Lifeline { revealed: None, .. } => json!([null, null]),
        Line::Lifeline { revealed: Some(Revealed::Colour(peg)), .. } => json!([null, peg.digit()]),
        Line::Lifeline { revealed: Some(Revealed::Place { place, peg }), .. } => json!([place + 1, peg.digit()]),
    }
}
