//! A line in which frames wait until those who look on may be shown them.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use bytes::Bytes;
use netcore::{History, PeerId, Time};

/// Bytes that wait in a room; each frame counts [`OVERHEAD`] and [`ADDRESS`] for each receiver more. Histories, which are shared, do not
/// count.
pub(crate) const MAX_HELD: usize = 1 << 20;
const OVERHEAD: usize = 128;
const ADDRESS: usize = 32;
/// The shortest time between two pictures of which the later one shows all of the earlier, and by how much a longer delay makes it
/// longer.
const SPACING: Duration = Duration::from_millis(100);
const PICTURES: u32 = 300;
/// Frames at the end of the line among which an earlier picture is looked for.
const LOOK_BACK: usize = 32;

/// Something that waits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Held {
    Frame(Bytes),
    History(History),
}

#[derive(Debug)]
struct Entry {
    made: Time,
    // Since when it stands for earlier pictures.
    first: Time,
    to: BTreeSet<PeerId>,
    what: Held,
}

impl Entry {
    fn cost(&self) -> usize {
        let bytes = match &self.what {
            Held::Frame(frame) => frame.len(),
            Held::History(_) => 0,
        };
        OVERHEAD + bytes + ADDRESS * self.to.len()
    }
}

/// The line of a room.
#[derive(Debug)]
pub(crate) struct Line {
    delay: Duration,
    spacing: Duration,
    entries: VecDeque<Entry>,
    bytes: usize,
}

impl Line {
    /// A line in which everything waits for so long.
    pub(crate) fn new(delay: Duration) -> Self {
        Self { delay, spacing: SPACING.max(delay / PICTURES), entries: VecDeque::new(), bytes: 0 }
    }

    /// How long everything waits.
    pub(crate) const fn delay(&self) -> Duration {
        self.delay
    }

    /// When the next one has waited long enough.
    pub(crate) fn due(&self) -> Option<Time> {
        self.entries.front().map(|entry| entry.made.plus(self.delay))
    }

