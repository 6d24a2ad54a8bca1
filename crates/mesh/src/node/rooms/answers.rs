//! Replies to requests about rooms.

use netcore::Time;

use super::{Aim, Claim, Handing};
use crate::{Durability, Entry, Fence, How, Name, Node, Output, Revision, Written};

impl Node {
    /// Processes the reply to a claim.
    pub(in crate::node) fn claimed(
        &mut self,
        now: Time,
        (name, life): (&Name, Option<Revision>),
        written: &Written,
        out: &mut Vec<Output>,
    ) {
        let (fence, revision) = match written {
            Written::Stored(revision) => (Fence(revision.0), *revision),
            // An earlier attempt was stored, but its reply was lost.
            Written::Conflict(Some(entry)) if self.own_life(entry).is_some_and(|own| Some(own) == life) => {
                (entry.fence().unwrap_or_default(), entry.revision)
            }
            Written::Conflict(entry) => {
                let is_free = entry.as_ref().is_none_or(|entry| self.classify(entry).is_some());
                let is_own = entry.as_ref().is_none_or(|entry| self.own_life(entry).is_some());
                let Some(room) = self.rooms.get_mut(name) else { return };
                room.revision = entry.as_ref().map(|entry| entry.revision);
                let goes_on = match (room.claim, room.how) {
                    // If the entry is gone, another node may have owned the room in between.
                    (Some(_), _) => is_own && (entry.is_some() || room.durability == Durability::Node),
                    (None, How::New) => is_free,
                    (None, _) => is_free && entry.is_some(),
                };
                if !goes_on {
                    self.lose(name, out);
                }
                self.look_at(now, name);
                return;
            }
        };
        // If that life is over by now, the room is claimed again.
        let (Some(room), Some(life)) = (self.rooms.get_mut(name), life) else { return };
        room.claim = Some(Claim { fence, life });
        room.revision = Some(revision);
        let how = std::mem::replace(&mut room.how, How::Again);
        if !matches!(room.aim, Aim::Close | Aim::HandOver(Handing::Suspended)) {
            out.push(Output::Own(name.clone(), fence, how));
        }
        // The hub may have to suspend the room again, under the new fence.
        if room.aim == Aim::HandOver(Handing::Suspending) {
            out.push(Output::Suspend(name.clone()));
        }
    }

    /// Processes the reply to a new row.
    pub(in crate::node) fn shown(&mut self, now: Time, name: &Name, written: Written, out: &mut Vec<Output>) {
        let Some(room) = self.rooms.get_mut(name) else { return };
        let fence = room.claim.map(|claim| claim.fence);
        match written {
            Written::Stored(revision) => room.revision = room.revision.max(Some(revision)),
            Written::Conflict(Some(entry)) if entry.fence() == fence => {
                room.revision = Some(entry.revision);
                room.row_changed = true;
            }
            Written::Conflict(Some(entry)) => {
                // Otherwise another node has a greater fence.
                if !self.take_late_claim(name, &entry, out) {
                    self.lose(name, out);
                    self.look_at(now, name);
                }
            }
            Written::Conflict(None) => self.room_removed(name, Revision(u64::MAX), out),
        }
    }

    /// Accepts an entry that an earlier attempt of a claim of this life has left, if it arrived after another attempt
    /// was stored. Returns whether the entry is such a claim.
    pub(super) fn take_late_claim(&mut self, name: &Name, entry: &Entry, out: &mut Vec<Output>) -> bool {
        let life = self.life.as_ref().map(|life| life.since);
        let is_own = life.is_some() && self.own_life(entry) == life;
        let Some(room) = self.rooms.get_mut(name).filter(|room| is_own && room.claim.is_some()) else { return false };
        let (Some(life), Some(fence)) = (life, entry.fence()) else { return false };
        if room.claim.is_none_or(|claim| fence <= claim.fence) {
            return false;
        }
        (room.claim, room.revision) = (Some(Claim { fence, life }), Some(entry.revision));
        if !matches!(room.aim, Aim::Close | Aim::HandOver(Handing::Suspended)) {
            room.row_changed = true;
            out.push(Output::Own(name.clone(), fence, How::Again));
        }
        true
    }

    /// Processes the reply to a removal or a release.
    pub(in crate::node) fn ended(&mut self, now: Time, name: &Name, written: &Written, out: &mut Vec<Output>) {
        let Some(room) = self.rooms.get_mut(name) else { return };
        let fence = room.claim.map(|claim| claim.fence);
        match written {
            Written::Conflict(Some(entry)) if entry.fence() == fence => room.revision = Some(entry.revision),
            Written::Conflict(Some(entry)) if self.take_late_claim(name, entry, out) => {}
            _ => {
                self.forget(name, out);
                self.look_at(now, name);
            }
        }
    }

    pub(super) fn forget(&mut self, name: &Name, out: &mut Vec<Output>) {
        match self.rooms.remove(name).map(|room| room.aim) {
            Some(Aim::Close) => out.push(Output::Closed(name.clone())),
            Some(Aim::HandOver(_)) => self.handed_over(name, out),
            Some(Aim::Keep) | None => {}
        }
    }

    pub(super) fn handed_over(&mut self, name: &Name, out: &mut Vec<Output>) {
        self.handed.insert(name.clone());
        out.push(Output::HandedOver(name.clone()));
    }
}
