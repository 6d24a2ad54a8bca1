use std::sync::Arc;

use bytes::Bytes;
use mesh::{
    Append, Appended, Committed, Delta, Directory, Entry, Events, Fence, HeartbeatValue, JournalStreams, Journals, Key,
    MAX_APPEND, MAX_CHANGES, MAX_SEGMENT, MAX_SEGMENTS, MeshError, Name, Piece, Placement, Results, Revision, Sequence,
    Summaries, Value, Watch, Written, agree_on_streams, consume_result,
};
use tokio::{task::JoinSet, time::timeout};

use crate::PATIENCE;

#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) directory: Arc<dyn Directory>,
    pub(crate) events: Arc<dyn Events>,
    pub(crate) results: Arc<dyn Results>,
    pub(crate) journals: JournalStreams,
    pub(crate) summaries: Arc<dyn Summaries>,
}

/// The streams of the arcades of these tests.
pub(crate) const STREAMS: u32 = 4;

impl Shared {
    pub(crate) fn of(all: impl Directory + Events + Results + Summaries + 'static, journals: JournalStreams) -> Self {
        let all = Arc::new(all);
        Self { directory: all.clone(), events: all.clone(), results: all.clone(), journals, summaries: all }
    }

    fn journals(&self) -> [Arc<dyn Journals>; 2] {
        [Placement::Single, Placement::Hashed].map(|placement| self.journals.at(placement).clone())
    }
}

