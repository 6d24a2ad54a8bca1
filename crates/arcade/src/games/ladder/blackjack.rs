//! Blackjack on the ladder: the dialect of the course, which is text.

use bytes::Bytes;

use super::{Climbed, Ear, First, MAX_FIRST, Said};
use crate::games::KindOfBlackjack;

/// The front of the first message.
const JOIN: &[u8] = b"JOIN ";

impl Climbed for KindOfBlackjack {
    const ASKS: bool = true;

    fn of_the_ladder() -> Self {
        Self::default()
    }

    fn first(bytes: &[u8]) -> First {
        let wrong = First::Wrong("the first message is JOIN with a name, as text with a zero byte at its end");
        let front = bytes.len().min(JOIN.len());
        if bytes[..front] != JOIN[..front] {
            return wrong;
        }
        match bytes.iter().position(|&byte| byte == 0) {
            Some(end) if end > front => First::Join(String::from_utf8_lossy(&bytes[front..end]).into_owned(), end + 1),
            None if bytes.len() < MAX_FIRST => First::Incomplete,
            _ => wrong,
        }
    }

    fn join(name: &str) -> Bytes {
        format!("JOIN {name}\0").into()
    }

    fn hear(ear: &mut Ear, bytes: &[u8]) -> Vec<Said> {
        let said = |text: String| match text.as_str() {
            "DECISION" => Some(Said::Asked),
            "QUIT" => Some(Said::Finished),
            _ => None,
        };
        ear.texts(bytes, 0).into_iter().filter_map(said).collect()
    }
}
