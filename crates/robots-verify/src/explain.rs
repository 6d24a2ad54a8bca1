//! Explains bytes by following the description of the format.

use crate::{
    format::{FieldShape, Kind, Shape},
    report::{Around, Fault, Field, Label, Report, ReportLine, Value},
    sense::Sense,
};

/// The maximum number of shown items of a list, or entries of a map.
pub(crate) const MAX_SHOWN_ITEMS: u32 = 100;
/// The maximum number of stored lines of a message.
pub(crate) const MAX_SHOWN_LINES: usize = 2_000;
/// Bytes that are shown on each side of a wrong one.
const AROUND: usize = 8;

// The parts of a message that are still to be read; the last one comes next.
#[derive(Debug, Clone, Copy)]
enum Todo {
    Value(Next),
    // The remaining items of a list or a map.
    Items { name: &'static str, of: &'static Shape, done: u32, left: u32, depth: usize, shown: bool },
}

// The next value.
#[derive(Debug, Clone, Copy)]
struct Next {
    label: Label,
    shape: &'static Shape,
    depth: usize,
    shown: bool,
}

impl Todo {
    fn least(&self) -> usize {
        match self {
            Self::Value(next) => next.shape.least(),
            Self::Items { of, left, .. } => of.least_item().saturating_mul(*left as usize),
        }
    }
}

/// Explains the messages of a stream in bounded memory.
///
/// Each byte is read once, so a message that arrives in small pieces costs no more than one that arrives in one piece.
#[derive(Debug)]
pub(crate) struct Explainer {
    kind: Kind,
    // The message that is being read.
    report: Report,
    todo: Vec<Todo>,
    sense: Sense,
    // The received bytes of an incomplete field.
    pending: Vec<u8>,
    // The last bytes of the message before `pending`.
    before: Vec<u8>,
    broken: bool,
}

impl Explainer {
    pub(crate) fn new(kind: Kind) -> Self {
        let mut explainer = Self {
            kind,
            report: Report::new(0, 0),
            todo: vec![],
            sense: Sense::default(),
            pending: vec![],
            before: vec![],
            broken: false,
        };
        explainer.begin(1, 0);
        explainer
    }

    /// Explains the single message that a datagram should contain; `number` is the number of the datagram.
    pub(crate) fn datagram(kind: Kind, number: u64, datagram: &[u8]) -> Report {
        let mut explainer = Self::new(kind);
        let mut rest = datagram;
        let mut report = match explainer.next(&mut rest) {
            Some(report) => report,
            None => explainer.unfinished(),
        };
        if report.fault.is_none() && !rest.is_empty() {
            let at = report.length;
            report.fault = Some(Fault::Trailing { at, extra: rest.len() });
            report.around = Some(around(datagram, at));
        }
        report.number = number;
        report
    }

    /// The number of complete messages.
    pub(crate) const fn messages(&self) -> u64 {
        self.report.number - 1
    }

    /// The offset of the current or next message.
    pub(crate) const fn at(&self) -> u64 {
        self.report.at
    }

    /// Whether reading has ended at a wrong byte.
    pub(crate) const fn is_broken(&self) -> bool {
        self.broken
    }

    /// Takes bytes off the front of `bytes`, up to the end of a message, and returns its report. Returns `None` if the
    /// message is incomplete, or once a byte was wrong.
    pub(crate) fn next(&mut self, bytes: &mut &[u8]) -> Option<Report> {
        if self.broken {
            return None;
        }
        while let Some(todo) = self.todo.pop() {
            match todo {
                Todo::Value(next) => match self.value(bytes, next) {
                    Ok(true) => {}
                    Ok(false) => {
                        self.todo.push(todo);
                        return None;
                    }
                    Err(fault) => return Some(self.fail(fault, bytes)),
                },
                Todo::Items { name, left: 0, done, depth, shown, .. } => self.end_list(name, done, depth, shown),
                Todo::Items { name, of, done, left, depth, shown } => {
                    self.todo.push(Todo::Items { name, of, done: done + 1, left: left - 1, depth, shown });
                    let shown = shown && done < MAX_SHOWN_ITEMS;
                    let (label, shape) = match of {
                        Shape::List(item) => (Label::Item(name, done + 1), *item),
                        of => {
                            self.fields(of.fields(), depth + 1, shown);
                            (Label::Key(name), &Shape::PlayerId)
                        }
                    };
                    self.todo.push(Todo::Value(Next { label, shape, depth, shown }));
                }
            }
        }
        let (number, at) = (self.report.number, self.report.at);
        let report = self.take_report();
        self.begin(number + 1, at + report.length as u64);
        Some(report)
    }

