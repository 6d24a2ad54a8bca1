//! Something of which there is only so much, shared out over hosts.
//!
//! What hosts may have depends on what is left: see [`netcore::Shares`]. Whoever waits is served host by host in turn, so a host that asks
//! a hundred times delays another one by one turn. Those who wait are shared out by the same rule.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use netcore::{Full, HostId};
use tokio::{sync::oneshot, time::timeout};

use super::refusal::{Kind, Refusal};

/// Those who wait for one thing, of all hosts.
const MAX_WAITING: usize = 256;
/// How long they wait.
const PATIENCE: Duration = Duration::from_secs(20);

/// Something limited, and who has how much of it.
#[derive(Debug)]
pub(crate) struct Shares {
    kind: Kind,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    given: netcore::Shares,
    waiting: netcore::Shares,
    // Those who wait, by host. Nobody in it could be given something now.
    queues: BTreeMap<HostId, VecDeque<(u64, oneshot::Sender<Share>)>>,
    // The hosts with a queue; the first is served next.
    turns: VecDeque<HostId>,
    next: u64,
}

impl Shares {
    /// There are `size` of this, and one host has at most half of them.
    pub(crate) fn new(kind: Kind, size: usize) -> Arc<Self> {
        Self::with_cap(kind, size, usize::MAX)
    }

    /// One host has at most `cap` of them as well.
    pub(crate) fn with_cap(kind: Kind, size: usize, cap: usize) -> Arc<Self> {
        let state = State {
            given: netcore::Shares::new(size).with_cap(cap),
            waiting: netcore::Shares::new(MAX_WAITING),
            queues: BTreeMap::new(),
            turns: VecDeque::new(),
            next: 0,
        };
        Arc::new(Self { kind, state: Mutex::new(state) })
    }

    /// Takes `amount` for a host. Fails with [`Refusal`] when too little is left, or the host has its share.
    pub(crate) fn take(self: &Arc<Self>, host: HostId, amount: usize) -> Result<Share, Refusal> {
        let taken = self.state().given.take_many(host, amount);
        taken.map(|()| self.share(Some(host), amount)).map_err(|full| self.refusal(full))
    }

    /// Takes one for many hosts together, as for a connection of a reverse proxy. They have no share.
    /// Fails with [`Refusal`] when none is left.
    pub(crate) fn take_unshared(self: &Arc<Self>) -> Result<Share, Refusal> {
        let taken = self.state().given.take_unshared();
        taken.map(|()| self.share(None, 1)).map_err(|full| self.refusal(full))
    }

    /// Takes one for a host, once it is this host's turn.
    /// Fails with [`Refusal`] when too many wait, or it takes too long.
    pub(crate) async fn wait(self: &Arc<Self>, host: HostId) -> Result<Share, Refusal> {
        let mut waiter = {
            let mut state = self.state();
            // Those who are in the queues of other hosts could not be given this one.
            if !state.queues.contains_key(&host) && state.given.take(host).is_ok() {
                return Ok(self.share(Some(host), 1));
            }
            state.waiting.take(host).map_err(|full| self.refusal(full))?;
            let (give, given) = oneshot::channel();
            let id = state.next;
            state.next += 1;
            let queue = state.queues.entry(host).or_default();
            let is_first = queue.is_empty();
            queue.push_back((id, give));
            if is_first {
                state.turns.push_back(host);
            }
            Waiter { shares: Arc::clone(self), host, id, given }
        };
        match timeout(PATIENCE, &mut waiter.given).await {
            Ok(Ok(share)) => Ok(share),
            Ok(Err(_)) | Err(_) => Err(self.refusal(Full::All(self.taken()))),
        }
    }

    /// How much is taken.
    pub(crate) fn taken(&self) -> usize {
        self.state().given.taken()
    }

    fn share(self: &Arc<Self>, host: Option<HostId>, amount: usize) -> Share {
        Share { shares: Arc::clone(self), host, amount }
    }

    const fn refusal(&self, full: Full) -> Refusal {
        Refusal { kind: self.kind, full }
    }

    fn give_back(self: &Arc<Self>, host: Option<HostId>, amount: usize) {
        let mut served = vec![];
        {
            let mut state = self.state();
            match host {
                Some(host) => state.given.give_back_many(host, amount),
                None => state.given.give_back_unshared(),
            }
            // Until it was the turn of each without success.
            let mut passed = 0;
            while passed < state.turns.len() {
                let Some(host) = state.turns.pop_front() else { break };
                if state.given.take(host).is_err() {
                    passed += 1;
                    state.turns.push_back(host);
                    continue;
                }
                passed = 0;
                let share = self.share(Some(host), 1);
                let queue = state.queues.entry(host).or_default();
                served.extend(queue.pop_front().map(|(_, give)| (give, share)));
                if queue.is_empty() {
                    state.queues.remove(&host);
                } else {
                    state.turns.push_back(host);
                }
            }
        }
        for (give, share) in served {
            // Whoever does not wait any more gives it back, which takes the lock.
            drop(give.send(share));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a host has taken, given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    shares: Arc<Shares>,
    host: Option<HostId>,
    amount: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shares.give_back(self.host, self.amount);
    }
}

/// Somebody who waits, until it is dropped.
struct Waiter {
    shares: Arc<Shares>,
    host: HostId,
    id: u64,
    given: oneshot::Receiver<Share>,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut state = self.shares.state();
        state.waiting.give_back(self.host);
        if let Some(queue) = state.queues.get_mut(&self.host) {
            queue.retain(|(id, _)| *id != self.id);
            if queue.is_empty() {
                state.queues.remove(&self.host);
                state.turns.retain(|host| *host != self.host);
            }
        }
    }
}

#[cfg(test)]
mod tests;
