use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use netcore::Time;

use crate::{Append, Appended, Events, Fence, Journals, MeshError, Name, Piece, REQUEST_TIMEOUT, Sequence, Ticket};

pub const MAX_WAITING: usize = 8 << 20;

const RETRY: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogRequest {
    Open(Fence),
    Read,
    Append(Append),
}

impl LogRequest {
    /// # Errors
    /// Returns the error of the journal. The reply is [`LogReply::Failed`].
    pub async fn of_journal(&self, journals: &dyn Journals, name: &Name) -> Result<LogReply, MeshError> {
        Ok(match self {
            Self::Open(fence) => LogReply::Appended(journals.open(name, *fence).await?),
            Self::Read => LogReply::Pieces(journals.read(name).await?),
            Self::Append(append) => LogReply::Appended(journals.append(name, append).await?),
        })
    }

    /// An event stream supports only appends.
    ///
    /// # Errors
    /// Returns the error of the events. The reply is [`LogReply::Failed`].
    pub async fn of_events(&self, events: &dyn Events, room: &Name) -> Result<LogReply, MeshError> {
        Ok(match self {
            Self::Append(append) => LogReply::Appended(events.publish(room, append).await?),
            Self::Open(_) | Self::Read => LogReply::Failed,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogReply {
    Appended(Appended),
    Pieces(Vec<Piece>),
    /// The request is repeated.
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Open {
        then_read: bool,
    },
    /// Appends follow after the record `end`.
    Read {
        end: Sequence,
    },
    /// After this record. With `None`, the first piece takes the log over.
    Append(Option<Sequence>),
    Fenced(Fence),
}

/// Appends pieces under a fence, one after another, and tracks which are stored.
///
/// A state machine: send [`next_request`](Self::next_request), and pass the reply to [`reply`](Self::reply). One
/// request is pending at a time. Without a timely reply it is repeated, and stored once.
#[derive(Debug)]
pub struct Writer {
    fence: Fence,
    step: Step,
    // Where to restart if the log has changed unexpectedly.
    again: Step,
    // Whether the next piece must be an anchor, as after the log was opened.
    wants_anchor: bool,
    waiting: VecDeque<(u64, bool, Bytes)>,
    waiting_bytes: usize,
    written: u64,
    stored: u64,
    anchor: Option<Sequence>,
    pending: Option<(Ticket, Time)>,
    retry: Time,
    tickets: u64,
}

impl Writer {
    fn new(fence: Fence, step: Step) -> Self {
        Self {
            fence,
            step,
            again: if matches!(step, Step::Append(_)) { step } else { Step::Open { then_read: false } },
            wants_anchor: true,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            written: 0,
            stored: 0,
            anchor: None,
            pending: None,
            retry: Time::ZERO,
            tickets: 0,
        }
    }

    pub fn of_events(fence: Fence) -> Self {
        Self::new(fence, Step::Append(None))
    }

    /// For a journal of a match whose state is known.
    pub fn of_journal(fence: Fence) -> Self {
        Self::new(fence, Step::Open { then_read: false })
    }

    /// For a journal that must be read before it is continued.
    pub fn taking_over(fence: Fence) -> Self {
        Self::new(fence, Step::Open { then_read: true })
    }

    /// Returns the number of the piece, from 1, or `None` if too many bytes wait, or an anchor is required and this is
    /// none. A required anchor replaces all waiting pieces.
    #[must_use]
    pub fn write(&mut self, is_anchor: bool, body: Bytes) -> Option<u64> {
        if self.wants_anchor {
            if !is_anchor {
                return None;
            }
            self.wants_anchor = false;
            self.waiting.clear();
            self.waiting_bytes = 0;
            self.pending = None;
        }
        if !self.waiting.is_empty() && self.waiting_bytes + body.len() > MAX_WAITING {
            return None;
        }
        self.written += 1;
        self.waiting_bytes += body.len();
        self.waiting.push_back((self.written, is_anchor, body));
        Some(self.written)
    }

    pub const fn wants_anchor(&self) -> bool {
        self.wants_anchor && matches!(self.step, Step::Append(_))
    }

    /// The number of the last stored piece. With cluster durability, effects of later pieces must not be published.
    pub fn stored(&self) -> u64 {
        self.stored
    }

    pub const fn anchor(&self) -> Option<Sequence> {
        self.anchor
    }

    /// Pieces and bytes that are not stored yet.
    pub fn lag(&self) -> (u64, usize) {
        (self.written - self.stored, self.waiting_bytes)
    }

    /// The fence of a later claim, if any. No further piece is stored then.
    pub const fn fenced(&self) -> Option<Fence> {
        if let Step::Fenced(fence) = self.step { Some(fence) } else { None }
    }

    pub fn next_request(&mut self, now: Time) -> Option<(Ticket, LogRequest)> {
        if self.retry > now || self.pending.is_some_and(|(_, at)| now.since(at) < REQUEST_TIMEOUT) {
            return None;
        }
        let request = match self.step {
            Step::Open { .. } => LogRequest::Open(self.fence),
            Step::Read { .. } => LogRequest::Read,
            Step::Append(after) => {
                let (_, is_anchor, body) = self.waiting.front().filter(|_| !self.wants_anchor)?.clone();
                LogRequest::Append(Append { fence: self.fence, after, is_anchor, body })
            }
            Step::Fenced(_) => return None,
        };
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.pending = Some((ticket, now));
        Some((ticket, request))
    }

    pub fn deadline(&self) -> Option<Time> {
        let waits = match self.step {
            Step::Append(_) => !self.waiting.is_empty() && !self.wants_anchor,
            Step::Fenced(_) => false,
            Step::Open { .. } | Step::Read { .. } => true,
        };
        waits.then(|| self.pending.map_or(self.retry, |(_, at)| at.plus(REQUEST_TIMEOUT)))
    }

    /// Returns the journal after it was read.
    pub fn reply(&mut self, now: Time, ticket: Ticket, reply: LogReply) -> Option<Vec<Piece>> {
        // A late reply to an earlier attempt. The later one receives its own.
        if self.pending.is_none_or(|(pending, _)| pending != ticket) {
            return None;
        }
        self.pending = None;
        match (self.step, reply) {
            (Step::Fenced(_), _) => {}
            (_, LogReply::Appended(Appended::Fenced(fence))) => self.step = Step::Fenced(fence),
            (Step::Open { then_read }, LogReply::Appended(Appended::Stored(end))) => {
                self.step = if then_read { Step::Read { end } } else { Step::Append(Some(end)) };
            }
            (Step::Read { end }, LogReply::Pieces(pieces)) => {
                self.step = Step::Append(Some(end));
                return Some(pieces);
            }
            (Step::Append(_), LogReply::Appended(Appended::Stored(end))) => {
                self.step = Step::Append(Some(end));
                if let Some((number, is_anchor, body)) = self.waiting.pop_front() {
                    self.stored = number;
                    self.anchor = if is_anchor { Some(end) } else { self.anchor };
                    self.waiting_bytes -= body.len();
                }
            }
            (Step::Append(_), LogReply::Appended(Appended::AnchorDue)) => self.wants_anchor = true,
            // The log expired, or an operator has removed it.
            (Step::Append(_), LogReply::Appended(Appended::Misplaced(_))) => {
                self.step = self.again;
                self.wants_anchor = true;
            }
            _ => self.retry = now.plus(RETRY),
        }
        None
    }
}
