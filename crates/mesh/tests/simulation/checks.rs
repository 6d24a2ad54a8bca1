use mesh::{Delta, Directory, Durability, Key, Name};

use super::{
    oracle::{self, Mirror},
    room,
    world::{FAULTS, PATIENCE, ROOMS, World, now},
};

impl World {
    // It was on a lost machine, which its durability permits.
    pub(super) fn is_gone(&self, room: &Name) -> bool {
        // No state was stored, so the node that took it over has closed it.
        self.rooms[room] == Durability::Node && self.entry(room).is_none() && self.oracle.is_not_stored(room)
            || !self.oracle.sent.contains_key(room) && self.entry(room).is_none()
    }

    pub(super) fn entry(&self, room: &Name) -> Option<mesh::Entry> {
        now(self.mesh.entry(&Key::Room(room.clone()))).unwrap().unwrap()
    }

    pub(super) fn is_over(&self, room: &Name) -> bool {
        self.is_gone(room) || self.entry(room).is_none() && self.oracle.has_result(room)
    }

    pub(super) fn is_done(&self) -> bool {
        self.rooms.len() >= ROOMS && self.rooms.keys().all(|room| self.is_over(room))
    }

    pub(super) fn check_patience(&self) {
        if self.at() < FAULTS + PATIENCE {
            return;
        }
        if let Some(room) = self.rooms.keys().find(|room| !self.is_over(room)) {
            let sent = self.oracle.sent.get(room).map_or(0, Vec::len);
            let entry = self.entry(room);
            assert!(
                sent < room::MATCH || self.oracle.has_result(room),
                "the result of {room} is lost: its match is over, and the queue is empty"
            );
            let is_lost = entry.is_none() && (1..room::MATCH).contains(&sent);
            assert!(!is_lost, "the sent state of {room} is lost: it was closed after {sent} inputs");
            assert!(sent < room::MATCH, "a closed room stays in the directory: {room}, {entry:?}");
            panic!(
                "{room} stands still though the faults have stopped: {sent} inputs were sent, and the directory has {entry:?}"
            );
        }
    }

    pub(super) fn check_watches(&mut self) {
        let mut all = now(self.mesh.watch(None)).unwrap().unwrap();
        let mut truth = Mirror::new();
        while let Some(Ok(delta)) = now(all.next()) {
            if let Delta::Put(key, entry) = delta {
                truth.insert(key.to_string(), entry.revision);
            }
        }
        let is_node = |key: &String| key.starts_with("node.") || key.starts_with("heartbeat.");
        truth.retain(|key, _| !is_node(key));
        for machine in &mut self.machines {
            let Some(process) = machine.process.as_mut().filter(|process| process.watch.is_some()) else { continue };
            // Heartbeats may be in transit at any time.
            process.mirror.retain(|key, _| !is_node(key));
            oracle::watched(&machine.name, &process.mirror, &truth);
        }
    }
}
