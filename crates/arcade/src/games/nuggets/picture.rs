//! A picture of nuggets: the map as a spectator sees it, row by row.

use netcore::{Client as _, Link, Time};
use nuggets::{Client, Participant};
use serde_json::json;

use crate::games::picture::{Painter, Picture};

/// The map.
#[derive(Debug)]
pub(crate) struct Cave(Client);

impl Default for Cave {
    fn default() -> Self {
        Self(Client::with_link(Link::Message, Participant::Spectator, Time::ZERO))
    }
}

impl Painter for Cave {
    fn receive(&mut self, message: &[u8]) {
        // What cannot be read leaves the map as it was.
        let _ = self.0.receive(Time::ZERO, message);
        while self.0.take_outgoing().is_some() {}
    }

    fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        let (Some((rows, columns)), [_, ..]) = (self.0.size(), self.0.display()) else { return picture };
        picture.insert("size".to_owned(), json!([rows, columns]));
        let lines = self.0.display().split(|&byte| byte == b'\n').take(rows.into());
        for (row, line) in lines.enumerate() {
            picture.insert(row.to_string(), String::from_utf8_lossy(line).trim_end().into());
        }
        picture
    }
}
