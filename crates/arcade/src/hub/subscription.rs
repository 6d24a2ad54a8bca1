//! Rooms of other nodes that are watched here. This node follows the publication of each room and forwards it to all
//! watchers. If a message does not fit into the queue of a watcher, messages are dropped until the queue is empty; then
//! a snapshot follows, as in a room of this node.

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    sync::{Notify, mpsc, oneshot, watch},
    time::Instant,
};
use tracing::debug;

use crate::{
    games::Game,
    room::{
        feed::{Backlog, Event, EventKind, Item, MAX_BACKLOG},
        mailbox::{CloseReason, MAX_OUTGOING},
    },
};

/// How long watchers get their own sockets after following a room has failed.
const BARRED: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(crate) struct Following {
    state: Mutex<Channels>,
}

#[derive(Debug, Default)]
struct Channels {
    channels: BTreeMap<String, Arc<Channel>>,
    // Rooms that are not followed until this time.
    barred: BTreeMap<String, Instant>,
}

impl Following {
    fn state(&self) -> MutexGuard<'_, Channels> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if following the room has failed recently. If no task follows the room yet, also returns the requests of
    /// the channel for a new task.
    pub(crate) fn channel(
        &self,
        id: &str,
        game: Game,
    ) -> Option<(Arc<Channel>, Option<mpsc::UnboundedReceiver<ChannelRequest>>)> {
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
        let (channel, requests) = Channel::new(game);
        state.channels.insert(id.to_owned(), Arc::clone(&channel));
        Some((channel, Some(requests)))
    }

    /// After a failure, watchers get their own sockets for [`BARRED`].
    pub(crate) fn unfollow(&self, id: &str, channel: &Arc<Channel>, failed: bool) {
        channel.end(None);
        let mut state = self.state();
        if state.channels.get(id).is_some_and(|known| Arc::ptr_eq(known, channel)) {
            state.channels.remove(id);
        }
        if failed {
            // Expired entries are removed here too.
            let now = Instant::now();
            state.barred.retain(|_, until| *until > now);
            state.barred.insert(id.to_owned(), now + BARRED);
        }
    }
}

/// The memory of a queued message besides its bytes.
const OVERHEAD: usize = 64;
/// The maximum number of messages in a backlog.
const MAX_SNAPSHOT: usize = MAX_BACKLOG / OVERHEAD + 2;