    /// The report of an incomplete message at the end of the stream; `None` if no message has begun.
    pub(crate) fn finish(mut self) -> Option<Report> {
        let nothing = self.report.length == 0 && self.pending.is_empty();
        if self.broken || nothing { None } else { Some(self.unfinished()) }
    }

    fn begin(&mut self, number: u64, at: u64) {
        self.report = Report::new(number, at);
        self.sense = Sense::default();
        self.before.clear();
        let shape = self.kind.message();
        self.todo.push(Todo::Value(Next { label: Label::Message, shape, depth: 0, shown: true }));
    }

    fn take_report(&mut self) -> Report {
        let next = Report::new(self.report.number, self.report.at);
        let mut report = std::mem::replace(&mut self.report, next);
        (report.notes, report.notes_left_out) = self.sense.take();
        report
    }

    fn unfinished(&mut self) -> Report {
        let missing = self.todo.iter().map(Todo::least).fold(0_usize, usize::saturating_add);
        let missing = match (self.todo.last(), self.pending.first()) {
            // The length of the text is known.
            (Some(Todo::Value(Next { shape: Shape::Text, .. })), Some(&length)) => missing + usize::from(length),
            _ => missing,
        };
        let label = match self.todo.last() {
            Some(Todo::Value(next)) => next.label,
            _ => Label::Message,
        };
        let (at, cut) = (self.report.length + self.pending.len(), !self.pending.is_empty());
        let missing = missing.saturating_sub(self.pending.len()).max(1);
        self.fail(Fault::Unfinished { at, label, cut, missing }, &[])
    }

    fn fail(&mut self, fault: Fault, rest: &[u8]) -> Report {
        self.broken = true;
        let mut bytes = std::mem::take(&mut self.before);
        let start = self.report.length - bytes.len();
        bytes.extend_from_slice(&self.pending);
        bytes.extend_from_slice(&rest[..rest.len().min(AROUND)]);
        let mut report = self.take_report();
        report.around = Some(around(&bytes, fault.at() - start));
        // The bytes of a truncated or wrong field belong to the message as well.
        report.length += self.pending.len();
        report.fault = Some(fault);
        report
    }

    // Collects the bytes of one value. Returns whether the value is complete.
    fn fill(&mut self, bytes: &mut &[u8], length: usize) -> bool {
        let wanted = length.saturating_sub(self.pending.len()).min(bytes.len());
        let (taken, rest) = bytes.split_at(wanted);
        self.pending.extend_from_slice(taken);
        *bytes = rest;
        self.pending.len() >= length
    }

    // Reads one value and schedules the parts that follow from it. Returns whether the value is complete.
    fn value(&mut self, bytes: &mut &[u8], next: Next) -> Result<bool, Fault> {
        let Next { label, shape, depth, shown } = next;
        let at = self.report.length;
        let room = self.kind.max_message() - at;
        let fits = |length: usize| {
            if length <= room { Ok(length) } else { Err(Fault::TooLong { at, max: self.kind.max_message() }) }
        };
        let mut length = match shape {
            // The fields after the tag are read separately.
            Shape::Enum(_) => fits(1)?,
            shape => fits(shape.least())?,
        };
        if !self.fill(bytes, length) {
            return Ok(false);
        }
        if *shape == Shape::Text {
            length += usize::from(self.pending[0]);
            if length > room {
                return Err(Fault::TooLong { at, max: self.kind.max_message() });
            }
            if !self.fill(bytes, length) {
                return Ok(false);
            }
        }
        let value = self.read(at, label, shape)?;
        self.sense.see(at, label, &value);
        let taken = std::mem::take(&mut self.pending);
        self.report.length += taken.len();
        self.before.extend_from_slice(&taken);
        self.before.drain(..self.before.len().saturating_sub(AROUND));
        let follows = self.follow(next, &value);
        if shown {
            self.show(ReportLine::Field(Field { at, bytes: taken, depth, label, value }));
        } else {
            // The buffer is reused for the next field.
            self.pending = taken;
            self.pending.clear();
        }
        self.todo.extend(follows);
        Ok(true)
    }

