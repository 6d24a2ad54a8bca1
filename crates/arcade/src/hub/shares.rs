//! Limited resources of the hub, shared among hosts: [`netcore::Shares`] has the amounts, and a [`HostQueue`] the
//! waiting requests.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use netcore::{Full, HostId, HostQueue};
use tokio::{sync::oneshot, time::timeout};

use crate::message::{Message, message};

/// Waiting requests of all hosts for one resource. One host may have half, which are more than the pupils of a class.
const MAX_WAITING: usize = 1_024;
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Shares {
    kind: RefusalKind,
    state: Mutex<ShareState>,
}

#[derive(Debug)]
struct ShareState {
    given: netcore::Shares,
    waiting: netcore::Shares,
    queue: HostQueue<oneshot::Sender<Share>, 0>,
}

impl Shares {
    /// One host may have half.
    pub(crate) fn new(kind: RefusalKind, size: usize) -> Arc<Self> {
        Self::with_cap(kind, size, usize::MAX)
    }

    /// One host may have half, but at most `cap`.
    pub(crate) fn with_cap(kind: RefusalKind, size: usize, cap: usize) -> Arc<Self> {
        let state = ShareState {
            given: netcore::Shares::new(size).with_cap(cap),
            waiting: netcore::Shares::new(MAX_WAITING),
            queue: HostQueue::default(),
        };
        Arc::new(Self { kind, state: Mutex::new(state) })
    }

    /// Fails if too little is left, or the host has reached its share.
    pub(crate) fn take(self: &Arc<Self>, host: HostId, amount: usize) -> Result<Share, Refusal> {
        let taken = self.state().given.take_many(host, amount);
        taken.map(|()| self.share(Some(host), amount)).map_err(|full| self.refusal(full))
    }

    /// Takes one that is charged to no host, as for the connection of a reverse proxy.
    pub(crate) fn take_unshared(self: &Arc<Self>) -> Result<Share, Refusal> {
        let taken = self.state().given.take_unshared();
        taken.map(|()| self.share(None, 1)).map_err(|full| self.refusal(full))
    }

    /// Waits for the host's turn. Fails if too many requests wait, or after [`PATIENCE`].
    pub(crate) async fn wait(self: &Arc<Self>, host: HostId) -> Result<Share, Refusal> {
        let mut request = {
            let mut state = self.state();
            // The waiting requests of other hosts could not use this share.
            if !state.queue.has_host(host) && state.given.take(host).is_ok() {
                return Ok(self.share(Some(host), 1));
            }
            state.waiting.take(host).map_err(|full| self.refusal(full))?;
            let (give, given) = oneshot::channel();
            state.queue.push(host, give);
            WaitingRequest { shares: Arc::clone(self), host, given }
        };
        match timeout(PATIENCE, &mut request.given).await {
            Ok(Ok(share)) => Ok(share),
            Ok(Err(_)) | Err(_) => Err(self.refusal(Full::All(self.in_use()))),
        }
    }

    pub(crate) fn in_use(&self) -> usize {
        self.state().given.in_use()
    }

    fn share(self: &Arc<Self>, host: Option<HostId>, amount: usize) -> Share {
        Share { shares: Arc::clone(self), host, amount }
    }

    const fn refusal(&self, full: Full) -> Refusal {
        Refusal { kind: self.kind, full }
    }

    fn release(self: &Arc<Self>, host: Option<HostId>, amount: usize) {
        let mut served = vec![];
        {
            let mut state = self.state();
            let ShareState { given, queue, .. } = &mut *state;
            match host {
                Some(host) => given.give_back_many(host, amount),
                None => given.give_back_unshared(),
            }
            while let Some((host, give)) = queue.pop_where(|host| given.take(host).is_ok()) {
                served.push((give, self.share(Some(host), 1)));
            }
        }
        for (give, share) in served {
            // If the request no longer waits, this drop returns the share, which takes the lock.
            drop(give.send(share));
        }
    }

    fn state(&self) -> MutexGuard<'_, ShareState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct Share {
    shares: Arc<Shares>,
    host: Option<HostId>,
    amount: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shares.release(self.host, self.amount);
    }
}

struct WaitingRequest {
    shares: Arc<Shares>,
    host: HostId,
    given: oneshot::Receiver<Share>,
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        self.given.close();
        let mut state = self.shares.state();
        state.waiting.release(self.host);
        state.queue.remove(self.host, oneshot::Sender::is_closed);
    }
}

