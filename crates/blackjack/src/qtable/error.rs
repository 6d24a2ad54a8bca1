//! What can be wrong with a table file.

use alloc::string::String;
use thiserror::Error;

use crate::policy::{State, StateSpace};

/// The longest table file in bytes: header, 280 states with four counts of up to 20 digits, last line.
pub const MAX_FILE: usize = 32 + 280 * (2 + 1 + 2 + 4 * 20 + 7) + 32;

/// Where a table file is wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {trouble}")]
pub struct ParseTableError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub trouble: Trouble,
}

/// What can be wrong with a line of a table file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Trouble {
    /// The file has so many bytes, more than any table.
    #[error("the file has {0} bytes, and no table has more than {MAX_FILE}")]
    TooLong(usize),
    /// The line is not ASCII, from this byte on, counted from 1.
    #[error("byte {0} of the line is no plain ASCII character")]
    NotAscii(usize),
    /// The file ends within or before the line.
    #[error("the file ends here, before its line 'end'; it was cut off")]
    CutOff,
    /// The first line is that of no table.
    #[error("'{0}' is not the first line of a table, which is '21-qtable 1 coarse' or '21-qtable 1 soft'")]
    Header(String),
    /// A table of another version.
    #[error("the table has version '{0}', this program reads version 1")]
    Version(String),
    /// The line has so many words and not seven.
    #[error("{0} words, where a state has 7: total soft dealer hit_n hit_sum stand_n stand_sum")]
    Words(usize),
    /// A word is no number of its column.
    #[error("'{1}' is not a number that {0} can be")]
    Number(&'static str, String),
    /// The space has no state of this total, soft (0 or 1) and upcard.
    #[error("a {0} table has no state with total {1}, soft {2}, dealer {3}")]
    NoState(StateSpace, u8, u8, u8),
    /// The state of the line does not come after that of the line before it.
    #[error("the state {0} does not come after {1}; lines are sorted and each state stands once")]
    NotSorted(State, State),
    /// The sum of a column that its count cannot have.
    #[error("{0} {1} is impossible with {2} rounds of at most 1 each")]
    Sum(&'static str, i64, u64),
    /// A state that was never visited has no line.
    #[error("a state that was never visited stands in no table")]
    NotVisited,
    /// The last line does not read as it should.
    #[error("'{0}' is not the last line of a table, which is 'end <lines> <checksum in 8 hexadecimal digits>'")]
    End(String),
    /// States are missing or too many: the number in the last line, and how many there are.
    #[error("{0} states are announced and {1} are there")]
    Lines(u64, u64),
    /// Something was changed: the checksum in the last line, and that of what is there.
    #[error("the checksum is {0:08x} and that of the lines is {1:08x}; something was changed")]
    Checksum(u32, u32),
    /// Something follows the last line.
    #[error("something follows the line 'end'")]
    Trailing,
}
