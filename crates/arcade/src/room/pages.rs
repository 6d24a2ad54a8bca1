//! The pages that are open at a room, and what the hub tells one of them or all.
//!
//! A page that does not take what it is told misses it; nothing waits for it.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

use super::known::Seats;

/// Messages of the hub that wait for one page.
pub(crate) const MAX_WORDS: usize = 16;

/// The pages that are open at a room.
#[derive(Debug)]
pub(crate) struct Pages {
    state: Mutex<State>,
    // Counts those who come and go.
    changed: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    pages: BTreeMap<u64, Page>,
    next: u64,
    // When the owner was last heard of, unless a page of the owner is open.
    heard: Instant,
}

#[derive(Debug)]
struct Page {
    // None for a page that only looks on.
    seat: Option<SocketAddr>,
    owner: bool,
    words: mpsc::Sender<Arc<str>>,
}

impl Default for Pages {
    fn default() -> Self {
        let state = State { pages: BTreeMap::new(), next: 0, heard: Instant::now() };
        Self { state: Mutex::new(state), changed: watch::Sender::default() }
    }
}

impl Pages {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A page is open from now on, until the value is dropped: at this seat, or to look on. Gives also what it is told.
    pub(crate) fn enter(
        self: &Arc<Self>,
        seat: Option<SocketAddr>,
        owner: bool,
    ) -> (PageHere, mpsc::Receiver<Arc<str>>) {
        let (words, told) = mpsc::channel(MAX_WORDS);
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.pages.insert(number, Page { seat, owner, words });
        drop(state);
        self.changed.send_modify(|count| *count += 1);
        (PageHere { pages: Arc::clone(self), number }, told)
    }

    /// Tells the pages at this seat. Gives whether there is one.
    pub(crate) fn tell(&self, seat: SocketAddr, text: &Arc<str>) -> bool {
        let state = self.state();
        let there = state.pages.values().filter(|page| page.seat == Some(seat));
        // One of them may just be going.
        there.filter(|page| page.words.try_send(Arc::clone(text)).is_ok()).count() > 0
    }

    /// Tells all pages.
    pub(crate) fn tell_all(&self, text: &Arc<str>) {
        for page in self.state().pages.values() {
            // A page that is so far behind misses it.
            let _ = page.words.try_send(Arc::clone(text));
        }
    }

    /// The seats of the pages that are open, each once.
    pub(crate) fn seats(&self) -> Vec<SocketAddr> {
        let mut seats: Vec<SocketAddr> = self.state().pages.values().filter_map(|page| page.seat).collect();
        seats.sort_unstable();
        seats.dedup();
        seats
    }

    /// Whether a page of the owner is open.
    pub(crate) fn has_owner(&self) -> bool {
        self.state().pages.values().any(|page| page.owner)
    }

    /// Whether a page of the owner is open at this seat.
    pub(crate) fn is_owner(&self, seat: SocketAddr) -> bool {
        self.state().pages.values().any(|page| page.owner && page.seat == Some(seat))
    }

    /// The pages at this seat are those of the owner, and no others.
    pub(crate) fn set_owner(&self, seat: SocketAddr) {
        for page in self.state().pages.values_mut() {
            page.owner = page.seat == Some(seat);
        }
    }

    /// The seat of whoever has been here longest, of those with a page.
    pub(crate) fn longest(&self, known: &Seats) -> Option<SocketAddr> {
        self.seats().into_iter().min_by_key(|&seat| known.order(seat).unwrap_or(u64::MAX))
    }

    /// Something was heard of the owner.
    pub(crate) fn hear_owner(&self) {
        self.state().heard = Instant::now();
    }

    /// When the owner was last heard of.
    pub(crate) fn owner_heard(&self) -> Instant {
        self.state().heard
    }

    /// Is told when a page comes or goes.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}

/// A page that is open.
#[derive(Debug)]
pub(crate) struct PageHere {
    pages: Arc<Pages>,
    number: u64,
}

impl Drop for PageHere {
    fn drop(&mut self) {
        let mut state = self.pages.state();
        if state.pages.remove(&self.number).is_some_and(|page| page.owner) {
            state.heard = Instant::now();
        }
        drop(state);
        self.pages.changed.send_modify(|count| *count += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pages_are_told_what_is_theirs_and_a_slow_one_misses_the_rest() {
        let pages = Arc::<Pages>::default();
        let known = Seats::default();
        let [one, two] = [1, 2].map(|port| SocketAddr::from(([10, 0, 0, 1], port)));
        known.open(two);
        known.open(one);
        let (first, mut to_first) = pages.enter(Some(one), true);
        let (_second, mut to_second) = pages.enter(Some(two), false);
        let (_watcher, mut to_watcher) = pages.enter(None, false);
        assert!(pages.tell(one, &"mine".into()) && !pages.tell(SocketAddr::from(([10, 0, 0, 1], 3)), &"x".into()));
        pages.tell_all(&"all".into());
        assert_eq!((to_first.recv().await.as_deref(), to_first.recv().await.as_deref()), (Some("mine"), Some("all")));
        assert_eq!((to_second.recv().await.as_deref(), to_watcher.recv().await.as_deref()), (Some("all"), Some("all")));
        for _ in 0..2 * MAX_WORDS {
            pages.tell_all(&"again".into());
        }
        let mut heard = 0;
        while to_second.try_recv().is_ok() {
            heard += 1;
        }
        assert_eq!(heard, MAX_WORDS);
        // The second one has its seat longer, though its page came later.
        assert_eq!((pages.longest(&known), pages.seats().len()), (Some(two), 2));
        assert!(pages.has_owner() && pages.is_owner(one) && !pages.is_owner(two));
        drop(first);
        assert!(!pages.has_owner());
        pages.set_owner(two);
        assert!(pages.is_owner(two));
    }
}
