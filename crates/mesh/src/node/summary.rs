//! Summaries of the rooms of this node. While a node of an earlier version is listed, their entries have the same rows.

use std::collections::BTreeMap;

use netcore::Time;

use crate::{MAX_SUMMARY, Node, Output, SUMMARY_PAUSE, SUMMARY_REPEAT, Summary};

impl Node {
    /// A row has changed.
    pub(super) fn hasten_summary(&mut self) {
        self.next_summary = self.next_summary.min(self.last_summary.plus(SUMMARY_PAUSE));
    }

    /// Publishes all rows again, as for a node that has joined and has no earlier summary.
    pub(super) fn repeat_summary(&mut self) {
        self.rooms.values_mut().for_each(|room| room.summarized = None);
        self.hasten_summary();
    }

    pub(super) fn summarize(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.next_summary > now {
            return;
        }
        let Some(life) = self.life.as_ref().map(|life| life.since) else { return };
        let empty = || Summary { node: self.settings.name.clone(), life, rows: BTreeMap::new() };
        let (mut summary, mut bytes, mut next) = (empty(), 0, Time::from_nanos(u64::MAX));
        for (name, room) in self.rooms.iter_mut().filter(|(_, room)| room.claimed_in(life)) {
            let Some(row) = room.row() else { continue };
            if room.summarized.is_none_or(|at| at.plus(SUMMARY_REPEAT) <= now) {
                bytes += name.as_str().len() + row.len();
                if bytes > MAX_SUMMARY && !summary.rows.is_empty() {
                    out.push(Output::Summarize(std::mem::replace(&mut summary, empty())));
                    bytes = name.as_str().len() + row.len();
                }
                summary.rows.insert(name.clone(), row.to_owned());
                room.summarized = Some(now);
            }
            next = next.min(room.summarized.unwrap_or(now).plus(SUMMARY_REPEAT));
        }
        if !summary.rows.is_empty() {
            self.last_summary = now;
            out.push(Output::Summarize(summary));
        }
        self.next_summary = next.max(self.last_summary.plus(SUMMARY_PAUSE));
    }

    pub(super) fn summary_due(&self) -> Option<Time> {
        self.life.as_ref().map(|_| self.next_summary)
    }
}
