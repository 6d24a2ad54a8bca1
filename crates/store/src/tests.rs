//! Tests that each statement uses an index, reads few rows, and has a time limit. They run on SQLite and, if
//! `.ci/with-postgres` has started a server, on PostgreSQL.

use std::{cell::RefCell, collections::BTreeMap, fmt::Debug, sync::Once, time::Instant};

use testkit::TempDir;
use tokio::time::{pause, resume};
use tracing::{
    Event, Metadata, Subscriber, callsite,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::set_global_default,
};

use crate::{
    ALL_TIME, Challenge, ChallengeScore, Match, MatchFilter, MatchPlayer, NameChanges, Order, PlayerKind,
    RedeemOutcome, ReplaceOutcome, RoomTime, Store, StoreError, Trouble,
    connection::{Connection, Role, STATEMENTS},
    database::MIGRATIONS,
    place::DatabaseLocation,
};

#[path = "../tests/store/support.rs"]
mod support;

use support::{board, entry};

/// Runs a test on databases with empty tables, and passes it the address of the server.
async fn on_each(test: impl AsyncFn(Store, Option<&str>)) {
    on_each_of(MIGRATIONS.len(), test).await;
}

/// Runs a test on databases with the tables of an earlier version.
async fn on_each_of(version: usize, test: impl AsyncFn(Store, Option<&str>)) {
    support::on_each(async |open, server| {
        let store = open();
        store.migrate(&MIGRATIONS[..version]).await.unwrap();
        test(store.clone(), server).await;
        store.close().await;
    })
    .await;
}

fn a_match(number: u32) -> Match {
    let (ann, bot) = (entry(1, "Ann", 1), entry(3, "Bot", 3));
    let players = vec![
        MatchPlayer { kind: PlayerKind::Proven, ..ann },
        entry(2, "Bob", 2),
        MatchPlayer { kind: PlayerKind::Bot, level: "easy".into(), ..bot },
    ];
    support::a_match(number, "nuggets", players)
}

async fn check(store: &Store, matches: u32) {
    support::check(store, "nuggets", matches, 3).await;
}

