//! Messages from clients.

use bytes::Bytes;
use netcore::{DecodeError, Framing};

use super::{framing::in_frame, name::Name};

/// Datagrams that start like a server's message get no response: with a forged address, two servers would respond to
/// each other forever.
pub(crate) const FROM_A_SERVER: DecodeError = DecodeError::invalid("this is a message of a server", 0);

/// A message to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientMessage {
    /// Request a seat, with `None` for a blank name.
    Play(Option<Name>),
    /// Request to watch.
    Spectate,
    /// A typed key.
    Key(u8),
}

impl ClientMessage {
    /// Decodes one message.
    pub fn parse(datagram: &[u8]) -> Result<Self, DecodeError> {
        let invalid = |what, at| Err(DecodeError::invalid(what, at));
        let word = datagram.split(|&byte| byte == b' ' || byte == b'\n').next().unwrap_or_default();
        let rest = &datagram[word.len()..];
        match (word, rest) {
            (b"PLAY", [b' ', name @ ..]) => Ok(Self::Play(Name::new(name).ok())),
            (b"PLAY", _) => invalid("PLAY wants one space and a name, as in 'PLAY Ann'", 4),
            (b"SPECTATE", []) => Ok(Self::Spectate),
            (b"SPECTATE", _) => invalid("nothing may stand behind SPECTATE", 8),
            (b"KEY", [b' ', key]) => Ok(Self::Key(*key)),
            (b"KEY", rest) => {
                let at = match rest {
                    [b' '] => 4,
                    [b' ', _, ..] => 5,
                    _ => 3,
                };
                invalid("KEY wants one space and exactly one character, as in 'KEY h'", at)
            }
            (b"OK" | b"GRID" | b"GOLD" | b"DISPLAY" | b"QUIT" | b"ERROR", _) => Err(FROM_A_SERVER),
            _ => invalid("the first word is none of PLAY, SPECTATE and KEY", 0),
        }
    }

    /// The wire form with this framing.
    pub fn to_frame(&self, framing: Framing) -> Bytes {
        in_frame(self.to_bytes(), framing)
    }

    /// The wire form of a datagram.
    pub fn to_bytes(&self) -> Bytes {
        match self {
            Self::Play(name) => [&b"PLAY "[..], name.as_ref().map_or("", Name::as_str).as_bytes()].concat().into(),
            Self::Spectate => Bytes::from_static(b"SPECTATE"),
            Self::Key(key) => [&b"KEY "[..], &[*key]].concat().into(),
        }
    }
}
