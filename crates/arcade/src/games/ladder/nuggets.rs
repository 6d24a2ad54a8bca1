//! Nuggets on the ladder.

use std::time::Duration;

use bytes::Bytes;
use nuggets::ClientMessage;

use super::{Climbed, First};
use crate::games::KindOfNuggets;

impl Climbed for KindOfNuggets {
    const ASKS: bool = false;
    // The rules have no end but the last nugget.
    const LIMIT: Duration = Duration::from_secs(45);

    fn of_the_ladder() -> Self {
        Self::soon()
    }

    fn first(bytes: &[u8]) -> First {
        // Programs in C may send the zero byte at the end.
        let text = bytes.strip_suffix(b"\0").unwrap_or(bytes);
        match ClientMessage::parse(text) {
            Ok(ClientMessage::Play(Some(name))) => First::Join(name.as_str().to_owned(), bytes.len()),
            _ => First::Wrong("the first message is PLAY with a name"),
        }
    }

    fn join(name: &str) -> Bytes {
        format!("PLAY {name}").into()
    }

    fn leave() -> Option<Bytes> {
        Some(Bytes::from_static(b"KEY Q"))
    }
}