async fn use_all(store: &Store) {
    store.record(&a_match(1_000_000)).await.unwrap();
    for number in 0..10 {
        store.record(&a_match(1_000_100 + number)).await.unwrap();
    }
    let mut of_one_host = a_match(1_000_001);
    of_one_host.players.iter_mut().for_each(|player| player.host = "h".into());
    store.record(&of_one_host).await.unwrap();
    let mut daily = Match { class: crate::DAILY.into(), ..a_match(1_000_002) };
    daily.players.truncate(1);
    store.record(&daily).await.unwrap();
    store.record(&Match { id: "again".into(), ..daily }).await.unwrap();
    let challenge = Challenge { game: "nuggets", day: 20_012 };
    for _ in 0..2 {
        store.begin_challenge(challenge, &[1; 32], "nuggets-1").await.unwrap();
    }
    let scored = Some(ChallengeScore { day: 20_012, score: 7 });
    store.record(&Match { challenge: scored, ..a_match(1_000_003) }).await.unwrap();
    store.attempt(challenge, &[1; 32]).await.unwrap();
    store.challenge_scores(challenge).await.unwrap();
    store.cancel_challenge(challenge, &[1; 32]).await.unwrap();
    store.note_examined("nuggets.journal", 10, RoomTime::default()).await.unwrap();
    store.journal("nuggets.journal").await.unwrap();
    store.seats("nuggets-1").await.unwrap();
    store.journals().await.unwrap();
    store.claim("Ann", &[1; 32], 7).await.unwrap();
    store.claim("Anm", &[1; 32], 7).await.unwrap();
    store.claim("Arnn", &[2; 32], 7).await.unwrap();
    store.names_of(&[1; 32]).await.unwrap();
    store.claim("Cy", &[3; 32], 7).await.unwrap();
    assert!(store.issue_code("Cy", &[3; 32], &[9; 32], 9).await.unwrap());
    assert_eq!(store.redeem_code(&[9; 32], &[4; 32], 8).await.unwrap(), RedeemOutcome::Name("Cy".into()));
    assert_eq!(store.replace_keys("Cy", &[3; 32], &[5; 32], 8).await.unwrap(), ReplaceOutcome::Done);
    assert!(store.release_name("Cy", &[5; 32], 8).await.unwrap());
    store.claim("Di", &[5; 32], 8).await.unwrap();
    assert!(store.release_unused_names(9, 9).await.unwrap().contains(&"Di".to_owned()));
    assert!(store.changed_names(&mut NameChanges::default(), 9).await.unwrap().contains(&"Cy".to_owned()));
    store.store_skeletons().await.unwrap();
    store.find("j1-1000000").await.unwrap();
    store.kinds("Ann").await.unwrap();
    store.kinds("nobody").await.unwrap();
    for order in [Order::Rating, Order::LowestScore] {
        for ranked in [true, false] {
            store.leaders(board("nuggets"), (order, ranked), 100, 0).await.unwrap();
        }
    }
    store.rating(board("nuggets"), ("Ann", PlayerKind::Proven), 0).await.unwrap();
    store.seasons().await.unwrap();
    store.scores(("Ann", PlayerKind::Proven), ALL_TIME, 0).await.unwrap();
    for other in [("Bob", PlayerKind::Unproven), ("Bot", PlayerKind::Bot), ("Rare", PlayerKind::Unproven)] {
        store.against(("Ann", PlayerKind::Proven), other).await.unwrap();
    }
    for game in ["", "nuggets"] {
        for (player, kind) in [("", None), ("Ann", None), ("Ann", Some(PlayerKind::Proven)), ("Rare", None)] {
            for (against, against_kind) in
                [("", None), ("Bob", None), ("Bob", Some(PlayerKind::Unproven)), ("Rare", None)]
            {
                for before in ["", "j1-1000000"] {
                    let filter = MatchFilter {
                        game: game.into(),
                        player: player.into(),
                        kind,
                        against: against.into(),
                        against_kind,
                        before: before.into(),
                        limit: 20,
                    };
                    store.matches(&filter).await.unwrap();
                }
            }
        }
    }
    store.delete_journal("other.journal", "robots-1").await.unwrap();
}

#[derive(Debug, Clone, Default)]
struct Statement {
    text: String,
    values: String,
    checks: u64,
}

impl Statement {
    fn with_values(&self) -> String {
        let numbered = self.values.split('\t').enumerate().collect::<Vec<_>>().into_iter().rev();
        numbered.fold(self.text.clone(), |text, (index, value)| text.replace(&format!("${}", index + 1), value))
    }
}

impl Visit for Statement {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "text" => value.clone_into(&mut self.text),
            _ => value.clone_into(&mut self.values),
        }
    }

    fn record_u64(&mut self, _: &Field, value: u64) {
        self.checks = value;
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

thread_local! {
    static RECORDED: RefCell<Vec<Statement>> = const { RefCell::new(Vec::new()) };
}

/// Records the statements of each thread. One subscriber serves all threads: a callsite that is first used on a thread
/// without one stays disabled everywhere.
struct Recorder;

async fn recorded(usage: impl Future<Output = ()>) -> Vec<Statement> {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        set_global_default(Recorder).unwrap();
        callsite::rebuild_interest_cache();
    });
    RECORDED.take();
    usage.await;
    RECORDED.take()
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == STATEMENTS
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut statement = Statement::default();
        event.record(&mut statement);
        RECORDED.with_borrow_mut(|statements| statements.push(statement));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

async fn statements(store: &Store) -> Vec<Statement> {
    recorded(use_all(store)).await
}

