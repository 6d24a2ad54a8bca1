//! A picture of robots: the board after the last turn, or how many are there.

use netcore::{Client as _, Time, wire::ShortText};
use robots::{Client, Position};
use serde_json::json;

use crate::games::picture::{Painter, Picture};

/// The most fields of a kind that a picture shows; a board may have millions.
const MAX_SHOWN: usize = 512;

/// The board.
#[derive(Debug)]
pub(crate) struct Field(Client);

impl Default for Field {
    fn default() -> Self {
        Self(Client::new(ShortText::default(), None))
    }
}

impl Painter for Field {
    fn receive(&mut self, message: &[u8]) {
        // A room sends whole messages; after one that cannot be read the picture stands still.
        let _ = self.0.receive(Time::ZERO, message);
        while self.0.take_outgoing().is_some() {}
    }

    fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        let Some(parameters) = self.0.parameters() else { return picture };
        let mut put = |name: &str, value| picture.insert(name.to_owned(), value);
        put("size", json!([parameters.size_x, parameters.size_y]));
        put("there", json!([self.0.players().len(), parameters.players_count]));
        let Some(game) = self.0.game() else { return picture };
        let places = |all: &mut dyn Iterator<Item = Position>| -> String {
            all.take(MAX_SHOWN).map(|Position { x, y }| format!("{x},{y}")).collect::<Vec<_>>().join(" ")
        };
        let robots = game.positions().iter().map(|(id, Position { x, y })| format!("{}:{x},{y}", id.0));
        let bombs =
            game.bombs().take(MAX_SHOWN).map(|bomb| format!("{},{}:{}", bomb.position.x, bomb.position.y, bomb.timer));
        put("robots", robots.collect::<Vec<_>>().join(" ").into());
        put("bombs", bombs.collect::<Vec<_>>().join(" ").into());
        put("blocks", places(&mut game.board().blocks()).into());
        put("blasts", places(&mut game.blasts().iter().flat_map(robots::Blast::cells)).into());
        picture
    }
}
