//! Results that rooms tell, and what keeps them from being stored at once.

use std::net::SocketAddr;

use sqlx::{ConnectOptions as _, Executor as _, sqlite::SqliteConnectOptions};
use store::{Kind, MatchFilter};
use testkit::TempDir;

use netcore::{Output, Phase};

use super::{
    described::{described, register},
    play, prepared, results,
};
use crate::{
    games::Game,
    results::*,
    room::{info::Player, ledger::Ledgers as _, roster::Roster},
};

pub(super) fn told(number: u32) -> NewMatch {
    let entry = |rank: u32, name: &str| {
        let (name, seat, won) = (name.to_owned(), rank.to_string(), rank == 1);
        let (host, level) = (name.clone(), String::new());
        store::Entry { rank, name, kind: Kind::Unproven, seat, score: 0, won, quit: false, host, level }
    };
    NewMatch {
        id: format!("live-{number}"),
        game: "robots".into(),
        title: "small".into(),
        room: "robots-1".into(),
        journal: "live.journal".into(),
        number,
        begins: 5,
        ends: 6,
        started: 7,
        ended: 8,
        complete: true,
        class: "standard".into(),
        casual: "earlier".into(),
        players: vec![entry(1, "Ann"), entry(2, "Bob")],
    }
}

/// Tells of a match that is over.
fn tell(results: &Results, new: NewMatch) {
    results.tell(Job::Match(Box::new(new), Known::default()), "live.journal");
}

/// A hub with an empty directory of journals that has begun its work.
async fn started(directory: &Path) -> Arc<Results> {
    std::fs::create_dir(directory.join("journals")).unwrap();
    let (results, waiting) = results(directory);
    results.start(waiting);
    results.caught_up().await;
    results
}

/// What a room tells of a match in this journal.
fn ended(journal: &Path, number: u32) -> Box<NewMatch> {
    let id = format!("{:016x}-{number}", journal_core::open(journal).unwrap().head().unwrap().id);
    Box::new(NewMatch { id, journal: name_of(journal).unwrap().to_owned(), ..told(number) })
}

/// Waits until this is so.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    testkit::found(what, async || is_so().await.then_some(())).await;
}

