//! Delays messages to spectators of a rated match.
//!
//! - While a match is played, frames for spectators wait in a [`DelayQueue`]. When it is over, all are sent, because
//!   they no longer help any player.
//! - If the pictures of the game are complete by themselves, a new spectator first receives the one from a delay ago.
//!   Before a picture of the match is old enough, it receives [`PageState::prelude`]. In other games, the beginning of
//!   the match is delayed too.
//! - If the players of a game see less than its spectators, the delay starts when its map exists: during the countdown,
//!   players already have seats and see gold. Scores on pages have the same delay.
//! - Objects that no player has found appear in replays only.
//!
//! Spectators are watchers, and peers that have joined without a name, as in nuggets. A peer that has not joined yet
//! receives the same messages as players. Unrated rooms have no delay.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use bytes::Bytes;
use netcore::{GameEvent, History, Outbox, Output, PeerId, Phase, Time, To};
use tokio::sync::watch;

use super::{info::Info, roster::Roster};
use crate::games::PageState;

/// The maximum bytes of delayed frames of a room, with [`OVERHEAD`] per frame and [`ADDRESS`] per recipient. Histories
/// do not count, because they are shared.
pub(crate) const MAX_HELD: usize = 1 << 20;
const OVERHEAD: usize = 128;
const ADDRESS: usize = 32;
/// The minimum interval of pictures if a later one supersedes an earlier one. Delays above [`PICTURES`] intervals
/// extend it.
const SPACING: Duration = Duration::from_millis(100);
const PICTURES: u32 = 300;
/// Recent frames that are searched for a superseded picture.
const LOOK_BACK: usize = 32;

#[derive(Debug, Default)]
struct Spectator {
    // Has received only delayed pictures, so it receives each newer one.
    is_new: bool,
    // An output did not fit into the queue, so a snapshot follows the queued ones.
    behind: bool,
}

#[derive(Debug)]
pub(super) struct Spectators {
    // Whether players see less than spectators.
    hides: bool,
    // Whether frames are delayed now.
    waits: bool,
    queue: DelayQueue,
    peers: BTreeMap<PeerId, Spectator>,
    // Waiting pictures; `picture` is the newest that may be shown.
    overviews: DelayedSamples<Vec<Bytes>>,
    picture: Option<Vec<Bytes>>,
    scores: DelayedSamples<BTreeMap<String, i64>>,
    // The last veiled frame, before and after.
    veiled: Option<(Bytes, Bytes)>,
    /// Outputs that are not forwarded yet.
    pub(super) staged: Outbox,
}

impl Spectators {
    /// After a restart, new spectators first receive the prelude, because earlier states of a running match are
    /// unknown.
    pub(super) fn new<E: PageState>(
        (hides, delay): (bool, Duration),
        spectators: impl Iterator<Item = PeerId>,
        (phase, engine): (Phase, &E),
    ) -> Self {
        let mut new = Self {
            hides,
            waits: false,
            queue: DelayQueue::new(delay),
            peers: spectators.map(|peer| (peer, Spectator::default())).collect(),
            overviews: DelayedSamples::new(delay),
            picture: None,
            scores: DelayedSamples::new(delay),
            veiled: None,
            staged: Outbox::new(),
        };
        new.waits = new.is_to_wait(phase);
        new.picture = engine.prelude().filter(|_| new.waits);
        new
    }

    fn is_to_wait(&self, phase: Phase) -> bool {
        let has_secrets = phase == Phase::Playing || (self.hides && phase == Phase::Lobby);
        !self.queue.delay.is_zero() && has_secrets
    }

    /// Before the match begins, all scores are zero.
    pub(super) fn delay_scores(&self, phase: Phase) -> bool {
        self.waits && self.hides && phase == Phase::Playing
    }

    pub(super) fn push_scores(&mut self, now: Time, scores: BTreeMap<String, i64>) {
        self.scores.push(now, scores);
    }

    pub(super) fn connect(&mut self, peer: PeerId, out: &mut Outbox) {
        self.peers.insert(peer, Spectator { is_new: self.waits, behind: false });
        self.show_picture(peer, out);
    }

    pub(super) fn refresh(&self, peer: PeerId, out: &mut Outbox) {
        if self.peers.contains_key(&peer) {
            self.show_picture(peer, out);
        }
    }

    pub(super) fn remove(&mut self, peer: PeerId) {
        if self.peers.remove(&peer).is_some() {
            self.queue.remove_peer(peer);
        }
    }

    /// The time of the next output, picture or score.
    pub(super) fn due(&self) -> Option<Time> {
        [self.queue.due(), self.overviews.due(), self.scores.due()].into_iter().flatten().min()
    }

