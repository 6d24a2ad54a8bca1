//! When the database cannot be used, operators get one sentence with advice.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    thread,
};

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use store::{Store, StoreError, Trouble};
use testkit::TempDir;

/// The code with which a client requests encryption, in place of the protocol version.
const SSL_REQUEST: u32 = 80_877_103;

fn number(stream: &mut TcpStream) -> u32 {
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes).unwrap();
    u32::from_be_bytes(bytes)
}

/// Responds as a server does.
fn refuse(mut stream: TcpStream, code: &str, message: &str) {
    loop {
        let length = number(&mut stream);
        let what = number(&mut stream);
        let mut rest = vec![0; length as usize - 8];
        stream.read_exact(&mut rest).unwrap();
        if what != SSL_REQUEST {
            break;
        }
        stream.write_all(b"N").unwrap();
    }
    let fields = format!("SFATAL\0VFATAL\0C{code}\0M{message}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap();
    stream.write_all(&[b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat()).unwrap();
}

fn text_of(error: &StoreError) -> String {
    let (mut text, mut next) = (error.to_string(), std::error::Error::source(error));
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

async fn error_at(address: &str) -> StoreError {
    Store::server(address).unwrap().prepare().await.unwrap_err()
}

#[tokio::test]
async fn rejection_by_a_server_is_one_sentence_with_advice() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let cases = [
        (
            "28P01",
            "password authentication failed for user \"ann\"",
            Trouble::Login,
            "set the correct one in PGPASSWORD",
        ),
        (
            "28000",
            "role \"ann\" does not exist",
            Trouble::Login,
            "(role \"ann\" does not exist); create it with `createuser",
        ),
        (
            "3D000",
            "database \"games\" does not exist",
            Trouble::Login,
            "has no database 'games'; create it with `createuser",
        ),
        ("42501", "permission denied for schema public", Trouble::ReadOnly, "`ALTER DATABASE games OWNER TO ann`"),
        ("53300", "too many connections", Trouble::Busy, "raise its max_connections"),
        ("57P03", "the database system is starting up", Trouble::Away, "try again in a moment"),
        ("08P01", "SSL required", Trouble::Login, "requires TLS; remove `sslmode=disable` from the address"),
        ("XX000", "out of luck", Trouble::Damaged, "reports an error: out of luck"),
    ];
    let served = thread::spawn(move || {
        for (code, message, ..) in cases {
            refuse(listener.accept().unwrap().0, code, message);
        }
    });
    for (code, message, trouble, expected) in cases {
        let error = error_at(&format!("postgres://ann:secret@127.0.0.1:{port}/games")).await;
        let text = text_of(&error);
        assert!(text.contains(expected) && text.contains(&format!("127.0.0.1:{port}")), "{code}: {text}");
        assert!(!text.contains("secret") && text.matches(message).count() <= 1, "{code}: {text}");
        assert_eq!(error.trouble(), trouble, "{code}");
        if code == "3D000" {
            let second = format!("`createdb -h 127.0.0.1 -p {port} --owner=ann games`");
            assert!(text.contains(&second), "{text}");
        }
    }
    served.join().unwrap();
}

#[tokio::test]
async fn wrong_port_and_unknown_host_have_different_messages() {
    let unused = {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.local_addr().unwrap().port()
    };
    let error = error_at(&format!("postgres://ann@127.0.0.1:{unused}/games")).await;
    assert_eq!(
        text_of(&error),
        format!(
            "no PostgreSQL server listens at 127.0.0.1:{unused}; start it, or correct the host and the port of the address"
        )
    );
    assert_eq!(error.trouble(), Trouble::Away);
    let error =
        Store::server(&format!("postgres://ann@127.0.0.1:{unused}/games")).unwrap().find("x").await.unwrap_err();
    assert_eq!(error.trouble(), Trouble::Away, "{error:?}");
    // This name cannot have an address, so no name server is queried.
    let error = error_at(&format!("postgres://ann@{}.invalid/games", "x".repeat(70))).await;
    assert!(text_of(&error).contains("no host 'xxx"), "{}", text_of(&error));
}

#[tokio::test]
async fn damaged_file_and_invalid_address_are_rejected() {
    assert!(matches!(Store::server("mysql://localhost/x"), Err(StoreError::Address(_))));
    let directory = TempDir::new();
    let path = directory.path().join("results.db");
    std::fs::write(&path, "a letter, long enough to be looked at as a database ".repeat(30)).unwrap();
    let error = Store::file(&path).unwrap().prepare().await.unwrap_err();
    let text = text_of(&error);
    assert!(
        text.ends_with("results.db' is damaged, or not a SQLite database; restore a backup, or move it away"),
        "{text}"
    );
    assert_eq!(error.trouble(), Trouble::Damaged);
}

#[tokio::test]
async fn rejections_by_a_real_server_have_advice() {
    let Ok(server) = std::env::var("ARCADE_TEST_POSTGRES") else { return };
    let base = server.rsplit_once('/').unwrap().0;
    let text = text_of(&error_at(&format!("{base}/no_such_database")).await);
    assert!(text.contains("has no database 'no_such_database'; create it with"), "{text}");
    let (_, rest) = base.split_once('@').unwrap();
    let text = text_of(&error_at(&format!("postgres://nobody_here@{rest}/postgres")).await);
    assert!(text.contains("rejects the user 'nobody_here'"), "{text}");
    let mut connection = PgConnection::connect(&server).await.unwrap();
    let user = format!("guest_{}", std::process::id());
    connection.execute(AssertSqlSafe(format!("CREATE ROLE {user} LOGIN"))).await.unwrap();
    let text = text_of(&error_at(&format!("postgres://{user}@{rest}/postgres")).await);
    connection.execute(AssertSqlSafe(format!("DROP ROLE {user}"))).await.unwrap();
    assert!(text.contains("may not create tables in the database 'postgres'"), "{text}");
}

#[tokio::test]
async fn sslmode_decides_whether_tls_is_required_and_the_certificate_verified() {
    let Ok(server) = std::env::var("ARCADE_TEST_POSTGRES") else { return };
    let mut connection = PgConnection::connect(&server).await.unwrap();
    let directory: String = sqlx::query_scalar("SHOW data_directory").fetch_one(&mut connection).await.unwrap();
    let root = format!("&sslrootcert={directory}/server.crt");
    connection.execute("DROP ROLE IF EXISTS tls_only; CREATE ROLE tls_only LOGIN SUPERUSER").await.unwrap();
    let port = server.rsplit_once(':').unwrap().1;
    // The server accepts this user with TLS only. Its certificate is valid for 127.0.0.1 only.
    let cases = [
        ("127.0.0.1", "", "", None),
        ("127.0.0.1", "allow", "", None),
        ("127.0.0.1", "require", "", None),
        ("127.0.0.1", "require", root.as_str(), None),
        ("127.0.0.1", "verify-full", &root, None),
        ("localhost", "verify-ca", &root, None),
        ("127.0.0.1", "disable", "", Some("requires TLS; remove `sslmode=disable` from the address")),
        ("127.0.0.1", "verify-ca", "", Some("set sslrootcert in the address")),
        ("127.0.0.1", "require", "&sslrootcert=/nowhere", Some("no such file: check sslrootcert")),
        ("localhost", "verify-full", &root, Some("not valid for name \"localhost\"")),
    ];
    for (host, mode, root, refusal) in cases {
        let mode = if mode.is_empty() { String::new() } else { format!("?sslmode={mode}{root}") };
        let store = Store::server(&format!("postgres://tls_only@{host}:{port}{mode}")).unwrap();
        let text = loop {
            match store.probe().await {
                // An unoptimized build may take seconds to read the certificates of the system.
                Err(error) if error.trouble() == Trouble::Slow => {}
                done => break done.err().map(|error| text_of(&error)),
            }
        };
        match refusal {
            None => assert_eq!(text, None, "{host} {mode}"),
            Some(expected) => {
                assert!(text.as_ref().is_some_and(|text| text.contains(expected)), "{host} {mode}: {text:?}");
            }
        }
    }
    connection.execute("DROP ROLE tls_only").await.unwrap();
}

#[tokio::test]
async fn server_without_tls_is_named() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        assert_eq!((number(&mut stream), number(&mut stream)), (8, SSL_REQUEST));
        stream.write_all(b"N").unwrap();
    });
    let text = text_of(&error_at(&format!("postgres://ann@127.0.0.1:{port}/games?sslmode=require")).await);
    assert!(text.contains("has no TLS, which `sslmode` in the address requires"), "{text}");
    served.join().unwrap();
}
