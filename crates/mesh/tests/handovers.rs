use std::{
    collections::VecDeque,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use mesh::{
    Acquisition, Delta, Directory, Durability, Entry, Fence, HandoverRefusal, Holder, Input, Key, Local, Name, Node,
    NodeValue, Opening, Output, Placement, REQUEST_TIMEOUT, Reply, Revision, RoomValue, Settings, Summary, Value,
    Watch, Written,
};
use netcore::Time;

fn now<T>(answer: impl Future<Output = T>) -> Option<T> {
    match pin!(answer).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

struct Machine {
    node: Node,
    watch: Box<dyn Watch>,
    outputs: Vec<Output>,
    summaries: Vec<Summary>,
    // Keys of entries that it has written.
    written: Vec<Key>,
    runs: bool,
}

struct Fleet {
    mesh: Local,
    clock: Arc<AtomicU64>,
    machines: Vec<Machine>,
}

impl Fleet {
    /// One node for each list of rules that it runs.
    fn new(runs: &[&[&str]]) -> Self {
        let clock = Arc::new(AtomicU64::new(1));
        let time = Arc::clone(&clock);
        let mesh = Local::new(move || Time::from_nanos(time.load(Ordering::Relaxed)));
        let machines = runs.iter().zip(["ann", "bob", "cid"]).map(|(runs, own)| Machine {
            node: Node::new(Settings {
                name: name(own),
                identity: name(&format!("disk-of-{own}")),
                address: format!("{own}:80"),
                most_rooms: 9,
                runs: runs.iter().map(|&runs| runs.to_owned()).collect(),
                streams: true,
                outage: mesh::OUTAGE,
            }),
            watch: now(mesh.watch(None)).unwrap().unwrap(),
            outputs: vec![],
            summaries: vec![],
            written: vec![],
            runs: true,
        });
        let mut fleet = Self { machines: machines.collect(), mesh, clock };
        fleet.work();
        fleet
    }

    fn now(&self) -> Time {
        Time::from_nanos(self.clock.load(Ordering::Relaxed))
    }

    fn input(&mut self, to: usize, input: Input) {
        let at = self.now();
        let machine = &mut self.machines[to];
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let mut out = vec![];
            machine.node.input(at, input, &mut out);
            for output in out {
                match output {
                    Output::Write(ticket, ask) => {
                        let written = now(ask.perform(&self.mesh)).unwrap().unwrap();
                        machine.written.push(ask.key);
                        inputs.push_back(Input::Reply(ticket, Reply::Written(written)));
                    }
                    Output::Summarize(summary) => machine.summaries.push(summary),
                    output => machine.outputs.push(output),
                }
            }
        }
    }

    fn work(&mut self) {
        let mut is_news = true;
        while std::mem::take(&mut is_news) {
            for to in 0..self.machines.len() {
                if !self.machines[to].runs {
                    continue;
                }
                self.input(to, Input::Elapsed);
                while let Some(delta) = now(self.machines[to].watch.next()) {
                    is_news = true;
                    self.input(to, Input::Delta(delta.unwrap()));
                }
            }
        }
    }

    fn wait(&mut self, time: Duration) {
        let step = Duration::from_millis(100);
        for _ in 0..time.as_millis() / step.as_millis() {
            self.clock.store(self.now().plus(step).as_nanos(), Ordering::Relaxed);
            self.work();
        }
    }

    fn open(&mut self, needs: &str) -> Name {
        let room = name("nuggets-1");
        let opening = Opening { needs: needs.to_owned(), ..Opening::new(Durability::Cluster, "row".to_owned()) };
        self.input(0, Input::Open(room.clone(), opening));
        assert!(matches!(&self.outputs(0)[..], [Output::Own(_, _, Acquisition::New, _)]));
        self.work();
        room
    }

    fn outputs(&mut self, of: usize) -> Vec<Output> {
        std::mem::take(&mut self.machines[of].outputs)
    }

    fn hand_over(&mut self, room: &Name) -> Vec<Output> {
        self.input(0, Input::Drain);
        self.input(0, Input::HandOver(room.clone()));
        self.work();
        self.outputs(0)
    }

    fn may_publish(&self, room: &Name) -> Vec<bool> {
        self.machines.iter().map(|machine| machine.node.may_publish(room, self.now()).is_some()).collect()
    }
}

#[test]
fn suspended_room_moves_to_a_node_with_its_rules() {
    let mut fleet = Fleet::new(&[&["nuggets-3"], &["nuggets-4"], &["nuggets-4", "nuggets-3"]]);
    let room = fleet.open("nuggets-3");
    assert_eq!(fleet.hand_over(&room), [Output::Suspend(room.clone())]);
    assert_eq!(fleet.may_publish(&room), [true, false, false], "it tells until it is suspended");
    fleet.input(0, Input::Suspended(room.clone()));
    assert_eq!(fleet.outputs(0), [Output::HandedOver(room.clone())]);
    fleet.work();
    assert_eq!(fleet.may_publish(&room), [false, false, true]);
    assert!(matches!(&fleet.outputs(2)[..], [Output::Own(_, _, Acquisition::TakenOver, _)]));
    fleet.wait(Duration::from_secs(30));
    assert_eq!(fleet.may_publish(&room), [false, false, true]);
    assert!(fleet.outputs(0).is_empty() && fleet.outputs(1).is_empty());
}

#[test]
fn room_stays_if_no_other_node_can_run_it() {
    let mut fleet = Fleet::new(&[&["nuggets-3"], &["nuggets-4", "chess-1"]]);
    let room = fleet.open("nuggets-3");
    assert_eq!(fleet.hand_over(&room), [Output::HandoverRefused(room.clone(), HandoverRefusal::NoRules)]);
    // A room without needs moves to any node that does not drain.
    let mut fleet = Fleet::new(&[&[], &[]]);
    let room = fleet.open("");
    fleet.input(1, Input::Drain);
    fleet.work();
    assert_eq!(fleet.hand_over(&room), [Output::HandoverRefused(room.clone(), HandoverRefusal::NoNode)]);
    assert_eq!(fleet.may_publish(&room), [true, false]);
}

#[test]
fn rooms_are_suspended_only_after_the_directory_shows_the_drain() {
    let mut fleet = Fleet::new(&[&[], &[]]);
    // Beside a node of the former version, heartbeats rewrite the entry.
    let (identity, address) = (name("disk-of-old"), "old:80".to_owned());
    let old =
        NodeValue { identity, address, life: None, draining: true, runs: vec![], seen: None, apart: None, level: 0 };
    now(fleet.mesh.write(&Key::Node(name("old")), Some(&Value::Node(old)), None)).unwrap().unwrap();
    fleet.work();
    let room = fleet.open("");
    fleet.wait(mesh::SUMMARY_PAUSE);
    // A heartbeat that was sent before the drain is in transit.
    let (at, mut out) = (fleet.now().plus(Duration::from_secs(5)), vec![]);
    let node = &mut fleet.machines[0].node;
    node.input(at, Input::Elapsed, &mut out);
    let [Output::Write(ticket, ask)] = &out[..] else { panic!("{out:?}") };
    let (ticket, ask) = (*ticket, ask.clone());
    out.clear();
    node.input(at, Input::Drain, &mut out);
    node.input(at, Input::HandOver(room.clone()), &mut out);
    assert_eq!(out, []);
    let written = now(ask.perform(&fleet.mesh)).unwrap().unwrap();
    node.input(at, Input::Reply(ticket, Reply::Written(written)), &mut out);
    let [Output::Write(ticket, ask)] = &out[..] else { panic!("{out:?}") };
    let (ticket, ask) = (*ticket, ask.clone());
    out.clear();
    node.input(at, Input::CancelHandover(room.clone()), &mut out);
    let written = now(ask.perform(&fleet.mesh)).unwrap().unwrap();
    node.input(at, Input::Reply(ticket, Reply::Written(written)), &mut out);
    assert_eq!(out, []);
    node.input(at, Input::HandOver(room.clone()), &mut out);
    assert_eq!(out, [Output::Suspend(room)]);
}

#[test]
fn changed_row_is_in_a_summary_and_in_the_entry_only_beside_an_earlier_version() {
    let mut fleet = Fleet::new(&[&[], &[]]);
    let room = fleet.open("");
    let rows = |fleet: &mut Fleet| -> Vec<String> {
        std::mem::take(&mut fleet.machines[0].summaries)
            .into_iter()
            .flat_map(|summary| summary.rows.into_values())
            .collect()
    };
    let written = |fleet: &mut Fleet| {
        let written = std::mem::take(&mut fleet.machines[0].written);
        written.into_iter().filter(|key| *key == Key::Room(name("nuggets-1"))).count()
    };
    fleet.wait(Duration::from_secs(1));
    assert_eq!((rows(&mut fleet), written(&mut fleet)), (vec!["row".to_owned()], 1));
    for row in ["one", "two", "three"] {
        fleet.input(0, Input::Row(room.clone(), row.to_owned()));
    }
    fleet.wait(mesh::SUMMARY_PAUSE);
    let changed = rows(&mut fleet);
    assert!(changed.len() <= 2 && changed.last().unwrap() == "three", "at most one each 500 ms: {changed:?}");
    fleet.wait(mesh::SUMMARY_REPEAT);
    assert_eq!((rows(&mut fleet), written(&mut fleet)), (vec!["three".to_owned()], 0), "it is repeated");
    // The entry gets the row as soon as an earlier version reads it, and a new node gets all rows.
    let (identity, address) = (name("disk-of-old"), "old:80".to_owned());
    let old =
        NodeValue { identity, address, life: None, draining: false, runs: vec![], seen: None, apart: None, level: 0 };
    now(fleet.mesh.write(&Key::Node(name("old")), Some(&Value::Node(old)), None)).unwrap().unwrap();
    let row =
        |fleet: &Fleet| match now(fleet.mesh.entry(&Key::Room(name("nuggets-1")))).unwrap().unwrap().unwrap().value {
            Value::Room(room) => room.row,
            value => panic!("{value:?}"),
        };
    assert_eq!(row(&fleet), "row");
    fleet.wait(Duration::from_secs(1));
    assert_eq!((rows(&mut fleet), row(&fleet)), (vec!["three".to_owned()], "three".to_owned()));
    fleet.input(0, Input::Row(room.clone(), "four".to_owned()));
    fleet.wait(Duration::from_secs(1));
    assert_eq!((rows(&mut fleet), row(&fleet)), (vec!["four".to_owned()], "four".to_owned()));
}

#[test]
fn returning_owner_reads_a_room_that_others_owned_meanwhile() {
    comes_back(false);
    comes_back(true);
}

// The state on a node's disk is outdated if another node has owned the room since.
fn comes_back(is_lost: bool) {
    let (at, room) = (Time::ZERO, name("room"));
    let mut fleet = Fleet::new(&[&[]]);
    let node = &mut fleet.machines[0].node;
    let life = now(fleet.mesh.entry(&Key::Node(name("ann")))).unwrap().unwrap().unwrap().revision;
    let entry = |revision, holder: Option<Holder>| {
        let (needs, row) = (String::new(), String::new());
        let room = RoomValue { holder, fence: None, durability: Durability::Node, needs, unread: false, row };
        Entry { revision: Revision(revision), value: Value::Room(room) }
    };
    let mut out = vec![];
    // The claim of an earlier life arrives late.
    let holder = Holder { node: name("ann"), identity: name("disk-of-ann"), life: Revision(0) };
    assert!(life > Revision(0));
    node.input(at, Input::Delta(Delta::Put(Key::Room(room.clone()), entry(40, Some(holder)))), &mut out);
    let [Output::Write(ticket, ask)] = &out[..] else { panic!("{out:?}") };
    let (ticket, expected) = (*ticket, ask.expected);
    assert_eq!(expected, Some(Revision(40)));
    out.clear();
    // Another node has taken the room over and released it. The reply reports this, or the watch if the reply is lost.
    let (at, input) = if is_lost {
        node.input(at, Input::Delta(Delta::Put(Key::Room(room), entry(61, None))), &mut out);
        assert_eq!(out, [], "one question at a time");
        (at.plus(REQUEST_TIMEOUT), Input::Elapsed)
    } else {
        (at, Input::Reply(ticket, Reply::Written(Written::Conflict(Some(entry(61, None))))))
    };
    node.input(at, input, &mut out);
    let [Output::Write(ticket, ask)] = &out[..] else { panic!("{out:?}") };
    let ticket = *ticket;
    assert!(matches!(&ask.value, Some(Value::Room(RoomValue { unread: true, .. }))), "{ask:?}");
    out.clear();
    node.input(at, Input::Reply(ticket, Reply::Written(Written::Stored(Revision(69)))), &mut out);
    assert!(matches!(&out[..], [Output::Own(_, Fence(69), Acquisition::TakenOver, _), ..]), "{out:?}");
}

#[test]
fn repeated_claim_stays_with_its_owner() {
    for (hears_first, hands_over) in [(true, false), (false, false), (true, true), (false, true)] {
        let mut fleet = Fleet::new(&[&[], &[]]);
        let room = fleet.open("");
        if hands_over {
            fleet.hand_over(&room);
        }
        // An earlier attempt arrives late. It expects the current revision.
        let key = Key::Room(room.clone());
        let there = now(fleet.mesh.entry(&key)).unwrap().unwrap().unwrap();
        let Value::Room(mut claim) = there.value else { panic!("no room") };
        claim.fence = None;
        let late = now(fleet.mesh.write(&key, Some(&Value::Room(claim)), Some(there.revision))).unwrap().unwrap();
        let Written::Stored(revision) = late else { panic!("{late:?}") };
        fleet.outputs(0);
        if hears_first {
            fleet.work();
        } else {
            fleet.clock.store(fleet.now().plus(Duration::from_secs(1)).as_nanos(), Ordering::Relaxed);
            let next =
                if hands_over { Input::Suspended(room.clone()) } else { Input::Row(room.clone(), "news".into()) };
            fleet.input(0, next);
        }
        if hands_over {
            fleet.input(0, Input::Suspended(room.clone()));
            fleet.work();
            assert!(fleet.outputs(0).contains(&Output::HandedOver(room.clone())));
            fleet.wait(Duration::from_secs(1));
            assert_eq!(fleet.may_publish(&room), [false, true], "it goes on at the other node");
        } else {
            fleet.wait(Duration::from_secs(1));
            assert_eq!(
                fleet.outputs(0),
                [Output::Own(room.clone(), Fence(revision.0), Acquisition::Retained, Placement::Hashed)]
            );
            assert_eq!(fleet.may_publish(&room), [true, false]);
        }
    }
}
