//! What goes over the wire: one message per datagram, ASCII, no trailing newline, no NUL.
//!
//! | from | message | bytes | when |
//! |------|---------|-------|------|
//! | client | [`ClientMessage::Play`] | `PLAY ` name | once; everything behind the one space is the name |
//! | client | [`ClientMessage::Spectate`] | `SPECTATE` | exactly these eight bytes |
//! | client | [`ClientMessage::Key`] | `KEY ` k | exactly one byte k, five in all |
//! | server | [`ServerMessage::Ok`] | `OK ` L | L is the player's letter |
//! | server | [`ServerMessage::Grid`] | `GRID ` rows ` ` columns | the size of the map |
//! | server | [`ServerMessage::Gold`] | `GOLD ` n ` ` p ` ` r | just collected, own purse, still to be found |
//! | server | [`ServerMessage::Display`] | `DISPLAY\n` text | each row of the grid followed by a newline |
//! | server | [`ServerMessage::Quit`] | `QUIT ` text | several lines are possible; it is over for that client |
//! | server | [`ServerMessage::Error`] | `ERROR ` text | one line for the user |
//!
//! A datagram is one message, and so is a frame of a WebSocket. On a stream each message, in both directions, stands
//! behind its length: a u32, big-endian. That is an extension of this project's own; the course knows datagrams only.
//!
//! Reading as a server is exact. Reading as a client forgives the newline and the spaces that servers of the course are
//! known to add.
//!
//! Source: the requirements of the course's nuggets project, "Network protocol".

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use bytes::{BufMut, Bytes, BytesMut};
use core::fmt;
use netcore::{
    Admission, DecodeError, Framing, Protocol,
    framing::{LengthDecoder, put_length_frame},
};

/// The largest UDP payload over IPv4, in bytes: no message is longer.
pub const MAX_DATAGRAM: usize = 65_507;
/// Bytes of the length that stands before each message on a stream.
pub const LENGTH_PREFIX: usize = 4;
/// What a DISPLAY begins with.
pub const DISPLAY_HEADER: &[u8] = b"DISPLAY\n";
/// Bytes of a name that are kept.
pub const MAX_NAME: usize = 50;

/// What a datagram is that begins as a server's messages do. It is not answered: two servers that were set against each
/// other by a forged address would answer each other for ever.
pub const FROM_A_SERVER: DecodeError = DecodeError::invalid("this is a message of a server", 0);

/// A player's letter, `A` to `Z`, in order of joining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letter(u8);

impl Letter {
    /// The letter of the player who joined as number `index`, counted from 0; `None` from 26 on.
    pub fn from_index(index: usize) -> Option<Self> {
        (b'A'..=b'Z').nth(index).map(Self)
    }

    /// The letter that `byte` is, if it is a capital.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        if byte.is_ascii_uppercase() { Some(Self(byte)) } else { None }
    }

    /// The letter as it stands on the wire and on the map.
    pub const fn byte(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Write::write_char(f, char::from(self.0))
    }
}

/// A player's name as the server keeps it: 1 to 50 bytes, each graphic ASCII, a space or a tab.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

