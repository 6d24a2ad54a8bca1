//! A queue that serves hosts in turn.

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};
use serde::{Deserialize, Serialize};

use crate::HostId;

#[derive(Debug, Clone)]
struct HostRequests<T> {
    // Its position among the hosts of its round.
    order: u64,
    items: VecDeque<(u64, T)>,
}

/// A queue that serves hosts in rounds, and the requests of one host in the order of arrival. A host with a hundred
/// requests delays another host by one.
///
/// Each round serves one request of every waiting host, including hosts that begin to wait during the round, unless it
/// has served them already. The queue remembers up to `ROUND` served hosts, then the next round begins. If `ROUND` is
/// 0, new hosts are served after all waiting ones.
///
/// ```
/// use netcore::{HostId, HostQueue};
///
/// let mut queue = HostQueue::<_, 100>::default();
/// let (greedy, other) = (HostId::of("10.0.0.1:1"), HostId::of("10.0.0.2:1"));
/// (1..=3).for_each(|request| queue.push(greedy, request));
/// queue.push(other, 4);
/// let served: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, request)| request).collect();
/// assert_eq!(served, [1, 4, 2, 3]);
/// ```
#[derive(Debug, Clone)]
pub struct HostQueue<T, const ROUND: usize> {
    lines: BTreeMap<HostId, HostRequests<T>>,
    // Sorted by whether the round has served the host, then by its position.
    turns: BTreeSet<(bool, u64, HostId)>,
    // The hosts that the round has served, with or without further requests.
    served: BTreeSet<HostId>,
    // The last number of a request or a host.
    last: u64,
    len: usize,
}

/// A [`HostQueue`] as plain data.
#[derive(Debug, Serialize, Deserialize)]
pub struct HostQueueState<T> {
    lines: Vec<HostRequestsState<T>>,
    served: Vec<HostId>,
    last: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct HostRequestsState<T> {
    host: HostId,
    order: u64,
    items: Vec<(u64, T)>,
}

impl<T, const ROUND: usize> Default for HostQueue<T, ROUND> {
    fn default() -> Self {
        Self { lines: BTreeMap::new(), turns: BTreeSet::new(), served: BTreeSet::new(), last: 0, len: 0 }
    }
}

impl<T, const ROUND: usize> HostQueue<T, ROUND> {
    /// The number of waiting requests.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no waiting requests.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether this host has waiting requests.
    pub fn has_host(&self, host: HostId) -> bool {
        self.lines.contains_key(&host)
    }

    /// Adds a request of a host.
    pub fn push(&mut self, host: HostId, item: T) {
        let number = self.number();
        self.len += 1;
        match self.lines.get_mut(&host) {
            Some(line) => line.items.push_back((number, item)),
            None => self.append_line(host, VecDeque::from([(number, item)])),
        }
    }

    /// Removes the next request and returns it with its host.
    pub fn pop(&mut self) -> Option<(HostId, T)> {
        self.pop_where(|_| true)
    }

    /// Removes and returns the first request of the first host accepted by `may`. Earlier hosts keep their turns.
    pub fn pop_where(&mut self, mut may: impl FnMut(HostId) -> bool) -> Option<(HostId, T)> {
        let &(all_served, ..) = self.turns.first()?;
        let host = self.turns.iter().map(|&(.., host)| host).find(|&host| may(host))?;
        if all_served || self.served.len() >= ROUND {
            self.start_round();
        }
        let mut items = self.remove_line(host)?.items;
        let (_, item) = items.pop_front()?;
        self.len -= 1;
        if self.served.len() < ROUND {
            self.served.insert(host);
        }
        if !items.is_empty() {
            self.append_line(host, items);
        }
        Some((host, item))
    }

    /// Removes the first request of a host that `is` accepts.
    pub fn remove(&mut self, host: HostId, mut is: impl FnMut(&T) -> bool) -> Option<T> {
        let line = self.lines.get_mut(&host)?;
        let index = line.items.iter().position(|(_, item)| is(item))?;
        let (_, item) = line.items.remove(index)?;
        self.len -= 1;
        if line.items.is_empty() {
            self.remove_line(host);
        }
        Some(item)
    }

    /// The number of requests that [`pop`](Self::pop) would return before the first one of `host` that `is` accepts.
    pub fn before(&self, host: HostId, mut is: impl FnMut(&T) -> bool) -> Option<usize> {
        let line = self.lines.get(&host)?;
        let index = line.items.iter().position(|(_, item)| is(item))?;
        let key = |host: &HostId, line: &HostRequests<T>| (self.served.contains(host), line.order);
        let (served, order) = key(&host, line);
        // Counted from the current round; a host has one request in each.
        let round = index + usize::from(served);
        let before = |(other, line): (&HostId, &HostRequests<T>)| {
            // Hosts served in this round keep their order in the next one; all others follow.
            let (other_served, other_order) = key(other, line);
            let is_sooner = (!other_served, other_order) < (!served, order);
            (round + usize::from(is_sooner)).saturating_sub(usize::from(other_served)).min(line.items.len())
        };
        let others = self.lines.iter().filter(|&(&other, _)| other != host);
        Some(index + others.map(before).sum::<usize>())
    }