    // The meaning of the bytes of one value.
    fn read(&mut self, at: usize, label: Label, shape: &'static Shape) -> Result<Value, Fault> {
        let bytes = &self.pending;
        let short = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let long = || u32::from(short(0)) << 16 | u32::from(short(2));
        Ok(match shape {
            Shape::U8 => Value::Number(bytes[0].into()),
            Shape::U16 => Value::Number(short(0).into()),
            Shape::U32 => Value::Number(long()),
            Shape::PlayerId => Value::Player(bytes[0]),
            Shape::BombId => Value::BombId(long()),
            Shape::Position => Value::Position(short(0), short(2)),
            Shape::Bomb => Value::Bomb(short(0), short(2), short(4)),
            Shape::Text => match std::str::from_utf8(&bytes[1..]) {
                Ok(text) => Value::Text(text.to_owned()),
                Err(error) => {
                    let wrong = 1 + error.valid_up_to();
                    return Err(Fault::NotUtf8 { at: at + wrong, byte: bytes[wrong], label, length: bytes[0] });
                }
            },
            Shape::Enum(of) => match of.variants.get(usize::from(bytes[0])) {
                Some(variant) => {
                    if label == Label::Message {
                        self.report.name = Some(variant.name);
                    }
                    Value::Variant(variant.name)
                }
                None => return Err(Fault::UnknownTag { at, tag: bytes[0], of }),
            },
            Shape::List(_) | Shape::Map(_) => {
                let is_list = matches!(shape, Shape::List(_));
                let max = if is_list { self.kind.max_items() } else { self.kind.max_entries() };
                let count = long();
                if count > max {
                    return Err(Fault::TooMany { at, count, max, label });
                }
                if is_list { Value::Items(count) } else { Value::Entries(count) }
            }
        })
    }

    // Schedules the fields that follow a tag, the last field first. Returns the items or entries that follow a count.
    fn follow(&mut self, Next { label, shape, depth, shown }: Next, value: &Value) -> Option<Todo> {
        let Label::Field(name) = label else {
            // A message or an event: its fields.
            if let (Shape::Enum(of), Value::Variant(name)) = (shape, value) {
                let variant = of.variants.iter().find(|variant| variant.name == *name);
                self.fields(variant.map_or(&[], |variant| variant.fields), depth + 1, shown);
            }
            return None;
        };
        match *value {
            Value::Items(left) | Value::Entries(left) => {
                Some(Todo::Items { name, of: shape, done: 0, left, depth: depth + 1, shown })
            }
            _ => None,
        }
    }

    fn fields(&mut self, fields: &'static [FieldShape], depth: usize, shown: bool) {
        let value = |FieldShape { name, shape }: &'static _| {
            Todo::Value(Next { label: Label::Field(name), shape, depth, shown })
        };
        self.todo.extend(fields.iter().rev().map(value));
    }

    fn end_list(&mut self, name: &'static str, items: u32, depth: usize, shown: bool) {
        self.sense.end(name);
        if shown && items > MAX_SHOWN_ITEMS {
            self.show(ReportLine::LeftOut { items: items - MAX_SHOWN_ITEMS, depth });
        }
    }

    fn show(&mut self, line: ReportLine) {
        if self.report.lines.len() < MAX_SHOWN_LINES {
            self.report.lines.push(line);
        } else {
            self.report.lines_left_out += 1;
        }
    }
}

fn around(bytes: &[u8], wrong: usize) -> Around {
    let start = wrong.saturating_sub(AROUND);
    let end = bytes.len().min(wrong + AROUND + 1);
    Around { bytes: bytes[start..end].to_vec(), wrong: wrong - start }
}
