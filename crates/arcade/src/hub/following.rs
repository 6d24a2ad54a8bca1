//! Rooms of other nodes that are watched here: the node follows what is published of each, and tells all who watch.
//!
//! Nobody waits for a watcher. What does not fit into its queue is dropped, and so is everything after it until it has taken what is there;
//! then it is told everything anew, as by a room of this node.

mod channel;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::mpsc, time::Instant};

pub(crate) use self::channel::{Ask, Channel, Guest, Said};
use crate::games::Game;

/// How long watchers of a room get sockets of their own after it could not be followed.
const BARRED: Duration = Duration::from_secs(30);

/// The rooms that are followed.
#[derive(Debug, Default)]
pub(crate) struct Following {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    channels: BTreeMap<String, Arc<Channel>>,
    // Rooms that cannot be followed, until then.
    barred: BTreeMap<String, Instant>,
}

impl Following {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The channel of a public room of another node, if watchers here can be told what is published of it. If nobody follows it yet, gives
    /// also what the channel asks of the node of the room: whoever gets that has to follow it.
    pub(crate) fn channel(&self, id: &str, game: Game) -> Option<(Arc<Channel>, Option<mpsc::UnboundedReceiver<Ask>>)> {
        let mut state = self.state();
        if let Some(until) = state.barred.get(id) {
            if Instant::now() < *until {
                return None;
            }
            state.barred.remove(id);
        }
        if let Some(channel) = state.channels.get(id).filter(|channel| !channel.is_over()) {
            return Some((Arc::clone(channel), None));
        }
        let (channel, asks) = Channel::new(game);
        state.channels.insert(id.to_owned(), Arc::clone(&channel));
        Some((channel, Some(asks)))
    }

    /// A room is not followed any more. If that failed, its watchers get sockets of their own for a while.
    pub(crate) fn unfollow(&self, id: &str, channel: &Arc<Channel>, failed: bool) {
        channel.end(None);
        let mut state = self.state();
        if state.channels.get(id).is_some_and(|known| Arc::ptr_eq(known, channel)) {
            state.channels.remove(id);
        }
        if failed {
            // Those of rooms that are over go too.
            let now = Instant::now();
            state.barred.retain(|_, until| *until > now);
            state.barred.insert(id.to_owned(), now + BARRED);
        }
    }
}
