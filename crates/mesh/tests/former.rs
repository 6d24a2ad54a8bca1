use std::{
    collections::BTreeMap,
    ops::{Deref, DerefMut},
};

use mesh::{
    Delta, Entry, HeartbeatValue, Input, Key, Name, Node, NodeValue, Output, Reply, Revision, Settings, Ticket, Value,
    WriteRequest, Written,
};
use netcore::Time;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// Without separate heartbeats.
    First,
    /// With one stream of journals.
    Second,
    Current,
}

/// A node that appears to be of an earlier version. Its entry has no level, and it takes no room whose rules it does not
/// know, such as those of rooms in several streams.
#[derive(Debug)]
pub(crate) struct VersionedNode {
    node: Node,
    version: Version,
    former: Option<Former>,
}

/// Makes a node appear to be of the version before separate heartbeats: its entry has no field `apart`, each heartbeat
/// rewrites the entry, and separate ones are not read.
#[derive(Debug)]
struct Former {
    key: Key,
    // The last sent value of the entry, and its last known revision.
    value: Option<NodeValue>,
    last: Revision,
    // With a life, the node regards the write of the entry as a separate heartbeat of this life.
    pending: BTreeMap<Ticket, Option<Revision>>,
}

impl VersionedNode {
    pub(crate) fn new(mut settings: Settings, version: Version) -> Self {
        settings.streams &= version == Version::Current;
        let former = (version == Version::First).then(|| Former::new(settings.name.clone()));
        Self { node: Node::new(settings), version, former }
    }

    pub(crate) fn input(&mut self, now: Time, mut input: Input, out: &mut Vec<Output>) {
        let first = out.len();
        // A node of an earlier version writes all rows into entries.
        if let (Version::First | Version::Second, Input::Delta(Delta::Put(_, Entry { value: Value::Node(node), .. }))) =
            (self.version, &mut input)
        {
            node.level = 0;
        }
        if let Some(former) = &mut self.former {
            input = former.receive(input);
        }
        self.node.input(now, input, out);
        for output in &mut out[first..] {
            let Output::Write(ticket, ask) = output else { continue };
            if self.version != Version::Current
                && let Some(Value::Node(node)) = &mut ask.value
            {
                node.level = 0;
            }
            if let Some(former) = &mut self.former {
                former.send(*ticket, ask);
            }
        }
    }
}

impl Deref for VersionedNode {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

impl DerefMut for VersionedNode {
    fn deref_mut(&mut self) -> &mut Node {
        &mut self.node
    }
}

impl Former {
    fn new(name: Name) -> Self {
        Self { key: Key::Node(name), value: None, last: Revision(0), pending: BTreeMap::new() }
    }

    fn send(&mut self, ticket: Ticket, ask: &mut WriteRequest) {
        let (life, joins) = match &mut ask.value {
            Some(Value::Heartbeat(heartbeat)) => {
                let life = Some(heartbeat.life);
                ask.key = self.key.clone();
                ask.value = self.value.clone().map(|value| Value::Node(NodeValue { life, ..value }));
                (life, false)
            }
            Some(Value::Node(node)) => {
                node.apart = None;
                self.value = Some(node.clone());
                (None, node.life.is_none())
            }
            None if ask.key == self.key => (None, false),
            _ => return,
        };
        // The node does not know that its heartbeats change the revision of the entry.
        if !joins {
            ask.expected = ask.expected.max(Some(self.last));
        }
        self.last = ask.expected.unwrap_or_default();
        self.pending.insert(ticket, life);
    }

    fn receive(&mut self, input: Input) -> Input {
        match input {
            Input::Delta(Delta::Put(Key::Heartbeat(_), _) | Delta::Removed(Key::Heartbeat(_), _)) => Input::Elapsed,
            Input::Delta(Delta::Put(key, entry)) => Input::Delta(Delta::Put(key, without_apart(entry))),
            Input::Reply(ticket, Reply::Written(written)) => {
                Input::Reply(ticket, Reply::Written(self.translate(ticket, written)))
            }
            input => input,
        }
    }

    fn translate(&mut self, ticket: Ticket, written: Written) -> Written {
        let sent = self.pending.remove(&ticket);
        let there = match written {
            Written::Stored(revision) => {
                if sent.is_some() {
                    self.last = self.last.max(revision);
                }
                return Written::Stored(revision);
            }
            Written::Conflict(there) => there.map(without_apart),
        };
        let Some(Some(life)) = sent else { return Written::Conflict(there) };
        // An earlier heartbeat of this life was stored and its reply lost, or another node has removed the entry.
        let ended = there.as_ref().and_then(Entry::life) != Some(life);
        let revision = there.map_or(self.last, |entry| entry.revision);
        if !ended {
            self.last = self.last.max(revision);
        }
        Written::Conflict(Some(Entry { revision, value: Value::Heartbeat(HeartbeatValue { life, ended }) }))
    }
}

fn without_apart(mut entry: Entry) -> Entry {
    if let Value::Node(node) = &mut entry.value {
        node.apart = None;
    }
    entry
}
