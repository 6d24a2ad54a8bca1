use mesh::{Directory, Durability, Events, Input, Key, Opening};
use netcore::Time;
use rand::RngExt;

use super::{
    machine::Machine,
    oracle::StateSender,
    room,
    world::{Call, Event, PLAY, ROOMS, SECOND, World, name, now},
};

impl World {
    pub(super) fn after_event(&mut self, to: usize) {
        let calls = self.machines[to].log_requests(self.now);
        self.calls(to, calls);
        self.send_states(to);
        let machine = &self.machines[to];
        if let Some(process) = &machine.process {
            let due = machine.clock.real(process.node.deadline());
            let soon = Time::from_nanos(self.at() + SECOND / 1_000);
            if due.as_nanos() < self.at() + 1_000 * SECOND {
                self.put(due.max(soon), Event::Tick(to));
            }
        }
    }

    pub(super) fn send_states(&mut self, to: usize) {
        let mut follow_up = vec![];
        let machine = &mut self.machines[to];
        let local = machine.clock.at(self.now);
        let Some(process) = &mut machine.process else { return };
        if process.leaving {
            return;
        }
        for (room, running) in &mut process.rooms {
            let sendable = running.sendable();
            let may = process.node.may_publish(room, local) == Some(running.fence);
            if may && sendable > running.sent {
                running.sent = sendable;
                let key = Key::Room(room.clone());
                let entry = now(self.mesh.entry(&key)).unwrap().unwrap();
                let sender = StateSender { node: &machine.name, identity: &machine.identity, fence: running.fence };
                let state = &running.state.as_ref().unwrap()[..sendable];
                let sender = (sender, running.durability);
                self.oracle.sent(room, sender, state, (entry.as_ref(), self.options.frozen));
            }
            if may {
                running.publish();
            }
            if running.suspending && running.is_stored() {
                follow_up.push(Input::Suspended(room.clone()));
            } else if running.submitted && running.sent == room::MATCH {
                follow_up.push(Input::Close(room.clone()));
            }
        }
        for input in follow_up {
            if let Input::Suspended(room) = &input
                && let Some(process) = &mut self.machines[to].process
            {
                process.rooms.remove(room);
            }
            let calls = self.machines[to].input(self.now, input, &self.rooms);
            self.calls(to, calls);
        }
    }

    // Players act at every node that believes it owns the room.
    pub(super) fn play(&mut self) {
        self.later(PLAY / 2..PLAY, Event::Play);
        self.open_rooms();
        for machine in 0..self.machines.len() {
            if self.is_paused(machine) {
                continue;
            }
            let Machine { process: Some(process), disk, .. } = &mut self.machines[machine] else {
                // A stopped machine restarts after a while. In mixed runs it may switch versions.
                if self.rng.random_range(0..20) == 0 {
                    self.put(self.now, Event::Start(machine));
                }
                continue;
            };
            let mut submits = vec![];
            for (name, running) in &mut process.rooms {
                self.inputs += 1;
                if self.rng.random_range(0..3) == 0
                    && running.play(self.inputs)
                    && running.durability == Durability::Node
                {
                    disk.insert(name.clone(), running.state.clone().unwrap());
                }
                if running.is_over() && running.sent == room::MATCH && !running.submitted {
                    submits.push(Call::Submit(name.clone()));
                }
            }
            let (rewatch, rows) = (process.watch.is_none(), process.rooms.keys().cloned().collect::<Vec<_>>());
            let since = process.last;
            let empty = process.rooms.is_empty() && process.node.owned().next().is_none();
            // A node does not wait indefinitely until all rooms have moved.
            let done = process.draining && (empty || self.rng.random_range(0..20) == 0);
            let hands: Vec<_> = process.rooms.keys().filter(|_| process.draining).cloned().collect();
            self.calls(machine, submits);
            if rewatch {
                self.call(machine, Call::Watch(since));
            }
            for room in rows {
                if self.rng.random_range(0..20) == 0 {
                    let row = self.inputs.to_string();
                    self.input(machine, Input::Row(room, row));
                }
            }
            for room in hands {
                // Some handovers are cancelled, as if they took too long.
                let stays = self.rng.random_range(0..8) == 0;
                if stays
                    && let Some(process) = &mut self.machines[machine].process
                    && let Some(running) = process.rooms.get_mut(&room)
                {
                    running.suspending = false;
                }
                self.input(machine, if stays { Input::CancelHandover(room) } else { Input::HandOver(room) });
            }
            if done && let Some(process) = &mut self.machines[machine].process {
                process.leaving = true;
                self.input(machine, Input::Leave);
            }
            self.after_event(machine);
        }
        self.follow();
    }

    pub(super) fn open_rooms(&mut self) {
        if self.rooms.len() >= ROOMS || self.rng.random_range(0..20) != 0 {
            return;
        }
        let number = self.rooms.len();
        let room = name(&format!("room-{number}"));
        let durability = if self.rng.random_range(0..3) == 0 { Durability::Node } else { Durability::Cluster };
        let machine = self.rng.random_range(0..self.machines.len());
        self.rooms.insert(room.clone(), durability);
        self.input(machine, Input::Open(room, Opening::new(durability, String::new())));
    }

    pub(super) fn follow(&mut self) {
        for room in self.rooms.keys().cloned().collect::<Vec<_>>() {
            let (mut follow, mut last, mut seen) = self
                .followers
                .remove(&room)
                .unwrap_or_else(|| (now(self.mesh.follow(&room, None)).unwrap().unwrap(), None, vec![]));
            if self.chance(10) {
                follow = now(self.mesh.follow(&room, last)).unwrap().unwrap();
            }
            while let Some(event) = now(follow.next()) {
                let event = event.unwrap();
                if event.is_snapshot {
                    seen.clear();
                }
                seen.extend(room::inputs(&event.body));
                last = Some(event.sequence);
                self.oracle.followed(&room, &seen);
            }
            self.followers.insert(room, (follow, last, seen));
        }
    }
}
