use std::collections::BTreeMap;

use bytes::Bytes;
use netcore::{Engine, RequestOf};
use serde::Serialize;
use serde_json::Value;

use super::counts::Casual;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Show {
    /// By seat, in the unit of the game's results.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) scores: BTreeMap<String, i64>,
    /// Whether a new player can hardly win, because the match is nearly decided.
    pub(crate) late: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rounds: Vec<CardRound>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CardRound {
    pub(crate) table: u32,
    /// Counted from 1.
    pub(crate) round: u32,
    /// As in messages, the hole card first.
    pub(crate) dealer: Vec<&'static str>,
    /// By seat. Empty after a restart of the hub.
    pub(crate) hands: BTreeMap<String, Vec<&'static str>>,
}

pub(crate) trait PageState: Engine {
    /// The name in a request for a seat.
    fn name_in(request: &RequestOf<Self>) -> Option<&str>;

    /// Changes whenever [`show`](Self::show) does. Queried after every input.
    fn version(&self) -> u64 {
        0
    }

    /// Empty for a game whose messages contain the scores.
    fn show(&self) -> Show {
        Show::default()
    }

    /// The message without the parts that players have to discover. `None` if it has no such part.
    fn veiled(&self, _frame: &Bytes) -> Option<Bytes> {
        None
    }

    /// A complete picture for a new watcher. `None` if watchers need the whole history.
    fn overview(&self) -> Option<Vec<Bytes>> {
        None
    }

    /// For a watcher who may not see the match yet. `None` in a game without [`overview`](Self::overview).
    fn prelude(&self) -> Option<Vec<Bytes>> {
        None
    }

    /// Whether a watcher who receives the second message does not need the first.
    fn supersedes(_before: &Bytes, _after: &Bytes) -> bool {
        false
    }

    /// Why the game that has just ended does not count although other games of its room do.
    fn odd(&self, _game: u32) -> Option<Casual> {
        None
    }

    /// Whether a match of an earlier version may continue.
    fn is_current(&self) -> bool {
        true
    }
}

/// Parts by name. Only changed parts are sent again.
pub(crate) type Picture = BTreeMap<String, Value>;

/// Builds a picture from the messages to a watcher, so it shows only what a watcher may see.
pub(crate) trait Painter: Send {
    /// Ignores unreadable messages.
    fn receive(&mut self, message: &[u8]);

    /// Empty until there is something to draw.
    fn picture(&self) -> Picture;
}

#[cfg(test)]
mod tests {
    use netcore::{Framing, wire::ShortText};
    use robots::{BombId, Event, Parameters, Player, PlayerId, Position, ServerMessage};
    use serde_json::json;

    use crate::games::Game;

    use super::*;

    fn picture<'a>(game: Game, messages: impl IntoIterator<Item = &'a [u8]>) -> Value {
        let mut painter = game.painter();
        for message in messages {
            painter.receive(message);
        }
        serde_json::to_value(painter.picture()).unwrap()
    }

    fn texts(game: Game, messages: &[&str]) -> Value {
        picture(game, messages.iter().map(|text| text.as_bytes()))
    }

    #[test]
    fn picture_is_empty_without_valid_messages() {
        for game in Game::ALL {
            assert_eq!(texts(game, &[]), json!({}), "{game:?}");
            assert_eq!(texts(game, &["nonsense", "", "\u{0}"]), json!({}), "{game:?}");
        }
    }

    #[test]
    fn picture_of_nuggets_is_the_map_by_rows() {
        let messages = ["GRID 2 5", "GOLD 0 0 250", "DISPLAY\n+-+  \n|A*B.\n", "DISPLAY\n+-+  \n|.AB.\n"];
        assert_eq!(texts(Game::Nuggets, &messages), json!({ "size": [2, 5], "0": "+-+", "1": "|.AB." }));
    }

    #[test]
    fn picture_of_robots_has_no_addresses() {
        let text = |text: &str| ShortText::try_from(text).unwrap();
        let frame = |message: &dyn Fn(&mut bytes::BytesMut)| {
            let mut out = bytes::BytesMut::new();
            message(&mut out);
            out
        };
        let encode = |message: ServerMessage| frame(&|out| robots::protocol::encode(&message, out));
        let hello = Parameters {
            server_name: text("x"),
            players_count: 2,
            size_x: 5,
            size_y: 4,
            game_length: 9,
            explosion_radius: 1,
            bomb_timer: 2,
        };
        let player = Player { name: text("Ann"), address: text("192.0.2.7:4000") };
        let at = Position::new;
        let moved = |id, position| Event::PlayerMoved { id: PlayerId(id), position };
        let lobby = [
            encode(ServerMessage::Hello(hello)),
            encode(ServerMessage::AcceptedPlayer { id: PlayerId(0), player: player.clone() }),
        ];
        let frames = |all: &[bytes::BytesMut]| picture(Game::Robots, all.iter().map(|frame| &frame[..]));
        assert_eq!(frames(&lobby), json!({ "size": [5, 4], "there": [1, 2] }));
        let players = [(PlayerId(0), player.clone()), (PlayerId(1), player)].into();
        let bomb = Event::BombPlaced { id: BombId(0), position: at(1, 1) };
        let blast = Event::BombExploded { id: BombId(0), robots_destroyed: vec![], blocks_destroyed: vec![] };
        let mut all = lobby.to_vec();
        all.push(encode(ServerMessage::GameStarted { players }));
        all.push(encode(ServerMessage::Turn {
            turn: 0,
            events: vec![moved(0, at(0, 0)), moved(1, at(4, 3)), Event::BlockPlaced { position: at(2, 2) }, bomb],
        }));
        let expected = json!({
            "size": [5, 4], "there": [2, 2], "robots": "0:0,0 1:4,3", "blocks": "2,2", "bombs": "1,1:2", "blasts": "",
        });
        assert_eq!(frames(&all), expected);
        all.push(encode(ServerMessage::Turn { turn: 1, events: vec![blast] }));
        let drawn = frames(&all);
        assert_eq!((&drawn["bombs"], &drawn["blasts"]), (&json!(""), &json!("1,1 1,2 2,1 1,0 0,1")));
    }

    #[test]
    fn picture_of_blackjack_is_the_first_table() {
        let messages = "LOBBY 2 9 0 4\nTABLE 3 PLAYING 1 8\nDEALER Ace of Spades\nSEAT 1 FREE\nTABLE 4 LOBBY 0 8\0";
        let expected = json!({ "table": "TABLE 3 PLAYING 1 8\nDEALER Ace of Spades\nSEAT 1 FREE" });
        assert_eq!(texts(Game::Blackjack, &[messages]), expected);
    }

    #[test]
    fn picture_of_mastermind_shows_what_a_watcher_may_see() {
        let frame = |message: mastermind::ServerMessage<'_>| message.to_frame(Framing::Whole);
        assert_eq!(frame(mastermind::ServerMessage::Left(1)), "LEFT 1");
        let messages = [
            "ROOM race 4 8 no 2",
            "SEAT 1 Ann",
            "SEAT 2 Bob",
            "GAME 1 1 4 no",
            "GAME 2 1 4 no",
            "ROW 1 1 **** 4 0",
            "OVER 1 won 1 0 ****",
            "ROW 2 1 **** 0 2",
            "LIFELINE 2 2 1 * *",
            "LIFELINE 2 3 2 3 5",
            "LIFELINE 2 5 1 * 7",
        ];
        let rows = json!([["****", 0, 2], [null, null], [3, "5"], [null, "7"]]);
        assert_eq!(texts(Game::Mastermind, &messages), json!({ "length": 4, "rows": rows }));
    }
}
