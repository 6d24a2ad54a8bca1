//! Rooms on their way to other nodes, and who waits for what becomes of them.

use std::collections::BTreeMap;

use mesh::{Name, Stays};
use tokio::sync::oneshot;

/// Why a room is not handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It cannot be.
    Stays(Stays),
    /// Another node has it already, or it is over.
    Lost,
}

/// Where a room that was handed over goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// At another node.
    At(Name),
    /// Nobody took it, so this node has it again.
    Back,
}

type Waiting<T> = Option<oneshot::Sender<T>>;

#[derive(Debug, Default)]
struct Handing {
    offer: Waiting<Result<(), Kept>>,
    handed: Waiting<()>,
    settled: Waiting<Settled>,
    // Whether this node has it again, if that was so before anybody asked.
    is_back: bool,
}

/// Rooms on their way to other nodes. Whoever waits for one that is forgotten hears that too.
#[derive(Debug, Default)]
pub(super) struct Handings(BTreeMap<Name, Handing>);

impl Handings {
    /// A room is to be handed over. The answer is whether it is to be suspended.
    pub(super) fn begin(&mut self, room: Name, answer: oneshot::Sender<Result<(), Kept>>) {
        self.0.insert(room, Handing { offer: Some(answer), ..Handing::default() });
    }

    /// It is to be suspended.
    pub(super) fn suspend(&mut self, room: &Name) {
        // Under another fence it is asked for again.
        answer(self.0.get_mut(room).and_then(|handing| handing.offer.take()), Ok(()));
    }

    /// It stays.
    pub(super) fn stays(&mut self, room: &Name, why: Stays) {
        answer(self.0.remove(room).and_then(|handing| handing.offer), Err(Kept::Stays(why)));
    }

    /// It was suspended. Returns whether it can be handed over.
    pub(super) fn suspended(&mut self, room: &Name, handed: oneshot::Sender<()>) -> bool {
        let Some(handing) = self.0.get_mut(room) else { return false };
        handing.handed = Some(handed);
        true
    }

    /// It was handed over.
    pub(super) fn handed_over(&mut self, room: &Name) {
        answer(self.0.get_mut(room).and_then(|handing| handing.handed.take()), ());
    }

    /// Somebody waits until it goes on.
    pub(super) fn follow(&mut self, room: &Name, settled: oneshot::Sender<Settled>) {
        let Some(handing) = self.0.get_mut(room) else { return };
        if handing.is_back {
            answer(Some(settled), Settled::Back);
            self.0.remove(room);
        } else {
            handing.settled = Some(settled);
        }
    }

    /// Whether somebody waits until it goes on.
    pub(super) fn is_followed(&self, room: &Name) -> bool {
        self.0.get(room).is_some_and(|handing| handing.settled.is_some())
    }

    /// It goes on.
    pub(super) fn settled(&mut self, room: &Name, at: Settled) {
        let Some(handing) = self.0.get_mut(room) else { return };
        handing.is_back |= at == Settled::Back;
        if let Some(settled) = handing.settled.take() {
            answer(Some(settled), at);
            self.0.remove(room);
        }
    }

    /// It is not handed over.
    pub(super) fn forget(&mut self, room: &Name) {
        self.0.remove(room);
    }
}

fn answer<T>(waiting: Waiting<T>, said: T) {
    // Whoever has asked may not wait any more.
    let _ = waiting.map(|waiting| waiting.send(said));
}