#[tokio::test]
async fn concurrent_transactions_of_two_hubs_are_all_committed() {
    const EACH: u32 = 30;
    support::on_each(async |open, server| {
        // Only PostgreSQL supports several hubs.
        if server.is_none() {
            return;
        }
        let (store, other) = (open(), open());
        store.prepare().await.unwrap();
        let record = async |store: &Store, first: u32| {
            for number in first..first + EACH {
                assert!(store.record(&a_match(number)).await.unwrap(), "{number}");
            }
        };
        tokio::join!(record(&store, 1), record(&other, 1 + EACH));
        other.close().await;
        check(&store, 2 * EACH).await;
        store.close().await;
    })
    .await;
}

#[tokio::test]
async fn no_statement_scans_a_table() {
    on_each(async |store, server| {
        let mut connection = store.writer.acquire().await.unwrap();
        // Both databases rightly scan small tables, and PostgreSQL considers larger tables small than SQLite does.
        fill(&mut connection, if server.is_some() { 20_000 } else { 4_000 }).await;
        connection.plain("ANALYZE".into()).await.unwrap();
        connection.done();
        let all = statements(&store).await.into_iter().map(|statement| (statement.text.clone(), statement));
        let all: BTreeMap<String, Statement> = all.collect();
        assert!(all.len() > 30, "{}", all.len());
        let mut connection = store.writer.acquire().await.unwrap();
        for (text, statement) in all {
            let explain = if server.is_some() { "EXPLAIN" } else { "EXPLAIN QUERY PLAN" };
            let rows = connection.plain(format!("{explain} {}", statement.with_values())).await.unwrap();
            let column = if server.is_some() { 0 } else { 3 };
            let plan: Vec<_> = rows.iter().map(|row| row.text(column).unwrap()).collect();
            for line in &plan {
                let scans = match server {
                    // Names and aliases of tables. Subqueries have other names.
                    None => {
                        "matches players standings names name_keys name_codes name_changes journals seats meetings \
                             attempts challenges p m a o"
                            .split(' ')
                            .any(|table| line.split_whitespace().take(2).eq(["SCAN", table]))
                    }
                    Some(_) => line.contains("Seq Scan"),
                };
                assert!(!scans, "{text}\n{plan:#?}");
            }
            if server.is_some() {
                let scans = plan.iter().filter(|line| line.contains("Index Scan") || line.contains("Index Only Scan"));
                let conditions = plan.iter().filter(|line| line.contains("Index Cond"));
                assert!(conditions.count() >= scans.count(), "an index is read from end to end: {text}\n{plan:#?}");
            }
        }
    })
    .await;
}

/// A common table `s` with the numbers `n` from 1 to `most`, in the dialect of the database.
fn numbers(connection: &Connection, most: u32) -> String {
    if connection.is_sqlite() {
        format!("WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {most})")
    } else {
        format!("WITH s (n) AS (SELECT generate_series(1, {most}))")
    }
}

