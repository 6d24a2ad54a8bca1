//! The contract over NATS, and tests of failing servers. `.ci/with-nats` runs them with three servers.

mod servers;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use bytes::Bytes;
use mesh::{
    Append, Appended, BrokerSettings, Committed, Delta, Directory, Entry, ErrorKind, Events, Fence, Input, Key, Limits,
    MeshError, Name, Nats, Output, Reply, Results, Revision, Settings, Value, Written, consume_result,
};
use netcore::Time;
use tokio::time::timeout;

use self::servers::Servers;
use crate::{
    PATIENCE,
    contract::{self, STREAMS, Shared, name},
    former::{Version, VersionedNode},
};

/// Small, since all tests share the disk.
fn limits() -> Limits {
    Limits {
        directory_bytes: 1 << 20,
        events_bytes: 4 << 20,
        journals_bytes: i64::from(STREAMS) * (32 << 20),
        results_bytes: 1 << 20,
        taken_seconds: 1,
        ..Limits::default()
    }
}

fn place(servers: Vec<String>) -> BrokerSettings {
    static TESTS: AtomicU64 = AtomicU64::new(0);
    let number = TESTS.fetch_add(1, Ordering::Relaxed);
    let prefix = name(&format!("test-{}-{number}", std::process::id()));
    BrokerSettings { servers, prefix, limits: limits(), streams: Some(STREAMS) }
}

async fn connect(place: &BrokerSettings) -> Nats {
    persist(async || Nats::connect(place).await).await
}

async fn persist<T>(mut ask: impl AsyncFnMut() -> Result<T, MeshError>) -> T {
    let begun = Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Away, "{error}");
                assert!(begun.elapsed() < 2 * PATIENCE, "{error}");
            }
        }
    }
}

async fn shared() -> Shared {
    let servers = std::env::var("ARCADE_TEST_NATS").expect("run the test by .ci/with-nats");
    let nats = connect(&place(servers.split(',').map(str::to_owned).collect())).await;
    let journals = nats.journals();
    Shared::of(nats, journals)
}