/// A kind and its name in the metrics.
macro_rules! kinds {
    ($($kind:ident: $name:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum RefusalKind {
            $($kind,)*
        }

        impl RefusalKind {
            pub(crate) const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

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

impl RefusalKind {
    /// The message of a refusal that does not depend on other hosts.
    pub(crate) fn message(self) -> Message {
        match self {
            Self::Requests => message!("too_many_requests", "too many requests; wait a moment"),
            Self::Name => {
                message!("unknown_host", "this hub has no such host name; its operator can add it with --public-url")
            }
            Self::Origin => message!("other_site", "pages of other sites may not do this"),
            Self::Banned => message!("banned", "the operator of this hub has banned your address"),
            Self::Tries => message!("too_many_tries", "too many wrong codes from your address; wait a moment"),
            Self::Reports => message!("too_many_reports", "your address has sent enough reports for now"),
            Self::Claims => {
                message!("too_many_claims", "your address has taken enough names today; try again tomorrow")
            }
            _ => message!("busy", "the hub is busy; try again in a moment"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    pub(crate) full: Full,
}

impl Refusal {
    /// Whether the host has reached its share. Otherwise the hub is busy.
    pub(crate) fn is_of_host(self) -> bool {
        matches!(self.full, Full::Share(_))
    }

    pub(crate) fn message(self) -> Message {
        let (count, is_of_host) = match self.full {
            Full::Share(count) => (count, true),
            Full::All(count) => (count, false),
        };
        match self.kind {
            RefusalKind::Rooms if is_of_host => message!(
                "too_many_rooms",
                "your address has opened {count} rooms already; join one of them, or close one",
                count = count
            ),
            RefusalKind::Maps if is_of_host => message!(
                "too_many_maps",
                "your address has too many rooms with maps of their own; close one and try again"
            ),
            RefusalKind::Rooms | RefusalKind::Maps => {
                message!("hub_has_no_room", "the hub has no space for another room; join one of those that are open")
            }
            RefusalKind::Bots if is_of_host => {
                message!("too_many_bots", "your address has too many bots; remove some and try again")
            }
            RefusalKind::Bots => message!("hub_has_no_bot", "all bots of the hub are playing; try again later"),
            RefusalKind::Connections | RefusalKind::Handshakes | RefusalKind::Files | RefusalKind::Sockets
                if is_of_host =>
            {
                message!(
                    "too_many_connections",
                    "your address has too many open connections; close some pages and try again"
                )
            }
            RefusalKind::Bodies | RefusalKind::Answers | RefusalKind::Queries if is_of_host => {
                message!(
                    "too_many_requests",
                    "too many requests from your address are in progress; try again in a moment"
                )
            }
            RefusalKind::Replays if is_of_host => {
                message!("too_many_replays", "your address watches too many replays; try again in a moment")
            }
            RefusalKind::Learners | RefusalKind::Slices if is_of_host => {
                message!("too_many_learners", "your address has too many training sessions; close one and try again")
            }
            kind => kind.message(),
        }
    }

    /// When the caller may retry.
    pub(crate) const fn after(self) -> Duration {
        Duration::from_secs(match self.kind {
            RefusalKind::Queries | RefusalKind::Slices | RefusalKind::Requests => 2,
            RefusalKind::Answers | RefusalKind::Bodies | RefusalKind::Replays => 5,
            RefusalKind::Rooms | RefusalKind::Maps => 60,
            _ => 30,
        })
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Refusals([AtomicU64; RefusalKind::ALL.len()]);

impl Refusals {
    pub(crate) fn count(&self, kind: RefusalKind) {
        self.0[kind as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        RefusalKind::ALL.iter().map(|&kind| (kind.name(), self.0[kind as usize].load(Ordering::Relaxed)))
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

    fn queue<'a>(
        shares: &'a Arc<Shares>,
        host: HostId,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Share, Refusal>> + 'a>> {
        let mut waiting = Box::pin(shares.wait(host));
        assert!(waiting.as_mut().now_or_never().is_none(), "it waits");
        waiting
    }

    #[test]
    fn dropped_share_is_given_back() {
        let shares = Shares::with_cap(RefusalKind::Sockets, 10, 2);
        let share = shares.take(host(1), 2).unwrap();
        let refused = shares.take(host(1), 1).unwrap_err();
        assert_eq!(refused, Refusal { kind: RefusalKind::Sockets, full: Full::Share(2) });
        let proxied: Vec<Share> = iter::from_fn(|| shares.take_unshared().ok()).collect();
        assert_eq!((proxied.len(), shares.in_use()), (8, 10));
        drop((share, proxied));
        assert_eq!(shares.in_use(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_requests_are_served_host_by_host() {
        let shares = Shares::new(RefusalKind::Replays, 2);
        let held = shares.wait(host(1)).await.unwrap();
        let mut greedy: Vec<_> = (0..50).map(|_| queue(&shares, host(1))).collect();
        let other = shares.wait(host(2)).now_or_never().expect("another host may have the rest").unwrap();
        let mut second = queue(&shares, host(2));
        let mut third = queue(&shares, host(3));
        drop(other);
        let of_second = second.as_mut().now_or_never().expect("the first host has its share").unwrap();
        assert!(third.as_mut().now_or_never().is_none());
        drop(held);
        let of_first = greedy[0].as_mut().now_or_never().expect("the first host kept its turn").unwrap();
        drop(of_first);
        let of_third = third.as_mut().now_or_never().expect("it is the turn of the third host").unwrap();
        drop(of_second);
        for request in &mut greedy[1..3] {
            // Each share is returned at the end of this statement.
            assert!(request.as_mut().now_or_never().is_some(), "no other host waits");
        }
        // The next request is served too, but dropped before it notices.
        drop((of_third, greedy, second, third));
        assert_eq!(shares.in_use(), 0);
        let state = shares.state();
        assert!(state.queue.is_empty() && state.waiting.in_use() == 0);
    }

    #[tokio::test(start_paused = true)]
    async fn number_and_time_of_waiting_requests_are_limited() {
        let shares = Shares::new(RefusalKind::Queries, 1);
        let held = shares.wait(host(9)).await.unwrap();
        let greedy: Vec<_> = (0..MAX_WAITING / 2).map(|_| queue(&shares, host(1))).collect();
        let refused = shares.wait(host(1)).now_or_never().expect("half of the requests are of this host").unwrap_err();
        assert_eq!(refused, Refusal { kind: RefusalKind::Queries, full: Full::Share(MAX_WAITING / 2) });
        let patient = queue(&shares, host(2));
        assert_eq!(patient.await.unwrap_err().full, Full::All(1), "after a while");
        drop(greedy);
        assert!(shares.state().queue.is_empty());
        let dropped = queue(&shares, host(3));
        drop((held, dropped));
        assert_eq!(shares.in_use(), 0);
    }
}
