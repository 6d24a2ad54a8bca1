//! A room whose matches count, as those who look on see it.
//!
//! - While a match is on, they are shown it later: what they are sent waits in a [`Line`]. When the match is over, all that waits is shown
//!   at once, because then it tells nobody anything.
//! - A new watcher is first sent the state of that long ago, if the game has pictures that are complete by themselves; until a state of
//!   the match is old enough, that is [`Shown::prelude`]. In other games the beginning of the match waits as well.
//! - A game whose players see less than those who look on is delayed from the moment at which its map exists: during its countdown
//!   players have seats already and see gold.
//! - What no player has found is never shown; a replay shows it.
//! - In a game whose players see less than those who look on, the scores of pages follow the same delay.
//!
//! Those who look on are watchers, and whoever has joined without a name, as spectators of nuggets. Whoever has not joined yet is told
//! what players are told. Players and rooms whose matches do not count are not touched.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use netcore::{GameEvent, Input, Outbox, Output, PeerId, Phase, Progress, Recorded, Role, Room, Time, To};
use tokio::sync::watch;

use super::{
    delay::{Held, Line, Past},
    forward::forward,
    info::Info,
    instrumented::Instrumented,
    register::Register,
};
use crate::games::Shown;

/// How a room is shown.
pub(crate) struct Stage {
    pub(crate) info: Arc<watch::Sender<Info>>,
    pub(crate) register: Arc<Register>,
    /// How much later those who look on are shown matches that count.
    pub(crate) delay: Duration,
}

/// Somebody who looks on.
#[derive(Debug, Default)]
struct Watcher {
    // Whether it is shown how it was when nobody had anything waiting for it yet.
    is_new: bool,
    // Whether something for it had no room, so that it is told everything anew once it has the rest.
    behind: bool,
}

/// A room as those who look on see it.
pub(crate) struct Watched<E: Recorded> {
    room: Instrumented<E>,
    info: Arc<watch::Sender<Info>>,
    is_rated: bool,
    hides: bool,
    // Whether what they are sent waits now.
    waits: bool,
    line: Line,
    peers: BTreeSet<PeerId>,
    watchers: BTreeMap<PeerId, Watcher>,
    // How it was, and the newest of these that may be shown.
    overviews: Past<Vec<Bytes>>,
    then: Option<Vec<Bytes>>,
    scores: Past<BTreeMap<String, i64>>,
    // The last message that was made harmless, and what was made of it.
    veiled: Option<(Bytes, Bytes)>,
    version: Option<u64>,
    told: Outbox,
}

impl<E: Recorded + Shown> Watched<E> {
    /// `peers` are there already, of whom these look on.
    pub(crate) fn new(room: Instrumented<E>, stage: Stage, peers: BTreeSet<PeerId>, watchers: &[PeerId]) -> Self {
        let Stage { info, delay, .. } = stage;
        let (is_rated, hides) = {
            let info = info.borrow();
            (info.counts.rated, info.game.hides())
        };
        let watchers: BTreeMap<_, _> = watchers.iter().map(|&peer| (peer, Watcher::default())).collect();
        let mut watched = Self {
            room,
            info,
            is_rated,
            hides,
            waits: false,
            line: Line::new(delay),
            peers,
            watchers,
            overviews: Past::new(delay),
            then: None,
            scores: Past::new(delay),
            veiled: None,
            version: None,
            told: Outbox::new(),
        };
        watched.waits = watched.is_to_wait();
        // Also in the middle of a match: how it was before the hub was restarted is unknown.
        watched.then = watched.prelude().filter(|_| watched.waits);
        watched
    }

    fn is_to_wait(&self) -> bool {
        let phase = self.room.status().phase;
        let has_secrets = phase == Phase::Playing || (self.hides && phase == Phase::Lobby);
        self.is_rated && !self.line.delay().is_zero() && has_secrets
    }

    // Has the room process something, and passes on what comes of it.
    fn pass(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        let mut told = std::mem::take(&mut self.told);
        let progress = self.room.input(now, input, &mut told);
        out.charge_recorded(told.take_recorded());
        let (mut spectators, mut ends) = (vec![], false);
        for output in told.outputs() {
            match output {
                Output::Event(GameEvent::Joined { peer, name, .. }) if name.is_empty() => {
                    self.watchers.entry(*peer).or_insert_with(|| {
                        spectators.push(*peer);
                        Watcher { is_new: true, behind: false }
                    });
                }
                Output::Event(GameEvent::Joined { peer, .. }) => drop(self.watchers.remove(peer)),
                // In other games each player may have a match of its own.
                Output::Event(GameEvent::Ended { .. }) => ends = self.hides,
                _ => {}
            }
        }
        let waits = self.is_to_wait();
        // The rest of a match that ends has no secrets.
        self.set_waits(now, waits && !ends, out);
        for peer in spectators {
            self.show_then(peer, out);
        }
        for output in told.drain() {
            self.forward(now, output, out);
        }
        self.set_waits(now, waits, out);
        self.told = told;
        self.look(now);
        progress
    }

    // Begins or ends the delay.
    fn set_waits(&mut self, now: Time, waits: bool, out: &mut Outbox) {
        if waits == self.waits {
            return;
        }
        self.waits = waits;
        self.overviews.clear();
        self.scores.clear();
        self.version = None;
        self.then = self.prelude().filter(|_| waits);
        if !waits {
            self.release(now, true, out);
        }
    }