#[derive(Debug)]
pub(crate) enum ChannelRequest {
    /// The answer states whether a client at this address may watch.
    Subscribe { number: u64, address: SocketAddr, answer: oneshot::Sender<Result<(), CloseReason>> },
    /// A watcher has disconnected.
    Unsubscribe(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NextMessage {
    Item(Item),
    /// Without a reason, the page reconnects.
    End(Option<CloseReason>),
}

#[derive(Debug)]
pub(crate) struct Channel {
    game: Game,
    state: Mutex<ChannelState>,
    requests: mpsc::UnboundedSender<ChannelRequest>,
    // `None` until the first snapshot or failure.
    ready: watch::Sender<Option<bool>>,
}

#[derive(Debug)]
struct ChannelState {
    backlog: Backlog,
    // The current run and the number of its messages; `None` before the first snapshot.
    at: Option<(u64, u64)>,
    // Received parts of an incomplete snapshot.
    coming: Option<(u64, u64, Vec<Item>)>,
    queues: BTreeMap<u64, Arc<Queue>>,
    next: u64,
    over: bool,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<Waiting>,
    notify: Notify,
}

/// The end of the messages, and the room's reason if it gave one.
#[derive(Debug, Clone, Copy)]
struct End(Option<CloseReason>);

#[derive(Debug, Default)]
struct Waiting {
    // The shared snapshot, and the number of taken items.
    all: Option<(Arc<[Item]>, usize)>,
    items: VecDeque<Item>,
    bytes: usize,
    // Whether a snapshot follows once the queue is empty.
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

    // Drops the queue before another run.
    fn restart(&self) {
        let mut state = self.state();
        (state.all, state.bytes, state.behind) = (None, 0, true);
        state.items.clear();
        drop(state);
        self.notify.notify_one();
    }

    fn end(&self, why: Option<CloseReason>) {
        self.state().end.get_or_insert(End(why));
        self.notify.notify_one();
    }
}

impl Channel {
    pub(super) fn new(game: Game) -> (Arc<Self>, mpsc::UnboundedReceiver<ChannelRequest>) {
        // Bounded by the number of sockets.
        let (requests, receiver) = mpsc::unbounded_channel();
        let state = ChannelState {
            backlog: Backlog::new(game),
            at: None,
            coming: None,
            queues: BTreeMap::new(),
            next: 0,
            over: false,
        };
        (Arc::new(Self { game, state: Mutex::new(state), requests, ready: watch::Sender::default() }), receiver)
    }

    fn state(&self) -> MutexGuard<'_, ChannelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) const fn game(&self) -> Game {
        self.game
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state().over
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state().queues.is_empty()
    }

    /// Waits until it is known whether the room can be followed.
    pub(crate) async fn is_ready(&self) -> bool {
        let mut ready = self.ready.subscribe();
        ready.wait_for(Option::is_some).await.is_ok_and(|ready| *ready == Some(true))
    }

    /// Adds a watcher, if the node of the room permits it. An error without a reason means that the room is no longer
    /// followed.
    pub(crate) async fn subscribe(self: &Arc<Self>, address: SocketAddr) -> Result<Subscription, Option<CloseReason>> {
        let (answer, answered) = oneshot::channel();
        let number = {
            let mut state = self.state();
            state.next += 1;
            state.next
        };
        self.requests.send(ChannelRequest::Subscribe { number, address, answer }).map_err(|_| None)?;
        // From now on, dropping the subscription notifies the node, even if no task waits for the answer.
        let queue = Arc::<Queue>::default();
        queue.state().behind = true;
        let subscription = Subscription { channel: Arc::clone(self), number, queue: Arc::clone(&queue) };
        answered.await.map_err(|_| None)?.map_err(Some)?;
        let mut state = self.state();
        if state.over {
            return Err(None);
        }
        state.queues.insert(number, queue);
        drop(state);
        Ok(subscription)
    }

    /// Returns `false` if the room cannot be followed any further.
    pub(crate) fn take(&self, is_anchor: bool, body: Bytes) -> bool {
        let Some(Event { kind, run, number, items }) = Event::read(body) else {
            debug!("ignored an event of another version");
            return false;
        };
        match kind {
            EventKind::Snapshot { complete } => {
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
            EventKind::Change => self.change(run, number, &items),
        }
    }

    fn begin(&self, run: u64, number: u64, all: &[Item]) {
        let mut state = self.state();
        // Watchers with all messages before the snapshot do not need it.
        if state.at != Some((run, number)) {
            state.backlog.clear();
            for item in all {
                state.backlog.take(item);
            }
            state.at = Some((run, number));
            state.queues.values().for_each(|queue| queue.restart());
        }
        drop(state);
        self.ready.send_if_modified(|ready| ready.replace(true) != Some(true));
    }

    fn change(&self, run: u64, number: u64, items: &[Item]) -> bool {
        let mut state = self.state();
        match state.at {
            Some((of, at)) if of == run && at == number => {}
            // Messages or the snapshot of this run were lost.
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
            state.queues.values().for_each(|queue| queue.push(item));
        }
        true
    }

    pub(crate) fn remove(&self, number: u64, why: CloseReason) {
        if let Some(queue) = self.state().queues.get(&number) {
            queue.end(Some(why));
        }
    }

    /// Ends all watchers, once their queues are empty.
    pub(crate) fn end(&self, why: Option<CloseReason>) {
        let mut state = self.state();
        state.over = true;
        state.queues.values().for_each(|queue| queue.end(why));
        drop(state);
        self.ready.send_if_modified(|ready| ready.is_none().then(|| *ready = Some(false)).is_some());
    }

    // Sends the snapshot to a watcher with an empty queue.
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

#[derive(Debug)]
pub(crate) struct Subscription {
    channel: Arc<Channel>,
    number: u64,
    queue: Arc<Queue>,
}

impl Subscription {
    /// Cancel safe.
    pub(crate) async fn next(&self) -> NextMessage {
        loop {
            let is_behind = {
                let mut state = self.queue.state();
                if let Some((all, taken)) = &mut state.all {
                    if let Some(item) = all.get(*taken).cloned() {
                        *taken += 1;
                        return NextMessage::Item(item);
                    }
                    state.all = None;
                }
                if let Some(item) = state.items.pop_front() {
                    state.bytes -= item.len() + OVERHEAD;
                    return NextMessage::Item(item);
                }
                if let Some(End(why)) = state.end {
                    return NextMessage::End(why);
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

impl Drop for Subscription {
    fn drop(&mut self) {
        self.channel.state().queues.remove(&self.number);
        // The task may have ended.
        let _ = self.channel.requests.send(ChannelRequest::Unsubscribe(self.number));
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    fn frame(text: &str) -> Item {
        Item::Frame(Bytes::copy_from_slice(text.as_bytes()))
    }

    fn bodies(kind: EventKind, run: u64, number: u64, items: Vec<Item>) -> Vec<Bytes> {
        Event { kind, run, number, items }.write()
    }

    fn publish(channel: &Channel, kind: EventKind, (run, number): (u64, u64), items: Vec<Item>) -> bool {
        let bodies = bodies(kind, run, number, items).into_iter().enumerate();
        bodies.fold(true, |goes_on, (at, body)| goes_on && channel.take(kind != EventKind::Change && at == 0, body))
    }

    const SNAPSHOT: EventKind = EventKind::Snapshot { complete: true };

    fn open(game: Game) -> Arc<Channel> {
        let (channel, mut requests) = Channel::new(game);
        tokio::spawn(async move {
            while let Some(request) = requests.recv().await {
                if let ChannelRequest::Subscribe { answer, .. } = request {
                    let _ = answer.send(Ok(()));
                }
            }
        });
        channel
    }

    async fn subscribe(channel: &Arc<Channel>) -> Subscription {
        channel.subscribe("127.0.0.1:9".parse().unwrap()).await.unwrap()
    }

    async fn received(subscription: &Subscription) -> Vec<NextMessage> {
        let mut messages = vec![];
        while let Ok(next) = timeout(Duration::from_millis(1), subscription.next()).await {
            let is_end = matches!(next, NextMessage::End(_));
            messages.push(next);
            if is_end {
                break;
            }
        }
        messages
    }

    fn items(items: &[Item]) -> Vec<NextMessage> {
        items.iter().cloned().map(NextMessage::Item).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn new_watcher_receives_the_backlog_once_and_then_events() {
        let channel = open(Game::Robots);
        let early = subscribe(&channel).await;
        assert_eq!(received(&early).await, [], "nothing is known yet");
        assert!(publish(&channel, SNAPSHOT, (1, 0), vec![Item::News("1".into())]));
        assert!(channel.is_ready().await);
        assert!(publish(&channel, EventKind::Change, (1, 0), vec![frame("a"), frame("b")]));
        assert_eq!(received(&early).await, items(&[Item::News("1".into()), frame("a"), frame("b")]));
        let late = subscribe(&channel).await;
        assert!(publish(&channel, EventKind::Change, (1, 2), vec![frame("c"), Item::Text("w".into())]));
        assert_eq!(received(&early).await, items(&[frame("c"), Item::Text("w".into())]));
        // Snapshots contain no words, so earlier ones are not repeated.
        assert_eq!(received(&late).await, items(&[Item::News("1".into()), frame("a"), frame("b"), frame("c")]));
        // A snapshot of a known state is not forwarded.
        assert!(publish(&channel, SNAPSHOT, (1, 4), vec![Item::News("1".into()), frame("abc")]));
        assert!(publish(&channel, EventKind::Change, (1, 4), vec![frame("d")]));
        assert_eq!(received(&early).await, items(&[frame("d")]));
        assert_eq!(received(&late).await, items(&[frame("d")]));
        // Nor does it hide a missing message.
        assert!(publish(&channel, SNAPSHOT, (1, 9), vec![frame("x")]));
        assert_eq!(received(&late).await, items(&[frame("x")]));
        assert!(publish(&channel, SNAPSHOT, (2, 0), vec![frame("y")]));
        assert_eq!(received(&late).await, items(&[frame("y")]));
        assert!(!publish(
            &channel,
            EventKind::Change,
            (2, 0),
            vec![frame("z"), Item::End(CloseReason::Closed), frame("?")]
        ));
        let end = NextMessage::End(Some(CloseReason::Closed));
        assert_eq!(received(&late).await, [items(&[frame("z")]), vec![end]].concat());
        assert!(channel.is_over() && channel.subscribe("127.0.0.1:9".parse().unwrap()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn event_with_a_gap_is_rejected() {
        let channel = open(Game::Robots);
        assert!(!publish(&channel, EventKind::Change, (1, 0), vec![frame("a")]), "before a snapshot");
        assert!(publish(&channel, SNAPSHOT, (1, 5), vec![]));
        for (run, number) in [(1, 4), (1, 6), (2, 5)] {
            assert!(!publish(&channel, EventKind::Change, (run, number), vec![frame("a")]));
        }
        assert!(!channel.take(false, Bytes::from_static(b"junk")));
        let long = vec![frame(&"x".repeat(400 << 10)); 3];
        let pieces = bodies(SNAPSHOT, 3, 3, long);
        assert_eq!(pieces.len(), 3);
        assert!(channel.take(true, pieces[0].clone()) && channel.take(false, pieces[1].clone()));
        assert!(!channel.take(false, bodies(SNAPSHOT, 4, 4, vec![]).remove(0)), "a piece of another one");
    }

    #[tokio::test(start_paused = true)]
    async fn slow_watcher_receives_a_snapshot_and_delays_no_other() {
        let channel = open(Game::Nuggets);
        let (slow, quick) = (subscribe(&channel).await, subscribe(&channel).await);
        assert!(publish(&channel, SNAPSHOT, (1, 0), vec![frame("GRID 1 1")]));
        assert_eq!((received(&slow).await.len(), received(&quick).await.len()), (1, 1));
        let picture = |number: u64| frame(&format!("DISPLAY\n{number} {}", "x".repeat(60_000)));
        for number in 0..100 {
            assert!(publish(&channel, EventKind::Change, (1, number), vec![picture(number)]));
            assert_eq!(received(&quick).await, items(&[picture(number)]));
        }
        let messages = received(&slow).await;
        assert!((10..25).contains(&messages.len()), "{}", messages.len());
        assert_eq!(messages[..2], items(&[picture(0), picture(1)]));
        assert_eq!(messages[messages.len() - 2..], items(&[frame("GRID 1 1"), picture(99)]));
        assert!(publish(&channel, EventKind::Change, (1, 100), vec![picture(100)]));
        assert_eq!(received(&slow).await, items(&[picture(100)]));
    }

    #[tokio::test(start_paused = true)]
    async fn node_of_the_room_admits_watchers() {
        let (channel, mut requests) = Channel::new(Game::Nuggets);
        assert!(publish(&channel, SNAPSHOT, (1, 0), vec![frame("a")]));
        let address = "192.0.2.1:7".parse().unwrap();
        let coming = tokio::spawn({
            let channel = Arc::clone(&channel);
            async move { channel.subscribe(address).await }
        });
        let Some(ChannelRequest::Subscribe { number, address: from, answer }) = requests.recv().await else { panic!() };
        assert_eq!(from, address);
        answer.send(Err(CloseReason::Banned)).unwrap();
        assert_eq!(coming.await.unwrap().unwrap_err(), Some(CloseReason::Banned));
        assert!(matches!(requests.recv().await, Some(ChannelRequest::Unsubscribe(gone)) if gone == number));
        assert!(channel.is_empty());
        let coming = tokio::spawn({
            let channel = Arc::clone(&channel);
            async move { channel.subscribe(address).await }
        });
        let Some(ChannelRequest::Subscribe { number, answer, .. }) = requests.recv().await else { panic!() };
        answer.send(Ok(())).unwrap();
        let subscription = coming.await.unwrap().unwrap();
        assert_eq!(received(&subscription).await, items(&[frame("a")]));
        channel.remove(number, CloseReason::RemovedByOwner);
        assert_eq!(received(&subscription).await, [NextMessage::End(Some(CloseReason::RemovedByOwner))]);
        drop(subscription);
        assert!(matches!(requests.recv().await, Some(ChannelRequest::Unsubscribe(gone)) if gone == number));
        assert!(channel.is_empty() && !channel.is_over());
    }
}
