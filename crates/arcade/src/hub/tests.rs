//! Tests of a hub in this process, with an engine that fails on request.

use std::{fs, net::Ipv4Addr};

use journal_core::{Entry, MAX_SIZE, Note, SyncPolicy, Writing};
use netcore::{HostId, Leave};
use store::Store;
use testkit::{PATIENCE, TempDir, peer::Peer};
use tokio::time::timeout;

use super::*;
use super::{
    callers::{Callers, HostNames},
    resources::Settings,
};
use crate::{
    games::{Game, Options},
    proxied::Proxies,
    room::fixtures::CULPRIT,
};

pub(crate) fn hub(data: &TempDir) -> (Arc<Hub>, [Arc<Room>; 2]) {
    hub_with(data, Writing::start(SyncPolicy::Interval, MAX_SIZE).unwrap())
}

/// The hub has two rooms of nuggets.
pub(crate) fn hub_with(data: &TempDir, writing: Writing) -> (Arc<Hub>, [Arc<Room>; 2]) {
    let journals = data.path().join("journals");
    fs::create_dir(&journals).unwrap();
    let results = Results::new(Store::file(&data.path().join("results.db")).unwrap(), journals.clone());
    results.start();
    let metrics = Metrics::new();
    let resources = Resources::new(&Settings::default(), Callers::new(Proxies::default(), HostNames::default()));
    let place = RoomContext {
        journals,
        writing,
        connections: resources.files.clone(),
        bans: Arc::new(Bans::open(data.path().join("bans")).unwrap()),
        ledger: Arc::clone(&results.ledger),
        class_results: tokio::sync::mpsc::channel(1).0,
        keep_seats: Duration::from_mins(1),
        site: None,
        proxies: Proxies::default(),
        log: Arc::default(),
        hints: Arc::default(),
        watch_delay: Duration::ZERO,
        counters: metrics.counters(),
    };
    let parts = Parts {
        place,
        ports: Ports::new(vec![Ipv4Addr::LOCALHOST.into()], None),
        results,
        metrics,
        resources,
        fleet: None,
        handles: Handles::current(),
        empty_rooms: Duration::from_mins(5),
        owner_away: Duration::from_mins(1),
        examples: false,
    };
    let (hub, none) = Hub::new(data.path(), parts).unwrap();
    assert_eq!(none, []);
    let rooms = [(); 2].map(|()| hub.open(&Options::usual(Game::Nuggets), None, true).unwrap());
    (hub, rooms)
}

async fn wait<T>(what: &str, found: impl Fn() -> Option<T>) -> T {
    testkit::poll_until(what, async || found()).await
}

async fn after(hub: &Hub, before: &Arc<Room>) -> Arc<Room> {
    let id = before.file().id.clone();
    let other = || hub.rooms.get(&id).filter(|room| !Arc::ptr_eq(room, before));
    wait("the room does not come back", other).await
}

