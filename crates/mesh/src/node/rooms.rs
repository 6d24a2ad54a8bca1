use std::time::Duration;

use netcore::Time;

use super::{Plan, Purpose};
use crate::{
    Acquisition, Durability, ENTRY_AGE_SECONDS, EXPIRY, Entry, Fence, HandoverRefusal, Holder, Key, MAX_ROOMS, MAX_ROW,
    Name, Node, Opening, Output, Placement, Revision, RoomValue, Value, Written, fnv,
};

const ROW_PAUSE: Duration = Duration::from_millis(500);
/// An unchanged entry is rewritten this often, so that it does not expire.
const TOUCH: Duration = Duration::from_secs(ENTRY_AGE_SECONDS / 24);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    Keep,
    HandOver(HandoverStep),
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HandoverStep {
    Wanted,
    /// The room may publish until it is suspended.
    Suspending,
    Suspended,
}

#[derive(Debug, Clone, Copy)]
struct Claim {
    fence: Fence,
    life: Revision,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they do not depend on each other")]
pub(super) struct Room {
    pub(super) durability: Durability,
    row: String,
    // Whether the entry must be written, and whether only its row is outdated, which other nodes of this version do
    // not read.
    entry_due: bool,
    row_outdated: bool,
    written: Time,
    // When the row was last in a summary.
    pub(super) summarized: Option<Time>,
    needs: String,
    // `None` before the first claim, which determines it for the life of the room.
    placement: Option<Placement>,
    how: Acquisition,
    // The room is from an earlier run, so the node may also take it over.
    returns: bool,
    // The room was taken over, and the hub may not have its state yet.
    unread: bool,
    aim: Aim,
    claim: Option<Claim>,
    // `None` if there is no entry.
    revision: Option<Revision>,
}

impl Room {
    fn new(Opening { durability, row, needs, returns }: Opening, how: Acquisition) -> Self {
        Self {
            durability,
            row,
            entry_due: false,
            row_outdated: false,
            written: Time::ZERO,
            summarized: None,
            needs,
            placement: None,
            how,
            returns,
            unread: how == Acquisition::TakenOver,
            aim: Aim::Keep,
            claim: None,
            revision: None,
        }
    }

    pub(super) fn fence(&self) -> Option<Fence> {
        let is_silent = self.aim == Aim::HandOver(HandoverStep::Suspended);
        self.claim.filter(|_| !is_silent).map(|claim| claim.fence)
    }

    pub(super) fn claimed_in(&self, life: Revision) -> bool {
        self.claim.is_some_and(|claim| claim.life == life)
    }

    /// `None` before the first one.
    pub(super) fn row(&self) -> Option<&str> {
        Some(&*self.row).filter(|row| !row.is_empty())
    }

    /// `has_former` is whether a node of an earlier version is listed, which reads rows from entries.
    pub(super) fn due(&self, life: Revision, has_former: bool) -> Option<Time> {
        if !self.claimed_in(life) || self.revision.is_none() {
            return Some(Time::ZERO);
        }
        match self.aim {
            Aim::HandOver(HandoverStep::Suspending) => None,
            Aim::HandOver(HandoverStep::Suspended) | Aim::Close => Some(Time::ZERO),
            Aim::Keep | Aim::HandOver(HandoverStep::Wanted) => {
                let is_due = self.entry_due || self.row_outdated && has_former;
                Some(self.written.plus(if is_due { ROW_PAUSE } else { TOUCH }))
            }
        }
    }
}

impl Node {
    pub(super) fn open(&mut self, name: Name, opening: Opening, out: &mut Vec<Output>) {
        let is_full = self.rooms.len() >= MAX_ROOMS;
        if is_full || self.plan != Plan::Serve || opening.row.len() > MAX_ROW || self.rooms.contains_key(&name) {
            out.push(Output::ClaimFailed(name));
        } else {
            self.rooms.insert(name, Room::new(opening, Acquisition::New));
        }
    }

