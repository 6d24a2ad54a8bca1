//! Tables as files.
//!
//! ```text
//! 21-qtable 1 coarse
//! 12 0 10 3 -1 2 0
//! 13 0 10 0 0 1 -1
//! end 2 57013465
//! ```
//!
//! The first line has the version and the state space (`coarse` or `soft`). One line per visited state follows, sorted:
//! `total soft dealer hit_n hit_sum stand_n stand_sum`; `soft` is 0 or 1, always 0 in the coarse space. The last line
//! has the number of those lines and a CRC-32 (IEEE 802.3) of all bytes before it, in eight hexadecimal digits. The
//! reader accepts no other encoding of a table.

use alloc::{string::String, vec::Vec};
use core::{
    fmt::{self, Write},
    str::FromStr,
};

use thiserror::Error;

use super::{Entry, QTable, Tally};
use crate::policy::{State, StateSpace};

const MAGIC: &str = "21-qtable";
const VERSION: &str = "1";

impl QTable {
    /// Encodes the table as a file.
    pub fn to_file(&self) -> Vec<u8> {
        let mut text = String::new();
        let _ = writeln!(text, "{MAGIC} {VERSION} {}", self.space);
        let mut lines = 0;
        for (state, Entry { hit, stand }) in self.visited() {
            let (total, soft, dealer) = (state.total(), u8::from(state.is_soft()), state.upcard());
            let _ = writeln!(text, "{total} {soft} {dealer} {} {} {} {}", hit.n, hit.sum, stand.n, stand.sum);
            lines += 1;
        }
        let checksum = crc32(text.as_bytes());
        let _ = writeln!(text, "end {lines} {checksum:08x}");
        text.into_bytes()
    }

    /// Parses a file.
    ///
    /// # Errors
    /// [`ParseTableError`] with the line and the reason. Damage is undetected with a chance of one in 2^32.
    pub fn from_file(bytes: &[u8]) -> Result<Self, ParseTableError> {
        if bytes.len() > MAX_FILE {
            return Err(ParseTableError { line: 1, trouble: Trouble::TooLong(bytes.len()) });
        }
        let mut lines = Lines { rest: bytes, line: 0 };
        let mut table = Self::new(lines.read(header)?);
        let mut before = None;
        let mut count = 0;
        loop {
            let body = bytes.len() - lines.rest.len();
            let checksum = || crc32(&bytes[..body]);
            let found = lines.read(|text| match text.strip_prefix("end") {
                Some(rest) => end(text, rest, count, checksum).map(|()| None),
                None => state(text, table.space, before).map(Some),
            })?;
            let Some((state, entry)) = found else { break };
            table.entries[state.index()] = entry;
            before = Some(state);
            count += 1;
        }
        if lines.rest.is_empty() {
            Ok(table)
        } else {
            Err(ParseTableError { line: lines.line + 1, trouble: Trouble::Trailing })
        }
    }
}

struct Lines<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Lines<'a> {
    fn read<T>(&mut self, read: impl FnOnce(&'a str) -> Result<T, Trouble>) -> Result<T, ParseTableError> {
        self.line += 1;
        self.next().and_then(read).map_err(|trouble| ParseTableError { line: self.line, trouble })
    }

    fn next(&mut self) -> Result<&'a str, Trouble> {
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let (line, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        if let Some(at) = line.iter().position(|byte| !matches!(byte, b' '..=b'~')) {
            return Err(Trouble::NotAscii(at + 1));
        }
        self.rest = rest.get(1..).ok_or(Trouble::CutOff)?;
        core::str::from_utf8(line).map_err(|error| Trouble::NotAscii(error.valid_up_to() + 1))
    }
}

fn header(text: &str) -> Result<StateSpace, Trouble> {
    let refused = || Trouble::Header(text.into());
    let mut words = text.split(' ');
    if words.next() != Some(MAGIC) {
        return Err(refused());
    }
    match words.next() {
        Some(VERSION) => {}
        Some(version) => return Err(Trouble::Version(version.into())),
        None => return Err(refused()),
    }
    match (words.next().and_then(StateSpace::from_word), words.next()) {
        (Some(space), None) => Ok(space),
        _ => Err(refused()),
    }
}

