//! Helpers for tests inside and outside of the crate.
#![allow(dead_code, reason = "no test uses all of it")]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

use std::{
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, PgConnection, sqlite::SqliteConnectOptions,
};
use store::{ALL_TIME, Board, Leader, Match, MatchFilter, MatchPlayer, Order, Store};
use testkit::TempDir;

/// The addresses of a PostgreSQL server, and of a `PgBouncer` before it.
const SERVERS: [&str; 2] = ["ARCADE_TEST_POSTGRES", "ARCADE_TEST_PGBOUNCER"];

/// [`on_each`] on databases with tables. The test receives a store and a function that opens the same database again.
pub(crate) async fn on_each_prepared(test: impl AsyncFn(Store, &dyn Fn() -> Store)) {
    on_each(async |open, _| {
        let store = open();
        store.prepare().await.unwrap();
        test(store, open).await;
    })
    .await;
}

/// Runs a test on an empty SQLite database and, if there is a server, on PostgreSQL, directly and through `PgBouncer`.
/// The test receives a function that opens the database, and its address on the server.
pub(crate) async fn on_each(test: impl AsyncFn(&dyn Fn() -> Store, Option<&str>)) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let directory = TempDir::new();
    // The path contains characters that are special in an address.
    let path = directory.path().join("results #1?%.db");
    test(&|| Store::file(&path).unwrap(), None).await;
    for variable in SERVERS {
        let (Ok(direct), Ok(server)) = (std::env::var(SERVERS[0]), std::env::var(variable)) else {
            eprintln!("left out: {variable} is not set");
            continue;
        };
        // Other test programs use the server at the same time.
        let name = format!("store_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let execute = async |text: String| {
            let mut connection = PgConnection::connect(&direct).await.unwrap();
            connection.execute(AssertSqlSafe(text)).await.unwrap();
        };
        execute(format!("CREATE DATABASE {name}")).await;
        let address = format!("{}/{name}", server.rsplit_once('/').unwrap().0);
        test(&|| Store::server(&address).unwrap(), Some(&address)).await;
        execute(format!("DROP DATABASE {name} WITH (FORCE)")).await;
    }
}

pub(crate) async fn change(path: &Path, text: &str) {
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    connection.execute(AssertSqlSafe(text.to_owned())).await.unwrap();
    connection.close().await.unwrap();
}

pub(crate) fn entry(rank: u32, name: &str, score: i64) -> MatchPlayer {
    MatchPlayer {
        rank,
        name: name.into(),
        seat: rank.to_string(),
        score,
        won: rank == 1,
        host: format!("the host of {name}"),
        ..MatchPlayer::default()
    }
}

pub(crate) const fn board(game: &str) -> Board<'_> {
    Board { game, class: "main", season: ALL_TIME }
}

/// Ranked ones first.
pub(crate) async fn leaders_on(store: &Store, board: Board<'_>, order: Order) -> Vec<Leader> {
    let now = 1_000_000_000;
    let mut all = store.leaders(board, (order, true), 10, now).await.unwrap();
    all.extend(store.leaders(board, (order, false), 10, now).await.unwrap());
    all
}

pub(crate) async fn leaders(store: &Store, game: &str) -> Vec<Leader> {
    leaders_on(store, board(game), Order::Rating).await
}

pub(crate) fn a_match(number: u32, game: &str, players: Vec<MatchPlayer>) -> Match {
    Match {
        id: format!("j1-{number}"),
        game: game.into(),
        title: "map main".into(),
        room: "nuggets-1".into(),
        journal: "nuggets.journal".into(),
        number,
        begins: 5,
        ends: 90_000_005,
        started: 1_000_000 * u64::from(number),
        ended: 1_000_000 * u64::from(number) + 90_000,
        complete: true,
        class: "main".into(),
        casual: String::new(),
        challenge: None,
        players,
    }
}

/// Asserts that this many matches are stored, each with this many players, and that each was rated once.
pub(crate) async fn check(store: &Store, game: &str, matches: u32, players: usize) {
    let found = store.matches(&MatchFilter { limit: 100, ..MatchFilter::default() }).await.unwrap();
    assert_eq!(found.len(), matches as usize);
    assert!(found.iter().all(|found| found.players.len() == players));
    let leaders = leaders(store, game).await;
    let counts: Vec<_> = leaders.iter().map(|leader| leader.score.matches).collect();
    assert_eq!(counts, vec![u64::from(matches); players]);
}