    fn adopt(&mut self, name: Name, value: &RoomValue, how: Acquisition) {
        let (durability, row, needs) = (value.durability, value.row.clone(), value.rules().to_owned());
        let mut room = Room::new(Opening { durability, row, needs, returns: false }, how);
        room.placement = Some(value.placement());
        self.rooms.insert(name, room);
    }

    pub(super) fn restored(&mut self, name: &Name) {
        if let Some(room) = self.rooms.get_mut(name)
            && std::mem::take(&mut room.unread)
        {
            // The former owner waits for this write.
            (room.entry_due, room.written) = (true, Time::ZERO);
        }
    }

    pub(super) fn show(&mut self, name: &Name, row: String) {
        if let Some(room) = self.rooms.get_mut(name).filter(|room| room.row != row && row.len() <= MAX_ROW) {
            // The room is not listed yet, so its first row is written without delay.
            if room.row.is_empty() {
                (room.entry_due, room.written) = (true, Time::ZERO);
            }
            (room.row, room.row_outdated, room.summarized) = (row, true, None);
            self.hasten_summary();
        }
    }

    pub(super) fn reschedule_entry(&mut self, name: &Name) {
        if let Some(room) = self.rooms.get_mut(name) {
            room.entry_due = true;
        }
    }

    pub(super) fn close(&mut self, name: &Name) {
        if let Some(room) = self.rooms.get_mut(name) {
            room.aim = Aim::Close;
        }
    }

    pub(super) fn hand_over(&mut self, name: &Name) {
        if let Some(room) = self.rooms.get_mut(name).filter(|room| room.aim == Aim::Keep) {
            room.aim = Aim::HandOver(HandoverStep::Wanted);
        }
    }

    pub(super) fn cancel_hand_over(&mut self, name: &Name) {
        if let Some(Room { aim: aim @ Aim::HandOver(HandoverStep::Wanted | HandoverStep::Suspending), .. }) =
            self.rooms.get_mut(name)
        {
            *aim = Aim::Keep;
        }
    }

    pub(super) fn suspended(&mut self, name: &Name) {
        if let Some(Room { aim: Aim::HandOver(step), .. }) = self.rooms.get_mut(name) {
            *step = HandoverStep::Suspended;
        }
    }

    /// Suspends rooms that are handed over, once the entry of this node shows that it drains: before, other nodes could
    /// expect it to take the rooms again.
    pub(super) fn suspend(&mut self, out: &mut Vec<Output>) {
        if !self.life.as_ref().is_some_and(|life| life.drains) {
            return;
        }
        let wanted = self.rooms.iter_mut().filter(|(_, room)| room.aim == Aim::HandOver(HandoverStep::Wanted));
        for (name, room) in wanted.filter(|(_, room)| room.claim.is_some()) {
            let takes = |needs| self.view.takers(needs).any(|node| *node != self.settings.name);
            if takes((&*room.needs, room.placement.unwrap_or_default())) {
                room.aim = Aim::HandOver(HandoverStep::Suspending);
                out.push(Output::Suspend(name.clone()));
            } else {
                room.aim = Aim::Keep;
                let why = if takes(Default::default()) { HandoverRefusal::NoRules } else { HandoverRefusal::NoNode };
                out.push(Output::HandoverRefused(name.clone(), why));
            }
        }
    }

    fn lose(&mut self, name: &Name, out: &mut Vec<Output>) {
        let Some(room) = self.rooms.remove(name) else { return };
        match (room.claim, room.how, room.aim) {
            (_, _, Aim::Close) => {}
            (_, _, Aim::HandOver(HandoverStep::Suspended)) => self.handed_over(name, out),
            // The hub does not know the room.
            (None, Acquisition::Recovered | Acquisition::TakenOver, _) if !room.returns => {}
            (None, ..) => out.push(Output::ClaimFailed(name.clone())),
            (Some(_), ..) => out.push(Output::Lost(name.clone())),
        }
    }

    pub(super) fn holds(&self, holder: &Holder) -> bool {
        holder.node == self.settings.name && holder.identity == self.settings.identity
    }

