//! Logs with a fence, which [`Events`](crate::Events) and [`Journals`](crate::Journals) have in common.
//!
//! A log begins anew at each *anchor*, an entry from which the rest can be understood: a snapshot, or the first piece of a
//! segment. Each record names the one before it, so whoever reads knows that nothing is missing.

use bytes::Bytes;
use netcore::probe::{self, Planted};
use serde::{Deserialize, Serialize};

use crate::Name;

/// Most bytes of one append; a broker takes messages of 1 MiB by default.
pub const MAX_APPEND: usize = 512 << 10;

/// The number of a claim. A later claim on the same room has a greater one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Fence(pub u64);

/// The place of a record in a log; 0 is before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Sequence(pub u64);

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The log can be understood from here.
    Anchor,
    /// It follows from what is before it.
    Entry,
    /// Somebody has raised the fence. It has no content.
    Opened,
}

/// A record that is to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The fence of the claim under which it is written.
    pub fence: Fence,
    /// The last record, which must be of the same fence. `None` takes the log over, whatever the last record is; only an
    /// anchor can.
    pub after: Option<Sequence>,
    /// Whether the log can be understood from here.
    pub is_anchor: bool,
    /// The content.
    pub body: Bytes,
}

/// What became of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// It is stored here, just now or by an earlier attempt.
    Stored(Sequence),
    /// A later claim has been made: nothing is stored under this fence any more.
    Fenced(Fence),
    /// The last record is another one.
    Misplaced(Sequence),
    /// The next record must be an anchor.
    AnchorDue,
}

/// How much of a log is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// What the stream is called.
    pub(crate) name: &'static str,
    /// Records after which an anchor is due.
    pub(crate) records: u32,
    /// Bytes after which an anchor is due.
    pub(crate) bytes: u64,
    /// Anchors that are kept with what follows them.
    pub(crate) anchors: usize,
    /// Seconds that records are kept; an anchor is due after half of them.
    pub(crate) age_seconds: u64,
}

/// What a record says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) name: Name,
    pub(crate) fence: Fence,
    pub(crate) kind: Kind,
    /// The record before it.
    pub(crate) after: Sequence,
    /// Records and bytes since the anchor, and when that was written, in seconds.
    pub(crate) records: u32,
    pub(crate) bytes: u64,
    pub(crate) anchored: u64,
    /// Anchors that are kept, the oldest first, without the record itself.
    pub(crate) anchors: Vec<Sequence>,
}

/// A record that is there.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) sequence: Sequence,
    pub(crate) head: Head,
    pub(crate) body: Bytes,
}

/// Whether a record can be appended.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// With this head, if the last record is still the same. Records before the sequence are not needed any more.
    Store(Head, Option<Sequence>),
    /// No.
    Refuse(Appended),
}

/// Whether `append` can follow `last`. `now` is in seconds, as those of [`Head::anchored`].
pub(crate) fn judge(name: &Name, last: Option<&Record>, append: &Append, bounds: Bounds, now: u64) -> Verdict {
    let kind = if append.is_anchor { Kind::Anchor } else { Kind::Entry };
    let end = last.map_or(Sequence(0), |last| last.sequence);
    if let Some(last) = last {
        let head = &last.head;
        if head.fence > append.fence && !probe::has(Planted::FenceNotChecked) {
            return Verdict::Refuse(Appended::Fenced(head.fence));
        }
        // An attempt whose answer was lost.
        let is_same = head.fence == append.fence && head.kind == kind && append.after == Some(head.after);
        if is_same && last.body == append.body && !probe::has(Planted::RetryStoredTwice) {
            return Verdict::Refuse(Appended::Stored(last.sequence));
        }
    }
    if let Some(after) = append.after {
        let is_ours = last.is_some_and(|last| last.head.fence == append.fence && last.sequence == after);
        if !is_ours && !probe::has(Planted::FenceNotChecked) && !probe::has(Planted::RetryStoredTwice) {
            return Verdict::Refuse(Appended::Misplaced(end));
        }
    }
    let mut anchors = last.map_or(vec![], |last| {
        let mut anchors = last.head.anchors.clone();
        if last.head.kind == Kind::Anchor {
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
    // With the new one there are as many as are kept.
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

/// The head of the record that raises the fence, or who has a greater one.
pub(crate) fn open(name: &Name, last: Option<&Record>, fence: Fence) -> Result<Head, Fence> {
    let Some(last) = last else {
        let (after, anchors) = (Sequence(0), vec![]);
        let (records, bytes, anchored) = (0, 0, 0);
        return Ok(Head { name: name.clone(), fence, kind: Kind::Opened, after, records, bytes, anchored, anchors });
    };
    if last.head.fence > fence && !probe::has(Planted::FenceNotChecked) {
        return Err(last.head.fence);
    }
    let mut head = last.head.clone();
    if head.kind == Kind::Anchor {
        head.anchors.push(last.sequence);
    }
    (head.fence, head.kind, head.after) = (fence, Kind::Opened, last.sequence);
    Ok(head)
}

/// What a reader does with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It shows it.
    Shown,
    /// It has no content, or nothing that can be understood yet.
    Hidden,
    /// Something is missing before it: reading begins anew at the last anchor.
    Gap,
}

/// What a reader makes of records that arrive in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chain {
    /// The last record; none before the first anchor.
    last: Option<Sequence>,
}

impl Chain {
    /// A chain that goes on after this record, or begins at an anchor.
    pub(crate) const fn after(last: Option<Sequence>) -> Self {
        Self { last }
    }

    /// Takes the next record.
    pub(crate) fn take(&mut self, record: &Record) -> Taken {
        let is_anchor = record.head.kind == Kind::Anchor;
        match self.last {
            Some(last) if !is_anchor && last != record.head.after => {
                self.last = None;
                return Taken::Gap;
            }
            None if !is_anchor => return Taken::Hidden,
            _ => self.last = Some(record.sequence),
        }
        if record.head.kind == Kind::Opened { Taken::Hidden } else { Taken::Shown }
    }
}
