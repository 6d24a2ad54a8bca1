//! Robots on the ladder.

use bytes::{Bytes, BytesMut};
use netcore::wire::ShortText;
use robots::{ClientMessage, Parameters, ServerMessage, protocol::encode};

use super::{Climbed, First};
use crate::games::KindOfRobots;

impl Climbed for KindOfRobots {
    const ASKS: bool = false;

    fn of_the_ladder() -> Self {
        Self::short()
    }

    fn first(bytes: &[u8]) -> First {
        match bytes {
            [] | [0] => First::Incomplete,
            [0, length, rest @ ..] => {
                let length = usize::from(*length);
                let Some(name) = rest.get(..length) else { return First::Incomplete };
                First::Join(String::from_utf8_lossy(name).into_owned(), 2 + length)
            }
            _ => First::Wrong("the first message is Join"),
        }
    }

    fn join(name: &str) -> Bytes {
        let mut bytes = BytesMut::new();
        encode(&ClientMessage::Join { name: ShortText::try_from(name).unwrap_or_default() }, &mut bytes);
        bytes.freeze()
    }

    // The protocol has no message for that; another Hello has a text that a program may show.
    fn refusal(why: &str) -> Option<Bytes> {
        let hello = ServerMessage::Hello(Parameters {
            server_name: ShortText::try_from(why).ok()?,
            players_count: 0,
            size_x: 1,
            size_y: 1,
            game_length: 0,
            explosion_radius: 0,
            bomb_timer: 0,
        });
        let mut bytes = BytesMut::new();
        encode(&hello, &mut bytes);
        Some(bytes.freeze())
    }
}
