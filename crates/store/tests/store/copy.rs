use std::path::Path;

use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _, sqlite::SqliteConnectOptions};
use store::{Claim, Copied, MatchPlayer, PlayerKind, RoomTime, Store, StoreError};
use testkit::TempDir;

use crate::support::{a_match, change, entry, on_each};

/// Several pages.
const MANY: u32 = 603;

async fn dump(path: &Path) -> Vec<String> {
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    let text = "SELECT m.name, group_concat('quote(' || c.name || ')', ' || '' '' || ') FROM sqlite_master m \
                JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND substr(m.name, 1, 5) <> '_sqlx' GROUP BY m.name";
    let mut rows = vec![];
    for table in sqlx::query(text).fetch_all(&mut connection).await.unwrap() {
        let (name, columns): (String, String) = (table.get(0), table.get(1));
        let text = format!("SELECT {columns} FROM {name} ORDER BY 1");
        let found = sqlx::query(AssertSqlSafe(text)).fetch_all(&mut connection).await.unwrap();
        rows.extend(found.iter().map(|row| format!("{name}: {}", row.get::<String, _>(0))));
    }
    connection.close().await.unwrap();
    rows
}

fn same(one: &[String], other: &[String]) {
    let differ = one.iter().zip(other).find(|(one, other)| one != other);
    assert!(differ.is_none() && one.len() == other.len(), "{differ:?}, {} and {} rows", one.len(), other.len());
}

/// A database with a value in each column.
async fn filled(path: &Path) -> Store {
    let store = Store::file(path).unwrap();
    store.prepare().await.unwrap();
    let proven = |name: &str| MatchPlayer { kind: PlayerKind::Proven, ..entry(1, name, -7) };
    let odd = "Zoë '\"\\ $1 %";
    assert_eq!(store.claim("Ann", &[1; 32], 7).await.unwrap(), Claim::Own);
    assert_eq!(store.claim(odd, &[2; 32], 8).await.unwrap(), Claim::Own);
    store.record(&a_match(1, "nuggets", vec![proven("Ann"), entry(2, odd, 3)])).await.unwrap();
    store.record(&a_match(2, "mastermind", vec![entry(1, odd, i64::MAX / 2)])).await.unwrap();
    store.note_examined("nuggets.journal", 10, RoomTime { until: 7, zero: 8 }).await.unwrap();
    store.close().await;
    let many = format!("WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {MANY})");
    change(
        path,
        &format!(
            "INSERT INTO matches (id, game, title, room, journal, number, begins, ends, started, ended, complete) {many} \
             SELECT 'M' || (n % 7) || '-' || n, 'robots', '', 'r', 'j' || n, n, n, n, n, n, 1 FROM s; \
             INSERT INTO players (match_id, place, standing, name, kind, seat, score, rating, game, ended) {many} \
             SELECT 'M' || (n % 7) || '-' || n, n % 3, 1, 'Ann', 1, 'A', n, n, 'robots', n FROM s; \
             INSERT INTO standings (game, class, season, name, kind, mean, deviation, last, ranked, sure, matches, wins, score, average) \
             {many} SELECT 'robots', 'standard', '', 'n' || n, n % 3, 25 + 1.0 / n, 8.3, 5, 0, 1000, 1, 0, 5, 5 FROM s; \
             INSERT INTO names (name, key_hash, claimed, looks, used) VALUES ('Bill', '04', 9, 'Bill', 1), ('BiIl', '03', 9, NULL, 1); \
             INSERT INTO name_keys (name, key_hash, added) VALUES ('Bill', '05', 9); \
             INSERT INTO seats VALUES ('nuggets-1', '127.0.0.1:5', 'Ann', 1, 9, 'h', ''); \
             INSERT INTO meetings (day, host, one, other, matches) VALUES (1, 'h', 'a', 'b', 2); \
             INSERT INTO attempts (day, name) VALUES (1, 'a'); \
             INSERT INTO challenges (game, day, key_hash, room, score, match_id) VALUES ('robots', 1, '06', 'r', -3, 'm')"
        ),
    )
    .await;
    Store::file(path).unwrap()
}