impl Name {
    /// The name that a server makes of what a player typed: the first 50 bytes, each one that is neither graphic nor a
    /// blank replaced by `_`. `None` if it was empty or only white space.
    ///
    /// ```
    /// use nuggets::Name;
    /// assert_eq!(Name::new(b"  Zo\xc3\xab\x07").unwrap().as_str(), "  Zo___");
    /// assert_eq!(Name::new(b" \t\n"), None);
    /// ```
    pub fn new(typed: &[u8]) -> Option<Self> {
        // The C library's isspace; ASCII white space in Rust leaves the vertical tab out.
        let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0b';
        if typed.iter().all(blank) {
            return None;
        }
        let kept = |&byte: &u8| if byte.is_ascii_graphic() || byte == b' ' || byte == b'\t' { byte } else { b'_' };
        Some(Self(typed.iter().take(MAX_NAME).map(kept).map(char::from).collect()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A message to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientMessage {
    /// Take part. `None` stands for a name of nothing but white space, which the server refuses in its own words.
    Play(Option<Name>),
    /// Look on.
    Spectate,
    /// A key was typed.
    Key(u8),
}

impl ClientMessage {
    /// Reads the one message that a datagram holds.
    ///
    /// # Errors
    /// [`DecodeError`] when it is anything but exactly one of the three forms.
    pub fn parse(datagram: &[u8]) -> Result<Self, DecodeError> {
        let invalid = |what, at| Err(DecodeError::invalid(what, at));
        let word = datagram.split(|&byte| byte == b' ' || byte == b'\n').next().unwrap_or_default();
        let rest = &datagram[word.len()..];
        match (word, rest) {
            (b"PLAY", [b' ', name @ ..]) => Ok(Self::Play(Name::new(name))),
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

    /// The wire form on a link whose messages are marked off like that.
    pub fn to_frame(&self, framing: Framing) -> Bytes {
        in_frame(self.to_bytes(), framing)
    }

    /// Appends the wire form to `out`.
    pub fn encode(&self, out: &mut BytesMut) {
        match self {
            Self::Play(name) => {
                out.put_slice(b"PLAY ");
                out.put_slice(name.as_ref().map_or("", Name::as_str).as_bytes());
            }
            Self::Spectate => out.put_slice(b"SPECTATE"),
            Self::Key(key) => {
                out.put_slice(b"KEY ");
                out.put_u8(*key);
            }
        }
    }

    /// The wire form.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = BytesMut::new();
        self.encode(&mut out);
        out.freeze()
    }
}

/// The nuggets protocol, for whoever drives an engine.
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

    fn encode_request(request: &ClientMessage, out: &mut BytesMut) {
        request.encode(out);
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

/// A message to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerMessage<'a> {
    /// The client plays and this is its letter.
    Ok(Letter),
    /// The size of the map.
    Grid {
        /// Number of rows.
        rows: u16,
        /// Number of columns.
        cols: u16,
    },
    /// The state of the gold.
    Gold {
        /// Nuggets that this client has just collected.
        collected: u32,
        /// Nuggets in its purse.
        purse: u32,
        /// Nuggets that nobody has found yet.
        remaining: u32,
    },
    /// What the client may see: each row of the grid followed by a newline.
    Display(&'a [u8]),
    /// It is over for this client; the text says why.
    Quit(&'a [u8]),
    /// Something did not work; the text is for the user.
    Error(&'a [u8]),
}

impl<'a> ServerMessage<'a> {
    /// The wire form.
    pub fn to_bytes(&self) -> Bytes {
        let joined = |kind: &[u8], text: &[u8]| {
            let mut out = BytesMut::with_capacity(kind.len() + text.len());
            out.put_slice(kind);
            out.put_slice(text);
            out.freeze()
        };
        match self {
            Self::Ok(letter) => joined(b"OK ", &[letter.byte()]),
            Self::Grid { rows, cols } => alloc::format!("GRID {rows} {cols}").into(),
            Self::Gold { collected, purse, remaining } => alloc::format!("GOLD {collected} {purse} {remaining}").into(),
            Self::Display(text) => joined(DISPLAY_HEADER, text),
            Self::Quit(text) => joined(b"QUIT ", text),
            Self::Error(text) => joined(b"ERROR ", text),
        }
    }

    /// The wire form on a link whose messages are marked off like that.
    pub fn to_frame(&self, framing: Framing) -> Bytes {
        in_frame(self.to_bytes(), framing)
    }

    /// Reads the one message that a datagram holds. White space and NULs at the end and repeated spaces between numbers
    /// are forgiven, since servers of the course send them.
    ///
    /// # Errors
    /// [`DecodeError`] when it is none of the six kinds or its numbers are no numbers.
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
                [letter] if letter.is_ascii_uppercase() => Ok(Self::Ok(Letter(letter))),
                _ => Err(invalid("OK wants one letter from A to Z", 3)),
            },
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
            // Some servers put a blank before the end of the line.
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

/// Cuts a stream into messages. It remembers nothing, so each message may have one of its own.
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

// Exactly `N` decimal numbers between white space.
fn numbers<const N: usize>(text: &[u8]) -> Option<[u32; N]> {
    let text = core::str::from_utf8(text).ok()?;
    let all: Option<Vec<u32>> = text
        .split_ascii_whitespace()
        .map(|word| word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?)
        .collect();
    all?.try_into().ok()
}

/// Text from a peer as a terminal or a log may show it: other than `keep`, what is not printable ASCII is escaped.
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, vec};
    use proptest::prelude::*;

    fn parse(datagram: &[u8]) -> Option<ClientMessage> {
        ClientMessage::parse(datagram).ok()
    }

    #[test]
    fn client_messages_are_read_to_the_byte() {
        assert_eq!(parse(b"PLAY Ann Lee "), Some(ClientMessage::Play(Name::new(b"Ann Lee "))));
        assert_eq!(parse(b"PLAY  Ann"), Some(ClientMessage::Play(Name::new(b" Ann"))));
        assert_eq!(parse(b"PLAY "), Some(ClientMessage::Play(None)));
        assert_eq!(parse(b"PLAY \n\x0b"), Some(ClientMessage::Play(None)));
        assert_eq!(parse(b"SPECTATE"), Some(ClientMessage::Spectate));
        assert_eq!(parse(b"KEY h"), Some(ClientMessage::Key(b'h')));
        assert_eq!(parse(b"KEY  "), Some(ClientMessage::Key(b' ')));
        assert_eq!(parse(b"KEY \0"), Some(ClientMessage::Key(0)));
    }

    /// Every malformed datagram of the specification's list.
    #[test]
    fn malformed_client_messages_are_refused() {
        let huge = vec![b'K'; MAX_DATAGRAM];
        let list: [&[u8]; 24] = [
            b"",
            b"\0",
            b"\0\0\0",
            b" ",
            b"\n",
            b"SPECTATE ",
            b"SPECTATE\n",
            b"SPECTATE please",
            b"SPECTATEX",
            b"PLAY",
            b"PLAYAnn",
            b"PLAY\nAnn",
            b"KEY",
            b"KEY ",
            b"KEY hh",
            b"KEY h\n",
            b"KEYh",
            b"play Ann",
            b"key h",
            b"spectate",
            b"OK A",
            b"DISPLAY\n",
            b"%s%n%x",
            &huge,
        ];
        for datagram in list {
            assert_eq!(parse(datagram), None, "{:?}", printable(&datagram[..datagram.len().min(40)], b""));
        }
    }

    #[test]
    fn an_error_says_what_would_be_right() {
        let said = |datagram: &[u8]| ClientMessage::parse(datagram).unwrap_err().to_string();
        assert_eq!(said(b"KEY hh"), "byte 5: KEY wants one space and exactly one character, as in 'KEY h'");
        assert!(said(b"KEY ").starts_with("byte 4: ") && said(b"KEYh").starts_with("byte 0: "));
        assert!(said(b"KEY").starts_with("byte 3: "));
        assert_eq!(said(b"hello"), "byte 0: the first word is none of PLAY, SPECTATE and KEY");
    }

    #[test]
    fn names_are_cut_and_cleaned() {
        let kept = |typed: &[u8]| Name::new(typed).map(|name| name.to_string());
        assert_eq!(kept(b"Ann\tLee"), Some("Ann\tLee".into()));
        assert_eq!(kept("Zoë".as_bytes()), Some("Zo__".into()));
        assert_eq!(kept(b"\x1b[31mred\x7f"), Some("_[31mred_".into()));
        assert_eq!(kept(&[b'x'; 51]), Some("x".repeat(50)));
        let late = [&[b' '; 60][..], b"x"].concat();
        assert_eq!(kept(&late), Some(" ".repeat(50)), "blank is what was typed, not what is kept");
        assert_eq!(kept(b""), None);
        assert_eq!(kept(b" \t\n\x0b\x0c\r"), None);
    }

    #[test]
    fn server_messages_are_written_to_the_byte() {
        let bytes = |message: ServerMessage<'_>| message.to_bytes().to_vec();
        assert_eq!(bytes(ServerMessage::Ok(Letter::from_index(0).unwrap())), b"OK A");
        assert_eq!(bytes(ServerMessage::Grid { rows: 21, cols: 79 }), b"GRID 21 79");
        assert_eq!(bytes(ServerMessage::Gold { collected: 3, purse: 12, remaining: 0 }), b"GOLD 3 12 0");
        assert_eq!(bytes(ServerMessage::Display(b"..\n")), b"DISPLAY\n..\n");
        assert_eq!(bytes(ServerMessage::Quit(b"Thanks for playing!")), b"QUIT Thanks for playing!");
        assert_eq!(bytes(ServerMessage::Error(b"unknown keystroke")), b"ERROR unknown keystroke");
    }

    #[test]
    fn slips_of_other_servers_are_forgiven() {
        let grid = Ok(ServerMessage::Grid { rows: 21, cols: 79 });
        for datagram in [&b"GRID 21 79\n"[..], b"GRID  21  79 ", b"GRID 21 79\0", b"GRID 21 79 \r\n"] {
            assert_eq!(ServerMessage::parse(datagram), grid);
        }
        assert_eq!(ServerMessage::parse(b"OK A\n"), Ok(ServerMessage::Ok(Letter(b'A'))));
        assert_eq!(ServerMessage::parse(b"QUIT bye\n"), Ok(ServerMessage::Quit(b"bye")));
        assert_eq!(ServerMessage::parse(b"QUIT"), Ok(ServerMessage::Quit(b"")));
        assert_eq!(ServerMessage::parse(b"QUIT\nbye"), Ok(ServerMessage::Quit(b"\nbye")));
    }

    #[test]
    fn malformed_server_messages_are_refused() {
        let list: [&[u8]; 13] = [
            b"",
            b"OK",
            b"OK a",
            b"OK AB",
            b"GRID",
            b"GRID 1",
            b"GRID -1 5",
            b"GRID 1 2 3",
            b"GRID 0 5",
            b"GRID 65535 65535",
            b"GOLD 1 2",
            b"GOLD 1 2 99999999999",
            b"DISPLAY ...",
        ];
        for datagram in list {
            assert!(ServerMessage::parse(datagram).is_err(), "{datagram:?}");
        }
    }

    #[test]
    fn letters_run_from_a_to_z() {
        let all: String = (0..30).filter_map(Letter::from_index).map(|letter| letter.to_string()).collect();
        assert_eq!(all, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    }

    proptest! {
        #[test]
        fn what_a_client_writes_a_server_reads(typed in prop::collection::vec(any::<u8>(), 0..80), key in any::<u8>()) {
            for message in [ClientMessage::Play(Name::new(&typed)), ClientMessage::Spectate, ClientMessage::Key(key)] {
                let again = ClientMessage::parse(&message.to_bytes());
                // A cut that leaves only blanks is the one name that does not survive a second cleaning.
                let blank = matches!(&message, ClientMessage::Play(Some(name)) if name.as_str().trim().is_empty());
                prop_assert!(blank || again == Ok(message));
            }
        }

        #[test]
        fn what_a_server_writes_a_client_reads(collected in any::<u32>(), purse in any::<u32>(), rows in 1..200u16) {
            for message in [
                ServerMessage::Gold { collected, purse, remaining: 7 },
                ServerMessage::Grid { rows, cols: 80 },
            ] {
                let bytes = message.to_bytes();
                prop_assert_eq!(ServerMessage::parse(&bytes), Ok(message));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60), kind in 0..9usize) {
            let words = ["PLAY ", "KEY ", "SPECTATE", "OK ", "GRID ", "GOLD ", "DISPLAY\n", "QUIT ", ""];
            let datagram = [words[kind].as_bytes(), &bytes].concat();
            let _ = ClientMessage::parse(&datagram);
            let _ = ServerMessage::parse(&datagram);
            let shown = printable(&datagram, b"\n");
            prop_assert!(shown.bytes().all(|byte| byte == b'\n' || matches!(byte, b' '..=b'~')), "{}", format!("{shown:?}"));
        }
    }
}