    fn own_life(&self, entry: &Entry) -> Option<Revision> {
        let Value::Room(RoomValue { holder: Some(holder), .. }) = &entry.value else { return None };
        self.holds(holder).then_some(holder.life)
    }

    pub(super) fn room_changed(&mut self, name: &Name, entry: &Entry, out: &mut Vec<Output>) {
        let is_mine = self.own_life(entry).is_some();
        let Some(room) = self.rooms.get_mut(name) else { return };
        let Some(claim) = room.claim else { return };
        if entry.fence().is_none_or(|fence| fence > claim.fence) && !is_mine {
            self.lose(name, out);
        } else if entry.fence() == Some(claim.fence) {
            room.revision = room.revision.map(|known| known.max(entry.revision));
        } else if !self.pending.contains_key(&Key::Room(name.clone())) {
            self.take_late_claim(name, entry, out);
        }
    }

    pub(super) fn room_removed(&mut self, name: &Name, removed: Revision, out: &mut Vec<Output>) {
        let Some(room) = self.rooms.get_mut(name) else { return };
        if room.revision.is_none_or(|known| known >= removed) {
            return;
        }
        room.revision = None;
        match (room.aim, room.durability, &mut room.claim) {
            (Aim::Close, ..) => self.remove(name, out),
            // The entry expired, or an operator removed it; no other node has owned the room.
            (_, Durability::Node, Some(claim)) => claim.life = Revision(0),
            // Another node may have owned and finished the room.
            (_, Durability::Cluster, Some(_)) => self.lose(name, out),
            (.., None) => {}
        }
    }

    pub(super) fn tend_rooms(&mut self, now: Time, out: &mut Vec<Output>) {
        let Some(life) = self.life.as_ref().map(|life| life.since) else { return };
        let has_former = self.view.has_former(&self.settings.name);
        let due = |room: &Room| room.due(life, has_former).is_some_and(|due| due <= now);
        let due: Vec<Name> = self.rooms.iter().filter(|(_, room)| due(room)).map(|(name, _)| name.clone()).collect();
        for name in due {
            let key = Key::Room(name.clone());
            if !self.is_free(now, &key) {
                continue;
            }
            let entry = self.view.room(&name);
            let orphan = entry.map(|entry| (self.classify(entry), entry.revision));
            let is_apart = self.settings.streams && !has_former;
            let placed = entry.and_then(Entry::placement);
            let placed = placed.unwrap_or(if is_apart { Placement::Hashed } else { Placement::Single });
            let Some(room) = self.rooms.get_mut(&name) else { continue };
            let (node, identity) = (self.settings.name.clone(), self.settings.identity.clone());
            let holder = Some(Holder { node, identity, life });
            let fence = room.claim.map(|claim| claim.fence);
            if room.claim.is_none()
                && let Some((Some(Orphan::Takeable(how)), _)) = orphan
            {
                // A new room does not take over an existing entry.
                if room.how == Acquisition::New && !room.returns {
                    self.lose(&name, out);
                    self.update_orphan(now, &name);
                    continue;
                }
                // Another node may have owned it since an earlier attempt: the local state may be outdated.
                (room.how, room.unread) = (how, how == Acquisition::TakenOver);
            }
            if room.claim.is_none() && (entry.is_some() || room.placement.is_none()) {
                room.placement = Some(placed);
            }
            let (durability, row) = (room.durability, room.row.clone());
            let needs = RoomValue::needs(&room.needs, room.placement.unwrap_or_default());
            let value = |holder: Option<Holder>, fence| {
                let unread = room.unread && holder.is_some();
                Some(Value::Room(RoomValue { holder, fence, durability, needs, unread, row }))
            };
            let (purpose, write) = match room.aim {
                Aim::Close | Aim::HandOver(HandoverStep::Suspended) if room.revision.is_none() => {
                    self.remove(&name, out);
                    continue;
                }
                Aim::Close => (Purpose::Close, (None, room.revision)),
                Aim::HandOver(HandoverStep::Suspended) => (Purpose::Release, (value(None, None), room.revision)),
                Aim::Keep | Aim::HandOver(_) if room.claim.is_none() => match orphan {
                    Some((Some(Orphan::Takeable(_) | Orphan::StaleClaim), revision)) => {
                        (Purpose::Claim, (value(holder, None), Some(revision)))
                    }
                    // The entry may become free, but the caller that opens a room does not wait for that.
                    Some(_) => {
                        self.lose(&name, out);
                        self.update_orphan(now, &name);
                        continue;
                    }
                    None => (Purpose::Claim, (value(holder, None), None)),
                },
                _ if !room.claimed_in(life) || room.revision.is_none() => {
                    (Purpose::Claim, (value(holder, None), room.revision))
                }
                _ => {
                    (room.entry_due, room.row_outdated) = (false, false);
                    (Purpose::Row, (value(holder, fence), room.revision))
                }
            };
            room.written = now;
            self.write(now, purpose, key, write, out);
        }
    }

