//! The report about a message.

use crate::format::Enum;

/// What is known of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Its number, from 1.
    pub number: u64,
    /// Where it begins, in bytes from the start of the stream.
    pub at: u64,
    /// Its length as far as it was read, in bytes.
    pub length: usize,
    /// Which message it is; none if its tag is wrong or missing.
    pub name: Option<&'static str>,
    /// Its fields, in their order.
    pub lines: Vec<Line>,
    /// The number of further ones that were not kept.
    pub lines_left_out: usize,
    /// Notes about well-formed parts that make no sense.
    pub notes: Vec<Note>,
    /// The number of further ones that were not kept.
    pub notes_left_out: usize,
    /// What is wrong, if anything.
    pub fault: Option<Fault>,
    /// The bytes around the first wrong one.
    pub around: Option<Around>,
}

/// A line of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A field.
    Field(Field),
    /// So many items of a list follow that are not shown.
    LeftOut {
        /// How many.
        items: u32,
        /// How deep they lie, in lists.
        depth: usize,
    },
}

/// A field of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Where it begins, in bytes from the start of the message.
    pub at: usize,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// How deep it lies, in lists and in the entries of maps.
    pub depth: usize,
    /// What it is.
    pub label: Label,
    /// Its value.
    pub value: Value,
}

/// What a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// The tag of the message.
    Message,
    /// A field of that name.
    Field(&'static str),
    /// An item of the list of that name, from 1.
    Item(&'static str, u32),
    /// The player that an entry of the map of that name belongs to.
    Key(&'static str),
}

/// The value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A variant of an enumeration.
    Variant(&'static str),
    /// A number.
    Number(u32),
    /// A player's number.
    Player(u8),
    /// A bomb's number.
    BombId(u32),
    /// Column and row.
    Position(u16, u16),
    /// Column, row and timer of a bomb.
    Bomb(u16, u16, u16),
    /// A text.
    Text(String),
    /// So many items follow.
    Items(u32),
    /// So many entries follow.
    Entries(u32),
}

/// What is wrong with a message. Offsets count bytes from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A tag that the enumeration does not have.
    UnknownTag {
        /// Its offset.
        at: usize,
        /// The tag.
        tag: u8,
        /// What it should be a tag of.
        of: &'static Enum,
    },
    /// A text that is not UTF-8.
    NotUtf8 {
        /// Offset of the first byte that is wrong.
        at: usize,
        /// That byte.
        byte: u8,
        /// The field.
        label: Label,
        /// The text's length in bytes.
        length: u8,
    },
    /// A list that announces too much.
    TooMany {
        /// Offset of the count.
        at: usize,
        /// The count.
        count: u32,
        /// The bound.
        max: u32,
        /// The field.
        label: Label,
    },
    /// A message that is longer than what is read.
    TooLong {
        /// Offset of the field that does not fit any more.
        at: usize,
        /// The bound, in bytes.
        max: usize,
    },
    /// A datagram that goes on behind its message.
    Trailing {
        /// Offset of the first byte that is too many.
        at: usize,
        /// How many there are.
        extra: usize,
    },
    /// The bytes end before the message does.
    Unfinished {
        /// Offset of the first byte that is missing.
        at: usize,
        /// The field that is cut off or missing.
        label: Label,
        /// Whether part of that field is there.
        cut: bool,
        /// How many bytes are missing at least.
        missing: usize,
    },
}

impl Fault {
    /// Where the first wrong byte is, in bytes from the start of the message.
    pub const fn at(&self) -> usize {
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
pub struct Note {
    /// Where it is, in bytes from the start of the message.
    pub at: usize,
    /// What is wrong, and what would be right.
    pub text: String,
}

/// Bytes around a wrong one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Around {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Which of them is wrong; their number if it is the one that is missing behind them.
    pub wrong: usize,
}

impl Report {
    /// The report of a message before its first byte.
    pub(crate) const fn new(number: u64, at: u64) -> Self {
        Self {
            number,
            at,
            length: 0,
            name: None,
            lines: vec![],
            lines_left_out: 0,
            notes: vec![],
            notes_left_out: 0,
            fault: None,
            around: None,
        }
    }
}
