//! What a node asks of the directory and of other nodes.

use std::sync::Arc;

use mesh::{Name, Plea, Ticket};

use super::{
    super::{codes, command::Answer, plea},
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
        self.keep_secrets();
    }

    /// Writes the common secrets again, or puts them back if the broker has lost them.
    pub(super) fn keep_secrets(&mut self) {
        let (directory, secrets) = (Arc::clone(&self.directory), self.secrets.clone());
        self.asks.spawn(async move { Done::Key(secrets.keep(&*directory).await.unwrap_or_default()) });
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
