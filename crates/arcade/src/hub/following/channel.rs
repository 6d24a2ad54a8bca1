//! One room of another node, and those who watch it here.

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tracing::debug;

use crate::{
    games::Game,
    room::{
        feed::{Backlog, Event, Item, Kind, MAX_BACKLOG},
        mailbox::{Ending, MAX_OUTGOING},
    },
};

/// The memory that a waiting message takes besides its bytes.
const OVERHEAD: usize = 64;
/// Messages of a snapshot at most: those of the longest backlog.
const MAX_SNAPSHOT: usize = MAX_BACKLOG / OVERHEAD + 2;

/// What a channel asks of the node of its room.
#[derive(Debug)]
pub(crate) enum Ask {
    /// Whether somebody from this address may look on.
    Come { number: u64, address: SocketAddr, answer: oneshot::Sender<Result<(), Ending>> },
    /// Somebody looks on no longer.
    Gone(u64),
}

/// What a watcher is told next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    Item(Item),
    /// Nothing more; without an ending its page comes again.
    End(Option<Ending>),
}

/// A room of another node.
#[derive(Debug)]
pub(crate) struct Channel {
    game: Game,
    state: Mutex<State>,
    asks: mpsc::UnboundedSender<Ask>,
    // None until it is known whether watchers can be told anything.
    ready: watch::Sender<Option<bool>>,
}

#[derive(Debug)]
struct State {
    backlog: Backlog,
    // The run that is told, and how many messages of it; none before the first snapshot.
    at: Option<(u64, u64)>,
    // The pieces of a snapshot that have come.
    coming: Option<(u64, u64, Vec<Item>)>,
    guests: BTreeMap<u64, Arc<Queue>>,
    next: u64,
    over: bool,
}

/// What one watcher has not taken yet.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<Waiting>,
    notify: Notify,
}

/// That nothing more comes; why, if the room has said it.
#[derive(Debug, Clone, Copy)]
struct End(Option<Ending>);

#[derive(Debug, Default)]
struct Waiting {
    // Everything from the beginning, which all who are told it share, and how much of it was taken.
    all: Option<(Arc<[Item]>, usize)>,
    items: VecDeque<Item>,
    bytes: usize,
    // Whether it is to be told everything once it has taken what is there.
    behind: bool,
    end: Option<End>,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, item: &Item) {
        let mut state = self.state();
        if state.behind || state.end.is_some() {
            return;
        }
        if state.bytes + item.len() + OVERHEAD > MAX_OUTGOING {
            state.behind = true;
            return;
        }
        state.bytes += item.len() + OVERHEAD;
        state.items.push_back(item.clone());
        drop(state);
        self.notify.notify_one();
    }

    // What is told now begins anew.
    fn restart(&self) {
        let mut state = self.state();
        (state.all, state.bytes, state.behind) = (None, 0, true);
        state.items.clear();
        drop(state);
        self.notify.notify_one();
    }

    fn end(&self, why: Option<Ending>) {
        self.state().end.get_or_insert(End(why));
        self.notify.notify_one();
    }
}

