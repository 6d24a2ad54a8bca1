//! A match of robots whose journal is copied, and goes on from the copy elsewhere.

use std::path::Path;

use bytes::BytesMut;
use journal_core::{Copying, Head, Journalled, MAX_SIZE, Resumable, Scribe, SyncPolicy, SystemDisk, Writing};
use mesh::{Appended, Local, RoomValue, Value};
use netcore::{Hold as _, Hosted, Input, Link, Outbox, PeerId, Role, Room as _, Time};
use testkit::TempDir;

use super::*;

type Engine = robots::Server;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// A match with its journal in a directory.
struct Match {
    room: Journalled<Engine>,
    hold: journal_core::JournalHold,
    scribe: Scribe,
    now: Time,
    out: Outbox,
}

impl Match {
    fn begin(directory: &Path, copy: Arc<RoomCopy>) -> Self {
        let config = robots::Config {
            parameters: robots::Parameters {
                server_name: netcore::wire::ShortText::default(),
                players_count: 1,
                size_x: 9,
                size_y: 9,
                game_length: 60_000,
                explosion_radius: 2,
                bomb_timer: 2,
            },
            turn_duration: Duration::from_millis(100),
            initial_blocks: 3,
            seed: 5,
            max_history: robots::MAX_HISTORY,
        };
        let scribe = Scribe::by_hand();
        let copy: Option<Arc<dyn Copying>> = Some(copy);
        let (disk, sync) = (Arc::new(SystemDisk), SyncPolicy::Always);
        let writing = Writing { disk, scribe: scribe.clone(), sync, max: MAX_SIZE, copy };
        let hosted = Hosted::new(Engine::new(config).unwrap());
        let head = Head::new(hosted.engine(), "test", vec![], 99);
        let (_, (mut room, hold, _)) = writing.create(directory, hosted, head).unwrap();
        let (peer, mut out) = (PeerId(1), Outbox::new());
        let connected =
            Input::Connected { peer, role: Role::Player, link: Link::Message, address: "10.0.0.1:1".into() };
        room.input(Time::ZERO, connected, &mut out);
        room.receive(Time::ZERO, peer, &mut BytesMut::from(&b"\0\x03Ann"[..]), &mut out);
        Self { room, hold, scribe, now: Time::ZERO, out }
    }

    fn play(&mut self, turns: usize) {
        for _ in 0..turns {
            self.now = self.room.deadline().unwrap();
            self.room.input(self.now, Input::Elapsed, &mut self.out);
            self.out.drain().for_each(drop);
        }
        self.hold.flush();
        while self.scribe.write() || self.scribe.keep() {}
    }
}

fn copies(mesh: &Local, durability: Durability) -> (Copies, mpsc::Receiver<Event>) {
    let (events, happens) = mpsc::channel(8);
    (Copies::new(durability, Arc::new(mesh.clone()), events), happens)
}

fn mesh() -> Local {
    let start = Instant::now();
    Local::new(move || Time::ZERO.plus(start.elapsed()))
}

async fn stored(copies: &Copies) {
    assert!(copies.finish(Instant::now() + testkit::PATIENCE).await);
}

/// The digest of the match that a node finds which takes the room over.
async fn found(mesh: &Local, fence: u64) -> (u64, Vec<u8>) {
    let (other, _events) = copies(mesh, Durability::Node);
    other.own(&name("robots-1"), Fence(fence), true);
    let read = other.read("robots-1").await.unwrap().unwrap();
    let directory = TempDir::new();
    let path = read.journal.unwrap().write(&SystemDisk, directory.path(), "robots-bob").unwrap();
    assert!(path.file_name().unwrap().to_str().unwrap().starts_with("robots-bob-"));
    let resumable = Resumable::<Engine>::open(&SystemDisk, &path).unwrap();
    assert_eq!(resumable.returning().len(), 1, "its player is there");
    (journal_core::digest(resumable.room()), read.room.to_vec())
}

#[tokio::test]
async fn a_match_goes_on_from_its_copy_where_it_was() {
    let (mesh, data) = (mesh(), TempDir::new());
    let (own, mut events) = copies(&mesh, Durability::Node);
    own.own(&name("robots-1"), Fence(7), false);
    let copy = own.of("robots-1").unwrap();
    let mut playing = Match::begin(data.path(), copy);
    own.note("robots-1", b"first".to_vec(), None);
    playing.play(3);
    own.note("robots-1", b"second".to_vec(), None);
    stored(&own).await;
    assert_eq!(found(&mesh, 8).await, (journal_core::digest(playing.room.room()), b"second".to_vec()));
    // The claim of the other node is later: nothing more is stored, and the room is to end.
    playing.play(1);
    let lost = timeout(testkit::PATIENCE, events.recv()).await.unwrap();
    assert_eq!((lost, own.shown().fenced), (Some(Event::Lost(name("robots-1"))), 1));
}

