//! A database of its own for a test on PostgreSQL.

use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

/// The variable of the environment with the address of a server.
const POSTGRES: &str = "ARCADE_TEST_POSTGRES";

/// Runs a test with the addresses of the server and of an empty database on it, if there is a server.
pub(crate) async fn on_postgres(test: impl AsyncFnOnce(&str, &str)) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let Ok(server) = std::env::var(POSTGRES) else {
        eprintln!("left out on PostgreSQL: {POSTGRES} is not set");
        return;
    };
    // Tests of other programs use the server at the same time.
    let name = format!("store_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let execute = async |text: String| {
        let mut connection = PgConnection::connect(&server).await.unwrap();
        connection.execute(AssertSqlSafe(text)).await.unwrap();
    };
    execute(format!("CREATE DATABASE {name}")).await;
    test(&server, &format!("{}/{name}", server.rsplit_once('/').unwrap().0)).await;
    execute(format!("DROP DATABASE {name} WITH (FORCE)")).await;
}
