//! Journals of robots, and a task that is stopped at every step.

use std::{collections::HashMap, future::poll_fn, path::Path, pin::pin, task::Poll};

use bytes::BytesMut;
use journal_core::{Facts, Head, JournalEnd, Journalled, MAX_SIZE, Retention, Scribe, SyncPolicy, SystemDisk, Writing};
use netcore::{Hold as _, Hosted, Input, Leave, Link, Outbox, Output, PeerId, Role, Room as _, Time};
use store::{JournalNote, Kind, Known, MatchFilter, Seated};
use testkit::{PATIENCE, TempDir};

use super::*;

mod described;
mod told;

/// Matches of a journal whose beginning is not kept.
const LONG: usize = 160;

/// A journal of matches between Ann and Bob.
fn play(directory: &Path, matches: usize) -> PathBuf {
    play_on(directory, matches, MAX_SIZE)
}

/// A journal of several files, the first of which are not kept any more, and the number of the first match of which all is kept.
fn play_long(directory: &Path) -> (PathBuf, u32) {
    let path = play_on(directory, LONG, 8 << 10);
    let opened = journal_core::open(&path).unwrap();
    assert!(!path.exists() && opened.segments() > 1, "{} files, {} bytes", opened.segments(), opened.length());
    let first = read(source(&path, Known::default())).0[0].number;
    (path, first)
}

/// The matches of a journal, and what else is found in it.
fn read(source: examine::Source) -> (Vec<NewMatch>, examine::Examined) {
    let mut found = vec![];
    let examined = source.read(|new| {
        found.push(new);
        true
    });
    (found, examined.unwrap())
}

fn note(room: &str) -> JournalNote {
    JournalNote { room: room.into(), title: "small".into(), ..JournalNote::default() }
}

fn source(path: &Path, known: Known) -> examine::Source {
    let note = JournalNote { class: "standard".into(), casual: String::new(), ..note("robots-7") };
    examine::Source { path: path.to_owned(), note, seats: HashMap::new(), known }
}

fn play_on(directory: &Path, matches: usize, max: u64) -> PathBuf {
    play_as(directory, matches, max, &Facts::new(), |_, _, _| {})
}

/// The same in a journal with these facts. `follow` gets what follows from each input.
fn play_as(
    directory: &Path,
    matches: usize,
    max: u64,
    facts: &Facts,
    mut follow: impl FnMut(&Journalled<robots::Server>, &JournalEnd, &[Output]),
) -> PathBuf {
    let config = robots::Config {
        parameters: robots::Parameters {
            server_name: netcore::wire::ShortText::default(),
            players_count: 2,
            size_x: 5,
            size_y: 5,
            game_length: 3,
            explosion_radius: 2,
            bomb_timer: 2,
        },
        turn_duration: Duration::from_millis(100),
        initial_blocks: 3,
        seed: 5,
        max_history: robots::MAX_HISTORY,
    };
    let scribe = Scribe::by_hand();
    let writing =
        Writing { disk: Arc::new(SystemDisk), scribe: scribe.clone(), sync: SyncPolicy::Always, max, copy: None };
    let hosted = Hosted::new(robots::Server::new(config).unwrap());
    let head = Head::new(hosted.engine(), "test", vec![], 99).with_facts(facts);
    let (path, (mut room, mut hold, end)) = writing.create(directory, hosted, head).unwrap();
    let mut out = Outbox::new();
    let mut now = Time::ZERO;
    for (peer, address) in [(1, "10.0.0.1:1"), (2, "10.0.0.2:2")] {
        let peer = PeerId(peer);
        room.input(
            now,
            Input::Connected { peer, role: Role::Player, link: Link::Message, address: address.into() },
            &mut out,
        );
        follow(&room, &end, &out.drain().collect::<Vec<_>>());
    }
    for played in 1..=matches {
        for (peer, name) in [(1, &b"\0\x03Ann"[..]), (2, b"\0\x03Bob")] {
            room.receive(now, PeerId(peer), &mut BytesMut::from(name), &mut out);
            follow(&room, &end, &out.drain().collect::<Vec<_>>());
        }
        while let Some(due) = room.deadline() {
            now = due;
            room.input(now, Input::Elapsed, &mut out);
            follow(&room, &end, &out.drain().collect::<Vec<_>>());
        }
        if played % 10 == 0 {
            hold.flush();
            while scribe.write() || scribe.keep() {}
        }
    }
    room.input(now, Input::Stop(Leave::Resumable), &mut out);
    end.close();
    hold.flush();
    while scribe.write() || scribe.keep() {}
    path
}

