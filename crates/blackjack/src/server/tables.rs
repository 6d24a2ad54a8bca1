//! The tables of a dealer: when they begin, what happens at them, and when the last one is over.

use alloc::vec::Vec;
use core::mem;
use netcore::{Fingerprint, Outbox, Outcome, Time};

use super::{Guest, Server, table::Table};
use crate::config::Config;

// A table and its alarm. The alarm is changed only when the table's deadline moves forward, so an answer in time, which moves
// it back, costs nothing.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) table: Table,
    pub(super) alarm: Option<Time>,
    // Its contribution to the fingerprint of the server.
    pub(super) fingerprint: Fingerprint,
}

impl Server {
    // Seats at tables that have not begun; none if tables follow without end.
    pub(super) fn seats_to_come(&self) -> Option<usize> {
        let Config { players, tables, forever, .. } = self.config;
        let tables = usize::try_from(tables.saturating_sub(self.begun)).unwrap_or(usize::MAX);
        (!forever).then_some(tables.saturating_mul(players))
    }

    // Begins tables as long as there are enough waiting players.
    pub(super) fn fill_tables(&mut self, now: Time, out: &mut Outbox) {
        let Config { players, tables, forever, .. } = self.config;
        while self.queue.waiting >= players
            && self.playing < tables
            && (forever || self.begun < tables)
            && self.ended.is_none()
        {
            let Some(number) = self.begun.checked_add(1) else { return };
            self.begun = number;
            self.playing += 1;
            let mut seated = Vec::new();
            for _ in 0..players {
                let Some(peer) = self.queue.pop() else { break };
                let Some(Guest::Waiting { name, dialect }) = self.guests.insert(peer, Guest::Seated { table: number })
                else {
                    continue;
                };
                self.toggle_waiting(peer, &name, dialect);
                seated.push((peer, name, dialect));
            }
            let Ok(table) = Table::begin(now, (self.config, number), seated, out) else { return };
            let fingerprint = table.fingerprint();
            self.digest.toggle_fact(fingerprint);
            self.tables.insert(number, Entry { table, alarm: None, fingerprint });
            self.settle(now, number, out);
        }
    }

    // Runs `act` on a table and applies its consequences.
    pub(super) fn at(&mut self, now: Time, number: u32, out: &mut Outbox, act: impl FnOnce(&mut Table, &mut Outbox)) {
        if let Some(entry) = self.tables.get_mut(&number) {
            act(&mut entry.table, out);
            self.settle(now, number, out);
        }
    }

    // Applies the consequences of what happened at a table: closed connections, its result, its alarm.
    pub(super) fn settle(&mut self, now: Time, number: u32, out: &mut Outbox) {
        let Some(entry) = self.tables.get_mut(&number) else { return };
        for peer in mem::take(&mut entry.table.closed) {
            self.guests.remove(&peer);
            self.places.leave(peer);
        }
        self.digest.toggle_fact(entry.fingerprint);
        entry.fingerprint = entry.table.fingerprint();
        self.digest.toggle_fact(entry.fingerprint);
        let result = entry.table.result.take();
        if let Some(standings) = &result {
            self.playing -= 1;
            self.rounds += u64::from(entry.table.game().played());
            self.complete += u32::from(entry.table.ended == Some(Outcome::Finished));
            self.printer.print(now, standings, entry.table.game().is_deserted(), out);
        }
        let wanted = entry.table.due();
        if let Some(wanted) = wanted
            && entry.alarm.is_none_or(|alarm| wanted < alarm)
        {
            if let Some(alarm) = entry.alarm.replace(wanted) {
                self.alarms.remove(&(alarm, number));
            }
            self.alarms.insert((wanted, number));
        }
        if entry.table.is_empty() {
            if let Some(alarm) = entry.alarm {
                self.alarms.remove(&(alarm, number));
            }
            self.digest.toggle_fact(entry.fingerprint);
            self.tables.remove(&number);
        }
        if result.is_some() {
            self.fill_tables(now, out);
            self.end_if_done(out);
        }
    }

    // Ends the dealer when the last table is over; clients that still wait get QUIT.
    pub(super) fn end_if_done(&mut self, out: &mut Outbox) {
        if self.ended.is_none() && !self.config.forever && self.begun >= self.config.tables && self.playing == 0 {
            self.ended = Some(if self.complete > 0 { Outcome::Finished } else { Outcome::Deserted });
            self.dismiss(out);
        }
    }
}
