//! The wire format: one message per datagram, ASCII, no trailing newline, no NUL.
//!
//! | from | message | bytes | when |
//! |------|---------|-------|------|
//! | client | [`ClientMessage::Play`] | `PLAY ` name | once; everything after the one space is the name |
//! | client | [`ClientMessage::Spectate`] | `SPECTATE` | exactly these eight bytes |
//! | client | [`ClientMessage::Key`] | `KEY ` k | exactly one byte k, five in all |
//! | server | [`ServerMessage::Ok`] | `OK ` L | L is the player's letter |
//! | server | [`ServerMessage::Grid`] | `GRID ` rows ` ` columns | the size of the map |
//! | server | [`ServerMessage::Gold`] | `GOLD ` n ` ` p ` ` r | just collected, own purse, still to be found |
//! | server | [`ServerMessage::Display`] | `DISPLAY\n` text | each row of the grid followed by a newline |
//! | server | [`ServerMessage::Quit`] | `QUIT ` text | several lines are possible; the game is over for that client |
//! | server | [`ServerMessage::Error`] | `ERROR ` text | one line for the user |
//!
//! A datagram or a WebSocket frame is one message. On a stream, each message follows its length, a big-endian u32: an
//! extension of this project.
//!
//! The server decodes strictly. The client tolerates newlines and spaces that servers of the course add.
//!
//! Source: the requirements of the course's nuggets project, "Network protocol".

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use bytes::{Bytes, BytesMut};
use netcore::{
    Admission, DecodeError, Framing, Naming, Protocol, cleaned,
    framing::{LengthDecoder, put_length_frame},
};

/// The nuggets protocol.
#[derive(Debug, Clone, Copy)]
pub struct Nuggets;

impl Protocol for Nuggets {
    type Request = ClientMessage;
    type Decoder = ();
    const MAX_MESSAGE: usize = LENGTH_PREFIX + MAX_DATAGRAM;

    fn length((): &(), bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        stream_decoder().length(bytes)
    }

    fn decode((): &mut (), message: &[u8], framing: Framing) -> Result<ClientMessage, DecodeError> {
        match framing {
            Framing::Whole if message.len() > MAX_DATAGRAM => {
                Err(DecodeError::TooLong { length: message.len(), max: MAX_DATAGRAM })
            }
            Framing::Whole => ClientMessage::parse(message),
            Framing::Stream => ClientMessage::parse(stream_decoder().whole(message)?),
        }
    }

    fn admits(message: Result<&ClientMessage, DecodeError>) -> Admission {
        match message {
            Ok(ClientMessage::Play(_) | ClientMessage::Spectate) => Admission::Admitted,
            Ok(ClientMessage::Key(_)) => Admission::Ignored,
            Err(why) if why == FROM_A_SERVER => Admission::Ignored,
            Err(_) => Admission::Answered,
        }
    }
}

/// Escapes text for terminals and logs, except printable ASCII and the bytes in `keep`.
pub fn printable(text: &[u8], keep: &[u8]) -> String {
    let mut out = String::new();
    for &byte in text {
        if keep.contains(&byte) || matches!(byte, b' '..=b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&byte.escape_ascii().to_string());
        }
    }
    out
}

// Messages from clients.

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

// Messages from the server.