    /// Lets something for `peer` wait. A picture that the new one `supersedes` and that was made just before is not shown. Returns
    /// `false` if there is no room for it.
    pub(crate) fn push(
        &mut self,
        now: Time,
        peer: PeerId,
        what: Held,
        supersedes: impl Fn(&Bytes, &Bytes) -> bool,
    ) -> bool {
        let mut first = now;
        if let Held::Frame(frame) = &what {
            let recent = self.entries.iter_mut().rev().take(LOOK_BACK);
            let mut before = recent.filter(|entry| entry.to.contains(&peer) && now < entry.first.plus(self.spacing));
            let old = before.find(|entry| matches!(&entry.what, Held::Frame(old) if supersedes(old, frame)));
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

    /// The next one that has waited until now, or of all if `everything` may be shown: for whom it is, and what.
    pub(crate) fn pop(&mut self, now: Time, everything: bool) -> Option<(BTreeSet<PeerId>, Held)> {
        let delay = self.delay;
        let entry = self.entries.pop_front_if(|entry| everything || entry.made.plus(delay) <= now)?;
        self.bytes -= entry.cost();
        Some((entry.to, entry.what))
    }

    /// Whether something waits for this peer.
    pub(crate) fn has(&self, peer: PeerId) -> bool {
        self.entries.iter().any(|entry| entry.to.contains(&peer))
    }

    /// Nothing waits for this peer any more.
    pub(crate) fn forget(&mut self, peer: PeerId) {
        for entry in &mut self.entries {
            if entry.to.remove(&peer) {
                self.bytes -= ADDRESS;
            }
        }
    }
}

fn is_same(one: &Held, other: &Held) -> bool {
    match (one, other) {
        (Held::Frame(one), Held::Frame(other)) => one.as_ptr() == other.as_ptr() && one.len() == other.len(),
        _ => false,
    }
}

/// Values of which the one of some time ago is wanted: one for each thirtieth of the delay, and at most one a second.
#[derive(Debug)]
pub(crate) struct Past<T> {
    delay: Duration,
    interval: Duration,
    // When the interval began, when the value was taken, and the value.
    values: VecDeque<(Time, Time, T)>,
}

impl<T> Past<T> {
    pub(crate) fn new(delay: Duration) -> Self {
        Self { delay, interval: Duration::from_secs(1).max(delay / 30), values: VecDeque::new() }
    }

    /// Whether the value of now would be another one than the last, by the time.
    pub(crate) fn wants(&self, now: Time) -> bool {
        self.values.back().is_none_or(|(first, ..)| first.plus(self.interval) <= now)
    }

    /// The value is this now.
    pub(crate) fn push(&mut self, now: Time, value: T) {
        if self.wants(now) {
            self.values.push_back((now, now, value));
        } else if let Some((_, made, last)) = self.values.back_mut() {
            (*made, *last) = (now, value);
        }
    }

    /// When the next one is old enough.
    pub(crate) fn due(&self) -> Option<Time> {
        self.values.front().map(|(_, made, _)| made.plus(self.delay))
    }

    /// The newest one that is old enough, if there is one that was not given yet.
    pub(crate) fn pop(&mut self, now: Time) -> Option<T> {
        let mut newest = None;
        let delay = self.delay;
        while let Some((.., value)) = self.values.pop_front_if(|(_, made, _)| made.plus(delay) <= now) {
            newest = Some(value);
        }
        newest
    }

    pub(crate) fn clear(&mut self) {
        self.values.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_secs(30);

    fn frame(text: &'static str) -> Held {
        Held::Frame(Bytes::from_static(text.as_bytes()))
    }

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn frames_wait_and_keep_their_order() {
        let mut line = Line::new(DELAY);
        let (one, two) = (PeerId(1), PeerId(2));
        let never = |_: &Bytes, _: &Bytes| false;
        assert!(line.push(at(0), one, frame("a"), never) && line.push(at(0), two, frame("a"), never));
        assert!(line.push(at(5), one, frame("b"), never));
        assert_eq!((line.due(), line.pop(at(29_999), false)), (Some(at(30_000)), None));
        assert_eq!(line.pop(at(30_000), false), Some(([one, two].into(), frame("a"))));
        assert!(line.has(one) && !line.has(two));
        assert_eq!(line.pop(at(30_004), false), None);
        assert_eq!(line.pop(at(30_004), true), Some(([one].into(), frame("b"))));
        assert_eq!((line.bytes, line.due()), (0, None));
    }

    #[test]
    fn of_pictures_that_follow_at_once_the_last_one_is_shown_and_none_too_early() {
        let mut line = Line::new(DELAY);
        let always = |_: &Bytes, _: &Bytes| true;
        for millis in (0..1_000).step_by(5) {
            let text = if millis % 10 == 0 { "even" } else { "odd" };
            assert!(line.push(at(millis), PeerId(1), frame(text), always));
        }
        let mut shown = 0;
        for millis in 0..32_000 {
            while let Some((to, _)) = line.pop(at(millis), false) {
                shown += to.len();
                assert!(millis >= 30_000);
            }
        }
        assert!((9..=11).contains(&shown), "{shown}");
        assert_eq!(line.bytes, 0);
    }

    #[test]
    fn a_line_has_a_bound_and_counts_what_is_shared_once() {
        let mut line = Line::new(DELAY);
        let never = |_: &Bytes, _: &Bytes| false;
        let shared = Bytes::from(vec![0; 2_000]);
        for peer in 0..1_000 {
            assert!(line.push(at(1), PeerId(peer), Held::Frame(shared.clone()), never));
        }
        assert!(line.bytes < 40_000, "{}", line.bytes);
        let mut taken = 0;
        while line.push(at(2), PeerId(1), Held::Frame(vec![0; 2_000].into()), never) {
            taken += 1;
        }
        assert!(line.bytes <= MAX_HELD && taken > 400, "{taken}");
        line.forget(PeerId(1));
        assert!(!line.has(PeerId(1)));
        while line.pop(at(0), true).is_some() {}
        assert_eq!(line.bytes, 0);
    }

    #[test]
    fn of_values_of_the_past_one_a_second_is_kept() {
        let mut past = Past::new(DELAY);
        for millis in (0..100_000).step_by(100) {
            if let Some(value) = past.pop(at(millis)) {
                assert!(value + 30_000 <= millis && value + 31_100 >= millis, "{value} at {millis}");
            }
            past.push(at(millis), millis);
            assert!(past.values.len() <= 32);
        }
    }
}