impl Channel {
    /// One that knows nothing yet, and what it asks.
    pub(super) fn new(game: Game) -> (Arc<Self>, mpsc::UnboundedReceiver<Ask>) {
        // As many as there are sockets.
        let (asks, asked) = mpsc::unbounded_channel();
        let state = State {
            backlog: Backlog::new(game),
            at: None,
            coming: None,
            guests: BTreeMap::new(),
            next: 0,
            over: false,
        };
        (Arc::new(Self { game, state: Mutex::new(state), asks, ready: watch::Sender::default() }), asked)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The game of the room.
    pub(crate) const fn game(&self) -> Game {
        self.game
    }

    /// Whether nobody is told anything more.
    pub(crate) fn is_over(&self) -> bool {
        self.state().over
    }

    /// Whether nobody looks on.
    pub(crate) fn is_empty(&self) -> bool {
        self.state().guests.is_empty()
    }

    /// Waits until it is known whether watchers can be told what the room tells.
    pub(crate) async fn is_ready(&self) -> bool {
        let mut ready = self.ready.subscribe();
        ready.wait_for(Option::is_some).await.is_ok_and(|ready| *ready == Some(true))
    }

    /// Lets somebody look on, if the node of the room does.
    ///
    /// # Errors
    /// Why not; without an ending since the room is not followed any more.
    pub(crate) async fn come(self: &Arc<Self>, address: SocketAddr) -> Result<Guest, Option<Ending>> {
        let (answer, answered) = oneshot::channel();
        let number = {
            let mut state = self.state();
            state.next += 1;
            state.next
        };
        self.asks.send(Ask::Come { number, address, answer }).map_err(|_| None)?;
        // From now on it is told that the guest is gone, also if nobody waits for the answer.
        let queue = Arc::<Queue>::default();
        queue.state().behind = true;
        let guest = Guest { channel: Arc::clone(self), number, queue: Arc::clone(&queue) };
        answered.await.map_err(|_| None)?.map_err(Some)?;
        let mut state = self.state();
        if state.over {
            return Err(None);
        }
        state.guests.insert(number, queue);
        drop(state);
        Ok(guest)
    }

    /// Takes in an event. Returns whether more can follow.
    pub(crate) fn take(&self, is_anchor: bool, body: Bytes) -> bool {
        let Some(Event { kind, run, number, items }) = Event::read(body) else {
            debug!("an event that another version has written");
            return false;
        };
        match kind {
            Kind::Snapshot { complete } => {
                let coming = self.state().coming.take();
                let mut all = match coming {
                    _ if is_anchor => vec![],
                    Some((of, at, all)) if (of, at) == (run, number) => all,
                    _ => return false,
                };
                all.extend(items);
                if all.len() > MAX_SNAPSHOT {
                    return false;
                }
                if complete {
                    self.begin(run, number, &all);
                } else {
                    self.state().coming = Some((run, number, all));
                }
                true
            }
            Kind::Change => self.change(run, number, &items),
        }
    }

    fn begin(&self, run: u64, number: u64, all: &[Item]) {
        let mut state = self.state();
        // Those who were told all that came before learn nothing new from it.
        if state.at != Some((run, number)) {
            state.backlog.clear();
            for item in all {
                state.backlog.take(item);
            }
            state.at = Some((run, number));
            state.guests.values().for_each(|queue| queue.restart());
        }
        drop(state);
        self.ready.send_if_modified(|ready| ready.replace(true) != Some(true));
    }

    fn change(&self, run: u64, number: u64, items: &[Item]) -> bool {
        let mut state = self.state();
        match state.at {
            Some((of, at)) if of == run && at == number => {}
            // Of a run whose snapshot was not seen.
            _ => return false,
        }
        state.at = Some((run, number + items.len() as u64));
        for item in items {
            if let Item::End(why) = item {
                drop(state);
                self.end(Some(*why));
                return false;
            }
            state.backlog.take(item);
            state.guests.values().for_each(|queue| queue.push(item));
        }
        true
    }

    /// One of those who look on has to go.
    pub(crate) fn remove(&self, number: u64, why: Ending) {
        if let Some(queue) = self.state().guests.get(&number) {
            queue.end(Some(why));
        }
    }

    /// Nobody is told anything more, once everything queued is told.
    pub(crate) fn end(&self, why: Option<Ending>) {
        let mut state = self.state();
        state.over = true;
        state.guests.values().for_each(|queue| queue.end(why));
        drop(state);
        self.ready.send_if_modified(|ready| ready.is_none().then(|| *ready = Some(false)).is_some());
    }

    // Everything from the beginning, for somebody who has taken all that was there.
    fn catch_up(&self, queue: &Queue) {
        let mut state = self.state();
        if state.at.is_none() {
            return;
        }
        let all = state.backlog.all();
        let mut waiting = queue.state();
        (waiting.all, waiting.behind) = (Some((all, 0)), false);
    }
}

/// Somebody who looks on; dropping it leaves.
#[derive(Debug)]
pub(crate) struct Guest {
    channel: Arc<Channel>,
    number: u64,
    queue: Arc<Queue>,
}

impl Guest {
    /// Waits for what is to be told next. Cancellation safe.
    pub(crate) async fn next(&self) -> Said {
        loop {
            let is_behind = {
                let mut state = self.queue.state();
                if let Some((all, taken)) = &mut state.all {
                    if let Some(item) = all.get(*taken).cloned() {
                        *taken += 1;
                        return Said::Item(item);
                    }
                    state.all = None;
                }
                if let Some(item) = state.items.pop_front() {
                    state.bytes -= item.len() + OVERHEAD;
                    return Said::Item(item);
                }
                if let Some(End(why)) = state.end {
                    return Said::End(why);
                }
                state.behind
            };
            if is_behind {
                self.channel.catch_up(&self.queue);
                if !self.queue.state().behind {
                    continue;
                }
            }
            self.queue.notify.notified().await;
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.channel.state().guests.remove(&self.number);
        // Without a task nobody has to know.
        let _ = self.channel.asks.send(Ask::Gone(self.number));
    }
}

#[cfg(test)]
mod tests;