#[tokio::test(flavor = "multi_thread")]
async fn panic_of_an_engine_ends_only_its_match() {
    let data = TempDir::new();
    let (hub, [broken, other]) = hub(&data);
    let [ann, bob, cid] = [&broken, &broken, &other].map(|room| Peer::new(room.address));
    assert_eq!([ann.play("Ann").letter, bob.play("Bob").letter, cid.play("Cid").letter], ['A', 'B', 'A']);
    let journal = hub.place.journals.join(broken.file().journal.clone().unwrap());
    let culprit = Peer::new(broken.address);
    culprit.send(format!("PLAY {CULPRIT}"));
    for player in [&ann, &bob, &culprit] {
        assert!(player.expect("QUIT").contains("A fault of the hub has ended this game"));
    }
    cid.send("KEY nonsense");
    cid.expect("ERROR");
    let back = after(&hub, &broken).await;
    assert_eq!((back.address, back.file().permanent), (broken.address, true));
    assert_ne!(back.file().journal, broken.file().journal);
    assert_eq!(Peer::new(back.address).play("Dan").letter, 'A');
    assert!(Arc::ptr_eq(&hub.rooms.get(&other.file().id).unwrap(), &other));
    // The journal ends with the input that made the engine panic.
    let mut reader = journal_core::open(&journal).unwrap().reader().unwrap();
    let last = std::iter::from_fn(|| reader.next().unwrap()).last();
    assert!(matches!(last, Some(Entry::Note(Note::Broken))), "{last:?}");
    assert!(fs::read(&journal).unwrap().windows(CULPRIT.len()).any(|bytes| bytes == CULPRIT.as_bytes()));
    let numbers = hub.metrics().scrape(&hub.rooms, &hub.results().health(), hub.resources(), None, None);
    assert!(numbers.contains("\narcade_rooms_broken_total{game=\"nuggets\"} 1\n"), "{numbers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn restarting_room_can_be_closed() {
    let data = TempDir::new();
    let (hub, [room, other]) = hub(&data);
    room.stop(Leave::Over, RoomOutcome::Renewed);
    tokio::task::block_in_place(|| hub.rooms.close(&room, "enough"));
    let id = room.file().id.clone();
    wait("the room stays open", || hub.rooms.get(&id).is_none().then_some(())).await;
    let (_, before) = RoomFiles::open(data.path().join("rooms")).unwrap();
    assert_eq!(before.iter().map(|file| file.id.clone()).collect::<Vec<_>>(), [other.file().id.clone()]);
    Peer::new(other.address).send(format!("PLAY {CULPRIT}"));
    let mut info = other.info.clone();
    timeout(PATIENCE, info.wait_for(|info| info.phase == "over")).await.unwrap().unwrap();
    tokio::task::block_in_place(|| hub.rooms.close(&other, "enough"));
    wait("the room stays open", || hub.rooms.all().is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn late_save_of_a_replaced_room_does_not_restore_its_journal() {
    let data = TempDir::new();
    let (hub, [before, _]) = hub(&data);
    before.stop(Leave::Over, RoomOutcome::Renewed);
    let now = after(&hub, &before).await;
    assert_ne!(now.file().journal, before.file().journal);
    tokio::task::block_in_place(|| hub.rooms.save(&before));
    let (_, files) = RoomFiles::open(data.path().join("rooms")).unwrap();
    let file = files.into_iter().find(|file| file.id == now.file().id).unwrap();
    assert_eq!(file.journal, now.file().journal);
}

#[tokio::test(flavor = "multi_thread")]
async fn room_is_watched_once_for_pictures() {
    let data = TempDir::new();
    let (hub, [room, other]) = hub(&data);
    let id = room.file().id.clone();
    let host = HostId::of("10.0.0.1:1");
    assert!(hub.pictures().of("nuggets-999", host).is_none());
    let (mut one, mut two) = (hub.pictures().of(&id, host).unwrap(), hub.pictures().of(&id, host).unwrap());
    for shots in [&mut one, &mut two] {
        timeout(PATIENCE, shots.wait_for(|shot| shot.whole.contains(r#""size":["#))).await.unwrap().unwrap();
    }
    let people = |room: &Room| (room.info.borrow().people, room.info.borrow().watchers);
    assert_eq!((people(&room), people(&other)), ((0, 0), (0, 0)));
    let player = Peer::new(room.address);
    player.send("PLAY Ann");
    let has_ann = |shot: &Arc<pictures::Shot>| shot.whole.contains('A');
    timeout(PATIENCE, one.wait_for(has_ann)).await.unwrap().unwrap();
    room.stop(Leave::Over, RoomOutcome::Renewed);
    after(&hub, &room).await;
    timeout(PATIENCE, one.wait_for(|shot| !has_ann(shot))).await.unwrap().unwrap();
    let mut gone = hub.pictures().of(&other.file().id, host).unwrap();
    tokio::task::block_in_place(|| hub.rooms.close(&other, "enough"));
    let end = async { while gone.changed().await.is_ok() {} };
    timeout(PATIENCE, end).await.expect("pictures of a room that is closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn room_is_not_watched_for_pictures_without_pages() {
    let data = TempDir::new();
    let (hub, [room, _]) = hub(&data);
    let shots = hub.pictures().of(&room.file().id, HostId::of("10.0.0.1:1")).unwrap();
    assert_eq!(hub.pictures().count(), 1);
    drop(shots);
    let is_left = || (hub.pictures().count() == 0).then_some(());
    wait("the room is watched though nobody looks", is_left).await;
}