fn results(directory: &Path) -> (Arc<Results>, Waiting) {
    let store = Store::file(&directory.join("results.db")).unwrap();
    Results::new(store, directory.join("journals"))
}

/// The same with tables.
async fn prepared(directory: &Path) -> (Arc<Results>, Waiting) {
    let (results, waiting) = results(directory);
    results.store.prepare().await.unwrap();
    (results, waiting)
}

/// Everything that is stored, once.
async fn check(results: &Results, matches: u64) {
    let found = results.store.matches(&MatchFilter { limit: 100, ..MatchFilter::default() }).await.unwrap();
    assert_eq!(found.len() as u64, matches);
    // Nobody has noted what they count for.
    assert!(found.iter().all(|found| found.casual == "earlier"));
}

#[test]
fn a_journal_gives_the_results_of_its_matches() {
    let directory = TempDir::new();
    let path = play(directory.path(), 3);
    let seat = |address: &str, name: &str| {
        let seated = Seated { kind: Kind::Proven, ..Seated::default() };
        ((address.to_owned(), name.to_owned()), seated)
    };
    // Bob uses a name of his own and not the one that he owns.
    let seats = HashMap::from([seat("10.0.0.1:1", "Ann"), seat("10.0.0.2:2", "Eve")]);
    let (found, examined) = read(examine::Source { seats, ..source(&path, Known::default()) });
    assert_eq!(examined.position, path.metadata().unwrap().len());
    assert_eq!(found.iter().map(|new| new.number).collect::<Vec<_>>(), [1, 2, 3]);
    let last = &found[2];
    assert_eq!((last.room.as_str(), last.title.as_str(), last.complete), ("robots-7", "small", true));
    assert!(last.id.ends_with("-3") && last.begins < last.ends && last.started <= last.ended);
    let mut kinds: Vec<_> = last.players.iter().map(|player| (player.name.as_str(), player.kind)).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [("Ann", Kind::Proven), ("Bob", Kind::Unproven)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_dies_at_any_step_stores_each_match_once() {
    let journals = TempDir::new();
    play(&journals.path().join("journals"), 2);
    die_at_any_step(&journals, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_dies_stores_each_match_once_of_a_journal_whose_beginning_is_not_kept() {
    let journals = TempDir::new();
    let (path, first) = play_long(&journals.path().join("journals"));
    die_at_any_step(&journals, u64::from(u32::try_from(LONG).unwrap() + 1 - first)).await;
    // The same once its first matches are known.
    let (stored, _) = read(source(&path, Known::default()));
    let known = Known { until: stored[stored.len() / 2].ends, zero: stored[0].started - stored[0].begins / 1_000 };
    let (rest, examined) = read(source(&path, known));
    assert_eq!(rest, stored[stored.len() - rest.len()..], "the same as from the beginning");
    assert!((stored.len() / 2 - 1..stored.len()).contains(&rest.len()), "{} of {}", rest.len(), stored.len());
    assert_eq!((examined.position, examined.running.len()), (journal_core::open(&path).unwrap().end(), 0));
    assert!(examined.known.until >= stored.last().unwrap().ends);
}

async fn die_at_any_step(journals: &TempDir, matches: u64) {
    for steps in (0..).step_by(usize::try_from(matches).unwrap() / 2) {
        let directory = TempDir::new();
        std::os::unix::fs::symlink(journals.path().join("journals"), directory.path().join("journals")).unwrap();
        let finished = {
            let (first, _waiting) = results(directory.path());
            let mut work = pin!(async {
                first.store.prepare().await.unwrap();
                first.catch_up(|_| true).await;
            });
            let mut left = steps;
            poll_fn(|context| {
                if left == 0 {
                    return Poll::Ready(false);
                }
                left -= 1;
                work.as_mut().poll(context).map(|()| true)
            })
            .await
        };
        // Another process, on what the first has left.
        let (again, _waiting) = prepared(directory.path()).await;
        again.catch_up(|_| true).await;
        check(&again, matches).await;
        if finished {
            assert!(steps > 10, "the task was stopped in between");
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_already_is_not_looked_through_again() {
    let directory = TempDir::new();
    let path = play(&directory.path().join("journals"), 1);
    let (first, _waiting) = prepared(directory.path()).await;
    first.catch_up(|_| true).await;
    let length = path.metadata().unwrap().len();
    // Of the same length, and no journal any more: nothing reads it.
    std::fs::write(&path, vec![0; usize::try_from(length).unwrap()]).unwrap();
    first.catch_up(|_| true).await;
    check(&first, 1).await;
    assert_eq!(first.health().error, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_match_that_began_before_what_is_kept_has_a_result() {
    let directory = TempDir::new();
    let (path, first) = play_long(&directory.path().join("journals"));
    let opened = journal_core::open(&path).unwrap();
    let base = opened.reader().unwrap().head().base.clone().unwrap().mark.time;
    let (stored, _) = read(source(&path, Known::default()));
    assert_eq!((stored[0].number, stored[0].begins), (first, base.as_nanos() / 1_000), "in the middle of a match");
    assert!(stored[1].begins > stored[0].begins && stored[0].started > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_not_known_is_replayed() {
    let directory = TempDir::new();
    let (path, _) = play_long(&directory.path().join("journals"));
    let (first, _waiting) = prepared(directory.path()).await;
    first.catch_up(|_| true).await;
    let file = path.file_name().unwrap().to_str().unwrap();
    let known = first.store.known(file).await.unwrap();
    let stored = first.store.matches(&MatchFilter { limit: 100, ..MatchFilter::default() }).await.unwrap();
    assert!(known.until >= stored[0].ends && known.zero > 0);
    // The bytes before the last file are damaged, and nobody notices.
    let mut files = journal_core::find(&SystemDisk, &directory.path().join("journals")).unwrap();
    assert_eq!(files.len(), 1);
    let last = files.remove(0).end.unwrap();
    for segment in std::fs::read_dir(directory.path().join("journals")).unwrap() {
        let segment = segment.unwrap().path();
        let bytes = std::fs::read(&segment).unwrap();
        let is_last =
            journal_core::Reader::new(&bytes[..], bytes.len() as u64).unwrap().state() == journal_core::State::Closed;
        if !is_last {
            let mut damaged = bytes;
            damaged[1_600] ^= 1;
            std::fs::write(&segment, damaged).unwrap();
        }
    }
    assert!(source(&path, Known::default()).read(|_| true).is_err());
    assert_eq!(source(&path, known).read(|_| true).unwrap().position, last);
    // Within a file, a state is enough.
    let path = play_on(&directory.path().join("one"), 3_000, MAX_SIZE);
    let opened = journal_core::open(&path).unwrap();
    assert_eq!(opened.segments(), 1);
    let (all, examined) = read(source(&path, Known::default()));
    let known = Known { until: all[2_900].ends, zero: examined.known.zero };
    let (rest, _) = read(source(&path, known));
    assert!(rest.iter().all(|new| new.number > 1_500), "it begins after the first states");
    assert_eq!(rest.iter().filter(|new| new.ends > known.until).count(), 99);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_are_stored_while_they_are_told_are_not_looked_for_again() {
    let directory = TempDir::new();
    let (results, waiting) = results(directory.path());
    std::fs::create_dir(directory.path().join("journals")).unwrap();
    let path = play(directory.path(), 3);
    let (found, _) = read(source(&path, Known::default()));
    let known = |until| Known { until, zero: 5 };
    results.start(waiting);
    let file = "live.journal";
    let tell = |job: Job| results.tell(job, file);
    results.state().running.insert(file.into(), BTreeMap::new());
    let of_live =
        |number: u32| Box::new(NewMatch { journal: file.to_owned(), number, ..found[number as usize - 1].clone() });
    tell(Job::Match(of_live(1), known(10)));
    // Of this one it is not known whether matches of an earlier run go on.
    let old = NewMatch { journal: "old.journal".into(), ..*of_live(2) };
    tell(Job::Match(Box::new(old), known(20)));
    results.finish().await;
    let (again, _waiting) = prepared(directory.path()).await;
    assert_eq!(again.store.known(file).await.unwrap(), known(10));
    assert_eq!(again.store.known("old.journal").await.unwrap(), Known::default());
    // A match of an earlier run that goes on is not forgotten.
    again.state().running.insert(file.to_owned(), BTreeMap::from([(9, known(11))]));
    again.note_known(&of_live(3), known(30)).await;
    assert_eq!(again.store.known(file).await.unwrap(), known(11));
    again.note_known(&NewMatch { number: 9, ..*of_live(3) }, known(30)).await;
    assert_eq!(again.store.known(file).await.unwrap(), known(30));
    // After results were dropped only an examination knows.
    again.state().miss(file).unwrap();
    again.note_known(&of_live(3), known(40)).await;
    assert_eq!(again.store.known(file).await.unwrap(), known(30));
}

#[tokio::test(flavor = "multi_thread")]
async fn journals_go_when_their_results_are_stored_and_those_of_rooms_stay() {
    let directory = TempDir::new();
    let journals = directory.path().join("journals");
    let paths: Vec<_> = [2, 0, 1, 1].map(|matches| play(&journals, matches)).into();
    let now = std::time::SystemTime::now();
    for (age, path) in (1..).zip(&paths) {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(now - age * Duration::from_hours(24)).unwrap();
    }
    std::fs::write(journals.join("damaged.journal"), b"\x8AARCADE\n").unwrap();
    let rooms = || {
        let records = crate::hub::files::RoomFiles::open(directory.path().join("rooms")).unwrap().0;
        let text = format!("a room whose file is damaged, {}", paths[3].display());
        std::fs::write(directory.path().join("rooms/robots-1.json"), text).unwrap();
        let rooms = records.journals().unwrap();
        move |file: &str| rooms.has(file)
    };
    let (results, _waiting) = prepared(directory.path()).await;
    let left = || paths.iter().map(|path| path.exists()).collect::<Vec<_>>();
    let count = |count| Retention { count: Some(count), ..Retention::default() };
    results.prune(count(3), rooms()).await;
    assert_eq!(left(), [true, true, true, true]);
    results.prune(count(2), rooms()).await;
    assert_eq!(left(), [true, false, true, true], "nobody played in it");
    results.prune(count(1), rooms()).await;
    assert_eq!(left(), [true, false, false, true], "the older one");
    results.prune(Retention { age: Some(Duration::from_hours(1)), ..Retention::default() }, rooms()).await;
    assert_eq!(left(), [false, false, false, true], "a room goes on from it");
    // Nothing was examined before; the results were stored first. That of the room is found when the hub starts.
    assert_eq!(results.store.matches(&MatchFilter { limit: 9, ..MatchFilter::default() }).await.unwrap().len(), 3);
    assert!(journals.join("damaged.journal").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn unused_names_are_released_after_a_day() {
    let directory = TempDir::new();
    let (results, _waiting) = prepared(directory.path()).await;
    let now = clock::unix_now();
    for (name, hours) in [("Ann", 25), ("Bob", 23)] {
        results.store.claim(name, &[1; 32], now - hours * 3_600_000).await.unwrap();
    }
    let released = Mutex::new(vec![]);
    results.release_unused_names(|names| released.lock().unwrap().extend_from_slice(names)).await;
    assert_eq!(released.into_inner().unwrap(), ["Ann"]);
    assert_eq!(results.store.names_of(&[1; 32]).await.unwrap(), ["Bob"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_away_nothing_waits_and_nothing_is_lost() {
    let directory = TempDir::new();
    let path = play(&directory.path().join("journals"), 1);
    // Nobody listens there.
    let store = Store::server("postgres://nobody@127.0.0.1:1/none").unwrap();
    let (results, waiting) = Results::new(store, directory.path().join("journals"));
    results.start(waiting);
    let state = async || {
        while results.health().error.is_none() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, state()).await.unwrap();
    let file = path.file_name().unwrap().to_str().unwrap();
    for number in 0..2 * u32::try_from(MAX_WAITING).unwrap() {
        let new = Box::new(NewMatch { journal: file.to_owned(), ..told::told(number) });
        results.tell(Job::Examine(new), file);
    }
    assert_eq!(results.health().waiting, MAX_WAITING + 1, "one journal was missed");
}
