//! Nodes in this process, over a directory in this process.

use std::net::TcpListener;

use mesh::{Holder, Local, Revision};
use netcore::Time;
use testkit::found;
use tokio::time::Instant;

use super::*;

fn mesh() -> Local {
    let start = Instant::now();
    Local::new(move || Time::ZERO.plus(start.elapsed()))
}

async fn join(mesh: &Local, name: &str, rooms: &[&str]) -> (Arc<Fleet>, Vec<String>, mpsc::Receiver<Event>) {
    join_knowing(mesh, name, rooms, &[]).await
}

/// A node that knows these rules.
async fn join_knowing(
    mesh: &Local,
    name: &str,
    rooms: &[&str],
    rules: &[&str],
) -> (Arc<Fleet>, Vec<String>, mpsc::Receiver<Event>) {
    let identity = format!("data-of-{name}").parse().unwrap();
    let address = format!("{name}.example:8080");
    let runs = rules.iter().map(|&rules| rules.to_owned()).collect();
    let settings =
        mesh::Settings { name: name.parse().unwrap(), identity, address, most_rooms: 9, runs, outage: OUTAGE };
    let shared: (Arc<dyn Directory>, Arc<dyn Journals>, Arc<dyn Events>) =
        (Arc::new(mesh.clone()), Arc::new(mesh.clone()), Arc::new(mesh.clone()));
    let (node, host) = ((settings, Durability::Node), format!("{name}.example"));
    let data = testkit::TempDir::new();
    let secrets = Secrets::establish(mesh, (data.path(), &"arcade".parse().unwrap()), name).await.unwrap();
    let (joining, events) = begin(node, &host, shared, secrets, None);
    let fleet = Arc::clone(joining.fleet());
    let claim = |&room: &&str| Claim { room: room.to_owned(), needs: String::new() };
    let rooms: Vec<Claim> = rooms.iter().map(claim).collect();
    let taken = joining.join(&rooms).await.unwrap();
    (fleet, taken, events)
}

#[tokio::test]
async fn nodes_see_the_rooms_of_each_other_and_no_name_is_given_twice() {
    let mesh = mesh();
    let (ann, none, _events) = join(&mesh, "ann", &[]).await;
    assert!(none.is_empty() && ann.is_present());
    let (bob, _, _events) = join(&mesh, "bob", &[]).await;
    ann.open("nuggets-4", "").await.unwrap();
    assert_eq!(bob.open("nuggets-4", "").await, Err(Refused::Taken));
    ann.claim_code("abcdef", "nuggets-4").await.unwrap();
    assert_eq!(bob.claim_code("abcdef", "nuggets-5").await, Err(Refused::Taken));
    // Without a row it is not shown.
    assert_eq!(bob.rooms(), []);
    ann.show("nuggets-4", "one".into()).await;
    let shown = |row: &str| bob.rooms().into_iter().find(|room| &*room.row == row);
    let room = found("the row", async || shown("one")).await;
    assert_eq!((room.room.as_str(), room.node.as_str(), bob.highest()), ("nuggets-4", "ann", 4));
    assert_eq!(bob.owner_of("nuggets-4").unwrap().address, "ann.example:8080");
    assert_eq!(bob.room_of("abcdef").as_deref(), Some("nuggets-4"));
    assert!(ann.owner_of("nuggets-4").is_none() && ann.room_of("abcdef").is_none() && ann.rooms().is_empty());
    ann.show("nuggets-4", "two".into()).await;
    found("the next row", async || shown("two")).await;
    ann.close("nuggets-4").await;
    found("that it is gone", async || bob.rooms().is_empty().then_some(())).await;
    found("that its code is free", async || {
        bob.shared.view().coded(&"abcdef".parse().unwrap()).is_none().then_some(())
    })
    .await;
    bob.open("nuggets-4", "").await.unwrap();
    ann.leave().await;
    found("that it has left", async || (bob.nodes().len() == 1).then_some(())).await;
}

#[tokio::test]
async fn a_node_that_comes_back_has_its_rooms_and_gives_up_those_that_it_does_not_know() {
    let mesh = mesh();
    let (ann, _, _events) = join(&mesh, "ann", &[]).await;
    for room in ["robots-1", "robots-2"] {
        ann.open(room, "").await.unwrap();
        ann.show(room, "row".into()).await;
    }
    let (bob, _, _events) = join(&mesh, "bob", &[]).await;
    bob.open("robots-3", "").await.unwrap();
    found("its rooms", async || (bob.rooms().len() == 2).then_some(())).await;
    ann.leave().await;
    drop(ann);
    found("that its rooms are gone", async || bob.rooms().is_empty().then_some(())).await;
    assert_eq!(bob.open("robots-2", "").await, Err(Refused::Taken), "its name is kept for it");
    // The file of one room is lost, and it has one with the name of another's.
    let (ann, taken, _events) = join(&mesh, "ann", &["robots-1", "robots-3"]).await;
    assert_eq!(taken, ["robots-3"]);
    ann.show("robots-1", "again".into()).await;
    let rooms = || bob.rooms().iter().map(|room| (room.room.to_string(), room.row.to_string())).collect::<Vec<_>>();
    found("its room", async || (rooms() == [("robots-1".to_owned(), "again".to_owned())]).then_some(())).await;
    found("the name", async || mesh_is_free(&bob, "robots-2").then_some(())).await;
}

#[tokio::test]
async fn one_wrong_number_does_not_use_up_the_names_of_all() {
    let mesh = mesh();
    let (ann, _, _events) = join(&mesh, "ann", &[]).await;
    let (bob, _, _events) = join(&mesh, "bob", &[]).await;
    for room in ["robots-4294967295", "robots-7"] {
        ann.open(room, "").await.unwrap();
        ann.show(room, "row".into()).await;
    }
    found("both rooms", async || (bob.rooms().len() == 2).then_some(())).await;
    assert_eq!(bob.highest(), 7);
}