    /// Forwards the staged outputs: to players now, to spectators when they may see them. Returns whether the delay has
    /// started or ended.
    pub(super) fn forward<E: PageState>(
        &mut self,
        now: Time,
        (phase, engine): (Phase, Option<&E>),
        (roster, info): (&Roster, &watch::Sender<Info>),
        out: &mut Outbox,
    ) -> bool {
        let mut staged = std::mem::take(&mut self.staged);
        out.charge_recorded(staged.take_recorded());
        let (mut joined, mut ends) = (vec![], false);
        for output in staged.outputs() {
            match output {
                Output::Event(GameEvent::Joined { peer, name, .. }) if name.is_empty() => {
                    self.peers.entry(*peer).or_insert_with(|| {
                        joined.push(*peer);
                        Spectator { is_new: true, behind: false }
                    });
                }
                Output::Event(GameEvent::Joined { peer, .. }) => drop(self.peers.remove(peer)),
                // In other games, each player may have its own match.
                Output::Event(GameEvent::Ended { .. }) => ends = self.hides,
                _ => {}
            }
        }
        let waits = self.is_to_wait(phase);
        // Outputs that end the match do not help its players.
        let mut changed = self.set_waits(now, waits && !ends, engine, info, out);
        for peer in joined {
            self.show_picture(peer, out);
        }
        for output in staged.drain() {
            self.pass(now, output, engine, roster, out);
        }
        changed |= self.set_waits(now, waits, engine, info, out);
        self.staged = staged;
        // The next frame may have the same address in memory.
        self.veiled = None;
        if let Some(engine) = engine
            && self.waits
            && self.overviews.wants(now)
        {
            if let Some(frames) = engine.overview() {
                let overview = frames.into_iter().map(|frame| self.veil(frame, Some(engine))).collect();
                self.overviews.push(now, overview);
            }
            self.veiled = None;
        }
        changed
    }

    fn set_waits<E: PageState>(
        &mut self,
        now: Time,
        waits: bool,
        engine: Option<&E>,
        info: &watch::Sender<Info>,
        out: &mut Outbox,
    ) -> bool {
        if waits == self.waits {
            return false;
        }
        self.waits = waits;
        self.overviews.clear();
        self.scores.clear();
        self.picture = engine.and_then(PageState::prelude).filter(|_| waits);
        if !waits {
            self.release_queue(now, true, info, out);
        }
        true
    }

    fn pass<E: PageState>(&mut self, now: Time, output: Output, engine: Option<&E>, roster: &Roster, out: &mut Outbox) {
        match output {
            Output::Send { to: To::Peer(peer), frame } => self.send(now, peer, frame, engine, out),
            Output::Send { to: To::Everyone, frame } if self.peers.is_empty() => out.send_everyone(frame),
            Output::Send { to: To::Everyone, frame } => {
                for (peer, _) in roster.peers() {
                    self.send(now, peer, frame.clone(), engine, out);
                }
            }
            Output::Replay { to, history } if self.waits && self.peers.contains_key(&to) => {
                self.hold::<E>(now, to, DelayedOutput::History(history));
            }
            Output::Replay { to, history } => out.replay(to, history),
            Output::Close { peer } => {
                self.remove(peer);
                out.close(peer);
            }
            Output::Event(event) => out.event(event),
        }
    }

    fn send<E: PageState>(&mut self, now: Time, peer: PeerId, frame: Bytes, engine: Option<&E>, out: &mut Outbox) {
        if !self.peers.contains_key(&peer) {
            return out.send(peer, frame);
        }
        let frame = self.veil(frame, engine);
        if self.waits {
            self.hold::<E>(now, peer, DelayedOutput::Frame(frame));
        } else {
            out.send(peer, frame);
        }
    }

    // Hides parts that no player has found yet.
    fn veil<E: PageState>(&mut self, frame: Bytes, engine: Option<&E>) -> Bytes {
        let is_same = |before: &Bytes| before.as_ptr() == frame.as_ptr() && before.len() == frame.len();
        if let Some((_, after)) = self.veiled.as_ref().filter(|(before, _)| is_same(before)) {
            return after.clone();
        }
        let Some(after) = engine.and_then(|engine| engine.veiled(&frame)) else { return frame };
        // The stored original prevents other frames from having its address in memory.
        self.veiled = Some((frame, after.clone()));
        after
    }

    fn hold<E: PageState>(&mut self, now: Time, peer: PeerId, what: DelayedOutput) {
        let Some(spectator) = self.peers.get_mut(&peer) else { return };
        spectator.behind = spectator.behind || !self.queue.push(now, peer, what, E::supersedes);
    }

    /// Returns the spectators that need a snapshot now.
    pub(super) fn release(&mut self, now: Time, info: &watch::Sender<Info>, out: &mut Outbox) -> Vec<PeerId> {
        self.release_queue(now, false, info, out);
        let behind = self.peers.iter().filter(|(_, spectator)| spectator.behind).map(|(&peer, _)| peer);
        let mut caught_up: Vec<PeerId> = behind.collect();
        caught_up.retain(|&peer| !self.queue.has(peer));
        for peer in &caught_up {
            self.peers.entry(*peer).or_default().behind = false;
        }
        caught_up
    }

