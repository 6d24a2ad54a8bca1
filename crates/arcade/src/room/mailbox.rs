//! The queues between the task of one WebSocket and the transport of its room.
//!
//! Both sides only put into and take out of bounded queues, so neither waits for the other: the room never waits for a browser.

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

/// Messages from a browser that wait for the room. While it is full, nothing more is read from the socket.
const MAX_INCOMING: usize = 32;
/// Bytes that wait for a browser; each message counts [`OVERHEAD`] more. Histories, which are shared, do not count.
pub(crate) const MAX_OUTGOING: usize = 1 << 20;
/// The memory that a waiting message takes besides its bytes.
const OVERHEAD: usize = 64;

/// An output on its way to a browser.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// One message of the game.
    Frame(Bytes),
    /// A history, each frame of which is a message.
    History(History),
}

/// Why the socket of a browser is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CloseReason {
    /// The room has closed the connection: the game is over for this seat.
    Closed,
    /// The seat that the socket wanted to resume is not retained any more.
    Expired,
    /// The room has no place for another browser.
    Full,
    /// Another window has resumed the same seat.
    Replaced,
    /// The first message is not an entry.
    Unclear,
    /// The host of the browser has used up its share of the match.
    Refused,
    /// The operator has removed the player.
    Removed,
    /// The owner of the room has removed the player, or another one of the same host.
    RemovedByOwner,
    /// The owner has locked the room.
    Locked,
    /// The free seats are reserved for others.
    Held,
    /// The browser has not sent the word of the room.
    Private,
    /// There is no such room, or no list shows it and the browser has not proved that it may enter.
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
    // Wakes the task of the socket: there is something to write, or room for another message.
    writable: Notify,
    readable: Notify,
    ready: Arc<Ready>,
    // The number of its seat, once it has one.
    seat: AtomicU64,
    // Whether the transport will poll the seat.
    noted: AtomicBool,
}

/// No seat yet.
const NO_SEAT: u64 = u64::MAX;

/// The next step of the task of the socket.
#[derive(Debug)]
pub(crate) enum Next {
    /// Write this.
    Piece(Piece),
    /// Close the socket.
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

    // Has the transport poll this mailbox.
    fn note(&self) {
        let seat = self.seat.load(Ordering::Acquire);
        // Without a seat it is polled as soon as it has one.
        if seat != NO_SEAT && !self.noted.swap(true, Ordering::AcqRel) {
            self.ready.note(seat);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // ---- the side of the socket ----

    /// Queues a message for the room, once the queue has a place.
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

    /// Waits for something to write. Cancellation safe.
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

    /// The socket has ended.
    pub(crate) fn leave(&self) {
        self.state().gone = true;
        self.note();
    }

    /// The player leaves permanently.
    pub(crate) fn give_up(&self) {
        self.state().left = true;
    }

    // ---- the side of the transport ----

    /// Sets the number of its seat.
    pub(crate) fn sit(&self, seat: u64) {
        self.seat.store(seat, Ordering::Release);
    }

    /// The transport polls the mailbox now: later events queue its seat again.
    pub(crate) fn looked_at(&self) {
        self.noted.store(false, Ordering::Release);
    }

    /// Takes the next message of the browser.
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

    /// Whether the socket has ended and all its messages were taken.
    pub(crate) fn is_gone(&self) -> bool {
        let state = self.state();
        state.gone && state.incoming.is_empty()
    }

    /// Queues an output for the browser. One that does not fit is dropped, and so are all that follow until the browser has caught up; it
    /// receives a snapshot then.
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

    /// Whether outputs were dropped and the browser has taken all before them. Returns `true` once.
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

    /// Whether nothing waits to be written.
    pub(crate) fn is_flushed(&self) -> bool {
        let state = self.state();
        state.gone || state.outgoing.is_empty()
    }
}

/// Ends the socket of a mailbox when it is dropped.
#[derive(Debug)]
pub(crate) struct Leaves(pub(crate) Arc<Mailbox>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// The seats that the transport has to poll, and the task of the room.
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
    // Queues a seat, and wakes the task.
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

    /// Locks it.
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
