//! The queues between the task of a WebSocket and the transport of its room. They are bounded, and the room never waits
//! for a browser.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::Waker,
};

use bytes::{Bytes, BytesMut};
use netcore::History;
use netshell::ConnectionId;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// Limit on the queued messages of a browser. While the queue is full, the socket is not read.
const MAX_INCOMING: usize = 32;
/// Limit in bytes on the queue to a browser; each message counts [`OVERHEAD`] more. Histories do not count, because
/// they are shared.
pub(crate) const MAX_OUTGOING: usize = 1 << 20;
/// Memory of a queued message besides its bytes.
const OVERHEAD: usize = 64;

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Frame(Bytes),
    /// Each of its frames is a message.
    History(History),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CloseReason {
    /// The game is over for this seat.
    Closed,
    /// The seat is no longer retained.
    Expired,
    /// No place for another browser.
    Full,
    /// Another window has resumed the same seat.
    Replaced,
    /// Another window has the same seat, and this one yields to it.
    InUse,
    /// The first message does not state how the socket enters, or contains an invalid key.
    Unclear,
    /// The host has exhausted its share of the match.
    Refused,
    Removed,
    /// Also if the network is blocked.
    RemovedByOwner,
    Locked,
    /// The free seats are reserved.
    Held,
    /// The password of the room is missing.
    Private,
    /// Also for an unlisted room that the browser has not proved it may enter.
    Missing,
    Banned,
    /// A member of a class plays under another name than its own.
    Name,
    /// The attempt at the daily challenge was used.
    Played,
}

#[derive(Debug, Default)]
struct MailboxState {
    incoming: VecDeque<BytesMut>,
    outgoing: VecDeque<Piece>,
    outgoing_bytes: usize,
    // Messages were dropped, so a snapshot follows once the queue is empty.
    behind: bool,
    // The socket has ended.
    gone: bool,
    // The player has left permanently.
    left: bool,
    ending: Option<CloseReason>,
}

#[derive(Debug)]
pub(crate) struct Mailbox {
    state: Mutex<MailboxState>,
    // Wakes the task of the socket: there is something to write, or the queue has space.
    writable: Notify,
    readable: Notify,
    ready: Arc<Ready>,
    seat: AtomicU64,
    // The transport is already scheduled to poll the seat.
    noted: AtomicBool,
}

const NO_SEAT: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) enum Next {
    Piece(Piece),
    End(CloseReason),
}

impl Mailbox {
    pub(crate) fn new(ready: Arc<Ready>) -> Self {
        Self {
            state: Mutex::default(),
            writable: Notify::new(),
            readable: Notify::new(),
            ready,
            seat: AtomicU64::new(NO_SEAT),
            noted: AtomicBool::new(false),
        }
    }

    fn note(&self) {
        let seat = self.seat.load(Ordering::Acquire);
        // Without a seat, the mailbox is polled as soon as it has one.
        if seat != NO_SEAT && !self.noted.swap(true, Ordering::AcqRel) {
            self.ready.note(seat);
        }
    }

    fn state(&self) -> MutexGuard<'_, MailboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // ---- the side of the socket ----

    /// Waits until the queue has space.
    pub(crate) async fn put(&self, message: BytesMut) {
        loop {
            {
                let mut state = self.state();
                if state.incoming.len() < MAX_INCOMING {
                    state.incoming.push_back(message);
                    break;
                }
            }
            self.readable.notified().await;
        }
        self.note();
    }

    /// Cancel safe.
    pub(crate) async fn next(&self) -> Next {
        loop {
            {
                let mut state = self.state();
                if let Some(piece) = state.outgoing.pop_front() {
                    state.outgoing_bytes -= cost(&piece);
                    let drained = state.outgoing.is_empty() && state.behind;
                    drop(state);
                    if drained {
                        self.note();
                    }
                    return Next::Piece(piece);
                }
                if let Some(ending) = state.ending {
                    return Next::End(ending);
                }
            }
            self.writable.notified().await;
        }
    }

    pub(crate) fn leave(&self) {
        self.state().gone = true;
        self.note();
    }

    pub(crate) fn give_up(&self) {
        self.state().left = true;
    }

    // ---- the side of the transport ----

    pub(crate) fn sit(&self, seat: u64) {
        self.seat.store(seat, Ordering::Release);
    }

    /// The transport polls the mailbox now: later events queue its seat again.
    pub(crate) fn looked_at(&self) {
        self.noted.store(false, Ordering::Release);
    }

    pub(crate) fn take(&self) -> Option<BytesMut> {
        let mut state = self.state();
        let message = state.incoming.pop_front();
        drop(state);
        if message.is_some() {
            self.readable.notify_one();
        }
        message
    }

    pub(crate) fn has_left(&self) -> bool {
        self.state().left
    }

    /// Whether the socket has ended and the transport has taken all its messages.
    pub(crate) fn is_gone(&self) -> bool {
        let state = self.state();
        state.gone && state.incoming.is_empty()
    }

    /// An output that does not fit is dropped together with all later ones, until the browser has caught up and
    /// receives a snapshot.
    pub(crate) fn send(&self, piece: Piece) {
        let mut state = self.state();
        if state.gone || state.behind || state.ending.is_some() {
            return;
        }
        let bytes = cost(&piece);
        if state.outgoing_bytes + bytes > MAX_OUTGOING {
            state.behind = true;
            return;
        }
        state.outgoing_bytes += bytes;
        state.outgoing.push_back(piece);
        drop(state);
        self.writable.notify_one();
    }

    /// Whether outputs were dropped and the browser has received all before them. Returns `true` once.
    pub(crate) fn has_caught_up(&self) -> bool {
        let mut state = self.state();
        let caught_up = state.behind && state.outgoing.is_empty();
        if caught_up {
            state.behind = false;
        }
        caught_up
    }

    /// Ends the mailbox once everything queued is written.
    pub(crate) fn end(&self, ending: CloseReason) {
        let mut state = self.state();
        state.ending.get_or_insert(ending);
        drop(state);
        self.writable.notify_one();
    }

    pub(crate) fn is_flushed(&self) -> bool {
        let state = self.state();
        state.gone || state.outgoing.is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct Leaves(pub(crate) Arc<Mailbox>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Seats that the transport has to poll, and the waker of the task of the room.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    state: Mutex<ReadyState>,
}

#[derive(Debug, Default)]
pub(crate) struct ReadyState {
    pub(crate) seats: VecDeque<ConnectionId>,
    pub(crate) waker: Option<Waker>,
}

impl Ready {
    fn note(&self, seat: u64) {
        self.state().seats.push_back(ConnectionId(seat));
        self.wake();
    }

    pub(crate) fn wake(&self) {
        let waker = self.state().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ReadyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cost(piece: &Piece) -> usize {
    OVERHEAD
        + match piece {
            Piece::Frame(frame) => frame.len(),
            Piece::History(_) => 0,
        }
}