fn state(text: &str, space: StateSpace, before: Option<State>) -> Result<(State, Entry), Trouble> {
    let mut words = text.split(' ');
    let mut next = || words.next().ok_or_else(|| Trouble::Words(text.split(' ').count()));
    let [total, soft, dealer, hit_n, hit_sum, stand_n, stand_sum] =
        [next()?, next()?, next()?, next()?, next()?, next()?, next()?];
    if words.next().is_some() {
        return Err(Trouble::Words(text.split(' ').count()));
    }
    let (total, soft, dealer) = (number("total", total)?, number("soft", soft)?, number("dealer", dealer)?);
    let no_state = Trouble::NoState(space, total, soft, dealer);
    let state = State::new(space, total, soft == 1, dealer).filter(|_| soft <= 1).ok_or(no_state)?;
    if let Some(before) = before.filter(|&before| before >= state) {
        return Err(Trouble::NotSorted(state, before));
    }
    let tally = |columns: [&'static str; 2], n: &str, sum: &str| {
        let too_many = || Trouble::Number(columns[0], n.into());
        let tally = Tally { n: number(columns[0], n)?, sum: number(columns[1], sum)? };
        if tally.n > QTable::MAX_COUNT {
            Err(too_many())
        } else if tally.sum.unsigned_abs() > tally.n {
            Err(Trouble::Sum(columns[1], tally.sum, tally.n))
        } else {
            Ok(tally)
        }
    };
    let hit = tally(["hit_n", "hit_sum"], hit_n, hit_sum)?;
    let stand = tally(["stand_n", "stand_sum"], stand_n, stand_sum)?;
    let entry = Entry { hit, stand };
    if entry.visits() == 0 { Err(Trouble::NotVisited) } else { Ok((state, entry)) }
}

fn end(text: &str, rest: &str, found: u64, checksum: impl FnOnce() -> u32) -> Result<(), Trouble> {
    let refused = || Trouble::End(text.into());
    let (lines, digits) = rest.strip_prefix(' ').and_then(|rest| rest.split_once(' ')).ok_or_else(refused)?;
    let announced = number("the number of lines", lines)?;
    let hexadecimal = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if digits.len() != 8 || !digits.bytes().all(hexadecimal) {
        return Err(refused());
    }
    if announced != found {
        return Err(Trouble::Lines(announced, found));
    }
    let announced = u32::from_str_radix(digits, 16).map_err(|_| refused())?;
    let found = checksum();
    if announced == found { Ok(()) } else { Err(Trouble::Checksum(announced, found)) }
}

// Canonical form: no plus, no leading zeros, no minus before 0.
fn number<T: FromStr + fmt::Display>(column: &'static str, word: &str) -> Result<T, Trouble> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (!digits.starts_with('0') || word == "0");
    word.parse().ok().filter(|_| plain).ok_or_else(|| Trouble::Number(column, word.into()))
}

// CRC-32, reflected, with the polynomial 0x04C11DB7. Bit by bit is fast enough for 30 kB.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg()))
    })
}

// Errors in table files.

/// The maximum size of a table file in bytes: header, 280 states with four counts of up to 20 digits, last line.
pub const MAX_FILE: usize = 32 + 280 * (2 + 1 + 2 + 4 * 20 + 7) + 32;

/// An error in a table file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {trouble}")]
pub struct ParseTableError {
    /// The line, counted from 1.
    pub line: usize,
    /// The cause.
    pub trouble: Trouble,
}

