use robots::protocol::shape::{Label, Part, PartError, PartReader, Step, Value};

use crate::{
    kind::Kind,
    notes::Notes,
    report::{Around, Fault, Field, Report, ReportLine},
};

/// Items of a list, or entries of a map.
pub(crate) const MAX_SHOWN_ITEMS: u32 = 100;
pub(crate) const MAX_SHOWN_LINES: usize = 2_000;
/// On each side of a wrong byte.
const AROUND: usize = 8;

#[derive(Debug)]
pub(crate) struct Explainer {
    parts: PartReader,
    report: Report,
    notes: Notes,
    pending: Vec<u8>,
    // The last bytes of the message before `pending`.
    before: Vec<u8>,
    // The depth of a hidden item, which includes deeper parts.
    hidden: Option<usize>,
    broken: bool,
}

impl Explainer {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            parts: kind.parts(),
            report: Report::new(1, 0),
            notes: Notes::default(),
            pending: vec![],
            before: vec![],
            hidden: None,
            broken: false,
        }
    }

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

    pub(crate) const fn messages(&self) -> u64 {
        self.report.number - 1
    }

    pub(crate) const fn at(&self) -> u64 {
        self.report.at
    }

    pub(crate) const fn is_broken(&self) -> bool {
        self.broken
    }

    /// Consumes `bytes` up to the end of a message. `None` if it is incomplete, or after a wrong byte.
    pub(crate) fn next(&mut self, bytes: &mut &[u8]) -> Option<Report> {
        let mut pending = std::mem::take(&mut self.pending);
        while !self.broken {
            let step = self.parts.next(if pending.is_empty() { bytes } else { &pending });
            match step {
                Ok(Step::Part(part)) => {
                    self.take(&part);
                    if pending.is_empty() {
                        *bytes = &bytes[part.bytes.len()..];
                    } else {
                        pending.clear();
                    }
                }
                Ok(Step::ListEnd { name, items, depth }) => {
                    self.notes.end_list(name);
                    if self.is_shown(depth) && items > MAX_SHOWN_ITEMS {
                        self.show(ReportLine::LeftOut { items: items - MAX_SHOWN_ITEMS, depth });
                    }
                }
                Ok(Step::Incomplete(needed)) => {
                    let wanted = needed.saturating_sub(pending.len()).min(bytes.len());
                    let (taken, rest) = bytes.split_at(wanted);
                    pending.extend_from_slice(taken);
                    *bytes = rest;
                    if wanted == 0 || pending.len() < needed {
                        self.pending = pending;
                        return None;
                    }
                }
                Ok(Step::MessageEnd) => {
                    let (number, at) = (self.report.number, self.report.at);
                    let report = self.take_report();
                    self.report = Report::new(number + 1, at + report.length as u64);
                    (self.notes, self.hidden) = (Notes::default(), None);
                    self.before.clear();
                    return Some(report);
                }
                Err(error) => {
                    if pending.is_empty() {
                        let (wrong, rest) = bytes.split_at(length_of_part(&error));
                        pending.extend_from_slice(wrong);
                        *bytes = rest;
                    }
                    self.pending = pending;
                    return Some(self.fail(Fault::Malformed(error), bytes));
                }
            }
        }
        None
    }

    /// `None` if no message has begun.
    pub(crate) fn finish(mut self) -> Option<Report> {
        let nothing = self.report.length == 0 && self.pending.is_empty();
        if self.broken || nothing { None } else { Some(self.unfinished()) }
    }

    fn take_report(&mut self) -> Report {
        let next = Report::new(self.report.number, self.report.at);
        let mut report = std::mem::replace(&mut self.report, next);
        (report.notes, report.notes_left_out) = self.notes.take();
        report
    }

    fn unfinished(&mut self) -> Report {
        let (at, cut) = (self.report.length + self.pending.len(), !self.pending.is_empty());
        let (label, missing) = (self.parts.next_label(), self.parts.missing(&self.pending));
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
        // The message includes the bytes of a truncated or wrong part.
        report.length += self.pending.len();
        report.fault = Some(fault);
        report
    }

    fn take(&mut self, part: &Part<'_>) {
        let (at, value) = (self.report.length, part.value());
        if let (Label::Message, Value::Variant(name)) = (part.label, &value) {
            self.report.name = Some(name);
        }
        self.notes.add_part(at, part.label, &value);
        self.report.length += part.bytes.len();
        self.before.extend_from_slice(part.bytes);
        self.before.drain(..self.before.len().saturating_sub(AROUND));
        let mut shown = self.is_shown(part.depth);
        if let Label::Item(_, number) | Label::Key(_, number) = part.label
            && number > MAX_SHOWN_ITEMS
        {
            self.hidden.get_or_insert(part.depth);
            shown = false;
        }
        if shown {
            let Part { label, depth, bytes, .. } = *part;
            self.show(ReportLine::Field(Field { at, bytes: bytes.to_vec(), depth, label, value }));
        }
    }

    // A part that is not deeper than a hidden item follows it.
    fn is_shown(&mut self, depth: usize) -> bool {
        self.hidden = self.hidden.filter(|&hidden| depth > hidden);
        self.hidden.is_none()
    }

    fn show(&mut self, line: ReportLine) {
        if self.report.lines.len() < MAX_SHOWN_LINES {
            self.report.lines.push(line);
        } else {
            self.report.lines_left_out += 1;
        }
    }
}

// A part that exceeds the limit was not read.
fn length_of_part(error: &PartError) -> usize {
    match *error {
        PartError::UnknownTag { .. } => 1,
        PartError::NotUtf8 { length, .. } => 1 + usize::from(length),
        PartError::TooMany { .. } => 4,
        PartError::TooLong { .. } => 0,
    }
}

fn around(bytes: &[u8], wrong: usize) -> Around {
    let start = wrong.saturating_sub(AROUND);
    let end = bytes.len().min(wrong + AROUND + 1);
    Around { bytes: bytes[start..end].to_vec(), wrong: wrong - start }
}
