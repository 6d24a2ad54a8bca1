//! A limited resource, shared out over hosts.
//!
//! What hosts may have depends on what is left: see [`netcore::Shares`]. Whoever waits is served host by host in turn, so a host that asks
//! a hundred times delays another one by one turn. Those who wait are shared out by the same rule.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use netcore::{Full, HostId};
use tokio::{sync::oneshot, time::timeout};

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

/// Declares the kinds of refusals, and their names in the metrics.
macro_rules! kinds {
    ($($kind:ident: $name:literal,)*) => {
        /// What is refused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($kind,)*
        }

        impl Kind {
            pub(crate) const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// Its name in the numbers.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    Requests: "requests",
    Connections: "connections",
    Handshakes: "handshakes",
    Sockets: "sockets",
    Bodies: "bodies",
    Answers: "answers",
    Queries: "queries",
    Replays: "replays",
    Learners: "learners",
    Slices: "slices",
    Rooms: "rooms",
    Files: "files",
    Name: "name",
    Origin: "origin",
    Banned: "banned",
    Claims: "claims",
    Tries: "tries",
    Reports: "reports",
    Maps: "maps",
    Bots: "bots",
}

impl Kind {
    /// The message to a caller that is refused for a reason that does not depend on others.
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Requests => "too many requests; wait a moment",
            Self::Name => "this hub is not known by that name; its host can let it be called so by --name",
            Self::Origin => "pages of other sites may not do this",
            Self::Banned => "the host of this hub has banned your address",
            Self::Tries => "too many wrong codes and words from your address; wait a moment",
            Self::Reports => "your address has reported enough; the host of this hub has to read it first",
            Self::Claims => "your address has taken enough names today; come back tomorrow",
            _ => "the hub is at its limit, or your address has its share; try again in a moment",
        }
    }
}

/// Why a share is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: Kind,
    pub(crate) full: Full,
}

impl Refusal {
    /// Whether it is the caller's address that has its share, and not the hub that is busy.
    pub(crate) fn is_of_host(self) -> bool {
        matches!(self.full, Full::Share(_))
    }

    /// When to try again.
    pub(crate) const fn after(self) -> Duration {
        Duration::from_secs(match self.kind {
            Kind::Queries | Kind::Slices | Kind::Requests => 2,
            Kind::Answers | Kind::Bodies | Kind::Replays => 5,
            Kind::Rooms | Kind::Maps => 60,
            _ => 30,
        })
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = if self.is_of_host() { "from your address" } else { "at this hub" };
        match self.kind {
            Kind::Connections | Kind::Handshakes | Kind::Files => {
                write!(f, "too many connections {whose} are open; close some pages and try again")
            }
            Kind::Sockets => write!(f, "too many sockets {whose} are open; close some pages and try again"),
            Kind::Bodies => write!(f, "too many requests {whose} have not arrived yet; try again in a moment"),
            Kind::Answers => write!(f, "too many answers {whose} are not read yet; try again in a moment"),
            Kind::Queries => write!(f, "too many look-ups of results {whose} are under way; try again in a moment"),
            Kind::Replays => write!(f, "too many matches {whose} are being replayed; try again in a moment"),
            Kind::Learners | Kind::Slices => {
                write!(f, "too many pages {whose} watch it learn just now; try again later")
            }
            Kind::Bots => write!(f, "too many bots {whose} play already; have some of them leave, or try again later"),
            Kind::Maps => write!(f, "too many rooms {whose} have a map of their own; try again later"),
            Kind::Rooms => {
                let (Full::All(count) | Full::Share(count)) = self.full;
                write!(f, "{count} rooms {whose} are open already; join one of them, or wait until one is closed")
            }
            Kind::Requests | Kind::Name | Kind::Origin | Kind::Banned | Kind::Claims | Kind::Tries | Kind::Reports => {
                f.write_str(self.kind.sentence())
            }
        }
    }
}

/// How often something was refused, by kind.
#[derive(Debug, Default)]
pub(crate) struct Refusals([AtomicU64; Kind::ALL.len()]);

