//! How the owner of a room appends to a log.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use netcore::{
    Time,
    probe::{self, Planted},
};

use crate::{ASK_TIMEOUT, Append, Appended, Events, Fence, Journals, MeshError, Name, Piece, Sequence, Ticket};

/// Most bytes that wait to be stored.
pub const MAX_WAITING: usize = 8 << 20;

/// How long it waits after an error.
const RETRY: Duration = Duration::from_secs(1);

/// Something that is to be asked of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogAsk {
    /// [`Journals::open`](crate::Journals::open).
    Open(Fence),
    /// [`Journals::read`](crate::Journals::read).
    Read,
    /// [`Journals::append`](crate::Journals::append), or [`Events::publish`](crate::Events::publish).
    Append(Append),
}

impl LogAsk {
    /// Asks it of a journal.
    ///
    /// # Errors
    /// Those of journals. The reply is [`LogReply::Failed`].
    pub async fn of_journal(&self, journals: &dyn Journals, name: &Name) -> Result<LogReply, MeshError> {
        Ok(match self {
            Self::Open(fence) => LogReply::Appended(journals.open(name, *fence).await?),
            Self::Read => LogReply::Pieces(journals.read(name).await?),
            Self::Append(append) => LogReply::Appended(journals.append(name, append).await?),
        })
    }

    /// Asks it of the events of a room, which are neither opened nor read.
    ///
    /// # Errors
    /// Those of events. The reply is [`LogReply::Failed`].
    pub async fn of_events(&self, events: &dyn Events, room: &Name) -> Result<LogReply, MeshError> {
        Ok(match self {
            Self::Append(append) => LogReply::Appended(events.publish(room, append).await?),
            Self::Open(_) | Self::Read => LogReply::Failed,
        })
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogReply {
    /// Of an append, or of opening.
    Appended(Appended),
    /// What was read.
    Pieces(Vec<Piece>),
    /// An error: it is asked again.
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The fence is to be raised; then it is read if wanted.
    Open {
        then_read: bool,
    },
    /// It is to be read, and then appended to after this record.
    Read {
        end: Option<Sequence>,
    },
    /// Pieces are appended after this one; without one, the first takes the log over.
    Append(Option<Sequence>),
    Fenced(Fence),
}

/// Appends pieces under a fence, one after another, and knows which are stored.
///
/// It is a state machine: [`ask`](Self::ask) says what to ask of the log, [`reply`](Self::reply) takes the answer. One
/// question is open at a time; what gets no answer in time is asked again, which a log stores once.
#[derive(Debug)]
pub struct Writer {
    fence: Fence,
    step: Step,
    // How to begin if the log is not as it was left.
    again: Step,
    // Before the log is written the first time after it was opened.
    wants_anchor: bool,
    waiting: VecDeque<(u64, bool, Bytes)>,
    waiting_bytes: usize,
    written: u64,
    stored: u64,
    // The last anchor that was stored.
    anchor: Option<Sequence>,
    asked: Option<(Ticket, Time)>,
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
            asked: None,
            retry: Time::ZERO,
            tickets: 0,
        }
    }

    /// A writer of events.
    pub fn of_events(fence: Fence) -> Self {
        Self::new(fence, Step::Append(None))
    }

    /// A writer of the journal of a match whose state is known.
    pub fn of_journal(fence: Fence) -> Self {
        Self::new(fence, Step::Open { then_read: false })
    }

    /// A writer of the journal of a match that is taken over: it is read first.
    pub fn taking_over(fence: Fence) -> Self {
        let is_wrong = probe::has(Planted::ReadBeforeOpen);
        Self::new(fence, if is_wrong { Step::Read { end: None } } else { Step::Open { then_read: true } })
    }