#[tokio::test]
async fn a_copy_begins_anew_under_another_fence_and_after_its_log_is_gone() {
    let (mesh, data) = (mesh(), TempDir::new());
    let (own, _events) = copies(&mesh, Durability::Node);
    own.own(&name("robots-1"), Fence(7), false);
    let mut playing = Match::begin(data.path(), own.of("robots-1").unwrap());
    own.note("robots-1", b"room".to_vec(), None);
    playing.play(3);
    stored(&own).await;
    // The node was taken for dead and claims the room again.
    own.own(&name("robots-1"), Fence(9), false);
    playing.play(2);
    stored(&own).await;
    // Somebody removes the log.
    assert!(Journals::remove(&mesh, &name("robots-1"), Fence(9)).await.unwrap());
    playing.play(1);
    testkit::found("that a state is wanted", async || own.of("robots-1").unwrap().wants_state().then_some(())).await;
    playing.play(2);
    stored(&own).await;
    assert_eq!(found(&mesh, 10).await.0, journal_core::digest(playing.room.room()));
}

#[tokio::test]
async fn copy_keeps_only_its_newest_state() {
    let (mesh, data) = (mesh(), TempDir::new());
    let (own, _events) = copies(&mesh, Durability::Node);
    own.own(&name("robots-1"), Fence(7), false);
    let mut playing = Match::begin(data.path(), own.of("robots-1").unwrap());
    own.note("robots-1", b"room".to_vec(), None);
    for fence in 8..12 {
        playing.play(2);
        stored(&own).await;
        own.own(&name("robots-1"), Fence(fence), false);
    }
    playing.play(2);
    stored(&own).await;
    let states = async || mesh.read(&name("robots-1")).await.unwrap().iter().filter(|piece| piece.is_start).count();
    testkit::found("one state", async || (states().await == 1).then_some(())).await;
    assert_eq!(found(&mesh, 12).await.0, journal_core::digest(playing.room.room()));
}

/// How many bytes a copy has.
async fn size(mesh: &Local, room: &str) -> usize {
    mesh.read(&name(room)).await.unwrap().iter().map(|piece| piece.body.len()).sum()
}

#[tokio::test]
async fn host_over_its_share_loses_its_own_copies_only() {
    let (mesh, data) = (mesh(), [0; 4].map(|_| TempDir::new()));
    let begin = |copies: &Copies, number: usize, host: &str| {
        let room = format!("robots-{number}");
        copies.own(&name(&room), Fence(7), false);
        let playing = Match::begin(data[number].path(), copies.of(&room).unwrap());
        copies.note(&room, b"room".to_vec(), Some(HostId::of(host)));
        playing
    };
    let (measured, _events) = copies(&mesh, Durability::Node);
    let mut playing = begin(&measured, 0, "10.0.0.1:1");
    playing.play(1);
    stored(&measured).await;
    // One such room of a host fits into its share, and there is no place for the state of another one.
    let most = measured.shown().stored * 9 / 4;
    let (events, _happens) = mpsc::channel(8);
    let own = Copies::with_most(Durability::Node, Arc::new(mesh.clone()), events, most);
    let mut first = begin(&own, 1, "10.0.0.1:1");
    first.play(1);
    assert!(own.catch_up("robots-1", Duration::ZERO, testkit::PATIENCE).await);
    let mut second = begin(&own, 2, "10.0.0.1:1");
    second.play(1);
    testkit::found("that it is short", async || (own.shown().short == 1).then_some(())).await;
    assert!(!own.catch_up("robots-2", Duration::ZERO, Duration::from_millis(1)).await);
    assert_eq!(size(&mesh, "robots-2").await, 0);
    // Its match continues, and so does the copy of another host.
    second.play(1);
    let mut other = begin(&own, 3, "10.0.0.2:1");
    other.play(1);
    assert!(own.catch_up("robots-3", Duration::ZERO, testkit::PATIENCE).await);
    // What is over is given back.
    for room in ["robots-1", "robots-2", "robots-3"] {
        own.end(&name(room));
    }
    assert_eq!(own.shown().short, 0);
    assert!(own.common.quota.exchange(HostId::of("10.0.0.1:1"), 0, most / 2));
}