    pub(super) fn claimed(
        &mut self,
        now: Time,
        (name, life): (&Name, Option<Revision>),
        written: &Written,
        out: &mut Vec<Output>,
    ) {
        let (fence, revision, placed) = match written {
            Written::Stored(revision) => (Fence(revision.0), *revision, None),
            // An earlier attempt was stored, but its reply was lost.
            Written::Conflict(Some(entry)) if self.own_life(entry).is_some_and(|own| Some(own) == life) => {
                (entry.fence().unwrap_or_default(), entry.revision, entry.placement())
            }
            Written::Conflict(entry) => {
                let is_free = entry.as_ref().is_none_or(|entry| self.classify(entry).is_some());
                let is_own = entry.as_ref().is_none_or(|entry| self.own_life(entry).is_some());
                let Some(room) = self.rooms.get_mut(name) else { return };
                room.revision = entry.as_ref().map(|entry| entry.revision);
                let goes_on = match (room.claim, room.how) {
                    // Without an entry, another node may have owned the room in between.
                    (Some(_), _) => is_own && (entry.is_some() || room.durability == Durability::Node),
                    (None, Acquisition::New) => is_free,
                    (None, _) => is_free && entry.is_some(),
                };
                if !goes_on {
                    self.lose(name, out);
                }
                self.update_orphan(now, name);
                return;
            }
        };
        // If that life is over by now, the room is claimed again.
        let (Some(room), Some(life)) = (self.rooms.get_mut(name), life) else { return };
        if room.claim.is_none() {
            // Other nodes look for the journal where the entry says.
            room.placement = placed.or(room.placement);
        } else {
            room.entry_due |= placed.is_some() && placed != room.placement;
        }
        let placement = room.placement.unwrap_or_default();
        room.claim = Some(Claim { fence, life });
        room.revision = Some(revision);
        room.summarized = None;
        let how = std::mem::replace(&mut room.how, Acquisition::Retained);
        if !matches!(room.aim, Aim::Close | Aim::HandOver(HandoverStep::Suspended)) {
            out.push(Output::Own(name.clone(), fence, how, placement));
        }
        // The hub may have to suspend the room again, under the new fence.
        if room.aim == Aim::HandOver(HandoverStep::Suspending) {
            out.push(Output::Suspend(name.clone()));
        }
        self.hasten_summary();
    }

    pub(super) fn row_written(&mut self, now: Time, name: &Name, written: Written, out: &mut Vec<Output>) {
        let Some(room) = self.rooms.get_mut(name) else { return };
        let fence = room.claim.map(|claim| claim.fence);
        match written {
            Written::Stored(revision) => room.revision = room.revision.max(Some(revision)),
            Written::Conflict(Some(entry)) if entry.fence() == fence => {
                room.revision = Some(entry.revision);
                room.entry_due = true;
            }
            Written::Conflict(Some(entry)) => {
                // If it is no late claim of this node, another node has a greater fence.
                if !self.take_late_claim(name, &entry, out) {
                    self.lose(name, out);
                    self.update_orphan(now, name);
                }
            }
            Written::Conflict(None) => self.room_removed(name, Revision(u64::MAX), out),
        }
    }

