//! An engine that fails when it is told to.

use bytes::Bytes;
use netcore::{Engine, Input, Occupant, Outbox, Outcome, Recorded, RequestOf, StateError, Status, Time};
use nuggets::{ClientMessage, server::Server};

use crate::games::shown::{Show, Shown};

/// Whoever has this name makes the engine panic.
pub(crate) const CULPRIT: &str = "Culprit";

/// A server of nuggets with a defect. The tests of this crate host nuggets with it.
#[derive(Debug, Clone)]
pub(crate) struct Fragile(pub(crate) Server);

impl Engine for Fragile {
    type Protocol = <Server as Engine>::Protocol;

    fn input(&mut self, now: Time, input: Input<'_, RequestOf<Self>>, out: &mut Outbox) {
        if let Input::Message { message: ClientMessage::Play(Some(name)), .. } = &input {
            assert!(name.to_string() != CULPRIT, "a defect, as the test wants it");
        }
        self.0.input(now, input, out);
    }

    fn deadline(&self) -> Option<Time> {
        self.0.deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.0.outcome()
    }

    fn status(&self) -> Status {
        self.0.status()
    }

    fn roster(&self) -> Vec<Occupant> {
        self.0.roster()
    }
}

impl Recorded for Fragile {
    const GAME: &'static str = Server::GAME;
    const RULES: u32 = Server::RULES;
    const OLDEST_RULES: u32 = Server::OLDEST_RULES;
    type Setup = <Server as Recorded>::Setup;
    type State = <Server as Recorded>::State;

    fn setup(&self) -> Self::Setup {
        self.0.setup()
    }

    fn from_setup(setup: Self::Setup) -> Result<Self, StateError> {
        Server::from_setup(setup).map(Self)
    }

    fn state(&self) -> Self::State {
        self.0.state()
    }

    fn restore(setup: Self::Setup, state: Self::State) -> Result<Self, StateError> {
        Server::restore(setup, state).map(Self)
    }
}

impl Shown for Fragile {
    fn version(&self) -> u64 {
        self.0.version()
    }

    fn show(&self) -> Show {
        self.0.show()
    }

    fn veiled(&self, frame: &Bytes) -> Option<Bytes> {
        self.0.veiled(frame)
    }

    fn overview(&self) -> Option<Vec<Bytes>> {
        Shown::overview(&self.0)
    }

    fn prelude(&self) -> Option<Vec<Bytes>> {
        Shown::prelude(&self.0)
    }

    fn supersedes(before: &Bytes, after: &Bytes) -> bool {
        Server::supersedes(before, after)
    }
}
