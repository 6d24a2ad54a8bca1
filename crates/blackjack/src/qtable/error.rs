//! Errors in table files.

use alloc::string::String;
use thiserror::Error;

use crate::policy::{State, StateSpace};

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
