use std::collections::BTreeMap;

use mesh::{Acquisition, Durability, Fence, Input, Name, Output, Placement, Revision, Settings, Ticket};
use netcore::Time;

use super::{
    oracle::Mirror,
    room::{self, Running},
    world::{Call, OUTAGE},
};
use crate::former::{Version, VersionedNode};

#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) offset: u64,
    /// Thousandths of real time.
    pub(super) rate: u64,
    /// Real time that it has missed.
    pub(super) frozen: u64,
}

impl Clock {
    pub(super) fn at(self, real: Time) -> Time {
        let passed = real.as_nanos().saturating_sub(self.frozen);
        Time::from_nanos(self.offset + passed / 1_000 * self.rate)
    }

    pub(super) fn real(self, local: Time) -> Time {
        let passed = local.as_nanos().saturating_sub(self.offset).div_ceil(self.rate).saturating_mul(1_000);
        Time::from_nanos(passed.saturating_add(self.frozen))
    }
}

#[derive(Debug)]
pub(super) struct Machine {
    pub(super) name: Name,
    pub(super) identity: Name,
    pub(super) clock: Clock,
    pub(super) paused: Option<Time>,
    /// Until when the broker is unreachable, and whether other machines are too.
    pub(super) cut: Option<(Time, bool)>,
    pub(super) disk: BTreeMap<Name, Vec<u32>>,
    pub(super) process: Option<Process>,
    pub(super) is_lost: bool,
    pub(super) version: Version,
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) number: u64,
    pub(super) node: VersionedNode,
    pub(super) rooms: BTreeMap<Name, Running>,
    pub(super) mirror: Mirror,
    pub(super) last: Option<Revision>,
    pub(super) watch: Option<u64>,
    pub(super) leaving: bool,
    pub(super) draining: bool,
}

impl Process {
    fn new(number: u64, machine: &Machine) -> Self {
        let (name, identity) = (machine.name.clone(), machine.identity.clone());
        let settings = Settings {
            address: format!("{name}:80"),
            name,
            identity,
            most_rooms: 100,
            runs: vec![],
            streams: true,
            outage: OUTAGE,
        };
        Self {
            number,
            node: VersionedNode::new(settings, machine.version),
            rooms: BTreeMap::new(),
            mirror: Mirror::new(),
            last: None,
            watch: None,
            leaving: false,
            draining: false,
        }
    }
}

impl Machine {
    pub(super) fn start(&mut self, number: u64) {
        self.process = Some(Process::new(number, self));
    }

    pub(super) fn input(&mut self, now: Time, input: Input, durable: &BTreeMap<Name, Durability>) -> Vec<Call> {
        let local = self.clock.at(now);
        let (mut out, mut calls) = (vec![], vec![]);
        if let Some(process) = &mut self.process {
            process.node.input(local, input, &mut out);
        }
        for output in out {
            let Some(process) = &mut self.process else { break };
            match output {
                Output::Write(ticket, ask) => calls.push(Call::Directory(ticket, ask)),
                Output::RequestLease(ticket, request) => calls.push(Call::RequestLease(ticket, request)),
                Output::Own(room, fence, how, placement) => {
                    // Earlier versions know no other.
                    let is_current = self.version == Version::Current;
                    let placement = if is_current { placement } else { Placement::Single };
                    self.own(&room, (fence, how, placement), durable[&room]);
                }
                Output::Lost(room) | Output::ClaimFailed(room) => {
                    process.rooms.remove(&room);
                }
                Output::Closed(room) => {
                    self.disk.remove(&room);
                    if let Some(running) = process.rooms.remove(&room) {
                        calls.push(Call::RemoveJournal(room, running.fence, running.placement));
                    }
                }
                Output::Suspend(room) => {
                    if let Some(running) = process.rooms.get_mut(&room) {
                        running.suspend();
                    }
                }
                Output::HandedOver(room) => {
                    process.rooms.remove(&room);
                    // A released room is no longer the state of this machine.
                    self.disk.remove(&room);
                }
                // Rows of lobbies do not change what rooms publish.
                Output::NameTaken | Output::HandoverRefused(..) | Output::Summarize(_) => {}
                Output::Left => self.process = None,
            }
        }
        calls
    }

    fn own(&mut self, room: &Name, (fence, how, placement): (Fence, Acquisition, Placement), durability: Durability) {
        let Some(process) = &mut self.process else { return };
        let before = process.rooms.remove(room).and_then(|running| running.state);
        let state = match (how, durability) {
            (Acquisition::New, _) => Some(vec![]),
            (Acquisition::Retained, _) if before.is_some() => before,
            (Acquisition::Recovered, Durability::Node) if self.disk.contains_key(room) => self.disk.get(room).cloned(),
            _ => None,
        };
        if durability == Durability::Node
            && let Some(state) = &state
        {
            self.disk.insert(room.clone(), state.clone());
        }
        process.rooms.insert(room.clone(), Running::new((fence, placement), durability, state));
    }

    pub(super) fn read(&mut self, room: &Name, pieces: &[mesh::Piece]) {
        let Some(running) = self.process.as_mut().and_then(|process| process.rooms.get_mut(room)) else { return };
        let state = room::replay(pieces);
        if running.durability == Durability::Node {
            self.disk.insert(room.clone(), state.clone());
        }
        running.state = Some(state);
    }

    pub(super) fn log_requests(&mut self, now: Time) -> Vec<Call> {
        let local = self.clock.at(now);
        let Some(process) = &mut self.process else { return vec![] };
        let mut calls = vec![];
        for (name, running) in &mut process.rooms {
            if running.journal.wants_anchor() && running.state.is_some() {
                running.begin_segment();
            }
            let mut put = |journal, pending: Option<(Ticket, mesh::LogRequest)>| {
                if let Some((ticket, ask)) = pending {
                    calls.push(Call::Log { journal, room: name.clone(), fence: running.fence, ticket, ask });
                }
            };
            put(Some(running.placement), running.journal.next_request(local));
            put(None, running.events.next_request(local));
        }
        calls
    }
}
