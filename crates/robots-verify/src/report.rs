use robots::protocol::shape::{Label, PartError, Value};

use crate::notes::Note;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// From 1.
    pub(crate) number: u64,
    /// The offset of the first byte in the stream.
    pub(crate) at: u64,
    /// Bytes that were read.
    pub(crate) length: usize,
    /// `None` if the tag is wrong or missing.
    pub(crate) name: Option<&'static str>,
    pub(crate) lines: Vec<ReportLine>,
    pub(crate) lines_left_out: usize,
    pub(crate) notes: Vec<Note>,
    pub(crate) notes_left_out: usize,
    pub(crate) fault: Option<Fault>,
    pub(crate) around: Option<Around>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReportLine {
    Field(Field),
    /// Items of a list that are not shown.
    LeftOut {
        items: u32,
        depth: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// The offset of the first byte in the message.
    pub(crate) at: usize,
    pub(crate) bytes: Vec<u8>,
    /// In lists and in entries of maps.
    pub(crate) depth: usize,
    pub(crate) label: Label,
    pub(crate) value: Value,
}

/// Offsets count bytes from the start of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An invalid part.
    Malformed(PartError),
    /// Bytes follow the message in its datagram.
    Trailing { at: usize, extra: usize },
    /// The bytes end before the message does.
    Unfinished {
        at: usize,
        // The field that is truncated (`cut`) or missing.
        label: Label,
        cut: bool,
        // At least this number of bytes.
        missing: usize,
    },
}

impl Fault {
    pub(crate) const fn at(&self) -> usize {
        match *self {
            Self::Malformed(ref error) => error.at(),
            Self::Trailing { at, .. } | Self::Unfinished { at, .. } => at,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) bytes: Vec<u8>,
    /// The index of the wrong byte, or the number of bytes if the next one is missing.
    pub(crate) wrong: usize,
}

impl Report {
    pub(crate) fn new(number: u64, at: u64) -> Self {
        Self { number, at, ..Self::default() }
    }
}
