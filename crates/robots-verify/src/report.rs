//! The report about a message.

use robots::protocol::shape::{Label, PartError, Value};

use crate::notes::Note;

/// The explanation of one message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// The position of its first byte, in bytes from the start of the stream.
    pub(crate) at: u64,
    /// The number of its bytes that were read.
    pub(crate) length: usize,
    /// The name of the message; `None` if its tag is wrong or missing.
    pub(crate) name: Option<&'static str>,
    pub(crate) lines: Vec<ReportLine>,
    /// The number of further lines, which were not stored.
    pub(crate) lines_left_out: usize,
    /// Notes about well-formed parts that make no sense.
    pub(crate) notes: Vec<Note>,
    /// The number of further notes, which were not stored.
    pub(crate) notes_left_out: usize,
    pub(crate) fault: Option<Fault>,
    /// The bytes around the first wrong one.
    pub(crate) around: Option<Around>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReportLine {
    Field(Field),
    /// The number of further items of a list, which are not shown.
    LeftOut {
        items: u32,
        depth: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// The position of its first byte, in bytes from the start of the message.
    pub(crate) at: usize,
    pub(crate) bytes: Vec<u8>,
    /// The nesting depth in lists and in entries of maps.
    pub(crate) depth: usize,
    pub(crate) label: Label,
    pub(crate) value: Value,
}

/// The error in a message. Offsets count bytes from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A part that is not valid.
    Malformed(PartError),
    /// A datagram with bytes after its message.
    Trailing { at: usize, extra: usize },
    /// The bytes end before the message does.
    Unfinished {
        at: usize,
        // The truncated or missing field, and whether part of it was received.
        label: Label,
        cut: bool,
        // The minimum number of missing bytes.
        missing: usize,
    },
}

impl Fault {
    /// The position of the first wrong byte, in bytes from the start of the message.
    pub(crate) const fn at(&self) -> usize {
        match *self {
            Self::Malformed(ref error) => error.at(),
            Self::Trailing { at, .. } | Self::Unfinished { at, .. } => at,
        }
    }
}

/// The bytes around a wrong one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) bytes: Vec<u8>,
    /// The index of the wrong byte; the number of bytes if the byte after them is missing.
    pub(crate) wrong: usize,
}

impl Report {
    /// The report of a message before its first byte.
    pub(crate) fn new(number: u64, at: u64) -> Self {
        Self { number, at, ..Self::default() }
    }
}