#[tokio::test]
async fn room_over_its_share_stands_still_if_nothing_may_be_lost() {
    let (mesh, data) = (mesh(), TempDir::new());
    let (events, _happens) = mpsc::channel(8);
    let own = Copies::with_most(Durability::Cluster, Arc::new(mesh.clone()), events, 8);
    own.set_lease(Some(Duration::from_mins(1)));
    own.own(&name("robots-1"), Fence(7), false);
    let mut playing = Match::begin(data.path(), own.of("robots-1").unwrap());
    own.note("robots-1", b"room".to_vec(), Some(HostId::of("10.0.0.1:1")));
    playing.play(1);
    testkit::found("that it is short", async || (own.shown().short == 1).then_some(())).await;
    assert!(playing.hold.reached() < playing.hold.position());
}

#[tokio::test]
async fn copies_of_ended_rooms_are_discarded_and_others_stay() {
    let mesh = mesh();
    for room in ["robots-1", "robots-2"] {
        let Appended::Stored(last) = mesh.open(&name(room), Fence(7)).await.unwrap() else { panic!() };
        let piece = mesh::Append { fence: Fence(7), after: Some(last), is_anchor: true, body: "state".into() };
        assert!(matches!(mesh.append(&name(room), &piece).await, Ok(Appended::Stored(_))));
    }
    let row = RoomValue {
        holder: None,
        fence: Some(Fence(7)),
        durability: Durability::Node,
        needs: String::new(),
        unread: false,
        row: String::new(),
    };
    mesh.write(&Key::Room(name("robots-2")), Some(&Value::Room(row)), None).await.unwrap();
    let (own, _events) = copies(&mesh, Durability::Node);
    assert!(!own.take_full());
    assert_eq!(own.discard_ended(Arc::new(mesh.clone())).await, Ok(1));
    assert_eq!((size(&mesh, "robots-1").await, size(&mesh, "robots-2").await), (0, 5));
    assert_eq!(mesh.fence(&name("robots-1")).await, Ok(Some(Fence(7))), "nobody continues it under an older fence");
}

#[tokio::test]
async fn outputs_wait_for_the_copy_if_nothing_may_be_lost() {
    let (mesh, data) = (mesh(), TempDir::new());
    let (own, _events) = copies(&mesh, Durability::Cluster);
    own.own(&name("robots-1"), Fence(7), false);
    let mut playing = Match::begin(data.path(), own.of("robots-1").unwrap());
    playing.play(3);
    // Nothing is written down of the room, so nothing can be stored.
    assert!(playing.hold.reached() < playing.hold.position());
    own.note("robots-1", b"room".to_vec(), None);
    stored(&own).await;
    assert_eq!(playing.hold.reached(), 0, "it may be another node's");
    own.set_lease(Some(Duration::from_mins(1)));
    assert_eq!(playing.hold.reached(), playing.hold.position());
    // Somebody else opens the journal.
    assert!(matches!(mesh.open(&name("robots-1"), Fence(8)).await.unwrap(), Appended::Stored(_)));
    playing.play(1);
    testkit::found("that it is fenced", async || (own.shown().fenced == 1).then_some(())).await;
    assert!(playing.hold.reached() < playing.hold.position());
}

#[tokio::test]
async fn what_is_no_whole_room_is_not_read_as_one() {
    let (mesh, data) = (mesh(), TempDir::new());
    let put_together = |pieces: &[_]| put_together(pieces).unwrap();
    assert!(put_together(&[]).is_none());
    let (own, _events) = copies(&mesh, Durability::Node);
    own.own(&name("robots-1"), Fence(7), false);
    let mut playing = Match::begin(data.path(), own.of("robots-1").unwrap());
    own.note("robots-1", b"room".to_vec(), None);
    playing.play(3);
    assert!(own.catch_up("robots-1", Duration::ZERO, testkit::PATIENCE).await);
    let pieces = mesh.read(&name("robots-1")).await.unwrap();
    let head = put_together(&pieces[..1]);
    assert!(head.is_none(), "only what is written down");
    assert!(put_together(&pieces).unwrap().journal.is_some());
    // A journal that was given up, and a piece that is damaged.
    own.of("robots-1").unwrap().cut();
    stored(&own).await;
    // A room without anything that is written down is none to go on with, nor is one that is not here.
    own.own(&name("robots-2"), Fence(8), false);
    for room in ["robots-2", "robots-3"] {
        assert!(!own.catch_up(room, Duration::ZERO, Duration::from_millis(1)).await);
    }
    let cut = put_together(&mesh.read(&name("robots-1")).await.unwrap()).unwrap();
    assert!(cut.journal.is_none() && *cut.room == *b"room");
    let mut damaged = pieces;
    damaged.last_mut().unwrap().body = bytes::Bytes::from_static(b"\x01nonsense");
    assert!(put_together(&damaged).is_none());
}