/// Ann plays in all matches and Bob in most. Each other table gets at most as many rows.
async fn fill(connection: &mut Connection, matches: u32) {
    let numbers = numbers(connection, matches);
    if connection.is_sqlite() {
        connection.plain("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000".into()).await.unwrap();
    }
    connection.begin().await.unwrap();
    for text in [
        "INSERT INTO matches (id, game, title, room, journal, number, begins, ends, started, ended, complete) {s} \
         SELECT 'm' || n, CASE WHEN n % 2 = 0 THEN 'nuggets' ELSE 'robots' END, '', 'r', 'j' || n / 100, n, n, n, n, n, 1 FROM s",
        "INSERT INTO players (match_id, place, standing, name, kind, seat, score, rating, game, ended) {s} \
         SELECT 'm' || n, 0, 1, 'Ann', 1, 'A', 1, n % 3, CASE WHEN n % 2 = 0 THEN 'nuggets' ELSE 'robots' END, n FROM s",
        "INSERT INTO players (match_id, place, standing, name, kind, seat, score, rating, game, ended) {s} \
         SELECT 'm' || n, 1, 2, CASE WHEN n % 1000 = 7 THEN 'Rare' ELSE 'Bob' END, 0, 'B', 1, 0, \
         CASE WHEN n % 2 = 0 THEN 'nuggets' ELSE 'robots' END, n FROM s",
        "INSERT INTO standings (game, class, season, name, kind, mean, deviation, last, ranked, sure, matches, wins, score, average) \
         {s} SELECT 'nuggets', 'main', CASE WHEN n % 4 = 0 THEN '2026-4' ELSE '' END, 'n' || n, 0, 25, 8, n, n % 2, n % 900, 1, 0, 5, 5 \
         FROM s",
        // Few are older than the recorded matches, as in production, where old ones are removed every day.
        "INSERT INTO meetings (day, host, one, other, matches) {s} SELECT n + 11000, 'h', '', 'n' || n, 1 FROM s",
        "INSERT INTO attempts (day, name) {s} SELECT n, 'n' || n FROM s",
        // Few are older than the recorded one, as in production.
        "INSERT INTO challenges (game, day, key_hash, room, score) {s} SELECT 'nuggets', 20010 + n / 100, 'k' || n, 'r' || n, n % 250 FROM s",
        "INSERT INTO journals (file, room, title, examined, people) {s} SELECT 'j' || n, 'r', '', 0, 1 FROM s WHERE n <= 2000",
        "INSERT INTO seats (room, address, name, kind, noted) {s} SELECT 'r' || n / 1000, n, 'n', 2, n FROM s",
        "INSERT INTO names (name, key_hash, claimed) {s} SELECT 'n' || n, n, n FROM s WHERE n <= 20000",
        "INSERT INTO name_keys (name, key_hash, added) {s} SELECT 'n' || n, 'k' || n, n FROM s WHERE n <= 20000",
        "INSERT INTO name_codes (name, code_hash, key_hash, expires) {s} SELECT 'n' || n, 'c' || n, n, n + 11000 FROM s WHERE n <= 20000",
        "INSERT INTO name_changes (name, id, changed) {s} SELECT 'x' || n, n, n + 11000 FROM s WHERE n <= 20000",
    ] {
        // Both databases accept the common table before the rest of a query.
        connection.plain(text.replace("{s}", &numbers)).await.unwrap();
    }
    connection.commit().await.unwrap();
}

#[tokio::test]
#[cfg_attr(debug_assertions, ignore = "fills a table for ten seconds; .ci/run --release runs it")]
async fn queries_on_200_000_matches_read_few_rows() {
    const MANY: u32 = 200_000;
    // The limit of a query, in thousands of steps of SQLite's virtual machine. A query of 200,000 rows would take a
    // million steps.
    const MOST: u64 = 400;
    let directory = TempDir::new();
    let path = directory.path().join("results.db");
    let store = Store::file(&path).unwrap();
    store.prepare().await.unwrap();
    let mut connection = Connection::open(&DatabaseLocation::File(path), Role::Whole).await.unwrap();
    fill(&mut connection, MANY).await;
    connection.close().await;
    let queries = statements(&store).await.into_iter().filter(|statement| statement.text.starts_with("SELECT"));
    let slowest = queries.max_by_key(|statement| statement.checks).unwrap();
    assert!(slowest.checks <= MOST, "{slowest:?}");
    let counted = recorded(async {
        let count = store.row("SELECT COUNT(*) FROM players WHERE score = 1", &[]).await.unwrap().unwrap();
        assert!(count.integer(0).unwrap() > 2 * i64::from(MANY));
    });
    assert!(counted.await[0].checks > MOST);
}

