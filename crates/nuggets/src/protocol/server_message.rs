//! Messages from the server.

use alloc::vec::Vec;
use bytes::Bytes;
use netcore::{DecodeError, Framing};

use super::{
    framing::{DISPLAY_HEADER, MAX_DATAGRAM, in_frame},
    name::Letter,
};

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
