//! The report about a message.

use crate::format::Enum;

/// What is known of one message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Where it begins, in bytes from the start of the stream.
    pub(crate) at: u64,
    /// Its length as far as it was read, in bytes.
    pub(crate) length: usize,
    /// Which message it is; none if its tag is wrong or missing.
    pub(crate) name: Option<&'static str>,
    pub(crate) lines: Vec<Line>,
    /// The number of further ones that were not kept.
    pub(crate) lines_left_out: usize,
    /// Notes about well-formed parts that make no sense.
    pub(crate) notes: Vec<Note>,
    /// The number of further ones that were not kept.
    pub(crate) notes_left_out: usize,
    pub(crate) fault: Option<Fault>,
    /// The bytes around the first wrong one.
    pub(crate) around: Option<Around>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    Field(Field),
    /// So many items of a list follow that are not shown.
    LeftOut {
        items: u32,
        depth: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// Where it begins, in bytes from the start of the message.
    pub(crate) at: usize,
    pub(crate) bytes: Vec<u8>,
    /// How deep it lies, in lists and in the entries of maps.
    pub(crate) depth: usize,
    pub(crate) label: Label,
    pub(crate) value: Value,
}

/// What a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    /// The tag of the message.
    Message,
    Field(&'static str),
    /// An item of the list of that name, from 1.
    Item(&'static str, u32),
    /// The player that an entry of the map of that name belongs to.
    Key(&'static str),
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Variant(&'static str),
    Number(u32),
    Player(u8),
    BombId(u32),
    /// Column and row.
    Position(u16, u16),
    /// Column, row and timer of a bomb.
    Bomb(u16, u16, u16),
    Text(String),
    /// So many items follow.
    Items(u32),
    /// So many entries follow.
    Entries(u32),
}

/// What is wrong with a message. Offsets count bytes from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A tag that the enumeration does not have.
    UnknownTag { at: usize, tag: u8, of: &'static Enum },
    /// A text that is not UTF-8.
    NotUtf8 {
        // Of the first byte that is wrong.
        at: usize,
        byte: u8,
        label: Label,
        length: u8,
    },
    /// A list that announces too much.
    TooMany { at: usize, count: u32, max: u32, label: Label },
    /// A message that is longer than what is read.
    TooLong {
        // Of the field that does not fit any more.
        at: usize,
        max: usize,
    },
    /// A datagram that goes on behind its message.
    Trailing { at: usize, extra: usize },
    /// The bytes end before the message does.
    Unfinished {
        at: usize,
        // The field that is cut off or missing, and whether part of it is there.
        label: Label,
        cut: bool,
        // Bytes, at least.
        missing: usize,
    },
}

impl Fault {
    /// Where the first wrong byte is, in bytes from the start of the message.
    pub(crate) const fn at(&self) -> usize {
        match *self {
            Self::UnknownTag { at, .. }
            | Self::NotUtf8 { at, .. }
            | Self::TooMany { at, .. }
            | Self::TooLong { at, .. }
            | Self::Trailing { at, .. }
            | Self::Unfinished { at, .. } => at,
        }
    }
}

/// A note about something that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    /// Where it is, in bytes from the start of the message.
    pub(crate) at: usize,
    /// What is wrong, and what would be right.
    pub(crate) text: String,
}

/// Bytes around a wrong one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Around {
    pub(crate) bytes: Vec<u8>,
    /// Which of them is wrong; their number if it is the one that is missing behind them.
    pub(crate) wrong: usize,
}

impl Report {
    /// The report of a message before its first byte.
    pub(crate) fn new(number: u64, at: u64) -> Self {
        Self { number, at, ..Self::default() }
    }
}