    /// The queue as plain data.
    pub fn state(&self) -> HostQueueState<T>
    where
        T: Clone,
    {
        let line = |(&host, line): (&HostId, &HostRequests<T>)| {
            let items = line.items.iter().cloned().collect();
            HostRequestsState { host, order: line.order, items }
        };
        HostQueueState {
            lines: self.lines.iter().map(line).collect(),
            served: self.served.iter().copied().collect(),
            last: self.last,
        }
    }

    /// Restores a queue from its state.
    pub fn restore(state: HostQueueState<T>) -> Self {
        let HostQueueState { lines, served, last } = state;
        let mut queue = Self { served: served.into_iter().collect(), last, ..Self::default() };
        for HostRequestsState { host, order, items } in lines {
            queue.len += items.len();
            queue.insert_line(host, order, items.into());
        }
        queue
    }

    fn append_line(&mut self, host: HostId, items: VecDeque<(u64, T)>) {
        let order = self.number();
        self.insert_line(host, order, items);
    }

    fn insert_line(&mut self, host: HostId, order: u64, items: VecDeque<(u64, T)>) {
        self.turns.insert((self.served.contains(&host), order, host));
        self.lines.insert(host, HostRequests { order, items });
    }

    fn remove_line(&mut self, host: HostId) -> Option<HostRequests<T>> {
        let line = self.lines.remove(&host)?;
        self.turns.remove(&(self.served.contains(&host), line.order, host));
        Some(line)
    }

    fn start_round(&mut self) {
        if !self.served.is_empty() {
            self.served.clear();
            self.turns = self.lines.iter().map(|(&host, line)| (false, line.order, host)).collect();
        }
    }

    const fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn host(number: u8) -> HostId {
        HostId::V4([10, 0, 0, number])
    }

    fn order<const ROUND: usize>(mut queue: HostQueue<u64, ROUND>) -> Vec<u64> {
        core::iter::from_fn(|| queue.pop().map(|(_, item)| item)).collect()
    }

    #[test]
    fn host_that_begins_to_wait_is_served_in_the_present_round() {
        fn served<const ROUND: usize>() -> Vec<u64> {
            let mut queue = HostQueue::<u64, ROUND>::default();
            for (from, item) in [(1, 10), (1, 11), (1, 12), (2, 20), (2, 21)] {
                queue.push(host(from), item);
            }
            let first = queue.pop().unwrap().1;
            queue.push(host(3), 30);
            [[first].into(), order(queue)].concat()
        }
        assert_eq!(served::<9>(), [10, 20, 30, 11, 21, 12]);
        assert_eq!(served::<0>(), [10, 20, 11, 30, 21, 12], "without memory it is served last");
    }

    #[test]
    fn new_host_is_served_first_when_full_memory_starts_a_round() {
        let mut queue = HostQueue::<u64, 1>::default();
        (10..13).for_each(|item| queue.push(host(1), item));
        assert_eq!(queue.pop(), Some((host(1), 10)));
        queue.push(host(2), 20);
        assert_eq!(order(queue), [20, 11, 12]);
    }

    #[test]
    fn host_that_may_not_be_served_keeps_its_turn() {
        let mut queue = HostQueue::<u64, 0>::default();
        for (from, item) in [(1, 10), (1, 11), (2, 20), (3, 30)] {
            queue.push(host(from), item);
        }
        assert_eq!(queue.pop_where(|from| from != host(1)), Some((host(2), 20)));
        assert_eq!(queue.pop_where(|_| false), None);
        assert_eq!((order(queue.clone()), queue.len()), ([10, 30, 11].into(), 3));
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
        fn position_is_the_number_of_requests_served_before(steps in prop::collection::vec(any_step(), 0..60)) {
            let mut queue = HostQueue::<u64, 100>::default();
            let mut waiting: Vec<(HostId, u64)> = Vec::new();
            for (number, step) in (0..).zip(steps) {
                match step {
                    Step::Push(from) => {
                        queue.push(host(from), number);
                        waiting.push((host(from), number));
                    }
                    Step::Pop => {
                        let popped = queue.pop();
                        waiting.retain(|&item| Some(item) != popped);
                    }
                    Step::Remove(at) if at < waiting.len() => {
                        let (host, removed) = waiting.remove(at);
                        prop_assert_eq!(queue.remove(host, |item| *item == removed), Some(removed));
                    }
                    Step::Remove(_) => continue,
                }
                prop_assert_eq!(queue.len(), waiting.len());
                let order = order(queue.clone());
                let restored = HostQueue::<u64, 100>::restore(queue.state());
                for &(host, item) in &waiting {
                    let before = queue.before(host, |other| *other == item);
                    prop_assert_eq!(before, order.iter().position(|&next| next == item));
                    prop_assert_eq!(before, restored.before(host, |other| *other == item));
                }
            }
            while queue.pop().is_some() {}
            queue.start_round();
            prop_assert_eq!((queue.lines.len(), queue.turns.len()), (0, 0));
        }
    }
}
