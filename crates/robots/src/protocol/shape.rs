//! The wire format as data, and a reader for parts of messages.
//!
//! The macros in `wire.rs` generate the shape of a type together with its decoder.

use alloc::{borrow::ToOwned, collections::BTreeMap, string::String, vec, vec::Vec};

use netcore::{
    DecodeError,
    wire::{Decode, ShortText},
};

use super::{Player, PlayerId};
use crate::board::Position;

/// The wire format of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One byte.
    U8,
    /// Two bytes.
    U16,
    /// Four bytes.
    U32,
    /// One byte.
    PlayerId,
    /// Four bytes.
    BombId,
    /// Column and row, two bytes each.
    Position(&'static [Field]),
    /// Field, and timer of two bytes.
    Bomb(&'static [Field]),
    /// Length in one byte, then UTF-8.
    Text,
    /// Tag in one byte, then the fields of the variant.
    Enum(&'static Enum),
    /// The fields.
    Record(&'static [Field]),
    /// Fields that count as fields of the enclosing message.
    Inline(&'static [Field]),
    /// Count in four bytes, then the items.
    List(&'static Self),
    /// Count in four bytes, then a player number and these fields for each entry.
    Map(&'static [Field]),
}

/// A field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The wire format of its value.
    pub shape: Shape,
}

/// An enumeration.
#[derive(Debug, PartialEq, Eq)]
pub struct Enum {
    /// Its name.
    pub name: &'static str,
    /// The variants. The index of each is its tag.
    pub variants: &'static [Variant],
}

/// A variant of an enumeration.
#[derive(Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// The fields after its tag.
    pub fields: &'static [Field],
}

/// A type with its wire format as data.
pub trait Described {
    /// The wire format.
    const SHAPE: Shape;
}

macro_rules! described {
    ($($type:ty: $shape:expr;)*) => {$(
        impl Described for $type {
            const SHAPE: Shape = $shape;
        }
    )*};
}
described! {
    u8: Shape::U8;
    u16: Shape::U16;
    u32: Shape::U32;
    ShortText: Shape::Text;
    BTreeMap<PlayerId, Player>: match Player::SHAPE {
        Shape::Record(fields) => Shape::Map(fields),
        other => other,
    };
    BTreeMap<PlayerId, Position>: Shape::Map(&[field("position", Position::SHAPE)]);
    BTreeMap<PlayerId, u32>: Shape::Map(&[field("score", Shape::U32)]);
}

impl<T: Described> Described for Vec<T> {
    const SHAPE: Shape = Shape::List(&T::SHAPE);
}

pub(super) const fn field(name: &'static str, shape: Shape) -> Field {
    Field { name, shape }
}

impl Shape {
    /// The minimum size of a value in bytes.
    pub fn least(&self) -> usize {
        match self {
            Self::U8 | Self::PlayerId | Self::Text => 1,
            Self::U16 => 2,
            Self::U32 | Self::BombId | Self::List(_) | Self::Map(_) => 4,
            Self::Position(fields) | Self::Bomb(fields) | Self::Record(fields) | Self::Inline(fields) => least(fields),
            Self::Enum(Enum { variants, .. }) => {
                1 + variants.iter().map(|variant| least(variant.fields)).min().unwrap_or(0)
            }
        }
    }

    fn least_item(&self) -> usize {
        match self {
            Self::List(item) => item.least(),
            Self::Map(fields) => Self::PlayerId.least() + least(fields),
            _ => 0,
        }
    }
}

fn least(fields: &[Field]) -> usize {
    fields.iter().map(|field| field.shape.least()).sum()
}

/// The role of a part in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// The tag of the message.
    Message,
    /// The field of this name.
    Field(&'static str),
    /// An item of this list, counted from 1.
    Item(&'static str, u32),
    /// The player number of an entry of this map, counted from 1.
    Key(&'static str, u32),
}

/// A part of a message: a tag, a value, or the count of a list or a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// The role.
    pub label: Label,
    /// The nesting depth in lists and maps.
    pub depth: usize,
    /// The bytes.
    pub bytes: &'a [u8],
    shape: &'static Shape,
}

/// The value of a [`Part`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A tag, by the name of its variant.
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
    /// The number of items.
    Items(u32),
    /// The number of entries.
    Entries(u32),
}

impl Part<'_> {
    /// The decoded value.
    pub fn value(&self) -> Value {
        let byte = |at: usize| self.bytes.get(at).copied().unwrap_or_default();
        let short = |at: usize| u16::from_be_bytes([byte(at), byte(at + 1)]);
        let long = || number(self.bytes);
        match self.shape {
            Shape::Enum(of) => Value::Variant(of.variants.get(usize::from(byte(0))).map_or("", |variant| variant.name)),
            Shape::PlayerId => Value::Player(byte(0)),
            Shape::BombId => Value::BombId(long()),
            Shape::Position(_) => Value::Position(short(0), short(2)),
            Shape::Bomb(_) => Value::Bomb(short(0), short(2), short(4)),
            Shape::Text => Value::Text(str::from_utf8(&self.bytes[1..]).unwrap_or_default().to_owned()),
            Shape::List(_) => Value::Items(long()),
            Shape::Map(_) => Value::Entries(long()),
            _ => Value::Number(long()),
        }
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// Why a part is invalid. Offsets count bytes from the start of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartError {
    /// An unknown tag of an enumeration.
    UnknownTag {
        /// Its offset.
        at: usize,
        /// The tag.
        tag: u8,
        /// The enumeration.
        of: &'static Enum,
    },
    /// Invalid UTF-8.
    NotUtf8 {
        /// Offset of the first invalid byte.
        at: usize,
        /// The invalid byte.
        byte: u8,
        /// The role of the text.
        label: Label,
        /// The length of the text.
        length: u8,
    },
    /// A list or map with too many items.
    TooMany {
        /// Offset of the count.
        at: usize,
        /// The count.
        count: u32,
        /// The bound.
        max: u32,
        /// The role of the list or map.
        label: Label,
    },
    /// A message longer than the limit.
    TooLong {
        /// Offset of the first part that does not fit.
        at: usize,
        /// The length including this part.
        length: usize,
        /// The limit.
        max: usize,
    },
}

impl PartError {
    /// The offset of the first wrong byte.
    pub const fn at(&self) -> usize {
        match *self {
            Self::UnknownTag { at, .. }
            | Self::NotUtf8 { at, .. }
            | Self::TooMany { at, .. }
            | Self::TooLong { at, .. } => at,
        }
    }
}

impl From<PartError> for DecodeError {
    fn from(error: PartError) -> Self {
        match error {
            PartError::UnknownTag { at, tag, of } => Self::unknown_tag(of.name, tag, at),
            PartError::NotUtf8 { at, .. } => Self::NotUtf8 { at },
            PartError::TooMany { at, count, max, .. } => Self::TooMany { at, count, max },
            PartError::TooLong { length, max, .. } => Self::TooLong { length, max },
        }
    }
}

/// The result of [`PartReader::next`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<'a> {
    /// A part. The next call continues after its bytes.
    Part(Part<'a>),
    /// The end of a list or map.
    ListEnd {
        /// Its name.
        name: &'static str,
        /// The number of its items or entries.
        items: u32,
        /// The depth of the items.
        depth: usize,
    },
    /// The part needs at least this many bytes.
    Incomplete(usize),
    /// The end of the message; another may follow.
    MessageEnd,
}

/// Reads messages part by part, each part once, in memory bounded by the nesting depth of the format.
#[derive(Debug, Clone)]
pub struct PartReader {
    message: &'static Shape,
    max_message: usize,
    max_items: u32,
    // The unread parts, the next one last.
    rest: Vec<Rest>,
    length: usize,
}

#[derive(Debug, Clone, Copy)]
enum Rest {
    Value { label: Label, shape: &'static Shape, depth: usize },
    // The remaining items of a list, or entries of a map.
    Items { name: &'static str, of: &'static Shape, done: u32, left: u32, depth: usize },
}

impl Rest {
    fn least(&self) -> usize {
        match self {
            Self::Value { shape, .. } => shape.least(),
            Self::Items { of, left, .. } => of.least_item().saturating_mul(*left as usize),
        }
    }
}

impl PartReader {
    /// A reader that rejects messages of more than `max_message` bytes and lists of more than `max_items` items.
    pub fn new(message: &'static Shape, max_message: usize, max_items: u32) -> Self {
        let mut reader = Self { message, max_message, max_items, rest: vec![], length: 0 };
        reader.restart();
        reader
    }

    fn restart(&mut self) {
        self.length = 0;
        self.rest.push(Rest::Value { label: Label::Message, shape: self.message, depth: 0 });
    }

    /// The number of bytes read of the current message.
    pub const fn length(&self) -> usize {
        self.length
    }

    /// The label of the next part.
    pub fn next_label(&self) -> Label {
        match self.rest.last() {
            Some(&Rest::Value { label, .. }) => label,
            _ => Label::Message,
        }
    }

    /// A lower bound on the missing bytes of the message. `partial` is the start of the next part.
    pub fn missing(&self, partial: &[u8]) -> usize {
        let least = self.rest.iter().map(Rest::least).fold(0, usize::saturating_add);
        let text = match (self.rest.last(), partial.first()) {
            (Some(Rest::Value { shape: Shape::Text, .. }), Some(&length)) => usize::from(length),
            _ => 0,
        };
        (least + text).saturating_sub(partial.len()).max(1)
    }

    /// Reads the next part from the front of `bytes`.
    ///
    /// # Errors
    /// [`PartError`] if the part is invalid. The reader cannot continue.
    pub fn next<'a>(&mut self, bytes: &'a [u8]) -> Result<Step<'a>, PartError> {
        loop {
            match self.rest.pop() {
                None => {
                    self.restart();
                    return Ok(Step::MessageEnd);
                }
                Some(Rest::Items { name, left: 0, done, depth, .. }) => {
                    return Ok(Step::ListEnd { name, items: done, depth });
                }
                Some(Rest::Items { name, of, done, left, depth }) => {
                    self.rest.push(Rest::Items { name, of, done: done + 1, left: left - 1, depth });
                    let (label, shape) = match of {
                        Shape::List(item) => (Label::Item(name, done + 1), *item),
                        Shape::Map(fields) => {
                            self.push_fields(fields, depth + 1);
                            (Label::Key(name, done + 1), &Shape::PlayerId)
                        }
                        _ => continue,
                    };
                    self.rest.push(Rest::Value { label, shape, depth });
                }
                Some(Rest::Value { shape: Shape::Record(fields) | Shape::Inline(fields), depth, .. }) => {
                    self.push_fields(fields, depth);
                }
                Some(Rest::Value { label, shape, depth }) => return self.value(bytes, label, shape, depth),
            }
        }
    }

    fn push_fields(&mut self, fields: &'static [Field], depth: usize) {
        let value = |field: &'static Field| Rest::Value { label: Label::Field(field.name), shape: &field.shape, depth };
        self.rest.extend(fields.iter().rev().map(value));
    }

    fn value<'a>(
        &mut self,
        bytes: &'a [u8],
        label: Label,
        shape: &'static Shape,
        depth: usize,
    ) -> Result<Step<'a>, PartError> {
        let mut length = match shape {
            Shape::Enum(_) => 1,
            shape => shape.least(),
        };
        if let (Shape::Text, Some(&text)) = (shape, bytes.first()) {
            length += usize::from(text);
        }
        let (at, max) = (self.length, self.max_message);
        if at + length > max {
            return Err(PartError::TooLong { at, length: at + length, max });
        }
        let Some(bytes) = bytes.get(..length).filter(|bytes| !bytes.is_empty()) else {
            self.rest.push(Rest::Value { label, shape, depth });
            return Ok(Step::Incomplete(length));
        };
        match *shape {
            Shape::Text => {
                if let Err(error) = str::from_utf8(&bytes[1..]) {
                    let wrong = 1 + error.valid_up_to();
                    return Err(PartError::NotUtf8 { at: at + wrong, byte: bytes[wrong], label, length: bytes[0] });
                }
            }
            Shape::Enum(of) => match of.variants.get(usize::from(bytes[0])) {
                Some(variant) => self.push_fields(variant.fields, depth + 1),
                None => return Err(PartError::UnknownTag { at, tag: bytes[0], of }),
            },
            Shape::List(_) | Shape::Map(_) => {
                let count = number(bytes);
                let max = match shape {
                    Shape::Map(_) => self.max_items.min(PlayerId::MAX_KEYS),
                    _ => self.max_items,
                };
                if count > max {
                    return Err(PartError::TooMany { at, count, max, label });
                }
                if let Label::Field(name) = label {
                    self.rest.push(Rest::Items { name, of: shape, done: 0, left: count, depth: depth + 1 });
                }
            }
            _ => {}
        }
        self.length += length;
        Ok(Step::Part(Part { label, depth, bytes, shape }))
    }
}