    /// Accepts an entry that a delayed claim of this life has stored. Returns `false` for other entries.
    fn take_late_claim(&mut self, name: &Name, entry: &Entry, out: &mut Vec<Output>) -> bool {
        let life = self.life.as_ref().map(|life| life.since);
        let is_own = life.is_some() && self.own_life(entry) == life;
        let Some(room) = self.rooms.get_mut(name).filter(|room| is_own && room.claim.is_some()) else { return false };
        let (Some(life), Some(fence)) = (life, entry.fence()) else { return false };
        if room.claim.is_none_or(|claim| fence <= claim.fence) {
            return false;
        }
        (room.claim, room.revision) = (Some(Claim { fence, life }), Some(entry.revision));
        if !matches!(room.aim, Aim::Close | Aim::HandOver(HandoverStep::Suspended)) {
            room.entry_due = true;
            let placement = room.placement.unwrap_or_default();
            out.push(Output::Own(name.clone(), fence, Acquisition::Retained, placement));
        }
        true
    }

    pub(super) fn ended(&mut self, now: Time, name: &Name, written: &Written, out: &mut Vec<Output>) {
        let Some(room) = self.rooms.get_mut(name) else { return };
        let fence = room.claim.map(|claim| claim.fence);
        match written {
            Written::Conflict(Some(entry)) if entry.fence() == fence => room.revision = Some(entry.revision),
            Written::Conflict(Some(entry)) if self.take_late_claim(name, entry, out) => {}
            _ => {
                self.remove(name, out);
                self.update_orphan(now, name);
            }
        }
    }

    fn remove(&mut self, name: &Name, out: &mut Vec<Output>) {
        match self.rooms.remove(name).map(|room| room.aim) {
            Some(Aim::Close) => out.push(Output::Closed(name.clone())),
            Some(Aim::HandOver(_)) => self.handed_over(name, out),
            Some(Aim::Keep) | None => {}
        }
    }

    fn handed_over(&mut self, name: &Name, out: &mut Vec<Output>) {
        self.handed.insert(name.clone());
        out.push(Output::HandedOver(name.clone()));
    }
}

// Rooms without an owner, which a node may take over.

/// Each candidate for a room waits this much longer than the one ranked before it.
const TAKE_STEP: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Orphan {
    Takeable(Acquisition),
    Unclear,
    /// A claim of this life that the node does not know: its write arrived late.
    StaleClaim,
}

impl Node {
    fn classify(&self, entry: &Entry) -> Option<Orphan> {
        let Value::Room(room) = &entry.value else { return None };
        if !self.runs(room) {
            return None;
        }
        let Some(holder) = &room.holder else { return Some(Orphan::Takeable(Acquisition::TakenOver)) };
        if self.holds(holder) {
            // Before it has joined, the node does not know its own lives.
            let life = self.life.as_ref()?;
            let how = if room.unread { Acquisition::TakenOver } else { Acquisition::Recovered };
            return Some(if holder.life == life.since { Orphan::StaleClaim } else { Orphan::Takeable(how) });
        }
        if self.view.is_over(holder) {
            return Some(Orphan::Takeable(Acquisition::TakenOver));
        }
        (!self.view.seems_alive(holder)).then_some(Orphan::Unclear)
    }

    fn runs(&self, room: &RoomValue) -> bool {
        let rules = room.rules();
        let finds = room.placement() == Placement::Single || self.settings.streams;
        finds && (rules.is_empty() || self.settings.runs.iter().any(|runs| runs == rules))
    }

    pub(super) fn scan_orphans(&mut self, now: Time) {
        let names: Vec<Name> = self.view.rooms().cloned().collect();
        for name in &names {
            self.update_orphan(now, name);
        }
    }