    /// Adds a piece. Returns its number, from 1, or `None` if too much waits already, or if an anchor is wanted and this
    /// is none. An anchor that is wanted replaces all that waits.
    #[must_use]
    pub fn write(&mut self, is_anchor: bool, body: Bytes) -> Option<u64> {
        if self.wants_anchor {
            if !is_anchor {
                return None;
            }
            self.wants_anchor = false;
            self.waiting.clear();
            self.waiting_bytes = 0;
            self.asked = None;
        }
        if !self.waiting.is_empty() && self.waiting_bytes + body.len() > MAX_WAITING {
            return None;
        }
        self.written += 1;
        self.waiting_bytes += body.len();
        self.waiting.push_back((self.written, is_anchor, body));
        Some(self.written)
    }

    /// Whether the next piece must be an anchor.
    pub const fn wants_anchor(&self) -> bool {
        self.wants_anchor && matches!(self.step, Step::Append(_))
    }

    /// How many pieces are stored. What follows from later ones must not be told, if the durability is that of the cluster.
    pub fn stored(&self) -> u64 {
        if probe::has(Planted::ToldBeforeStored) { self.written } else { self.stored }
    }

    /// The last anchor that is stored.
    pub const fn anchor(&self) -> Option<Sequence> {
        self.anchor
    }

    /// Pieces and bytes that are not stored yet.
    pub fn lag(&self) -> (u64, usize) {
        (self.written - self.stored, self.waiting_bytes)
    }

    /// The later claim that was found, after which nothing is stored any more.
    pub const fn fenced(&self) -> Option<Fence> {
        if let Step::Fenced(fence) = self.step { Some(fence) } else { None }
    }

    /// What to ask now, if anything.
    pub fn ask(&mut self, now: Time) -> Option<(Ticket, LogAsk)> {
        if self.retry > now || self.asked.is_some_and(|(_, at)| now.since(at) < ASK_TIMEOUT) {
            return None;
        }
        let ask = match self.step {
            Step::Open { .. } => LogAsk::Open(self.fence),
            Step::Read { .. } => LogAsk::Read,
            Step::Append(after) => {
                let (_, is_anchor, body) = self.waiting.front().filter(|_| !self.wants_anchor)?.clone();
                LogAsk::Append(Append { fence: self.fence, after, is_anchor, body })
            }
            Step::Fenced(_) => return None,
        };
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.asked = Some((ticket, now));
        Some((ticket, ask))
    }

    /// When to ask again.
    pub fn deadline(&self) -> Option<Time> {
        let waits = match self.step {
            Step::Append(_) => !self.waiting.is_empty() && !self.wants_anchor,
            Step::Fenced(_) => false,
            Step::Open { .. } | Step::Read { .. } => true,
        };
        waits.then(|| self.asked.map_or(self.retry, |(_, at)| at.plus(ASK_TIMEOUT)))
    }

    /// Takes an answer. Gives the journal when it was read.
    pub fn reply(&mut self, now: Time, ticket: Ticket, reply: LogReply) -> Option<Vec<Piece>> {
        // A late answer to an earlier attempt: the later one is answered too.
        if self.asked.is_none_or(|(asked, _)| asked != ticket) {
            return None;
        }
        self.asked = None;
        match (self.step, reply) {
            (Step::Fenced(_), _) => {}
            (_, LogReply::Appended(Appended::Fenced(fence))) => self.step = Step::Fenced(fence),
            (Step::Open { then_read }, LogReply::Appended(Appended::Stored(end))) => {
                self.step = if then_read { Step::Read { end: Some(end) } } else { Step::Append(Some(end)) };
            }
            (Step::Read { end }, LogReply::Pieces(pieces)) => {
                let open = Step::Open { then_read: false };
                self.step = end.map_or(open, |end| Step::Append(Some(end)));
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
            // The log is not as it was left: it was too old to be kept, or somebody has removed it.
            (Step::Append(_), LogReply::Appended(Appended::Misplaced(_))) => {
                self.step = self.again;
                self.wants_anchor = true;
            }
            _ => self.retry = now.plus(RETRY),
        }
        None
    }
}