    fn forward(&mut self, now: Time, output: Output, out: &mut Outbox) {
        match output {
            Output::Send { to: To::Peer(peer), frame } => self.send(now, peer, frame, out),
            Output::Send { to: To::Everyone, frame } if self.watchers.is_empty() => out.send_everyone(frame),
            Output::Send { to: To::Everyone, frame } => {
                for peer in self.peers.clone() {
                    self.send(now, peer, frame.clone(), out);
                }
            }
            Output::Replay { to, history } if self.waits && self.watchers.contains_key(&to) => {
                self.hold(now, to, Held::History(history));
            }
            Output::Replay { to, history } => out.replay(to, history),
            Output::Close { peer } => {
                self.forget(peer);
                out.close(peer);
            }
            Output::Event(event) => out.event(event),
        }
    }

    fn send(&mut self, now: Time, peer: PeerId, frame: Bytes, out: &mut Outbox) {
        if !self.is_rated || !self.watchers.contains_key(&peer) {
            return out.send(peer, frame);
        }
        let frame = self.veil(frame);
        if self.waits {
            self.hold(now, peer, Held::Frame(frame));
        } else {
            out.send(peer, frame);
        }
    }

    // A message without what no player has found.
    fn veil(&mut self, frame: Bytes) -> Bytes {
        let is_same = |before: &Bytes| before.as_ptr() == frame.as_ptr() && before.len() == frame.len();
        if let Some((_, after)) = self.veiled.as_ref().filter(|(before, _)| is_same(before)) {
            return after.clone();
        }
        let Some(after) = self.room.engine().and_then(|engine| engine.veiled(&frame)) else { return frame };
        // It is the same message as long as it is kept here.
        self.veiled = Some((frame, after.clone()));
        after
    }

    fn hold(&mut self, now: Time, peer: PeerId, what: Held) {
        let Some(watcher) = self.watchers.get_mut(&peer) else { return };
        watcher.behind = watcher.behind || !self.line.push(now, peer, what, E::supersedes);
    }

    fn prelude(&self) -> Option<Vec<Bytes>> {
        self.room.engine()?.prelude()
    }

    fn overview(&mut self) -> Option<Vec<Bytes>> {
        let frames = self.room.engine()?.overview()?;
        Some(frames.into_iter().map(|frame| self.veil(frame)).collect())
    }

    // Looks at the engine after something has happened.
    fn look(&mut self, now: Time) {
        // The message that is made next may be at the same place in memory.
        self.veiled = None;
        if self.waits && self.overviews.wants(now) {
            if let Some(overview) = self.overview() {
                self.overviews.push(now, overview);
            }
            self.veiled = None;
        }
        let Some(engine) = self.room.engine() else { return };
        let version = Some(engine.version());
        if version == self.version {
            return;
        }
        self.version = version;
        let mut show = engine.show();
        // Before the match begins, all scores are zero.
        let is_delayed = self.waits && self.hides && self.room.status().phase == Phase::Playing;
        self.info.send_if_modified(|info| {
            if is_delayed {
                self.scores.push(now, std::mem::replace(&mut show.scores, info.show.scores.clone()));
            }
            let changed = info.show != show;
            info.show = show;
            changed
        });
    }

    // Shows what has waited long enough, or everything.
    fn release(&mut self, now: Time, everything: bool, out: &mut Outbox) {
        if let Some(scores) = self.scores.pop(now) {
            self.info.send_if_modified(|info| {
                let changed = info.show.scores != scores;
                info.show.scores = scores;
                changed
            });
        }
        if let Some(then) = self.overviews.pop(now) {
            for (&peer, _) in self.watchers.iter().filter(|(_, watcher)| watcher.is_new) {
                for frame in &then {
                    out.send(peer, frame.clone());
                }
            }
            self.then = Some(then);
        }
        while let Some((to, what)) = self.line.pop(now, everything) {
            for peer in to {
                if let Some(watcher) = self.watchers.get_mut(&peer) {
                    watcher.is_new = false;
                }
                match &what {
                    Held::Frame(frame) => out.send(peer, frame.clone()),
                    Held::History(history) => out.replay(peer, history.clone()),
                }
            }
        }
        if everything {
            // What the room does just now comes after this.
            return;
        }
        let behind = self.watchers.iter().filter(|(_, watcher)| watcher.behind).map(|(&peer, _)| peer);
        for peer in behind.collect::<Vec<_>>() {
            if !self.line.has(peer) {
                self.watchers.entry(peer).or_default().behind = false;
                self.pass(now, Input::Refresh { peer }, out);
            }
        }
    }

    fn forget(&mut self, peer: PeerId) {
        self.peers.remove(&peer);
        if self.watchers.remove(&peer).is_some() {
            self.line.forget(peer);
        }
    }
}

impl<E: Recorded + Shown> Room for Watched<E> {
    forward!(split, admits, outcome, status);

    fn deadline(&self) -> Option<Time> {
        let own = [self.line.due(), self.overviews.due(), self.scores.due()];
        own.into_iter().flatten().chain(self.room.deadline()).min()
    }

    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        self.release(now, false, out);
        let mut gone = None;
        match &input {
            Input::Connected { peer, role, .. } => {
                self.peers.insert(*peer);
                if *role == Role::Watcher {
                    self.watchers.insert(*peer, Watcher { is_new: self.waits, behind: false });
                    self.show_then(*peer, out);
                }
            }
            Input::Refresh { peer } if self.watchers.contains_key(peer) => self.show_then(*peer, out),
            Input::Disconnected { peer, .. } => gone = Some(*peer),
            // It was only time to show something.
            Input::Elapsed if self.room.deadline().is_none_or(|due| due > now) => return Progress::Ignored,
            _ => {}
        }
        let progress = self.pass(now, input, out);
        if let Some(peer) = gone {
            self.forget(peer);
        }
        progress
    }
}

impl<E: Recorded> Watched<E> {
    // How it was as long ago as matches are shown later.
    fn show_then(&self, peer: PeerId, out: &mut Outbox) {
        if self.waits {
            for frame in self.then.iter().flatten() {
                out.send(peer, frame.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
