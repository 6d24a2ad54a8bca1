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
    /// The file is longer than any table.
    #[error("the file has {length} bytes, and no table has more than {MAX_FILE}")]
    TooLong {
        /// Its length.
        length: usize,
    },
    /// The line is not ASCII.
    #[error("byte {at} of the line is no plain ASCII character")]
    NotAscii {
        /// Which byte, counted from 1.
        at: usize,
    },
    /// The file ends within or before the line.
    #[error("the file ends here, before its line 'end'; it was cut off")]
    CutOff,
    /// The first line is that of no table.
    #[error("'{found}' is not the first line of a table, which is '21-qtable 1 coarse' or '21-qtable 1 soft'")]
    Header {
        /// What is there.
        found: String,
    },
    /// A table of another version.
    #[error("the table has version '{found}', this program reads version 1")]
    Version {
        /// Its version.
        found: String,
    },
    /// The line has not seven numbers.
    #[error("{found} words, where a state has 7: total soft dealer hit_n hit_sum stand_n stand_sum")]
    Words {
        /// How many words there are.
        found: usize,
    },
    /// A word is no number of its column.
    #[error("'{found}' is not a number that {column} can be")]
    Number {
        /// Which column.
        column: &'static str,
        /// What is there.
        found: String,
    },
    /// The space has no such state.
    #[error("a {space} table has no state with total {total}, soft {soft}, dealer {dealer}")]
    NoState {
        /// The states of the table.
        space: StateSpace,
        /// The total.
        total: u8,
        /// 0 or 1.
        soft: u8,
        /// The upcard.
        dealer: u8,
    },
    /// The line does not come after the one before it.
    #[error("the state {state} does not come after {before}; lines are sorted and each state stands once")]
    NotSorted {
        /// The state of the line.
        state: State,
        /// The state of the line before.
        before: State,
    },
    /// A sum that its count cannot have.
    #[error("{column} {sum} is impossible with {n} rounds of at most 1 each")]
    Sum {
        /// Which sum.
        column: &'static str,
        /// Its value.
        sum: i64,
        /// Its count.
        n: u64,
    },
    /// A state that was never visited has no line.
    #[error("a state that was never visited stands in no table")]
    NotVisited,
    /// The last line does not read as it should.
    #[error("'{found}' is not the last line of a table, which is 'end <lines> <checksum in 8 hexadecimal digits>'")]
    End {
        /// What is there.
        found: String,
    },
    /// States are missing or too many.
    #[error("{announced} states are announced and {found} are there")]
    Lines {
        /// The number in the last line.
        announced: u64,
        /// How many lines there are.
        found: u64,
    },
    /// Something was changed.
    #[error("the checksum is {announced:08x} and that of the lines is {found:08x}; something was changed")]
    Checksum {
        /// The checksum in the last line.
        announced: u32,
        /// The checksum of what is there.
        found: u32,
    },
    /// Something follows the last line.
    #[error("something follows the line 'end'")]
    Trailing,
}