#[tokio::test]
async fn database_aborts_a_statement_at_its_time_limit() {
    on_each(async |store, server| {
        let endless = match server {
            None => "WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s) SELECT COUNT(*) FROM s",
            Some(_) => "SELECT COUNT(*) FROM generate_series(1, 1000000000000) s",
        };
        let started = Instant::now();
        let error = store.rows(endless, &[]).await.unwrap_err();
        assert!(matches!(error, StoreError::Database(_)) && error.trouble() == Trouble::Slow, "{error:?}");
        assert!(started.elapsed() >= Role::Read.limit());
        assert!(store.matches(&MatchFilter::default()).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn busy_readers_delay_neither_writes_nor_keys() {
    on_each(async |store, _| {
        let mut readers = [
            store.readers.acquire().await.unwrap(),
            store.readers.acquire().await.unwrap(),
            store.readers.acquire().await.unwrap(),
            store.readers.acquire().await.unwrap(),
        ];
        // An open transaction keeps each reader busy.
        for reader in &mut readers {
            reader.begin_reading().await.unwrap();
            reader.plain("SELECT id FROM matches".into()).await.unwrap();
        }
        assert!(store.record(&a_match(1)).await.unwrap());
        store.note_examined("a.journal", 1, RoomTime::default()).await.unwrap();
        assert_eq!(store.names_of(&[1; 32]).await.unwrap(), [] as [&str; 0]);
        // With the clock paused, the wait for a reader times out without a delay.
        pause();
        assert_eq!(store.find("j1-1").await.unwrap_err().trouble(), Trouble::Busy);
        resume();
        drop(readers);
        check(&store, 1).await;
    })
    .await;
}

#[tokio::test]
async fn readers_cannot_write() {
    on_each(async |store, _| {
        let error = store.rows("DELETE FROM names", &[]).await.unwrap_err();
        assert_eq!(error.trouble(), Trouble::ReadOnly, "{error:?}");
    })
    .await;
}

#[tokio::test]
async fn tables_of_version_2_are_migrated_on_each_database() {
    on_each_of(2, async |store, _| {
        let mut connection = store.writer.acquire().await.unwrap();
        for text in [
            "INSERT INTO matches VALUES ('m1', 'nuggets', '', 'r', 'a.journal', 1, 1, 2, 3, 4, 1)",
            "INSERT INTO matches VALUES ('m2', 'nuggets', '', 'r', 'b.journal', 1, 1, 2, 3, 4, 1)",
            "INSERT INTO players VALUES ('m1', 0, 1, 'Ann', 1, 'A', 5, 1010)",
            "INSERT INTO players VALUES ('m2', 0, 1, 'Bot', 2, 'A', 5, 0)",
            "INSERT INTO ratings VALUES ('nuggets', 'Ann', 1, 25.5, 8.25, 1010, 2, 1, 5)",
            "INSERT INTO journals VALUES ('a.journal', 'r', '', 9, 0, 0), ('b.journal', 'r', '', 9, 0, 0)",
            "INSERT INTO seats VALUES ('r', '10.0.0.1:5', 'Ann', 1)",
        ] {
            connection.plain(text.into()).await.unwrap();
        }
        connection.done();
        store.prepare().await.unwrap();
        let ann = MatchFilter { player: "Ann".into(), game: "nuggets".into(), limit: 9, ..MatchFilter::default() };
        assert_eq!(store.matches(&ann).await.unwrap().len(), 1);
        let scores = store.scores(("Ann", PlayerKind::Proven), ALL_TIME, 4).await.unwrap();
        let (game, class, score) = &scores[0];
        assert_eq!(
            (game.as_str(), class.as_str(), score.history.as_slice()),
            ("nuggets", "earlier", &[(4, 1_010)][..])
        );
        assert_eq!((score.rating, score.uncertainty, score.ranked), (1_020, 660, false));
        let journals = store.journals().await.unwrap();
        assert_eq!(["a.journal", "b.journal"].map(|file| journals[file].people), [true, false]);
        let row = store.row("SELECT average FROM standings WHERE game = 'nuggets'", &[]).await.unwrap().unwrap();
        assert_eq!(row.real(0).unwrap().to_bits(), 2.5_f64.to_bits());
        assert_eq!(store.seats("r").await.unwrap().len(), 1);
    })
    .await;
}
