//! Fenced logs, the common basis of [`Events`](crate::Events) and [`Journals`](crate::Journals). A log restarts at each
//! *anchor*: a snapshot, or the first piece of a segment. Each record names its predecessor, so a reader detects gaps.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::Name;

/// The maximum size of an append in bytes. A broker accepts messages of 1 MiB by default.
pub const MAX_APPEND: usize = 512 << 10;

/// The number of a claim, greater for a later claim on the same room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Fence(pub u64);

/// The position of a record in a log; 0 precedes the first record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Sequence(pub u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordKind {
    /// A reader can start here.
    Anchor,
    Entry,
    /// Raises the fence, without content.
    Opened,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    pub fence: Fence,
    /// The last record, with the same fence. With `None`, an anchor takes the log over, whatever that record is.
    pub after: Option<Sequence>,
    pub is_anchor: bool,
    pub body: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// This attempt or an earlier one has stored the record.
    Stored(Sequence),
    /// The fence of a later claim, which excludes this one.
    Fenced(Fence),
    /// The last record, which is not the expected one.
    Misplaced(Sequence),
    AnchorDue,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) name: &'static str,
    /// After this many records or bytes, an anchor is due.
    pub(crate) records: u32,
    pub(crate) bytes: u64,
    /// Retained anchors, with the records that follow them.
    pub(crate) anchors: usize,
    /// An anchor is due after half of it.
    pub(crate) age_seconds: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) name: Name,
    pub(crate) fence: Fence,
    pub(crate) kind: RecordKind,
    pub(crate) after: Sequence,
    /// Records and bytes since the anchor, and when it was written, in seconds.
    pub(crate) records: u32,
    pub(crate) bytes: u64,
    pub(crate) anchored: u64,
    /// Oldest first, without the record itself.
    pub(crate) anchors: Vec<Sequence>,
}

#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) sequence: Sequence,
    pub(crate) head: Head,
    pub(crate) body: Bytes,
}

#[derive(Debug)]
pub(crate) enum Verdict {
    /// Store the record with this head if the last record is unchanged. Records before the sequence may be removed.
    Store(Head, Option<Sequence>),
    Refuse(Appended),
}

/// `now` is in seconds, like [`Head::anchored`].
pub(crate) fn judge(name: &Name, last: Option<&Record>, append: &Append, bounds: Bounds, now: u64) -> Verdict {
    let kind = if append.is_anchor { RecordKind::Anchor } else { RecordKind::Entry };
    let end = last.map_or(Sequence(0), |last| last.sequence);
    if let Some(last) = last {
        let head = &last.head;
        if head.fence > append.fence {
            return Verdict::Refuse(Appended::Fenced(head.fence));
        }
        // A repeated attempt whose first reply was lost.
        let is_same = head.fence == append.fence && head.kind == kind && append.after == Some(head.after);
        if is_same && last.body == append.body {
            return Verdict::Refuse(Appended::Stored(last.sequence));
        }
    }
    if let Some(after) = append.after {
        let is_ours = last.is_some_and(|last| last.head.fence == append.fence && last.sequence == after);
        if !is_ours {
            return Verdict::Refuse(Appended::Misplaced(end));
        }
    }
    let mut anchors = last.map_or(vec![], |last| {
        let mut anchors = last.head.anchors.clone();
        if last.head.kind == RecordKind::Anchor {
            anchors.push(last.sequence);
        }
        anchors
    });
    let (mut records, mut bytes) =
        last.filter(|_| !append.is_anchor).map_or((0, 0), |last| (last.head.records, last.head.bytes));
    records += u32::from(!append.is_anchor);
    bytes += append.body.len() as u64;
    let is_due = append.after.is_none() || anchors.is_empty() || records > bounds.records || bytes > bounds.bytes;
    let anchored = last.map(|last| last.head.anchored).filter(|_| !append.is_anchor).unwrap_or(now);
    let is_old = now.saturating_sub(anchored) > bounds.age_seconds / 2;
    if !append.is_anchor && (is_due || is_old) {
        return Verdict::Refuse(Appended::AnchorDue);
    }
    // The new anchor counts against the limit.
    let mut unneeded = None;
    if append.is_anchor && anchors.len() >= bounds.anchors {
        anchors.drain(..=anchors.len() - bounds.anchors);
        unneeded = anchors.first().copied();
    }
    Verdict::Store(
        Head { name: name.clone(), fence: append.fence, kind, after: end, records, bytes, anchored, anchors },
        unneeded,
    )
}

/// The head of the record that raises the fence, or the greater fence of a later claim.
pub(crate) fn open(name: &Name, last: Option<&Record>, fence: Fence) -> Result<Head, Fence> {
    let Some(last) = last else {
        let (after, anchors) = (Sequence(0), vec![]);
        let (records, bytes, anchored) = (0, 0, 0);
        return Ok(Head {
            name: name.clone(),
            fence,
            kind: RecordKind::Opened,
            after,
            records,
            bytes,
            anchored,
            anchors,
        });
    };
    if last.head.fence > fence {
        return Err(last.head.fence);
    }
    let mut head = last.head.clone();
    if head.kind == RecordKind::Anchor {
        head.anchors.push(last.sequence);
    }
    (head.fence, head.kind, head.after) = (fence, RecordKind::Opened, last.sequence);
    Ok(head)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadStep {
    Deliver,
    /// The record has no content, or precedes the first anchor.
    Skip,
    /// Reading restarts at the last anchor.
    Gap,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Chain {
    /// `None` before the first anchor.
    last: Option<Sequence>,
}

impl Chain {
    pub(crate) const fn after(last: Option<Sequence>) -> Self {
        Self { last }
    }

    pub(crate) fn take(&mut self, record: &Record) -> ReadStep {
        let is_anchor = record.head.kind == RecordKind::Anchor;
        match self.last {
            Some(last) if !is_anchor && last != record.head.after => {
                self.last = None;
                return ReadStep::Gap;
            }
            None if !is_anchor => return ReadStep::Skip,
            _ => self.last = Some(record.sequence),
        }
        if record.head.kind == RecordKind::Opened { ReadStep::Skip } else { ReadStep::Deliver }
    }
}