    pub(super) fn update_orphan(&mut self, now: Time, name: &Name) {
        let entry = self.view.room(name).filter(|_| !self.rooms.contains_key(name));
        if entry.is_some_and(|entry| self.classify(entry).is_some()) {
            self.orphans.entry(name.clone()).or_insert(now);
        } else {
            self.orphans.remove(name);
        }
    }

    #[expect(clippy::match_same_arms, reason = "an arm between them has a condition")]
    pub(super) fn orphan_due(&self, name: &Name, since: Time) -> Option<Time> {
        self.life.as_ref()?;
        let entry = self.view.room(name)?;
        match self.classify(entry)? {
            Orphan::StaleClaim => Some(since),
            Orphan::Unclear => {
                let Value::Room(RoomValue { holder: Some(holder), .. }) = &entry.value else { return None };
                let node = Key::Node(holder.node.clone());
                let asks = self.view.node(&holder.node).is_none() && !self.pending.contains_key(&node);
                asks.then(|| self.not_before(&node, since.plus(EXPIRY)))
            }
            Orphan::Takeable(_) if self.rooms.len() >= self.settings.most_rooms.min(MAX_ROOMS) => None,
            Orphan::Takeable(Acquisition::Recovered) => Some(since),
            Orphan::Takeable(_) if self.plan != Plan::Serve && !self.handed.contains(name) => None,
            Orphan::Takeable(_) => {
                let due = since.plus(TAKE_STEP * self.rank(name, entry));
                let Value::Room(RoomValue { holder: Some(holder), .. }) = &entry.value else { return Some(due) };
                // A node that has left has as long to return as one that was killed.
                Some(self.view.waits_for(&holder.node).map_or(due, |until| due.max(until)))
            }
        }
    }

    // The number of nodes that may take a room over earlier. Nodes with the same view compute the same order: the
    // former owner first, draining nodes last.
    fn rank(&self, room: &Name, entry: &Entry) -> u32 {
        let (former, needs) = match &entry.value {
            Value::Room(room) => (room.holder.as_ref().map(|holder| &holder.node), (room.rules(), room.placement())),
            _ => (None, Default::default()),
        };
        let own = weight(room, &self.settings.name);
        let is_before = |node: &&Name| {
            **node != self.settings.name
                && (self.plan != Plan::Serve || former == Some(*node) || weight(room, node) > own)
        };
        u32::try_from(self.view.takers(needs).filter(is_before).count()).unwrap_or(u32::MAX)
    }

    pub(super) fn take_over(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.life.is_none() {
            return;
        }
        let due = |name: &Name, since: Time| self.orphan_due(name, since).is_some_and(|due| due <= now);
        let due: Vec<Name> =
            self.orphans.iter().filter(|(name, since)| due(name, **since)).map(|(name, _)| name.clone()).collect();
        for name in due {
            let Some(entry) = self.view.room(&name).cloned() else { continue };
            let key = Key::Room(name.clone());
            match (self.classify(&entry), &entry.value) {
                (Some(Orphan::StaleClaim), _) if self.is_free(now, &key) => {
                    self.write(now, Purpose::StaleClaim, key, (None, Some(entry.revision)), out);
                }
                (Some(Orphan::Unclear), Value::Room(RoomValue { holder: Some(holder), .. })) => {
                    // Stored if no node has this name; otherwise the conflict returns its entry.
                    let node = Key::Node(holder.node.clone());
                    if self.is_free(now, &node) {
                        self.write(now, Purpose::Expire, node, (None, None), out);
                    }
                }
                // The previous takeover may have reached the limit.
                (Some(Orphan::Takeable(how)), Value::Room(value))
                    if self.rooms.len() < self.settings.most_rooms.min(MAX_ROOMS) =>
                {
                    self.orphans.remove(&name);
                    self.adopt(name, value, how);
                }
                _ => {}
            }
        }
    }
}

/// Rendezvous hashing: adding or removing a node moves only its own rooms.
fn weight(room: &Name, node: &Name) -> u64 {
    fnv(room.as_str().bytes().chain([0]).chain(node.as_str().bytes()))
}