    fn release_queue(&mut self, now: Time, everything: bool, info: &watch::Sender<Info>, out: &mut Outbox) {
        if let Some(scores) = self.scores.pop(now) {
            info.send_if_modified(|info| {
                let changed = info.show.scores != scores;
                info.show.scores = scores;
                changed
            });
        }
        if let Some(picture) = self.overviews.pop(now) {
            for (&peer, _) in self.peers.iter().filter(|(_, spectator)| spectator.is_new) {
                for frame in &picture {
                    out.send(peer, frame.clone());
                }
            }
            self.picture = Some(picture);
        }
        while let Some((to, what)) = self.queue.pop(now, everything) {
            for peer in to {
                if let Some(spectator) = self.peers.get_mut(&peer) {
                    spectator.is_new = false;
                }
                match &what {
                    DelayedOutput::Frame(frame) => out.send(peer, frame.clone()),
                    DelayedOutput::History(history) => out.replay(peer, history.clone()),
                }
            }
        }
    }

    fn show_picture(&self, peer: PeerId, out: &mut Outbox) {
        if self.waits {
            for frame in self.picture.iter().flatten() {
                out.send(peer, frame.clone());
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum DelayedOutput {
    Frame(Bytes),
    History(History),
}

#[derive(Debug)]
struct Entry {
    made: Time,
    // When the first of the superseded pictures was made.
    first: Time,
    to: BTreeSet<PeerId>,
    what: DelayedOutput,
}

impl Entry {
    fn cost(&self) -> usize {
        let bytes = match &self.what {
            DelayedOutput::Frame(frame) => frame.len(),
            DelayedOutput::History(_) => 0,
        };
        OVERHEAD + bytes + ADDRESS * self.to.len()
    }
}

/// Delays all entries by the same time.
#[derive(Debug)]
struct DelayQueue {
    delay: Duration,
    spacing: Duration,
    entries: VecDeque<Entry>,
    bytes: usize,
}

impl DelayQueue {
    fn new(delay: Duration) -> Self {
        Self { delay, spacing: SPACING.max(delay / PICTURES), entries: VecDeque::new(), bytes: 0 }
    }

    fn due(&self) -> Option<Time> {
        self.entries.front().map(|entry| entry.made.plus(self.delay))
    }

    // Drops a recent picture that the output `supersedes`. Returns `false` if the queue is full.
    fn push(
        &mut self,
        now: Time,
        peer: PeerId,
        what: DelayedOutput,
        supersedes: impl Fn(&Bytes, &Bytes) -> bool,
    ) -> bool {
        let mut first = now;
        if let DelayedOutput::Frame(frame) = &what {
            let recent = self.entries.iter_mut().rev().take(LOOK_BACK);
            let mut before = recent.filter(|entry| entry.to.contains(&peer) && now < entry.first.plus(self.spacing));
            let old = before.find(|entry| matches!(&entry.what, DelayedOutput::Frame(old) if supersedes(old, frame)));
            if let Some(old) = old {
                first = old.first;
                old.to.remove(&peer);
                self.bytes -= ADDRESS;
            }
        }
        if let Some(last) = self.entries.back_mut().filter(|last| last.made == now && is_same(&last.what, &what)) {
            last.first = last.first.min(first);
            self.bytes += if last.to.insert(peer) { ADDRESS } else { 0 };
            return true;
        }
        while let Some(last) = self.entries.pop_back_if(|last| last.to.is_empty()) {
            self.bytes -= last.cost();
        }
        let entry = Entry { made: now, first, to: BTreeSet::from([peer]), what };
        if self.bytes + entry.cost() > MAX_HELD {
            return false;
        }
        self.bytes += entry.cost();
        self.entries.push_back(entry);
        true
    }

    // The next output that is due, or any if `everything` is set, and its recipients.
    fn pop(&mut self, now: Time, everything: bool) -> Option<(BTreeSet<PeerId>, DelayedOutput)> {
        let delay = self.delay;
        let entry = self.entries.pop_front_if(|entry| everything || entry.made.plus(delay) <= now)?;
        self.bytes -= entry.cost();
        Some((entry.to, entry.what))
    }

    fn has(&self, peer: PeerId) -> bool {
        self.entries.iter().any(|entry| entry.to.contains(&peer))
    }

    fn remove_peer(&mut self, peer: PeerId) {
        for entry in &mut self.entries {
            if entry.to.remove(&peer) {
                self.bytes -= ADDRESS;
            }
        }
    }
}

fn is_same(one: &DelayedOutput, other: &DelayedOutput) -> bool {
    match (one, other) {
        (DelayedOutput::Frame(one), DelayedOutput::Frame(other)) => {
            one.as_ptr() == other.as_ptr() && one.len() == other.len()
        }
        _ => false,
    }
}

/// A sample for each thirtieth of the delay, at most one a second.
#[derive(Debug)]
struct DelayedSamples<T> {
    delay: Duration,
    interval: Duration,
    // When the interval began, when the sample was taken, and the value.
    values: VecDeque<(Time, Time, T)>,
}

impl<T> DelayedSamples<T> {
    fn new(delay: Duration) -> Self {
        Self { delay, interval: Duration::from_secs(1).max(delay / 30), values: VecDeque::new() }
    }

    // Whether a sample taken now would start another interval.
    fn wants(&self, now: Time) -> bool {
        self.values.back().is_none_or(|(first, ..)| first.plus(self.interval) <= now)
    }

    fn push(&mut self, now: Time, value: T) {
        if self.wants(now) {
            self.values.push_back((now, now, value));
        } else if let Some((_, made, last)) = self.values.back_mut() {
            (*made, *last) = (now, value);
        }
    }

    fn due(&self) -> Option<Time> {
        self.values.front().map(|(_, made, _)| made.plus(self.delay))
    }

    // The newest sample that is old enough, unless returned before.
    fn pop(&mut self, now: Time) -> Option<T> {
        let mut newest = None;
        let delay = self.delay;
        while let Some((.., value)) = self.values.pop_front_if(|(_, made, _)| made.plus(delay) <= now) {
            newest = Some(value);
        }
        newest
    }

    fn clear(&mut self) {
        self.values.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_secs(30);

    fn frame(text: &'static str) -> DelayedOutput {
        DelayedOutput::Frame(Bytes::from_static(text.as_bytes()))
    }

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn frames_wait_and_keep_their_order() {
        let mut queue = DelayQueue::new(DELAY);
        let (one, two) = (PeerId(1), PeerId(2));
        let never = |_: &Bytes, _: &Bytes| false;
        assert!(queue.push(at(0), one, frame("a"), never) && queue.push(at(0), two, frame("a"), never));
        assert!(queue.push(at(5), one, frame("b"), never));
        assert_eq!((queue.due(), queue.pop(at(29_999), false)), (Some(at(30_000)), None));
        assert_eq!(queue.pop(at(30_000), false), Some(([one, two].into(), frame("a"))));
        assert!(queue.has(one) && !queue.has(two));
        assert_eq!(queue.pop(at(30_004), false), None);
        assert_eq!(queue.pop(at(30_004), true), Some(([one].into(), frame("b"))));
        assert_eq!((queue.bytes, queue.due()), (0, None));
    }

    #[test]
    fn last_of_several_pictures_is_shown_after_the_delay() {
        let mut queue = DelayQueue::new(DELAY);
        let always = |_: &Bytes, _: &Bytes| true;
        for millis in (0..1_000).step_by(5) {
            let text = if millis % 10 == 0 { "even" } else { "odd" };
            assert!(queue.push(at(millis), PeerId(1), frame(text), always));
        }
        let mut shown = 0;
        for millis in 0..32_000 {
            while let Some((to, _)) = queue.pop(at(millis), false) {
                shown += to.len();
                assert!(millis >= 30_000);
            }
        }
        assert!((9..=11).contains(&shown), "{shown}");
        assert_eq!(queue.bytes, 0);
    }

    #[test]
    fn queue_is_bounded_and_counts_a_shared_frame_once() {
        let mut queue = DelayQueue::new(DELAY);
        let never = |_: &Bytes, _: &Bytes| false;
        let shared = Bytes::from(vec![0; 2_000]);
        for peer in 0..1_000 {
            assert!(queue.push(at(1), PeerId(peer), DelayedOutput::Frame(shared.clone()), never));
        }
        assert!(queue.bytes < 40_000, "{}", queue.bytes);
        let mut taken = 0;
        while queue.push(at(2), PeerId(1), DelayedOutput::Frame(vec![0; 2_000].into()), never) {
            taken += 1;
        }
        assert!(queue.bytes <= MAX_HELD && taken > 400, "{taken}");
        queue.remove_peer(PeerId(1));
        assert!(!queue.has(PeerId(1)));
        while queue.pop(at(0), true).is_some() {}
        assert_eq!(queue.bytes, 0);
    }

    #[test]
    fn one_sample_a_second_is_delayed() {
        let mut past = DelayedSamples::new(DELAY);
        for millis in (0..100_000).step_by(100) {
            if let Some(value) = past.pop(at(millis)) {
                assert!(value + 30_000 <= millis && value + 31_100 >= millis, "{value} at {millis}");
            }
            past.push(at(millis), millis);
            assert!(past.values.len() <= 32);
        }
    }
}
