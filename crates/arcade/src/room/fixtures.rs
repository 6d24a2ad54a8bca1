//! Rooms for tests.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use journal_core::{Head, MAX_SIZE, SyncPolicy, Writing};
use netcore::{Engine, EngineRoom, Input, Occupant, Outbox, Outcome, Recorded, RequestOf, StateError, Status, Time};
use nuggets::{ClientMessage, server::Server};
use testkit::TempDir;
use tokio::sync::watch;

use super::{
    hub_room::{Broken, Counters, HubRoom, Setting},
    info::Info,
    register::{Description, Register},
    roster::Roster,
};
use crate::games::{
    Game,
    page_state::{PageState, Show},
};

pub(crate) type NuggetsRoom = (HubRoom<Server>, watch::Receiver<Info>, TempDir);

/// Unrated without a delay for spectators.
pub(crate) fn nuggets_room(
    roster: &Arc<Roster>,
    map: &[u8],
    config: nuggets::Config,
    delay: Option<Duration>,
) -> NuggetsRoom {
    let directory = TempDir::new();
    let (grid, _) = nuggets::Grid::parse(map).unwrap();
    let engine = Server::new(Arc::new(grid), config).unwrap();
    let head = Head::new(&engine, "test", vec![], 9);
    let writing = Writing::start(SyncPolicy::Interval, MAX_SIZE).unwrap();
    let (_, (room, _, end)) = writing.create(directory.path(), EngineRoom::new(engine), head).unwrap();
    let mut usual = Info::usual(Game::Nuggets);
    usual.counts.rated = delay.is_some();
    let (sender, info) = watch::channel(usual);
    let text = String::new;
    let description = Description { room: text(), title: text(), class: text(), casual: text(), day: None };
    let setting = Setting {
        game: Game::Nuggets,
        roster: Arc::clone(roster),
        register: Arc::new(Register::new(end.facts(), &description, Arc::clone(roster), &[])),
        info: Arc::new(sender),
        counters: Counters::default(),
        hints: Arc::default(),
        delay: delay.unwrap_or_default(),
        broken: Broken::default(),
    };
    (HubRoom::new(room, setting, None), info, directory)
}

pub(crate) const CULPRIT: &str = "Culprit";

/// Panics on [`CULPRIT`]. Tests host nuggets with this engine.
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

impl PageState for Fragile {
    fn name_in(_: &RequestOf<Self>) -> Option<&str> {
        None
    }

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
        PageState::overview(&self.0)
    }

    fn prelude(&self) -> Option<Vec<Bytes>> {
        PageState::prelude(&self.0)
    }

    fn supersedes(before: &Bytes, after: &Bytes) -> bool {
        Server::supersedes(before, after)
    }
}
