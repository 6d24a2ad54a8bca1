//! The queues between the task of a WebSocket and the transport of its room.
//!
//! The room only pushes to and pops from bounded queues, so it never waits for a browser.

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

/// Capacity of the queue of messages from a browser. While it is full, the socket is not read.
const MAX_INCOMING: usize = 32;
/// Limit in bytes on the queue to a browser; each message counts [`OVERHEAD`] more. Histories do not count, because
/// they are shared.
pub(crate) const MAX_OUTGOING: usize = 1 << 20;
/// The memory that a queued message takes besides its bytes.
const OVERHEAD: usize = 64;

/// An output for a browser.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// One message of the game.
    Frame(Bytes),
    /// A history. Each of its frames is a message.
    History(History),
}

/// The reason with which the socket of a browser is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CloseReason {
    /// The room has closed the connection: the game is over for this seat.
    Closed,
    /// The seat that the socket tried to resume is no longer retained.
    Expired,
    /// The room has no place for another browser.
    Full,
    /// Another window has resumed the same seat.
    Replaced,
    /// The first message does not state how the socket enters, or contains an invalid key.
    Unclear,
    /// The host of the browser has exhausted its share of the match.
    Refused,
    /// The operator has removed the player.
    Removed,
    /// The owner of the room has removed the player, or another player of the same host.
    RemovedByOwner,
    /// The owner has locked the room.
    Locked,
    /// The free seats are reserved for other players.
    Held,
    /// The browser has not sent the password of the room.
    Private,
    /// The room does not exist, or it is unlisted and the browser has not proved that it may enter.
    Missing,
    /// The operator has banned the host of the browser.
    Banned,
}

#[derive(Debug, Default)]
struct State {
    incoming: VecDeque<BytesMut>,
    outgoing: VecDeque<Piece>,
    outgoing_bytes: usize,
    // Whether messages were dropped, so that a snapshot follows once the queue is empty.
    behind: bool,
    // Whether the socket has ended.
    gone: bool,
    // Whether the player has left permanently.
    left: bool,
    ending: Option<CloseReason>,
}

/// The queues of one WebSocket, which its task and the transport share.
#[derive(Debug)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
    // Wakes the task of the socket: there is something to write, or the queue has space for another message.
    writable: Notify,
    readable: Notify,
    ready: Arc<Ready>,
    seat: AtomicU64,
    // Whether the transport is already scheduled to poll the seat.
    noted: AtomicBool,
}

/// The value of `seat` before a seat is assigned.
const NO_SEAT: u64 = u64::MAX;

/// The next step of the task of a socket.
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

    // Schedules the transport to poll this mailbox.
    fn note(&self) {
        let seat = self.seat.load(Ordering::Acquire);
        // Without a seat, the mailbox is polled as soon as it has one.
        if seat != NO_SEAT && !self.noted.swap(true, Ordering::AcqRel) {
            self.ready.note(seat);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // ---- the side of the socket ----

    /// Queues a message for the room, once the queue has space.
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

    /// Waits for the next step. Cancel safe.
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

    /// Records that the socket has ended.
    pub(crate) fn leave(&self) {
        self.state().gone = true;
        self.note();
    }

    /// Records that the player leaves permanently.
    pub(crate) fn give_up(&self) {
        self.state().left = true;
    }

    // ---- the side of the transport ----

    /// Sets the number of its seat.
    pub(crate) fn sit(&self, seat: u64) {
        self.seat.store(seat, Ordering::Release);
    }

    /// Records that the transport polls the mailbox now: later events queue its seat again.
    pub(crate) fn looked_at(&self) {
        self.noted.store(false, Ordering::Release);
    }

    /// Takes the next message from the browser.
    pub(crate) fn take(&self) -> Option<BytesMut> {
        let mut state = self.state();
        let message = state.incoming.pop_front();
        drop(state);
        if message.is_some() {
            self.readable.notify_one();
        }
        message
    }

    /// Whether the player has left permanently, so that the seat is not retained.
    pub(crate) fn has_left(&self) -> bool {
        self.state().left
    }

    /// Whether the socket has ended and the transport has taken all its messages.
    pub(crate) fn is_gone(&self) -> bool {
        let state = self.state();
        state.gone && state.incoming.is_empty()
    }

    /// Queues an output for the browser. If it does not fit, it is dropped together with all later outputs, until the
    /// browser has caught up and receives a snapshot.
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

    /// Whether outputs were dropped and the browser has received all outputs before them. Returns `true` once.
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

    /// Whether the queue to the browser is empty.
    pub(crate) fn is_flushed(&self) -> bool {
        let state = self.state();
        state.gone || state.outgoing.is_empty()
    }
}

/// Records the end of the socket of a mailbox when it is dropped.
#[derive(Debug)]
pub(crate) struct Leaves(pub(crate) Arc<Mailbox>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// The seats that the transport has to poll, and the waker of the task of the room.
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
    // Queues a seat, and wakes the task of the room.
    fn note(&self, seat: u64) {
        self.state().seats.push_back(ConnectionId(seat));
        self.wake();
    }

    /// Wakes the task of the room.
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
