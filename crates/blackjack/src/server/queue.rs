//! The queue for seats, fair among hosts.

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};
use netcore::{HostId, PeerId};
use serde::{Deserialize, Serialize};

use crate::config::MAX_CLIENTS;

// Those of one host who wait, in the order in which they came.
#[derive(Debug, Clone)]
struct Line {
    // Its place among the hosts of its turn.
    order: u64,
    // Whether it has had its turn, so that others come first.
    served: bool,
    peers: VecDeque<(u64, PeerId)>,
}

/// Clients that wait, taken host by host in turn, and of one host in the order in which they came.
///
/// In each turn every host that waits has one client taken; then the next turn begins. A host that comes in the middle of
/// one has its place in it, unless it had one already, so it never waits for those whom another host sent in numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    lines: BTreeMap<HostId, Line>,
    // The hosts that wait, by whether they have had their turn and by their place.
    hosts: BTreeSet<(bool, u64, HostId)>,
    // The hosts that have had this turn, waiting or not; all of them have places, so they are no more than those.
    served: BTreeSet<HostId>,
    // The source of numbers for peers and lines.
    next: u64,
    // How many wait.
    pub(super) waiting: usize,
}

/// A queue as plain data: the lines, who has had its turn, and the last number that was given.
#[derive(Serialize, Deserialize)]
pub(super) struct QueueState {
    lines: Vec<LineState>,
    served: Vec<HostId>,
    next: u64,
}

#[derive(Serialize, Deserialize)]
struct LineState {
    host: HostId,
    order: u64,
    peers: Vec<(u64, PeerId)>,
}

/// The most hosts that are remembered to have had their turn. When more have had it, the next one begins.
const MAX_SERVED: usize = MAX_CLIENTS;

impl Queue {
    pub(super) fn push(&mut self, host: HostId, peer: PeerId) {
        let number = self.number();
        self.waiting += 1;
        if let Some(line) = self.lines.get_mut(&host) {
            return line.peers.push_back((number, peer));
        }
        self.line_up(host, VecDeque::from([(number, peer)]));
    }

    pub(super) fn pop(&mut self) -> Option<PeerId> {
        let &(served, _, host) = self.hosts.first()?;
        if served || self.served.len() >= MAX_SERVED {
            self.begin_turn();
        }
        let mut line = self.take_line(host)?;
        let (_, peer) = line.peers.pop_front()?;
        self.waiting -= 1;
        self.served.insert(host);
        if !line.peers.is_empty() {
            self.line_up(host, line.peers);
        }
        Some(peer)
    }

    pub(super) fn remove(&mut self, host: HostId, peer: PeerId) {
        let Some(line) = self.lines.get_mut(&host) else { return };
        let Some(place) = line.peers.iter().position(|&(_, waiting)| waiting == peer) else { return };
        line.peers.remove(place);
        self.waiting -= 1;
        if line.peers.is_empty() {
            self.take_line(host);
        }
    }

    /// How many are taken before somebody, if nobody comes or goes; none if it does not wait.
    pub(super) fn before(&self, host: HostId, peer: PeerId) -> Option<usize> {
        let line = self.lines.get(&host)?;
        // In which turn from now each of a host's is taken: one a turn, from this one or the next.
        let place = line.peers.iter().position(|&(_, waiting)| waiting == peer)?;
        let turn = place + usize::from(line.served);
        let taken_before = |other: &Line| {
            // Those who have had this turn have their old places in the next; the others line up behind them.
            let sooner = (!other.served, other.order) < (!line.served, line.order);
            (turn + usize::from(sooner)).saturating_sub(usize::from(other.served)).min(other.peers.len())
        };
        let others = self.lines.iter().filter(|&(&other, _)| other != host);
        Some(place + others.map(|(_, other)| taken_before(other)).sum::<usize>())
    }

    pub(super) fn state(&self) -> QueueState {
        let line = |(&host, line): (&HostId, &Line)| {
            let peers = line.peers.iter().copied().collect();
            LineState { host, order: line.order, peers }
        };
        QueueState {
            lines: self.lines.iter().map(line).collect(),
            served: self.served.iter().copied().collect(),
            next: self.next,
        }
    }

    /// The queue that had this state.
    pub(super) fn restore(state: QueueState) -> Self {
        let QueueState { lines, served, next } = state;
        let mut queue = Self { next, served: served.into_iter().collect(), ..Self::default() };
        for LineState { host, order, peers } in lines {
            queue.waiting += peers.len();
            queue.put_line(host, order, VecDeque::from(peers));
        }
        queue
    }

    fn line_up(&mut self, host: HostId, peers: VecDeque<(u64, PeerId)>) {
        let order = self.number();
        self.put_line(host, order, peers);
    }

    fn put_line(&mut self, host: HostId, order: u64, peers: VecDeque<(u64, PeerId)>) {
        let served = self.served.contains(&host);
        self.hosts.insert((served, order, host));
        self.lines.insert(host, Line { order, served, peers });
    }

    fn take_line(&mut self, host: HostId) -> Option<Line> {
        let line = self.lines.remove(&host)?;
        self.hosts.remove(&(line.served, line.order, host));
        Some(line)
    }

    fn begin_turn(&mut self) {
        self.served.clear();
        for line in self.lines.values_mut() {
            line.served = false;
        }
        self.hosts = self.lines.iter().map(|(&host, line)| (false, line.order, host)).collect();
    }

    const fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn host(number: u8) -> HostId {
        HostId::V4([10, 0, 0, number])
    }

    fn order(mut queue: Queue) -> Vec<u64> {
        core::iter::from_fn(|| queue.pop().map(|peer| peer.0)).collect()
    }

    #[derive(Debug, Clone)]
    enum Step {
        Push(u8),
        Pop,
        Remove(usize),
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![3 => (0..5_u8).prop_map(Step::Push), 2 => Just(Step::Pop), 1 => (0..50_usize).prop_map(Step::Remove)]
    }

    proptest! {
        #[test]
        fn how_many_come_before_is_how_many_come_before(steps in prop::collection::vec(any_step(), 0..60)) {
            let mut queue = Queue::default();
            let mut waiting: Vec<(HostId, PeerId)> = Vec::new();
            for (number, step) in (0..).zip(steps) {
                match step {
                    Step::Push(from) => {
                        queue.push(host(from), PeerId(number));
                        waiting.push((host(from), PeerId(number)));
                    }
                    Step::Pop => {
                        let popped = queue.pop();
                        waiting.retain(|&(_, peer)| Some(peer) != popped);
                    }
                    Step::Remove(at) if at < waiting.len() => {
                        let (host, peer) = waiting.remove(at);
                        queue.remove(host, peer);
                    }
                    Step::Remove(_) => continue,
                }
                prop_assert_eq!(queue.waiting, waiting.len());
                let order = order(queue.clone());
                for &(host, peer) in &waiting {
                    prop_assert_eq!(queue.before(host, peer), order.iter().position(|&next| next == peer.0));
                }
            }
            while queue.pop().is_some() {}
            queue.begin_turn();
            prop_assert_eq!((queue.lines.len(), queue.hosts.len()), (0, 0));
        }
    }
}