async fn stored(results: &Results) -> Vec<u32> {
    let found = results.store.matches(&MatchFilter { limit: 100, ..MatchFilter::default() }).await.unwrap();
    found.iter().map(|found| found.number).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_while_nothing_can_be_stored_is_stored_later_without_its_journal() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = TempDir::new();
    std::fs::create_dir(directory.path().join("journals")).unwrap();
    let database = directory.path().join("results.db");
    std::fs::write(&database, b"").unwrap();
    let set = |mode| std::fs::set_permissions(&database, std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o444);
    let (results, waiting) = results(directory.path());
    results.start(waiting);
    (1..=80).for_each(|number| tell(&results, told(number)));
    until("the trouble", async || results.health().error == Some(Trouble::ReadOnly)).await;
    assert_eq!(results.health().waiting, 80);
    set(0o600);
    until("80 results", async || results.health().stored == 80).await;
    until("an empty queue", async || results.health().waiting == 0).await;
    assert_eq!(results.health().error, None);
    assert_eq!(stored(&results).await.len(), 80);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_match_of_an_earlier_run_whose_journal_was_cut_is_stored_as_its_room_knows_it() {
    let directory = TempDir::new();
    let first = started(directory.path()).await;
    let begun = Known { until: 2_000_000, zero: 10_000 };
    first.state().running.insert("cut.journal".into(), BTreeMap::from([(4, begun)]));
    let known = Arc::<Roster>::default();
    let player = |number: u8, name: &str, bot| {
        let (peer, address) = (netcore::PeerId(number.into()), SocketAddr::from(([10, 0, 0, number], 1)));
        known.open_seat(address);
        Player {
            peer,
            address: Some(address.to_string()),
            name: name.into(),
            seat: number.to_string(),
            bot,
            proven: false,
            owner: false,
        }
    };
    let players = vec![player(1, "Ann", false), player(2, "Bob", false), player(3, "Cy", true)];
    let register = register(&directory.path().join("journals"), Arc::clone(&known), &players);
    let description = described();
    let room = (Game::Robots, &description);
    let mut ledger = Arc::clone(&first).open((Path::new("cut.journal"), 7), false, room, Arc::clone(&register));
    // She is back with her key, and he is not.
    assert!(known.set_names(SocketAddr::from(([10, 0, 0, 1], 1)), &["Ann".into()]));
    let standing = |rank: u32, name: &str, seat: &str| netcore::Standing {
        rank,
        name: name.into(),
        seat: seat.into(),
        score: rank.into(),
    };
    let standings = vec![standing(1, "Ann", "1"), standing(2, "Bob", "2"), standing(3, "Cy", "3")];
    // Whoever has left is in the result all the same.
    let left = netcore::GameEvent::Left {
        peer: netcore::PeerId(3),
        name: "Cy".into(),
        seat: "3".into(),
        why: netcore::Departure::Quit,
    };
    let over = netcore::GameEvent::Ended { game: 4, complete: true, standings };
    for event in [&left, &over] {
        register.follow(&[Output::Event(event.clone())], Phase::Playing, |_| None, |_| None);
    }
    assert_eq!(ledger.event(netcore::Time::from_millis(4_000), &left), None);
    assert_eq!(ledger.event(netcore::Time::from_millis(5_000), &over), Some("0000000000000007-4".into()));
    first.finish().await;
    let (again, _waiting) = prepared(directory.path()).await;
    let found = again.store.find("0000000000000007-4").await.unwrap().unwrap();
    assert_eq!((found.begins, found.ends, found.started), (2_000_000, 5_000_000, 12_000));
    let kinds: Vec<_> = found.players.iter().map(|player| (player.name.as_str(), player.kind)).collect();
    assert_eq!(kinds, [("Ann", Kind::Proven), ("Bob", Kind::Unproven), ("Cy", Kind::Bot)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_match_that_does_not_appear_in_its_journal_is_stored_as_it_was_told_and_others_as_they_were_played() {
    let directory = TempDir::new();
    let path = play(&directory.path().join("journals"), 1);
    let file = path.file_name().unwrap().to_str().unwrap();
    let (results, waiting) = results(directory.path());
    let new = [1, 2].map(|number| ended(&path, number));
    let ids = new.each_ref().map(|new| new.id.clone());
    for new in new {
        results.state().look_for(new);
    }
    // The retries are used up.
    results.state().missed.get_mut(file).unwrap().attempts = 100;
    results.start(waiting);
    results.caught_up().await;
    until("both results", async || stored(&results).await.len() == 2).await;
    let ends = async |id| results.store.find(id).await.unwrap().unwrap().ends;
    assert!(ends(&ids[0]).await > 6 && ends(&ids[1]).await == 6);
    assert!(results.state().told.is_empty() && results.state().missed.is_empty());
}

/// The directory for the test that runs alone.
const DIRECTORY: &str = "ARCADE_TEST_DIRECTORY";

#[cfg(target_os = "linux")]
#[test]
fn of_80_results_told_while_the_disk_is_full_none_is_lost() {
    use std::process::Command;

    let directory = TempDir::new();
    let alone = ["--map-root-user", "--mount"];
    if !Command::new("unshare").args(alone).arg("true").output().is_ok_and(|done| done.status.success()) {
        eprintln!("left out: this system lets no test have a file system of its own");
        return;
    }
    let mount = r#"mount -t tmpfs -o size=16m tmpfs "$ARCADE_TEST_DIRECTORY" && exec "$0" "$@""#;
    let output = Command::new("unshare")
        .args(alone)
        .args(["sh", "-c", mount])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "results::tests::told::on_a_full_disk", "--ignored", "--nocapture"])
        .env(DIRECTORY, directory.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "for a process that has a small file system of its own"]
async fn on_a_full_disk() {
    use std::io::Write as _;

    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let results = started(&directory).await;
    let mut ballast = std::fs::File::create(directory.join("ballast")).unwrap();
    while ballast.write_all(&[1; 512]).is_ok() {}
    drop(ballast);
    // There are no journals that have them too.
    for number in 1..=80 {
        tell(&results, NewMatch { title: "x".repeat(20_000), ..told(number) });
    }
    until("the trouble", async || matches!(results.health().error, Some(Trouble::NoSpace | Trouble::Disk))).await;
    assert!(results.health().stored < 80);
    std::fs::remove_file(directory.join("ballast")).unwrap();
    until("80 results", async || results.health().stored == 80).await;
    until("no trouble", async || results.health().error.is_none()).await;
    assert_eq!(stored(&results).await.len(), 80);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_the_database_refuses_keeps_no_other_waiting() {
    let directory = TempDir::new();
    std::fs::create_dir(directory.path().join("journals")).unwrap();
    let (results, waiting) = prepared(directory.path()).await;
    let options = SqliteConnectOptions::new().filename(directory.path().join("results.db"));
    let mut connection = options.connect().await.unwrap();
    let text = "CREATE TRIGGER t BEFORE INSERT ON matches WHEN NEW.number = 2 BEGIN SELECT RAISE(ABORT, 'no'); END";
    connection.execute(text).await.unwrap();
    results.start(waiting);
    (1..=3).for_each(|number| tell(&results, told(number)));
    until("the others", async || results.health().stored == 2).await;
    let mut numbers = stored(&results).await;
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_match_that_is_not_in_its_journal_yet_delays_no_other_and_is_found_when_it_is() {
    let directory = TempDir::new();
    let journals = directory.path().join("journals");
    std::fs::create_dir(&journals).unwrap();
    let path = play(&directory.path().join("elsewhere"), 2);
    let file = path.file_name().unwrap().to_str().unwrap().to_owned();
    // Something that cannot be read.
    std::fs::create_dir(journals.join(&file)).unwrap();
    let (results, waiting) = results(directory.path());
    results.start(waiting);
    results.tell(Job::Examine(ended(&path, 2)), &file);
    let looked = async || results.state().missed.get(&file).is_some_and(|missed| missed.attempts >= 2);
    until("two looks in vain", looked).await;
    tell(&results, told(9));
    until("the other", async || results.health().stored == 1).await;
    assert!(results.state().missed.contains_key(&file));
    std::fs::remove_dir(journals.join(&file)).unwrap();
    std::fs::rename(&path, journals.join(&file)).unwrap();
    until("those of the journal", async || results.health().stored == 3).await;
    until("nothing is looked for", async || results.state().missed.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_too_many_journals_were_missed_all_are_looked_through() {
    let directory = TempDir::new();
    let results = started(directory.path()).await;
    play(&directory.path().join("journals"), 2);
    {
        let mut state = results.state();
        for number in 0..=MAX_MISSED {
            state.miss(&format!("none-{number}.journal"));
        }
        assert!(state.lost_track.is_some());
        // None of those that are known has a result.
        state.missed.clear();
    }
    tell(&results, told(9));
    until("all results", async || results.health().stored == 3).await;
    until("the end", async || results.state().lost_track.is_none()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn journals_that_cannot_be_listed_are_listed_again() {
    let directory = TempDir::new();
    let journals = directory.path().join("journals");
    // Something else is there.
    std::fs::write(&journals, b"").unwrap();
    let (results, waiting) = results(directory.path());
    results.start(waiting);
    results.caught_up().await;
    assert!(results.state().lost_track.is_some());
    std::fs::remove_file(&journals).unwrap();
    play(&journals, 2);
    results.state().lost_track = Some(Instant::now());
    tell(&results, told(9));
    until("all results", async || results.health().stored == 3).await;
}

#[test]
fn names_leave_places_to_results() {
    let directory = TempDir::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _context = runtime.enter();
    let (results, _waiting) = results(directory.path());
    let taken = (0..MAX_WAITING).filter(|_| results.jobs.try_send(Job::Name("Ann".into())).is_ok()).count();
    assert_eq!(taken, MAX_WAITING - FOR_RESULTS);
    for number in 0..u32::try_from(FOR_RESULTS).unwrap() {
        assert!(results.jobs.try_send(Job::Match(Box::new(told(number)), Known::default())).is_ok());
    }
    // The next one is looked for.
    tell(&results, told(7));
    assert!(results.state().missed["live.journal"].numbers.contains(&7));
}
