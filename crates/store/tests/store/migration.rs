use std::fs;

use store::{
    ALL_TIME, Board, Claim, Leader, MatchFilter, Order, PlayerKind, RoomTime, Store, StoreError, Ties, Trouble,
};
use testkit::TempDir;

use crate::support::change;

/// A database with eleven matches.
const VERSION_2: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/store/data/version-2.db");

#[tokio::test]
async fn migration_of_version_2_keeps_all_data() {
    let directory = TempDir::new();
    let path = directory.path().join("results.db");
    fs::copy(VERSION_2, &path).unwrap();
    change(&path, "INSERT INTO names VALUES ('Bill', '02', 9), ('BiIl', '03', 9)").await;
    let store = Store::file(&path).unwrap();
    store.prepare().await.unwrap();
    store.prepare().await.unwrap();

    let all = store.matches(&MatchFilter { limit: 100, ..MatchFilter::default() }).await.unwrap();
    assert_eq!(all.iter().map(|found| found.number).collect::<Vec<_>>(), (1..=11).rev().collect::<Vec<_>>());
    assert_eq!(all.iter().map(|found| found.players.len()).sum::<usize>(), 31);
    let numbers = async |filter: MatchFilter| {
        let found = store.matches(&MatchFilter { limit: 100, ..filter }).await.unwrap();
        found.iter().map(|found| found.number).collect::<Vec<_>>()
    };
    let ann = MatchFilter { player: "Ann".into(), ..MatchFilter::default() };
    assert_eq!(numbers(ann.clone()).await, [10, 9, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(numbers(MatchFilter { game: "nuggets".into(), ..ann.clone() }).await, [10, 6, 5, 4, 3, 2, 1]);
    assert_eq!(numbers(MatchFilter { kind: Some(PlayerKind::Unproven), ..ann.clone() }).await, [9, 7]);
    assert_eq!(numbers(MatchFilter { against: "Bob".into(), before: "j1-5".into(), ..ann }).await, [4, 3, 2, 1]);
    let ties = store.against(("Bob", PlayerKind::Unproven), ("Ann", PlayerKind::Proven)).await.unwrap();
    assert_eq!(ties, [("nuggets".to_owned(), Ties { wins: 2, losses: 4, ties: 0 })]);

    // Earlier ratings remain on separate boards.
    let leaders = earlier(&store, "mastermind", Order::LowestScore).await;
    let means: Vec<_> = leaders.iter().map(|leader| (leader.name.as_str(), leader.score.mean_score)).collect();
    assert_eq!(means, [("Bob", 4.0), ("Ann", 6.0)]);
    let leaders = earlier(&store, "nuggets", Order::Rating).await;
    assert_eq!(leaders.iter().map(|leader| leader.name.as_str()).collect::<Vec<_>>(), ["Ann", "Bob", "Bot Ada"]);
    let scores = store.scores(("Ann", PlayerKind::Proven), ALL_TIME, 0).await.unwrap();
    let [(game, class, known)] = scores.as_slice() else { panic!("{scores:?}") };
    assert_eq!((game.as_str(), class.as_str()), ("nuggets", "earlier"));
    assert_eq!((known.matches, known.wins, known.history.len()), (6, 4, 6));
    assert!(all.iter().all(|found| (found.class.as_str(), found.casual.as_str()) == ("earlier", "earlier")));
    assert_eq!(store.journals().await.unwrap()["robots.journal"].casual, "earlier");
    assert_eq!(store.kinds("Ann").await.unwrap(), [PlayerKind::Proven, PlayerKind::Unproven]);

    let journals = store.journals().await.unwrap();
    let mut people: Vec<_> = journals.iter().filter(|(_, note)| note.people).map(|(file, _)| file.as_str()).collect();
    people.sort_unstable();
    assert_eq!(people, ["mastermind.journal", "nuggets.journal"]);
    assert_eq!(store.journal("robots.journal").await.unwrap().known, RoomTime { until: 90_000_005, zero: 1_000_000 });
    assert_eq!(store.seats("robots-1").await.unwrap().len(), 1);
    assert_eq!(store.names_of(&[1; 32]).await.unwrap(), ["Ann"]);
    // Both remain, and no similar third name can be claimed. Ann has played.
    assert_eq!(store.claim("Bi1l", &[1; 32], 10).await.unwrap(), Claim::Resembles(None));
    let mut released = store.release_unused_names(u64::MAX, 11).await.unwrap();
    released.sort_unstable();
    assert_eq!(released, ["BiIl", "Bill"]);
    // Further matches count on a new board.
    let next = all.into_iter().find(|found| found.number == 6).unwrap();
    let players = next.players.iter().map(|player| store::MatchPlayer {
        won: player.rank == 1,
        quit: false,
        rating: None,
        host: player.name.clone(),
        ..player.clone()
    });
    let (id, class, casual, players) = ("j1-12".into(), "main".into(), String::new(), players.collect());
    let next = store::Match { id, number: 12, ended: next.ended + 100_000_000, class, casual, players, ..next };
    assert!(store.record(&next).await.unwrap());
    let scores = store.scores(("Ann", PlayerKind::Proven), ALL_TIME, 0).await.unwrap();
    let boards: Vec<_> = scores.iter().map(|(_, class, score)| (class.as_str(), score.matches)).collect();
    assert_eq!(boards, [("earlier", 6), ("main", 1)]);
    assert_eq!(store.seasons().await.unwrap().len(), 1);
}

async fn earlier(store: &Store, game: &str, order: Order) -> Vec<Leader> {
    let board = Board { game, class: "earlier", season: ALL_TIME };
    store.leaders(board, (order, false), 10, 0).await.unwrap()
}

#[tokio::test]
async fn later_version_is_rejected_and_not_changed() {
    let directory = TempDir::new();
    let path = directory.path().join("results.db");
    let store = Store::file(&path).unwrap();
    store.prepare().await.unwrap();
    store.close().await;
    change(
        &path,
        "INSERT INTO _sqlx_migrations SELECT 99, 'later', installed_on, 1, checksum, 0 FROM _sqlx_migrations LIMIT 1",
    )
    .await;
    let before = fs::read(&path).unwrap();
    let error = Store::file(&path).unwrap().prepare().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tables of the database have version 99, but this program supports versions up to 9; run the newer \
         program, or restore an older copy of the database"
    );
    assert!(matches!(error, StoreError::Newer { found: 99, known: 9 }));
    assert_eq!(error.trouble(), Trouble::Version);
    assert!(fs::read(&path).unwrap() == before);
}

#[tokio::test]
async fn failed_migration_changes_nothing_and_is_repeated() {
    let directory = TempDir::new();
    let path = directory.path().join("results.db");
    fs::copy(VERSION_2, &path).unwrap();
    // An index that makes the last statement fail.
    change(&path, "CREATE INDEX seats_by_age ON seats (room)").await;
    let store = Store::file(&path).unwrap();
    assert!(store.prepare().await.is_err());
    change(&path, "DROP INDEX seats_by_age").await;
    store.prepare().await.unwrap();
    assert_eq!(store.matches(&MatchFilter { limit: 100, ..MatchFilter::default() }).await.unwrap().len(), 11);
}

#[cfg(unix)]
#[tokio::test]
async fn read_only_file_is_reported_and_works_once_it_is_writable() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = TempDir::new();
    let path = directory.path().join("results.db");
    fs::copy(VERSION_2, &path).unwrap();
    let set = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    set(0o444);
    let store = Store::file(&path).unwrap();
    let error = store.prepare().await.unwrap_err();
    assert_eq!(error.trouble(), Trouble::ReadOnly);
    assert!(error.to_string().contains("chmod u+rw"), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is made beside it");
    set(0o600);
    store.prepare().await.unwrap();
    store.note_examined("a.journal", 1, RoomTime::default()).await.unwrap();
    let log = directory.path().join("results.db-wal");
    assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}