contract::tests!(shared().await, #[ignore = "needs nats-server"]);

fn code(text: &str) -> Key {
    Key::Code(name(text))
}

fn text(text: &str) -> Value {
    Value::Common(text.to_owned())
}

fn stored(written: Written) -> Revision {
    match written {
        Written::Stored(revision) => revision,
        Written::Conflict(there) => panic!("{there:?} is there"),
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn single_server_stores_one_replica() {
    let servers = Servers::start(1, true);
    let place = place(servers.addresses());
    let nats = connect(&place).await;
    let revision = stored(nats.write(&code("A"), Some(&text("Ann")), None).await.unwrap());
    let other = connect(&place).await;
    assert_eq!(other.entry(&code("A")).await, Ok(Some(Entry { revision, value: text("Ann") })));
    assert_eq!(servers.copies(&format!("{}-results", place.prefix)).await, 1);
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn server_without_jetstream_is_rejected_with_advice() {
    let servers = Servers::start(1, false);
    let address = servers.addresses().remove(0).replace("nats://", "");
    let secret = format!("nats://somebody:secret@{address}");
    let error = Nats::connect(&place(vec![secret])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Setup);
    assert_eq!(
        error.to_string(),
        format!(
            "cannot use the NATS server at {address}: it runs without JetStream; start it with --jetstream and --store_dir"
        )
    );
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn unreachable_server_is_reported_in_time() {
    let begun = Instant::now();
    let error = Nats::connect(&place(vec!["nats://127.0.0.1:1".to_owned()])).await.unwrap_err();
    assert!(begun.elapsed() < PATIENCE);
    assert_eq!(error.kind(), ErrorKind::Away);
    assert!(error.to_string().starts_with("cannot connect to NATS at 127.0.0.1:1: "), "{error}");
    let error = Nats::connect(&place(vec!["no address".to_owned()])).await.unwrap_err();
    assert!(error.to_string().contains("expected nats://HOST:PORT"), "{error}");
    assert!(Nats::connect(&place(vec![])).await.is_err());
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn streams_with_other_limits_are_rejected() {
    let servers = Servers::start(1, true);
    let first = place(servers.addresses());
    connect(&first).await;
    let mut other = first.clone();
    other.limits.events_bytes += 1;
    let error = Nats::connect(&other).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Setup);
    let text = error.to_string();
    assert!(text.contains(&format!("cannot use the stream {}-events", first.prefix)), "{text}");
    assert!(text.contains("its max_bytes is not 4194305"), "{text}");
}

/// Consumers count against the limit of the stream, and a node may read a thousand journals in half a minute.
#[tokio::test]
#[ignore = "needs nats-server"]
async fn reading_journals_leaves_no_consumers() {
    let servers = Servers::start(1, true);
    let place = place(servers.addresses());
    let nats = connect(&place).await;
    for number in 0..3 {
        let journal = name(&format!("journal-{number}"));
        let append = Append { fence: Fence(1), after: None, is_anchor: true, body: Bytes::from_static(b"x") };
        let journals = nats.journals().hashed;
        assert!(matches!(journals.append(&journal, &append).await, Ok(Appended::Stored(_))));
        assert_eq!(journals.read(&journal).await.unwrap().len(), 1);
    }
    let plain = async_nats::jetstream::new(async_nats::connect(servers.addresses().remove(0)).await.unwrap());
    for number in 0..STREAMS {
        let journals = plain.get_stream(format!("{}-journals-{number}", place.prefix)).await.unwrap();
        assert_eq!(journals.cached_info().state.consumer_count, 0);
    }
    // Each followed room of another node has a consumer.
    let events = plain.get_stream(format!("{}-events", place.prefix)).await.unwrap();
    assert_eq!(events.cached_info().config.max_consumers, -1);
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn values_of_a_later_version_are_skipped_and_counted() {
    let servers = Servers::start(1, true);
    let place = place(servers.addresses());
    let nats = connect(&place).await;
    let plain = async_nats::connect(servers.addresses().remove(0)).await.unwrap();
    let later = Bytes::from_static(b"\x02\x00\x00\x02{}");
    let subject = format!("$KV.{}-directory.code.NEW", place.prefix);
    plain.request(subject, later.clone()).await.unwrap();
    let Written::Conflict(Some(entry)) = nats.write(&code("NEW"), Some(&text("x")), None).await.unwrap() else {
        panic!()
    };
    assert_eq!(entry.value, Value::Unknown, "its key is taken");
    let mut watch = nats.watch(None).await.unwrap();
    assert_eq!(watch.next().await, Ok(Delta::Reset));
    assert!(matches!(watch.next().await, Ok(Delta::Put(_, Entry { value: Value::Unknown, .. }))));
    plain.request(format!("{}.results.new", place.prefix), later.clone()).await.unwrap();
    assert_eq!(nats.submit(&name("old"), &Bytes::from_static(b"1")).await, Ok(true));
    assert_eq!(nats.take().await.unwrap().unwrap().id, name("old"));
    assert!(nats.skipped() >= 3, "{}", nats.skipped());
    let journals = nats.journals().single;
    assert_eq!(journals.fence(&name("new")).await, Ok(None));
    plain.request(format!("{}.journals.new", place.prefix), later).await.unwrap();
    let error = journals.open(&name("new"), Fence(1)).await.unwrap_err();
    assert!(error.to_string().contains("upgrade this node"), "{error}");
}

/// Repeats each append until the broker has responded.
async fn append_numbers(nats: &Nats, journal: &Name, count: u32) {
    let journals = nats.journals().hashed;
    let Appended::Stored(mut last) = persist(async || journals.open(journal, Fence(1)).await).await else { panic!() };
    for number in 0..count {
        let body = Bytes::copy_from_slice(&number.to_be_bytes());
        let piece = Append { fence: Fence(1), after: Some(last), is_anchor: number == 0, body };
        match persist(async || journals.append(journal, &piece).await).await {
            Appended::Stored(sequence) => last = sequence,
            other => panic!("{number}: {other:?}"),
        }
    }
}

async fn numbers(nats: &Nats, journal: &Name) -> Vec<u32> {
    let journals = nats.journals().hashed;
    let pieces = persist(async || journals.read(journal).await).await;
    pieces.iter().map(|piece| u32::from_be_bytes(piece.body[..].try_into().unwrap())).collect()
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn writes_survive_the_loss_of_the_leader() {
    const COUNT: u32 = 400;
    let mut servers = Servers::start(3, true);
    let place = place(servers.addresses());
    let nats = connect(&place).await;
    // In the last stream.
    let journal = name("nuggets-1");
    let stream = format!("{}-journals-{}", place.prefix, STREAMS - 1);
    assert_eq!(servers.copies(&stream).await, 3);
    let progress = tokio::sync::watch::Sender::new(0);
    let mut watch = nats.watch(None).await.unwrap();
    assert_eq!(watch.next().await, Ok(Delta::Reset));
    let writes = append_numbers(&nats, &journal, COUNT);
    let claims = async {
        // Like heartbeats, each write expects the previous one. A lost reply shows up as a conflict.
        let mut last = None;
        for number in 0..COUNT / 2 {
            let value = text(&number.to_string());
            progress.send_replace(number);
            last = Some(match persist(async || nats.write(&code("beat"), Some(&value), last).await).await {
                Written::Stored(revision) => revision,
                Written::Conflict(Some(there)) if there.value == value => there.revision,
                Written::Conflict(there) => panic!("{number}: {there:?}"),
            });
        }
        last.unwrap()
    };
    let results = async {
        for number in 0..COUNT / 4 {
            let id = name(&format!("m-{number}"));
            persist(async || nats.submit(&id, &Bytes::from_static(b"result")).await).await;
        }
    };
    let kill = async {
        progress.subscribe().wait_for(|number| *number >= COUNT / 20).await.unwrap();
        let leader = servers.leader(&stream).await;
        servers.kill(leader);
    };
    let ((), last, (), ()) = tokio::join!(writes, claims, results, kill);
    assert_eq!(numbers(&nats, &journal).await, (0..COUNT).collect::<Vec<_>>(), "each once, in order");
    let seen = async {
        loop {
            if let Ok(Delta::Put(key, entry)) = watch.next().await
                && key == code("beat")
                && entry.revision == last
            {
                return;
            }
        }
    };
    timeout(PATIENCE, seen).await.expect("the watch goes on with other servers");
    let mut counted = std::collections::BTreeMap::new();
    let mut commit = async |id: &Name, _: &Bytes| {
        *counted.entry(id.clone()).or_insert(0) += 1;
        Ok::<_, MeshError>(Committed::Stored)
    };
    while persist(async || consume_result(&nats, &mut commit).await).await {}
    assert_eq!(counted.len(), (COUNT / 4) as usize, "each result is there");
    assert!(counted.values().all(|count| *count == 1), "{counted:?}");
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn broker_outage_loses_nothing() {
    let mut servers = Servers::start(1, true);
    let place = place(servers.addresses());
    let nats = connect(&place).await;
    let room = name("room");
    let append = |after, is_anchor| Append { fence: Fence(1), after, is_anchor, body: Bytes::from_static(b"x") };
    let before = stored(nats.write(&code("A"), Some(&text("1")), None).await.unwrap());
    let Appended::Stored(first) = nats.publish(&room, &append(None, true)).await.unwrap() else { panic!() };
    let mut watch = nats.watch(None).await.unwrap();
    let mut follow = nats.follow(&room, None).await.unwrap();
    assert_eq!(watch.next().await, Ok(Delta::Reset));
    assert!(matches!(watch.next().await, Ok(Delta::Put(..))));
    assert_eq!(follow.next().await.unwrap().sequence, first);

    servers.kill(0);
    let begun = Instant::now();
    let error = nats.write(&code("A"), Some(&text("2")), Some(before)).await.unwrap_err();
    assert!(begun.elapsed() < PATIENCE, "no request waits forever");
    assert_eq!(error.kind(), ErrorKind::Away);
    let message = error.to_string();
    assert!(message.starts_with("cannot write the entry code.A of the directory at 127.0.0.1:"), "{message}");
    assert!(message.ends_with("check that most of the NATS servers are running and reachable"), "{message}");
    let error = timeout(PATIENCE, follow.next()).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Away);
    assert_eq!(timeout(PATIENCE, watch.next()).await.unwrap().unwrap_err().kind(), ErrorKind::Away);

    servers.restart(0);
    let after = match persist(async || nats.write(&code("A"), Some(&text("2")), Some(before)).await).await {
        Written::Stored(revision) => revision,
        // The client sent the earlier attempt when it had reconnected.
        Written::Conflict(there) => there.filter(|there| there.value == text("2")).unwrap().revision,
    };
    let second = match persist(async || nats.publish(&room, &append(Some(first), false)).await).await {
        Appended::Stored(sequence) => sequence,
        other => panic!("{other:?}"),
    };
    let mut watch = persist(async || nats.watch(Some(before)).await).await;
    let mut follow = persist(async || nats.follow(&room, Some(first)).await).await;
    let changed = timeout(PATIENCE, watch.next()).await.unwrap().unwrap();
    assert_eq!(changed, Delta::Put(code("A"), Entry { revision: after, value: text("2") }));
    assert_eq!(timeout(PATIENCE, follow.next()).await.unwrap().unwrap().sequence, second);
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn lasting_entry_outlives_the_directory() {
    let servers = Servers::start(1, true);
    let place = place(servers.addresses());
    let nats = connect(&place).await;
    let (lasting, secret) = (Key::Lasting(name("secret")), Value::Common("one".to_owned()));
    let revision = stored(nats.write(&lasting, Some(&secret), None).await.unwrap());
    stored(nats.write(&code("A"), Some(&text("Ann")), None).await.unwrap());
    let plain = async_nats::jetstream::new(async_nats::connect(servers.addresses().remove(0)).await.unwrap());
    // Simulates the expiry of all entries.
    plain.delete_stream(format!("KV_{}-directory", place.prefix)).await.unwrap();
    let nats = connect(&place).await;
    assert_eq!(nats.entry(&code("A")).await, Ok(None));
    assert_eq!(nats.entry(&lasting).await, Ok(Some(Entry { revision, value: secret })));
    let bucket = plain.get_stream(format!("KV_{}-common", place.prefix)).await.unwrap();
    assert_eq!(bucket.cached_info().config.max_age, Duration::ZERO);
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn unreadable_result_becomes_a_dead_letter_after_five_deliveries() {
    let servers = Servers::start(1, true);
    let place = place(servers.addresses());
    let nats = connect(&place).await;
    let plain = async_nats::connect(servers.addresses().remove(0)).await.unwrap();
    let later = Bytes::from_static(b"\x02\x00\x00\x02{}");
    plain.request(format!("{}.results.later", place.prefix), later.clone()).await.unwrap();
    for id in ["rejected", "good"] {
        assert_eq!(nats.submit(&name(id), &Bytes::from_static(b"1")).await, Ok(true));
    }
    let (mut good, mut rejected) = (0, 0);
    let begun = Instant::now();
    while nats.dead_letters() < 2 {
        let commit = async |id: &Name, _: &Bytes| {
            let is_good = *id == name("good");
            *(if is_good { &mut good } else { &mut rejected }) += 1;
            Ok::<_, MeshError>(if is_good { Committed::Stored } else { Committed::Rejected })
        };
        consume_result(&nats, commit).await.unwrap();
        assert!(good > 0 || begun.elapsed() < PATIENCE, "it waits behind the others");
        assert!(begun.elapsed() < 2 * PATIENCE, "{} dead letters", nats.dead_letters());
    }
    assert_eq!((good, rejected), (1, mesh::MAX_DELIVERIES));
    let context = async_nats::jetstream::new(plain);
    let dead = context.get_stream(format!("{}-dead", place.prefix)).await.unwrap();
    let subject = format!("{}.dead.later", place.prefix);
    assert_eq!(dead.get_last_raw_message_by_subject(&subject).await.unwrap().payload, later);
    let queue = context.get_stream(format!("{}-results", place.prefix)).await.unwrap();
    assert_eq!((queue.cached_info().state.messages, dead.cached_info().state.messages), (0, 2));
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn full_directory_accepts_heartbeats() {
    let servers = Servers::start(1, true);
    let place = place(servers.addresses());
    let nats = connect(&place).await;
    let row = text(&"x".repeat(15 << 10));
    let mut number = 0;
    let full = loop {
        number += 1;
        if let Err(error) = nats.write(&code(&format!("ROW-{number}")), Some(&row), None).await {
            break error;
        }
    };
    assert_eq!(full.kind(), ErrorKind::Full, "{full}");
    let heartbeat = Value::Heartbeat(mesh::HeartbeatValue { life: Revision(1), ended: false });
    let mut last = None;
    for _ in 0..3 {
        last = Some(stored(nats.write(&Key::Heartbeat(name("ann")), Some(&heartbeat), last).await.unwrap()));
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn arcade_of_an_earlier_version_keeps_its_stream_beside_several() {
    let servers = Servers::start(1, true);
    let mut earlier = BrokerSettings { streams: Some(1), ..place(servers.addresses()) };
    earlier.limits.directory_bytes = 64 << 20;
    let nats = connect(&earlier).await;
    earlier.limits = limits();
    assert!(!nats.has_streams());
    let append =
        |fence, body| Append { fence: Fence(fence), after: None, is_anchor: true, body: Bytes::from_static(body) };
    let room = name("nuggets-1");
    assert!(matches!(nats.journals().single.append(&room, &append(1, b"copy")).await, Ok(Appended::Stored(_))));
    // Nodes of earlier versions do not store the number of streams.
    let key = Key::Lasting(name("journal-streams"));
    let there = nats.entry(&key).await.unwrap().unwrap();
    stored(nats.write(&key, None, Some(there.revision)).await.unwrap());
    let upgraded = connect(&BrokerSettings { streams: None, ..earlier.clone() }).await;
    let mesh::JournalStreams { single, hashed } = upgraded.journals();
    assert!(upgraded.has_streams());
    assert_eq!(single.read(&room).await.unwrap()[0].body, &b"copy"[..]);
    assert_eq!(hashed.fence(&room).await, Ok(None));
    // The owner of an earlier version is excluded in the stream that it knows.
    assert!(matches!(single.open(&room, Fence(2)).await, Ok(Appended::Stored(_))));
    assert_eq!(nats.journals().single.append(&room, &append(1, b"late")).await, Ok(Appended::Fenced(Fence(2))));
    let error = Nats::connect(&earlier).await.unwrap_err().to_string();
    assert!(error.contains("this node has --journal-streams 1, and the arcade was created with 16"), "{error}");
    // Each stream has its part of the bytes.
    let plain = async_nats::jetstream::new(async_nats::connect(servers.addresses().remove(0)).await.unwrap());
    for number in 0..mesh::DEFAULT_STREAMS {
        let stream = plain.get_stream(format!("{}-journals-{number}", earlier.prefix)).await.unwrap();
        assert_eq!(stream.cached_info().config.max_bytes * i64::from(mesh::DEFAULT_STREAMS), limits().journals_bytes);
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn new_arcade_has_no_stream_for_earlier_versions() {
    let servers = Servers::start(1, true);
    let place = place(servers.addresses());
    let nats = connect(&place).await;
    assert_eq!(nats.journals().single.names().await, Ok(vec![]));
    let plain = async_nats::jetstream::new(async_nats::connect(servers.addresses().remove(0)).await.unwrap());
    assert!(plain.get_stream(format!("{}-journals", place.prefix)).await.is_err());
}

struct Running {
    nats: Nats,
    node: VersionedNode,
    watch: Box<dyn mesh::Watch>,
    inputs: Vec<Input>,
    begun: Instant,
}

impl Running {
    async fn start(place: &BrokerSettings, text: &str, version: Version) -> Self {
        let nats = connect(place).await;
        let settings = Settings {
            name: name(text),
            identity: name(&format!("disk-of-{text}")),
            address: "127.0.0.1:80".to_owned(),
            most_rooms: 10,
            runs: vec![],
            streams: true,
            outage: mesh::OUTAGE,
        };
        let node = VersionedNode::new(settings, version);
        let watch = persist(async || nats.watch(None).await).await;
        Self { nats, node, watch, inputs: vec![Input::Elapsed], begun: Instant::now() }
    }

    fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.begun.elapsed().as_nanos()).unwrap()).plus(Duration::from_secs(1))
    }

    async fn step(&mut self) {
        let (mut out, now) = (vec![], self.now());
        self.inputs.drain(..).for_each(|input| self.node.input(now, input, &mut out));
        for output in out {
            if let Output::Write(ticket, ask) = output {
                let reply = ask.perform(&self.nats).await.map_or(Reply::Failed, Reply::Written);
                self.inputs.push(Input::Reply(ticket, reply));
            }
        }
        match timeout(Duration::from_millis(20), self.watch.next()).await {
            Ok(delta) => self.inputs.push(Input::Delta(delta.unwrap())),
            Err(_) => self.inputs.push(Input::Elapsed),
        }
    }
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn rolling_upgrade_to_separate_heartbeats_keeps_nodes_present() {
    let servers = Servers::start(1, true);
    let place = place(servers.addresses());
    let nats = connect(&place).await;
    let entry = async |key: &Key| persist(async || nats.entry(key).await).await;
    let apart = async |key: &Key| match entry(key).await.map(|entry| entry.value) {
        Some(Value::Node(node)) => node.apart,
        _ => None,
    };
    let [ann, bob] = ["ann", "bob"].map(|node| Key::Node(name(node)));
    let heartbeat = Key::Heartbeat(name("bob"));
    let mut old = Running::start(&place, "ann", Version::First).await;
    let mut new = Running::start(&place, "bob", Version::Current).await;
    let begun = Instant::now();
    // Both nodes write their entries while the old one is listed. Waits longer than the expiry of a silent node.
    let mut revisions = std::collections::BTreeSet::new();
    let waits = |begun: Instant, is_reached: bool| {
        begun.elapsed() < mesh::EXPIRY + 2 * mesh::HEARTBEAT || !is_reached && begun.elapsed() < PATIENCE
    };
    while waits(begun, apart(&bob).await == Some(false)) {
        old.step().await;
        new.step().await;
        revisions.extend(entry(&bob).await.map(|entry| entry.revision));
    }
    assert_eq!(apart(&bob).await, Some(false));
    assert!(revisions.len() > 4 && old.node.is_present(old.now()) && new.node.is_present(new.now()));
    assert_eq!(apart(&ann).await, None);
    // Bob may have sent separate heartbeats before it knew of the old node.
    let before = entry(&heartbeat).await.map(|entry| entry.revision);
    old.inputs.push(Input::Leave);
    while entry(&ann).await.is_some() {
        old.step().await;
    }
    let mut old = Running::start(&place, "ann", Version::Current).await;
    let mut last = None;
    let begun = Instant::now();
    while waits(begun, last > before && apart(&bob).await == Some(true)) {
        old.step().await;
        new.step().await;
        last = entry(&heartbeat).await.map(|entry| entry.revision).max(last);
    }
    assert!(last > before && apart(&ann).await == Some(true) && apart(&bob).await == Some(true));
    assert!(old.node.is_present(old.now()) && new.node.is_present(new.now()));
    // A node returns with the old version, as after a reverted upgrade.
    old.inputs.push(Input::Leave);
    while entry(&ann).await.is_some() {
        old.step().await;
    }
    let mut old = Running::start(&place, "ann", Version::First).await;
    let begun = Instant::now();
    while waits(begun, apart(&bob).await == Some(false)) {
        old.step().await;
        new.step().await;
    }
    assert_eq!(apart(&bob).await, Some(false));
    assert!(old.node.is_present(old.now()) && new.node.is_present(new.now()));
}
