//! Journals of robots, a task that is stopped at every step, and databases that fail.

use std::{cell::RefCell, collections::BTreeSet, future::poll_fn, path::Path, pin::pin, task::Poll};

use bytes::BytesMut;
use journal_core::{
    Facts, Head, JournalEnd, JournalFacts, Journalled, MAX_SIZE, Peer, Retention, Scribe, SyncPolicy, SystemDisk,
    Writing,
};
use netcore::{
    EngineRoom, GameEvent, Hold as _, HostId, Input, Leave, Level, Link, Outbox, Output, PeerId, Phase, Role,
    Room as _, Time,
};
use sqlx::{ConnectOptions as _, Executor as _, sqlite::SqliteConnectOptions};
use store::{ChallengeScore, JournalNote, MatchFilter, PlayerKind, RoomTime, SeatRecord, Store};
use testkit::TempDir;

use super::{matches::RecordedSeats, *};
use crate::room::{
    register::{Description, Register, SeatFact},
    roster::Roster,
};

/// Matches in a journal whose start is not retained.
const LONG: usize = 160;

fn play(directory: &Path, matches: usize) -> PathBuf {
    play_on(directory, matches, MAX_SIZE)
}

/// A journal whose first files were removed, and the number of the first complete match in the others.
fn play_long(directory: &Path) -> (PathBuf, u32) {
    let path = play_on(directory, LONG, 8 << 10);
    let opened = journal_core::open(&path).unwrap();
    assert!(!path.exists() && opened.segments() > 1, "{} files, {} bytes", opened.segments(), opened.length());
    let first = read(&path, record(RoomTime::default())).0[0].number;
    (path, first)
}

fn read(path: &Path, start: Start) -> (Vec<Match>, Progress) {
    let mut found = vec![];
    let progress = matches::read(path, start, |over| {
        found.push(over);
        true
    });
    (found, progress.unwrap().unwrap())
}

/// The record of a journal of an earlier version, whose rooms were rated.
fn record(known: RoomTime) -> Start {
    record_with(known, RecordedSeats::new())
}

fn record_with(known: RoomTime, seats: RecordedSeats) -> Start {
    let (room, title) = ("robots-7".into(), "small".into());
    Start::Record(
        JournalNote { room, title, class: "standard".into(), casual: String::new(), known, ..JournalNote::default() },
        seats,
    )
}

fn no_record() -> Start {
    Start::Record(JournalNote::default(), RecordedSeats::new())
}

fn play_on(directory: &Path, matches: usize, max: u64) -> PathBuf {
    play_as(directory, (matches, max), &Facts::new(), |_, _, _| {}, |_| {})
}

/// `follow` receives the outputs of each input. `flushed` is called after every ten matches, once they are in the file.
fn play_as(
    directory: &Path,
    limits: (usize, u64),
    facts: &Facts,
    follow: impl FnMut(&Journalled<robots::Server>, &JournalEnd, &[Output]),
    flushed: impl FnMut(&Path),
) -> PathBuf {
    play_acting(directory, limits, facts, &[], follow, flushed)
}

/// Ann sends the message `action` in each turn.
fn play_acting(
    directory: &Path,
    (matches, max): (usize, u64),
    facts: &Facts,
    action: &[u8],
    mut follow: impl FnMut(&Journalled<robots::Server>, &JournalEnd, &[Output]),
    mut flushed: impl FnMut(&Path),
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
    let engine_room = EngineRoom::new(robots::Server::new(config).unwrap());
    let head = Head::new(engine_room.engine(), "test", vec![], 99).with_facts(facts);
    let (path, (mut room, mut hold, end)) = writing.create(directory, engine_room, head).unwrap();
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
            if !action.is_empty() {
                room.receive(now, PeerId(1), &mut BytesMut::from(action), &mut out);
            }
            now = due;
            room.input(now, Input::Elapsed, &mut out);
            follow(&room, &end, &out.drain().collect::<Vec<_>>());
        }
        if played % 10 == 0 {
            hold.flush();
            while scribe.write() || scribe.keep() {}
            flushed(&path);
        }
    }
    room.input(now, Input::Stop(Leave::Resumable), &mut out);
    end.close();
    hold.flush();
    while scribe.write() || scribe.keep() {}
    path
}

