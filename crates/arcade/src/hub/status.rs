//! What the operator is shown of a hub.

use serde_json::{Value, json};

use super::Hub;

impl Hub {
    /// What the operator is shown.
    pub(crate) fn status(&self) -> Value {
        let rooms = self.rooms.all();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "status": if self.rooms.is_draining() { "draining" } else { "ready" },
            "address": self.address().map(|address| &address.here),
            "port": self.address().map(|address| address.port),
            "rooms": self.rooms.counts(),
            "running": self.rooms.running(),
            "people": rooms.iter().map(|room| room.info.borrow().people).sum::<usize>(),
            "bots": rooms.iter().map(|room| room.bots.count()).sum::<usize>(),
            "sockets": self.resources.sockets(),
            "bans": self.bans().list().len(),
            "ports": rooms.len(),
            "fleet": self.elsewhere().map(|elsewhere| elsewhere.status(&self.rooms)),
        })
    }
}