/// A message to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerMessage<'a> {
    /// The player's letter.
    Ok(Letter),
    /// The size of the map.
    Grid {
        /// The rows.
        rows: u16,
        /// The columns.
        cols: u16,
    },
    /// Amounts of gold, in nuggets.
    Gold {
        /// Just collected by the client.
        collected: u32,
        /// In the client's purse.
        purse: u32,
        /// Unclaimed.
        remaining: u32,
    },
    /// The client's picture: the rows of the grid, each followed by a newline.
    Display(&'a [u8]),
    /// The game is over for the client, for this reason.
    Quit(&'a [u8]),
    /// A text for the user.
    Error(&'a [u8]),
}

impl<'a> ServerMessage<'a> {
    /// The wire form of a datagram.
    pub fn to_bytes(&self) -> Bytes {
        let joined = |kind: &[u8], text: &[u8]| Bytes::from([kind, text].concat());
        match self {
            Self::Ok(letter) => joined(b"OK ", &[letter.byte()]),
            Self::Grid { rows, cols } => alloc::format!("GRID {rows} {cols}").into(),
            Self::Gold { collected, purse, remaining } => alloc::format!("GOLD {collected} {purse} {remaining}").into(),
            Self::Display(text) => joined(DISPLAY_HEADER, text),
            Self::Quit(text) => joined(b"QUIT ", text),
            Self::Error(text) => joined(b"ERROR ", text),
        }
    }

    /// The wire form with this framing.
    pub fn to_frame(&self, framing: Framing) -> Bytes {
        in_frame(self.to_bytes(), framing)
    }

    /// Decodes a datagram. Accepts trailing white space and NULs and repeated spaces between numbers, as sent by
    /// servers of the course.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, DecodeError> {
        let invalid = DecodeError::invalid;
        let word = datagram.split(|&byte| byte == b' ' || byte == b'\n').next().unwrap_or_default();
        let rest = &datagram[word.len()..];
        let trimmed = {
            let end = rest.iter().rposition(|byte| !b"\n\r\0".contains(byte)).map_or(0, |last| last + 1);
            rest[..end].strip_prefix(b" ").unwrap_or(&rest[..end])
        };
        match word {
            b"OK" => match *trimmed.trim_ascii() {
                [letter] => Letter::from_byte(letter).map(Self::Ok),
                _ => None,
            }
            .ok_or(invalid("OK wants one letter from A to Z", 3)),
            b"GRID" => {
                let [rows, cols] = numbers(trimmed).ok_or(invalid("GRID wants two numbers", 5))?;
                let bytes = rows.saturating_mul(cols.saturating_add(1)).saturating_add(8);
                match (u16::try_from(rows), u16::try_from(cols)) {
                    (Ok(rows @ 1..), Ok(cols @ 1..)) if bytes as usize <= MAX_DATAGRAM => Ok(Self::Grid { rows, cols }),
                    _ => Err(invalid("a GRID of that size has no DISPLAY that fits a datagram", 5)),
                }
            }
            b"GOLD" => {
                let [collected, purse, remaining] = numbers(trimmed).ok_or(invalid("GOLD wants three numbers", 5))?;
                Ok(Self::Gold { collected, purse, remaining })
            }
            // Some servers send a blank before the newline.
            b"DISPLAY" => match &rest[rest.iter().take_while(|&&byte| b" \t\r".contains(&byte)).count()..] {
                [b'\n', text @ ..] => Ok(Self::Display(text)),
                _ => Err(invalid("a newline must stand behind DISPLAY", 7)),
            },
            b"QUIT" => Ok(Self::Quit(trimmed)),
            b"ERROR" => Ok(Self::Error(trimmed)),
            _ => Err(invalid("the first word is none of OK, GRID, GOLD, DISPLAY, QUIT and ERROR", 0)),
        }
    }
}

fn numbers<const N: usize>(text: &[u8]) -> Option<[u32; N]> {
    let text = core::str::from_utf8(text).ok()?;
    let all: Option<Vec<u32>> = text
        .split_ascii_whitespace()
        .map(|word| word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?)
        .collect();
    all?.try_into().ok()
}

/// The largest message, in bytes: the largest UDP payload over IPv4.
pub const MAX_DATAGRAM: usize = 65_507;
/// The length prefix of each message on a stream, in bytes.
pub const LENGTH_PREFIX: usize = 4;
pub(crate) const DISPLAY_HEADER: &[u8] = b"DISPLAY\n";
/// A decoder for streams. It is stateless.
pub(crate) fn stream_decoder() -> LengthDecoder {
    LengthDecoder::new(0, u32::try_from(MAX_DATAGRAM).unwrap_or(u32::MAX))
}

fn in_frame(message: Bytes, framing: Framing) -> Bytes {
    match framing {
        Framing::Whole => message,
        Framing::Stream => {
            let mut out = BytesMut::new();
            put_length_frame(&message, &mut out);
            out.freeze()
        }
    }
}

/// The maximum length of a name in bytes; longer names are cut.
pub const MAX_NAME: usize = 50;

/// A player's letter, `A` to `Z`, in order of joining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letter(u8);

impl Letter {
    /// The letter of player `index`, counted from 0; `None` from 26 on.
    pub fn from_index(index: usize) -> Option<Self> {
        (b'A'..=b'Z').nth(index).map(Self)
    }

    /// The letter for this byte; `None` unless it is an uppercase letter.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        if byte.is_ascii_uppercase() { Some(Self(byte)) } else { None }
    }

    /// The byte on the wire and on the map.
    pub const fn byte(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Write::write_char(f, char::from(self.0))
    }
}

/// A player's sanitized name: 1 to 50 bytes, each graphic ASCII, a space or a tab.
///
/// ```
/// use nuggets::Name;
/// assert_eq!(Name::new(b"  Zo\xc3\xab\x07").unwrap().as_str(), "  Zo___");
/// assert!(Name::new(b" \t\n").is_err());
/// ```
pub type Name = netcore::Name<Sanitized>;

/// The rule of [`Name`]: the first 50 bytes of the input, with `_` for each that is neither graphic nor a blank. Blank
/// input is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sanitized;

