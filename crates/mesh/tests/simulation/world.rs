use std::{
    collections::BTreeMap,
    future::Future,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use mesh::{
    Committed, Delta, Durability, ErrorKind, Fence, Follow, Input, LeaseGrant, LeaseRequest, Local, LogReply,
    LogRequest, MeshError, Name, Placement, Reply, Revision, Ticket, Watch, WriteRequest, consume_result,
};
use netcore::Time;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::former::Version;

use super::{
    machine::{Clock, Machine},
    oracle::Oracle,
};

pub(super) const SECOND: u64 = 1_000_000_000;
pub(super) const FAULTS: u64 = 120 * SECOND;
/// The fleet must recover in this time, even if every node known to a lost node is gone.
pub(super) const PATIENCE: u64 = 400 * SECOND;
pub(super) const OUTAGE: Duration = Duration::from_secs(60);
pub(super) const ROOMS: usize = 8;
/// The longest interval between actions of players, and between checks of hubs.
pub(super) const PLAY: u64 = SECOND / 2;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Options {
    /// Clocks stop while a machine is paused.
    pub(super) frozen: bool,
    /// Messages are lost, delayed and repeated, but machines and the broker never fail.
    pub(super) calm: bool,
    /// A rolling upgrade with some reverted steps: machines switch versions when they restart.
    pub(super) mixed: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Call {
    Directory(Ticket, WriteRequest),
    RequestLease(Ticket, LeaseRequest),
    /// To the journal of the room in the placement, or else to its events.
    Log {
        journal: Option<Placement>,
        room: Name,
        fence: Fence,
        ticket: Ticket,
        ask: LogRequest,
    },
    RemoveJournal(Name, Fence, Placement),
    Submit(Name),
    Watch(Option<Revision>),
}

#[derive(Debug, Clone)]
pub(super) enum Answer {
    Directory(Ticket, Reply),
    LeaseGranted(Ticket, LeaseGrant),
    Log { is_journal: bool, room: Name, fence: Fence, ticket: Ticket, reply: LogReply },
    Submitted(Name),
}

#[derive(Debug, Clone)]
pub(super) enum Event {
    Call { from: usize, process: u64, call: Call },
    Answer { to: usize, process: u64, answer: Answer },
    Delta { to: usize, process: u64, watch: u64, delta: Delta },
    Tick(usize),
    Play,
    Fault,
    Start(usize),
    Consume,
}

pub(super) struct OpenWatch {
    pub(super) to: usize,
    pub(super) process: u64,
    pub(super) watch: Box<dyn Watch>,
    // When the last change arrives. Later ones do not arrive before it.
    pub(super) arrives: Time,
}

pub(super) type Follower = (Box<dyn Follow>, Option<mesh::Sequence>, Vec<u32>);

pub(super) struct World {
    pub(super) options: Options,
    pub(super) rng: Pcg64,
    pub(super) now: Time,
    pub(super) clock: Arc<AtomicU64>,
    pub(super) mesh: Local,
    pub(super) queue: BTreeMap<(Time, u64), Event>,
    pub(super) events: u64,
    pub(super) processes: u64,
    pub(super) machines: Vec<Machine>,
    pub(super) watches: BTreeMap<u64, OpenWatch>,
    pub(super) followers: BTreeMap<Name, Follower>,
    pub(super) away: Time,
    pub(super) rooms: BTreeMap<Name, Durability>,
    pub(super) inputs: u32,
    /// The last change of the directory, except for heartbeats.
    pub(super) changed: u64,
    pub(super) oracle: Oracle,
}

pub(super) fn now<T>(answer: impl Future<Output = T>) -> Option<T> {
    match pin!(answer).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

pub(super) fn name(text: &str) -> Name {
    text.parse().unwrap()
}

impl World {
    pub(super) fn new(seed: u64, options: Options) -> Self {
        let mut rng = Pcg64::seed_from_u64(seed);
        let clock = Arc::new(AtomicU64::new(0));
        let time = clock.clone();
        let machines = (0..rng.random_range(2..6)).map(|number| Machine {
            name: name(&format!("node-{number}")),
            identity: name(&format!("disk-{number}")),
            clock: Clock { offset: rng.random_range(0..1_000 * SECOND), rate: rng.random_range(850..1_150), frozen: 0 },
            paused: None,
            cut: None,
            disk: BTreeMap::new(),
            process: None,
            is_lost: false,
            version: match options.mixed.then(|| rng.random_range(0..3)) {
                Some(0) => Version::First,
                Some(1) => Version::Second,
                _ => Version::Current,
            },
        });
        let machines: Vec<Machine> = machines.collect();
        let mut world = Self {
            options,
            rng,
            now: Time::ZERO,
            clock,
            mesh: Local::new(move || Time::from_nanos(time.load(Ordering::Relaxed))),
            queue: BTreeMap::new(),
            events: 0,
            processes: 0,
            machines,
            watches: BTreeMap::new(),
            followers: BTreeMap::new(),
            away: Time::ZERO,
            rooms: BTreeMap::new(),
            inputs: 0,
            changed: 0,
            oracle: Oracle::default(),
        };
        for machine in 0..world.machines.len() {
            world.later(0..5 * SECOND, Event::Start(machine));
        }
        world.later(0..PLAY, Event::Play);
        world.later(0..SECOND, Event::Consume);
        world.later(SECOND..10 * SECOND, Event::Fault);
        world
    }

    /// Returns a hash of the trace.
    pub(super) fn run(mut self) -> u64 {
        let mut trace = DefaultHasher::new();
        let (mut healed, mut done) = (false, None);
        while let Some(((at, _), event)) = self.queue.pop_first() {
            (at, std::mem::discriminant(&event)).hash(&mut trace);
            self.now = at;
            self.clock.store(at.as_nanos(), Ordering::Relaxed);
            if !self.is_faulty() && !std::mem::replace(&mut healed, true) {
                self.heal();
            }
            let is_play = matches!(event, Event::Play);
            self.happen(event);
            if done.is_none() && is_play && healed && self.is_done() {
                done = Some(self.at());
            }
            // By then, all messages in transit have arrived.
            if done.is_some_and(|done| {
                self.at() > (done + 30 * SECOND).max(FAULTS + 60 * SECOND).max(self.changed + 10 * SECOND)
            }) {
                self.check_watches();
                return trace.finish();
            }
            if done.is_none() {
                self.check_patience();
            }
        }
        unreachable!("players never stop");
    }

    pub(super) fn at(&self) -> u64 {
        self.now.as_nanos()
    }

    pub(super) fn is_faulty(&self) -> bool {
        self.at() < FAULTS
    }

    pub(super) fn put(&mut self, at: Time, event: Event) {
        self.events += 1;
        self.queue.insert((at, self.events), event);
    }

    pub(super) fn later(&mut self, nanos: Range<u64>, event: Event) {
        let nanos = self.rng.random_range(nanos);
        self.put(Time::from_nanos(self.at() + nanos), event);
    }

    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.is_faulty() && self.rng.random_range(0..100) < percent
    }

    pub(super) fn delay(&mut self) -> Range<u64> {
        if self.chance(4) { SECOND..20 * SECOND } else { SECOND / 1_000..SECOND / 5 }
    }

    pub(super) fn call(&mut self, from: usize, call: Call) {
        let Some(process) = self.machines[from].process.as_ref().map(|process| process.number) else { return };
        let event = Event::Call { from, process, call };
        if self.chance(4) {
            self.later(0..120 * SECOND, event.clone());
        }
        if !self.chance(4) {
            let delay = self.delay();
            self.later(delay, event);
        }
    }

    pub(super) fn calls(&mut self, from: usize, calls: Vec<Call>) {
        for call in calls {
            self.call(from, call);
        }
    }

    pub(super) fn is_paused(&self, machine: usize) -> bool {
        self.machines[machine].paused.is_some_and(|until| until > self.now)
    }

    pub(super) fn input(&mut self, to: usize, input: Input) {
        if self.is_paused(to) {
            return;
        }
        let calls = self.machines[to].input(self.now, input, &self.rooms);
        self.calls(to, calls);
        self.after_event(to);
    }

    pub(super) fn process_is(&self, machine: usize, number: u64) -> bool {
        self.machines[machine].process.as_ref().is_some_and(|process| process.number == number)
    }

    pub(super) fn happen(&mut self, event: Event) {
        let target = match &event {
            Event::Answer { to, .. } | Event::Delta { to, .. } | Event::Tick(to) | Event::Start(to) => Some(*to),
            _ => None,
        };
        // A paused machine processes everything later, in the same order.
        if let Some(until) = target.and_then(|machine| self.machines[machine].paused).filter(|until| *until > self.now)
        {
            self.put(until, event);
            return;
        }
        match event {
            Event::Call { from, process, call: Call::RequestLease(ticket, request) } => {
                self.request_lease((from, process), ticket, request);
            }
            Event::Call { from, process, call } => {
                if self.is_cut(from) {
                    return;
                }
                if self.away > self.now {
                    self.fail(from, process, &call);
                } else {
                    self.perform(from, process, call);
                    self.show_changes();
                }
            }
            Event::Answer { to, process, answer } if self.process_is(to, process) => {
                if matches!(answer, Answer::LeaseGranted(..)) || !self.is_cut(to) {
                    self.answer(to, answer);
                }
            }
            Event::Delta { to, process, watch, delta } if self.process_is(to, process) => self.delta(to, watch, delta),
            Event::Answer { .. } | Event::Delta { .. } => {}
            Event::Tick(machine) => self.tick(machine),
            Event::Play => self.play(),
            Event::Fault => self.fault(),
            Event::Start(machine) => {
                if !self.machines[machine].is_lost && self.machines[machine].process.is_none() {
                    self.processes += 1;
                    if self.options.mixed {
                        let (change, is_faulty) = (self.rng.random_range(0..24), self.is_faulty());
                        let version = &mut self.machines[machine].version;
                        match change {
                            0 if is_faulty => *version = Version::First,
                            1 if is_faulty => *version = Version::Second,
                            2..8 => *version = Version::Current,
                            _ => {}
                        }
                    }
                    self.machines[machine].start(self.processes);
                    self.input(machine, Input::Elapsed);
                }
            }
            Event::Consume => self.consume(),
        }
    }

    pub(super) fn tick(&mut self, machine: usize) {
        let due = |machine: &Machine, now| {
            machine.process.as_ref().is_some_and(|process| process.node.deadline() <= machine.clock.at(now))
        };
        // Later inputs may have moved the deadline.
        if due(&self.machines[machine], self.now) {
            self.input(machine, Input::Elapsed);
        }
    }

    // The consumer sometimes fails before the commit, or dies after it.
    pub(super) fn consume(&mut self) {
        self.later(SECOND..3 * SECOND, Event::Consume);
        if self.away > self.now {
            return;
        }
        let (fails, dies) = (self.chance(20), self.chance(20));
        let oracle = &mut self.oracle;
        let commit = async |id: &Name, _: &Bytes| {
            if fails {
                return Err(MeshError::new(ErrorKind::Away, "commit", "the database", "it is away", "wait"));
            }
            oracle.commit(id);
            if dies {
                std::future::pending::<()>().await;
            }
            Ok(Committed::Stored)
        };
        let _ = now(consume_result(&self.mesh, commit));
    }
}