fn mesh_is_free(fleet: &Fleet, room: &str) -> bool {
    fleet.shared.view().owner(&room.parse().unwrap()).is_none()
}

#[tokio::test]
async fn nodes_prove_what_they_pass_on() {
    let mesh = mesh();
    let (ann, _, _events) = join(&mesh, "ann", &[]).await;
    let (bob, _, _events) = join(&mesh, "bob", &[]).await;
    let relayed = seal::Relayed { client: "192.0.2.7:99".parse().unwrap(), secure: false };
    let proof = ann.seal(&seal::Request { method: "GET", path: "/rooms/a-1/socket", relayed }).unwrap();
    assert_eq!(bob.unseal(&proof, "GET", "/rooms/a-1/socket"), Some(relayed));
    assert_eq!(bob.unseal(&proof, "POST", "/rooms/a-1/socket"), None);
}

#[tokio::test(start_paused = true)]
async fn a_room_of_a_node_that_is_gone_goes_to_one_that_knows_its_rules() {
    let mesh = mesh();
    let (ann, _, _ann_events) = join_knowing(&mesh, "ann", &[], &["nuggets-3"]).await;
    let (_bob, _, mut bob_events) = join_knowing(&mesh, "bob", &[], &["nuggets-2"]).await;
    let (cid, _, mut cid_events) = join_knowing(&mesh, "cid", &[], &["nuggets-3"]).await;
    ann.open("nuggets-1", "nuggets-3").await.unwrap();
    let left = Instant::now();
    ann.leave().await;
    assert_eq!(cid_events.recv().await, Some(Event::TakenOver("nuggets-1".parse().unwrap())));
    assert!(left.elapsed() > Duration::from_secs(10), "it may come back");
    assert!(bob_events.try_recv().is_err() && cid.owner_of("nuggets-1").is_none());
    // It comes back too late, with the file of the room.
    let (_ann, taken, _events) = join_knowing(&mesh, "ann", &["nuggets-1"], &["nuggets-3"]).await;
    assert_eq!(taken, ["nuggets-1"]);
}

#[tokio::test(start_paused = true)]
async fn whoever_hands_a_room_over_hears_where_it_goes_on_or_why_it_stays() {
    let mesh = mesh();
    let (ann, _, _ann_events) = join(&mesh, "ann", &[]).await;
    let room = "nuggets-1";
    ann.open(room, "").await.unwrap();
    ann.show(room, "row".into()).await;
    ann.drain().await;
    assert_eq!(ann.hand_over(room).await, Some(Err(Kept::Stays(mesh::Stays::NoNode))));
    let (bob, _, mut bob_events) = join(&mesh, "bob", &[]).await;
    let (cid, _, _cid_events) = join_knowing(&mesh, "cid", &[], &["nuggets-4"]).await;
    cid.drain().await;
    found("that it drains", async || {
        ann.nodes().iter().find(|node| node.name.as_str() == "cid")?.draining.then_some(())
    })
    .await;
    found("the room", async || (cid.rooms().len() == 1).then_some(())).await;
    assert_eq!(ann.hand_over(room).await, Some(Ok(())));
    assert!(!cid.is_moving(room), "it goes on until it is suspended");
    assert!(ann.suspended(room).await);
    assert_eq!(bob_events.recv().await, Some(Event::TakenOver(room.parse().unwrap())));
    // Nobody has its state, and all show it as before.
    found("that it moves", async || cid.is_moving(room).then_some(())).await;
    assert_eq!(cid.rooms().len(), 1);
    bob.restored(room).await;
    assert_eq!(ann.follow(room).await, Some(Settled::At("bob".parse().unwrap())));
    found("that it goes on", async || (!cid.is_moving(room)).then_some(())).await;
    assert_eq!(cid.owner_of(room).unwrap().name.as_str(), "bob");
    // There is nothing to hand over any more, and nothing happens if somebody says so.
    assert!(!ann.suspended(room).await);
    assert_eq!(ann.follow(room).await, None);
}

#[tokio::test]
async fn a_node_promises_another_one_to_leave_its_rooms_alone_and_a_closed_address_is_gone() {
    let mesh = mesh();
    let (ann, _, _events) = join(&mesh, "ann", &[]).await;
    let (bob, _, _events) = join(&mesh, "bob", &[]).await;
    found("each other", async || (ann.nodes().len() == 2 && bob.nodes().len() == 2).then_some(())).await;
    let life = async |name: &str| mesh.entry(&mesh::Key::Node(name.parse().unwrap())).await.unwrap().unwrap().life();
    let (own, other) = (life("ann").await.unwrap(), life("bob").await);
    let holder =
        |identity: &str, life| Holder { node: "ann".parse().unwrap(), identity: identity.parse().unwrap(), life };
    let ask = |to| Plea { to, from: ("bob".parse().unwrap(), other) };
    // It hears the directory, so it promises what is left until it would bury the other one.
    let promise = ann.promise(ask(holder("data-of-ann", own))).await;
    assert!(matches!(promise, Some(Promise::For(time)) if !time.is_zero() && time <= mesh::EXPIRY), "{promise:?}");
    // Another data directory at this address, and a life that is over.
    for gone in [holder("data-of-amy", own), holder("data-of-ann", Revision(0))] {
        assert_eq!(ann.promise(ask(gone)).await, Some(Promise::Gone));
    }
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let key = RelayKey::read(&RelayKey::draw().unwrap()).unwrap();
    let asked = plea::ask(&closed.to_string(), &key, &ask(holder("data-of-ann", own))).await;
    assert_eq!(asked, Some(Promise::Gone));
}