fn new(copied: &[Copied]) -> u64 {
    copied.iter().map(|copied| copied.new).sum()
}

#[tokio::test]
async fn copy_contains_all_rows_and_a_repeated_copy_adds_none() {
    on_each(async |open, _| {
        let directory = TempDir::new();
        let [first, last] = ["first.db", "last.db"].map(|name| directory.path().join(name));
        let (one, other, back) = (filled(&first).await, open(), Store::file(&last).unwrap());
        let before = dump(&first).await;
        let copied = one.copy_to(&other).await.unwrap();
        assert_eq!(
            (new(&copied), copied.iter().map(|copied| copied.rows).sum()),
            (before.len() as u64, before.len() as u64)
        );
        let rows = |table: &str| copied.iter().find(|copied| copied.table == table).unwrap().rows;
        assert_eq!((rows("matches"), rows("names"), rows("seats")), (u64::from(MANY) + 2, 4, 1));
        assert_eq!(new(&other.copy_to(&back).await.unwrap()), before.len() as u64);
        same(&dump(&last).await, &before);
        assert_eq!(other.names_of(&[1; 32]).await.unwrap(), ["Ann"]);
        assert_eq!(other.claim("Ann", &[9; 32], 10).await.unwrap(), Claim::Taken);
        assert_eq!(new(&one.copy_to(&other).await.unwrap()), 0);
        assert_eq!(new(&other.copy_to(&back).await.unwrap()), 0);
        // Only new results are copied.
        one.record(&a_match(3, "nuggets", vec![entry(1, "Eve", 3), entry(2, "Bob", 1)])).await.unwrap();
        assert_eq!(new(&one.copy_to(&other).await.unwrap()), 1 + 2 + 4);
        assert_eq!(new(&other.copy_to(&back).await.unwrap()), 1 + 2 + 4);
        same(&dump(&last).await, &dump(&first).await);
        for store in [one, other, back] {
            store.close().await;
        }
    })
    .await;
}

#[tokio::test]
async fn interrupted_copy_resumes() {
    let directory = TempDir::new();
    let [first, second] = ["first.db", "second.db"].map(|name| directory.path().join(name));
    let (from, to) = (filled(&first).await, Store::file(&second).unwrap());
    from.copy_to(&to).await.unwrap();
    to.close().await;
    change(
        &second,
        "DELETE FROM players WHERE score % 2 = 0; DELETE FROM names; UPDATE standings SET mean = 1 WHERE name = 'n7'",
    )
    .await;
    let copied = from.copy_to(&Store::file(&second).unwrap()).await.unwrap();
    assert_eq!(new(&copied), u64::from(MANY / 2) + 4 + 1 + 1, "{copied:?}");
    same(&dump(&second).await, &dump(&first).await);
}

#[tokio::test]
async fn rows_of_another_database_are_never_overwritten() {
    let directory = TempDir::new();
    let [first, second] = ["first.db", "second.db"].map(|name| directory.path().join(name));
    let (from, to) = (filled(&first).await, Store::file(&second).unwrap());
    to.prepare().await.unwrap();
    to.claim("Zoe", &[5; 32], 7).await.unwrap();
    let before = dump(&second).await;
    let error = from.copy_to(&to).await.unwrap_err();
    assert!(matches!(&error, StoreError::Foreign { table, rows: 1 } if table == "names"), "{error}");
    assert!(error.to_string().contains("give an empty database"), "{error}");
    assert_eq!(dump(&second).await, before);
}

#[tokio::test]
async fn later_version_is_neither_source_nor_target_of_a_copy() {
    let directory = TempDir::new();
    let [first, second] = ["first.db", "second.db"].map(|name| directory.path().join(name));
    let (from, later) = (filled(&first).await, Store::file(&second).unwrap());
    later.prepare().await.unwrap();
    later.close().await;
    change(
        &second,
        "INSERT INTO _sqlx_migrations SELECT 99, 'later', installed_on, 1, checksum, 0 FROM _sqlx_migrations LIMIT 1",
    )
    .await;
    let later = Store::file(&second).unwrap();
    for error in [from.copy_to(&later).await.unwrap_err(), later.copy_to(&from).await.unwrap_err()] {
        assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    }
}