/// One test for each rule. The expression creates an implementation.
macro_rules! tests {
    ($shared:expr $(, #[$attribute:meta])?) => {
        $crate::contract::rules!($shared, $(#[$attribute])?);
    };
}
macro_rules! rules {
    ($shared:expr, #[$attribute:meta]) => {
        $crate::contract::rules!(@ { $shared } { #[$attribute] });
    };
    ($shared:expr,) => {
        $crate::contract::rules!(@ { $shared } {});
    };
    (@ $shared:tt $attribute:tt) => {
        $crate::contract::rule!($shared $attribute one_of_concurrent_claims_wins);
        $crate::contract::rule!($shared $attribute write_expects_the_current_revision);
        $crate::contract::rule!($shared $attribute watch_returns_all_entries_and_then_changes);
        $crate::contract::rule!($shared $attribute watch_resumes_after_a_revision);
        $crate::contract::rule!($shared $attribute heartbeats_are_watched_and_lasting_entries_are_not);
        $crate::contract::rule!($shared $attribute late_follower_receives_the_last_snapshot_and_later_events);
        $crate::contract::rule!($shared $attribute events_of_an_older_fence_are_rejected);
        $crate::contract::rule!($shared $attribute a_repeated_append_is_stored_once);
        $crate::contract::rule!($shared $attribute a_snapshot_is_due_after_many_changes);
        $crate::contract::rule!($shared $attribute a_result_counts_once);
        $crate::contract::rule!($shared $attribute uncommitted_result_is_not_lost);
        $crate::contract::rule!($shared $attribute opening_a_journal_fences_earlier_owners);
        $crate::contract::rule!($shared $attribute a_journal_is_bounded);
        $crate::contract::rule!($shared $attribute trimmed_journal_is_read_from_its_last_segment);
        $crate::contract::rule!($shared $attribute journals_of_both_placements_are_separate);
        $crate::contract::rule!($shared $attribute first_node_sets_the_number_of_streams);
        $crate::contract::rule!($shared $attribute followers_receive_all_later_summaries_in_order);
    };
}
macro_rules! rule {
    ({ $shared:expr } { $(#[$attribute:meta])? } $rule:ident) => {
        #[tokio::test]
        $(#[$attribute])?
        async fn $rule() {
            $crate::contract::$rule($shared).await;
        }
    };
}
pub(crate) use tests;
pub(crate) use {rule, rules};

pub(crate) fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn code(text: &str) -> Key {
    Key::Code(name(text))
}

fn value(text: &str) -> Value {
    Value::Common(text.to_owned())
}

fn append(fence: u64, after: Option<Sequence>, is_anchor: bool, body: impl Into<Bytes>) -> Append {
    Append { fence: Fence(fence), after, is_anchor, body: body.into() }
}

async fn write(shared: &Shared, key: &str, text: Option<&str>, expected: Option<Revision>) -> Written {
    let value = text.map(value);
    shared.directory.write(&code(key), value.as_ref(), expected).await.unwrap()
}

async fn stored(shared: &Shared, key: &str, text: Option<&str>, expected: Option<Revision>) -> Revision {
    match write(shared, key, text, expected).await {
        Written::Stored(revision) => revision,
        Written::Conflict(there) => panic!("{key} is {there:?}, expected {expected:?}"),
    }
}

#[track_caller]
fn place(appended: Result<Appended, MeshError>) -> Sequence {
    match appended {
        Ok(Appended::Stored(sequence)) => sequence,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn one_of_concurrent_claims_wins(shared: Shared) {
    let mut claims = JoinSet::new();
    for number in 0..16 {
        let shared = shared.clone();
        claims.spawn(async move { (number, write(&shared, "CODE", Some(&number.to_string()), None).await) });
    }
    let (mut won, mut conflicts) = (vec![], vec![]);
    for (number, written) in claims.join_all().await {
        match written {
            Written::Stored(revision) => won.push(Entry { revision, value: value(&number.to_string()) }),
            Written::Conflict(there) => conflicts.push(there.unwrap()),
        }
    }
    assert_eq!(won.len(), 1, "{won:?}");
    assert!(conflicts.iter().all(|there| *there == won[0]), "the others see the winner: {conflicts:?}");
    assert_eq!(shared.directory.entry(&code("CODE")).await.unwrap().as_ref(), won.first());
}

pub(crate) async fn write_expects_the_current_revision(shared: Shared) {
    let first = stored(&shared, "A", Some("1"), None).await;
    let second = stored(&shared, "A", Some("2"), Some(first)).await;
    assert!(second > first);
    let there = Entry { revision: second, value: value("2") };
    for (text, expected) in [(Some("3"), None), (Some("3"), Some(first)), (None, Some(first)), (None, None)] {
        assert_eq!(write(&shared, "A", text, expected).await, Written::Conflict(Some(there.clone())));
    }
    let removed = stored(&shared, "A", None, Some(second)).await;
    assert_eq!(shared.directory.entry(&code("A")).await.unwrap(), None);
    assert_eq!(write(&shared, "A", Some("3"), Some(second)).await, Written::Conflict(None));
    stored(&shared, "A", None, None).await;
    stored(&shared, "B", None, None).await;
    let again = stored(&shared, "A", Some("4"), None).await;
    assert!(again > removed, "a claim that is made again has a greater fence");
}

async fn next(watch: &mut Box<dyn Watch>) -> Delta {
    timeout(PATIENCE, watch.next()).await.expect("a change").unwrap()
}

pub(crate) async fn watch_returns_all_entries_and_then_changes(shared: Shared) {
    let a = stored(&shared, "A", Some("1"), None).await;
    let b = stored(&shared, "B", Some("2"), None).await;
    let mut watch = shared.directory.watch(None).await.unwrap();
    assert_eq!(next(&mut watch).await, Delta::Reset);
    assert_eq!(next(&mut watch).await, Delta::Put(code("A"), Entry { revision: a, value: value("1") }));
    assert_eq!(next(&mut watch).await, Delta::Put(code("B"), Entry { revision: b, value: value("2") }));
    let waits = timeout(std::time::Duration::from_millis(50), watch.next()).await;
    assert!(waits.is_err(), "nothing has changed: {waits:?}");
    let c = stored(&shared, "A", Some("3"), Some(a)).await;
    assert_eq!(next(&mut watch).await, Delta::Put(code("A"), Entry { revision: c, value: value("3") }));
    let d = stored(&shared, "B", None, Some(b)).await;
    assert_eq!(next(&mut watch).await, Delta::Removed(code("B"), d));
}

pub(crate) async fn watch_resumes_after_a_revision(shared: Shared) {
    let a = stored(&shared, "A", Some("1"), None).await;
    let b = stored(&shared, "B", Some("2"), None).await;
    let removed = stored(&shared, "B", None, Some(b)).await;
    let c = stored(&shared, "C", Some("3"), None).await;
    let mut watch = shared.directory.watch(Some(a)).await.unwrap();
    assert_eq!(next(&mut watch).await, Delta::Removed(code("B"), removed));
    assert_eq!(next(&mut watch).await, Delta::Put(code("C"), Entry { revision: c, value: value("3") }));
    drop(watch);
    let mut watch = shared.directory.watch(Some(c)).await.unwrap();
    let d = stored(&shared, "D", Some("4"), None).await;
    assert_eq!(next(&mut watch).await, Delta::Put(code("D"), Entry { revision: d, value: value("4") }));
}

pub(crate) async fn heartbeats_are_watched_and_lasting_entries_are_not(shared: Shared) {
    let [heartbeat, lasting] = [Key::Heartbeat(name("ann")), Key::Lasting(name("secret"))];
    let beat = |life, ended| Value::Heartbeat(HeartbeatValue { life: Revision(life), ended });
    let put = async |key: &Key, value: &Value, expected| match shared.directory.write(key, Some(value), expected).await
    {
        Ok(Written::Stored(revision)) => revision,
        other => panic!("{other:?}"),
    };
    let secret = Value::Common("one".into());
    put(&lasting, &secret, None).await;
    let Ok(Written::Conflict(Some(there))) =
        shared.directory.write(&lasting, Some(&Value::Common("two".into())), None).await
    else {
        panic!("of two that draw it, one wins")
    };
    assert_eq!(there.value, secret);
    let first = put(&heartbeat, &beat(7, false), None).await;
    let a = stored(&shared, "A", Some("1"), None).await;
    let mut watch = shared.directory.watch(None).await.unwrap();
    assert_eq!(next(&mut watch).await, Delta::Reset);
    // Heartbeats are not ordered relative to other entries.
    let mut shown = [next(&mut watch).await, next(&mut watch).await];
    shown.sort_by_key(Delta::resumes_after);
    let of_heartbeat = |revision, value| Delta::Put(heartbeat.clone(), Entry { revision, value });
    assert_eq!(shown[0], of_heartbeat(first, beat(7, false)));
    assert_eq!(shown[1], Delta::Put(code("A"), Entry { revision: a, value: value("1") }));
    // The write that ends a life expects the last heartbeat, and a later heartbeat conflicts with it.
    let ended = put(&heartbeat, &beat(7, true), Some(first)).await;
    assert_eq!(next(&mut watch).await, of_heartbeat(ended, beat(7, true)));
    let late = shared.directory.write(&heartbeat, Some(&beat(7, false)), Some(first)).await;
    assert_eq!(late, Ok(Written::Conflict(Some(Entry { revision: ended, value: beat(7, true) }))));
    let mut watch = shared.directory.watch(Some(a)).await.unwrap();
    assert_eq!(next(&mut watch).await, of_heartbeat(ended, beat(7, true)));
}

async fn received(shared: &Shared, after: Option<Sequence>, count: usize) -> Vec<(bool, Bytes)> {
    let mut follow = shared.events.follow(&name("room"), after).await.unwrap();
    let mut events = vec![];
    for _ in 0..count {
        let event = timeout(PATIENCE, follow.next()).await.expect("an event").unwrap();
        events.push((event.is_snapshot, event.body));
    }
    events
}

pub(crate) async fn late_follower_receives_the_last_snapshot_and_later_events(shared: Shared) {
    let room = name("room");
    let mut early = shared.events.follow(&room, None).await.unwrap();
    let mut places = vec![];
    for (number, is_anchor) in [true, false, false, true, false, false].into_iter().enumerate() {
        let event = append(1, places.last().copied(), is_anchor, number.to_string());
        places.push(place(shared.events.publish(&room, &event).await));
        let other = append(1, None, true, "other");
        place(shared.events.publish(&name("other"), &other).await);
    }
    for (number, place) in places.iter().enumerate() {
        let event = timeout(PATIENCE, early.next()).await.expect("an event").unwrap();
        assert_eq!((event.sequence, event.body), (*place, Bytes::from(number.to_string())));
    }
    let texts = |events: Vec<(bool, Bytes)>| {
        events.iter().map(|(_, body)| String::from_utf8_lossy(body).into_owned()).collect::<String>()
    };
    assert_eq!(texts(received(&shared, None, 3).await), "345");
    assert_eq!(texts(received(&shared, Some(places[1]), 4).await), "2345");
    // This sequence never existed in this room: the follower restarts.
    assert_eq!(texts(received(&shared, Some(Sequence(places[5].0 - 1)), 3).await), "345");
    let taken = append(2, None, true, "6");
    place(shared.events.publish(&room, &taken).await);
    assert_eq!(received(&shared, Some(places[5]), 1).await, [(true, Bytes::from("6"))]);
}

pub(crate) async fn events_of_an_older_fence_are_rejected(shared: Shared) {
    let room = name("room");
    let publish = async |event: Append| shared.events.publish(&room, &event).await.unwrap();
    assert_eq!(publish(append(7, None, false, "x")).await, Appended::AnchorDue, "it begins with a snapshot");
    let Appended::Stored(first) = publish(append(7, None, true, "a")).await else { panic!() };
    let Appended::Stored(second) = publish(append(9, None, true, "b")).await else { panic!() };
    for after in [None, Some(first), Some(second)] {
        assert_eq!(publish(append(7, after, true, "c")).await, Appended::Fenced(Fence(9)));
    }
    assert_eq!(publish(append(9, Some(first), false, "c")).await, Appended::Misplaced(second));
    assert_eq!(publish(append(10, Some(second), false, "c")).await, Appended::Misplaced(second), "first it takes over");
    assert!(matches!(publish(append(9, Some(second), false, "c")).await, Appended::Stored(_)));
    let bodies: Vec<Bytes> = received(&shared, Some(first), 2).await.into_iter().map(|(_, body)| body).collect();
    assert_eq!(bodies, ["b", "c"]);
}

pub(crate) async fn a_repeated_append_is_stored_once(shared: Shared) {
    let room = name("room");
    let mut last = place(shared.events.publish(&room, &append(1, None, true, "0")).await);
    for number in 1..4 {
        let event = append(1, Some(last), false, number.to_string());
        let first = place(shared.events.publish(&room, &event).await);
        assert_eq!(place(shared.events.publish(&room, &event).await), first);
        last = first;
    }
    let other = append(1, Some(Sequence(last.0 - 1)), false, "other");
    assert_eq!(shared.events.publish(&room, &other).await, Ok(Appended::Misplaced(last)));
    assert_eq!(received(&shared, None, 4).await.len(), 4);
    let large = append(1, Some(last), false, vec![0; MAX_APPEND + 1]);
    assert!(shared.events.publish(&room, &large).await.is_err());
}

pub(crate) async fn a_snapshot_is_due_after_many_changes(shared: Shared) {
    let room = name("room");
    let mut last = place(shared.events.publish(&room, &append(1, None, true, "0")).await);
    for _ in 0..MAX_CHANGES {
        last = place(shared.events.publish(&room, &append(1, Some(last), false, "x")).await);
    }
    let change = append(1, Some(last), false, "x");
    assert_eq!(shared.events.publish(&room, &change).await, Ok(Appended::AnchorDue));
    place(shared.events.publish(&room, &append(1, Some(last), true, "y")).await);
    assert_eq!(received(&shared, None, 1).await, [(true, Bytes::from("y"))]);
}

/// A busy broker may deliver no result within one request.
const REQUESTS: usize = 100;

async fn work(shared: &Shared, number: usize) -> Vec<(Name, Bytes)> {
    let mut done = vec![];
    for _ in 0..REQUESTS {
        let mut commit = async |id: &Name, body: &Bytes| {
            done.push((id.clone(), body.clone()));
            Ok::<_, MeshError>(Committed::Stored)
        };
        while consume_result(&*shared.results, &mut commit).await.unwrap() {}
        if done.len() >= number {
            break;
        }
    }
    done
}

pub(crate) async fn a_result_counts_once(shared: Shared) {
    let submit =
        async |id: &str, body: &'static str| shared.results.submit(&name(id), &Bytes::from(body)).await.unwrap();
    assert!(submit("m-1", "one").await);
    assert!(submit("m-2", "two").await);
    assert!(!submit("m-1", "again").await, "it waits already");
    assert_eq!(work(&shared, 2).await, [(name("m-1"), Bytes::from("one")), (name("m-2"), Bytes::from("two"))]);
    assert!(!submit("m-2", "again").await, "it is remembered");
    assert_eq!(work(&shared, 0).await, []);
}

pub(crate) async fn uncommitted_result_is_not_lost(shared: Shared) {
    shared.results.submit(&name("m"), &Bytes::from("one")).await.unwrap();
    let no = || MeshError::new(mesh::ErrorKind::Away, "commit", "the database", "it is away", "try again");
    let mut taken = Ok(false);
    for _ in 0..REQUESTS {
        taken = consume_result(&*shared.results, async |_: &Name, _: &Bytes| Err(no())).await;
        if taken != Ok(false) {
            break;
        }
    }
    assert_eq!(taken, Err(no()));
    // The clock of the in-process implementation stands still, so the consumer holds the result.
    assert_eq!(shared.results.submit(&name("m"), &Bytes::from("one")).await, Ok(false));
}

pub(crate) async fn opening_a_journal_fences_earlier_owners(shared: Shared) {
    for journals in shared.journals() {
        let journal = name("match");
        assert_eq!(journals.read(&journal).await.unwrap(), []);
        let mut last = place(journals.open(&journal, Fence(3)).await);
        let early = append(3, Some(last), false, "x");
        assert_eq!(journals.append(&journal, &early).await, Ok(Appended::AnchorDue));
        let large = Bytes::from(vec![7; MAX_APPEND]);
        let bodies =
            [(true, Bytes::from("state")), (false, Bytes::new()), (false, large), (true, Bytes::from("later"))];
        for (is_start, body) in &bodies {
            last = place(journals.append(&journal, &append(3, Some(last), *is_start, body.clone())).await);
        }
        let opened = place(journals.open(&journal, Fence(5)).await);
        let late = append(3, Some(last), false, "late");
        assert_eq!(journals.append(&journal, &late).await, Ok(Appended::Fenced(Fence(5))));
        assert_eq!(journals.open(&journal, Fence(4)).await, Ok(Appended::Fenced(Fence(5))));
        let expected: Vec<Piece> = bodies.into_iter().map(|(is_start, body)| Piece { is_start, body }).collect();
        assert_eq!(journals.read(&journal).await.unwrap(), expected);
        place(journals.append(&journal, &append(5, Some(opened), true, "mine")).await);
        let all = journals.read(&journal).await.unwrap();
        assert_eq!(all.len(), 5);
        assert_eq!(journals.remove(&journal, Fence(3)).await, Ok(false));
        assert_eq!(journals.remove(&journal, Fence(5)).await, Ok(true));
        assert_eq!(journals.open(&journal, Fence(4)).await, Ok(Appended::Fenced(Fence(5))), "it stays over");
        assert_eq!(journals.read(&journal).await.unwrap(), []);
    }
}

pub(crate) async fn a_journal_is_bounded(shared: Shared) {
    for journals in shared.journals() {
        let journal = name("match");
        let mut last = place(journals.open(&journal, Fence(1)).await);
        last = place(journals.append(&journal, &append(1, Some(last), true, "0")).await);
        let piece = Bytes::from(vec![1; MAX_APPEND]);
        let most = MAX_SEGMENT / MAX_APPEND as u64 - 1;
        for _ in 0..most {
            last = place(journals.append(&journal, &append(1, Some(last), false, piece.clone())).await);
        }
        let next = append(1, Some(last), false, piece);
        assert_eq!(journals.append(&journal, &next).await, Ok(Appended::AnchorDue));
        for number in 1..=MAX_SEGMENTS {
            last = place(journals.append(&journal, &append(1, Some(last), true, number.to_string())).await);
        }
        let bodies: Vec<Bytes> = journals.read(&journal).await.unwrap().into_iter().map(|piece| piece.body).collect();
        let newest: Vec<Bytes> = (1..=MAX_SEGMENTS).map(|number| Bytes::from(number.to_string())).collect();
        assert_eq!(bodies, newest);
    }
}

pub(crate) async fn trimmed_journal_is_read_from_its_last_segment(shared: Shared) {
    for journals in shared.journals() {
        let journal = name("match");
        assert_eq!(journals.fence(&journal).await, Ok(None));
        let mut last = place(journals.open(&journal, Fence(4)).await);
        for (is_start, body) in [(true, "old"), (false, "record"), (true, "new"), (false, "record")] {
            last = place(journals.append(&journal, &append(4, Some(last), is_start, body)).await);
        }
        journals.trim(&journal, Sequence(last.0 - 1)).await.unwrap();
        let pieces = async || journals.read(&journal).await.unwrap().into_iter().map(|piece| piece.body);
        assert_eq!(pieces().await.collect::<Vec<_>>(), ["new", "record"]);
        place(journals.append(&journal, &append(4, Some(last), false, "next")).await);
        assert_eq!(pieces().await.len(), 3, "it goes on");
        assert_eq!(journals.names().await, Ok(vec![journal.clone()]));
        assert_eq!(journals.fence(&journal).await, Ok(Some(Fence(4))));
        assert_eq!(journals.remove(&journal, Fence(4)).await, Ok(true));
        assert_eq!(journals.names().await, Ok(vec![]), "only the mark is left");
    }
}

pub(crate) async fn journals_of_both_placements_are_separate(shared: Shared) {
    let [single, hashed] = shared.journals();
    // More names than streams.
    let mut journals: Vec<Name> = (0..40).map(|number| name(&format!("room-{number}"))).collect();
    journals.sort();
    for journal in &journals {
        place(hashed.append(journal, &append(5, None, true, journal.to_string())).await);
        place(hashed.append(journal, &append(5, None, true, "state")).await);
    }
    let first = &journals[0];
    assert_eq!((single.read(first).await, single.fence(first).await), (Ok(vec![]), Ok(None)));
    place(single.append(first, &append(3, None, true, "single")).await);
    assert_eq!(hashed.append(first, &append(3, None, true, "late")).await, Ok(Appended::Fenced(Fence(5))));
    assert_eq!(single.read(first).await.unwrap()[0].body, "single");
    let mut names = hashed.names().await.unwrap();
    names.sort();
    assert_eq!(names, journals);
    for journal in &journals {
        assert_eq!(hashed.read(journal).await.unwrap()[0].body, journal.as_str());
    }
}

pub(crate) async fn first_node_sets_the_number_of_streams(shared: Shared) {
    let agree = async |wanted| agree_on_streams(&*shared.directory, wanted).await;
    assert_eq!(agree(Some(STREAMS)).await, Ok(STREAMS));
    assert_eq!((agree(None).await, agree(Some(STREAMS)).await), (Ok(STREAMS), Ok(STREAMS)));
    let error = agree(Some(8)).await.unwrap_err();
    assert_eq!(error.kind(), mesh::ErrorKind::Setup);
    let text =
        "this node has --journal-streams 8, and the arcade was created with 4; start the node without the option";
    assert!(error.to_string().ends_with(text), "{error}");
    let key = Key::Lasting(name("journal-streams"));
    let there = shared.directory.entry(&key).await.unwrap().unwrap();
    let later = shared.directory.write(&key, Some(&value("many")), Some(there.revision)).await.unwrap();
    assert!(matches!(later, Written::Stored(_)));
    assert!(agree(None).await.unwrap_err().to_string().ends_with("upgrade this node"));
}

pub(crate) async fn followers_receive_all_later_summaries_in_order(shared: Shared) {
    let summary = |number: u64| {
        let rows = [(name("nuggets-1"), number.to_string()), (name("robots-1"), "\u{1f3b2}".repeat(1_000))].into();
        mesh::Summary { node: name(&format!("node-{}", number % 2)), life: Revision(number), rows }
    };
    shared.summaries.publish(&summary(1)).await.unwrap();
    let mut follows = vec![];
    for _ in 0..2 {
        follows.push(shared.summaries.summaries().await.unwrap());
    }
    for number in 2..6 {
        shared.summaries.publish(&summary(number)).await.unwrap();
    }
    for mut follow in follows {
        for number in 2..6 {
            let next = timeout(PATIENCE, follow.next()).await.expect("a summary").unwrap();
            assert_eq!(next, summary(number));
        }
    }
}