/// The cause of an error.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Trouble {
    /// The file has this number of bytes, more than any table.
    #[error("the file has {0} bytes, but a table has at most {MAX_FILE}")]
    TooLong(usize),
    /// This byte of the line, counted from 1, is not printable ASCII.
    #[error("byte {0} of the line is not a printable ASCII character")]
    NotAscii(usize),
    /// The file ends within or before the line.
    #[error("the file ends here, before its line 'end'; it was cut off")]
    CutOff,
    /// The first line is not that of a table.
    #[error("'{0}' is not the first line of a table, which is '21-qtable 1 coarse' or '21-qtable 1 soft'")]
    Header(String),
    /// The table has another version.
    #[error("the table has version '{0}', but this program reads version 1")]
    Version(String),
    /// The line has this number of words instead of seven.
    #[error("found {0} words, expected 7: total soft dealer hit_n hit_sum stand_n stand_sum")]
    Words(usize),
    /// A word is not a valid number for its column.
    #[error("'{1}' is not a number that {0} can be")]
    Number(&'static str, String),
    /// The space has no state with this total, softness (0 or 1) and upcard.
    #[error("a {0} table has no state with total {1}, soft {2}, dealer {3}")]
    NoState(StateSpace, u8, u8, u8),
    /// The state is not greater than that of the previous line.
    #[error("the state {0} is out of order after {1}; expected sorted lines without duplicates")]
    NotSorted(State, State),
    /// The sum of a column is impossible for its count.
    #[error("{0} {1} is impossible with {2} rounds of at most 1 each")]
    Sum(&'static str, i64, u64),
    /// The state was never visited.
    #[error("unexpected state without visits")]
    NotVisited,
    /// The last line is malformed.
    #[error("'{0}' is not the last line of a table, which is 'end <lines> <checksum in 8 hexadecimal digits>'")]
    End(String),
    /// The announced number of states differs from the actual one.
    #[error("expected {0} states, found {1}")]
    Lines(u64, u64),
    /// The checksum in the last line differs from the actual one.
    #[error("the checksum is {0:08x}, but that of the lines is {1:08x}: the file was changed")]
    Checksum(u32, u32),
    /// The file continues after the last line.
    #[error("unexpected data after the line 'end'")]
    Trailing,
}

#[cfg(test)]
mod tests {
    use std::{format, string::ToString};

    use super::*;
    use crate::game::Action;

    fn sample(space: StateSpace) -> QTable {
        let mut table = QTable::new(space);
        for (index, state) in space.states().enumerate().step_by(7) {
            for visit in 0..=index {
                let action = if visit % 3 == 0 { Action::Hit } else { Action::Stand };
                table.learn(state, action, [1, 0, -1, -1][visit % 4]);
            }
        }
        table
    }

    #[test]
    fn checksum_is_crc32_of_ieee_802_3() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn file_matches_the_document() {
        let mut table = QTable::new(StateSpace::Coarse);
        let state = |total| State::new(StateSpace::Coarse, total, false, 10).unwrap();
        for (total, action, reward) in [
            (12, Action::Hit, -1),
            (12, Action::Hit, -1),
            (12, Action::Hit, 1),
            (12, Action::Stand, 1),
            (12, Action::Stand, -1),
            (13, Action::Stand, -1),
        ] {
            table.learn(state(total), action, reward);
        }
        // The checksum is from zlib.
        let file = "21-qtable 1 coarse\n12 0 10 3 -1 2 0\n13 0 10 0 0 1 -1\nend 2 57013465\n";
        assert_eq!(std::str::from_utf8(&table.to_file()), Ok(file));
        assert_eq!(QTable::from_file(file.as_bytes()), Ok(table));
    }

    #[test]
    fn tables_round_trip_within_the_size_bound() {
        for space in [StateSpace::Coarse, StateSpace::Soft] {
            for table in [QTable::new(space), sample(space)] {
                assert_eq!(QTable::from_file(&table.to_file()), Ok(table));
            }
            let mut full = QTable::new(space);
            let most = Tally { n: QTable::MAX_COUNT, sum: -(1 << 62) };
            for state in space.states() {
                full.entries[state.index()] = Entry { hit: most, stand: most };
            }
            let file = full.to_file();
            assert!(file.len() <= MAX_FILE);
            assert_eq!(QTable::from_file(&file), Ok(full));
        }
    }

    #[test]
    fn flipped_bits_and_cuts_are_detected() {
        let file = sample(StateSpace::Soft).to_file();
        let line_of = |at: usize| file[..at].split(|&byte| byte == b'\n').count();
        let last = line_of(file.len() - 1);
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut damaged = file.clone();
                damaged[at] ^= 1 << bit;
                let error = QTable::from_file(&damaged).expect_err("damage is an error");
                // A changed digit may show only in the checksum, an unsorted line only in the next line.
                let line = line_of(at);
                assert!(error.line >= line && error.line <= last + 1, "byte {at}, bit {bit}: {error}");
            }
            let error = QTable::from_file(&file[..at]).expect_err("a part is an error");
            // A cut number may be invalid, but the error is always in the last line.
            assert_eq!((error.line, error.trouble), (line_of(at), Trouble::CutOff), "cut at {at}");
        }
    }

    #[test]
    fn damage_is_reported_with_its_position() {
        let check = |text: &str, line, told: &str| {
            let sealed = text.replace("CRC", &format!("{:08x}", crc32(text.split("end").next().unwrap().as_bytes())));
            let error = QTable::from_file(sealed.as_bytes()).expect_err(text);
            assert_eq!(error.line, line, "{error}");
            let said = error.to_string();
            assert!(said.contains(told), "'{said}' does not say '{told}'");
        };
        check("", 1, "cut off");
        check("hello\n", 1, "'21-qtable 1 coarse'");
        check("21-qtable 2 coarse\nend 0 CRC\n", 1, "version '2'");
        check("21-qtable 1 fine\nend 0 CRC\n", 1, "'21-qtable 1 fine' is not");
        check("21-qtable 1 coarse\n12 0 10 3 -1 2\nend 1 CRC\n", 2, "6 words");
        check("21-qtable 1 coarse\n12 0 10 3 -1 2 0 9\nend 1 CRC\n", 2, "8 words");
        check("21-qtable 1 coarse\n12 1 10 3 -1 2 0\nend 1 CRC\n", 2, "soft 1");
        check("21-qtable 1 soft\n12 2 10 3 -1 2 0\nend 1 CRC\n", 2, "soft 2");
        check("21-qtable 1 coarse\n22 0 10 3 -1 2 0\nend 1 CRC\n", 2, "total 22");
        check("21-qtable 1 coarse\n12 0 10 3 -4 2 0\nend 1 CRC\n", 2, "hit_sum -4 is impossible with 3 rounds");
        check("21-qtable 1 coarse\n12 0 10 +3 -1 2 0\nend 1 CRC\n", 2, "'+3' is not a number that hit_n can be");
        check("21-qtable 1 coarse\n12 0 10 3 -1 02 0\nend 1 CRC\n", 2, "'02'");
        check("21-qtable 1 coarse\n12 0 10 3 -0 2 0\nend 1 CRC\n", 2, "'-0'");
        check("21-qtable 1 coarse\n12 0 10 0 0 0 0\nend 1 CRC\n", 2, "without visits");
        check("21-qtable 1 coarse\n12 0 10 9223372036854775808 0 0 0\nend 1 CRC\n", 2, "hit_n");
        check(
            "21-qtable 1 coarse\n13 0 9 1 1 1 1\n12 0 9 1 1 1 1\nend 2 CRC\n",
            3,
            "is out of order after 13 against 9",
        );
        check("21-qtable 1 coarse\n13 0 9 1 1 1 1\n13 0 9 1 1 1 1\nend 2 CRC\n", 3, "is out of order after");
        check("21-qtable 1 coarse\n13 0 9 1 1 1 1\nend 2 CRC\n", 3, "expected 2 states, found 1");
        check("21-qtable 1 coarse\n13 0 9 1 1 1 1\nend 1 00000000\n", 3, "checksum is 00000000");
        check("21-qtable 1 coarse\n13 0 9 1 1 1 1\nend 1\n", 3, "'end 1' is not");
        check("21-qtable 1 coarse\nend 0 CRC\n\n", 3, "unexpected data");
        check("21-qtable 1 coarse\r\nend 0 CRC\r\n", 1, "byte 19");
        check(&"x".repeat(MAX_FILE + 1), 1, "but a table has at most");
    }
}