fn results(directory: &Path) -> Arc<Results> {
    let store = Store::file(&directory.join("results.db")).unwrap();
    Results::new(store, directory.join("journals"))
}

async fn prepared(directory: &Path) -> Arc<Results> {
    let results = results(directory);
    prepare(&results.store).await;
    results
}

/// Retries as the hub does, since connections may be slow on a busy machine.
pub(super) async fn prepare(store: &Store) {
    testkit::poll_until("a prepared database", async || store.prepare().await.ok()).await;
}

async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    testkit::poll_until(what, async || is_so().await.then_some(())).await;
}

async fn stored(results: &Results) -> Vec<Match> {
    results.store.matches(&MatchFilter { limit: 100, ..MatchFilter::default() }).await.unwrap()
}

/// Each match is stored once.
async fn check(results: &Results, matches: u64) {
    let found = stored(results).await;
    assert_eq!(found.len() as u64, matches);
    // The class is missing from both the journal and the database.
    assert!(found.iter().all(|found| found.casual == "earlier"));
}

#[test]
fn journal_contains_the_results_of_its_matches() {
    let directory = TempDir::new();
    let path = play(directory.path(), 3);
    let seat = |address: &str, name: &str| {
        let seated = SeatRecord { kind: PlayerKind::Proven, ..SeatRecord::default() };
        ((address.to_owned(), name.to_owned()), seated)
    };
    // Bob uses a name that he does not own.
    let seats = HashMap::from([seat("10.0.0.1:1", "Ann"), seat("10.0.0.2:2", "Eve")]);
    let (found, progress) = read(&path, record_with(RoomTime::default(), seats));
    assert_eq!(progress.position, path.metadata().unwrap().len());
    assert_eq!(found.iter().map(|new| new.number).collect::<Vec<_>>(), [1, 2, 3]);
    let last = &found[2];
    assert_eq!((last.room.as_str(), last.title.as_str(), last.complete), ("robots-7", "small", true));
    assert!(last.id.ends_with("-3") && last.begins < last.ends && last.started <= last.ended);
    let mut kinds: Vec<_> = last.players.iter().map(|player| (player.name.as_str(), player.kind)).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [("Ann", PlayerKind::Proven), ("Bob", PlayerKind::Unproven)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn hub_that_is_killed_at_any_step_stores_each_match_once() {
    let journals = TempDir::new();
    play(&journals.path().join("journals"), 2);
    kill_at_any_step(&journals, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_hub_stores_each_match_of_a_pruned_journal_once() {
    let journals = TempDir::new();
    let (path, first) = play_long(&journals.path().join("journals"));
    kill_at_any_step(&journals, u64::from(u32::try_from(LONG).unwrap() + 1 - first)).await;
    let (stored, _) = read(&path, record(RoomTime::default()));
    let known = RoomTime { until: stored[stored.len() / 2].ends, zero: stored[0].started - stored[0].begins / 1_000 };
    let (rest, progress) = read(&path, record(known));
    assert_eq!(rest, stored[stored.len() - rest.len()..], "the same as from the beginning");
    assert!((stored.len() / 2 - 1..stored.len()).contains(&rest.len()), "{} of {}", rest.len(), stored.len());
    assert_eq!((progress.position, progress.running().count()), (journal_core::open(&path).unwrap().end(), 0));
    assert!(progress.room_time().until >= stored.last().unwrap().ends);
}

async fn kill_at_any_step(journals: &TempDir, matches: u64) {
    for steps in (0..).step_by(usize::try_from(matches).unwrap() / 2) {
        let directory = TempDir::new();
        std::os::unix::fs::symlink(journals.path().join("journals"), directory.path().join("journals")).unwrap();
        let finished = {
            let first = results(directory.path());
            let mut work = pin!(async {
                prepare(&first.store).await;
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
        let again = prepared(directory.path()).await;
        again.catch_up(|_| true).await;
        check(&again, matches).await;
        if finished {
            assert!(steps > 10, "the task was stopped in between");
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn journal_without_new_results_is_not_read_again() {
    let directory = TempDir::new();
    let path = play(&directory.path().join("journals"), 1);
    let first = prepared(directory.path()).await;
    first.catch_up(|_| true).await;
    let length = path.metadata().unwrap().len();
    // The file has the same length but is no longer a journal.
    std::fs::write(&path, vec![0; usize::try_from(length).unwrap()]).unwrap();
    first.catch_up(|_| true).await;
    check(&first, 1).await;
    assert_eq!(first.health().error, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn match_that_began_before_the_pruned_part_has_a_result() {
    let directory = TempDir::new();
    let (path, first) = play_long(&directory.path().join("journals"));
    let opened = journal_core::open(&path).unwrap();
    let base = opened.reader().unwrap().head().base.clone().unwrap().mark.time;
    let (stored, _) = read(&path, record(RoomTime::default()));
    assert_eq!((stored[0].number, stored[0].begins), (first, base.as_nanos() / 1_000), "in the middle of a match");
    assert!(stored[1].begins > stored[0].begins && stored[0].started > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_unknown_part_of_a_journal_is_replayed() {
    let directory = TempDir::new();
    let (path, _) = play_long(&directory.path().join("journals"));
    let first = prepared(directory.path()).await;
    first.catch_up(|_| true).await;
    let file = path.file_name().unwrap().to_str().unwrap();
    let known = first.store.journal(file).await.unwrap().known;
    let stored = stored(&first).await;
    assert!(known.until >= stored[0].ends && known.zero > 0);
    // Damage before the last file is not detected.
    let mut files = journal_core::find(&SystemDisk, &directory.path().join("journals")).unwrap();
    assert_eq!(files.len(), 1);
    let last = files.remove(0).end.unwrap();
    for segment in std::fs::read_dir(directory.path().join("journals")).unwrap() {
        let segment = segment.unwrap().path();
        let bytes = std::fs::read(&segment).unwrap();
        let is_last = journal_core::Reader::new(&bytes[..], bytes.len() as u64).unwrap().state()
            == journal_core::SegmentState::Closed;
        if !is_last {
            let mut damaged = bytes;
            damaged[1_600] ^= 1;
            std::fs::write(&segment, damaged).unwrap();
        }
    }
    assert!(matches::read(&path, record(RoomTime::default()), |_| true).is_err());
    assert_eq!(read(&path, record(known)).1.position, last);
    // Within a file, a state is sufficient.
    let path = play_on(&directory.path().join("one"), 3_000, MAX_SIZE);
    let opened = journal_core::open(&path).unwrap();
    assert_eq!(opened.segments(), 1);
    let (all, progress) = read(&path, record(RoomTime::default()));
    let known = RoomTime { until: all[2_900].ends, zero: progress.room_time().zero };
    let (rest, _) = read(&path, record(known));
    assert!(rest.iter().all(|new| new.number > 1_500), "it begins after the first states");
    assert_eq!(rest.iter().filter(|new| new.ends > known.until).count(), 99);
}

fn read_growing(max: u64) {
    let directory = TempDir::new();
    let (mut found, mut next) = (vec![], Some(record(RoomTime::default())));
    let flushed = |path: &Path| {
        let (more, progress) = read(path, next.take().unwrap());
        assert!((9..=11).contains(&more.len()), "{} matches", more.len());
        assert!(!progress.is_closed);
        found.extend(more);
        next = Some(Start::Progress(Box::new(progress)));
    };
    let path = play_as(directory.path(), (LONG, max), &Facts::new(), |_, _, _| {}, flushed);
    let (more, progress) = read(&path, next.take().unwrap());
    found.extend(more);
    assert!(progress.is_closed);
    assert_eq!(
        found.iter().map(|over| over.number).collect::<Vec<_>>(),
        (1..=u32::try_from(LONG).unwrap()).collect::<Vec<_>>()
    );
    let (whole, _) = read(&path, record(RoomTime::default()));
    // The first remaining match may have begun before the first state.
    assert!(whole.len() > 2 && found.ends_with(&whole[1..]));
}

#[test]
fn growing_journal_gives_each_match_once() {
    read_growing(MAX_SIZE);
}

#[test]
fn growing_journal_of_several_files_gives_each_match_once() {
    read_growing(8 << 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn pruning_removes_stored_journals_except_those_of_rooms() {
    let directory = TempDir::new();
    let journals = directory.path().join("journals");
    let paths: Vec<_> = [2, 0, 1, 1].map(|matches| play(&journals, matches)).into();
    let now = SystemTime::now();
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
    let results = prepared(directory.path()).await;
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
    // No journal was examined before pruning, so the results were stored first. The journal of the room is found when
    // the hub starts.
    assert_eq!(stored(&results).await.len(), 3);
    assert!(journals.join("damaged.journal").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn unused_names_are_released_after_a_day() {
    let directory = TempDir::new();
    let results = prepared(directory.path()).await;
    let now = unix_now();
    for (name, hours) in [("Ann", 25), ("Bob", 23)] {
        results.store.claim(name, &[1; 32], now - hours * 3_600_000).await.unwrap();
    }
    let released = Mutex::new(vec![]);
    results.release_unused_names(|names| released.lock().unwrap().extend_from_slice(names)).await;
    assert_eq!(released.into_inner().unwrap(), ["Ann"]);
    assert_eq!(results.store.names_of(&[1; 32]).await.unwrap(), ["Bob"]);
}

fn described() -> Description {
    Description {
        room: "robots-9".into(),
        title: "tiny".into(),
        class: "standard".into(),
        casual: String::new(),
        day: None,
    }
}

const ANN: &str = "10.0.0.1:1";
const BOB: &str = "10.0.0.2:2";

/// Ann proves her name when the first match is almost over; the bot plays well.
fn play_described(directory: &Path, matches: usize, max: u64) -> PathBuf {
    let roster = Arc::<Roster>::default();
    roster.open_seat(ANN.parse().unwrap());
    roster.set_seat_host(ANN.parse().unwrap(), HostId::of("192.0.2.7:1"));
    roster.add_bot(BOB.parse().unwrap(), Level::Hard, "Bob");
    let mut register = None;
    let begin = |facts: JournalFacts| Register::new(facts, &described(), Arc::clone(&roster), &[]);
    let follow = |room: &Journalled<robots::Server>, end: &JournalEnd, outputs: &[Output]| {
        let register = register.get_or_insert_with(|| begin(end.facts()));
        if outputs.iter().any(|output| matches!(output, Output::Event(GameEvent::Ended { .. }))) {
            roster.set_names(ANN.parse().unwrap(), &["Ann".into()]);
        }
        let address = |peer| room.peer(peer).map(|Peer { address, .. }| address.as_str());
        register.follow(&mut outputs.to_vec(), Phase::Lobby, address);
    };
    play_as(directory, (matches, max), &described().facts(), follow, |_| {})
}

fn facts_in(new: &Match) -> (Description, BTreeSet<(&str, PlayerKind, bool, &str)>) {
    let Match { room, title, class, casual, .. } = new.clone();
    let of = new.players.iter().map(|of| (&*of.name, of.kind, !of.host.is_empty(), &*of.level)).collect();
    (Description { room, title, class, casual, day: None }, of)
}

#[tokio::test(flavor = "multi_thread")]
async fn result_depends_only_on_its_journal() {
    let directory = TempDir::new();
    let journals = directory.path().join("journals");
    let path = play_described(&journals, 2, MAX_SIZE);
    let (found, _) = read(&path, no_record());
    assert_eq!(found.len(), 2);
    for new in &found {
        let players = BTreeSet::from([("Ann", PlayerKind::Proven, true, ""), ("Bob", PlayerKind::Bot, true, "hard")]);
        assert_eq!(facts_in(new), (described(), players), "match {}", new.number);
    }
    // The database does not contain the room.
    let results = prepared(directory.path()).await;
    results.catch_up(|_| true).await;
    let stored = stored(&results).await;
    let rooms: Vec<_> = stored.iter().map(|of| (&*of.room, &*of.title, &*of.class, &*of.casual)).collect();
    assert_eq!(rooms, [("robots-9", "tiny", "standard", ""); 2]);
}

#[test]
fn score_of_a_challenge_is_counted_from_the_journal_for_its_person() {
    let directory = TempDir::new();
    let (roster, counters) = (Arc::<Roster>::default(), RefCell::new(vec![robots::HitCounter::default()]));
    roster.add_bot(BOB.parse().unwrap(), Level::Hard, "Bob");
    let description = Description { day: Some(20_000), ..described() };
    let mut register = None;
    let follow = |room: &Journalled<robots::Server>, end: &JournalEnd, outputs: &[Output]| {
        let begin = || Register::new(end.facts(), &description, Arc::clone(&roster), &[]);
        let address = |peer| room.peer(peer).map(|Peer { address, .. }| address.as_str());
        register.get_or_insert_with(begin).follow(&mut outputs.to_vec(), Phase::Lobby, address);
        let mut counters = counters.borrow_mut();
        for output in outputs {
            match output {
                Output::Send { frame, .. } => {
                    let mut incoming = robots::Incoming::default();
                    incoming.buffer().extend_from_slice(frame);
                    while let Ok(Some(message)) = incoming.next_message() {
                        counters.last_mut().unwrap().receive(&message);
                    }
                }
                Output::Event(GameEvent::Ended { .. }) => counters.push(robots::HitCounter::default()),
                _ => {}
            }
        }
    };
    let mut bomb = BytesMut::new();
    robots::protocol::encode(&robots::ClientMessage::Action(robots::Action::PlaceBomb), &mut bomb);
    let journals = directory.path().join("journals");
    let path = play_acting(&journals, (20, MAX_SIZE), &description.facts(), &bomb, follow, |_| {});
    let (found, _) = read(&path, no_record());
    assert_eq!(found.len(), 20);
    let mut scores = BTreeSet::new();
    for (new, counter) in found.iter().zip(counters.into_inner()) {
        let ann = new.players.iter().find(|player| player.kind != PlayerKind::Bot).unwrap();
        let hits = counter.of(robots::PlayerId(ann.seat.parse().unwrap()));
        let score = i64::from(hits) - ann.score;
        assert_eq!(new.challenge, Some(ChallengeScore { day: 20_000, score }), "match {}", new.number);
        scores.insert(score);
    }
    assert!(scores.len() > 1, "{scores:?}");
}

#[test]
fn result_of_a_pruned_journal_is_complete() {
    let directory = TempDir::new();
    let path = play_described(&directory.path().join("journals"), LONG, 8 << 10);
    assert!(!path.exists());
    let (found, _) = read(&path, no_record());
    assert!((1..LONG).contains(&found.len()), "{} matches", found.len());
    for new in &found {
        let players = BTreeSet::from([("Ann", PlayerKind::Proven, true, ""), ("Bob", PlayerKind::Bot, true, "hard")]);
        assert_eq!(facts_in(new), (described(), players), "match {}", new.number);
    }
}

#[test]
fn name_that_loses_its_key_during_a_match_is_unproven_in_the_result() {
    let directory = TempDir::new();
    let (roster, ann) = (Arc::<Roster>::default(), ANN.parse().unwrap());
    roster.open_seat(ann);
    roster.set_names(ann, &["Ann".into()]);
    let mut register = None;
    let begin = |facts: JournalFacts| Register::new(facts, &described(), Arc::clone(&roster), &[]);
    let follow = |room: &Journalled<robots::Server>, end: &JournalEnd, outputs: &[Output]| {
        let register = register.get_or_insert_with(|| begin(end.facts()));
        let address = |peer| room.peer(peer).map(|Peer { address, .. }| address.as_str());
        register.follow(&mut outputs.to_vec(), Phase::Playing, address);
        if outputs.iter().any(|output| matches!(output, Output::Event(GameEvent::Started { .. }))) {
            let proven = |fact: SeatFact| fact.seated.kind == PlayerKind::Proven;
            assert!(SeatFact::all(&end.facts().all()).into_values().any(proven));
            roster.remove_names(&["Ann".into()]);
            register.revoke(&["Ann".into()]);
        }
    };
    let path = play_as(directory.path(), (1, MAX_SIZE), &described().facts(), follow, |_| {});
    let (found, _) = read(&path, no_record());
    let kinds: Vec<_> = found[0].players.iter().map(|player| player.kind).collect();
    assert_eq!(kinds, [PlayerKind::Unproven; 2]);
}

fn with_matches(directory: &Path, matches: usize) -> (Arc<Results>, String) {
    let path = play(&directory.join("journals"), matches);
    (results(directory), name_of(&path).unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_open_rooms_are_stored_as_matches_end() {
    let directory = TempDir::new();
    let elsewhere = TempDir::new();
    std::fs::create_dir(directory.path().join("journals")).unwrap();
    let results = results(directory.path());
    results.start();
    results.caught_up().await;
    let path = play(elsewhere.path(), 2);
    let file = name_of(&path).unwrap();
    std::fs::rename(&path, directory.path().join("journals").join(file)).unwrap();
    results.ledger.match_ended(file);
    until("two results", async || results.health().stored == 2).await;
    until("boards with them", async || results.boards().recent.len() == 2).await;
    results.finish().await;
    assert_eq!(results.health(), Health { waiting: 0, stored: 2, error: None });
}

#[tokio::test(flavor = "multi_thread")]
async fn results_wait_in_journals_while_the_database_rejects_writes() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = TempDir::new();
    let database = directory.path().join("results.db");
    std::fs::write(&database, b"").unwrap();
    let set = |mode| std::fs::set_permissions(&database, std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o444);
    let (results, file) = with_matches(directory.path(), 80);
    results.start();
    results.ledger.match_ended(&file);
    until("the trouble", async || results.health().error == Some(Trouble::ReadOnly)).await;
    assert_eq!(results.health().waiting, 1);
    results.ledger.match_ended("other.journal");
    assert_eq!(results.health().waiting, 2, "rooms do not wait");
    set(0o600);
    until("80 results", async || results.health().stored == 80).await;
    until("an empty queue", async || results.health().waiting == 0).await;
    assert_eq!(results.health().error, None);
    check(&results, 80).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn result_that_the_database_rejects_delays_no_other() {
    let directory = TempDir::new();
    let (results, _) = with_matches(directory.path(), 3);
    prepare(&results.store).await;
    let options = SqliteConnectOptions::new().filename(directory.path().join("results.db"));
    let mut connection = options.connect().await.unwrap();
    let text = "CREATE TRIGGER t BEFORE INSERT ON matches WHEN NEW.number = 2 BEGIN SELECT RAISE(ABORT, 'no'); END";
    connection.execute(text).await.unwrap();
    results.start();
    until("the others", async || results.health().stored == 2).await;
    let mut numbers: Vec<_> = stored(&results).await.iter().map(|found| found.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_journals_are_read_when_they_can_be() {
    let directory = TempDir::new();
    let journals = directory.path().join("journals");
    let results = prepared(directory.path()).await;
    // A file in place of the directory.
    std::fs::write(&journals, b"").unwrap();
    assert!(!results.catch_up(|_| true).await);
    std::fs::remove_file(&journals).unwrap();
    std::fs::create_dir(&journals).unwrap();
    // A directory in place of the file.
    let path = play(&directory.path().join("elsewhere"), 2);
    let file = name_of(&path).unwrap();
    std::fs::create_dir(journals.join(file)).unwrap();
    assert_eq!(results.read(file).await, Reading::Away);
    std::fs::remove_dir(journals.join(file)).unwrap();
    std::fs::rename(&path, journals.join(file)).unwrap();
    assert_eq!(results.read(file).await, Reading::Done(2));
    assert!(results.catch_up(|_| true).await);
    check(&results, 2).await;
}
