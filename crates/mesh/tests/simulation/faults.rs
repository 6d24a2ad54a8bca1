use mesh::{Input, LeaseGrant, LeaseRequest, Ticket};
use netcore::Time;
use rand::RngExt;

use crate::former::Version;

use super::{
    machine::Machine,
    world::{Answer, Call, Event, SECOND, World},
};

impl World {
    pub(super) fn is_cut(&self, machine: usize) -> bool {
        self.machines[machine].cut.is_some_and(|(until, _)| until > self.now)
    }

    // Other machines cannot reach it either.
    fn is_alone(&self, machine: usize) -> bool {
        self.machines[machine].cut.is_some_and(|(until, is_alone)| is_alone && until > self.now)
    }

    pub(super) fn request_lease(&mut self, (from, process): (usize, u64), ticket: Ticket, request: LeaseRequest) {
        let Some(to) = self.machines.iter().position(|machine| machine.name == request.to.node) else { return };
        let Machine { paused, is_lost, clock, .. } = &self.machines[to];
        if *is_lost || to != from && (self.is_alone(from) || self.is_alone(to)) {
            return;
        }
        if let Some(until) = paused.filter(|until| *until > self.now) {
            self.put(until, Event::Call { from, process, call: Call::RequestLease(ticket, request) });
            return;
        }
        let local = clock.at(self.now);
        let promise = self.machines[to].process.as_mut().map(|process| process.node.grant_lease(local, &request));
        self.after_event(to);
        if !self.chance(4) {
            let (delay, answer) = (self.delay(), Answer::LeaseGranted(ticket, promise.unwrap_or(LeaseGrant::Gone)));
            self.later(delay, Event::Answer { to: from, process, answer });
        }
    }

    pub(super) fn fault(&mut self) {
        if !self.is_faulty() {
            return;
        }
        if self.options.calm {
            return;
        }
        self.later(SECOND..8 * SECOND, Event::Fault);
        let machine = self.rng.random_range(0..self.machines.len());
        match self.rng.random_range(0..9) {
            0 | 1 => {
                let nanos = self.rng.random_range(SECOND..40 * SECOND);
                let target = &mut self.machines[machine];
                if target.paused.is_none_or(|until| until <= self.now) {
                    target.paused = Some(Time::from_nanos(self.now.as_nanos() + nanos));
                    if self.options.frozen {
                        target.clock.frozen += nanos;
                    }
                    self.put(Time::from_nanos(self.at() + nanos), Event::Tick(machine));
                }
            }
            2 | 3 => {
                self.machines[machine].process = None;
                self.later(0..40 * SECOND, Event::Start(machine));
            }
            4 => {
                let nanos = self.rng.random_range(SECOND..25 * SECOND);
                self.away = Time::from_nanos(self.at() + nanos);
                for number in self.watches.keys().copied().collect::<Vec<_>>() {
                    self.break_watch(number);
                }
            }
            5 | 6 => {
                let nanos = self.rng.random_range(SECOND..60 * SECOND);
                let is_alone = self.rng.random_range(0..2) == 0;
                self.machines[machine].cut = Some((Time::from_nanos(self.at() + nanos), is_alone));
                let watches = self.watches.iter().filter(|(_, watched)| watched.to == machine);
                for number in watches.map(|(number, _)| *number).collect::<Vec<_>>() {
                    self.break_watch(number);
                }
            }
            7 => {
                let others = self.machines.iter().filter(|machine| !machine.is_lost).count();
                if others > 2 && self.rng.random_range(0..4) == 0 {
                    let target = &mut self.machines[machine];
                    (target.is_lost, target.process) = (true, None);
                }
            }
            _ => {
                if let Some(process) = &mut self.machines[machine].process {
                    process.draining = true;
                    self.input(machine, Input::Drain);
                }
            }
        }
    }

    pub(super) fn heal(&mut self) {
        self.away = self.now;
        // Rooms in several streams wait for a node of the current version.
        if let Some(machine) = self.machines.iter_mut().find(|machine| !machine.is_lost)
            && machine.version != Version::Current
        {
            (machine.version, machine.process) = (Version::Current, None);
        }
        for machine in 0..self.machines.len() {
            self.machines[machine].cut = None;
            self.later(0..5 * SECOND, Event::Start(machine));
            self.later(0..SECOND, Event::Tick(machine));
        }
    }
}
