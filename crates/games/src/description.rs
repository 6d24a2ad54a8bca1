//! The messages of players in words.

use alloc::{
    borrow::ToOwned as _,
    format,
    string::{String, ToString as _},
};

use blackjack::PlayerMessage;
use netcore::{Framing, Link, Protocol, Recorded};
use nuggets::protocol::LENGTH_PREFIX;
use robots::{Action, Direction, protocol::Robots};
use turnbased::{Rules, Table};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// In the terms of the protocol.
    pub text: String,
    /// Follows the sender's name; `None` if an event of the room reports the action better.
    pub action: Option<String>,
    /// The name in a request to join, which may contain a key.
    pub name: Option<String>,
}

pub trait Describe: Recorded {
    /// `None` if the message is malformed.
    fn describe(link: Link, bytes: &[u8]) -> Option<Description>;
}

impl Describe for nuggets::Server {
    fn describe(link: Link, bytes: &[u8]) -> Option<Description> {
        use nuggets::ClientMessage;

        let message = match link.framing() {
            Framing::Whole => bytes,
            Framing::Stream => bytes.get(LENGTH_PREFIX..)?,
        };
        Some(match ClientMessage::parse(message).ok()? {
            ClientMessage::Play(name) => {
                let name = name.map(|name| name.as_str().to_owned());
                Description { text: format!("PLAY {}", name.as_deref().unwrap_or_default()), action: None, name }
            }
            ClientMessage::Spectate => Description { text: "SPECTATE".into(), action: None, name: None },
            ClientMessage::Key(key) => {
                let key = key.escape_ascii();
                Description { text: format!("KEY {key}"), action: Some(format!(": {key}")), name: None }
            }
        })
    }
}

impl Describe for robots::Server {
    fn describe(_: Link, bytes: &[u8]) -> Option<Description> {
        use robots::ClientMessage;

        // If several actions arrived together, the room took the last one.
        let (text, action) = match Robots::decode(&mut (), bytes, Framing::Stream).ok()? {
            ClientMessage::Join { name } => {
                let text = format!("Join {}", plain(&name.to_string()));
                return Some(Description { text, action: None, name: Some(name.to_string()) });
            }
            ClientMessage::Action(Action::PlaceBomb) => ("PlaceBomb", " placed a bomb"),
            ClientMessage::Action(Action::PlaceBlock) => ("PlaceBlock", " placed a block"),
            ClientMessage::Action(Action::Move(direction)) => match direction {
                Direction::Up => ("Move Up", " went up"),
                Direction::Right => ("Move Right", " went right"),
                Direction::Down => ("Move Down", " went down"),
                Direction::Left => ("Move Left", " went left"),
            },
        };
        Some(Description { text: text.into(), action: Some(action.into()), name: None })
    }
}

impl Describe for blackjack::Server {
    fn describe(_: Link, bytes: &[u8]) -> Option<Description> {
        let message = blackjack_message(bytes)?;
        let text = message.to_string();
        Some(match message {
            PlayerMessage::Join(name) => Description { text, action: None, name: Some(name.to_string()) },
            PlayerMessage::Hit | PlayerMessage::Stand => {
                Description { action: Some(format!(": {text}")), text, name: None }
            }
        })
    }
}

/// Each message reveals the dialect of the connection: no text begins with a zero byte.
pub fn blackjack_message(bytes: &[u8]) -> Option<PlayerMessage> {
    let message = match bytes {
        [0, ..] => PlayerMessage::parse_binary(bytes.get(4..)?),
        _ => PlayerMessage::parse_text(bytes.strip_suffix(b"\0").unwrap_or(bytes)),
    };
    message.ok()
}

impl Describe for mastermind::Server {
    fn describe(_: Link, bytes: &[u8]) -> Option<Description> {
        use mastermind::ClientMessage;

        let message = ClientMessage::parse(without_newline(bytes)).ok()?;
        let text = message.to_string();
        Some(match message {
            ClientMessage::Play(name) => Description { text, action: None, name: Some(name.to_string()) },
            // The room reports who leaves.
            ClientMessage::Quit => Description { text, action: None, name: None },
            _ => Description { action: Some(format!(": {text}")), text, name: None },
        })
    }
}

impl<R: Rules> Describe for Table<R>
where
    Self: Recorded,
{
    fn describe(_: Link, bytes: &[u8]) -> Option<Description> {
        use turnbased::ClientMessage;

        let message = ClientMessage::parse(without_newline(bytes)).ok()?;
        let text = message.to_string();
        Some(match message {
            ClientMessage::Play(name) => Description { text, action: None, name: Some(name.to_string()) },
            // The room reports that a player leaves.
            ClientMessage::Quit => Description { text, action: None, name: None },
            _ => Description { action: Some(format!(": {text}")), text, name: None },
        })
    }
}

/// Only streams have line ends.
fn without_newline(bytes: &[u8]) -> &[u8] {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    line.strip_suffix(b"\r").unwrap_or(line)
}

pub fn plain(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for character in name.chars() {
        match character {
            '\'' | '"' | '\\' => shown.push(character),
            character => shown.extend(character.escape_debug()),
        }
    }
    shown
}
