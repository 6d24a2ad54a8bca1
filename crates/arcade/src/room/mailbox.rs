//! One WebSocket, between the task that reads and writes it and the transport of its room.
//!
//! Both sides only put into and take out of bounded queues, so neither waits for the other: the room never waits for a browser.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use bytes::{Bytes, BytesMut};
use netcore::History;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::ready::Ready;

/// Messages from a browser that wait for the room. While it is full, nothing more is read from the socket.
const MAX_INCOMING: usize = 32;
/// Bytes that wait for a browser; each message counts [`OVERHEAD`] more. Histories, which are shared, do not count.
pub(crate) const MAX_OUTGOING: usize = 1 << 20;
/// The memory that a waiting message takes besides its bytes.
const OVERHEAD: usize = 64;

/// Something that is on its way to a browser.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// One message of the game.
    Frame(Bytes),
    /// A history, each frame of which is a message.
    History(History),
}

/// Why a mailbox has ended, for the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ending {
    /// The room has closed the connection: the game is over for this seat.
    Closed,
    /// The seat that the socket wanted to come back to is not kept any more.
    Expired,
    /// The room has no place for more browsers.
    Full,
    /// The same seat was taken from another window.
    Replaced,
    /// The first message does not say how the socket enters.
    Unclear,
    /// The host of the browser has used up what it may have of the match.
    Refused,
    /// The operator has removed the player.
    Removed,
    /// The owner of the room has removed the player, or somebody of the same host.
    RemovedByOwner,
    /// The owner has locked the room.
    Locked,
    /// The free seats are kept for others.
    Held,
    /// The browser has not shown the word of the room.
    Private,
    /// There is no such room, or no list shows it and the browser has not shown that it may enter.
    Missing,
    /// The operator has banned the host of the browser.
    Banned,
}

#[derive(Debug, Default)]
struct State {
    incoming: VecDeque<BytesMut>,
    outgoing: VecDeque<Piece>,
    outgoing_bytes: usize,
    // Whether messages were dropped, so that a snapshot has to be sent once the queue is empty.
    behind: bool,
    // Whether the browser's end is gone.
    gone: bool,
    // Whether whoever sat there has left for good.
    left: bool,
    ending: Option<Ending>,
}

/// One WebSocket. The task of the socket and the transport share it.
#[derive(Debug)]
pub(crate) struct Mailbox {
    state: Mutex<State>,
    // Wakes the task of the socket: there is something to write, or room for another message.
    writable: Notify,
    readable: Notify,
    ready: Arc<Ready>,
    // The number of its seat, once it has one.
    seat: AtomicU64,
    // Whether the seat is among those that the transport will look at.
    noted: AtomicBool,
}

/// No seat yet.
const NO_SEAT: u64 = u64::MAX;

/// What the task of the socket has to do next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Write this.
    Piece(Piece),
    /// Close the socket.
    End(Ending),
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

    // Has the transport look at this mailbox.
    fn note(&self) {
        let seat = self.seat.load(Ordering::Acquire);
        // Without a seat it is looked at as soon as it has one.
        if seat != NO_SEAT && !self.noted.swap(true, Ordering::AcqRel) {
            self.ready.note(seat);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // ---- the side of the socket ----

    /// Hands a message to the room, once there is room for it.
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

    /// Whoever sits there leaves for good.
    pub(crate) fn give_up(&self) {
        self.state().left = true;
    }

    // ---- the side of the transport ----

    /// It has this seat.
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

    /// Whether whoever sat there has left for good, and the seat need not be kept.
    pub(crate) fn has_left(&self) -> bool {
        self.state().left
    }

    /// Whether the browser's end is gone and everything from it was taken.
    pub(crate) fn is_gone(&self) -> bool {
        let state = self.state();
        state.gone && state.incoming.is_empty()
    }

    /// Queues something for the browser. What does not fit is dropped, and so is everything after it until the browser has
    /// caught up; it has to be told everything anew then.
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

    /// Whether messages were dropped and the browser has taken all before them. Asking clears it.
    pub(crate) fn has_caught_up(&self) -> bool {
        let mut state = self.state();
        let caught_up = state.behind && state.outgoing.is_empty();
        if caught_up {
            state.behind = false;
        }
        caught_up
    }

    /// Ends the mailbox once everything queued is written.
    pub(crate) fn end(&self, ending: Ending) {
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

/// Leaves the room when it is dropped.
#[derive(Debug)]
pub(crate) struct Leaves(pub(crate) Arc<Mailbox>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.leave();
    }
}

fn cost(piece: &Piece) -> usize {
    OVERHEAD
        + match piece {
            Piece::Frame(frame) => frame.len(),
            Piece::History(_) => 0,
        }
}
