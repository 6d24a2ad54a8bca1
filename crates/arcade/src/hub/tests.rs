//! A hub in this process, and an engine that fails when it is told to.

use std::{fs, net::Ipv4Addr};

use journal::{Entry, MAX_SIZE, Note, SyncPolicy, Writing};
use netcore::{Engine, Input, Occupant, Outbox, Outcome, Recorded, RequestOf, StateError, Status, Time};
use nuggets::{ClientMessage, server::Server};
use store::Store;
use testkit::{PATIENCE, TempDir, peer::Peer};
use tokio::time::{sleep, timeout};

use super::*;
use crate::{limits::Settings, ports::Ports, threads::Handles};

/// Whoever has this name makes the engine panic.
const CULPRIT: &str = "Culprit";

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

    fn digest(&self) -> u64 {
        self.0.digest()
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

/// A hub with two rooms of nuggets.
fn hub(data: &TempDir) -> (Arc<Hub>, [Arc<Room>; 2]) {
    let journals = data.path().join("journals");
    fs::create_dir(&journals).unwrap();
    let (results, queue) = Results::new(Store::file(&data.path().join("results.db")).unwrap(), journals.clone());
    results.start(queue);
    let place = Place {
        ports: Ports::new(vec![Ipv4Addr::LOCALHOST.into()], None),
        journals,
        writing: Writing::start(SyncPolicy::Interval, MAX_SIZE).unwrap(),
        open_files: None,
        bans: Arc::new(Bans::open(data.path().join("bans")).unwrap()),
        results,
        metrics: Metrics::new(),
    };
    let limits = Limits::new(Settings { sockets_per_host: 9, rooms_per_host: 9, proxies: vec![] });
    let (hub, none) = Hub::new(data.path(), place, limits, Duration::from_mins(5), Handles::current()).unwrap();
    assert_eq!(none, []);
    let rooms = [(); 2].map(|()| hub.open(&Options::usual(Game::Nuggets), None, true).unwrap());
    (hub, rooms)
}

/// The room with the name of another one that is over.
async fn after(hub: &Hub, before: &Arc<Room>) -> Arc<Room> {
    let id = before.record().id.clone();
    let found = async {
        loop {
            match hub.room(&id) {
                Some(room) if !Arc::ptr_eq(&room, before) => return room,
                _ => sleep(Duration::from_millis(5)).await,
            }
        }
    };
    timeout(PATIENCE, found).await.expect("the room does not come back")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_panics_ends_its_own_match_only_and_its_room_comes_back() {
    let data = TempDir::new();
    let (hub, [broken, other]) = hub(&data);
    let [ann, bob, cid] = [&broken, &broken, &other].map(|room| Peer::new(room.address));
    assert_eq!([ann.play("Ann").letter, bob.play("Bob").letter, cid.play("Cid").letter], ['A', 'B', 'A']);
    let journal = hub.journals().join(broken.record().journal.clone().unwrap());
    let culprit = Peer::new(broken.address);
    culprit.send(format!("PLAY {CULPRIT}"));
    for player in [&ann, &bob, &culprit] {
        assert!(player.expect("QUIT").contains("A fault of the hub has ended this game"));
    }
    // The other room does not notice.
    cid.send("KEY nonsense");
    cid.expect("ERROR");
    // The room is back at its port, with another match.
    let back = after(&hub, &broken).await;
    assert_eq!((back.address, back.record().permanent), (broken.address, true));
    assert_ne!(back.record().journal, broken.record().journal);
    assert_eq!(Peer::new(back.address).play("Dan").letter, 'A');
    assert!(Arc::ptr_eq(&hub.room(&other.record().id).unwrap(), &other));
    // The journal ends with what made the engine panic.
    let mut reader = journal::open(&journal).unwrap().reader().unwrap();
    let last = std::iter::from_fn(|| reader.next().unwrap()).last();
    assert!(matches!(last, Some(Entry::Note(Note::Broken))), "{last:?}");
    assert!(fs::read(&journal).unwrap().windows(CULPRIT.len()).any(|bytes| bytes == CULPRIT.as_bytes()));
    let numbers = hub.metrics().scrape(&hub);
    assert!(numbers.contains("\narcade_rooms_broken_total{game=\"nuggets\"} 1\n"), "{numbers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_that_begins_anew_is_closed_all_the_same() {
    let data = TempDir::new();
    let (hub, [room, other]) = hub(&data);
    room.stop(Leave::Over, Fate::Renewed);
    tokio::task::block_in_place(|| hub.close(&room, "enough"));
    let id = room.record().id.clone();
    let gone = async {
        while hub.room(&id).is_some() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, gone).await.expect("the room stays open");
    // Its file is gone too.
    let (_, before) = Records::open(data.path().join("rooms")).unwrap();
    assert_eq!(before.iter().map(|record| record.id.clone()).collect::<Vec<_>>(), [other.record().id.clone()]);
    // A room whose engine has panicked can be closed before it begins anew.
    Peer::new(other.address).send(format!("PLAY {CULPRIT}"));
    let mut info = other.info.clone();
    timeout(PATIENCE, info.wait_for(|info| info.phase == "over")).await.unwrap().unwrap();
    tokio::task::block_in_place(|| hub.close(&other, "enough"));
    let none = async {
        while !hub.all().is_empty() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, none).await.expect("the room stays open");
}
