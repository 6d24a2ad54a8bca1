//! Mastermind on the ladder: a race of two for the same code.

use bytes::Bytes;

use super::{Climbed, Ear, First, MAX_FIRST, Said};
use crate::games::KindOfMastermind;

/// The front of the first message, which may be in small letters.
const PLAY: &[u8] = b"PLAY ";

impl Climbed for KindOfMastermind {
    const ASKS: bool = true;

    fn of_the_ladder() -> Self {
        Self::race()
    }

    fn first(bytes: &[u8]) -> First {
        let wrong = First::Wrong("the first line is PLAY with a name");
        let front = bytes.len().min(PLAY.len());
        if !bytes[..front].eq_ignore_ascii_case(&PLAY[..front]) {
            return wrong;
        }
        match bytes.iter().position(|&byte| byte == b'\n') {
            Some(end) if end > front => {
                let name = bytes[front..end].strip_suffix(b"\r").unwrap_or(&bytes[front..end]);
                First::Join(String::from_utf8_lossy(name).into_owned(), end + 1)
            }
            None if bytes.len() < MAX_FIRST => First::Incomplete,
            _ => wrong,
        }
    }

    fn join(name: &str) -> Bytes {
        format!("PLAY {name}\n").into()
    }

    fn hear(ear: &mut Ear, bytes: &[u8]) -> Vec<Said> {
        let mut said = vec![];
        for text in ear.texts(bytes, b'\n') {
            match text.split(' ').collect::<Vec<_>>()[..] {
                ["OK", seat] => ear.seat = Some(seat.to_owned()),
                // A message that had no effect is still to be answered by a right one.
                ["TURN" | "NO", ..] => said.push(Said::Asked),
                // It waits for the others.
                ["OVER", seat, ..] if ear.seat.as_deref() == Some(seat) => said.push(Said::Finished),
                _ => {}
            }
        }
        said
    }
}
