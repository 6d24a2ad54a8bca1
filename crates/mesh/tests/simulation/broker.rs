use bytes::Bytes;
use mesh::{Delta, Directory, Input, Key, LogReply, Reply, Results, Written};
use netcore::Time;
use rand::RngExt;

use super::world::{Answer, Call, Event, OpenWatch, SECOND, World, now};

impl World {
    // In an outage, a request fails or receives no reply.
    pub(super) fn fail(&mut self, to: usize, process: u64, call: &Call) {
        let answer = match call {
            Call::Directory(ticket, _) => Answer::Directory(*ticket, Reply::Failed),
            Call::Log { journal, room, fence, ticket, .. } => Answer::Log {
                is_journal: journal.is_some(),
                room: room.clone(),
                fence: *fence,
                ticket: *ticket,
                reply: LogReply::Failed,
            },
            _ => return,
        };
        if self.rng.random_range(0..2) == 0 {
            self.later(0..SECOND, Event::Answer { to, process, answer });
        }
    }

    pub(super) fn perform(&mut self, from: usize, process: u64, call: Call) {
        let answer = match call {
            Call::RequestLease(..) => return,
            Call::Directory(ticket, ask) => {
                let written = now(ask.perform(&self.mesh)).unwrap();
                if let (Key::Room(room), None, Ok(Written::Stored(last))) = (&ask.key, &ask.value, &written) {
                    self.oracle.removed(room, *last);
                }
                Answer::Directory(ticket, written.map_or(Reply::Failed, Reply::Written))
            }
            Call::Log { journal, room, fence, ticket, ask } => {
                let is_journal = journal.is_some();
                let reply = match journal {
                    Some(placement) => now(ask.of_journal(&**self.mesh.journals().at(placement), &room)),
                    None => now(ask.of_events(&self.mesh, &room)),
                };
                let reply = reply.unwrap().unwrap_or(LogReply::Failed);
                Answer::Log { is_journal, room, fence, ticket, reply }
            }
            Call::RemoveJournal(room, fence, placement) => {
                now(self.mesh.journals().at(placement).remove(&room, fence)).unwrap().unwrap();
                return;
            }
            Call::Submit(room) => {
                now(self.mesh.submit(&room, &Bytes::new())).unwrap().unwrap();
                Answer::Submitted(room)
            }
            Call::Watch(since) => {
                let watch = now(self.mesh.watch(since)).unwrap().unwrap();
                self.events += 1;
                let number = self.events;
                if let Some(process) = self.machines[from].process.as_mut().filter(|now| now.number == process) {
                    process.watch = Some(number);
                    let arrives = self.now;
                    let process = process.number;
                    self.watches.insert(number, OpenWatch { to: from, process, watch, arrives });
                }
                return;
            }
        };
        if !self.chance(4) {
            let delay = self.delay();
            self.later(delay, Event::Answer { to: from, process, answer });
        }
    }

    pub(super) fn show_changes(&mut self) {
        self.watches.retain(|_, watched| {
            self.machines[watched.to].process.as_ref().is_some_and(|process| process.number == watched.process)
        });
        for number in self.watches.keys().copied().collect::<Vec<_>>() {
            while let Some(watched) = self.watches.get_mut(&number) {
                let (to, process) = (watched.to, watched.process);
                let Some(delta) = now(watched.watch.next()) else { break };
                let (delta, arrives) = (delta.unwrap(), watched.arrives);
                if matches!(delta, Delta::Put(Key::Room(_), _) | Delta::Removed(Key::Room(_), _)) {
                    self.changed = self.at();
                }
                let delay = if self.chance(3) { SECOND..10 * SECOND } else { 0..SECOND / 10 };
                let delay = Time::from_nanos(self.at() + self.rng.random_range(delay));
                let at = delay.max(arrives);
                self.put(at, Event::Delta { to, process, watch: number, delta });
                if let Some(watched) = self.watches.get_mut(&number) {
                    watched.arrives = at;
                }
            }
            if self.chance(1) {
                self.break_watch(number);
            }
        }
    }

    // A process notices immediately, later, or after a pause that its watch is broken.
    pub(super) fn break_watch(&mut self, number: u64) {
        let Some(OpenWatch { to, process, .. }) = self.watches.remove(&number) else { return };
        if let Some(process) = self.machines[to].process.as_mut().filter(|now| now.number == process) {
            process.watch = None;
        }
    }

    pub(super) fn delta(&mut self, to: usize, watch: u64, delta: Delta) {
        let Some(process) = self.machines[to].process.as_mut().filter(|process| process.watch == Some(watch)) else {
            return;
        };
        match &delta {
            Delta::Reset => {
                process.mirror.clear();
                process.last = None;
            }
            Delta::Put(key, entry) => {
                process.last = delta.resumes_after().or(process.last);
                process.mirror.insert(key.to_string(), entry.revision);
            }
            Delta::Removed(key, _) => {
                process.last = delta.resumes_after().or(process.last);
                process.mirror.remove(&key.to_string());
            }
        }
        self.input(to, Input::Delta(delta));
    }

    pub(super) fn answer(&mut self, to: usize, answer: Answer) {
        match answer {
            Answer::Directory(ticket, reply) => self.input(to, Input::Reply(ticket, reply)),
            Answer::LeaseGranted(ticket, promise) => self.input(to, Input::LeaseGranted(ticket, Some(promise))),
            Answer::Log { is_journal, room, fence, ticket, reply } => {
                let local = self.machines[to].clock.at(self.now);
                let process = self.machines[to].process.as_mut().unwrap();
                if let Some(running) = process.rooms.get_mut(&room).filter(|running| running.fence == fence) {
                    let durability = running.durability;
                    let writer = if is_journal { &mut running.journal } else { &mut running.events };
                    if let Some(pieces) = writer.reply(local, ticket, reply) {
                        if pieces.is_empty() {
                            // No state was published, or the durability permits its loss.
                            process.rooms.remove(&room);
                            self.oracle.without_journal(&room, durability);
                            self.input(to, Input::Close(room));
                            return;
                        }
                        self.machines[to].read(&room, &pieces);
                        self.input(to, Input::Restored(room.clone()));
                    } else if is_journal {
                        let stored = running.stored();
                        if let Some(state) = running.state.as_ref().filter(|_| stored > 0) {
                            self.oracle.stored(&room, fence, &state[..stored]);
                        }
                    }
                }
                self.after_event(to);
            }
            Answer::Submitted(room) => {
                let process = self.machines[to].process.as_mut().unwrap();
                if let Some(running) = process.rooms.get_mut(&room) {
                    running.submitted = true;
                }
                self.after_event(to);
            }
        }
    }
}
