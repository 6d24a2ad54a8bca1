//! What a node asks of the directory and of other nodes.

use std::sync::Arc;

use mesh::{Name, Plea, Ticket};

use super::{
    super::{
        codes,
        command::Answer,
        common, plea,
        seal::{self, RelayKey},
        shared::SECRET,
    },
    Done, Task,
};

impl Task {
    pub(super) fn claim(&mut self, code: Name, room: Name, answer: Option<Answer>) {
        let directory = Arc::clone(&self.directory);
        self.asks.spawn(async move {
            let claimed = codes::claim(&*directory, &code, &room).await;
            Done::Code { code, room, claimed, answer }
        });
    }

    /// Writes again what would be too old to be kept.
    pub(super) fn touch(&mut self) {
        for (code, room) in self.codes.all() {
            self.claim(code, room, None);
        }
        self.ensure_key();
        let (directory, secret) = (Arc::clone(&self.directory), self.secret.clone());
        self.asks.spawn(async move {
            let Ok(name) = SECRET.parse() else { return Done::Nothing };
            // Written again, or put back if the broker has lost it.
            let _ = common::ensure(&*directory, &name, || Ok(secret.clone())).await;
            Done::Nothing
        });
    }

    pub(super) fn ensure_key(&mut self) {
        let directory = Arc::clone(&self.directory);
        self.asks.spawn(async move {
            let Ok(name) = seal::KEY.parse() else { return Done::Key(None) };
            let key = common::ensure(&*directory, &name, RelayKey::draw).await;
            Done::Key(key.ok().and_then(|key| RelayKey::read(&key)))
        });
    }

    pub(super) fn plead(&mut self, ticket: Ticket, plea: Plea) {
        let node = self.shared.view().node(&plea.to.node);
        let key = self.shared.key().clone();
        self.asks.spawn(async move {
            let (Some(node), Some(key)) = (node, key) else { return Done::Promised(ticket, None) };
            Done::Promised(ticket, plea::ask(&node.address, &key, &plea).await)
        });
    }
}
