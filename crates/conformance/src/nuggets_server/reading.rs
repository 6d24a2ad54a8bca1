//! The meaning of a server's message, even if its form is wrong. Rules about the form are judged separately.

use std::{collections::VecDeque, iter};

use nuggets::Letter;

/// The content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading<'a> {
    Ok(Letter),
    Grid { rows: u16, cols: u16 },
    Gold { collected: u32, purse: u32, remaining: u32 },
    Display(&'a [u8]),
    Quit(&'a [u8]),
    Error,
}

/// Reads a message leniently: its kind and values must be recognizable.
pub(super) fn read(datagram: &[u8]) -> Option<Reading<'_>> {
    let end = datagram.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
    let text = &datagram[..end];
    let (kind, rest) = text.split_at(text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count());
    let words = || rest.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-').filter(|word| !word.is_empty());
    let numbers: Vec<u32> = words().map_while(|word| std::str::from_utf8(word).ok()?.parse().ok()).collect();
    let size = |number: &u32| u16::try_from(*number).ok();
    match (kind.to_ascii_uppercase().as_slice(), &numbers[..]) {
        (b"OK", _) => words().next()?.first().map(u8::to_ascii_uppercase).and_then(Letter::from_byte).map(Reading::Ok),
        (b"GRID", [rows, cols, ..]) => Some(Reading::Grid { rows: size(rows)?, cols: size(cols)? }),
        (b"GOLD", &[collected, purse, remaining, ..]) => Some(Reading::Gold { collected, purse, remaining }),
        (b"DISPLAY", _) => {
            let start = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |at| at + 1);
            Some(Reading::Display(&rest[start..]))
        }
        (b"QUIT", _) => Some(Reading::Quit(rest.strip_prefix(b" ").unwrap_or(rest))),
        (b"ERROR", _) => Some(Reading::Error),
        _ => None,
    }
}

/// The text of a DISPLAY in the given shape. Rows are truncated or padded with blanks.
pub(super) fn fitted(text: &[u8], rows: u16, cols: u16) -> Vec<u8> {
    let mut lines: VecDeque<&[u8]> = text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n').collect();
    // If the text begins with an additional newline, there is one row too many.
    while lines.len() > usize::from(rows) && lines.front().is_some_and(|line| line.is_empty()) {
        lines.pop_front();
    }
    let mut fitted = Vec::new();
    for _ in 0..rows {
        let line = lines.pop_front().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        fitted.extend(line.iter().copied().chain(iter::repeat(b' ')).take(usize::from(cols)));
        fitted.push(b'\n');
    }
    fitted
}

/// A row of the final table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) letter: u8,
    pub(super) purse: u32,
    pub(super) name: String,
}

/// Parses a row with a letter, a purse and a name, separated by any blanks.
pub(super) fn row(line: &str) -> Option<Row> {
    let line = line.trim_start();
    let letter = line.bytes().next().filter(u8::is_ascii_uppercase)?;
    let rest = line.get(1..)?.trim_start_matches([':', ',', ' ', '\t']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let purse = rest.get(..digits)?.parse().ok()?;
    let name = rest.get(digits..)?;
    Some(Row { letter, purse, name: name.strip_prefix([' ', '\t']).unwrap_or(name).to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_wrong_forms_leniently() {
        assert_eq!(read(b"GRID 3  9\n\0"), Some(Reading::Grid { rows: 3, cols: 9 }));
        assert_eq!(read(b"GOLD 1, 2, 3\n"), Some(Reading::Gold { collected: 1, purse: 2, remaining: 3 }));
        assert_eq!(read(b"ERROR. Invalid keystroke.\n"), Some(Reading::Error));
        assert_eq!(read(b"DISPLAY \n..\n"), Some(Reading::Display(b"..\n")));
        assert_eq!(read(b"QUIT"), Some(Reading::Quit(b"")));
        assert_eq!([&b"OK B\n"[..], b"OK b"].map(read), [Letter::from_byte(b'B').map(Reading::Ok); 2]);
        assert_eq!([&b""[..], b"\0", b"HELLO", b"GOLD -1 x"].map(read), [None, None, None, None]);
    }

    #[test]
    fn truncates_and_pads_rows() {
        assert_eq!(fitted(b"abc\r\nd", 3, 2), b"ab\nd \n  \n");
        assert_eq!(fitted(b"\nab\ncd\n", 2, 2), b"ab\ncd\n");
    }

    #[test]
    fn reads_table_rows() {
        let wanted = Row { letter: b'A', purse: 39, name: "Ann B".to_owned() };
        for line in ["A         39 Ann B", "A   39 Ann B", " A: 39\tAnn B"] {
            assert_eq!(row(line), Some(wanted.clone()), "{line}");
        }
        assert_eq!(["GAME OVER:", "", "a 3 x"].map(row), [None, None, None]);
    }
}