impl Refusals {
    pub(crate) fn count(&self, kind: Kind) {
        self.0[kind as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// All kinds, and how often each was refused.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Kind::ALL.iter().map(|&kind| (kind.name(), self.0[kind as usize].load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use std::{future::Future, iter};

    use futures_util::FutureExt as _;

    use super::*;

    fn host(number: u8) -> HostId {
        HostId::V4([10, 0, 0, number])
    }

    /// Takes as many as there are for a host.
    fn take_all(shares: &Arc<Shares>, host: HostId) -> Vec<Share> {
        iter::from_fn(|| shares.take(host, 1).ok()).collect()
    }

    #[test]
    fn greedy_hosts_leave_something_for_another_one() {
        let shares = Shares::new(Kind::Sockets, 224);
        let taken: Vec<Vec<Share>> = (1..=7).map(|number| take_all(&shares, host(number))).collect();
        assert_eq!(taken.iter().map(Vec::len).collect::<Vec<_>>(), [112, 56, 28, 14, 7, 4, 2]);
        assert_eq!(shares.take(host(1), 1).unwrap_err(), Refusal { kind: Kind::Sockets, full: Full::Share(112) });
        let last = shares.take(host(8), 1).unwrap();
        assert_eq!(shares.take(host(9), 1).unwrap_err().full, Full::All(224));
        drop((taken, last));
        assert_eq!(shares.taken(), 0);
        assert_eq!(take_all(&shares, host(9)).len(), 112);
    }

    #[test]
    fn an_amount_counts_as_that_many() {
        let shares = Shares::new(Kind::Answers, 64);
        let first = shares.take(host(1), 30).unwrap();
        assert_eq!(shares.take(host(1), 3).unwrap_err().full, Full::Share(30));
        assert_eq!(shares.take(host(2), 33).unwrap_err().full, Full::Share(0), "at once it is at most half, too");
        assert_eq!(shares.take(host(2), 35).unwrap_err().full, Full::All(64));
        let second = shares.take(host(1), 2).unwrap();
        drop(first);
        assert_eq!(shares.taken(), 2);
        drop(second);
    }

    #[test]
    fn an_operator_sets_what_a_host_has_at_most_and_a_proxy_has_no_share() {
        let shares = Shares::with_cap(Kind::Sockets, 10, 2);
        let held = take_all(&shares, host(1));
        assert_eq!(held.len(), 2);
        let proxied: Vec<Share> = iter::from_fn(|| shares.take_unshared().ok()).collect();
        assert_eq!((proxied.len(), shares.taken()), (8, 10));
        drop(proxied);
        assert_eq!(shares.taken(), 2);
    }

    /// Begins to wait.
    fn queue<'a>(
        shares: &'a Arc<Shares>,
        host: HostId,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Share, Refusal>> + 'a>> {
        let mut waiting = Box::pin(shares.wait(host));
        assert!(waiting.as_mut().now_or_never().is_none(), "it waits");
        waiting
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_wait_are_served_host_by_host_in_turn() {
        let shares = Shares::new(Kind::Replays, 2);
        let held = shares.wait(host(1)).await.unwrap();
        // A host alone has half, though the rest is free.
        let mut greedy: Vec<_> = (0..50).map(|_| queue(&shares, host(1))).collect();
        let innocent = shares.wait(host(2)).now_or_never().expect("it is free for others").unwrap();
        let mut second = queue(&shares, host(2));
        let mut third = queue(&shares, host(3));
        drop(innocent);
        // The first host has its share, so it is passed over.
        let of_second = second.as_mut().now_or_never().expect("it is the turn of the second host").unwrap();
        assert!(third.as_mut().now_or_never().is_none());
        drop(held);
        let of_third = third.as_mut().now_or_never().expect("it is the turn of the third host").unwrap();
        drop(of_second);
        assert!(greedy[0].as_mut().now_or_never().is_some(), "it is the turn of the first host");
        assert!(greedy[1].as_mut().now_or_never().is_some(), "what the one before got is back, and nobody else waits");
        assert!(greedy[2].as_mut().now_or_never().is_some());
        // The next one has got it, and leaves without it.
        drop((of_third, greedy, second, third));
        assert_eq!(shares.taken(), 0);
        let state = shares.state();
        assert!(state.queues.is_empty() && state.turns.is_empty() && state.waiting.taken() == 0);
    }

    #[tokio::test(start_paused = true)]
    async fn each_turn_is_of_another_host_and_of_one_host_the_first_comes_first() {
        let shares = Shares::new(Kind::Slices, 1);
        let held = shares.wait(host(9)).await.unwrap();
        let (sender, mut order) = tokio::sync::mpsc::unbounded_channel();
        for (from, count) in [(1, 3), (2, 1), (3, 2)] {
            for number in 0..count {
                let (shares, sender) = (Arc::clone(&shares), sender.clone());
                tokio::spawn(async move {
                    let share = shares.wait(host(from)).await.unwrap();
                    sender.send((from, number)).unwrap();
                    drop(share);
                });
                // In this order.
                tokio::task::yield_now().await;
            }
        }
        drop((held, sender));
        let mut served = vec![];
        while let Some(next) = order.recv().await {
            served.push(next);
        }
        assert_eq!(served, [(1, 0), (2, 0), (3, 0), (1, 1), (3, 1), (1, 2)]);
    }

    #[tokio::test(start_paused = true)]
    async fn few_wait_and_not_for_ever() {
        let shares = Shares::new(Kind::Queries, 1);
        let held = shares.wait(host(9)).await.unwrap();
        let greedy: Vec<_> = (0..MAX_WAITING / 2).map(|_| queue(&shares, host(1))).collect();
        let refused = shares.wait(host(1)).now_or_never().expect("a host has its share of those who wait").unwrap_err();
        assert_eq!(refused, Refusal { kind: Kind::Queries, full: Full::Share(128) });
        let patient = queue(&shares, host(2));
        assert_eq!(patient.await.unwrap_err().full, Full::All(1), "after a while");
        drop(greedy);
        {
            let state = shares.state();
            assert!(state.queues.is_empty() && state.turns.is_empty(), "whoever does not wait any more takes no place");
        }
        // One that has left while it was served gives back what it got.
        let gone = queue(&shares, host(3));
        drop((held, gone));
        assert_eq!(shares.taken(), 0);
    }
}