impl Naming for Sanitized {
    const MAX: usize = MAX_NAME;
    const SHAPE: &'static str = "a name needs at least one character that is not blank";

    fn name(typed: &[u8]) -> Option<String> {
        // As C's `isspace`; Rust's ASCII white space excludes the vertical tab.
        let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0b';
        let start = typed.get(..MAX_NAME).unwrap_or(typed);
        (!typed.iter().all(blank)).then(|| cleaned(start, b" \t"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn client_messages_are_decoded_exactly() {
        let play = |name: &[u8]| ClientMessage::Play(Name::new(name).ok());
        let cases: [(&[u8], ClientMessage); 8] = [
            (b"PLAY Ann Lee ", play(b"Ann Lee ")),
            (b"PLAY  Ann", play(b" Ann")),
            (b"PLAY ", ClientMessage::Play(None)),
            (b"PLAY \n\x0b", ClientMessage::Play(None)),
            (b"SPECTATE", ClientMessage::Spectate),
            (b"KEY h", ClientMessage::Key(b'h')),
            (b"KEY  ", ClientMessage::Key(b' ')),
            (b"KEY \0", ClientMessage::Key(0)),
        ];
        for (datagram, message) in cases {
            assert_eq!(ClientMessage::parse(datagram), Ok(message));
        }
    }

    #[test]
    fn server_messages_may_have_the_additional_spaces_of_other_servers() {
        let letter = |index| Letter::from_index(index).unwrap();
        let cases: [(ServerMessage<'_>, &[&[u8]]); 6] = [
            (ServerMessage::Ok(letter(0)), &[b"OK A", b"OK A\n"]),
            (
                ServerMessage::Grid { rows: 21, cols: 79 },
                &[b"GRID 21 79", b"GRID 21 79\n", b"GRID  21  79 ", b"GRID 21 79\0", b"GRID 21 79 \r\n"],
            ),
            (ServerMessage::Gold { collected: 3, purse: 12, remaining: 0 }, &[b"GOLD 3 12 0"]),
            (ServerMessage::Display(b"..\n"), &[b"DISPLAY\n..\n"]),
            (
                ServerMessage::Quit(b"Thanks for playing!"),
                &[b"QUIT Thanks for playing!", b"QUIT Thanks for playing!\n"],
            ),
            (ServerMessage::Error(b"unknown keystroke"), &[b"ERROR unknown keystroke"]),
        ];
        for (message, datagrams) in cases {
            assert_eq!(message.to_bytes(), datagrams[0]);
            for datagram in datagrams {
                assert_eq!(ServerMessage::parse(datagram).as_ref(), Ok(&message), "{datagram:?}");
            }
        }
        assert_eq!(ServerMessage::parse(b"QUIT bye\n"), Ok(ServerMessage::Quit(b"bye")));
        assert_eq!(ServerMessage::parse(b"QUIT"), Ok(ServerMessage::Quit(b"")));
        assert_eq!(ServerMessage::parse(b"QUIT\nbye"), Ok(ServerMessage::Quit(b"\nbye")));
        let all: String = (0..30).filter_map(Letter::from_index).map(|letter| letter.to_string()).collect();
        assert_eq!(all, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    }

    #[test]
    fn malformed_server_messages_are_rejected() {
        let list = "/OK/OK a/OK AB/GRID/GRID 1/GRID -1 5/GRID 1 2 3/GRID 0 5/GRID 65535 65535/GOLD 1 2/\
                GOLD 1 2 99999999999/DISPLAY ...";
        for datagram in list.split('/') {
            assert!(ServerMessage::parse(datagram.as_bytes()).is_err(), "{datagram:?}");
        }
    }

    proptest! {
        #[test]
        fn client_messages_round_trip(typed in prop::collection::vec(any::<u8>(), 0..80), key in any::<u8>()) {
            for message in [ClientMessage::Play(Name::new(&typed).ok()), ClientMessage::Spectate, ClientMessage::Key(key)] {
                let again = ClientMessage::parse(&message.to_bytes());
                // Only a name that is blank after the cut does not survive a second cleaning.
                let blank = matches!(&message, ClientMessage::Play(Some(name)) if name.as_str().trim().is_empty());
                prop_assert!(blank || again == Ok(message));
            }
        }

        #[test]
        fn server_messages_round_trip(collected in any::<u32>(), purse in any::<u32>(), rows in 1..200u16) {
            for message in [
                ServerMessage::Gold { collected, purse, remaining: 7 },
                ServerMessage::Grid { rows, cols: 80 },
            ] {
                let bytes = message.to_bytes();
                prop_assert_eq!(ServerMessage::parse(&bytes), Ok(message));
            }
        }
    }
}
